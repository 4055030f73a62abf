"""The model to take home: fitted on all rows, with what its columns are, and predictions for new tables."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.final.model import FinalModel, load_final

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
