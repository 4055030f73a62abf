import numpy as np
import pytest
from scipy import stats

from fairfold.errors import ModelError, StudyError
from fairfold.win_percentage import (
    PerformanceHistogram,
    best_probability,
    effective_sets,
    independent_sets,
    null_interval,
    p_values,
    permutation_interval,
    permutation_p_values,
    win_percentage,
)


@pytest.mark.parametrize("n_sets", [1, 7, 1000])
def test_effective_sets_are_one_over_the_sum_of_squared_weights(n_sets):
    share = np.arange(n_sets + 1) / n_sets
    for n in (1, 2, 5, 40, 3000):
        assert effective_sets(n_sets, n) == pytest.approx(1 / np.sum(np.diff(share**n) ** 2), rel=1e-10)


def test_effective_sets_of_many_sets_have_a_closed_form():
    n = np.array([1, 2, 3, 10, 100, 1e3, 1e4, 2e4, 4e4, 1e6, 1e10])
    exact = [1 / np.sum(best_probability(np.ones(20_000, dtype=int), k) ** 2) for k in n]
    assert effective_sets(20_000, n) == pytest.approx(exact, rel=2e-5)
    assert effective_sets(10**8, 1000) == pytest.approx(2 * 10**8 / 1000, rel=1e-3)  # 2 M / N, except for 1 / N
    assert effective_sets(10**8, 1e10) == pytest.approx(1)


@pytest.fixture(scope="module")
def null():
    """Return win percentages of 3 equal classifiers from 300 sets each, in 20,000 studies."""
    rng, n_draws, n_sets, n_studies = np.random.default_rng(0), [1, 3, 10, 30], 300, 20_000
    weights = np.stack([best_probability(np.ones(n_sets, dtype=int), n) for n in n_draws])
    winner = rng.integers(3, size=(n_studies, n_sets))
    return n_draws, np.stack([(winner == c) @ weights.T for c in range(3)], axis=2)


def test_the_simulated_null_is_win_percentage():
    rng = np.random.default_rng(1)
    winner = rng.integers(3, size=300)
    weights = best_probability(np.ones(300, dtype=int), 10)
    wins = win_percentage(np.arange(300.0), winner[:, None] == np.arange(3), 10)
    assert [(winner == c) @ weights for c in range(3)] == pytest.approx(wins, rel=1e-12)


def test_null_has_the_mean_and_variance_of_the_beta_distribution(null):
    n_draws, wins = null
    # The error of a variance from 20,000 values is about 1 %.
    expected = (1 / 3) * (2 / 3) / effective_sets(300, n_draws)
    assert wins[..., 0].var(axis=0) == pytest.approx(expected, rel=0.05)
    assert wins.mean(axis=0) == pytest.approx(np.full((4, 3), 1 / 3), abs=0.005)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_intervals_cover_as_they_state(null, alpha):
    n_draws, wins = null
    low, high = null_interval(300, n_draws, 3, alpha=2 * alpha)
    outside = ((wins < low[:, None]) | (wins > high[:, None])).mean(axis=0)
    # K is 300 to 20. The tolerance covers the missing skewness of the beta distribution and an error of 0.0015.
    assert outside == pytest.approx(np.full((4, 3), alpha), rel=0.2)


def test_bonferroni_divides_by_the_degrees_of_freedom(null):
    n_draws, wins = null
    low, high = null_interval(300, n_draws, 3)
    any_outside = ((wins < low[:, None]) | (wins > high[:, None])).any(axis=2).mean(axis=0)
    # Each of three classifiers is outside with a chance of 0.05 / 2: together at most 0.075, and more than 0.05.
    assert (any_outside < 0.08).all() and (any_outside > 0.05).all()


def test_critical_values_of_six_are_at_half_a_percent_on_each_side():
    low, high = null_interval(1_000_000, [10], 6)
    sets = 1 / np.sum(best_probability(np.ones(1_000_000, dtype=int), 10) ** 2)
    null = stats.beta((sets - 1) / 6, (sets - 1) * 5 / 6)  # Equations 12 to 14
    assert np.ravel([low, high]) == pytest.approx(null.ppf([0.005, 0.995]), rel=1e-4)


def test_p_values_are_uniform_and_agree_with_intervals(null):
    n_draws, wins = null
    p = p_values(wins[0], 300, n_draws)
    assert p.shape == wins[0].shape
    for study in wins[:300]:
        low, high = null_interval(300, n_draws, 3)
        outside = (study < low[:, None]) | (study > high[:, None])
        assert np.array_equal(p_values(study, 300, n_draws) < 0.05, outside)
    found = np.array([p_values(w, 300, n_draws)[1, 0] for w in wins[:2000]])
    for level in (0.1, 0.5, 0.9):  # adjusted for two degrees of freedom; five standard errors
        assert abs(np.mean(found <= level) - level / 2) < 0.056
    assert p_values([0.9, 0.1], 1000, 10)[1] == pytest.approx(p_values([0.9, 0.1], 1000, 10)[0])
    assert p_values([0.5, 0.5], 1000, 10).tolist() == [1, 1]  # twice the median, twice by Bonferroni


def test_winning_by_the_single_best_set_proves_nothing():
    low, high = null_interval(100, [1, 1e6], 6)
    assert (low[1], high[1]) == (0, 1) and 0 < low[0] < 1 / 6 < high[0] < 1
    # The best set belongs to this classifier with a chance of 1/6.
    assert (p_values(np.eye(6)[:1], 100, [1e6]) == 1).all()


