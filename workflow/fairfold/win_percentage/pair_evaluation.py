"""What an evaluation of all pairs of features is kept as: counts, and the best pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfold.win_percentage.win import PerformanceHistogram


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """What `evaluate_all_pairs` found; performances are those of `evaluate_feature_sets`.

    Attributes
    ----------
    histogram : pairs counted by their top performance and the classifiers that reach it.
    best_pairs : (n_best, 2) int64, the pairs of the highest top performance, best first, equal ones in their order;
        all pairs when there are fewer.
    best_performance : (n_best,) their top performances.
    n_best : how many pairs were asked for.
    """

    histogram: PerformanceHistogram
    best_pairs: NDArray[np.int64]
    best_performance: NDArray[np.float64]
    n_best: int

    @classmethod
    def merged(cls, parts: Iterable[PairEvaluation]) -> PairEvaluation:
        """Merge evaluations of chunks into the evaluation of all their pairs.

        Parameters
        ----------
        parts : iterable of PairEvaluation
            Evaluations of chunks without common pairs, of the same samples, classes, folds and ``n_best``.
        """
        parts = list(parts)
        n_best = parts[0].n_best
        pairs = np.concatenate([part.best_pairs for part in parts])
        performance = np.concatenate([part.best_performance for part in parts])
        best = np.lexsort((pairs[:, 1], pairs[:, 0], -performance))[:n_best]
        return cls(
            histogram=PerformanceHistogram.merged(part.histogram for part in parts),
            best_pairs=pairs[best],
            best_performance=performance[best],
            n_best=n_best,
        )

    def to_arrays(self) -> dict[str, NDArray]:
        """Arrays by name, for `fairfold.core.files.write_arrays`."""
        best = {name: np.asarray(getattr(self, name)) for name in ("best_pairs", "best_performance", "n_best")}
        return {**vars(self.histogram), **best}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PairEvaluation:
        """Restore an evaluation from the arrays of `to_arrays`."""
        histogram = PerformanceHistogram(arrays["performance"], arrays["winners"], arrays["counts"])
        return cls(histogram, arrays["best_pairs"], arrays["best_performance"], int(arrays["n_best"]))


def histograms_to_arrays(histograms: Sequence[PerformanceHistogram]) -> dict[str, np.ndarray]:
    """Arrays that hold histograms one after the other, for :func:`fairfold.core.files.write_arrays`."""
    arrays = {
        name: np.concatenate([getattr(each, name) for each in histograms])
        for name in ("performance", "winners", "counts")
    }
    return {**arrays, "n_rows": np.array([each.performance.size for each in histograms])}


def histograms_from_arrays(arrays: Mapping[str, np.ndarray]) -> list[PerformanceHistogram]:
    """Histograms of which :func:`histograms_to_arrays` made these."""
    ends = np.cumsum(arrays["n_rows"])[:-1]
    columns = [np.split(arrays[name], ends) for name in ("performance", "winners", "counts")]
    return [PerformanceHistogram(*rows) for rows in zip(*columns, strict=True)]
