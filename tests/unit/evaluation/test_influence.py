"""Influences of samples equal numeric derivatives, for every metric, weights, unmeasured labels and sparse input."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.evaluation.influence import FoldScorer, jackknife
from fairfold.metrics.registry import METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import CORRECTED, corrected_scores

SMOOTH = [name for name, metric in METRICS.items() if metric.influence is not None]
INVERSE = np.array([1.0, 2.0, 1.5, 3.0, 2.5, 1.2, 1.1])


def made(seed=0, n=40, n_labels=7, unmeasured=False, ties=True):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, n_labels))
    Y = (latent + rng.normal(size=latent.shape) > 0.4).astype(float)
    P = 1 / (1 + np.exp(-latent))
    if ties:
        P = np.round(P, 1)
    if unmeasured:
        Y[rng.random(Y.shape) < 0.2] = np.nan
    return Y, P, rng.uniform(0.5, 2, size=n)


def derivative(score, weights, step=1e-5):
    """Return weight times the central difference by each weight."""
    found = []
    for i, weight in enumerate(weights):
        moved = [np.where(np.arange(len(weights)) == i, weight * (1 + sign * step), weights) for sign in (1, -1)]
        found.append((score(moved[0]) - score(moved[1])) / (2 * step))
    return np.array(found)


@pytest.mark.parametrize("metric", SMOOTH)
@pytest.mark.parametrize("unmeasured", [False, True])
def test_influences_are_derivatives(metric, unmeasured):
    Y, P, weights = made(unmeasured=unmeasured)
    found = FoldScorer(metric, inverse_propensity=INVERSE).influence(Y, P, weights, np.arange(len(Y)))

    def score(w):
        given = {"sample_weight": w, "inverse_propensity": INVERSE}
        return multilabel_scores(Y, P, metrics=[metric], **given)[metric]

    expected = derivative(score, weights)
    # The error of the central differences is of the order of their squared step.
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert abs(found.sum()) < 1e-7
    if metric not in ("precision_at_1", "subset_accuracy"):
        assert np.abs(found).max() > 1e-4


@pytest.mark.parametrize("metric", SMOOTH)
def test_sparse_input_has_the_same_influences(metric):
    Y, P, weights = made()
    P = np.where(P < 0.4, 0, P)
    dense, stored = (
        FoldScorer(metric, inverse_propensity=INVERSE).influence(*given, weights, np.arange(len(Y)))
        for given in ((Y, P), (sparse.csr_array(Y), sparse.csr_array(P)))
    )
    np.testing.assert_allclose(stored, dense, atol=1e-12)


@pytest.mark.parametrize("metric", [name for name in CORRECTED if name != "ranking_loss"])
@pytest.mark.parametrize("kind", ["one", "labels", "cells"])
def test_influences_on_corrected_scores_are_derivatives(metric, kind):
    Y, P, weights = made(seed=3)
    rng = np.random.default_rng(1)
    c = {"one": np.array(0.8), "labels": rng.uniform(0.7, 1, 7), "cells": rng.uniform(0.7, 1, Y.shape)}[kind]
    Y = Y * (rng.random(Y.shape) < c)
    P = (P + 2 * rng.random(P.shape)) / 3  # No estimate for a label exceeds 1, where corrected scores are clipped.
    found = FoldScorer(metric, frequency=c).influence(Y, P, weights, np.arange(len(Y)))

    def score(w):
        return corrected_scores(Y, P, c, metrics=[metric], sample_weight=w)[metric]

    np.testing.assert_allclose(found, derivative(score, weights), atol=1e-7)


@pytest.mark.parametrize("metric", ["average_precision", "roc_auc", "mcc", "f1_macro", "ranking_loss"])
def test_sum_of_squares_is_the_variance_of_the_jackknife(metric):
    Y, P, _ = made(n=400, ties=False)
    scorer, units = FoldScorer(metric), np.arange(400)
    analytic = scorer.influence(Y, P, None, units)
    numeric = jackknife(lambda rows: scorer.score(Y, P, None, rows), units)
    # 50 blocks give a standard error with a relative standard deviation of 10 %.
    assert np.sqrt((numeric**2).sum() / (analytic**2).sum()) == pytest.approx(1, abs=0.3)
    few = np.arange(60)
    analytic = scorer.influence(Y[few], P[few], None, few)
    exact = np.array([scorer.score(Y[few], P[few], None, np.delete(few, i)) for i in few])
    # Terms of second order are of the relative size 1 / n.
    assert (exact.var() * 59 / (analytic**2).sum()) == pytest.approx(1, abs=0.15)


def test_influence_of_a_metric_without_a_formula_leaves_out_whole_groups():
    Y, P, _ = made(n=60)
    groups = np.repeat(np.arange(20), 3)
    found = FoldScorer("coverage_at_1").influence(Y, P, None, groups)
    of_groups = np.bincount(groups, found)
    without = [FoldScorer("coverage_at_1").score(Y, P, None, np.flatnonzero(groups != g)) for g in range(20)]
    assert (of_groups**2).sum() == pytest.approx(19 / 20 * ((without - np.mean(without)) ** 2).sum())


def test_slope_is_the_derivative_by_the_label_frequency():
    Y, P, _ = made(seed=3)
    f = FoldScorer("average_precision", frequency=np.array(0.7))
    low, high = (
        corrected_scores(Y, P, c, metrics=["average_precision"])["average_precision"] for c in (0.6999, 0.7001)
    )
    assert f.slope(Y, P, None) == pytest.approx((high - low) / np.log(0.7001 / 0.6999), rel=1e-3)
    assert FoldScorer("average_precision").slope(Y, P, None) == 0
