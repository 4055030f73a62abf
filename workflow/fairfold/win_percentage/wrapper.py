"""The Monte Carlo wrapper of Parry, Phan & Wang (2012), Table 3: which classifiers win on each set of features.

A classifier's performance on a set is the mean over the classes of its recall (sensitivity and specificity, for two
classes), by repeated stratified cross-validation with the same folds for all classifiers and sets. The test samples of
one repeat are pooled before the recall is computed, and the performance is the mean over the repeats. So a performance
is a whole number of units, the unit being 1 / (n_repeats · n_classes · the least common multiple of the class sizes):
ties are found among whole numbers, and are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import get_scorer

from fairfold.core.folds import stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError, ModelError, SplitError
from fairfold.win_percentage.feature_sets import checked_sets, finite_matrix, whole_number
from fairfold.win_percentage.gaussians import make_gaussian
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.pairs import PairData, prepare_pairs, score_listed

Classifiers = Sequence[str] | Mapping[str, BaseEstimator]
Scoring = str | Callable[..., float] | None

SCORE_TIE = 1e-12  # scores of a user's scorer this near to each other are equal: means of them differ by rounding
MAX_SPLITS = 127  # folds are dealt as bytes
_LARGEST = 1e150  # whose square, and that of its inverse, is still a number


@dataclass(frozen=True, eq=False)
class FeatureSetResults:
    """What `evaluate_feature_sets` found.

    Attributes
    ----------
    classifiers : names, in the order of the columns.
    performances : (n_sets, n_classifiers) performance of each classifier on each set, 0 to 1 unless a scorer differs.
    performance : (n_sets,) the top one.
    winners : (n_sets, n_classifiers) whether the classifier reaches it; ties are kept.
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
    scoring: Scoring = None,
) -> FeatureSetResults:
    """Top performance and winners of each set of features.

    Pairs of features, two classes, the names of Gaussian classifiers and no scorer take the compiled path; anything
    else fits estimators one by one. Both give the same results.

    Parameters
    ----------
    X : (n_samples, n_features) features.
    y : (n_samples,) classes, two or more.
    feature_sets : (n_sets, size) indices of features, or a sequence of index arrays of any sizes.
    classifiers : names among ``GAUSSIAN_CLASSIFIERS``, or names with scikit-learn classifiers.
    n_splits : folds of each repeat.
    n_repeats : repeats of the cross-validation.
    random_state : seed of the folds.
    n_jobs : processes, as in joblib; results do not depend on it. The compiled path takes one thread.
    scoring : a scikit-learn scorer or its name, whose mean over all folds is the performance (ties within 1e-12);
        None for the mean recall.

    Returns
    -------
    FeatureSetResults
        ``performance`` of the best classifier on each set, and ``winners``, those that reach it.

    Raises
    ------
    DataError
        X, y or a feature set does not hold what it must.
    SplitError
        A class has too few samples for the folds.
    ModelError
        A classifier is unknown or fails to fit.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 3.
    """
    problem = Problem.make(X, y, n_splits, n_repeats, random_state)
    sets = checked_sets(feature_sets, problem.X.shape[1])
    models = _check_classifiers(classifiers)
    gaussian = not isinstance(classifiers, Mapping)
    if gaussian and scoring is None and len(problem.sizes) == 2 and all(len(chosen) == 2 for chosen in sets):
        checked_n_jobs(n_jobs)
        units = np.empty((len(sets), len(GAUSSIAN_CLASSIFIERS)), dtype=np.int64)
        score_listed(problem.pair_data(), np.array(sets, dtype=np.int64), units)
        units = units[:, [GAUSSIAN_CLASSIFIERS.index(name) for name in models]]
    else:
        score = partial(_score_set, problem, list(models.values()), _check_scoring(scoring))
        scores = Parallel(n_jobs=checked_n_jobs(n_jobs))(delayed(score)(chosen) for chosen in sets)
        units = np.array(scores, dtype=np.float64 if scoring is not None else problem.class_weights.dtype)
        if scoring is not None and not np.isfinite(units).all():
            raise ModelError("The scorer gave a value that is not finite: choose a scorer defined on every fold.")
    top = units.max(axis=1)
    performances = (units / problem.top).astype(np.float64) if scoring is None else units
    return FeatureSetResults(
        classifiers=tuple(models),
        performances=performances,
        performance=performances.max(axis=1),
        winners=units >= (top if scoring is None else top - SCORE_TIE)[:, None],
    )


