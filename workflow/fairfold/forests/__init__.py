"""Deep forests for weakly labelled multilabel data."""

from fairfold.forests.models import MODEL_NAMES, make_model
from fairfold.forests.storage import load_model

__all__ = ["MODEL_NAMES", "load_model", "make_model"]
