"""The models by name: what is known of each, and how it is made."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.models.registry import DEFAULT, MODEL_NAMES, make_model, register
    from fairfold.models.spec import ModelSpec
    from fairfold.models.storage import load_model

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
