"""Test for evidence against positives that are missing completely at random."""

import itertools
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import t

from fairfold.errors import ModelError
from fairfold.missing_labels import scar_tests
from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.missing_labels.scar_test import (
    MARGIN,
    TESTS,
    Cells,
    _curves_at,
    _holm,
    _pairs_in_groups,
    _pairs_in_samples,
    _test_of_spread,
)
from fairfold.weak_labels import mask_positives

N, Q = 500, 6
GROUPS = np.random.default_rng(0).integers(0, 25, N)


def labels(seed, dependence=0.0):
    """Return complete labels and their probabilities given the features.

    ``dependence`` scales a sample effect that the features do not contain.
    """
    rng = np.random.default_rng(seed)
    z = rng.normal(scale=3.5, size=(N, Q)) - 1
    shift = dependence * rng.normal(size=(N, 1))
    return (rng.random((N, Q)) < expit(z + shift)).astype(np.int8), expit(z)


@cache
def p_values(mechanism, seed, dependence=0.0, rate=0.5):
    Y, positive = labels(seed, dependence)
    observed = mask_positives(Y, rate, mechanism=mechanism, reference=positive, groups=GROUPS, random_state=seed)
    frequency = frequency_distribution(observed, positive).median
    found = scar_tests(observed, positive, frequency, groups=GROUPS)
    return found.set_index("test")["p_value"]


def by_hand(pairs, sure, unsure, residuals, unit_of_pair):
    """Fit a plain regression over listed pairs, with a sandwich variance of sums over units."""
    first, second = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    x = np.column_stack([part[tuple(first.T)] * part[tuple(second.T)] for part in (sure, unsure)])
    y = residuals[tuple(first.T)] * residuals[tuple(second.T)]
    bread = np.linalg.inv(x.T @ x)
    coefficients = bread @ x.T @ y
    left = x * (y - x @ coefficients)[:, None]
    sums = np.array([left[unit_of_pair == unit].sum(axis=0) for unit in np.unique(unit_of_pair)])
    n = len(sums)
    error = np.sqrt(n / (n - 1) * (bread @ sums.T @ sums @ bread)[0, 0])
    return coefficients[0], t.sf((coefficients[0] - MARGIN) / error, n - 1)


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(3)
    sure, residuals = rng.random((40, 3)), rng.normal(size=(40, 3)) + rng.normal(size=(40, 1))
    return sure, np.sqrt(sure * (1 - sure)), residuals, rng.integers(0, 12, 40)


def test_pairs_of_labels_in_samples_are_a_regression_with_clustered_errors(parts):
    codes = parts[3]
    pairs = [((i, j), (i, k)) for i in range(40) for j, k in itertools.permutations(range(3), 2)]
    for given in (None, codes):
        found = _test_of_spread("samples", lambda x, given=given: _pairs_in_samples(x, given), *parts[:3])
        units = np.array([i if given is None else codes[i] for (i, _), _ in pairs])
        np.testing.assert_allclose((found.estimate, found.p_value), by_hand(pairs, *parts[:3], units))


def test_pairs_in_groups_are_of_different_samples(parts):
    *arrays, codes = parts
    cells = list(itertools.product(range(40), range(3)))
    pairs = [(a, b) for a in cells for b in cells if a[0] != b[0] and codes[a[0]] == codes[b[0]]]
    found = _test_of_spread("groups", lambda x: _pairs_in_groups(x, codes), *arrays)
    expected = by_hand(pairs, *arrays, np.array([codes[a[0]] for a, _ in pairs]))
    np.testing.assert_allclose((found.estimate, found.p_value), expected)


def test_curves_are_those_of_the_labels_at_this_frequency():
    rng = np.random.default_rng(1)
    scores = rng.normal(scale=3, size=(50_000, 2))
    is_observed = rng.random(scores.shape) < 0.4 * expit(scores * [1.5, 0.7] - [1, 0])
    found = _curves_at(Cells(scores, is_observed, np.ones_like(scores)), 0.4)
    np.testing.assert_allclose(logit(found), scores * [1.5, 0.7] - [1, 0], atol=0.6)


@pytest.mark.parametrize(("mechanism", "test"), [("sample", "samples"), ("group", "groups"), ("group", "samples")])
def test_samples_and_groups_that_differ_are_seen(mechanism, test):
    assert max(p_values(mechanism, seed)[test] for seed in range(3)) < 0.05


@pytest.mark.parametrize("dependence", [0.0, 1.5])
@pytest.mark.parametrize("mechanism", ["random", "difficulty", "rarity"])
def test_nothing_is_seen_of_other_mechanisms_or_of_labels_that_depend_on_each_other(mechanism, dependence):
    # The hypothesis has a margin. At its middle, a p-value is far above the level.
    assert min(p_values(mechanism, seed, dependence)[["samples", "groups"]].min() for seed in range(3)) > 0.05


