"""Three ways to choose among classifiers and estimate how well the choice performs, on the same data, without bias.

The procedures of Korjus, Hebart & Vicente (2016). All of them choose by cross-validation and never test on a row that
took part in the choice or the training; they differ in how many rows that leaves to test, and in what may be
interpreted afterwards (their Table 1):

===================================  ==================================================  ==============================
procedure                            tests                                               may be interpreted
===================================  ==================================================  ==============================
nested cross-validation              all rows, in folds                                  performance
cross-validation and cross-testing   the test part, in folds, trained on all other rows  performance, parameters
cross-validation and testing         the test part, trained on the training part         performance, parameters, model
===================================  ==================================================  ==============================

A permutation test repeats the whole procedure, the choice included, on rows that were shuffled while labels and folds
stay in place.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_array

from fairfold.errors import DataError, ModelError, SplitError
from fairfold.evaluation.candidates import Candidates, check_candidates
from fairfold.evaluation.engines import Engine, Run
from fairfold.evaluation.estimator_engine import EstimatorEngine, Matrix, Scoring, first_sentence, fit_clone
from fairfold.evaluation.permutation import p_values, permuted_scores
from fairfold.evaluation.plans import TEST, TRAIN, Plan, draw_orders, holdout_plans, holdout_size, nested_plan
from fairfold.evaluation.svm_engine import SVMEngine
from fairfold.seeds import seed_sequence

MAX_SPLITS = np.iinfo(np.int8).max  # a plan's folds are int8

NESTED, TESTING, CROSS_TESTING = "nested_cv", "cv_testing", "cv_cross_testing"
INTERPRETABLE = {
    NESTED: ("performance",),
    CROSS_TESTING: ("performance", "parameters"),
    TESTING: ("performance", "parameters", "model"),
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a procedure found.

    Attributes
    ----------
    procedure : ``"nested_cv"``, ``"cv_testing"`` or ``"cv_cross_testing"``.
    accuracy : fraction of the tested samples that were predicted correctly, all tests pooled.
    score : mean over the tests by the scorer, weighted by their samples; ``accuracy`` where that is the scorer.
    parameters : parameters, or name, of the chosen candidate; for nested cross-validation a tuple, one per outer fold.
    tested : ndarray of int64, shape (n_tested,); rows that were tested, ascending.
    predictions : ndarray, shape (n_tested,); predicted class of each.
    fold : ndarray of int64, shape (n_tested,); the test, numbered from 0, that made each prediction.
    permutation_scores : ndarray of float64, shape (n_permutations,), or None without permutations.
    p_value : the ``exact`` p-value, or None without permutations.
    p_values : all forms, see :func:`~fairfold.evaluation.permutation.p_values`; empty without permutations.
    n_permutations : how many were run, fewer than asked for after an early stop.
    interpretable : what of ``"performance"``, ``"parameters"`` and ``"model"`` this procedure lets one interpret.
    model : the classifier that was tested, fitted; None where several were.
    """

    procedure: str
    accuracy: float
    score: float
    parameters: Any
    tested: np.ndarray
    predictions: np.ndarray
    fold: np.ndarray
    permutation_scores: np.ndarray | None
    p_value: float | None
    p_values: dict[str, float]
    n_permutations: int
    interpretable: tuple[str, ...]
    model: ClassifierMixin | None


