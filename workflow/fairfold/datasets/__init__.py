"""Data: what exists (catalog), how it gets here (fetch), how it is read (formats), and what can be made (generate)."""

from typing import TYPE_CHECKING

from fairfold.core.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.datasets.catalog import Catalog, Entry, load_catalog
    from fairfold.datasets.dataset import Dataset
    from fairfold.datasets.preparation import prepare

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
