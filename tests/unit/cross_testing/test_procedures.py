from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import Pipeline, make_pipeline

from fairfold.core.folds import stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.candidates import make_candidates
from fairfold.cross_testing.estimator_engine import EstimatorEngine
from fairfold.cross_testing.permutation import p_values
from fairfold.cross_testing.plans import TEST, TRAIN, draw_orders, holdout_plans, nested_plan
from fairfold.cross_testing.procedures import (
    cross_validate_and_cross_test,
    cross_validate_and_test,
    nested_cross_validate,
)
from fairfold.errors import DataError, ModelError, SplitError

PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)
HOLDOUTS = PROCEDURES[1:]
GRID = [{"n_neighbors": k} for k in (1, 3, 5)]
NEIGHBORS = make_candidates(KNeighborsClassifier(algorithm="brute"), GRID)
N_SPLITS, SEED = 3, 7


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def make_problem(labels=("no", "yes"), n=36, seed=0):
    """Return ``n`` samples of alternating classes; the first half of the classes differs slightly from the others."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(labels)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * codes
    return Problem(X, np.array(labels)[codes])


@pytest.fixture(params=[("no", "yes"), (3, 1, 2)], ids=["two classes of text", "three of numbers"])
def problem(request):
    return make_problem(request.param)


def stream(use):
    return np.random.default_rng(seed_sequence(SEED, use))


def plain_choice(X, y, inner_fold):
    """Return the candidate that scikit-learn chooses on the same folds, by the number of correct predictions."""
    seen = inner_fold >= 0
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [parameters["n_neighbors"] for parameters in GRID]},
        scoring=lambda model, X, y: np.sum(model.predict(X) == y),
        cv=PredefinedSplit(inner_fold[seen]),
    )
    return search.fit(X[seen], y[seen])


def plain_nested(X, y):
    plan, hits, parameters = nested_plan(y, N_SPLITS, stream("folds")), 0, []
    for inner_fold, role in zip(plan.inner_fold, plan.role, strict=True):
        search = plain_choice(X, y, inner_fold)
        hits += np.sum(search.predict(X[role == TEST]) == y[role == TEST])
        parameters.append(search.best_params_)
    return hits / len(y), tuple(parameters)


def plain_test(X, y):
    plan, _ = holdout_plans(y, N_SPLITS, len(y) // 2, stream("folds"))
    search = plain_choice(X, y, plan.inner_fold[0])
    return np.mean(search.predict(X[len(y) // 2 :]) == y[len(y) // 2 :]), search.best_params_


def plain_cross_test(X, y):
    _, plan = holdout_plans(y, N_SPLITS, len(y) // 2, stream("folds"))
    best, hits = plain_choice(X, y, plan.inner_fold[0]).best_params_, 0
    for role in plan.role:
        model = KNeighborsClassifier(**best).fit(X[role == TRAIN], y[role == TRAIN])
        hits += np.sum(model.predict(X[role == TEST]) == y[role == TEST])
    return hits / (len(y) // 2), best


PLAIN = dict(zip(PROCEDURES, (plain_nested, plain_test, plain_cross_test), strict=True))


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_agrees_with_plain_loops_on_the_same_folds(procedure, problem):
    outcome = procedure(NEIGHBORS, *problem, n_splits=N_SPLITS, n_permutations=4, random_state=SEED)
    accuracy, parameters = PLAIN[procedure](*problem)
    assert outcome.accuracy == outcome.score == pytest.approx(accuracy, abs=1e-12)
    assert outcome.parameters == parameters
    X, y = problem
    part = np.arange(len(y)) >= (0 if procedure is nested_cross_validate else len(y) // 2)
    orders = draw_orders(part, 4, stream("permutations"))
    permuted = [PLAIN[procedure](X[order], y)[0] for order in orders]
    np.testing.assert_allclose(outcome.permutation_scores, permuted, rtol=0, atol=1e-12)
    assert outcome.p_values == p_values(accuracy, np.array(permuted), stream("draw").random())
    assert outcome.p_value == outcome.p_values["exact"]


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_predictions_are_those_that_the_accuracy_counts(procedure, problem):
    outcome = procedure(NEIGHBORS, *problem, n_splits=N_SPLITS, random_state=SEED)
    assert outcome.predictions.dtype == problem.y.dtype
    assert outcome.accuracy == np.mean(outcome.predictions == problem.y[outcome.tested])
    n_tested = {nested_cross_validate: 36}.get(procedure, 18)
    np.testing.assert_array_equal(outcome.tested, np.arange(36)[-n_tested:])
    n_tests = {cross_validate_and_test: 1}.get(procedure, N_SPLITS)
    np.testing.assert_array_equal(np.bincount(outcome.fold), [n_tested // n_tests] * n_tests)


def test_what_may_be_interpreted():
    nested, testing, cross = (p(NEIGHBORS, *make_problem(), n_splits=N_SPLITS, random_state=SEED) for p in PROCEDURES)
    assert nested.interpretable == ("performance",)
    assert len(nested.parameters) == N_SPLITS and all(parameters in GRID for parameters in nested.parameters)
    assert cross.interpretable == ("performance", "parameters")
    assert testing.interpretable == ("performance", "parameters", "model")
    assert testing.parameters == cross.parameters in GRID
    assert nested.model is None and cross.model is None
    X, _ = make_problem()
    np.testing.assert_array_equal(testing.model.predict(X[testing.tested]), testing.predictions)


def test_without_permutations_there_is_no_p_value():
    outcome = cross_validate_and_test(NEIGHBORS, *make_problem(), n_splits=N_SPLITS)
    assert (outcome.p_value, outcome.p_values, outcome.permutation_scores, outcome.n_permutations) == (
        None,
        {},
        None,
        0,
    )


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_sparse_features_and_several_processes_change_nothing(procedure):
    X, y = make_problem()
    settings = {"n_splits": N_SPLITS, "n_permutations": 5, "random_state": SEED}
    wanted = procedure(NEIGHBORS, X, y, **settings)
    for other in (
        procedure(NEIGHBORS, sparse.csr_array(X), y, **settings),
        procedure(NEIGHBORS, X.tolist(), y.tolist(), **settings),
        procedure(NEIGHBORS, X, y, n_jobs=2, **settings),
    ):
        assert (other.accuracy, other.parameters, other.p_values) == (
            wanted.accuracy,
            wanted.parameters,
            wanted.p_values,
        )
        np.testing.assert_array_equal(other.permutation_scores, wanted.permutation_scores)
        np.testing.assert_array_equal(other.predictions, wanted.predictions)


def test_seeds():
    X, y = make_problem()
    state = np.random.get_state()[1].copy()  # noqa: NPY002

    def run(seed, n):
        return nested_cross_validate(NEIGHBORS, X, y, n_splits=N_SPLITS, n_permutations=n, random_state=seed)

    few, many, other = run(1, 3), run(1, 6), run(2, 3)
    np.testing.assert_array_equal(few.fold, many.fold)
    np.testing.assert_array_equal(few.permutation_scores, many.permutation_scores[:3])
    assert (few.fold != other.fold).any()
    assert (run(None, 0).fold != run(None, 0).fold).any()
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


# ---- candidates and scorers


def test_earlier_candidates_win_ties():
    X, y = make_problem()
    same = [("second", GaussianNB()), ("first", GaussianNB(var_smoothing=1.1e-9))]
    for candidates in (same, same[::-1]):
        assert cross_validate_and_test(candidates, X, y, n_splits=N_SPLITS).parameters == candidates[0][0]
        assert cross_validate_and_test(dict(candidates), X, y, n_splits=N_SPLITS).parameters == candidates[0][0]


def test_a_candidate_keeps_its_own_seed():
    X, y = make_problem(n=60)
    forest = [RandomForestClassifier(2, max_depth=2, random_state=5)]
    one, two = (nested_cross_validate(forest, X, y, n_splits=2, n_permutations=2, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.predictions, two.predictions)
    np.testing.assert_array_equal(one.permutation_scores, two.permutation_scores)


@pytest.mark.parametrize("as_name", [True, False])
def test_any_scorer(as_name):
    X, y = make_problem()
    scoring = "roc_auc" if as_name else lambda model, X, y: roc_auc_score(y, model.predict_proba(X)[:, 1])
    models = [KNeighborsClassifier(5), GaussianNB()]
    outcome = cross_validate_and_cross_test(models, X, y, n_splits=N_SPLITS, scoring=scoring, random_state=SEED)
    _, plan = holdout_plans(y, N_SPLITS, 18, stream("folds"))

    def auc(model, train, test):
        return roc_auc_score(y[test], model.fit(X[train], y[train]).predict_proba(X[test])[:, 1])

    inner = plan.inner_fold[0]
    chosen = [np.mean([auc(m, (inner >= 0) & (inner != f), inner == f) for f in range(N_SPLITS)]) for m in models]
    best = models[int(np.argmax(chosen))]
    expected = np.mean([auc(best, role == TRAIN, role == TEST) for role in plan.role])
    assert outcome.parameters == best.get_params()
    assert outcome.score == pytest.approx(expected, abs=1e-12)
    assert outcome.accuracy == np.mean(outcome.predictions == y[outcome.tested]) != outcome.score


# ---- leaks


class Column(ClassifierMixin, BaseEstimator):
    """Classifier with a threshold between the class means of one feature, fast enough for many repetitions."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        low, high = (X[y == label, self.column].mean() for label in self.classes_)
        self.threshold_, self.swapped_ = (low + high) / 2, low > high
        return self

    def predict(self, X):
        return self.classes_[((X[:, self.column] > self.threshold_) != self.swapped_).astype(int)]


