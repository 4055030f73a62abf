"""The models by name: what is known of each, and how it is made."""

from fairfold.models.registry import DEFAULT, MODEL_NAMES, make_model, register
from fairfold.models.spec import ModelSpec
from fairfold.models.storage import load_model

__all__ = ["DEFAULT", "MODEL_NAMES", "ModelSpec", "load_model", "make_model", "register"]
