"""What an evaluation of all pairs of features is kept as: counts, and the best pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfold.errors import DataError
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
        """What one evaluation of all pairs of the parts would be, exactly.

        Parameters
        ----------
        parts : evaluations of chunks without common pairs, of the same samples, classes and folds.

        Raises
        ------
        DataError
            There is no part, parts differ in ``n_best``, or share a pair that is among the best of both.
        """
        parts = list(parts)
        asked = sorted({part.n_best for part in parts})
        if len(asked) != 1:
            found = f"n_best {' and '.join(map(str, asked))}" if parts else "no part"
            raise DataError(f"Cannot merge evaluations of pairs with {found}: give one or more of the same n_best.")
        pairs = np.concatenate([part.best_pairs for part in parts])
        distinct, times = np.unique(pairs, axis=0, return_counts=True)
        if (times > 1).any():
            raise DataError(f"Pair {tuple(distinct[times.argmax()].tolist())} is in two parts: give each chunk once.")
        performance = np.concatenate([part.best_performance for part in parts])
        best = np.lexsort((pairs[:, 1], pairs[:, 0], -performance))[: asked[0]]
        return cls(
            histogram=PerformanceHistogram.merged(part.histogram for part in parts),
            best_pairs=pairs[best],
            best_performance=performance[best],
            n_best=asked[0],
        )

    def to_arrays(self) -> dict[str, NDArray]:
        """Arrays by name, for `fairfold.core.files.write_arrays`."""
        return {
            "performance": self.histogram.performance,
            "winners": self.histogram.winners,
            "n_pairs": self.histogram.counts,
            "best_pairs": self.best_pairs,
            "best_performance": self.best_performance,
            "n_best": np.array(self.n_best),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PairEvaluation:
        """The evaluation of which `to_arrays` made these.

        Parameters
        ----------
        arrays : arrays by name; an open ``.npz`` will do.

        Raises
        ------
        DataError
            An array is missing.
        """
        try:
            histogram = PerformanceHistogram(arrays["performance"], arrays["winners"], arrays["n_pairs"])
            others = {name: arrays[name] for name in ("best_pairs", "best_performance")}
            return cls(histogram, **others, n_best=int(arrays["n_best"]))
        except KeyError as error:
            raise DataError(f"An evaluation of pairs lacks an array ({error.args[0]}): evaluate them again.") from error


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
