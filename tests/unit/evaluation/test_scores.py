import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import DataError
from fairfold.evaluation.at_k import inverse_propensities, ndcg_at_k, propensity_scored_precision_at_k, recall_at_k
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS, PLACES, metrics_of
from fairfold.evaluation.scores import multilabel_scores


@pytest.fixture
def example():
    rng = np.random.default_rng(3)
    Y = (rng.random((60, 4)) < 0.3).astype(int)
    return Y, np.round(np.clip(0.4 * Y + rng.random(Y.shape) * 0.7, 0, 1), 2)


def test_against_the_definitions(example):
    Y, P = example
    scores = multilabel_scores(Y, P)
    positive, negative = P[Y == 1], P[Y == 0]
    wins = (positive[:, None] > negative).mean() + 0.5 * (positive[:, None] == negative).mean()
    assert scores["roc_auc"] == pytest.approx(wins, rel=1e-12)
    thresholds = np.unique(P)[::-1]
    recall = np.array([(positive >= t).mean() for t in thresholds])
    precision = np.array([Y[t <= P].mean() for t in thresholds])
    assert scores["average_precision"] == pytest.approx(np.sum(np.diff(recall, prepend=0) * precision), rel=1e-12)
    assert scores["hamming_loss"] == pytest.approx(((P > 0.5) != Y).mean(), rel=1e-12)
    assert scores["mcc"] == pytest.approx(np.corrcoef(Y.ravel(), (P > 0.5).ravel())[0, 1], rel=1e-12)
    losses = []
    for y, p in zip(Y, P, strict=True):
        pairs = [(a <= b) for a in p[y == 1] for b in p[y == 0]]
        losses.append(np.mean(pairs) if pairs else 0)
    assert scores["ranking_loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert set(scores) == set(BASIC_METRICS)


def test_sparse_labels_and_threshold(example):
    Y, P = example
    assert multilabel_scores(sparse.csr_array(Y), P) == multilabel_scores(Y, P)
    assert multilabel_scores(Y, P, threshold=0.3)["hamming_loss"] == pytest.approx(((P > 0.3) != Y).mean())


@pytest.mark.parametrize("threshold", [-0.1, 0.0, 0.5])
@pytest.mark.parametrize("unmeasured", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_sparse_probabilities_score_as_dense_ones(seed, unmeasured, threshold):
    """To the last bit: counts are whole numbers. With weights they are not, and are added in another order.

    So are the terms of the average precision in any case, a hundred of them that add up to 1.
    """
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((30, 8)), 1) * (rng.random((30, 8)) < 0.4)  # with ties
    Y = (rng.random(P.shape) < 0.1 + 0.6 * P).astype(np.int8)
    Y[:3], P[:3], Y[3] = 0, 0, 1
    Y[rng.random(P.shape) < unmeasured] = -1
    for weights, tolerance in ((None, 0), (rng.random(30) + 0.2, 1e-14)):
        dense = multilabel_scores(Y, P, threshold, sample_weight=weights)
        for labels in (Y, sparse.csr_array(Y)):
            found = multilabel_scores(labels, sparse.csr_array(P), threshold, sample_weight=weights)
            terms = found.pop("average_precision"), dense["average_precision"]
            np.testing.assert_allclose(*terms, rtol=0, atol=1e-14)
            others = [dense[metric] for metric in found]
            np.testing.assert_allclose(list(found.values()), others, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("Y", "P"), [([[0, 1]], [[0.3, 0.2]]), ([[1], [0]], [[0.3], [0.4]]), ([[0, 0]], [[0, 0]])])
def test_small_sparse_matrices_score_as_dense_ones(Y, P):
    """All cells stored, a single label, nothing stored."""
    dense = multilabel_scores(np.array(Y), np.array(P))
    np.testing.assert_equal(multilabel_scores(np.array(Y), sparse.csr_array(np.array(P, dtype=float))), dense)


def test_a_single_label_has_no_order():
    assert multilabel_scores(np.array([[0], [1], [1]]), np.array([[0.9], [0.2], [0.8]]))["ranking_loss"] == 0


def test_undefined_scores_are_nan():
    scores = multilabel_scores(np.zeros((3, 2)), np.full((3, 2), 0.1))
    assert np.isnan(scores["roc_auc"])
    assert np.isnan(scores["average_precision"])
    assert scores["hamming_loss"] == 0


@pytest.mark.parametrize(
    ("Y", "P", "sentence"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3)), "shape"),
        (np.zeros(2), np.zeros(2), "shape"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "shape"),
        (np.full((2, 2), 2), np.zeros((2, 2)), "but labels are 0 or 1"),
        (np.zeros((2, 2)), np.full((2, 2), np.nan), "4 of 4 predicted probabilities are not finite"),
        (np.zeros((2, 2)), sparse.csr_array((2, 3)), "shape"),
        (np.zeros((0, 2)), sparse.csr_array((0, 2)), "shape"),
        (np.zeros(2), sparse.csr_array((1, 2)), "shape"),
        (np.zeros((2, 2)), sparse.csr_array([[0, np.nan], [1, 0]]), "1 of 2 predicted probabilities are not finite"),
    ],
)
def test_bad_input(Y, P, sentence):
    with pytest.raises(DataError, match=sentence):
        multilabel_scores(Y, P)


def test_single_metrics():
    Y, P = np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.3], [0.6, 0.2]])
    every = multilabel_scores(Y, P)
    assert multilabel_scores(Y, P, metrics=["mcc", "roc_auc"]) == {name: every[name] for name in ("mcc", "roc_auc")}
    with pytest.raises(DataError, match="unknown metric 'roc_auk': did you mean 'roc_auc'"):
        multilabel_scores(Y, P, metrics=["roc_auk"])


def test_scores_at_k_are_those_of_their_functions(example):
    Y, P = example
    Y, weights = Y.copy(), 1 + np.arange(len(Y)) % 2
    Y[::3, 1] = -1
    inverse = inverse_propensities(Y)
    names = metrics_of("top")
    scores = multilabel_scores(Y, P, metrics=names, sample_weight=weights, inverse_propensity=inverse)
    assert tuple(scores) == names and {*names} == {*METRICS} - {*BASIC_METRICS}
    expected = {}
    for k in PLACES:
        expected[f"recall_at_{k}"] = recall_at_k(Y, P, k, sample_weight=weights)[-1]
        expected[f"ndcg_at_{k}"] = ndcg_at_k(Y, P, k, sample_weight=weights)[-1]
        propensity_scored = propensity_scored_precision_at_k(Y, P, inverse, k, sample_weight=weights)
        expected[f"propensity_scored_precision_at_{k}"] = propensity_scored[-1]
    # weights are brought to a mean of 1 twice, which may differ in the last bit
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=1e-14)
    with pytest.raises(DataError, match="propensity_scored_precision_at_3 needs inverse_propensity"):
        multilabel_scores(Y, P, metrics=["recall_at_3", "propensity_scored_precision_at_3"])


def test_scores_that_every_study_has_are_no_others():
    assert list(BASIC_METRICS) == ["roc_auc", "average_precision", "hamming_loss", "ranking_loss", "mcc"]