COLUMNS = [Column(j) for j in range(8)]
Y = np.arange(32) % 2


def noise(seed, n_features=8):
    return np.random.default_rng(seed).normal(size=(len(Y), n_features))


def deviation(accuracies):
    """Return the distance of the mean above chance in standard errors."""
    return (np.mean(accuracies) - 0.5) / (np.std(accuracies, ddof=1) / np.sqrt(len(accuracies)))


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_honest_on_random_data(procedure):
    accuracies = [
        procedure(COLUMNS, noise(seed), Y, n_splits=N_SPLITS, random_state=seed).accuracy for seed in range(120)
    ]
    assert abs(deviation(accuracies)) < 3


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_feature_selection_inside_is_honest_and_on_all_rows_is_not(procedure):
    inside, before = [], []
    for seed in range(40):
        X, select = noise(seed, 60), SelectKBest(k=5)
        settings = {"n_splits": 2, "random_state": seed}
        inside.append(procedure([make_pipeline(select, NearestCentroid())], X, Y, **settings).accuracy)
        before.append(procedure([NearestCentroid()], select.fit_transform(X, Y), Y, **settings).accuracy)
    assert abs(deviation(inside)) < 3
    assert deviation(before) > 6


@pytest.mark.parametrize("make_plan", [lambda *a: nested_plan(*a), lambda *a: holdout_plans(*a[:2], 16, a[2])[1]])
def test_a_choice_that_sees_the_tested_rows_is_caught(make_plan):
    honest, leaky = [], []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        plan = make_plan(Y, N_SPLITS, rng)
        seen = np.array([stratified_folds(Y, N_SPLITS, rng) for _ in plan.inner_fold])
        engine, order = EstimatorEngine(COLUMNS, noise(seed), Y), np.arange(len(Y))[None]
        n_tested = np.sum(plan.role == TEST)
        honest.append(engine.run(plan, order).totals.sum() / n_tested)
        leaky.append(engine.run(plan._replace(inner_fold=seen), order).totals.sum() / n_tested)
    assert abs(deviation(honest)) < 3
    assert deviation(leaky) > 6


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_p_values_are_uniform_on_random_data(procedure):
    """The whole procedure keeps its level: a fifth of the randomized p-values on random data are at most 0.2."""
    n_repeats, alpha = 100, 0.2
    found = [
        procedure(COLUMNS[:2], noise(seed), Y, n_splits=2, n_permutations=6, random_state=seed).p_values["randomized"]
        for seed in range(n_repeats)
    ]
    assert abs(np.mean(np.array(found) <= alpha) - alpha) < 3 * np.sqrt(alpha * (1 - alpha) / n_repeats)


