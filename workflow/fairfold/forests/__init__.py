"""Deep forests for weakly labelled multilabel data."""

from fairfold.forests.models import MODEL_NAMES, make_model

__all__ = ["MODEL_NAMES", "make_model"]
