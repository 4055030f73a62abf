import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from fairfold.errors import DataError
from fairfold.metrics.at_k import inverse_propensities, ndcg_at_k, propensity_scored_precision_at_k, recall_at_k
from fairfold.metrics.registry import BASIC_METRICS, FURTHER_METRICS, METRICS, PLACES, metrics_of
from fairfold.metrics.scores import multilabel_scores


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
    """Unweighted counts are whole numbers and agree exactly; weighted sums run in another order.

    The terms of the average precision always do: there are about a hundred and they add up to 1.
    """
    rng = np.random.default_rng(seed)
    P = np.round(rng.random((30, 8)), 1) * (rng.random((30, 8)) < 0.4)  # with ties
    Y = (rng.random(P.shape) < 0.1 + 0.6 * P).astype(np.int8)
    Y[:3], P[:3], Y[3] = 0, 0, 1
    Y = np.where(rng.random(P.shape) < unmeasured, np.nan, Y)
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
    """Cover matrices with all cells stored, a single label, or no stored cell."""
    dense = multilabel_scores(np.array(Y), np.array(P))
    np.testing.assert_equal(multilabel_scores(np.array(Y), sparse.csr_array(np.array(P, dtype=float))), dense)


ALL = tuple(METRICS)


def undefined(Y, P, weights=None, metrics=ALL):
    """Return the names of the metrics that are NaN, and check that other scores are not perfect."""
    inverse, metrics = np.full(Y.shape[1], 2.0), [m for m in metrics if weights is None or "coverage_at" not in m]
    scores = multilabel_scores(Y, P, metrics=metrics, sample_weight=weights, inverse_propensity=inverse)
    for name, value in scores.items():
        assert value != METRICS[name].best, name
    return {name for name, value in scores.items() if np.isnan(value)}


def at_all_places(*names):
    return {f"{name}_at_{k}" for name in names for k in PLACES}


OF_BOTH = ("label_ranking_average_precision", "one_error", "coverage_error")
OF_LABELS = ("average_precision_macro", "roc_auc_macro")
OF_POSITIVES = [name for name, metric in METRICS.items() if metric.needs == "a positive label"]
AT_K = at_all_places("precision", "recall", "ndcg", "coverage", "propensity_scored_precision")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 3.0]])
class TestUndefined:
    def test_one_label(self, kind, weights):
        Y, P = np.array([[0], [1], [1]]), kind(np.array([[0.9], [0.2], [0.8]]))
        expected = {"ranking_loss", *OF_BOTH} | at_all_places(
            "recall", "ndcg", "coverage", "propensity_scored_precision"
        )
        assert undefined(Y, P, weights) == {name for name in expected if weights is None or "coverage_at" not in name}

    def test_all_negative(self, kind, weights):
        Y, P = np.zeros((3, 7), dtype=int), kind(np.full((3, 7), 0.6))
        expected = {"roc_auc", "average_precision", "mcc", "ranking_loss", *OF_POSITIVES, *OF_BOTH, *OF_LABELS, *AT_K}
        assert undefined(Y, P, weights) == {name for name in expected if weights is None or "coverage_at" not in name}

    def test_all_positive(self, kind, weights):
        Y, P = np.ones((3, 7), dtype=int), kind(np.tile([0.6, 0.4, 0.7, 0.6, 0.4, 0.6, 0.9], (3, 1)))
        expected = {"roc_auc", "average_precision", "mcc", "ranking_loss", *OF_BOTH, *OF_LABELS}
        perfect = [
            name for name in ALL if name not in ("precision_micro", "precision_samples")
        ]  # no predicted label is wrong
        found = undefined(Y, P, weights, perfect)
        assert found == expected | at_all_places("precision", "ndcg", "propensity_scored_precision")

    def test_ranking_loss_is_that_of_scikit_learn_unless_no_sample_has_both(self, kind, weights):
        Y = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0]])
        P = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])
        expected = sklearn_metrics.label_ranking_loss(Y, P, sample_weight=weights)
        assert multilabel_scores(Y, kind(P), sample_weight=weights)["ranking_loss"] == pytest.approx(expected)
        found = multilabel_scores(Y[:2], kind(P[:2]), sample_weight=weights and weights[:2])["ranking_loss"]
        assert np.isnan(found)

    def test_unmeasured_labels_are_absent(self, kind, weights):
        Y = np.array([[1, np.nan, np.nan], [np.nan, 0, np.nan], [1, 0, np.nan]])
        P = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
        expected = np.average([0, 0, 1], weights=weights)
        assert multilabel_scores(Y, kind(P), sample_weight=weights)["ranking_loss"] == pytest.approx(expected)
        Y[2, 1] = np.nan
        assert np.isnan(multilabel_scores(Y, kind(P), sample_weight=weights)["ranking_loss"])
        Y[1] = np.nan
        for metric in ("average_precision", "roc_auc", "mcc"):
            assert np.isnan(multilabel_scores(Y, kind(P), sample_weight=weights)[metric]), metric


