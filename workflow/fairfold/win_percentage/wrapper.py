"""The Monte Carlo wrapper of Parry, Phan & Wang (2012), Table 3: many feature sets, all classifiers on each.

Performance is the mean of sensitivity and specificity (of the recalls, for more than two classes) over ``n_repeats``
cross-validations of ``n_splits`` folds, the same folds for every set and classifier, balanced by class. Predictions of
one cross-validation are pooled over its folds before recalls are taken, so that performance takes few values and ties
are ties of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import get_scorer

from fairfold.errors import DataError, ModelError, SplitError
from fairfold.evaluation.plans import deal_folds
from fairfold.seeds import seed_sequence
from fairfold.win_percentage.gaussians import GAUSSIAN_CLASSIFIERS, gaussian_classifiers
from fairfold.win_percentage.pair_kernel import FoldedData, count_correct, fold_data
from fairfold.win_percentage.win import PerformanceHistogram

CHUNK = 100_000  # pairs that are in memory at once
_ROUNDING = 1e-12  # scores of a scorer that differ by less are ties
Classifiers = Sequence[str] | Mapping[str, ClassifierMixin]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Feature sets and what classifiers reach on them.

    Attributes
    ----------
    classifiers : names, in order of the columns.
    performances : ndarray, shape (n_sets, n_classifiers); 1 is best, chance is one over the number of classes.
    performance : ndarray, shape (n_sets,); the top performance of each set.
    winners : ndarray of bool, shape (n_sets, n_classifiers); who reaches it, all of them on ties.
    """

    classifiers: tuple[str, ...]
    performances: np.ndarray
    performance: np.ndarray
    winners: np.ndarray


