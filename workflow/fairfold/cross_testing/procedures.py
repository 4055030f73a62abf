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

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from fairfold.core.arrays import Matrix
from fairfold.core.groups import Exchange, OfSamples, check_exchange
from fairfold.cross_testing.candidates import Candidate, Candidates, check_candidates
from fairfold.cross_testing.estimator_engine import Scoring, fit_clone
from fairfold.cross_testing.multilabel_engine import LabelScoring
from fairfold.cross_testing.names import CROSS_TESTING, INTERPRETABLE, NESTED, TESTING
from fairfold.cross_testing.permutation import p_values
from fairfold.cross_testing.plans import (
    TEST,
    TRAIN,
    Plan,
    draw_orders,
    ends_of_tests,
    holdout_plans,
    holdout_size,
    mean_scores,
    nested_plan,
)
from fairfold.cross_testing.problems import ClassProblem, LabelProblem, Settings, Splitter, as_problem


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
    n_permutations : how many were run.
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


def nested_cross_validate(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    n_splits: int = 5,
    n_permutations: int = 0,
    scoring: Scoring | LabelScoring = "accuracy",
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
    settings = Settings(
        *(n_splits, n_permutations, scoring, n_jobs, random_state, splitter, Y_true, groups, exchange, sample_weight)
    )
    return _run([NESTED], candidates, X, y, settings)[NESTED]


def cross_validate_and_test(
    candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, *, test_fraction: float = 0.5, **settings: Any
) -> Outcome:
    """Choose by cross-validation in the training part, train on all of it, test on the test part.

    One choice and one model, both of which can be interpreted; but the rows are either trained on or tested.

    Parameters
    ----------
    candidates, X, y : as of :func:`~fairfold.cross_testing.nested_cross_validate`.
    test_fraction : float, default=0.5
        The test part is the last ⌊n·fraction⌋ rows as they stand, as in the paper: shuffle rows that are
        in any order. The permutation test shuffles within each part. Of samples in groups it is the last
        ⌊n·fraction⌋ groups, by their first rows.
    **settings : Any
        The other parameters of :func:`~fairfold.cross_testing.nested_cross_validate`, with the same defaults.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.nested_cross_validate`; a ``SplitError`` too for a fraction that
        leaves one part empty.
    """
    return _run([TESTING], candidates, X, y, Settings(test_fraction=test_fraction, **settings))[TESTING]


def cross_validate_and_cross_test(
    candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, *, test_fraction: float = 0.5, **settings: Any
) -> Outcome:
    """Choose by cross-validation in the training part; test each fold of the test part, trained on all other rows.

    One choice, which can be interpreted, and models trained on more rows than in
    :func:`~fairfold.cross_testing.cross_validate_and_test`; but there is one per fold.

    Parameters
    ----------
    candidates, X, y, test_fraction, **settings : as of
        :func:`~fairfold.cross_testing.cross_validate_and_test`, which makes the same choice with the same seed.

    Returns
    -------
    Outcome

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.cross_validate_and_test`.
    """
    return _run([CROSS_TESTING], candidates, X, y, Settings(test_fraction=test_fraction, **settings))[CROSS_TESTING]


def compare_procedures(
    candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, *, test_fraction: float = 0.5, **settings: Any
) -> dict[str, Outcome]:
    """All three procedures on the same data; testing and cross-testing make the same choice, which is made once.

    Parameters
    ----------
    candidates, X, y, test_fraction, **settings : as of :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Returns
    -------
    dict from ``"nested_cv"``, ``"cv_testing"`` and ``"cv_cross_testing"`` to Outcome
        Those of the single functions with the same ``random_state``.

    Raises
    ------
    StudyError
        As :func:`~fairfold.cross_testing.cross_validate_and_test`.
    """
    return _run(INTERPRETABLE, candidates, X, y, Settings(test_fraction=test_fraction, **settings))


def _run(
    procedures: Iterable[str], candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, settings: Settings
) -> dict[str, Outcome]:
    """Check what was given; run the procedures, those that make the same choice together."""
    named = check_candidates(candidates)
    problem = as_problem(X, y, settings)
    if problem.groups is not None and settings.n_permutations:
        check_exchange(problem.groups, settings.exchange)
    outcomes: dict[str, Outcome] = {}
    for group in ({NESTED}, {TESTING, CROSS_TESTING}):
        if together := sorted(group.intersection(procedures)):
            outcomes |= _run_together(together, named, problem, settings)
    return outcomes


def _run_together(
    procedures: list[str], named: list[Candidate], problem: ClassProblem | LabelProblem, settings: Settings
) -> dict[str, Outcome]:
    """Run procedures that make the same choices, on the rows as they stand and, where asked for, permuted."""
    rngs = settings.rngs()
    plans = _make_plans(procedures, problem, settings, rngs["folds"])
    engine = problem.engine([candidate.estimator for candidate in named])
    plan, order = reduce(add, plans), np.arange(len(problem.y))
    found = engine.run(plan, order[None])
    predicted = np.split(engine.predict(plan, order, found.chosen[0]), ends_of_tests(plans))
    scored = [_scores_of_tests(own, of_own, problem) for own, of_own in zip(plans, predicted, strict=True)]
    scores = np.array([one["accuracy"] for one in scored])
    if settings.scoring != "accuracy":
        scores = mean_scores(found.totals, plans, problem.weights)[0]
    draw, permuted = rngs["draw"].random(), np.empty((0, len(plans)))
    if settings.n_permutations:
        orders = draw_orders(
            plan.part, settings.n_permutations, rngs["permutations"], problem.groups, settings.exchange
        )
        permuted = mean_scores(engine.run(plan, orders).totals, plans, problem.weights)
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


def _permutation_test(score: float, permuted: np.ndarray, draw: float, sign: int) -> dict[str, Any]:
    """What an outcome says of the scores of permuted rows, of which there may be none."""
    p = p_values(score, permuted, draw) if len(permuted) else {}
    scores = sign * permuted + 0.0 if len(permuted) else None
    return {"permutation_scores": scores, "p_value": p.get("exact"), "p_values": p, "n_permutations": len(permuted)}


def _make_plans(
    procedures: list[str], problem: ClassProblem | LabelProblem, settings: Settings, rng: np.random.Generator
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
        problem.check_folds(plan)
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
    model = None
    if "model" in interpretable:
        of_samples = OfSamples(problem.groups, problem.weights).for_training(train)
        model = fit_clone(chosen[0].estimator, problem.X[train], problem.y[train], of_samples)
    parameters = parameters[0] if "parameters" in interpretable else tuple(parameters)
    return {"interpretable": interpretable, "parameters": parameters, "model": model}