@pytest.mark.parametrize(
    ("metric", "theirs", "of_probabilities"),
    [
        ("roc_auc", sklearn_metrics.roc_auc_score, True),
        ("average_precision", sklearn_metrics.average_precision_score, True),
        ("mcc", sklearn_metrics.matthews_corrcoef, False),
        ("f1_micro", sklearn_metrics.f1_score, False),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_entries_state_of_scikit_learn_is_so(metric, theirs, of_probabilities):
    """Where a score is NaN, scikit-learn returns the value given in the entry; elsewhere both are equal."""
    scores = np.array([0.2, 0.7, 0.6])
    defaults = METRICS[metric].scikit_learn
    for truth in ([0, 0, 0], [1, 1, 1], [0, 1, 0]):
        found = multilabel_scores(np.array([truth]).T, scores[:, None], metrics=[metric])[metric]
        other = theirs(truth, scores if of_probabilities else scores > 0.5)
        if np.isnan(found):
            assert ("NaN" if np.isnan(other) else f"{other:g}") in defaults
        else:
            assert found == pytest.approx(other)


def test_a_score_that_is_nan_states_what_it_needs():
    for name in METRICS:
        assert METRICS[name].needs and METRICS[name].scikit_learn, name
        assert METRICS[name].undefined.endswith(METRICS[name].needs)


def test_an_undefined_score_is_never_the_best_level():
    for metric in (*METRICS.values(), METRICS["ranking_loss"]._replace(range=(0.0, np.inf))):
        goodness = metric.goodness([np.nan, *(end for end in metric.range if np.isfinite(end))])
        assert goodness[0] <= min(goodness[1:])


@pytest.mark.parametrize(
    ("Y", "P", "sentence"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3)), "shape"),
        (np.zeros(2), np.zeros(2), "shape"),
        (np.zeros((0, 2)), np.zeros((0, 2)), "shape"),
        (np.full((2, 2), 2), np.zeros((2, 2)), "expected 0, 1 or NaN, found 2"),
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
    Y, weights = Y.astype(float), 1 + np.arange(len(Y)) % 2
    Y[::3, 1] = np.nan
    inverse = inverse_propensities(Y)
    names = metrics_of("top")
    scores = multilabel_scores(Y, P, metrics=names, sample_weight=weights, inverse_propensity=inverse)
    assert tuple(scores) == names and {*names} == {*METRICS} - {*BASIC_METRICS} - {*FURTHER_METRICS}
    expected = {}
    for k in PLACES:
        expected[f"recall_at_{k}"] = recall_at_k(Y, P, k, sample_weight=weights)[-1]
        expected[f"ndcg_at_{k}"] = ndcg_at_k(Y, P, k, sample_weight=weights)[-1]
        propensity_scored = propensity_scored_precision_at_k(Y, P, inverse, k, sample_weight=weights)
        expected[f"propensity_scored_precision_at_{k}"] = propensity_scored[-1]
    # Weights are normalized to a mean of 1 twice, which may change the last bit.
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=1e-14, nan_ok=True)
    with pytest.raises(DataError, match="propensity_scored_precision_at_3 needs inverse_propensity"):
        multilabel_scores(Y, P, metrics=["recall_at_3", "propensity_scored_precision_at_3"])


def test_scores_that_every_study_has_are_no_others():
    assert list(BASIC_METRICS) == ["roc_auc", "average_precision", "hamming_loss", "ranking_loss", "mcc"]
