"""Cross-testing procedures with several labels per sample."""

from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier

from fairfold.core.folds import unstratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.plans import TEST, draw_orders, holdout_plans, nested_plan
from fairfold.cross_testing.procedures import (
    compare_procedures,
    cross_validate_and_cross_test,
    cross_validate_and_test,
    nested_cross_validate,
)
from fairfold.errors import DataError, ModelError, SplitError
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model

PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)
N, N_SPLITS, SEED = 40, 3, 7


class Means(ClassifierMixin, BaseEstimator):
    """Classifier that predicts label frequencies on either side of 0 in one feature and records its rows.

    The last feature is the row number.
    """

    seen: ClassVar[list] = []

    def __init__(self, column):
        self.column = column

    def fit(self, X, Y):
        Means.seen.append(("fit", X[:, -1].astype(int)))
        self.frequency_ = np.array(
            [(Y[side].sum(axis=0) + 0.5) / (side.sum() + 1) for side in (X[:, self.column] <= 0, X[:, self.column] > 0)]
        )
        return self

    def predict_proba(self, X):
        Means.seen.append(("predict", X[:, -1].astype(int)))
        return self.frequency_[(X[:, self.column] > 0).astype(int)]


CANDIDATES = {f"column {j}": Means(j) for j in range(3)}


def make_problem(seed=0, effect=1.0, n=N):
    """Return features, observed labels with a third of the positives hidden, and correlated true labels."""
    rng = np.random.default_rng(seed)
    truth = (rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 4)) > 0.3).astype(int)
    X = np.column_stack([rng.normal(size=(n, 3)), np.arange(n)])
    X[:, 1] += effect * (truth[:, 0] - 0.5)
    return X, truth * (rng.random(truth.shape) > 1 / 3), truth


def run(procedure, X, Y, truth, **options):
    settings = {"n_splits": N_SPLITS, "scoring": "average_precision", "random_state": SEED, "Y_true": truth}
    return procedure(CANDIDATES, X, Y, **{**settings, **options})


def assert_same(one, two):
    assert (one.score, one.observed_score, one.parameters, one.p_values) == (
        *(two.score, two.observed_score, two.parameters, two.p_values),
    )
    np.testing.assert_array_equal(one.predictions, two.predictions)
    np.testing.assert_array_equal(one.permutation_scores, two.permutation_scores)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_scores_are_those_of_the_predictions(procedure):
    X, Y, truth = make_problem()
    outcome = run(procedure, X, Y, truth)
    tests = [outcome.fold == fold for fold in np.unique(outcome.fold)]

    def mean_score(labels):
        labels = labels[outcome.tested]
        each = [average_precision_score(labels[test].ravel(), outcome.predictions[test].ravel()) for test in tests]
        return np.average(each, weights=[test.sum() for test in tests])

    assert outcome.score == pytest.approx(mean_score(truth), abs=1e-12)
    assert outcome.observed_score == pytest.approx(mean_score(Y), abs=1e-12) != outcome.score
    assert outcome.scores == multilabel_scores(truth[outcome.tested], outcome.predictions)
    wrong = (outcome.predictions > 0.5) != truth[outcome.tested]
    assert outcome.accuracy == np.mean(~wrong.any(axis=1))
    assert outcome.predictions.shape == (len(outcome.tested), 4)
    if procedure is cross_validate_and_test:
        np.testing.assert_array_equal(outcome.model.predict_proba(X[outcome.tested]), outcome.predictions)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_losses_are_minimized_and_reported_as_they_are(procedure):
    problem = make_problem()
    settings = {"n_permutations": 9}
    loss = run(procedure, *problem, scoring="hamming_loss", **settings)
    negative = run(procedure, *problem, scoring=lambda Y, P: -np.mean((P > 0.5) != Y), **settings)
    assert loss.parameters == negative.parameters
    assert loss.p_values == negative.p_values
    assert loss.score == pytest.approx(-negative.score, abs=1e-12) and loss.score > 0
    np.testing.assert_allclose(loss.permutation_scores, -negative.permutation_scores, rtol=0, atol=1e-12)
    assert (loss.permutation_scores > 0).all()


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_without_a_score_it_is_the_share_of_samples_without_a_wrong_label(procedure):
    outcome = run(procedure, *make_problem(), scoring="accuracy")
    assert outcome.score == outcome.accuracy > 0


