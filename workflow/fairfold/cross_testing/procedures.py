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

All three take one class per sample, or several labels, of which some may be hidden: then folds are made and candidates
trained and chosen by the labels that were observed, and tested on the true ones.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from numbers import Integral, Real
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix
from fairfold.core.groups import Exchange, OfSamples, check_exchange
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.candidates import Candidate, Candidates, check_candidates
from fairfold.cross_testing.estimator_engine import Scoring, fit_clone
from fairfold.cross_testing.multilabel_engine import LabelScoring
from fairfold.cross_testing.names import CROSS_TESTING, INTERPRETABLE, NESTED, TESTING
from fairfold.cross_testing.permutation import p_values, permuted_scores
from fairfold.cross_testing.plans import TEST, TRAIN, Plan, draw_orders, holdout_plans, holdout_size, nested_plan
from fairfold.cross_testing.problems import ClassProblem, LabelProblem, Splitter, as_problem
from fairfold.errors import ModelError, SplitError

MAX_SPLITS = np.iinfo(np.int8).max  # a plan's folds are int8


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a procedure found.

    Attributes
    ----------
    procedure : ``"nested_cv"``, ``"cv_testing"`` or ``"cv_cross_testing"``.
    accuracy : fraction of the tested samples that were predicted correctly, all tests pooled; of several labels, those
        without a wrong one at a threshold of 0.5.
    score : mean over the tests by the scorer, weighted by their samples; ``accuracy`` where that is the scorer.
    parameters : parameters, or name, of the chosen candidate; for nested cross-validation a tuple, one per outer fold.
    tested : ndarray of int64, shape (n_tested,); rows that were tested, ascending.
    predictions : ndarray, shape (n_tested,), predicted class of each; or shape (n_tested, n_labels), the predicted
        probability of each label.
    fold : ndarray of int64, shape (n_tested,); the test, numbered from 0, that made each prediction.
    permutation_scores : ndarray of float64, shape (n_permutations,), or None without permutations.
    p_value : the ``exact`` p-value, or None without permutations.
    p_values : all forms, by their names: ``classical``, ``mid``, ``randomised``, ``exact``; empty without permutations.
    n_permutations : how many were run, fewer than asked for after an early stop.
    interpretable : what of ``"performance"``, ``"parameters"`` and ``"model"`` this procedure lets one interpret.
    model : the classifier that was tested, fitted; None where several were.
    n_fits : classifiers that were fitted to choose and to test, once; each permutation takes as many.
    observed_score : as ``score``, on the labels that were observed instead of the true ones; None for one class per
        sample, NaN where the observed labels of a test leave the score undefined.
    scores : :func:`~fairfold.evaluation.scores.multilabel_scores` of ``predictions``, all tests pooled, on the true
        labels; empty for one class per sample.
    """

    procedure: str
    accuracy: float
    score: float
    parameters: Any
    tested: np.ndarray = field(repr=False)
    predictions: np.ndarray = field(repr=False)
    fold: np.ndarray = field(repr=False)
    permutation_scores: np.ndarray | None = field(repr=False)
    p_value: float | None
    p_values: dict[str, float]
    n_permutations: int
    interpretable: tuple[str, ...]
    model: ClassifierMixin | None
    n_fits: int
    observed_score: float | None = None
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class _Settings:
    """What the three procedures share; their docstrings say what each is."""

    n_splits: int
    n_permutations: int
    scoring: Scoring | LabelScoring
    alpha: float
    early_stop: bool
    n_jobs: int | None
    random_state: int | None
    splitter: Splitter | None
    Y_true: Matrix | ArrayLike | None
    groups: ArrayLike | None
    exchange: Exchange
    sample_weight: ArrayLike | None
    test_fraction: float = 0.5

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
        fraction = self.test_fraction
        if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0 < fraction < 1:
            raise SplitError(f"test_fraction is {fraction!r}: give the share of the rows, between 0 and 1.")

    def rngs(self) -> dict[str, np.random.Generator]:
        """A stream for each use of chance, so that the length of one changes no other."""
        seed = secrets.randbits(32) if self.random_state is None else self.random_state
        return {use: np.random.default_rng(seed_sequence(seed, use)) for use in ("folds", "permutations", "draw")}


def nested_cross_validate(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_splits: int = 5,
    n_permutations: int = 0,
    scoring: Scoring | LabelScoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    splitter: Splitter | None = None,
    Y_true: Matrix | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    exchange: Exchange = "groups",
    sample_weight: ArrayLike | None = None,
) -> Outcome:
    """Test each outer fold with what cross-validation inside the others chose.

    Tests every row, and so estimates best; but each outer fold may choose differently, so that neither parameters nor
    a model can be interpreted.

    Parameters
    ----------
    candidates : list of scikit-learn classifiers or pipelines, mapping from name to them, or parameter sets of one
        (:func:`~fairfold.cross_testing.candidates.make_candidates`). Earlier ones win ties: put those that you would
        rather have first. They keep the ``random_state`` that they were given; without one, they make results differ.
    X : array-like or CSR matrix, shape (n_samples, n_features)
        Finite numbers. With one class per sample no feature may be constant; with several labels it may, as words are
        that no document of a sample has, and NaN may stand for what is missing, if the candidates take it.
    y : array-like, shape (n_samples,), or array-like or CSR matrix, shape (n_samples, n_labels)
        Two classes or more, of any type; or several labels of 0/1, as they were observed.
    n_splits : number of folds, outer and inner; with one class per sample each has samples of every class.
    n_permutations : repetitions of the whole procedure on shuffled rows; 0 for no test.
    scoring : name of a scikit-learn scorer, or a callable (estimator, X, y) -> float, more being better. For several
        labels a metric of :func:`~fairfold.evaluation.scores.multilabel_scores`, of which losses are minimised,
        ``"accuracy"``, the share of samples without a wrong label, or a callable (Y, P) -> float of labels and
        probabilities, more being better.
    alpha : level at which ``early_stop`` decides.
    early_stop : stop permuting as soon as the rest cannot change p ≤ alpha in any form. The p-values then count the
        permutations that were run: they are on the right side of alpha, but rougher.
    n_jobs : processes that share the permutations, as in joblib. Results do not depend on it.
    random_state : seed of folds, permutations and the randomised p-value, each independent of the others; None draws
        one.
    splitter : what makes folds of several labels: an object whose ``assign(Y)`` gives the fold of each row, such as
        those of ``fairfold.splitting``, or a callable (Y, seed) that does; or one with scikit-learn's ``split(X,
        y)``, as ``KFold`` is, that tests each row once and trains on all others. It sees observed labels only, and
        no features. None takes folds at random. Classes always have equal shares in them.
    Y_true : array-like or CSR matrix, shape (n_samples, n_labels)
        The true labels, where ``y`` holds those observed only: tests are scored on them, while candidates are trained
        and chosen on ``y``. The permutation test exchanges whole rows of both together. None where nothing is hidden.
        NaN, here or there, is an unmeasured label, which takes no part.
    groups : array-like, shape (n_samples,)
        Samples of several labels that belong together: a group is in one fold, and handed on to candidates whose
        ``fit`` takes groups. Of splitters, ``assign`` and ``split`` get them as the last argument, and so does a
        callable. None where samples are alike.
    exchange : what the permutation test exchanges, with groups: ``"groups"``, whole ones of the same size, or
        ``"within"``, samples of one group.
    sample_weight : array-like, shape (n_samples,)
        How much each sample of several labels counts in what candidates learn, which must take weights, and in scores;
        above 0. A callable ``scoring`` gets those of the tested samples as a third argument. In permutation tests
        weights stay with the labels. None where all samples count alike.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        ``DataError`` for data, ``SplitError`` for folds, ``ModelError`` for candidates and settings that do not work.
    """
    settings = _Settings(
        *(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state),
        *(splitter, Y_true, groups, exchange, sample_weight),
    )
    return _run([NESTED], candidates, X, y, settings)[NESTED]


def cross_validate_and_test(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_splits: int = 5,
    test_fraction: float = 0.5,
    n_permutations: int = 0,
    scoring: Scoring | LabelScoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    splitter: Splitter | None = None,
    Y_true: Matrix | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    exchange: Exchange = "groups",
    sample_weight: ArrayLike | None = None,
) -> Outcome:
    """Choose by cross-validation in the training part, train on all of it, test on the test part.

    One choice and one model, both of which can be interpreted; but the rows are either trained on or tested.

    Parameters
    ----------
    candidates, X, y, n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state : as of
        :func:`~fairfold.cross_testing.nested_cross_validate`.
    splitter, Y_true, groups, exchange, sample_weight : as of :func:`~fairfold.cross_testing.nested_cross_validate`.
    test_fraction : the test part is the last ⌊n·fraction⌋ rows as they stand, as in the paper: shuffle rows that are
        in any order. The permutation test shuffles within each part. Of samples in groups it is the last
        ⌊n·fraction⌋ groups, by their first rows.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.nested_cross_validate`; a ``SplitError`` too for a fraction that
        leaves one part empty.
    """
    settings = _Settings(
        *(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state),
        *(splitter, Y_true, groups, exchange, sample_weight, test_fraction),
    )
    return _run([TESTING], candidates, X, y, settings)[TESTING]


def cross_validate_and_cross_test(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_splits: int = 5,
    test_fraction: float = 0.5,
    n_permutations: int = 0,
    scoring: Scoring | LabelScoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    splitter: Splitter | None = None,
    Y_true: Matrix | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    exchange: Exchange = "groups",
    sample_weight: ArrayLike | None = None,
) -> Outcome:
    """Choose by cross-validation in the training part; test each fold of the test part, trained on all other rows.

    One choice, which can be interpreted, and models trained on more rows than in
    :func:`~fairfold.cross_testing.cross_validate_and_test`; but there is one per fold.

    Parameters
    ----------
    candidates, X, y, n_splits, test_fraction, n_permutations, scoring, alpha, early_stop, n_jobs, random_state : as of
        :func:`~fairfold.cross_testing.cross_validate_and_test`, which makes the same choice with the same seed.
    splitter, Y_true, groups, exchange, sample_weight : as of :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.cross_validate_and_test`.
    """
    settings = _Settings(
        *(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state),
        *(splitter, Y_true, groups, exchange, sample_weight, test_fraction),
    )
    return _run([CROSS_TESTING], candidates, X, y, settings)[CROSS_TESTING]


def compare_procedures(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_splits: int = 5,
    test_fraction: float = 0.5,
    n_permutations: int = 0,
    scoring: Scoring | LabelScoring = "accuracy",
    alpha: float = 0.05,
    early_stop: bool = False,
    n_jobs: int | None = 1,
    random_state: int | None = None,
    splitter: Splitter | None = None,
    Y_true: Matrix | ArrayLike | None = None,
    groups: ArrayLike | None = None,
    exchange: Exchange = "groups",
    sample_weight: ArrayLike | None = None,
) -> dict[str, Outcome]:
    """All three procedures on the same data; testing and cross-testing make the same choice, which is made once.

    Parameters
    ----------
    candidates, X, y, n_splits, test_fraction, n_permutations, scoring, alpha, early_stop, n_jobs, random_state : as of
        :func:`~fairfold.cross_testing.cross_validate_and_test`.
    splitter, Y_true, groups, exchange, sample_weight : as of :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Returns
    -------
    dict from ``"nested_cv"``, ``"cv_testing"`` and ``"cv_cross_testing"`` to Outcome
        Those of the single functions with the same ``random_state``; but an early stop waits until the tests of all
        procedures that share a choice are decided.

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.cross_validate_and_test`.
    """
    settings = _Settings(
        *(n_splits, n_permutations, scoring, alpha, early_stop, n_jobs, random_state),
        *(splitter, Y_true, groups, exchange, sample_weight, test_fraction),
    )
    return _run(INTERPRETABLE, candidates, X, y, settings)


def _run(
    procedures: Iterable[str],
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    settings: _Settings,
) -> dict[str, Outcome]:
    """Check what was given; run the procedures, those that make the same choice together."""
    named = check_candidates(candidates)
    of_problem = settings.Y_true, settings.scoring, settings.splitter, settings.groups, settings.sample_weight
    problem = as_problem(X, y, *of_problem)
    if problem.groups is not None and settings.n_permutations:
        check_exchange(problem.groups, settings.exchange)
    procedures = set(procedures)
    groups = [sorted(procedures & group) for group in ({NESTED}, {TESTING, CROSS_TESTING})]
    return {
        procedure: outcome
        for group in groups
        if group
        for procedure, outcome in _run_together(group, named, problem, settings).items()
    }


def _run_together(
    procedures: list[str], named: list[Candidate], problem: ClassProblem | LabelProblem, settings: _Settings
) -> dict[str, Outcome]:
    """Run procedures that make the same choices, on the rows as they stand and, where asked for, permuted."""
    rngs = settings.rngs()
    plans = _make_plans(procedures, problem, settings, rngs["folds"])
    engine = problem.engine([candidate.estimator for candidate in named], settings.n_jobs)
    plan, order = reduce(add, plans), np.arange(len(problem.y))
    tests = _tests_of(plans)
    found = engine.run(plan, order[None])
    predicted = engine.predict(plan, order, found.chosen[0])
    scored = [_scores_of_tests(own, predicted[of], problem) for own, of in zip(plans, tests, strict=True)]
    scores = np.array([one["accuracy"] for one in scored])
    if settings.scoring != "accuracy":
        scores = _mean_scores(found.totals, plans, problem.weights)[0]
    draw = rngs["draw"].random()
    permuted = permuted_scores(
        lambda orders: _mean_scores(engine.run(plan, orders).totals, plans, problem.weights),
        draw_orders(plan.part, settings.n_permutations, rngs["permutations"], problem.groups, settings.exchange),
        scores,
        early_stop=settings.alpha if settings.early_stop else None,
        draws=[draw] * len(plans),
    )
    chosen = [named[index] for index in found.chosen[0]]
    n_fits_to_choose = len(named) * len(chosen) * settings.n_splits * (len(named) > 1)
    return {
        procedure: Outcome(
            procedure=procedure,
            score=problem.sign * float(score) + 0.0,  # no -0
            n_fits=len(own.role) + n_fits_to_choose,
            **_permutation_test(score, permuted[:, number], draw, problem.sign),
            **_interpret(procedure, chosen, own, problem),
            **scored[number],
        )
        for number, (procedure, own, score) in enumerate(zip(procedures, plans, scores, strict=True))
    }


def _tests_of(plans: list[Plan]) -> list[slice]:
    """Where the tests of each plan stand among those of all."""
    last = np.cumsum([len(plan.role) for plan in plans])
    return [slice(end - len(plan.role), end) for plan, end in zip(plans, last, strict=True)]


def _mean_scores(totals: np.ndarray, plans: list[Plan], weights: np.ndarray | None) -> np.ndarray:
    """Mean score of each order in each plan, weighted by the samples of the tests, or by their weights."""
    tested = [plan.role == TEST for plan in plans]
    sizes = [np.count_nonzero(is_test) if weights is None else (is_test @ weights).sum() for is_test in tested]
    return np.column_stack([totals[:, own].sum(axis=1) for own in _tests_of(plans)]) / sizes


def _permutation_test(score: float, permuted: np.ndarray, draw: float, sign: int) -> dict[str, Any]:
    """What an outcome says of the scores of permuted rows, of which there may be none."""
    p = p_values(score, permuted, draw) if len(permuted) else {}
    return {
        "permutation_scores": sign * permuted + 0.0 if len(permuted) else None,
        "p_value": p.get("exact"),
        "p_values": p,
        "n_permutations": len(permuted),
    }


def _make_plans(
    procedures: list[str], problem: ClassProblem | LabelProblem, settings: _Settings, rng: np.random.Generator
) -> list[Plan]:
    """The plans of procedures that make the same choices, in order."""
    if procedures == [NESTED]:
        plans = [nested_plan(problem.units, settings.n_splits, rng, problem.make_folds)]
    else:
        n_test = holdout_size(len(problem.units), float(settings.test_fraction))
        testing, cross_testing = holdout_plans(problem.units, settings.n_splits, n_test, rng, problem.make_folds)
        plans = [testing if procedure == TESTING else cross_testing for procedure in procedures]
    if problem.groups is not None:
        plans = [plan.of_members(problem.groups) for plan in plans]
    for plan in plans:
        problem.check_folds(plan, settings.n_splits)
    return plans


def _scores_of_tests(plan: Plan, predicted: np.ndarray, problem: ClassProblem | LabelProblem) -> dict[str, Any]:
    """What an outcome says of the predictions at each position in each test."""
    is_test = plan.role == TEST
    tested = np.flatnonzero(is_test.any(axis=0))
    fold = is_test[:, tested].argmax(axis=0)
    return {"tested": tested, "fold": fold, **problem.scores_of_tests(tested, fold, predicted[fold, tested])}


def _interpret(
    procedure: str, chosen: list[Candidate], plan: Plan, problem: ClassProblem | LabelProblem
) -> dict[str, Any]:
    """What a procedure lets one interpret."""
    interpretable, train = INTERPRETABLE[procedure], plan.role[0] == TRAIN
    parameters = [candidate.parameters for candidate in chosen]
    has_model = "model" in interpretable
    of_samples = OfSamples(problem.groups, problem.weights).for_training(train)
    return {
        "interpretable": interpretable,
        "parameters": parameters[0] if "parameters" in interpretable else tuple(parameters),
        "model": fit_clone(chosen[0].estimator, problem.X[train], problem.y[train], of_samples) if has_model else None,
    }


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
