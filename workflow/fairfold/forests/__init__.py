"""Deep forests for weakly labelled multilabel data."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.forests.models import MODEL_NAMES, load_model, make_model

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
