"""Saved models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairfold.forests.models import load_model as load_deep_forest

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin


def load_model(path: str | Path) -> ClassifierMixin:
    """A model as its ``save`` wrote it; today these are the deep forests, see :mod:`fairfold.forests.storage`.

    Raises
    ------
    ModelError
        When the file is missing, is no saved model, or was written by another version.
    """
    return load_deep_forest(path)