# ---- bad input


def bad_data():
    X, y = make_problem()
    holes, flat = X.copy(), X.copy()
    holes[5, 2], flat[:, 2] = np.nan, 4
    yield "one class", X, np.full(36, "no"), "y: found only class no"
    yield "NaN", holes, y, "X: .*contains NaN"
    yield "infinite", np.where(np.isnan(holes), np.inf, holes), y, "contains infinity"
    yield "constant", flat, y, r"X, column 2: 1 of . features are constant \(value 4\)"
    yield "constant, sparse", sparse.csr_array(flat), y, r"X, column 2: 1 of . features are constant \(value 4\)"
    yield "one feature too flat", X[:, 0], y, "Expected 2D array, got 1D array"
    yield "lengths", X, y[:30], "X: found 36 rows, but y has 30"
    yield (
        "several labels of text",
        X,
        np.column_stack([y, y]),
        "Y, row 0, column 0: expected 0, 1 or NaN, found .no.*MultiLabelBinarizer",
    )
    yield "lists of labels", X, [["a"], ["b", "c"]] * 18, "Y: rows differ in length. .*MultiLabelBinarizer"
    yield "sets of labels", X, [{"a"}, {"b", "c"}] * 18, "y: found unknown values. .*MultiLabelBinarizer"
    yield "continuous", X, X[:, 0], "y: found continuous values"
    yield "text", X.astype(str).astype(object) + "?", y, "could not convert"
    yield "nothing", X[:0], y[:0], "0 sample"
    yield "mixed", X, np.array([1, None, "a"] * 12, dtype=object), "y: found unknown values"


