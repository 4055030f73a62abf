"""The six Gaussian classifiers on every pair of features, counted, in memory that does not grow with the pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from fairfold.errors import DataError
from fairfold.win_percentage.feature_sets import pair_at, whole_number
from fairfold.win_percentage.pairs import N_CLASSIFIERS, N_MASKS, PairData, count_range
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import Problem, checked_n_jobs

BLOCK = 1 << 16  # pairs whose top scores are in memory at once


@dataclass(frozen=True, eq=False)
class PairEvaluation:
    """What `evaluate_all_pairs` found; performances are those of `evaluate_feature_sets`.

    Attributes
    ----------
    histogram : pairs counted by their top performance and the classifiers that reach it.
    levels : (n_levels,) performances that any classifier reached on any pair, ascending.
    counts : (n_levels, 6) int64, on how many pairs each classifier reached the level, in the order of
        ``GAUSSIAN_CLASSIFIERS``.
    best_pairs : (n_best, 2) int64, the pairs of the highest top performance, best first, equal ones in their order;
        all pairs when there are fewer.
    best_performance : (n_best,) their top performances.
    n_best : how many pairs were asked for.
    """

    histogram: PerformanceHistogram
    levels: NDArray[np.float64]
    counts: NDArray[np.int64]
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
        levels, level = np.unique(np.concatenate([part.levels for part in parts]), return_inverse=True)
        counts = np.zeros((len(levels), N_CLASSIFIERS), dtype=np.int64)
        np.add.at(counts, level, np.concatenate([part.counts for part in parts]))
        return cls(
            histogram=PerformanceHistogram.merged(part.histogram for part in parts),
            levels=levels,
            counts=counts,
            best_pairs=pairs[best],
            best_performance=performance[best],
            n_best=asked[0],
        )

    def to_arrays(self) -> dict[str, NDArray]:
        """Arrays by name, for `fairfold.files.write_arrays`."""
        return {
            "performance": self.histogram.performance,
            "winners": self.histogram.winners,
            "n_pairs": self.histogram.counts,
            "levels": self.levels,
            "counts": self.counts,
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
            others = {name: arrays[name] for name in ("levels", "counts", "best_pairs", "best_performance")}
            return cls(histogram, **others, n_best=int(arrays["n_best"]))
        except KeyError as error:
            raise DataError(f"An evaluation of pairs lacks an array ({error.args[0]}): evaluate them again.") from error


def evaluate_all_pairs(
    X: ArrayLike,
    y: ArrayLike,
    *,
    start: int = 0,
    stop: int | None = None,
    n_splits: int = 3,
    n_repeats: int = 2,
    random_state: int = 0,
    n_jobs: int | None = 1,
    n_best: int = 100,
) -> PairEvaluation:
    """Evaluate the six Gaussian classifiers on every pair of features, or on a chunk of them, two classes.

    Pairs are numbered row by row: (0, 1), (0, 2), …, (1, 2), …; no list of them is built, and only counts are kept.
    Chunks evaluated apart merge to the evaluation of all pairs (`PairEvaluation.merged`). Each thread counts in 560
    bytes for each unit of performance: 10 MB for classes of 63 and 67 samples, 64 MB for 151 and 189; less where their
    sizes have common factors.

    Parameters
    ----------
    X : (n_samples, n_features) features.
    y : (n_samples,) classes, two.
    start, stop : numbers of the first pair and of the one after the last; all pairs by default.
    n_splits : folds of each repeat.
    n_repeats : repeats of the cross-validation.
    random_state : seed of the folds.
    n_jobs : threads, as in joblib; results do not depend on it.
    n_best : how many of the best pairs to keep.

    Raises
    ------
    DataError
        X or y does not hold what it must, or the pairs do not exist.
    SplitError
        A class has too few samples for the folds.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3.
    """
    problem = Problem.make(X, y, n_splits, n_repeats, random_state)
    if len(problem.sizes) != 2:
        raise DataError(f"y holds {len(problem.sizes)} classes: pairs are counted for two, use evaluate_feature_sets.")
    n_features = problem.X.shape[1]
    n_pairs = math.comb(n_features, 2)
    start, stop = whole_number("start", start, 0), n_pairs if stop is None else whole_number("stop", stop, 1)
    if not start < stop <= n_pairs:
        raise DataError(f"Pairs {start} to {stop} are not a chunk of the {n_pairs} pairs of {n_features} features.")
    n_best = whole_number("n_best", n_best, 1)
    data = problem.pair_data()
    n_parts = min(checked_n_jobs(n_jobs), stop - start)
    edges = [start + (stop - start) * part // n_parts for part in range(n_parts + 1)]
    parts = Parallel(n_jobs=n_parts, prefer="threads")(
        delayed(_evaluate_part)(data, problem.top, low, high, n_best) for low, high in pairwise(edges)
    )
    return PairEvaluation.merged(parts)


def _evaluate_part(data: PairData, top: int, start: int, stop: int, n_best: int) -> PairEvaluation:
    n_features = len(data.values)
    winners, reached = np.zeros((top + 1, N_MASKS), dtype=np.int64), np.zeros((top + 1, N_CLASSIFIERS), dtype=np.int64)
    numbers, scores = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)  # of the best pairs so far, best first
    for first in range(start, stop, BLOCK):
        tops = np.empty(min(BLOCK, stop - first), dtype=np.int64)
        count_range(data, pair_at(first, n_features), winners, reached, tops)
        # A later pair must be better than the last of a full list, for the earlier of equals is kept.
        better = np.flatnonzero(tops > scores[-1]) if len(scores) == n_best else np.arange(len(tops))
        numbers, scores = np.append(numbers, first + better), np.append(scores, tops[better])
        best = np.argsort(-scores, kind="stable")[:n_best]
        numbers, scores = numbers[best], scores[best]
    units, masks = np.nonzero(winners)
    who = (masks[:, None] >> np.arange(N_CLASSIFIERS) & 1).astype(bool)
    levels = np.flatnonzero(reached.any(axis=1))
    return PairEvaluation(
        histogram=PerformanceHistogram.from_sets(units / top, who, winners[units, masks]),
        levels=levels / top,
        counts=reached[levels],
        best_pairs=np.array([pair_at(number, n_features) for number in numbers.tolist()], dtype=np.int64),
        best_performance=scores / top,
        n_best=n_best,
    )
