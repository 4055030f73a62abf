"""Test the estimated share of wrong positives, their rates and which positives are dropped."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from fairfold.evaluation.scores import multilabel_scores
from fairfold.models import load_model, make_model
from fairfold.models import wrong_positives as of
from fairfold.models.wrong_positives import likely_wrong, noise_floor, probability_right, wrong_positive_rates
from fairfold.weak_labels import mask_positives

FEW = {"n_trees": 30, "max_levels": 1}


def binormal(n_samples, seed, distances=(1.5, 2.0, 2.5, 3.0, 2.0, 2.5)):
    """Return labels with a tenth to a third of positives, and scores that follow the assumed likelihood."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, len(distances))) < np.linspace(0.1, 0.33, len(distances))).astype(np.int8)
    return Y, norm.cdf(rng.normal(size=Y.shape) + Y * distances)


def simulated(n_samples, seed):
    """Return features and six labels that are nearly a function of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 6))
    scores = X @ np.random.default_rng(9).normal(size=(6, 6)) + 0.3 * rng.normal(size=(n_samples, 6))
    return X, (scores > np.linspace(1, 3, 6)).astype(np.int8)


# --- rates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("wrong", [0.0, 0.1, 0.2])
def test_rates_are_those_that_were_drawn(missing, wrong):
    """With 1,000 to 2,500 observed positives, the standard error of a share is at most .02.

    The estimate is two standard errors below the share.
    """
    Y, P = binormal(2000, 1)
    observed = mask_positives(Y, missing, wrong_positives=wrong, random_state=2)
    share, frequency = wrong_positive_rates(observed, P)
    assert max(wrong - 0.08, 0) <= share <= wrong + 0.02 * (wrong > 0)
    assert abs(frequency - (1 - missing)) < 0.11  # next value of the grid


def test_hard_positives_are_not_wrong_ones():
    Y, P = binormal(1000, 3, distances=(0.5, 0.8, 0.6, 1.0))
    assert wrong_positive_rates(Y, P)[0] == 0
    at_bottom = np.sort(P[:, 3])[250]
    assert (Y[P[:, 3] < at_bottom, 3]).sum() > 10  # many are in the lowest quarter


def test_confirmed_negatives_and_unmeasured_cells():
    Y, P = binormal(2000, 1)
    observed = mask_positives(Y, 0.3, wrong_positives=0.1, random_state=2)
    assert wrong_positive_rates(observed, P, "confirmed")[1] == 1
    hidden = np.random.default_rng(0).random(Y.shape) < 0.3
    found = wrong_positive_rates(np.where(hidden, np.nan, observed), P)
    assert found == wrong_positive_rates(np.where(hidden, np.nan, observed), np.where(hidden, 0.5, P))
    assert 0.02 <= found[0] <= 0.12


@pytest.mark.parametrize("observed", [np.zeros((20, 2)), np.ones((20, 2)), np.full((20, 2), np.nan)])
def test_labels_that_say_nothing(observed):
    assert wrong_positive_rates(observed, np.random.default_rng(0).random((20, 2))) == (0.0, 1.0)


def test_density_ratios_are_those_at_the_quantiles_of_a_mixture():
    for i, j, b in ((40, 8, 10), (80, 4, 50), (91, 16, 60), (10, 0, 30)):
        prevalence, distance, rank = of._PREVALENCES[i], of.DISTANCES[j], of._RANKS[b]

        def cdf(x, p=prevalence, d=distance, r=rank):
            return (1 - p) * norm.cdf(x) + p * norm.cdf(x - d) - r

        at = brentq(cdf, -8, 12)
        expected = norm.pdf(at - distance) / norm.pdf(at)
        np.testing.assert_allclose(of._density_ratios()[i, j, b], expected, rtol=2e-3)


def test_the_likelihood_is_that_of_a_plain_loop():
    Y, P = binormal(150, 5, distances=(2.0, 1.0, 3.0))
    counts, shares = of._rank_counts(Y, P)
    np.testing.assert_array_equal(counts.sum(axis=1), Y.sum(axis=0))
    wrong, frequency = 0.1, 0.7
    of_labels = np.zeros((3, len(of.DISTANCES)))
    for label in range(3):
        prevalence = shares[label] * (1 - wrong) / frequency
        near = np.abs(np.log(of._PREVALENCES / prevalence)).argmin()
        for j in range(len(of.DISTANCES)):
            for b in np.flatnonzero(counts[label]):
                ratio, p = of._density_ratios()[near, j, b], of._PREVALENCES[near]
                density = ((1 - wrong) * ratio + wrong) / (1 - p + p * ratio)
                of_labels[label, j] += counts[label, b] * np.log(density)
    mixture = np.full(len(of.DISTANCES), 1 / len(of.DISTANCES))
    for _ in range(of._STEPS):
        new = np.full(len(mixture), 0.1 / len(mixture))
        for label in range(3):
            joint = mixture * np.exp(of_labels[label] - of_labels[label].max())
            new += joint / joint.sum()
        mixture = new / 3.1
    expected = sum(np.log(np.sum(mixture * np.exp(row - row.max()))) + row.max() for row in of_labels)
    assert of._log_likelihood(counts, shares, wrong, frequency) == pytest.approx(expected, rel=1e-9)


# --- wrong positives --------------------------------------------------------------------------------------------------


def test_as_many_are_wrong_as_the_share_says():
    """Sums of P(observed | x) P(wrong | observed, x) over samples equal rho times the zeros, the wrong positives."""
    rng = np.random.default_rng(0)
    positive, c, w = rng.random((400, 3)) ** 3, 0.7, 0.15
    n_right = c * positive.sum(axis=0)
    floor = w / (1 - w) * n_right / (1 - positive).sum(axis=0)
    observed_proba = floor + (c - floor) * positive
    right = probability_right(observed_proba, floor, c)
    np.testing.assert_allclose((observed_proba * (1 - right)).sum(axis=0), floor * (1 - positive).sum(axis=0))
    np.testing.assert_allclose((observed_proba * (1 - right)).sum(axis=0) / observed_proba.sum(axis=0), w)
    assert (probability_right(observed_proba, np.zeros(3), c) == 1).all()


def test_the_floor_is_wrong_positives_over_zeros():
    observed = np.zeros((100, 3))
    observed[:20, 0] = observed[:90, 1] = 1
    observed[50:, 2] = np.nan
    observed[:10, 2] = 1
    found = noise_floor(observed, 0.1, 0.9)
    assert found[0] == pytest.approx(0.1 * 20 / (100 - 20))  # 18 of 20 positives are right
    assert found[1] == pytest.approx(0.9 * 0.9)  # 9 of 10 zeros are wrong, above 0.9 c
    assert found[2] == pytest.approx(0.1 * 10 / (50 - 10))
    assert (noise_floor(observed, 0.0, 0.9) == 0).all()


def test_the_worst_are_dropped_first_and_no_label_loses_its_best():
    observed = np.array([[1, 1, 0], [1, 0, 1], [1, 1, np.nan], [1, 0, 1], [0, 1, 1]])
    right = np.array([[0.1, 0.2, 0.0], [0.2, 0.0, 0.3], [0.9, 0.3, 0.0], [0.4, 0.0, 0.6], [0.0, 0.4, 0.45]])
    whole = likely_wrong(observed, right, 1.0)
    expected = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    np.testing.assert_array_equal(whole, expected)  # the second label keeps its last, at 0.4
    few = likely_wrong(observed, right, 0.2)  # of ten
    assert few.sum() == 2 and few[0, 0] and (few[0, 1] or few[1, 0])
    assert not likely_wrong(observed, right, 0.0).any()


# --- the model --------------------------------------------------------------------------------------------------------


def test_wrong_positives_are_found_and_cost_less():
    X, Y = simulated(900, 0)
    observed = mask_positives(Y[:600], 0.2, wrong_positives=0.2, random_state=0)
    model = make_model("PML+", **FEW, random_state=0).fit(X[:600], observed)
    inner, wrong = model.estimator_, (observed == 1) & (Y[:600] == 0)
    assert 0.1 <= inner.wrong_share_ <= 0.24
    assert (observed[inner.dropped_] == 1).all()
    assert inner.dropped_.sum() <= inner.wrong_share_ * observed.sum()
    assert wrong[inner.dropped_].mean() > 0.7  # by chance 0.2
    assert inner.dropped_[wrong].mean() > 0.3
    plain = make_model("gcForest+", **FEW, random_state=0).fit(X[:600], observed)
    ours, base = (multilabel_scores(Y[600:], each.predict_proba(X[600:])) for each in (model, plain))
    assert ours["average_precision"] > base["average_precision"]


def test_without_wrong_positives_it_is_its_base():
    X, Y = simulated(400, 1)
    model = make_model("PML+", **FEW, random_state=0).fit(X[:300], Y[:300])
    plain = make_model("gcForest+", **FEW, random_state=0).fit(X[:300], Y[:300])
    inner = model.estimator_
    assert inner.wrong_share_ == 0 and not inner.dropped_.any() and len(inner.estimators_) == 1
    np.testing.assert_array_equal(model.predict_proba(X[300:]), plain.predict_proba(X[300:]))


def test_settings_are_kept(tmp_path):
    X, Y = simulated(400, 0)
    observed = mask_positives(Y, 0.0, wrong_positives=0.2, random_state=0)
    observed = observed.astype(float)
    observed[:40, 0] = np.nan
    whole = make_model("PML+", **FEW, random_state=0, negatives="confirmed").fit(X, observed).estimator_
    assert whole.label_frequency_ == 1 and len(whole.estimators_) == 2
    assert all(each.negatives == "confirmed" for each in whole.estimators_)
    assert not whole.dropped_[:40, 0].any()
    once = make_model("PML+", **FEW, random_state=0, drops=False).fit(X, observed)
    assert len(once.estimator_.estimators_) == 1 and once.estimator_.dropped_.any()
    once.save(tmp_path / "model")
    read = load_model(tmp_path / "model")
    assert not hasattr(read.estimator_, "dropped_") and not hasattr(read.estimator_, "unseen_proba_")
    np.testing.assert_array_equal(read.predict_proba(X), once.predict_proba(X))


def test_labels_without_meaning_stay_at_chance():
    """With 1,800 pairs of sample and label, a third of them positive, the standard error of AUROC is .014."""
    X, Y = simulated(900, 2)
    Y = np.random.default_rng(0).permutation(Y)
    model = make_model("PML+", **FEW, random_state=0).fit(X[:600], Y[:600])
    assert not model.estimator_.dropped_.any()
    aucs = roc_auc_score(Y[600:], model.predict_proba(X[600:]), average=None)
    assert abs(np.mean(aucs) - 0.5) < 0.05
