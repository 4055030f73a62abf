"""Evaluation of classifiers on random feature sets (Monte Carlo wrapper of Parry, Phan & Wang 2012, Table 3).

The performance of a classifier on a feature set is the mean recall over the classes (sensitivity and specificity, for
two classes). It is estimated by repeated stratified cross-validation, with the same folds for all classifiers and sets.
The test samples of a repeat are pooled before the recall is computed. The performance is the mean over the repeats.

Performances are therefore multiples of 1 / (n_repeats · n_classes · the least common multiple of the class sizes). They
are compared as integers, so ties are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from fairfold.core.folds import stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError, ModelError, SplitError
from fairfold.win_percentage.feature_sets import checked_sets, finite_matrix, whole_number
from fairfold.win_percentage.gaussians import make_gaussian
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.pairs import PairData, prepare_pairs, score_listed

Classifiers = Sequence[str] | Mapping[str, BaseEstimator]
MAX_SPLITS = 127  # Folds are stored as signed bytes.
_LARGEST = 1e150  # Its square and the square of its inverse are finite and positive.


@dataclass(frozen=True, eq=False)
class FeatureSetResults:
    """Performance of classifiers on feature sets, as returned by :func:`evaluate_feature_sets`.

    Attributes
    ----------
    classifiers : tuple of str
        Names of the classifiers, in the order of the columns.
    performances : ndarray of shape (n_sets, n_classifiers)
        Performance of each classifier on each feature set, from 0 to 1 unless a scorer has another range.
    performance : ndarray of shape (n_sets,)
        Highest performance on each feature set.
    winners : ndarray of shape (n_sets, n_classifiers), dtype=bool
        Whether each classifier reaches the highest performance. Several classifiers win if they tie.
    """

    classifiers: tuple[str, ...]
    performances: NDArray[np.float64]
    performance: NDArray[np.float64]
    winners: NDArray[np.bool_]


def evaluate_feature_sets(
    X: ArrayLike,
    y: ArrayLike,
    feature_sets: Iterable[ArrayLike],
    *,
    classifiers: Classifiers = GAUSSIAN_CLASSIFIERS,
    n_splits: int = 3,
    n_repeats: int = 2,
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> FeatureSetResults:
    """Compute the performance and the winners of each feature set by repeated cross-validation.

    Compiled code evaluates pairs of features for two classes if `classifiers` contains names. Otherwise, estimators
    are fitted one by one. The results are the same.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes of the samples, at least two.
    feature_sets : array-like of shape (n_sets, size), or iterable of array-like
        Feature indices of each set. Sets may differ in size.
    classifiers : sequence of str, or mapping of str to estimator, default=GAUSSIAN_CLASSIFIERS
        Names of Gaussian classifiers, or scikit-learn classifiers by name.
    n_splits : int, default=3
        Number of folds in each repeat.
    n_repeats : int, default=2
        Number of repeats of the cross-validation.
    random_state : int, default=0
        Seed of the folds.
    n_jobs : int or None, default=1
        Number of processes, as in joblib. Results do not depend on it. The compiled code uses one thread.

    Returns
    -------
    FeatureSetResults
        Performance of each classifier, top performance and winners of each set.

    Raises
    ------
    DataError
        If `X`, `y` or a feature set is not valid.
    SplitError
        If a class has too few samples for the folds.
    ModelError
        If a classifier is unknown or cannot be fitted.

    See Also
    --------
    evaluate_all_pairs : Evaluation of all pairs of features in constant memory.
    win_percentage : Win percentages from the results.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3.

    Examples
    --------
    The last feature has a higher variance in the second class, which only QDA models.

    >>> import numpy as np
    >>> from fairfold.win_percentage import evaluate_feature_sets, win_percentage
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 4)) + y[:, None] * [1, 1, 0, 0]
    >>> X[y == 1, 3] *= 5
    >>> found = evaluate_feature_sets(X, y, [[0, 1, 2], [0, 2, 3], [0, 1, 3]], classifiers=["LDA", "QDA"])
    >>> found.winners
    array([[ True, False],
           [False,  True],
           [False,  True]])
    >>> win_percentage(found.performance, found.winners, [1, 2]).round(2)
    array([[0.33, 0.67],
           [0.11, 0.89]])
    """
    problem = Problem.make(X, y, n_splits, n_repeats, random_state)
    sets = checked_sets(feature_sets, problem.X.shape[1])
    models, n_jobs = checked_classifiers(classifiers), checked_n_jobs(n_jobs)
    if not isinstance(classifiers, Mapping) and len(problem.sizes) == 2 and all(len(chosen) == 2 for chosen in sets):
        units = np.empty((len(sets), len(GAUSSIAN_CLASSIFIERS)), dtype=np.int64)
        score_listed(problem.pair_data(), np.array(sets, dtype=np.int64), units)
        units = units[:, [GAUSSIAN_CLASSIFIERS.index(name) for name in models]]
    else:
        score = partial(_score_set, problem, list(models.values()))
        scores = Parallel(n_jobs=n_jobs)(delayed(score)(chosen) for chosen in sets)
        units = np.array(scores, dtype=problem.class_weights.dtype)
    performances = (units / problem.top).astype(np.float64)
    winners = units == units.max(axis=1, keepdims=True)
    return FeatureSetResults(tuple(models), performances, performances.max(axis=1), winners)


def _check_spread(X: np.ndarray) -> None:
    """Raise an error if a variance is too large or too small for a floating-point number."""
    spread = np.ptp(X, axis=0)
    if (wrong := np.flatnonzero((spread > _LARGEST) | ((spread > 0) & (spread < 1 / _LARGEST)))).size:
        found = f"the range is {spread[wrong[0]]:g}, whose square is not a floating-point number"
        raise DataError(f"X, feature {wrong[0]}: {found}. Use another unit.")


@dataclass(frozen=True, eq=False)
class Problem:
    """Checked samples and folds.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features, finite and not constant.
    classes : ndarray of shape (n_classes,)
        Sorted classes.
    codes : ndarray of shape (n_samples,)
        Class index of each sample.
    sizes : ndarray of shape (n_classes,)
        Number of samples in each class.
    fold_of : ndarray of shape (n_repeats, n_samples)
        Test fold of each sample, stratified by class.
    class_weights : ndarray of shape (n_classes,)
        Integer score of one correct prediction in each class.
    top : int
        Integer score of a performance of 1. Performances are scores divided by it.
    """

    X: NDArray[np.float64]
    classes: NDArray
    codes: NDArray[np.intp]
    sizes: NDArray[np.intp]
    fold_of: NDArray[np.int8]
    class_weights: NDArray[np.int64]
    top: int

    @classmethod
    def make(cls, X: ArrayLike, y: ArrayLike, n_splits: int, n_repeats: int, random_state: int) -> Problem:
        """Check the samples and assign them to folds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes of the samples, at least two.
        n_splits : int
            Number of folds in each repeat.
        n_repeats : int
            Number of repeats.
        random_state : int
            Seed of the folds.

        Returns
        -------
        Problem
            Checked samples and folds.

        Raises
        ------
        DataError
            If `X` or `y` is not valid, or if a number is not allowed.
        SplitError
            If a class has too few samples for the folds.
        """
        X = finite_matrix(X)
        _check_spread(X)
        classes, codes, sizes = _check_classes(y, len(X))
        if len(constant := np.flatnonzero(np.ptp(X, axis=0) == 0)):
            raise DataError(f"X: feature {constant[0]} and {len(constant) - 1} others are constant. Remove them.")
        n_splits, n_repeats = whole_number("n_splits", n_splits, 2), whole_number("n_repeats", n_repeats, 1)
        if n_splits > MAX_SPLITS:
            raise SplitError(f"n_splits: found {n_splits}. Give a whole number from 2 to {MAX_SPLITS}.")
        smallest = sizes.min()
        if smallest < n_splits or smallest - math.ceil(smallest / n_splits) < 2:
            raise SplitError(
                f"y: class {classes[sizes.argmin()]} has {smallest} samples, but each of {n_splits} training parts "
                "needs at least two. Decrease n_splits (at least 2) or add samples."
            )
        rng = np.random.default_rng(seed_sequence(whole_number("random_state", random_state), "folds"))
        fold_of = np.array([stratified_folds(codes, n_splits, rng) for _ in range(n_repeats)])
        multiple = math.lcm(*sizes.tolist())
        top = n_repeats * len(sizes) * multiple
        # The least common multiple of many class sizes may exceed 64 bits. Python integers have no such bound.
        dtype = np.int64 if top < 2**62 else object
        class_weights = np.array([multiple // size for size in sizes.tolist()], dtype=dtype)
        return cls(X, classes, codes, sizes, fold_of, class_weights, top)

    def pair_data(self) -> PairData:
        """Prepare the samples of two classes for the compiled code.

        Returns
        -------
        PairData
            Samples in fold order and statistics of the features.
        """
        return prepare_pairs(self.X, self.codes, self.fold_of, self.class_weights)


def checked_n_jobs(n_jobs: int | None) -> int:
    """Check a number of jobs and resolve None and negative numbers.

    Parameters
    ----------
    n_jobs : int or None
        Number of jobs, as in joblib.

    Returns
    -------
    int
        Effective number of jobs.

    Raises
    ------
    DataError
        If `n_jobs` is 0 or is not a whole number.
    """
    if n_jobs is not None and whole_number("n_jobs", n_jobs) == 0:
        raise DataError("n_jobs: found 0. Give a number of jobs, or -1 for one per core.")
    return effective_n_jobs(n_jobs)


def _score_set(problem: Problem, models: list[BaseEstimator], chosen: NDArray[np.intp]) -> list[int]:
    """Compute the mean recall of each model on one feature set, as an integer score."""
    X, y = problem.X[:, chosen], problem.classes[problem.codes]
    totals = []
    for model in models:
        total = 0
        for folds in problem.fold_of:
            for fold in range(folds.max() + 1):
                test = folds == fold
                is_right = _fit(model, X[~test], y[~test]).predict(X[test]) == y[test]
                total += problem.class_weights[problem.codes[test][is_right]].sum()
        totals.append(total)
    return totals


def _fit(model: BaseEstimator, X: NDArray[np.float64], y: NDArray) -> BaseEstimator:
    try:
        return clone(model).fit(X, y)
    except ValueError as error:
        raise ModelError(f"{type(model).__name__} cannot be fitted to a training part: {error}") from error


def _check_classes(y: ArrayLike, n_samples: int) -> tuple[NDArray, NDArray[np.intp], NDArray[np.intp]]:
    if np.ma.is_masked(y):
        raise DataError("y: some samples have no class, as they are masked. Leave these samples out.")
    try:
        y = np.asarray(y)
    except ValueError:  # The message of NumPy refers to inhomogeneous shapes, which does not help the user.
        raise DataError("y: rows differ in length. Give one class per sample.") from None
    if y.shape != (n_samples,):
        raise DataError(f"y: found shape {y.shape} for {n_samples} samples. Give one class per sample.")
    if y.dtype.kind == "f" and (not np.isfinite(y).all() or (y != np.floor(y)).any()):
        raise DataError("y: found a value that is not a whole number. Give the class of each sample.")
    try:
        classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise DataError("y: found missing or mixed values. Give all classes as numbers or all as text.") from error
    if len(classes) < 2:
        raise DataError(f"y: found only class {classes[0]}. Give samples of two or more classes.")
    return classes, codes, sizes


def checked_classifiers(classifiers: Classifiers) -> dict[str, BaseEstimator]:
    """Check classifiers and create those that are given by name.

    Parameters
    ----------
    classifiers : sequence of str, or mapping of str to estimator
        Names of Gaussian classifiers, or scikit-learn classifiers by name.

    Returns
    -------
    dict of str to estimator
        Unfitted classifiers by name.

    Raises
    ------
    ModelError
        If there is no classifier, or if one is unknown.
    """
    if isinstance(classifiers, str):
        raise ModelError(f"classifiers: found {classifiers!r}. Give a list of names, or names with classifiers.")
    if not len(classifiers):
        raise ModelError("classifiers: the list is empty. Give one or more.")
    if isinstance(classifiers, Mapping):
        for name, model in classifiers.items():
            if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
                raise ModelError(f"classifiers, {name!r}: found {model!r}. Give a classifier, not its class.")
        return dict(classifiers)
    if len(set(classifiers)) < len(classifiers):
        raise ModelError(f"classifiers: found {list(classifiers)}. Name each classifier once.")
    return {name: make_gaussian(name) for name in classifiers}
