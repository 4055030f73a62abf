"""Three procedures that choose a classifier and estimate its performance on the same data without bias.

The procedures are from Korjus, Hebart & Vicente (2016). All of them choose by cross-validation and never test on a row
that took part in the choice or the training. They differ in the number of test rows and in the results that may be
interpreted (Table 1 of the paper):

===================================  ==================================================  ==============================
procedure                            tests                                               may be interpreted
===================================  ==================================================  ==============================
nested cross-validation              all rows, in folds                                  performance
cross-validation and cross-testing   the test part, in folds, trained on all other rows  performance, parameters
cross-validation and testing         the test part, trained on the training part         performance, parameters, model
===================================  ==================================================  ==============================

A permutation test repeats the whole procedure, including the choice, on shuffled rows. Labels and folds keep their
positions.

All three procedures take one class per sample or multiple labels. Some labels may be hidden. Folds, training and the
choice then use the observed labels, and tests use the true labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, is_regressor

from fairfold.core.arrays import Matrix
from fairfold.core.groups import Exchange, SampleMetadata, check_exchange
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
    draw_test_part,
    ends_of_tests,
    holdout_plans,
    holdout_size,
    mean_scores,
    nested_plan,
)
from fairfold.cross_testing.problems import AnyProblem, HoldoutSettings, Settings, Splitter, TestPart, as_problem


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of a procedure.

    Attributes
    ----------
    procedure : {"nested_cv", "cv_testing", "cv_cross_testing"}
        Name of the procedure.
    accuracy : float
        Share of correct predictions, with all tests pooled. For multiple labels, the share of samples without a wrong
        label at a threshold of 0.5. NaN for regressors.
    score : float
        Mean score of the tests, weighted by their numbers of samples. Equal to ``accuracy`` if that is the scorer.
    parameters : object
        Parameters, or name, of the chosen candidate. For nested cross-validation, a tuple with one entry per outer
        fold.
    tested : ndarray of int64 of shape (n_tested,)
        Tested rows, in ascending order.
    predictions : ndarray of shape (n_tested,) or (n_tested, n_labels)
        Predicted class of each tested row, or predicted probability of each label.
    fold : ndarray of int64 of shape (n_tested,)
        Number of the test that made each prediction, from 0.
    permutation_scores : ndarray of float64 of shape (n_permutations,) or None
        Scores of permuted data. ``None`` without permutations.
    p_value : float or None
        The ``exact`` p-value. ``None`` without permutations.
    p_values : dict of str to float
        P-values of the forms ``classical``, ``mid``, ``randomized`` and ``exact``, see
        ``fairfold.cross_testing.permutation.p_values``. Empty without permutations.
    n_permutations : int
        Number of permutations.
    interpretable : tuple of str
        Results that may be interpreted: ``"performance"``, ``"parameters"`` and ``"model"``.
    model : ClassifierMixin or None
        Fitted classifier that was tested. ``None`` if there are several.
    n_fits : int
        Number of fits for the choice and the tests. Each permutation requires the same number.
    observed_score : float or None
        Like ``score``, on the observed labels. ``None`` for one class per sample. NaN if the observed labels of a test
        leave the score undefined.
    scores : dict of str to float
        Metrics of :func:`~fairfold.metrics.multilabel_scores` on the true labels, with all tests pooled.
        Empty for one class per sample.
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
    n_inner_splits: int | None = None,
) -> Outcome:
    """Test each outer fold with the candidate that cross-validation inside the other folds chooses.

    The procedure tests every row, which gives the best estimate of performance. Each outer fold may choose another
    candidate. Neither the parameters nor a model can therefore be interpreted.

    Parameters
    ----------
    candidates : list of ClassifierMixin, mapping of str to ClassifierMixin, or list of Candidate
        Scikit-learn classifiers or pipelines, with or without names, or the result of
        :func:`~fairfold.cross_testing.candidates.make_candidates`. Earlier candidates win ties, so put preferred ones
        first. Set their ``random_state`` to make results reproducible. Regressors need a ``scoring`` such as ``"r2"``.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Finite features. With one class per sample, no feature may be constant. With multiple labels, constant features
        are allowed, and NaN may stand for missing values if the candidates accept it.
    y : array-like of shape (n_samples,), or {array-like, CSR matrix} of shape (n_samples, n_labels)
        At least two classes of any type, numbers for regressors, or observed labels. Labels are 0 or 1, or NaN if
        unmeasured. Unmeasured labels are ignored.
    n_splits : int, default=5
        Number of folds that are tested. With one class per sample, each fold has samples of every class.
    n_permutations : int, default=0
        Number of permutations of the test, which repeat the whole procedure on shuffled rows. 0 skips the test.
    scoring : str or callable, default="accuracy"
        For one class per sample, the name of a scikit-learn scorer, or a callable ``(estimator, X, y) -> float``. For
        multiple labels, ``"accuracy"`` (share of samples without a wrong label), a metric of
        :func:`~fairfold.metrics.multilabel_scores`, or a callable ``(Y, P) -> float`` of labels and
        probabilities. Results of callables are better if larger. Metrics that are losses are minimized.
    n_jobs : int or None, default=1
        Number of processes that share the permutations, as in joblib. The results do not depend on it.
    random_state : int or None, default=None
        Seed of folds, permutations and the randomized p-value, which use separate streams. ``None`` draws a new seed.
    splitter : object or callable, default=None
        Splitter for multiple labels. It is one of these:

        - An object with ``assign(Y)`` that returns the fold of each row, such as a splitter of ``fairfold.splitting``.
        - A callable ``(Y, seed)`` that returns the fold of each row.
        - A scikit-learn splitter with ``split(X, y)``, such as ``KFold``. It must test each row once and train on all
          others.

        The splitter receives observed labels only, and no features. ``None`` makes random folds. With one class per
        sample, the folds are always stratified.
    Y_true : {array-like, CSR matrix} of shape (n_samples, n_labels), default=None
        True labels if ``y`` contains observed labels. Tests are scored on the true labels. Candidates are trained and
        chosen on ``y``. The permutation test exchanges whole rows of both together. NaN marks unmeasured labels, which
        are ignored.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, for multiple labels. A group stays in one fold. Candidates whose ``fit`` takes groups
        receive them. Splitters receive them as the last argument.
    exchange : {"groups", "within"}, default="groups"
        Unit of exchange of the permutation test with groups: whole groups of the same size, or the samples within each
        group.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weight of each sample, for multiple labels. Weights enter training and scores, and the candidates must
        accept them. A callable ``scoring`` receives the weights of the tested samples as a third argument. In
        permutation tests, weights stay with the labels.
    n_inner_splits : int or None, default=None
        Number of folds by which a candidate is chosen. ``None`` takes ``n_splits``.

    Returns
    -------
    Outcome
        Scores, predictions, chosen parameters and p-values.

    Raises
    ------
    StudyError
        ``DataError`` for invalid data, ``SplitError`` for invalid folds, ``ModelError`` for invalid candidates or
        settings.

    See Also
    --------
    fairfold.cross_testing.cross_validate_and_test : Choose parameters and a model that can be interpreted.
    fairfold.cross_testing.cross_validate_and_cross_test : Choose parameters, with larger training sets.
    fairfold.cross_testing.procedures.compare_procedures : Run all three procedures on the same data.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing import nested_cross_validate
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    >>> candidates = {"soft": SVC(C=0.1), "hard": SVC(C=10)}
    >>> outcome = nested_cross_validate(candidates, X, y, n_permutations=19, random_state=0)
    >>> outcome.accuracy > 0.8, outcome.p_value, len(outcome.parameters)
    (True, 0.05, 5)
    """
    settings = Settings(
        n_splits,
        n_permutations,
        scoring,
        n_jobs,
        random_state,
        splitter,
        Y_true,
        groups,
        exchange,
        sample_weight,
        n_inner_splits,
    )
    return _run([NESTED], candidates, X, y, settings)[NESTED]


def cross_validate_and_test(
    candidates: Candidates,
    X: Matrix | ArrayLike,
    y: Matrix | ArrayLike,
    *,
    test_fraction: float = 0.5,
    test_part: TestPart = "last",
    **settings: Any,
) -> Outcome:
    """Choose a candidate by cross-validation in the training part, train it on that part and test it on the test part.

    The result has one set of chosen parameters and one tested model, and both can be interpreted. Each row is used
    either for training or for testing.

    Parameters
    ----------
    candidates : list of ClassifierMixin, mapping of str to ClassifierMixin, or list of Candidate
        Candidates, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    y : array-like of shape (n_samples,), or {array-like, CSR matrix} of shape (n_samples, n_labels)
        Classes or observed labels, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    test_fraction : float, default=0.5
        Share of the test part, ⌊n·fraction⌋ rows or, with groups, groups. The permutation test shuffles within each
        part.
    test_part : {"last", "drawn"}, default="last"
        The last rows as in the paper, for which ordered rows must be shuffled first, or a random draw, stratified by
        class or by combination of labels. Groups are drawn whole; the last ones are those with the latest first rows.
    **settings : Any
        The other parameters of :func:`~fairfold.cross_testing.nested_cross_validate`, with the same defaults.

    Returns
    -------
    Outcome
        Scores, predictions, chosen parameters, the tested model and p-values.

    Raises
    ------
    StudyError
        For the reasons given in :func:`~fairfold.cross_testing.nested_cross_validate`. ``SplitError`` also if the
        fraction makes a part empty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing import cross_validate_and_test
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    >>> outcome = cross_validate_and_test({"soft": SVC(C=0.1), "hard": SVC(C=10)}, X, y, random_state=0)
    >>> outcome.interpretable, len(outcome.tested)
    (('performance', 'parameters', 'model'), 30)
    """
    chosen = HoldoutSettings(test_fraction=test_fraction, test_part=test_part, **settings)
    return _run([TESTING], candidates, X, y, chosen)[TESTING]


def cross_validate_and_cross_test(
    candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, *, test_fraction: float = 0.5, **settings: Any
) -> Outcome:
    """Choose a candidate by cross-validation in the training part, and cross-test it on the test part.

    Cross-testing divides the test part into folds. For each fold, the chosen candidate is trained on all other rows,
    including the training part, and tested on the fold. Its models are therefore trained on more rows than in
    :func:`~fairfold.cross_testing.cross_validate_and_test`. The result has one set of chosen parameters, which can be
    interpreted, but no single tested model.

    Parameters
    ----------
    candidates : list of ClassifierMixin, mapping of str to ClassifierMixin, or list of Candidate
        Candidates, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    y : array-like of shape (n_samples,), or {array-like, CSR matrix} of shape (n_samples, n_labels)
        Classes or observed labels, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    test_fraction : float, default=0.5
        Share of the test part, as for :func:`~fairfold.cross_testing.cross_validate_and_test`.
    **settings : Any
        The other parameters of that function and of :func:`~fairfold.cross_testing.nested_cross_validate`, with the
        same defaults. With the
        same ``random_state``, the choice equals that of :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Returns
    -------
    Outcome
        Scores, predictions, chosen parameters and p-values.

    Raises
    ------
    StudyError
        For the reasons given in :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing import cross_validate_and_cross_test
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    >>> outcome = cross_validate_and_cross_test({"soft": SVC(C=0.1), "hard": SVC(C=10)}, X, y, random_state=0)
    >>> outcome.interpretable, np.bincount(outcome.fold)
    (('performance', 'parameters'), array([6, 6, 6, 6, 6]))
    """
    chosen = HoldoutSettings(test_fraction=test_fraction, **settings)
    return _run([CROSS_TESTING], candidates, X, y, chosen)[CROSS_TESTING]


def compare_procedures(
    candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, *, test_fraction: float = 0.5, **settings: Any
) -> dict[str, Outcome]:
    """Run all three procedures on the same data.

    Testing and cross-testing make the same choice, which is computed once.

    Parameters
    ----------
    candidates : list of ClassifierMixin, mapping of str to ClassifierMixin, or list of Candidate
        Candidates, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    X : {array-like, CSR matrix} of shape (n_samples, n_features)
        Features, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    y : array-like of shape (n_samples,), or {array-like, CSR matrix} of shape (n_samples, n_labels)
        Classes or observed labels, as for :func:`~fairfold.cross_testing.nested_cross_validate`.
    test_fraction : float, default=0.5
        Share of the test part, as for :func:`~fairfold.cross_testing.cross_validate_and_test`.
    **settings : Any
        The other parameters of that function and of :func:`~fairfold.cross_testing.nested_cross_validate`, with the
        same defaults.

    Returns
    -------
    dict of str to Outcome
        Outcomes of ``"nested_cv"``, ``"cv_testing"`` and ``"cv_cross_testing"``. They equal those of the single
        functions with the same ``random_state``.

    Raises
    ------
    StudyError
        For the reasons given in :func:`~fairfold.cross_testing.cross_validate_and_test`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from fairfold.cross_testing import compare_procedures
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + 2 * y[:, np.newaxis]
    >>> outcomes = compare_procedures({"soft": SVC(C=0.1), "hard": SVC(C=10)}, X, y, random_state=0)
    >>> {name: len(outcome.tested) for name, outcome in sorted(outcomes.items())}
    {'cv_cross_testing': 30, 'cv_testing': 30, 'nested_cv': 60}
    """
    return _run(INTERPRETABLE, candidates, X, y, HoldoutSettings(test_fraction=test_fraction, **settings))


def _run(
    procedures: Iterable[str], candidates: Candidates, X: Matrix | ArrayLike, y: Matrix | ArrayLike, settings: Settings
) -> dict[str, Outcome]:
    """Check the input and run the procedures; those that make the same choice run together."""
    named = check_candidates(candidates)
    problem = as_problem(X, y, settings, for_regressors=is_regressor(named[0].estimator))
    if problem.groups is not None and settings.n_permutations:
        check_exchange(problem.groups, settings.exchange)
    outcomes: dict[str, Outcome] = {}
    for group in ({NESTED}, {TESTING, CROSS_TESTING}):
        if together := sorted(group.intersection(procedures)):
            outcomes |= _run_together(together, named, problem, settings)
    return outcomes


def _run_together(
    procedures: list[str], named: list[Candidate], problem: AnyProblem, settings: Settings
) -> dict[str, Outcome]:
    """Run procedures that make the same choices, on the original rows and on permuted rows."""
    rngs = settings.rngs()
    plans = _make_plans(procedures, problem, settings, rngs)
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
        drawn = (plan.part, settings.n_permutations, rngs["permutations"])
        orders = draw_orders(*drawn, problem.groups, settings.exchange)
        permuted = mean_scores(engine.run(plan, orders).totals, plans, problem.weights)
    chosen = [named[index] for index in found.chosen[0]]
    n_fits_to_choose = len(named) * len(chosen) * settings.n_inner if len(named) > 1 else 0
    return {
        procedure: Outcome(
            procedure=procedure,
            score=problem.sign * float(score) + 0.0,  # Avoids -0.
            n_fits=len(own.role) + n_fits_to_choose,
            **_permutation_test(score, permuted[:, number], draw, problem.sign),
            **_interpret(procedure, chosen, own, problem),
            **scored[number],
        )
        for number, (procedure, own, score) in enumerate(zip(procedures, plans, scores, strict=True))
    }


def _permutation_test(score: float, permuted: np.ndarray, draw: float, sign: int) -> dict[str, Any]:
    """Return the fields of an outcome for the scores of permuted rows, which may be empty."""
    p = p_values(score, permuted, draw) if len(permuted) else {}
    scores = sign * permuted + 0.0 if len(permuted) else None
    return {"permutation_scores": scores, "p_value": p.get("exact"), "p_values": p, "n_permutations": len(permuted)}


def _make_plans(
    procedures: list[str], problem: AnyProblem, settings: Settings, rngs: dict[str, np.random.Generator]
) -> list[Plan]:
    """Create the plans of procedures that make the same choices, in order."""
    rng = rngs["folds"]
    if procedures == [NESTED]:
        plans = [nested_plan(problem.units, settings.n_splits, rng, problem.make_folds, settings.n_inner)]
    else:
        holdout = cast(HoldoutSettings, settings)
        n_test = holdout_size(len(problem.units), float(holdout.test_fraction))
        drawn = holdout.test_part == "drawn"
        testing, cross_testing = holdout_plans(
            problem.units,
            settings.n_splits,
            n_test,
            rng,
            problem.make_folds,
            n_inner_splits=settings.n_inner,
            is_test=draw_test_part(problem.units, n_test, rngs["test part"]) if drawn else None,
        )
        plans = [testing if procedure == TESTING else cross_testing for procedure in procedures]
    if problem.groups is not None:
        plans = [plan.of_members(problem.groups) for plan in plans]
    for plan in plans:
        problem.check_folds(plan)
    return plans


def _scores_of_tests(plan: Plan, predicted: np.ndarray, problem: AnyProblem) -> dict[str, Any]:
    """Return the fields of an outcome for the predictions at each position in each test."""
    is_test = plan.role == TEST
    tested = np.flatnonzero(is_test.any(axis=0))
    fold = is_test[:, tested].argmax(axis=0)
    return {"tested": tested, "fold": fold, **problem.scores_of_tests(tested, fold, predicted[fold, tested])}


def _interpret(procedure: str, chosen: list[Candidate], plan: Plan, problem: AnyProblem) -> dict[str, Any]:
    """Return the results of a procedure that may be interpreted."""
    interpretable, train, model = INTERPRETABLE[procedure], plan.role[0] == TRAIN, None
    if "model" in interpretable:
        metadata = SampleMetadata(problem.groups, problem.weights).for_training(train)
        model = fit_clone(chosen[0].estimator, problem.X[train], problem.y[train], metadata)
    parameters = tuple(candidate.parameters for candidate in chosen)
    shown = parameters[0] if "parameters" in interpretable else parameters
    return {"interpretable": interpretable, "parameters": shown, "model": model}