def _check_spread(X: np.ndarray) -> None:
    """Raise where variances, which are squares, are too large or too small for a floating-point number."""
    spread = np.ptp(X, axis=0)
    if (wrong := np.flatnonzero((spread > _LARGEST) | ((spread > 0) & (spread < 1 / _LARGEST)))).size:
        raise DataError(
            f"feature {wrong[0]} spreads over {spread[wrong[0]]:g}, whose square no floating-point number holds; "
            "measure it in another unit."
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Checked samples with their folds.

    Attributes
    ----------
    X : (n_samples, n_features) features, finite, none of them constant.
    classes : (n_classes,) sorted.
    codes : (n_samples,) index of each sample's class.
    sizes : (n_classes,) samples of each class.
    fold_of : (n_repeats, n_samples) test fold of each sample; each class is dealt to the folds in turn.
    class_weights : (n_classes,) units of performance of one right decision in each class.
    top : units of a performance of 1.
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
        """Check the samples and deal the folds.

        Parameters
        ----------
        X, y, n_splits, n_repeats, random_state : see `evaluate_feature_sets`.

        Raises
        ------
        DataError
            X or y does not hold what it must, or a number is not allowed.
        SplitError
            A class has too few samples for the folds.
        """
        X = finite_matrix(X)
        _check_spread(X)
        classes, codes, sizes = _check_classes(y, len(X))
        constant = np.flatnonzero(np.ptp(X, axis=0) == 0)
        if len(constant):
            raise DataError(
                f"Feature {constant[0]} is constant, as are {len(constant) - 1} others: drop constant features."
            )
        n_splits, n_repeats = whole_number("n_splits", n_splits, 2), whole_number("n_repeats", n_repeats, 1)
        if n_splits > MAX_SPLITS:
            raise SplitError(f"n_splits is {n_splits}: give a whole number from 2 to {MAX_SPLITS}.")
        smallest = sizes.min()
        if smallest < n_splits or smallest - math.ceil(smallest / n_splits) < 2:
            raise SplitError(
                f"Class {classes[sizes.argmin()]} has {smallest} samples, too few for {n_splits} folds with two or "
                f"more of them in each training part: lower n_splits (2 is the least) or add samples."
            )
        rng = np.random.default_rng(seed_sequence(whole_number("random_state", random_state), "folds"))
        fold_of = np.array([stratified_folds(codes, n_splits, rng) for _ in range(n_repeats)])
        multiple = math.lcm(*sizes.tolist())
        top = n_repeats * len(sizes) * multiple
        # Sizes of many classes may have a multiple beyond 64 bits; Python's whole numbers have no such bound.
        dtype = np.int64 if top < 2**62 else object
        class_weights = np.array([multiple // size for size in sizes.tolist()], dtype=dtype)
        return cls(X, classes, codes, sizes, fold_of, class_weights, top)

    def pair_data(self) -> PairData:
        """The samples as the compiled kernel takes them; two classes."""
        return prepare_pairs(self.X, self.codes, self.fold_of, self.class_weights)


def checked_n_jobs(n_jobs: int | None) -> int:
    """How many jobs ``n_jobs`` stands for.

    Raises
    ------
    DataError
        It is 0, or no whole number.
    """
    if n_jobs is not None and whole_number("n_jobs", n_jobs) == 0:
        raise DataError("n_jobs is 0: give a number of jobs, or -1 for one per core.")
    return effective_n_jobs(n_jobs)


def _score_set(
    problem: Problem, models: list[BaseEstimator], scorer: Callable[..., float] | None, chosen: NDArray[np.intp]
) -> list[float]:
    """Score of each model on one set: whole units of the mean recall, or the scorer's mean over the folds."""
    X, y = problem.X[:, chosen], problem.classes[problem.codes]
    totals = []
    for model in models:
        parts = []
        for folds in problem.fold_of:
            for fold in range(folds.max() + 1):
                test = folds == fold
                fitted = _fit(model, X[~test], y[~test])
                if scorer is None:
                    right = problem.codes[test][fitted.predict(X[test]) == y[test]]
                    parts.append(problem.class_weights[right].sum())
                else:
                    parts.append(scorer(fitted, X[test], y[test]))
        totals.append(sum(parts) if scorer is None else np.mean(parts))
    return totals


def _fit(model: BaseEstimator, X: NDArray[np.float64], y: NDArray) -> BaseEstimator:
    try:
        return clone(model).fit(X, y)
    except ValueError as error:
        raise ModelError(f"{type(model).__name__} cannot be fitted on a training part: {error}") from error


def _check_classes(y: ArrayLike, n_samples: int) -> tuple[NDArray, NDArray[np.intp], NDArray[np.intp]]:
    if np.ma.is_masked(y):
        raise DataError("y: some samples have no class, as they are masked. Leave these samples out.")
    try:
        y = np.asarray(y)
    except ValueError:  # NumPy's message is about inhomogeneous shapes.
        raise DataError("y: rows differ in length. Give one class per sample.") from None
    if y.shape != (n_samples,):
        raise DataError(f"y has shape {y.shape}, X has {n_samples} samples: give one class per sample.")
    if y.dtype.kind == "f" and (not np.isfinite(y).all() or (y != np.floor(y)).any()):
        raise DataError("y holds a value that is not a whole number: give classes, none missing.")
    try:
        classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise DataError(
            "y mixes kinds of values, or some are missing: give all classes as numbers or all as text."
        ) from error
    if len(classes) < 2:
        raise DataError(f"y holds the class {classes[0]} only: give samples of two or more classes.")
    return classes, codes, sizes


def _check_classifiers(classifiers: Classifiers) -> dict[str, BaseEstimator]:
    if isinstance(classifiers, str):
        raise ModelError(f"classifiers is {classifiers!r}: give a list of names, or names with classifiers.")
    if not len(classifiers):
        raise ModelError("classifiers is empty: give one or more.")
    if isinstance(classifiers, Mapping):
        for name, model in classifiers.items():
            if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
                raise ModelError(f"Classifier {name!r} is {model!r}: give a scikit-learn classifier, not its class.")
        return dict(classifiers)
    if len(set(classifiers)) < len(classifiers):
        raise ModelError(f"classifiers is {list(classifiers)}: name each classifier once.")
    return {name: make_gaussian(name) for name in classifiers}


def _check_scoring(scoring: Scoring) -> Callable[..., float] | None:
    if scoring is None or callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except ValueError as error:
        raise ModelError(f"Unknown scorer {scoring!r}: give one of sklearn.metrics.get_scorer_names().") from error
