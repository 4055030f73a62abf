"""Scores equal those of scikit-learn: pooled scores bit by bit, and means for any weights and unmeasured labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics

from fairfold.metrics import plain_scores
from fairfold.metrics.plain_scores import N_BINS
from fairfold.metrics.registry import FURTHER_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import corrected_scores

KINDS = [np.asarray, sparse.csr_array]


@pytest.fixture(params=range(60))
def labels(request):
    """Return labels and scores: many ties or none, few positives or many, one-class rows, and extreme predictions."""
    rng = np.random.default_rng(request.param)
    shape = rng.integers(1, 80), rng.integers(2, 12)
    Y = (rng.random(shape) < rng.choice([0.02, 0.3, 0.9])).astype(np.int8)
    Y.flat[:2] = 0, 1  # both classes occur
    P = rng.random(shape) * rng.choice([0.1, 1]) + rng.choice([-1, 0, 0.5, 1]) * Y
    return Y, np.round(P, rng.choice([0, 1, 2, 17]))


def weightings(n):
    return None, np.random.default_rng(n).random(n) + 0.2


@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_scores_of_thresholds(labels, name):
    Y, P = (matrix.ravel() for matrix in labels)
    for weights in weightings(len(Y)):
        assert getattr(plain_scores, name)(Y, P, weights) == getattr(metrics, name)(Y, P, sample_weight=weights)


def test_matthews_correlation(labels):
    Y, P = (matrix.ravel() for matrix in labels)
    for predicted in ((P > 0.5).astype(np.int8), np.zeros_like(Y), np.ones_like(Y), Y, 1 - Y):
        for weights in weightings(len(Y)):
            found = plain_scores.matthews_corrcoef(Y, predicted, weights)
            assert found == metrics.matthews_corrcoef(Y, predicted, sample_weight=weights)


def test_ranking_loss(labels):
    Y, P = labels
    has_pairs = (Y[:, :1] != Y).any()
    for weights in weightings(len(Y)):
        found, expected = plain_scores.label_ranking_loss(Y, P, weights), np.nan
        if has_pairs:
            expected = metrics.label_ranking_loss(Y, P, sample_weight=weights)
        np.testing.assert_equal(found, expected)


def test_two_scores_only():
    for truth in ([0, 1], [1, 0]):
        for score in ([0.0, 0.0], [0.0, 1.0]):
            for name in ("roc_auc_score", "average_precision_score"):
                expected = getattr(metrics, name)(truth, score)
                assert getattr(plain_scores, name)(np.array(truth), np.array(score)) == expected


def test_large_counts_keep_their_bits():
    rng = np.random.default_rng(0)
    Y = (rng.random((3000, 40)) < 0.05).astype(np.int8)
    P = np.clip(0.1 * Y + rng.random(Y.shape), 0, 1)
    truth, score = Y.ravel(), P.ravel()
    for name in ("roc_auc_score", "average_precision_score"):
        assert getattr(plain_scores, name)(truth, score) == getattr(metrics, name)(truth, score)
    predicted = (score > 0.5).astype(np.int8)
    assert plain_scores.matthews_corrcoef(truth, predicted) == metrics.matthews_corrcoef(truth, predicted)
    assert plain_scores.label_ranking_loss(Y, P) == metrics.label_ranking_loss(Y, P)


@pytest.fixture(params=[0, 1])
def example(request):
    rng = np.random.default_rng(request.param)
    P = np.round(rng.random((40, 6)), 1) * (rng.random((40, 6)) < 0.6)  # with ties and cells that are not stored
    Y = (rng.random(P.shape) < 0.2 + 0.5 * P).astype(int)
    Y[0], Y[1], P[2], Y[:2, 0] = 0, 1, 0, [1, 0]
    return Y, P


def of_scikit_learn(Y, P, weights):
    decided, given = (P > 0.5).astype(int), {"sample_weight": weights}
    flat = {"sample_weight": None if weights is None else np.repeat(weights, Y.shape[1])}
    found = {
        "accuracy_samples": metrics.jaccard_score(Y, decided, average="samples", zero_division=0, **given),
        "subset_accuracy": metrics.accuracy_score(Y, decided, **given),
        "average_precision_macro": metrics.average_precision_score(Y, P, average="macro", **given),
        "roc_auc_macro": metrics.roc_auc_score(Y, P, average="macro", **given),
        "label_ranking_average_precision": metrics.label_ranking_average_precision_score(Y, P, **given),
        "coverage_error": metrics.coverage_error(Y, P, **given),
        "brier_score": metrics.brier_score_loss(Y.ravel(), P.ravel(), **flat),
        "mcc_macro": np.mean([metrics.matthews_corrcoef(y, d, **given) for y, d in zip(Y.T, decided.T, strict=True)]),
    }
    for key, score in (
        ("f1", metrics.f1_score),
        ("precision", metrics.precision_score),
        ("recall", metrics.recall_score),
    ):
        for average in ("micro", "macro", "samples"):
            found[f"{key}_{average}"] = score(Y, decided, average=average, zero_division=0, **given)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_they_are_those_of_scikit_learn(example, kind, weighted):
    Y, P = example
    weights = np.random.default_rng(5).random(len(Y)) + 0.5 if weighted else None
    found = multilabel_scores(Y, kind(P), metrics=FURTHER_METRICS, sample_weight=weights)
    expected = of_scikit_learn(Y, P, weights)
    assert {*found} - {*expected} == {"one_error", "calibration_error"}
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name


def test_scikit_learn_counts_what_is_undefined_as_0(example):
    Y, P = example
    Y, P = np.column_stack([Y, np.zeros((40, 2), dtype=int)]), np.column_stack([P, np.zeros(40), np.ones(40)])
    found = multilabel_scores(Y, P, metrics=["f1_macro", "precision_macro", "recall_macro", "average_precision_macro"])
    expected = of_scikit_learn(Y[:, :-2], P[:, :-2], None)["average_precision_macro"]
    assert found["average_precision_macro"] == pytest.approx(expected)  # a label that cannot be scored is left out
    assert found["f1_macro"] == pytest.approx(metrics.f1_score(Y, P > 0.5, average="macro", zero_division=0))


@pytest.mark.parametrize("kind", KINDS)
def test_unmeasured_labels_take_no_part(example, kind):
    """Labels or samples without unmeasured cells score as alone, and a wholly unmeasured one is left out."""
    Y, P = example
    whole = np.where(np.arange(6) == 3, np.nan, Y.astype(float))
    whole[7] = np.nan
    kept = np.ix_(np.arange(40) != 7, np.arange(6) != 3)
    found, expected = (
        multilabel_scores(*each, metrics=FURTHER_METRICS) for each in ((whole, kind(P)), (Y[kept], P[kept]))
    )
    assert found == pytest.approx(expected, abs=1e-12)
    gone = np.random.default_rng(8).random(Y.shape) < 0.3
    found = multilabel_scores(np.where(gone, np.nan, Y), kind(P), metrics=["f1_macro", "f1_samples", "roc_auc_macro"])
    f1_of = {"zero_division": 0}
    by_label = [metrics.f1_score(y[~no], p[~no] > 0.5, **f1_of) for y, p, no in zip(Y.T, P.T, gone.T, strict=True)]
    by_row = [metrics.f1_score(y[~no], p[~no] > 0.5, **f1_of) for y, p, no in zip(Y, P, gone, strict=True) if any(~no)]
    areas = [metrics.roc_auc_score(y[~no], p[~no]) for y, p, no in zip(Y.T, P.T, gone.T, strict=True)]
    assert [*found.values()] == pytest.approx([np.mean(by_label), np.mean(by_row), np.mean(areas)])


@pytest.mark.parametrize("kind", KINDS)
def test_one_error_and_calibration_error_against_loops(example, kind):
    Y, P = example
    found = multilabel_scores(Y, kind(P), metrics=["one_error", "calibration_error"])
    is_wrong = [1 in (p == p.max()) * (y == 0) for y, p in zip(Y, P, strict=True) if y.any()]
    assert found["one_error"] == pytest.approx(np.mean(is_wrong))
    bins = np.minimum(np.floor(P.ravel() * N_BINS), N_BINS - 1)
    gaps = [abs((P.ravel() - Y.ravel())[bins == each].sum()) for each in range(N_BINS)]
    assert found["calibration_error"] == pytest.approx(sum(gaps) / Y.size)


@pytest.mark.parametrize("kind", KINDS)
def test_of_complete_labels_corrected_scores_are_the_scores(example, kind):
    Y, P = example
    names = [name for name, metric in FURTHER_METRICS.items() if metric.correction is not None]
    assert {"f1_macro", "precision_micro", "recall_macro", "brier_score"} <= {*names}
    expected = multilabel_scores(Y, P, metrics=names)
    assert corrected_scores(Y, kind(P), 1.0, metrics=names) == pytest.approx(expected, abs=1e-12)


def test_corrections_of_hidden_labels_are_close():
    rng = np.random.default_rng(0)
    P = rng.beta(0.5, 1.5, size=(20000, 3))
    Y = (rng.random(P.shape) < P).astype(int)
    observed = Y * (rng.random(P.shape) < 0.5)
    names = ["precision_micro", "recall_micro", "precision_macro", "brier_score", "f1_macro"]
    expected = multilabel_scores(Y, P, metrics=names)
    assert corrected_scores(observed, P, 0.5, metrics=names) == pytest.approx(expected, abs=0.02)