@dataclass(frozen=True)
class _Settings:
    """What the three procedures share; their docstrings say what each is."""

    n_splits: int
    n_permutations: int
    scoring: Scoring
    alpha: float
    early_stop: bool
    n_jobs: int | None
    random_state: int | None

    def __post_init__(self) -> None:
        if not _is_whole(self.n_splits) or not 2 <= self.n_splits <= MAX_SPLITS:
            raise SplitError(f"n_splits is {self.n_splits!r}: give a whole number from 2 to {MAX_SPLITS}.")
        if not _is_whole(self.n_permutations) or self.n_permutations < 0:
            raise ModelError(f"n_permutations is {self.n_permutations!r}: give a whole number, 0 for no test.")
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise ModelError(f"alpha is {self.alpha!r}: give a level between 0 and 1, such as 0.05.")
        if self.n_jobs is not None and (not _is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ModelError(f"n_jobs is {self.n_jobs!r}: give a number of processes, or -1 for one per core.")
        if self.random_state is not None and not _is_whole(self.random_state):
            raise ModelError(f"random_state is {self.random_state!r}: give a whole number, or None for a fresh seed.")

    def rngs(self) -> dict[str, np.random.Generator]:
        """A stream for each use of chance, so that the length of one changes no other."""
        seed = secrets.randbits(32) if self.random_state is None else self.random_state
        return {use: np.random.default_rng(seed_sequence(seed, use)) for use in ("folds", "permutations", "draw")}


def nested_cross_validate(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: ArrayLike,
    *,
    n_splits: int = 5,
    n_permutations: int = 0,
    scoring: Scoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
) -> Outcome:
    """Test each outer fold with what cross-validation inside the others chose.

    Tests every row, and so estimates best; but each outer fold may choose differently, so that neither parameters nor
    a model can be interpreted.

    Parameters
    ----------
    candidates : list of scikit-learn classifiers or pipelines, mapping from name to them, or parameter sets of one
        (:func:`~fairfold.evaluation.candidates.make_candidates`). Earlier ones win ties: put those that you would
        rather have first. They keep the ``random_state`` that they were given; without one, they make results differ.
    X : array-like or CSR matrix, shape (n_samples, n_features)
        Finite numbers, no constant feature.
    y : array-like, shape (n_samples,)
        Two classes or more, of any type.
    n_splits : number of folds, outer and inner, each with samples of every class.
    n_permutations : repetitions of the whole procedure on shuffled rows; 0 for no test.
    scoring : name of a scikit-learn scorer, or a callable (estimator, X, y) -> float, more being better.
    alpha : level at which ``early_stop`` decides.
    early_stop : stop permuting as soon as the rest cannot change p ≤ alpha in any form. The p-values then count the
        permutations that were run: they are on the right side of alpha, but rougher.
    n_jobs : processes that share the permutations, as in joblib. Results do not depend on it.
    random_state : seed of folds, permutations and the randomised p-value, each independent of the others; None draws
        one.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        ``DataError`` for data, ``SplitError`` for folds, ``ModelError`` for candidates and settings that do not work.
    """
    settings = _Settings(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state)
    return _run(NESTED, lambda y, rng: nested_plan(y, n_splits, rng), candidates, X, y, settings)


def cross_validate_and_test(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: ArrayLike,
    *,
    n_splits: int = 5,
    test_fraction: float = 0.5,
    n_permutations: int = 0,
    scoring: Scoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
) -> Outcome:
    """Choose by cross-validation in the training part, train on all of it, test on the test part.

    One choice and one model, both of which can be interpreted; but the rows are either trained on or tested.

    Parameters
    ----------
    test_fraction : the test part is the last ⌊n·fraction⌋ rows as they stand, as in the paper: shuffle rows that are
        in any order. The permutation test shuffles within each part.
    others : see :func:`nested_cross_validate`.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`nested_cross_validate`; a ``SplitError`` too for a fraction that leaves one part empty.
    """
    settings = _Settings(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state)
    return _run(TESTING, lambda y, rng: _holdout_plans(y, n_splits, test_fraction, rng)[0], candidates, X, y, settings)


def cross_validate_and_cross_test(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: ArrayLike,
    *,
    n_splits: int = 5,
    test_fraction: float = 0.5,
    n_permutations: int = 0,
    scoring: Scoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
) -> Outcome:
    """Choose by cross-validation in the training part; test each fold of the test part, trained on all other rows.

    One choice, which can be interpreted, and models trained on more rows than in :func:`cross_validate_and_test`; but
    there is one per fold.

    Parameters
    ----------
    others : see :func:`cross_validate_and_test`, which makes the same choice with the same ``random_state``.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`cross_validate_and_test`.
    """
    settings = _Settings(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state)
    return _run(
        CROSS_TESTING, lambda y, rng: _holdout_plans(y, n_splits, test_fraction, rng)[1], candidates, X, y, settings
    )


def engine_for(
    estimators: list[ClassifierMixin], X: Matrix, y: np.ndarray, scoring: Scoring, n_jobs: int | None
) -> Engine:
    """The fastest engine that gives these classifiers' results."""
    codes = np.unique(y, return_inverse=True)[1]
    compiled = SVMEngine.for_candidates(estimators, X, codes, n_jobs=n_jobs) if scoring == "accuracy" else None
    return compiled or EstimatorEngine(estimators, X, y, scoring=scoring, n_jobs=n_jobs)


def _run(
    procedure: str,
    make_plan: Callable[[np.ndarray, np.random.Generator], Plan],
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: ArrayLike,
    settings: _Settings,
) -> Outcome:
    """Check what was given; run the procedure on the rows as they stand and, where asked for, permuted."""
    named = check_candidates(candidates)
    X, y = _check_data(X, y)
    rngs = settings.rngs()
    plan = make_plan(y, rngs["folds"])
    _check_folds(plan, y, settings.n_splits)
    engine = engine_for([candidate.estimator for candidate in named], X, y, settings.scoring, settings.n_jobs)
    order = np.arange(len(y))
    observed = engine.run(plan, order[None])
    chosen = [named[index] for index in observed.chosen[0]]
    tested, fold, predictions = _predictions(plan, engine.predict(plan, order, observed.chosen[0]), y)
    accuracy = float(np.mean(predictions == y[tested]))
    score = accuracy if settings.scoring == "accuracy" else float(_scores(plan, observed)[0])
    draw = rngs["draw"].random()
    permuted = permuted_scores(
        lambda orders: _scores(plan, engine.run(plan, orders))[:, None],
        draw_orders(plan.part, settings.n_permutations, rngs["permutations"]),
        [score],
        early_stop=settings.alpha if settings.early_stop else None,
        draws=[draw],
    )[:, 0]
    p = p_values(score, permuted, draw) if len(permuted) else {}
    interpretable, train = INTERPRETABLE[procedure], plan.role[0] == TRAIN
    return Outcome(
        procedure=procedure,
        accuracy=accuracy,
        score=score,
        parameters=(
            chosen[0].parameters
            if "parameters" in interpretable
            else tuple(candidate.parameters for candidate in chosen)
        ),
        tested=tested,
        predictions=predictions,
        fold=fold,
        permutation_scores=permuted if len(permuted) else None,
        p_value=p.get("exact"),
        p_values=p,
        n_permutations=len(permuted),
        interpretable=interpretable,
        model=fit_clone(chosen[0].estimator, X[train], y[train]) if "model" in interpretable else None,
    )


def _predictions(plan: Plan, codes: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that are tested, the test of each, and its predicted class."""
    is_test = plan.role == TEST
    tested = np.flatnonzero(is_test.any(axis=0))
    fold = is_test[:, tested].argmax(axis=0)
    return tested, fold, np.unique(y)[codes[fold, tested]]


def _scores(plan: Plan, run: Run) -> np.ndarray:
    """Mean score of each order, weighted by the samples of the tests, shape (n_orders,)."""
    return run.totals.sum(axis=1) / np.count_nonzero(plan.role == TEST)


def _check_data(X: Matrix | ArrayLike, y: ArrayLike) -> tuple[Matrix, np.ndarray]:
    """Features as floats and labels as one column, or a :class:`DataError` that says what is wrong with them."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise DataError(f"y has shape {y.shape}; one label per sample is supported, several labels are not yet.")
    try:
        kind = type_of_target(y) if len(y) else "no"
    except (ValueError, TypeError) as error:
        raise DataError(f"{first_sentence(error)} in y: give the class of each sample.") from None
    try:
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    except (ValueError, TypeError) as error:
        raise DataError(f"{first_sentence(error)} in X: give a row of finite numbers per sample.") from None
    if X.shape[0] != len(y):
        raise DataError(f"X has {X.shape[0]} rows and y {len(y)} labels: give one label per row.")
    if kind not in ("binary", "multiclass"):
        raise DataError(f"y holds {kind} values: give classes, as whole numbers or as text.")
    if len(np.unique(y)) < 2:
        raise DataError(f"y holds the class {y[0]} only: give samples of two classes or more.")
    low, high = min_max_axis(X, axis=0) if sparse.issparse(X) else (X.min(axis=0), X.max(axis=0))
    constant = np.flatnonzero(low == high)
    if len(constant):
        raise DataError(
            f"{len(constant)} of {len(low)} features are constant, the first is column {constant[0]}, "
            f"{low[constant[0]] + 0.0:g} in every row: remove such columns."
        )
    return X, y


def _holdout_plans(y: np.ndarray, n_splits: int, test_fraction: float, rng: np.random.Generator) -> tuple[Plan, Plan]:
    if isinstance(test_fraction, bool) or not isinstance(test_fraction, Real) or not 0 < test_fraction < 1:
        raise SplitError(f"test_fraction is {test_fraction!r}: give the share of the rows, between 0 and 1.")
    return holdout_plans(y, n_splits, holdout_size(len(y), float(test_fraction)), rng)


def _check_folds(plan: Plan, y: np.ndarray, n_splits: int) -> None:
    """Raise a :class:`SplitError` where a class has too few samples to be in every fold that is dealt."""
    dealt = [("to choose by", inner_fold >= 0) for inner_fold in plan.inner_fold]
    if len(plan.role) > 1:
        dealt.append(("to test", (plan.role == TEST).any(axis=0)))
    for purpose, rows in dealt:
        for label in np.unique(y):
            size = np.count_nonzero(y[rows] == label)
            if size < n_splits:
                raise SplitError(
                    f"class {label} has {size} of the rows {purpose}, fewer than their {n_splits} folds: give more of "
                    "them, lower n_splits, or, where there is a test part, shuffle the rows or change test_fraction."
                )


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
