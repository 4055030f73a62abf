"""Evaluation: what scores there are, scores on folds, and comparisons of methods."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.evaluation.metrics import METRICS

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
