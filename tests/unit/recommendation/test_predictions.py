"""Test tables of out-of-fold predictions against scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_curve

from fairfold.core.arrays import most_common_labels
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.predictions import (
    MOST_LABELS,
    decisions,
    first_cross_validation,
    precision_recall,
    reliability,
)


@pytest.fixture
def data():
    """Return labels and probabilities with ties and gaps."""
    rng = np.random.default_rng(0)
    P = rng.random((200, 3)).round(2)
    Y = (rng.random(P.shape) < P).astype(float)
    Y[:20, 0] = np.nan
    P[-10:] = np.nan
    return Y, P


def known(Y, P, label):
    is_known = np.isfinite(Y[:, label]) & np.isfinite(P[:, label])
    return Y[is_known, label], P[is_known, label]


def test_decisions_are_confusion_matrices(data):
    Y, P = data
    table = decisions(Y, P, ["a", "b", "c"]).set_index(["label", "threshold"])
    for label, name in enumerate("abc"):
        y, p = known(Y, P, label)
        for threshold in (0.07, 0.5, 0.99):
            (tn, fp), (fn, tp) = confusion_matrix(y, p > threshold, labels=[0, 1])
            row = table.loc[name, threshold]
            assert (row["n"], row["n_positives"], row["n_predicted"], row["n_true_positives"]) == (
                len(y),
                tp + fn,
                tp + fp,
                tp,
            )
            assert row["n"] - row["n_positives"] - row["n_predicted"] + row["n_true_positives"] == tn


def test_points_lie_on_the_curve_of_precision_and_recall(data):
    Y, P = data
    curves = precision_recall(Y, P, ["a", "b", "c"])
    for label, name in enumerate("abc"):
        y, p = known(Y, P, label)
        curve = curves[curves["label"] == name]
        precision, recall, _ = precision_recall_curve(y, p)
        points = set(zip(recall.round(9), precision.round(9), strict=True))
        assert set(zip(curve["recall"].round(9), curve["precision"].round(9), strict=True)) <= points
        assert curve["recall"].iloc[-1] == 1
        assert len(curve) <= 40
        area = (curve["recall"].diff().fillna(curve["recall"].iloc[0]) * curve["precision"]).sum()
        assert area == pytest.approx(average_precision_score(y, p), abs=0.02)
        assert curve["share"].iloc[0] == y.mean()


def test_labels_without_positives_have_no_curve():
    assert precision_recall(np.zeros((3, 1)), np.full((3, 1), 0.5), ["a"]).empty


def test_reliability_pools_labels(data):
    Y, P = data
    table = reliability(Y, P)
    is_known = np.isfinite(Y) & np.isfinite(P)
    assert table["n"].sum() == is_known.sum()
    in_bin = is_known & (P >= 0.3) & (P < 0.4)
    row = table[table["bin"] == 3].iloc[0]
    assert row["probability"] == pytest.approx(P[in_bin].mean())
    assert row["share"] == pytest.approx(Y[in_bin].mean())


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_labels_with_the_most_positives_are_described(form):
    Y = np.zeros((3, MOST_LABELS + 2))
    Y[0, 2:] = 1
    assert most_common_labels(form(Y), MOST_LABELS).tolist() == list(range(2, MOST_LABELS + 2))


def test_one_cross_validation_of_several_is_shown():
    fold_of = np.array([[0, 1, -1], [1, 0, -1]])
    P = np.arange(12.0).reshape(1, 2, 3, 2)
    kept = np.zeros((len(BASIC_METRICS), 4), dtype=np.int8)
    found = first_cross_validation(FinalPredictions(P, kept, fold_of), "mcc", np.array([1]))
    np.testing.assert_array_equal(found, [[1], [3], [np.nan]])


def test_descriptions_use_probabilities_where_the_score_selects_decisions():
    probabilities = np.array([[0.2], [0.7]])
    kept = np.vstack([np.zeros((len(BASIC_METRICS), 1)), np.ones((1, 1))]).astype(np.int8)
    predicted = FinalPredictions(np.stack([probabilities, probabilities > 0.5]), kept, np.zeros(2, dtype=int))
    assert first_cross_validation(predicted, "f1_macro", np.array([0])).tolist() == probabilities.tolist()
