"""Results of an evaluation of all feature pairs: counts and the best pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairfold.win_percentage.win import PerformanceHistogram

_COLUMNS = ("performance", "winners", "counts")


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """Results of :func:`~fairfold.win_percentage.evaluate_all_pairs`.

    Attributes
    ----------
    histogram : PerformanceHistogram
        Counts of pairs by top performance and winning classifiers.
    best_pairs : ndarray of shape (n_best, 2), dtype=int64
        Feature pairs with the highest top performance, best first. Equal pairs keep their order. The array contains all
        pairs if there are fewer than ``n_best``.
    best_performance : ndarray of shape (n_best,)
        Top performance of each of the best pairs.
    n_best : int
        Requested number of best pairs.
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
            Evaluations of disjoint chunks of pairs. Samples, classes, folds and ``n_best`` must be the same. This is
        checked.

        Returns
        -------
        PairEvaluation
            Evaluation of all pairs.
        """
        parts = list(parts)
        n_best = parts[0].n_best
        pairs = np.concatenate([part.best_pairs for part in parts])
        performance = np.concatenate([part.best_performance for part in parts])
        best = np.lexsort((pairs[:, 1], pairs[:, 0], -performance))[:n_best]
        histogram = PerformanceHistogram.merged(part.histogram for part in parts)
        return cls(histogram, pairs[best], performance[best], n_best)

    def to_arrays(self) -> dict[str, NDArray]:
        """Convert the evaluation to named arrays for :func:`fairfold.core.files.write_arrays`.

        Returns
        -------
        dict of str to ndarray
            Arrays by name.
        """
        best = {name: np.asarray(getattr(self, name)) for name in ("best_pairs", "best_performance", "n_best")}
        return {**vars(self.histogram), **best}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> PairEvaluation:
        """Restore an evaluation from the arrays of :meth:`to_arrays`.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            Arrays by name.

        Returns
        -------
        PairEvaluation
            Restored evaluation.
        """
        histogram = PerformanceHistogram(*(arrays[name] for name in _COLUMNS))
        return cls(histogram, arrays["best_pairs"], arrays["best_performance"], int(arrays["n_best"]))


def histograms_to_arrays(histograms: Sequence[PerformanceHistogram]) -> dict[str, np.ndarray]:
    """Concatenate histograms into named arrays for :func:`fairfold.core.files.write_arrays`.

    Parameters
    ----------
    histograms : sequence of PerformanceHistogram
        Histograms of the same classifiers.

    Returns
    -------
    dict of str to ndarray
        Concatenated arrays, and the number of rows of each histogram as ``n_rows``.

    See Also
    --------
    histograms_from_arrays : Restore the histograms.

    Examples
    --------
    >>> first = PerformanceHistogram.from_sets([0.7, 0.8], [[1, 0], [0, 1]])
    >>> second = PerformanceHistogram.from_sets([0.9], [[0, 1]])
    >>> arrays = histograms_to_arrays([first, second])
    >>> arrays["performance"], arrays["n_rows"]
    (array([0.7, 0.8, 0.9]), array([2, 1]))
    >>> [histogram.n_sets for histogram in histograms_from_arrays(arrays)]
    [2, 1]
    """
    arrays = {name: np.concatenate([getattr(each, name) for each in histograms]) for name in _COLUMNS}
    return {**arrays, "n_rows": np.array([each.performance.size for each in histograms])}


def histograms_from_arrays(arrays: Mapping[str, np.ndarray]) -> list[PerformanceHistogram]:
    """Restore histograms from the arrays of :func:`histograms_to_arrays`.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Arrays by name.

    Returns
    -------
    list of PerformanceHistogram
        Restored histograms.
    """
    ends = np.cumsum(arrays["n_rows"])[:-1]
    columns = [np.split(arrays[name], ends) for name in _COLUMNS]
    return [PerformanceHistogram(*rows) for rows in zip(*columns, strict=True)]