def test_the_procedures_together_are_the_procedures_alone():
    problem = make_problem()
    together = run(compare_procedures, *problem, n_permutations=5, test_fraction=0.4)
    assert set(together) == {"nested_cv", "cv_testing", "cv_cross_testing"}
    for procedure in PROCEDURES:
        share = {} if procedure is nested_cross_validate else {"test_fraction": 0.4}
        alone = run(procedure, *problem, n_permutations=5, **share)
        assert_same(alone, together[alone.procedure])
        assert alone.n_fits == together[alone.procedure].n_fits


def test_fits_are_counted():
    for procedure, n_fits in zip(PROCEDURES, (3 * 9 + 3, 3 * 3 + 1, 3 * 3 + 3), strict=True):
        Means.seen.clear()
        outcome = run(procedure, *make_problem(), n_permutations=2)
        fits = sum(what == "fit" for what, _ in Means.seen)
        again = N_SPLITS if procedure is not cross_validate_and_test else 2  # for the predictions and the final model
        assert (outcome.n_fits, fits) == (n_fits, 3 * n_fits + again)


def test_fits_of_one_candidate():
    """With one candidate there is no choice to fit for."""
    X, Y, truth = make_problem()
    for procedure, n_fits in zip(PROCEDURES, (3, 1, 3), strict=True):
        outcome = procedure([Means(1)], X, Y, Y_true=truth, n_splits=3, scoring="mcc", random_state=SEED)
        assert outcome.n_fits == n_fits


# ---- leaks


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_choice_never_sees_the_true_labels(procedure):
    X, Y, truth = make_problem()
    mostly_positive = np.column_stack([Y[:, 0], np.ones_like(Y[:, 1:])])
    honest, absurd = run(procedure, X, Y, truth), run(procedure, X, Y, mostly_positive)
    assert absurd.parameters == honest.parameters
    np.testing.assert_array_equal(absurd.predictions, honest.predictions)
    assert absurd.observed_score == honest.observed_score
    assert absurd.score != honest.score


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_tested_rows_take_no_part_in_fits_and_choices(procedure):
    Means.seen.clear()
    outcome = run(procedure, *make_problem())
    n_choices = N_SPLITS if procedure is nested_cross_validate else 1
    n_of_choice = 2 * len(CANDIDATES) * N_SPLITS  # one fit and one prediction each
    assert len(Means.seen) > n_choices * n_of_choice
    for choice in range(n_choices):
        tested = outcome.tested[outcome.fold == choice] if n_choices > 1 else outcome.tested
        for _, rows in Means.seen[choice * n_of_choice : (choice + 1) * n_of_choice]:
            assert not np.isin(rows, tested).any()
    pairs = [
        (Means.seen[place - 1], Means.seen[place])
        for place in range(1, len(Means.seen))
        if Means.seen[place][0] == "predict"
    ]
    assert len(pairs) >= n_choices * n_of_choice / 2
    for (what, fitted), (_, predicted) in pairs:
        assert what == "fit" and not np.isin(predicted, fitted).any()