def draw_feature_sets(
    n_features: int,
    size: int | Mapping[int, float],
    n_sets: int,
    *,
    weights: ArrayLike | None = None,
    random_state: int = 0,
) -> list[np.ndarray]:
    """Random feature sets, drawn with replacement: a set may come twice, a feature within a set may not.

    Parameters
    ----------
    n_features : features to draw from.
    size : features in each set, or a mapping from sizes to their prior weights.
    n_sets : number of sets.
    weights : (n_features,) weights of the features, not negative; equal ones when not given.
    random_state : seed.

    Returns
    -------
    list of ndarray, ascending feature numbers of each set

    Raises
    ------
    ModelError
        When a size is not between 1 and the number of features (of positive weight), or weights are not weights.
    """
    prior = size if isinstance(size, Mapping) else {size: 1.0}
    weights = np.ones(n_features) if weights is None else np.asarray(weights, dtype=float)
    if weights.shape != (n_features,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ModelError(f"weights has shape {weights.shape}: give one finite weight, 0 or more, per feature.")
    n_most = np.count_nonzero(weights)
    if wrong := [given for given in prior if not 1 <= given <= n_most]:
        raise ModelError(f"feature sets of size {wrong[0]} are asked of {n_most} features: give 1 to {n_most}.")
    rng = np.random.default_rng(random_state)
    shares = np.array(list(prior.values()), dtype=float)
    sizes = rng.choice(list(prior), size=n_sets, p=shares / shares.sum())
    chances = weights / weights.sum()
    return [np.sort(rng.choice(n_features, size=k, replace=False, p=chances)) for k in sizes]


def evaluate_feature_sets(
    X: ArrayLike,
    y: ArrayLike,
    feature_sets: Iterable[Sequence[int]],
    *,
    classifiers: Classifiers = tuple(GAUSSIAN_CLASSIFIERS),
    n_splits: int = 3,
    n_repeats: int = 2,
    scoring: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> Evaluation:
    """Performance of every classifier on every feature set.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        Finite, no constant feature.
    y : array-like, shape (n_samples,)
        Two classes or more, each with as many samples as folds, and three for two folds.
    feature_sets : column numbers of each set.
    classifiers : names of ``GAUSSIAN_CLASSIFIERS``, or a mapping from names to scikit-learn classifiers. The six on
        pairs with two classes are compiled, hundreds of thousands of pairs a second; everything else fits one model
        after the other.
    n_splits, n_repeats : folds of a cross-validation, and cross-validations.
    scoring : name of a scikit-learn scorer, its mean over folds takes the place of the recalls.
    random_state : seed of the folds.
    n_jobs : threads (compiled) or processes that share the sets; results do not depend on it.

    Raises
    ------
    StudyError
        ``DataError`` for data, ``SplitError`` for folds, ``ModelError`` for feature sets and classifiers.
    """
    X, codes = _checked_data(X, y)
    fold_of = _folds(codes, n_splits, n_repeats, random_state)
    sets = [_checked_set(each, X.shape[1]) for each in feature_sets]
    models = dict(classifiers) if isinstance(classifiers, Mapping) else gaussian_classifiers(classifiers)
    if not sets or not models:
        raise ModelError(f"{len(sets)} feature sets and {len(models)} classifiers: give at least one of each.")
    if scoring is None and not isinstance(classifiers, Mapping) and codes.max() == 1 and {len(s) for s in sets} == {2}:
        pairs = np.array(sets, dtype=np.int64).T
        correct = _count_in_threads(fold_data(X, codes, fold_of), *pairs, n_jobs)
        columns = [list(GAUSSIAN_CLASSIFIERS).index(name) for name in models]
        return _evaluation(tuple(models), correct[:, columns], codes, n_repeats)
    if scoring is not None:
        scores = Parallel(n_jobs)(delayed(_scores)(models, X[:, each], codes, fold_of, scoring) for each in sets)
        performances = np.array(scores)
        top = performances.max(axis=1)
        return Evaluation(tuple(models), performances, top, performances >= top[:, None] - _ROUNDING)
    counts = Parallel(n_jobs)(delayed(_counts)(models, X[:, each], codes, fold_of) for each in sets)
    return _evaluation(tuple(models), np.array(counts), codes, n_repeats)


def n_pairs(n_features: int) -> int:
    """Number of pairs of different features."""
    return n_features * (n_features - 1) // 2


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
) -> PerformanceHistogram:
    """The six Gaussian classifiers on all pairs of features, or on those from ``start`` to ``stop``, counted.

    Pairs are numbered (0, 1), (0, 2), ..., (1, 2), ...; no list of them is built, and memory does not grow with their
    number. Histograms of chunks merge to that of all (:meth:`PerformanceHistogram.merged`).

    Parameters
    ----------
    X, y, n_splits, n_repeats, random_state, n_jobs : see :func:`evaluate_feature_sets`; two classes.
    start, stop : numbers of the first pair and the one after the last; all pairs when not given.
    """
    X, codes = _checked_data(X, y)
    if codes.max() > 1:
        raise DataError(f"y has {codes.max() + 1} classes; all pairs are evaluated for two: use evaluate_feature_sets.")
    total = n_pairs(X.shape[1])
    stop = total if stop is None else stop
    if not 0 <= start < stop <= total:
        raise ModelError(f"pairs {start} to {stop} are asked of {total}: give 0 <= start < stop <= {total}.")
    folded = fold_data(X, codes, _folds(codes, n_splits, n_repeats, random_state))
    histograms = []
    for first in range(start, stop, CHUNK):
        pairs = pairs_between(first, min(first + CHUNK, stop), X.shape[1])
        found = _evaluation(tuple(GAUSSIAN_CLASSIFIERS), _count_in_threads(folded, *pairs, n_jobs), codes, n_repeats)
        histograms.append(PerformanceHistogram.from_sets(found.performance, found.winners))
    return PerformanceHistogram.merged(histograms)


def pairs_between(start: int, stop: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of the pairs with these numbers, each ndarray of int64, shape (stop - start,)."""
    first_of = np.concatenate(([0], np.cumsum(np.arange(n_features - 1, 0, -1))))  # number of each row's first pair
    number = np.arange(start, stop)
    first = np.searchsorted(first_of, number, side="right") - 1
    return first, number - first_of[first] + first + 1


def gaussian_features(X: ArrayLike, multiple: float) -> np.ndarray:
    """Features whose excess kurtosis is within a multiple of its standard error ("Gaussian features", Table 5).

    The bias-corrected excess kurtosis of n normal values has mean 0 and the standard error
    sqrt(24·n·(n-1)² / ((n-3)·(n-2)·(n+3)·(n+5))).

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features); at least four samples.
    multiple : standard errors either way.

    Returns
    -------
    ndarray of int64, the kept columns, ascending

    Raises
    ------
    DataError
        With fewer than four samples.
    """
    X = np.asarray(X, dtype=float)
    n = len(X)
    if n < 4:
        raise DataError(f"kurtosis is asked of {n} samples: give four or more.")
    error = np.sqrt(24 * n * (n - 1) ** 2 / ((n - 3) * (n - 2) * (n + 3) * (n + 5)))
    return np.flatnonzero(np.abs(stats.kurtosis(X, axis=0, bias=False)) <= multiple * error)


def _evaluation(names: tuple[str, ...], correct: np.ndarray, codes: np.ndarray, n_repeats: int) -> Evaluation:
    """From correct predictions (n_sets, n_classifiers, n_classes); ties are compared as whole numbers."""
    sizes = np.bincount(codes).tolist()
    common = lcm(*sizes)
    points = correct @ np.array([common // size for size in sizes], dtype=np.int64)
    top = points.max(axis=1)
    whole = n_repeats * len(sizes) * common
    return Evaluation(names, points / whole, top / whole, points == top[:, None])


def _count_in_threads(folded: FoldedData, first: np.ndarray, second: np.ndarray, n_jobs: int | None) -> np.ndarray:
    n_parts = min(len(first), 16)
    parts = zip(np.array_split(first, n_parts), np.array_split(second, n_parts), strict=True)
    counts = Parallel(n_jobs, prefer="threads")(delayed(count_correct)(folded, *part) for part in parts)
    return np.concatenate(counts)


def _counts(models: Mapping[str, ClassifierMixin], X: np.ndarray, codes: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """Correct predictions by classifier and true class, one model after the other."""
    correct = np.zeros((len(models), codes.max() + 1), dtype=np.int64)
    for train, test in _parts(fold_of):
        for row, model in zip(correct, models.values(), strict=True):
            right = clone(model).fit(X[train], codes[train]).predict(X[test]) == codes[test]
            row += np.bincount(codes[test][right], minlength=len(row))
    return correct


def _scores(
    models: Mapping[str, ClassifierMixin], X: np.ndarray, codes: np.ndarray, fold_of: np.ndarray, scoring: str
) -> list[float]:
    scorer = get_scorer(scoring)
    return [
        float(np.mean([scorer(clone(model).fit(X[a], codes[a]), X[b], codes[b]) for a, b in _parts(fold_of)]))
        for model in models.values()
    ]


def _parts(fold_of: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for folds in fold_of:
        for fold in range(folds.max() + 1):
            yield folds != fold, folds == fold


def _folds(codes: np.ndarray, n_splits: int, n_repeats: int, random_state: int) -> np.ndarray:
    """Folds of each repetition, shape (n_repeats, n_samples)."""
    if n_splits < 2 or n_repeats < 1:
        raise SplitError(f"{n_repeats} cross-validations of {n_splits} folds are asked: give 1 or more, of 2 or more.")
    sizes = np.bincount(codes)
    least = max(n_splits, 4 if n_splits == 2 else 3)
    if sizes.min() < least:
        raise SplitError(
            f"class number {sizes.argmin()} has {sizes.min()} samples, too few for {n_splits} folds with two left to "
            f"train on: give {least} or more, or lower n_splits."
        )
    rng = np.random.default_rng(seed_sequence(random_state, "folds"))
    return np.array([deal_folds(codes, n_splits, rng) for _ in range(n_repeats)])


def _checked_data(X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise DataError(f"X has shape {X.shape} and y {y.shape}: give (n_samples, n_features) and (n_samples,).")
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError(f"X holds {X[row, column]} in row {row}, column {column}: give finite numbers.")
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
    if len(constant):
        raise DataError(f"{len(constant)} features are constant, the first is column {constant[0]}: remove them.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y holds the class {classes[0]} only: give samples of two classes or more.")
    return X, codes


def _checked_set(features: Sequence[int], n_features: int) -> np.ndarray:
    columns = np.asarray(features, dtype=np.int64)
    if columns.ndim != 1 or not 1 <= len(columns) <= n_features or len(np.unique(columns)) < len(columns):
        raise ModelError(f"feature set {list(features)} is no set of 1 to {n_features} different columns.")
    if columns.min() < 0 or columns.max() >= n_features:
        raise ModelError(f"feature set {columns.tolist()} names a column outside 0 to {n_features - 1}.")
    return columns
