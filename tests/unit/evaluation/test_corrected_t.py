import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from statsmodels.stats.power import TTestPower

from fairfold.errors import ModelError
from fairfold.evaluation.corrected_t import (
    correlation_of_cross_validations,
    correlation_of_folds,
    detectable_difference,
    equivalence_probabilities,
    one_sided_p_values,
)


@pytest.fixture
def ahead():
    return np.random.default_rng(0).normal(0.3, 1, size=(3, 4, 6))


def test_without_correlation_it_is_scipys_paired_t_test(ahead):
    a = np.random.default_rng(1).normal(size=ahead.shape)
    expected = stats.ttest_rel(a + ahead, a, axis=-1, alternative="greater").pvalue
    np.testing.assert_allclose(one_sided_p_values(ahead), expected, rtol=1e-9)


@pytest.mark.parametrize("n_splits", [2, 5, 10])
def test_folds_have_the_variance_of_nadeau_and_bengio(ahead, n_splits):
    """The factor of Nadeau and Bengio is 1 / J + n_test / n_train."""
    n_test, n_train = 1 / n_splits, 1 - 1 / n_splits
    t = ahead.mean(axis=-1) / np.sqrt(ahead.var(axis=-1, ddof=1) * (1 / 6 + n_test / n_train))
    found = one_sided_p_values(ahead, correlation=correlation_of_folds(n_splits))
    np.testing.assert_allclose(found, stats.t.sf(t, 5), rtol=1e-9)


def test_correlation_of_cross_validations_is_that_of_means_of_folds():
    """For 2 k scores with correlation 1 / k in two groups, divide the covariance of means by the variance of a mean."""
    for k in (2, 5, 10):
        covariance = np.full((2 * k, 2 * k), 1 / k) + (1 - 1 / k) * np.eye(2 * k)
        weights = np.repeat(np.eye(2), k, axis=1) / k
        of_means = weights @ covariance @ weights.T
        assert correlation_of_cross_validations(k) == pytest.approx(of_means[0, 1] / of_means[0, 0])


def test_level_is_kept_where_scores_correlate_as_assumed():
    k, n_studies = 5, 20_000
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(n_studies, 1)) * np.sqrt(1 / k)
    scores = shared + rng.normal(size=(n_studies, k)) * np.sqrt(1 - 1 / k)
    share = (one_sided_p_values(scores, correlation=correlation_of_folds(k)) < 0.05).mean()
    assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / n_studies)
    assert (one_sided_p_values(scores) < 0.05).mean() > 0.1


def test_differences_that_do_not_vary_are_certain():
    found = one_sided_p_values(np.array([[0.25] * 3, [-0.25] * 3, [0] * 3, [0.1, np.nan, 0.2]]), correlation=0.2)
    np.testing.assert_array_equal(found, [0, 1, 1, np.nan])


@pytest.mark.parametrize(
    ("n_scores", "correlation", "message"),
    [(1, 0, "at least 2 scores of each method, found 1"), (5, 1, "correlation is 1"), (5, -0.1, "correlation is -0.1")],
)
def test_refusals(n_scores, correlation, message):
    with pytest.raises(ModelError, match=message):
        one_sided_p_values(np.zeros((2, n_scores)), correlation=correlation)


# Each entry has scores and the probabilities of baycomp's two_on_single: left, rope, right.
BAYCOMP = json.loads((Path(__file__).parent / "baycomp.json").read_text())["cases"]


@pytest.fixture
def leads():
    return np.random.default_rng(0).normal(0.01, 0.02, size=(3, 4, 6))


@pytest.mark.parametrize("case", BAYCOMP)
def test_numbers_are_those_of_baycomp(case):
    leads = np.array(case["y"]) - case["x"]
    found = equivalence_probabilities(leads, rope=case["rope"], correlation=correlation_of_folds(case["n_splits"]))
    np.testing.assert_allclose(found, case["probabilities"], atol=1e-12)


def test_numbers_are_those_of_the_installed_baycomp():
    baycomp = pytest.importorskip("baycomp")
    x, y = np.random.default_rng(3).normal(0.7, 0.02, (2, 30))
    found = equivalence_probabilities(y - x, rope=0.005, correlation=0.1)
    np.testing.assert_allclose(found, baycomp.two_on_single(x, y, rope=0.005, runs=3), atol=1e-12)


