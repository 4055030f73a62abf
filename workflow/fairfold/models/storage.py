"""Storage of fitted models; see :mod:`fairfold.forests.storage`."""

from fairfold.forests.storage import load_model

__all__ = ["load_model"]
