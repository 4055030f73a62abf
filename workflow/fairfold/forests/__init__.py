"""Deep forests for weakly labelled multilabel data."""

from fairfold.forests.models import MODEL_NAMES, load_model, make_model

__all__ = ["MODEL_NAMES", "load_model", "make_model"]