def test_permutations_exchange_whole_label_rows():
    """A plain loop that permutes features against observed and true labels gives the same scores."""
    X, Y, truth = make_problem()
    outcome = cross_validate_and_test(
        [Means(1)], X, Y, Y_true=truth, n_splits=2, n_permutations=4, scoring="average_precision", random_state=SEED
    )
    part = np.arange(N) >= N // 2
    orders = draw_orders(part, 4, np.random.default_rng(seed_sequence(SEED, "permutations")))
    for order, score in zip(orders, outcome.permutation_scores, strict=True):
        P = Means(1).fit(X[order][~part], Y[~part]).predict_proba(X[order][part])
        assert score == pytest.approx(average_precision_score(truth[part].ravel(), P.ravel()), abs=1e-12)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_p_values_keep_their_level_and_find_an_effect(procedure):
    """Without an effect, a fifth of the randomized p-values are at most 0.2, within three standard errors."""
    n_repeats, alpha = 80, 0.2
    settings = {"n_splits": 2, "n_permutations": 6, "scoring": lambda Y, P: -np.mean((Y - P) ** 2)}
    found = [
        run(procedure, *make_problem(seed, effect=0, n=24), **settings).p_values["randomized"]
        for seed in range(n_repeats)
    ]
    assert abs(np.mean(np.array(found) <= alpha) - alpha) < 3 * np.sqrt(alpha * (1 - alpha) / n_repeats)
    assert run(procedure, *make_problem(effect=6, n=60), **{**settings, "n_permutations": 19}).p_value == 1 / 20


# ---- folds


def test_rows_are_dealt_at_random_without_a_splitter():
    _, Y, _ = make_problem()
    outcome = run(nested_cross_validate, *make_problem())
    plan = nested_plan(Y, N_SPLITS, np.random.default_rng(seed_sequence(SEED, "folds")), unstratified_folds)
    np.testing.assert_array_equal(plan.role[outcome.fold, outcome.tested], TEST)
    assert sorted(np.bincount(outcome.fold)) == [13, 13, 14]


class InTurn:
    """Splitter that records its input."""

    def __init__(self, n_splits=N_SPLITS):
        self.n_splits = n_splits
        self.shown = []

    def assign(self, Y):
        self.shown.append(Y)
        return np.arange(len(Y)) % self.n_splits


