"""Scores equal those of scikit-learn bit by bit, because the operations and their order are the same."""

import numpy as np
import pytest
from sklearn import metrics

from fairfold.evaluation import plain_scores


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
