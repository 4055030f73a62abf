"""Probabilities of left-out samples, as a model's final scores are of them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import NamedTuple

import numpy as np

from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.files import write_arrays


class FinalPredictions(NamedTuple):
    """Out-of-fold probabilities, each sample's from the model that was trained without its fold.

    Levels of a cascade differ, and the one that counts may differ by metric and fold; those that count are kept.

    Attributes
    ----------
    probabilities : (n_kept, n_samples, n_labels); NaN where there is none.
    kept : (n_metrics, n_folds) which of them counts, in the order of ``BASIC_METRICS``.
    fold_of : (n_samples,) fold in which a sample was left out, -1 for none.

    Where cross-validation was repeated, ``fold_of`` is (n_repeats, n_samples), of each split by itself, probabilities
    are (n_kept, n_repeats, n_samples, n_labels), and the folds of all splits follow each other in ``kept``.
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
        fold_of = fold_of[0] if fold_of.ndim == 2 and len(fold_of) == 1 else fold_of
        numbers = _numbers_of(fold_of)
        kept = np.zeros((len(BASIC_METRICS), int(numbers.max(initial=-1)) + 1), dtype=np.int8)
        levels = {fold: sorted({best[metric] for metric in BASIC_METRICS}) for fold, best in best_levels.items()}
        n_kept = max(map(len, levels.values()), default=1)
        probabilities = np.full((n_kept, *fold_of.shape, n_labels), np.nan)
        for fold, of_fold in levels.items():
            kept[:, fold] = [of_fold.index(best_levels[fold][metric]) for metric in BASIC_METRICS]
            probabilities[: len(of_fold), numbers == fold] = [stages[fold][level] for level in of_fold]
        return cls(probabilities, kept, fold_of)

    def by(self, metric: str) -> np.ndarray:
        """(n_samples, n_labels) probabilities that the metric scores; NaN where there is none.

        Of repeated cross-validations the mean over those that have some: no model behind it has seen the sample, and it
        depends less on the split. It is of no use for scores, as several models together are better than one.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        counts = self._kept_by(metric)[np.maximum(_numbers_of(self.fold_of), 0)]
        P = np.take_along_axis(self.probabilities, counts[np.newaxis, ..., np.newaxis], axis=0)[0]
        if P.ndim == 2:
            return P
        n_found = np.isfinite(P).sum(axis=0)
        return np.divide(np.nansum(P, axis=0), n_found, out=np.full(P.shape[1:], np.nan), where=n_found > 0)

    def in_fold(self, metric: str, fold: int) -> np.ndarray:
        """(n_tested, n_labels) probabilities of a fold's samples that the metric scores there.

        Raises
        ------
        DataError
            When there is no such metric.
        """
        return self.probabilities[self._kept_by(metric)[fold], _numbers_of(self.fold_of) == fold]

    def _kept_by(self, metric: str) -> np.ndarray:
        if metric not in BASIC_METRICS:
            raise DataError(unknown_name("metric", metric, BASIC_METRICS))
        return self.kept[list(BASIC_METRICS).index(metric)]

    def save(self, path: str | PathLike) -> None:
        """Write to an ``.npz`` file."""
        write_arrays(path, **self._asdict())

    @classmethod
    def load(cls, path: str | PathLike) -> FinalPredictions:
        """Read what :meth:`save` wrote."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls._fields})


def _numbers_of(fold_of: np.ndarray) -> np.ndarray:
    """Folds of several splits numbered as they follow each other, like :func:`~fairfold.folds.parts_of` has them."""
    if fold_of.ndim == 1:
        return fold_of
    first = (int(fold_of.max(initial=-1)) + 1) * np.arange(len(fold_of))[:, np.newaxis]
    return np.where(fold_of < 0, -1, fold_of + first)