def test_masses_are_those_of_the_density(leads):
    """By definition, integrate Student's t distribution around the mean, with the corrected variance."""
    for found, values in zip(
        zip(*(part.ravel() for part in equivalence_probabilities(leads, correlation=0.2)), strict=True),
        leads.reshape(-1, 6),
        strict=True,
    ):
        scale = np.sqrt(values.var(ddof=1) * (1 / 6 + 0.25))
        density = stats.t(5, values.mean(), scale).pdf
        ends = [-np.inf, -0.01, 0.01, np.inf]
        masses = [integrate.quad(density, *pair)[0] for pair in itertools.pairwise(ends)]
        np.testing.assert_allclose(found, masses, atol=1e-7)
        assert sum(found) == pytest.approx(1)


def test_without_a_region_it_is_the_one_sided_test(leads):
    worse, equivalent, better = equivalence_probabilities(leads, rope=0, correlation=0.2)
    np.testing.assert_allclose(worse, one_sided_p_values(leads, correlation=0.2), rtol=1e-9)
    np.testing.assert_allclose(equivalent, 0, atol=1e-12)
    np.testing.assert_allclose(better, 1 - worse, atol=1e-12)


def test_equivalence_of_differences_that_do_not_vary():
    found = equivalence_probabilities(np.array([[0.25] * 3, [-0.25] * 3, [0.125] * 3, [0.1, np.nan, 0.2]]), rope=0.125)
    np.testing.assert_array_equal(found, [[0, 1, 0, np.nan], [0, 0, 1, np.nan], [1, 0, 0, np.nan]])


@pytest.mark.parametrize(
    ("n_scores", "alpha", "power"), [(2, 0.05, 0.8), (5, 0.05, 0.8), (10, 0.01, 0.9), (50, 0.1, 0.5)]
)
def test_without_correlation_the_power_is_that_of_statsmodels(n_scores, alpha, power):
    leads = np.random.default_rng(n_scores).normal(size=n_scores)
    found = detectable_difference(leads, alpha=alpha, power=power)
    has = TTestPower().power(found / leads.std(ddof=1), n_scores, alpha, alternative="two-sided")
    assert has == pytest.approx(power, abs=1e-6)


def test_correlated_scores_ask_for_more_by_the_corrected_error(leads):
    plain, corrected = (detectable_difference(leads, correlation=rho) for rho in (0, 0.2))
    np.testing.assert_allclose(corrected / plain, np.sqrt((1 / 6 + 0.25) * 6))
    np.testing.assert_allclose(detectable_difference(leads + 5, correlation=0.2), corrected)  # only variances count


@pytest.mark.parametrize(("k", "runs"), [(5, 1), (10, 3)])
def test_so_many_simulated_studies_find_it(k, runs):
    """Scores correlate by 1 / k. The difference detectable at their expected variance is found in 80 % of studies."""
    n_studies, n_scores, rho = 20_000, k * runs, 1 / k
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n_studies, 1)) * np.sqrt(rho) + rng.normal(size=(n_studies, n_scores)) * np.sqrt(1 - rho)
    of_unit_variance = np.resize([1.0, -1.0], n_scores)
    of_unit_variance /= of_unit_variance.std(ddof=1)
    difference = detectable_difference(of_unit_variance * np.sqrt(1 - rho), correlation=rho)
    p_values = one_sided_p_values(noise + difference, correlation=rho)
    share = (2 * np.minimum(p_values, 1 - p_values) < 0.05).mean()
    assert abs(share - 0.8) < 4 * np.sqrt(0.8 * 0.2 / n_studies)


def test_what_does_not_vary_is_seen_at_once():
    found = detectable_difference(np.array([[0.25] * 3, [0.1, np.nan, 0.2]]), correlation=0.2)
    np.testing.assert_array_equal(found, [0, np.nan])
    assert detectable_difference(np.array([0.1, 0.3]), alpha=0.5, power=0.5) == 0


@pytest.mark.parametrize(
    ("n_scores", "options", "message"),
    [
        (1, {}, "at least 2 scores of each method, found 1"),
        (5, {"correlation": 1}, "correlation is 1"),
        (5, {"rope": -0.1}, "rope: .* found -0.1"),
        (5, {"rope": np.nan}, "rope: .* found nan"),
        (5, {"power": 1}, "alpha is 0.05 and power 1"),
        (5, {"alpha": 0}, "alpha is 0 and power"),
    ],
)
def test_refusals_of_equivalence(n_scores, options, message):
    function = detectable_difference if {"power", "alpha"} & set(options) else equivalence_probabilities
    with pytest.raises(ModelError, match=message):
        function(np.zeros((2, n_scores)), **options)
