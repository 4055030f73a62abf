"""Probabilities of left-out samples, as a model's final scores are of them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import NamedTuple

import numpy as np

from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.metrics import METRICS
from fairfold.files import write_arrays


class FinalPredictions(NamedTuple):
    """Out-of-fold probabilities, each sample's from the model that was trained without its fold.

    Levels of a cascade differ, and the one that counts may differ by metric and fold; those that count are kept.

    Attributes
    ----------
    probabilities : (n_kept, n_samples, n_labels); NaN where there is none.
    kept : (n_metrics, n_folds) which of them counts, in the order of ``METRICS``.
    fold_of : (n_samples,) fold in which a sample was left out, -1 for none.
    """

    probabilities: np.ndarray
    kept: np.ndarray
    fold_of: np.ndarray

    @classmethod
    def of_folds(
        cls,
        stages: Mapping[int, Mapping[int, np.ndarray]],
        best_levels: Mapping[int, Mapping[str, int]],
        fold_of: np.ndarray,
        n_labels: int,
    ) -> FinalPredictions:
        """From fold -> level -> probabilities of the fold's samples, and fold -> metric -> level that counts."""
        kept = np.zeros((len(METRICS), int(fold_of.max(initial=-1)) + 1), dtype=np.int8)
        levels = {fold: sorted({best[metric] for metric in METRICS}) for fold, best in best_levels.items()}
        n_kept = max(map(len, levels.values()), default=1)
        probabilities = np.full((n_kept, len(fold_of), n_labels), np.nan)
        for fold, of_fold in levels.items():
            kept[:, fold] = [of_fold.index(best_levels[fold][metric]) for metric in METRICS]
            probabilities[: len(of_fold), fold_of == fold] = [stages[fold][level] for level in of_fold]
        return cls(probabilities, kept, fold_of)

    def by(self, metric: str) -> np.ndarray:
        """(n_samples, n_labels) probabilities that the metric scores; NaN where there is none.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        if metric not in METRICS:
            raise DataError(unknown_name("metric", metric, METRICS))
        counts = self.kept[list(METRICS).index(metric), np.maximum(self.fold_of, 0)]
        return self.probabilities[counts, np.arange(len(counts))]

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        write_arrays(path, **self._asdict())

    @classmethod
    def load(cls, path: str | PathLike) -> FinalPredictions:
        """Read what :meth:`save` wrote."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls._fields})
