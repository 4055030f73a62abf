import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import average_precision_score, hamming_loss
from sklearn.neighbors import KNeighborsClassifier

from fairfold.core.folds import unstratified_folds
from fairfold.core.probabilities import label_probabilities
from fairfold.cross_testing.multilabel_engine import LabelScore, MultilabelEngine
from fairfold.cross_testing.plans import TEST, TRAIN, draw_orders, holdout_plans, nested_plan
from fairfold.errors import ModelError

N, N_SPLITS = 40, 3
RNG = np.random.default_rng(0)
TRUTH = (RNG.random((N, 3)) < 0.5).astype(np.int8)
TRUTH[:, 2] = TRUTH[:, 0]
OBSERVED = TRUTH * (RNG.random(TRUTH.shape) < 0.7)
X = np.column_stack([TRUTH[:, :2] + 0.6 * RNG.normal(size=(N, 2)), RNG.normal(size=N)])
NEIGHBORS = [KNeighborsClassifier(k) for k in (1, 3, 7)]


def average_precision(Y, P):
    return average_precision_score(Y.ravel(), P.ravel())


def fewest_errors(Y, P):
    return -hamming_loss(Y, P > 0.5)


PLAIN_SCORES = {"average_precision": average_precision, "hamming_loss": fewest_errors}


def plain_score(estimator, X, Y, Y_test, train, test, score):
    """Compute the score of the class 1 probabilities that scikit-learn returns, times the number of samples."""
    model = clone(estimator).fit(X[train], Y[train])
    P = np.column_stack(
        [p[:, list(c).index(1)] for p, c in zip(model.predict_proba(X[test]), model.classes_, strict=True)]
    )
    return score(Y_test[test], P) * np.sum(test)


def plain_run(plan, X, Y, Y_true, score):
    chosen, totals = [], []
    for inner in plan.inner_fold:
        sums = [
            sum(plain_score(e, X, Y, Y, (inner >= 0) & (inner != f), inner == f, score) for f in range(N_SPLITS))
            for e in NEIGHBORS
        ]
        chosen.append(int(np.argmax(sums)))
    for choice, role in zip(plan.choice_of, plan.role, strict=True):
        totals.append(plain_score(NEIGHBORS[chosen[choice]], X, Y, Y_true, role == TRAIN, role == TEST, score))
    return totals, chosen


def plans():
    rng = np.random.default_rng(1)
    testing, cross_testing = holdout_plans(OBSERVED, N_SPLITS, N // 2, rng, unstratified_folds)
    return {"nested": nested_plan(OBSERVED, N_SPLITS, rng, unstratified_folds), "held out": testing + cross_testing}


@pytest.mark.parametrize("scoring", PLAIN_SCORES)
@pytest.mark.parametrize("plan", plans().values(), ids=plans())
def test_agrees_with_a_plain_loop(plan, scoring):
    orders = np.vstack([np.arange(N), draw_orders(plan.part, 2, np.random.default_rng(2))])
    run = MultilabelEngine(NEIGHBORS, X, OBSERVED, TRUTH, scoring=scoring).run(plan, orders)
    for order, totals, chosen in zip(orders, *run, strict=True):
        plain_totals, plain_chosen = plain_run(plan, X[order], OBSERVED, TRUTH, PLAIN_SCORES[scoring])
        assert chosen.tolist() == plain_chosen
        np.testing.assert_allclose(totals, plain_totals, rtol=0, atol=1e-12)
    assert len(np.unique(run.chosen)) > 1  # different choices make the comparison meaningful


def test_predictions_are_those_that_the_totals_score():
    for plan in plans().values():
        engine, order = MultilabelEngine(NEIGHBORS, X, OBSERVED, TRUTH, scoring="average_precision"), np.arange(N)
        run = engine.run(plan, order[None])
        P = engine.predict(plan, order, run.chosen[0])
        assert P.shape == (*plan.role.shape, 3)
        np.testing.assert_array_equal(np.isnan(P).any(axis=2), plan.role != TEST)
        for total, role, p in zip(run.totals[0], plan.role, P, strict=True):
            of_test = role == TEST
            assert total == pytest.approx(average_precision(TRUTH[of_test], p[of_test]) * of_test.sum(), abs=1e-12)


def test_scores():
    P = np.array([[0.9, 0.2], [0.5, 0.6], [0.1, 0.8]])
    Y = np.array([[1, 0], [1, 1], [0, 0]])  # 0.5 is not above the threshold
    assert LabelScore("accuracy")(Y, P) == pytest.approx(1 / 3)
    assert LabelScore("hamming_loss")(Y, P) == pytest.approx(2 / 6)
    assert LabelScore("average_precision")(Y, P) == pytest.approx(average_precision(Y, P))
    assert LabelScore(lambda Y, P: Y.sum() + P.max())(Y, P) == pytest.approx(3.9)
    with warnings.catch_warnings(action="error"):
        assert np.isnan(LabelScore("accuracy")(np.full((2, 2), np.nan), P[:2]))
    signs = {scoring: LabelScore(scoring).sign for scoring in ("accuracy", "hamming_loss", "ranking_loss", "mcc", len)}
    assert list(signs.values()) == [1, -1, -1, 1, 1]
    with pytest.raises(ModelError, match="unknown score of several labels 'hamming': did you mean 'hamming_loss'"):
        LabelScore("hamming")


class Says(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the given probabilities."""

    def __init__(self, answer, classes=None):
        self.answer = answer
        self.classes = classes

    def fit(self, X, Y):
        self.classes_ = self.classes
        return self

    def predict_proba(self, X):
        return self.answer


def test_probabilities_in_scikit_learns_form():
    """A label without positives or without negatives in training has only one class."""
    lists = [np.array([[0.3, 0.7], [1, 0]]), np.ones((2, 1)), np.ones((2, 1))]
    classes = [np.array([0, 1]), np.array([0]), np.array([1])]
    P = label_probabilities(Says(lists, classes).fit(None, None), np.zeros((2, 1)), 3)
    np.testing.assert_array_equal(P, [[0.7, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((N, 2)), r"candidate Says.* cannot be trained on .* predict_proba gives shape \(40, 2\)"),
        (np.full((14, 3), np.nan), "42 values that are not finite"),
    ],
)
def test_bad_probabilities(answer, message):
    plan = plans()["nested"]
    with pytest.raises(ModelError, match=message):
        MultilabelEngine([Says(answer)], X, OBSERVED, TRUTH, scoring="mcc").run(plan, np.arange(N)[None])


def test_a_score_that_the_labels_of_a_fold_leave_undefined():
    nothing = np.zeros_like(TRUTH)
    plan = plans()["nested"]
    for observed, truth in ((nothing, nothing), (OBSERVED, nothing)):
        engine = MultilabelEngine(NEIGHBORS[:1], X, observed, truth, scoring="average_precision")
        with pytest.raises(ModelError, match="is nan in a fold of 14 samples with 0 positives among 42 labels"):
            engine.run(plan, np.arange(N)[None])


def test_sparse_features_and_several_processes_change_nothing():
    plan = plans()["held out"]
    orders = draw_orders(plan.part, 3, np.random.default_rng(3))
    wanted = MultilabelEngine(NEIGHBORS, X, OBSERVED, TRUTH, scoring="roc_auc").run(plan, orders)
    for features, n_jobs in ((sparse.csr_array(X), 1), (X, 2)):
        other = MultilabelEngine(NEIGHBORS, features, OBSERVED, TRUTH, scoring="roc_auc", n_jobs=n_jobs)
        for one, two in zip(wanted, other.run(plan, orders), strict=True):
            np.testing.assert_array_equal(one, two)
