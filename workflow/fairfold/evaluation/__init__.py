"""Evaluation: what scores there are, scores on folds, and comparisons of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairfold.lazy import on_first_use

if TYPE_CHECKING:
    from fairfold.evaluation.metrics import METRICS

__all__ = ["METRICS"]

__getattr__, __dir__ = on_first_use(__name__, __all__, {"METRICS": "metrics"})
