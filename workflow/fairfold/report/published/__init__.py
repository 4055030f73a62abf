"""Our numbers beside the published ones: a module for each part of the study, which knows its papers."""

from fairfold.report.published.comparison import compare_published, published_sentences

__all__ = ["compare_published", "published_sentences"]