def test_p_values_and_intervals_agree_on_few_effective_sets():
    n_draws = [10, 30, 60, 100, 150, 600]  # 100 sets: K is 19 to 1
    low, high = null_interval(100, n_draws, 6)
    for first in (0, 1e-9, 0.01, 0.5, 0.99, 1 - 1e-9, 1):
        wins = np.tile([first] + [(1 - first) / 5] * 5, (6, 1))
        outside = (wins < low[:, None]) | (wins > high[:, None])
        assert np.array_equal(p_values(wins, 100, n_draws) < 0.05, outside)


def test_few_effective_sets_raise_no_false_alarm():
    rng = np.random.default_rng(2)
    for n in (60, 150, 600):  # 100 sets: K is 3.4, 1.6, 1.005
        weights = best_probability(np.ones(100, dtype=int), n)
        wins = (rng.integers(6, size=(20_000, 100)) == 0) @ weights
        low, high = null_interval(100, n, 6)
        assert np.mean((wins < low) | (wins > high)) < 0.05 / 5 + 4 * np.sqrt(0.05 / 5 / 20_000)


def test_pairs_count_as_independent_features():
    n_features = 200
    n_pairs = n_features * (n_features - 1) // 2
    corrected = null_interval(n_pairs, [1, 10], 6, n_independent=n_features)
    assert np.array_equal(corrected, null_interval(n_features, [1, 10], 6))
    assert (corrected[0] < null_interval(n_pairs, [1, 10], 6)[0]).all()
    wins = np.full((2, 6), [0.25, 0.15, 0.15, 0.15, 0.15, 0.15])
    p = p_values(wins, n_pairs, [1, 10], n_independent=n_features)
    assert np.array_equal(p, p_values(wins, n_features, [1, 10]))
    assert (p > p_values(wins, n_pairs, [1, 10])).any()


@pytest.mark.parametrize("copies", [1, 5])
def test_copies_of_a_set_are_not_independent(copies):
    rng = np.random.default_rng(0)
    winners = np.eye(6)[rng.integers(6, size=(400, 60))]
    permuted = [
        PerformanceHistogram.from_sets(np.ones(60 * copies), np.repeat(each, copies, axis=0)) for each in winners
    ]
    # The variance of 400 permutations and five free classifiers varies by sqrt(2 / 2000).
    assert independent_sets(permuted) == pytest.approx(60, rel=0.1)


def test_independent_sets_need_two_permutations():
    with pytest.raises(ModelError, match="found 1 permutations"):
        independent_sets([PerformanceHistogram.from_sets([0.5], [[1, 0]])])


def test_permutation_null():
    rng = np.random.default_rng(3)
    permuted = rng.dirichlet(np.ones(3), size=(999, 2))
    observed = np.array([[0.999, 0.001, 0.0], [0.05, 0.9, 0.05]])
    p = permutation_p_values(observed, permuted)
    assert p.shape == (2, 3)
    assert p[1, 1] == 2 * 2 * (1 + np.sum(permuted[:, 1, 1] >= 0.9)) / 1000 < 1
    low, high = permutation_interval(permuted)
    for study in (observed, permuted[0], permuted[1], low, high, low - 1e-8, high + 1e-8):
        outside = (study < low) | (study > high)
        assert np.array_equal(permutation_p_values(study, permuted) <= 0.05, outside)
    assert ((permuted < low) | (permuted > high)).mean() <= 0.05 / 2


def test_permutations_that_differ_by_rounding_are_ties():
    above, below = np.tile([0.1 + 0.2, 0.7], (19, 1)), np.tile([0.3, 0.7], (19, 1))
    for observed, permuted in ((below[0], above), (above[0], below)):
        assert permutation_p_values(observed, permuted).tolist() == [1, 1]


def test_permutation_interval_keeps_order_statistics():
    # Two classifiers need no adjustment. With 5 % on each side of 19, the limits are the lowest and the highest.
    permuted = np.linspace(0.2, 0.8, 19)[:, None] * [1, -1] + [0, 1]
    low, high = permutation_interval(permuted[np.random.default_rng(4).permutation(19)], alpha=0.1)
    assert low == pytest.approx([0.2, 0.2]) and high == pytest.approx([0.8, 0.8])
    with pytest.raises(ModelError, match=r"18 permutations.*at least 19"):
        permutation_interval(permuted[:18], alpha=0.1)


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: null_interval(0, 1, 2), "n_sets: found 0"),
        (lambda: null_interval(10.5, 1, 2), "n_sets: found 10.5"),
        (lambda: null_interval(10, 0, 2), "n_draws: found 0"),
        (lambda: null_interval(10, 1, 1), "n_classifiers: found 1"),
        (lambda: null_interval(10, 1, 2, alpha=0), "alpha: found 0"),
        (lambda: null_interval(10, 1, 2, alpha=1), "alpha: found 1"),
        (lambda: null_interval(10, 1, 2, n_independent=11), "at most n_sets, 10"),
        (lambda: null_interval(10, 1, 2, n_independent=0), "n_independent: found 0"),
        (lambda: effective_sets(10, np.nan), "n_draws: found nan"),
        (lambda: p_values([0.5, 0.5], 10, [1]), "one row for each N"),
        (lambda: p_values([0.5, np.nan], 10, 1), "found nan"),
        (lambda: p_values([1.5, -0.5], 10, 1), "fractions"),
        (lambda: p_values([1.0], 10, 1), "2 or more classifiers"),
        (lambda: permutation_p_values([0.5, 0.5], [0.5, 0.5]), "n_permutations"),
        (lambda: permutation_p_values([0.5, 0.5], [[0.5, 0.3, 0.2]]), "in each permutation, expected"),
        (lambda: permutation_interval([[0.5, 0.5]]), "1 permutations"),
    ],
)
def test_bad_input(call, says):
    with pytest.raises(StudyError, match=says):
        call()
