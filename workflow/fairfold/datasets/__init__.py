"""Data: what exists (catalog), how it gets here (fetch), how it is read (formats), and what can be made (generate)."""

from fairfold.datasets.catalog import Catalog, Entry, load_catalog
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.preparation import prepare

__all__ = ["Catalog", "Dataset", "Entry", "load_catalog", "prepare"]