def test_a_splitter_deals_the_folds_by_observed_labels():
    X, Y, truth = make_problem()
    splitter = InTurn()
    outcome = run(nested_cross_validate, X, Y, truth, splitter=splitter)
    np.testing.assert_array_equal(outcome.fold, np.arange(N) % 3)
    np.testing.assert_array_equal(splitter.shown[0], Y)
    for fold in range(3):
        np.testing.assert_array_equal(splitter.shown[1 + fold], Y[np.arange(N) % 3 != fold])
    seeds = []
    called = run(
        nested_cross_validate, X, Y, truth, splitter=lambda Y, seed: seeds.append(seed) or np.arange(len(Y)) % 3
    )
    assert_same(called, outcome)
    assert len(set(seeds)) == 4
    splitter.shown.clear()
    testing = run(cross_validate_and_test, X, Y, truth, splitter=splitter)
    np.testing.assert_array_equal(splitter.shown[0], Y[: N // 2])
    plan, _ = holdout_plans(Y, N_SPLITS, N // 2, np.random.default_rng(0), lambda Y, *_: np.arange(len(Y)) % 3)
    np.testing.assert_array_equal(testing.tested, np.flatnonzero(plan.role[0] == TEST))


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (InTurn(5), r"InTurn.* of 40 rows into n_splits=3: fold_of contains fold 4: there are 3 folds, 0 to 2"),
        (lambda Y, seed: np.zeros((len(Y), 2)), r"fold_of has shape \(40, 2\)"),
        (lambda Y, seed: np.zeros(len(Y), dtype=int), "fold_of has no sample in fold 1"),
    ],
)
def test_bad_splitters(splitter, message):
    with pytest.raises(SplitError, match=message):
        run(nested_cross_validate, *make_problem(), splitter=splitter)


# ---- forms of data


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_sparse_labels_and_several_processes_change_nothing(procedure):
    X, Y, truth = make_problem()
    wanted = run(procedure, X, Y, truth, n_permutations=3)
    assert_same(run(procedure, X, sparse.csr_array(Y), sparse.csr_array(truth), n_permutations=3), wanted)
    assert_same(run(procedure, X, Y.tolist(), truth.tolist(), n_permutations=3), wanted)
    assert_same(run(procedure, X, Y, truth, n_permutations=3, n_jobs=2), wanted)


def test_without_true_labels_the_observed_ones_are_true():
    X, Y, _ = make_problem()
    outcome = run(nested_cross_validate, X, Y, None)
    assert outcome.score == pytest.approx(outcome.observed_score, abs=1e-12)


def test_constant_features_are_no_mistake():
    X, Y, truth = make_problem()
    X[:, 0] = 1
    assert run(nested_cross_validate, X, Y, truth).score > 0


def bad_data():
    X, Y, truth = make_problem()
    endless = np.where(np.arange(X.size).reshape(X.shape) == 5, np.inf, X)
    yield X, Y, truth[:, :3], DataError, r"Y_true: found shape \(40, 3\), but Y has \(40, 4\)"
    hidden = truth.copy()
    row, label = np.argwhere(Y)[4]
    hidden[row, label] = 0
    yield X, Y, hidden, DataError, f"Y_true, row {row}, column {label}: the label is positive in Y only"
    yield X, 2 * Y, truth, DataError, "Y, row .*: expected 0, 1 or NaN, found 2"
    yield X, Y, truth - 0.5, DataError, "Y_true, row 0, column 0: .* found -?0.5"
    yield X, Y[:, :0], None, DataError, r"Y: found shape \(40, 0\)\. Give one row per sample"
    yield X, Y[:30], None, DataError, "X: found 40 rows, but y has 30"
    yield endless, Y, truth, DataError, "X: .* contains infinity"
    yield X, np.zeros((2, 2, 2)), None, DataError, r"Y: found shape \(2, 2, 2\)\. Give one row per sample"
    yield X, Y[:, 0], truth, DataError, "Y_true, splitter, groups and sample_weight need several labels"
    nothing = np.zeros_like(Y)
    yield X, nothing, truth, ModelError, "is nan in a fold of .* samples with 0 positives"


@pytest.mark.parametrize("case", list(bad_data()), ids=lambda case: case[-1][:30])
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_bad_data(procedure, case):
    X, Y, truth, error, message = case
    with pytest.raises(error, match=message):
        run(procedure, X, Y, truth)


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_fewer_rows_than_folds(procedure):
    n = 3 if procedure is nested_cross_validate else 4
    with pytest.raises(SplitError, match="fold 2 of the 2 rows to choose by is empty"):
        run(procedure, *(part[:n] for part in make_problem()))


def test_an_unknown_score():
    with pytest.raises(ModelError, match="unknown score of several labels 'average_precission': did you mean"):
        run(nested_cross_validate, *make_problem(), scoring="average_precission")
    with pytest.raises(DataError, match="Y_true, splitter, groups and sample_weight need several labels"):
        nested_cross_validate([Means(0)], np.eye(4), [0, 1, 0, 1], splitter=InTurn())


def test_a_label_that_is_unmeasured_in_truth_may_be_unlabeled_but_not_positive():
    X, Y, truth = make_problem()
    absent = np.argwhere((Y == 0) & (truth == 0))[:3]
    truth = truth.astype(float)
    truth[tuple(absent.T)] = np.nan
    outcome = run(cross_validate_and_test, X, Y, truth)
    tested = truth[outcome.tested]
    expected = average_precision_score(tested[~np.isnan(tested)], outcome.predictions[~np.isnan(tested)])
    assert outcome.scores["average_precision"] == pytest.approx(expected, abs=1e-12)
    Y[tuple(absent[0])] = 1
    with pytest.raises(DataError, match=r"Y_true, row .*: the label is positive in Y only"):
        run(cross_validate_and_test, X, Y, truth)


def test_features_may_be_missing_where_candidates_take_that():
    X, Y, truth = make_problem()
    X[::5, 1] = np.nan
    settings = {"n_splits": N_SPLITS, "scoring": "average_precision", "random_state": SEED}
    ours = make_model("RF+ET", n_trees=5, random_state=0)
    assert 0 < nested_cross_validate([ours], X, Y, Y_true=truth, **settings).score <= 1
    with pytest.raises(ModelError, match=r"candidate KNeighborsClassifier.* contains NaN"):
        nested_cross_validate([KNeighborsClassifier()], X, Y, Y_true=truth, **settings)