def test_samples_that_differ_are_no_groups_that_do():
    assert min(p_values("sample", seed)["groups"] for seed in range(3)) > 0.05


def test_the_estimate_is_the_relative_variance_of_frequencies():
    # A cell is hidden if its waiting time, exponential with odds u / (1 - u), is below T: see weak_labels.mechanisms.
    def moment(power, T):
        return quad(lambda u: np.exp(-power * T * u / (1 - u)), 0, 1)[0]

    T = brentq(lambda T: moment(1, T) - 0.5, 0.01, 5)
    found = []
    for seed in range(20):
        Y, positive = labels(seed)
        observed = mask_positives(Y, 0.5, mechanism="sample", random_state=seed)
        found.append(scar_tests(observed, positive, 0.5)["estimate"][0])
    assert abs(np.mean(found) - (moment(2, T) / 0.25 - 1)) < 3 * np.std(found, ddof=1) / np.sqrt(len(found))


def test_unmeasured_labels_take_no_part():
    Y, positive = labels(0)
    observed = mask_positives(Y, 0.5, random_state=0)
    wide = np.column_stack([observed, np.full(N, np.nan)]), np.column_stack([positive, np.full(N, 0.9)])
    here = scar_tests(observed, positive, 0.5)
    there = scar_tests(*wide, 0.5)
    np.testing.assert_array_equal(there["p_value"], here["p_value"])
    gone = np.random.default_rng(0).random(Y.shape) < 0.3
    blind = np.where(gone, np.nan, observed), np.where(gone, 0.5, positive)
    other = np.where(gone, np.nan, observed), np.where(gone, 0.99, positive)
    np.testing.assert_allclose(scar_tests(*blind, 0.5)["p_value"], scar_tests(*other, 0.5)["p_value"])


def test_adjusted_p_values_are_holm_s():
    np.testing.assert_allclose(_holm(np.array([0.02, np.nan, 0.01, 0.4])), [0.04, np.nan, 0.03, 0.4])
    np.testing.assert_allclose(_holm(np.array([0.9, 0.8])), [1, 1])


def test_what_cannot_be_tested_has_a_reason():
    Y, positive = labels(0)
    found = scar_tests(Y, positive, 1.0).set_index("test")
    assert list(found.index) == list(TESTS)
    assert found["p_value"].isna().tolist() == [False, True, True] == (found["reason"] != "").tolist()
    assert "no groups" in found.loc["groups", "reason"] and "harder to predict" in found.loc["labels", "reason"]
    few = scar_tests(Y, positive, 1.0, groups=np.arange(N) % 4).set_index("test")
    assert few.loc["groups", "reason"] == "4 groups have pairs of cells; 10 are needed"
    alike = scar_tests(Y, np.full(Y.shape, 0.3), 1.0)
    assert alike["p_value"].isna().all() or alike["p_value"].dropna().between(0, 1).all()
    rare = np.zeros_like(Y)
    rare[:3] = 1
    assert (
        scar_tests(rare, positive, 1.0)["reason"]
        .str.startswith("fewer than two labels have 5 observed positives")
        .all()
    )


def test_labels_that_exclude_or_complement_others_are_no_evidence():
    """In one table each row has one class. In the other a label is the complement of another."""
    rng = np.random.default_rng(0)
    P = np.clip(rng.dirichlet(np.full(4, 0.5), size=400), 0, 1)
    classes = np.array([rng.choice(4, p=p / p.sum()) for p in P])
    found = scar_tests(np.eye(4, dtype=int)[classes], P, 1.0)
    assert found["p_value"].isna().all() and found["reason"].str.contains("exclude nor complement").all()
    Y, positive = labels(0)
    both, chances = np.column_stack([Y, 1 - Y[:, 0]]), np.column_stack([positive, 1 - positive[:, 0]])
    found, expected = scar_tests(both, chances, 1.0), scar_tests(Y[:, 1:], positive[:, 1:], 1.0)
    np.testing.assert_array_equal(found["p_value"], expected["p_value"])


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({"probabilities": np.full((3, 2), 0.5)}, "found shape .* for labels of shape"),
        ({"probabilities": np.full((N, Q), 1.5)}, "from 0 to 1"),
        ({"label_frequency": 0.0}, "above 0 and at most 1"),
        ({"groups": np.arange(3)}, "one for each of the"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(change, messages):
    Y, positive = labels(0)
    with pytest.raises(ModelError, match=messages):
        scar_tests(**{"observed": Y, "probabilities": positive, "label_frequency": 0.5, **change})
