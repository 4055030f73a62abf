"""Evaluation of the six Gaussian classifiers on every pair of features, in constant memory."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from fairfold.errors import DataError
from fairfold.win_percentage.feature_sets import pair_at, whole_number
from fairfold.win_percentage.pair_evaluation import PairEvaluation
from fairfold.win_percentage.pairs import N_CLASSIFIERS, N_MASKS, count_range
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import Problem

BLOCK = 1 << 16  # Number of pairs whose top scores are held in memory at the same time.


def evaluate_all_pairs(
    X: ArrayLike,
    y: ArrayLike,
    *,
    start: int = 0,
    stop: int | None = None,
    n_splits: int = 3,
    n_repeats: int = 2,
    random_state: int = 0,
    n_best: int = 100,
) -> PairEvaluation:
    """Evaluate the six Gaussian classifiers on all pairs of features, or a chunk of them, for two classes.

    Only counts and the best pairs are kept, so memory does not grow with the number of pairs. Pairs are numbered row by
    row: (0, 1), (0, 2), …, (1, 2), …. ``PairEvaluation.merged`` merges evaluations of chunks into the evaluation of
    all pairs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes of the samples. There must be two.
    start : int, default=0
        Number of the first pair.
    stop : int or None, default=None
        Number of the pair after the last one. None evaluates all pairs from `start`.
    n_splits : int, default=3
        Number of folds in each repeat.
    n_repeats : int, default=2
        Number of repeats of the cross-validation.
    random_state : int, default=0
        Seed of the folds.
    n_best : int, default=100
        Number of best pairs to keep.

    Returns
    -------
    PairEvaluation
        ``histogram`` counts pairs by performance and computes win percentages. ``best_pairs`` lists the best pairs.

    Raises
    ------
    DataError
        If `X` or `y` is not valid, or if the range of pairs is not valid.
    SplitError
        If a class has too few samples for the folds.

    See Also
    --------
    evaluate_feature_sets : Evaluation of given feature sets of any size.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3. Counting needs 560 bytes for each possible performance: 10 MB for classes of 63
    and 67 samples, and 64 MB for classes of 151 and 189. Class sizes with common factors need less.
    """
    problem = Problem.make(X, y, n_splits, n_repeats, random_state)
    if len(problem.sizes) != 2:
        raise DataError(f"y: found {len(problem.sizes)} classes, expected two. Use evaluate_feature_sets.")
    n_features = problem.X.shape[1]
    n_pairs = math.comb(n_features, 2)
    start, stop = whole_number("start", start, 0), n_pairs if stop is None else whole_number("stop", stop, 1)
    if not start < stop <= n_pairs:
        raise DataError(f"start and stop: found {start} and {stop}. Give a range of the {n_pairs} pairs.")
    n_best = whole_number("n_best", n_best, 1)
    data, top = problem.pair_data(), problem.top
    winners = np.zeros((top + 1, N_MASKS), dtype=np.int64)
    is_level = np.zeros(top + 1, dtype=bool)
    numbers, scores = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for first in range(start, stop, BLOCK):
        tops = np.empty(min(BLOCK, stop - first), dtype=np.int64)
        count_range(data, pair_at(first, n_features), winners, is_level, tops)
        # If the list is full, a later pair must be better than the last one, because ties keep the earlier pair.
        better = np.flatnonzero(tops > scores[-1]) if len(scores) == n_best else np.arange(len(tops))
        numbers, scores = np.append(numbers, first + better), np.append(scores, tops[better])
        best = np.argsort(-scores, kind="stable")[:n_best]
        numbers, scores = numbers[best], scores[best]
    levels = np.flatnonzero(is_level)
    rows, masks = np.nonzero(winners[levels])
    who = (masks[:, None] >> np.arange(N_CLASSIFIERS) & 1).astype(bool)
    histogram = PerformanceHistogram.from_sets(levels[rows] / top, who, winners[levels[rows], masks])
    best_pairs = np.array([pair_at(number, n_features) for number in numbers.tolist()], dtype=np.int64)
    return PairEvaluation(histogram, best_pairs, scores / top, n_best)
