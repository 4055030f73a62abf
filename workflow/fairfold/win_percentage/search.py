"""Random search for the best feature set and classifier, with a test against chance and a nested estimate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import recall_score

from fairfold.core.folds import stratified_folds
from fairfold.core.rounding import ROUNDING
from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError
from fairfold.win_percentage.feature_sets import checked_sets, whole_number
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS
from fairfold.win_percentage.significance import independent_sets
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import Classifiers, Problem, checked_classifiers, evaluate_feature_sets


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Best feature set and classifier of a random search, as returned by :func:`search_feature_sets`.

    Attributes
    ----------
    features : ndarray of shape (size,)
        Features of the best set. The first set wins a tie.
    classifier : str
        Classifier with the best performance on this set. The first one wins a tie.
    performance : float
        Performance of the classifier on the set. It is too high for new samples, because it is the best of many.
    permuted : ndarray of shape (n_permutations,)
        Best performance of the same search with permuted class labels.
    p_value : float
        Probability that a search with random labels finds a performance at least as high, NaN without permutations.
    n_independent : float
        Number of independent feature sets, see :func:`~fairfold.win_percentage.independent_sets`. NaN with fewer than
        two permutations.
    nested_performance : float
        Performance of the procedure on samples that it did not use: in each outer fold, the search runs on the other
        folds, and its best classifier predicts the fold.
    """

    features: NDArray[np.intp]
    classifier: str
    performance: float
    permuted: NDArray[np.float64]
    p_value: float
    n_independent: float
    nested_performance: float


def search_feature_sets(
    X: ArrayLike,
    y: ArrayLike,
    feature_sets: Iterable[ArrayLike],
    *,
    classifiers: Classifiers = GAUSSIAN_CLASSIFIERS,
    n_splits: int = 3,
    n_repeats: int = 2,
    n_permutations: int = 199,
    n_outer_splits: int = 5,
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> SearchResult:
    """Find the best feature set and classifier, test them against chance and estimate their performance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes of the samples, at least two.
    feature_sets : array-like of shape (n_sets, size), or iterable of array-like
        Feature indices of each set, such as those of :func:`draw_feature_sets`.
    classifiers : sequence of str, or mapping of str to estimator, default=GAUSSIAN_CLASSIFIERS
        Names of Gaussian classifiers, or scikit-learn classifiers by name.
    n_splits : int, default=3
        Number of folds in each repeat.
    n_repeats : int, default=2
        Number of repeats of the cross-validation.
    n_permutations : int, default=199
        Number of searches with permuted class labels.
    n_outer_splits : int, default=5
        Number of outer folds of the nested estimate.
    random_state : int, default=0
        Seed of the folds and permutations.
    n_jobs : int or None, default=1
        Number of processes, as in :func:`evaluate_feature_sets`.

    Returns
    -------
    SearchResult
        Best set and classifier, p-value and nested performance.

    Raises
    ------
    StudyError
        As :func:`evaluate_feature_sets`. Also if no set varies in the training part of an outer fold.

    Notes
    -----
    Monte Carlo wrapper of Parry, Phan & Wang (2012), Table 3. The tests and the nested estimate are their future work.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.win_percentage import draw_feature_sets, search_feature_sets
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 6)) + y[:, None] * [0, 0, 3, 0, 3, 0]
    >>> found = search_feature_sets(X, y, draw_feature_sets(6, 2, 30), n_permutations=19)
    >>> found.features.tolist(), found.classifier, found.p_value
    ([2, 4], 'NC', 0.05)
    """
    whole_number("n_permutations", n_permutations, 0)
    evaluate = partial(
        evaluate_feature_sets,
        classifiers=classifiers,
        n_splits=n_splits,
        n_repeats=n_repeats,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    problem = Problem.make(X, y, n_splits, n_repeats, random_state)
    sets = checked_sets(feature_sets, problem.X.shape[1])
    checked = np.array(sets) if len({len(chosen) for chosen in sets}) == 1 else sets  # An array is checked faster.
    results = evaluate(problem.X, problem.codes, checked)
    best = int(results.performance.argmax())
    performance = results.performance[best]
    permuted, histograms = np.empty(n_permutations), []
    for number in range(n_permutations):
        rng = np.random.default_rng(seed_sequence(random_state, "permuted labels", number))
        chance = evaluate(problem.X, rng.permutation(problem.codes), checked)
        permuted[number] = chance.performance.max()
        histograms.append(PerformanceHistogram.from_sets(chance.performance, chance.winners))
    n_ahead = np.count_nonzero(permuted >= performance - ROUNDING)
    return SearchResult(
        features=sets[best],
        classifier=results.classifiers[results.winners[best].argmax()],
        performance=float(performance),
        permuted=permuted,
        p_value=float((1 + n_ahead) / (1 + n_permutations)) if n_permutations else np.nan,
        n_independent=independent_sets(histograms) if n_permutations > 1 else np.nan,
        nested_performance=_nested(problem, sets, evaluate, checked_classifiers(classifiers), n_outer_splits),
    )


def _nested(problem: Problem, sets: list, evaluate: partial, models: dict, n_outer_splits: int) -> float:
    """Compute the mean recall of nested cross-validation: the search is repeated without each outer fold."""
    whole_number("n_outer_splits", n_outer_splits, 2)
    rng = np.random.default_rng(seed_sequence(evaluate.keywords["random_state"], "outer folds"))
    fold_of, predicted = stratified_folds(problem.codes, n_outer_splits, rng), np.empty_like(problem.codes)
    for fold in range(n_outer_splits):
        X, codes = problem.X[fold_of != fold], problem.codes[fold_of != fold]
        chosen, model = _best_of_search(X, codes, sets, evaluate, models, fold)
        predicted[fold_of == fold] = model.predict(problem.X[np.ix_(fold_of == fold, chosen)])
    return float(recall_score(problem.codes, predicted, average="macro"))


def _best_of_search(
    X: np.ndarray, codes: np.ndarray, sets: list, evaluate: partial, models: dict, fold: int
) -> tuple[np.ndarray, ClassifierMixin]:
    """Return the best feature set on the samples outside a fold, and its best classifier, fitted to them.

    Feature sets with a constant feature are left out.
    """
    varies = np.ptp(X, axis=0) > 0
    usable = [features for features in sets if varies[features].all()]
    if not usable:
        raise DataError(f"X: all feature sets have a constant feature without outer fold {fold}. Remove it.")
    place_of = np.cumsum(varies) - 1  # of each feature among those that vary
    results = evaluate(X[:, varies], codes, [place_of[features] for features in usable])
    best = results.performance.argmax()
    name = results.classifiers[results.winners[best].argmax()]
    return usable[best], clone(models[name]).fit(X[:, usable[best]], codes)