@pytest.mark.parametrize("case", list(bad_data()), ids=lambda case: case[0])
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_bad_data(procedure, case):
    _, X, y, message = case
    with pytest.raises(DataError, match=message):
        procedure(NEIGHBORS, X, y, n_splits=N_SPLITS)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_splits": 1}, SplitError, r"n_splits: found 1\. Give a whole number from 2"),
        ({"n_splits": 2.0}, SplitError, "n_splits: found 2.0"),
        ({"n_splits": 128}, SplitError, "from 2 to 127"),
        ({"n_splits": 19}, SplitError, r"fewer than the 19 folds\. Add"),
        ({"n_permutations": -1}, ModelError, "n_permutations: found -1"),
        ({"n_permutations": 2.5}, ModelError, "n_permutations: found 2.5"),
        ({"n_jobs": 0}, ModelError, "n_jobs: found 0"),
        ({"random_state": "a"}, ModelError, "random_state: found 'a'"),
        ({"scoring": "acuracy"}, ModelError, "unknown scorer 'acuracy': did you mean 'accuracy'"),
        ({"scoring": lambda *_: np.nan}, ModelError, "is nan in a fold of"),
        ({"scoring": "neg_log_loss", "n_splits": N_SPLITS}, ModelError, "cannot be trained on"),
    ],
)
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_bad_settings(procedure, settings, error, message):
    candidates = [NearestCentroid(), NearestCentroid(metric="manhattan")]
    if settings.get("scoring") == "neg_log_loss":
        candidates = [Column(0)]  # has no probabilities
    with pytest.raises(error, match=message):
        procedure(candidates, *make_problem(), **{"n_splits": N_SPLITS, **settings})


@pytest.mark.parametrize("procedure", HOLDOUTS)
@pytest.mark.parametrize(
    ("fraction", "message"),
    [
        (0, r"test_fraction: found 0\. Give the share of the rows, between 0 and 1"),
        (1.0, "test_fraction: found 1.0"),
        ("half", "test_fraction: found 'half'"),
        (0.02, "test part has 0 of 36 samples"),
        (1 - 1e-12, "test part has 36 of 36 samples"),
        (0.9, "class no has 2 of the rows to choose by, fewer than the 3 folds"),
    ],
)
def test_bad_fractions(procedure, fraction, message):
    with pytest.raises(SplitError, match=message):
        procedure(NEIGHBORS, *make_problem(), n_splits=N_SPLITS, test_fraction=fraction)


def test_a_class_needs_a_sample_in_each_fold_that_is_dealt():
    X, y = make_problem()
    with pytest.raises(SplitError, match="class no has 2 of the rows to test"):
        cross_validate_and_cross_test(NEIGHBORS, X, y, n_splits=N_SPLITS, test_fraction=0.12)
    cross_validate_and_test(NEIGHBORS, X, y, n_splits=N_SPLITS, test_fraction=0.12)  # does not split the test part
    rare = np.where(np.arange(36) < 4, "yes", "no")
    with pytest.raises(SplitError, match="class yes has 2 of the rows to choose by"):
        nested_cross_validate(NEIGHBORS, X, rare, n_splits=N_SPLITS)
    with pytest.raises(SplitError, match="draw it or change test_fraction"):
        cross_validate_and_test(NEIGHBORS, X, np.sort(y), n_splits=N_SPLITS)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([], "candidates: the list is empty"),
        ([KNeighborsClassifier(500)], "cannot be trained on .* samples: Expected n_neighbors"),
        ([Pipeline([("a", PCA()), ("a", GaussianNB())])], r"cannot be trained on .*\['a', 'a'\]"),
        ([DummyClassifier(strategy="best")], "cannot be trained on"),
    ],
)
def test_bad_candidates(candidates, message):
    with pytest.raises(ModelError, match=message):
        nested_cross_validate(candidates, *make_problem(), n_splits=N_SPLITS)
