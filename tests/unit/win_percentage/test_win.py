import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, special, stats

from fairfold.errors import ModelError, StudyError
from fairfold.win_percentage import (
    PerformanceHistogram,
    best_probability,
    draws_needed,
    theoretical_win_percentage,
    win_percentage,
)

PERFORMANCE = np.array([0.7, 0.5, 0.7, 0.9, 0.5])
WINNERS = np.array([[1, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 1, 0]])
MANY_DRAWS = np.concatenate([np.arange(1, 30), np.logspace(1.5, 10, 40)])


def enumerated(performance, winners, n_draws):
    """Compute the mean over all searches. Ties between drawn sets and between winners are shared equally."""
    totals = [Fraction(0)] * winners.shape[1]
    searches = list(itertools.product(range(len(performance)), repeat=n_draws))
    for drawn in searches:
        top = max(performance[s] for s in drawn)
        best = [s for s in drawn if performance[s] == top]
        for s in best:
            for c in np.flatnonzero(winners[s]):
                totals[c] += Fraction(1, len(best) * int(winners[s].sum()))
    return [float(total / len(searches)) for total in totals]


def some_sets(seed, n_sets=2000, n_values=40, n_classifiers=6):
    rng = np.random.default_rng(seed)
    winners = rng.random((n_sets, n_classifiers)) < 0.3
    winners[np.arange(n_sets), rng.integers(n_classifiers, size=n_sets)] = True
    return rng.integers(n_values, size=n_sets) / n_values, winners


@pytest.mark.parametrize("n_draws", [1, 2, 3, 4, 5])
def test_equals_the_mean_over_all_searches(n_draws):
    # A few roundings of numbers below 1.
    expected = enumerated(PERFORMANCE, WINNERS, n_draws)
    assert win_percentage(PERFORMANCE, WINNERS, n_draws) == pytest.approx(expected, abs=1e-14)


def test_equals_simulated_searches():
    performance, winners = some_sets(0, n_sets=50, n_values=20, n_classifiers=3)
    rng, n_searches, n_draws = np.random.default_rng(1), 40_000, 7
    drawn = rng.integers(50, size=(n_searches, n_draws))
    best = drawn[np.arange(n_searches), np.argmax(performance[drawn], axis=1)]  # any of the tied ones may be first
    shares = (winners / winners.sum(axis=1, keepdims=True))[best]
    error = shares.std(axis=0) / np.sqrt(n_searches)
    assert (np.abs(win_percentage(performance, winners, n_draws) - shares.mean(axis=0)) < 4 * error).all()


def test_one_draw_is_the_mean_share_and_many_the_best_set():
    wins = win_percentage(PERFORMANCE, WINNERS, [1, 1e10])
    assert wins[0] == pytest.approx((WINNERS / WINNERS.sum(axis=1, keepdims=True)).mean(axis=0), abs=1e-15)
    assert wins[1] == pytest.approx([0, 0, 1], abs=1e-15)


def test_sums_to_one_and_keeps_the_shape_of_n():
    wins = win_percentage(*some_sets(2), MANY_DRAWS)
    # This is a telescoping sum of up to 40 terms. N log F is below 40 in each, with a relative error of 1e-16.
    assert np.abs(wins.sum(axis=-1) - 1).max() < 1e-12
    assert win_percentage(*some_sets(2), 5).shape == (6,)
    assert win_percentage(*some_sets(2), [[1, 2, 3]]).shape == (1, 3, 6)
    assert np.array_equal(win_percentage(*some_sets(2), [[1, 2, 3]])[0], win_percentage(*some_sets(2), [1, 2, 3]))


def test_nothing_underflows_at_1e10_draws():
    # One of 1e9 sets is best. All draws miss it with probability (1 - 1e-9)^N, which is exp(-10) at 1e10 draws.
    histogram = PerformanceHistogram.from_sets([0.5, 0.9], np.eye(2), [10**9 - 1, 1])
    n = np.array([1.0, 1e3, 1e7, 1e8, 1e9, 1e10])
    wins = histogram.win_percentage(n)
    assert wins[:, 0] == pytest.approx(np.exp(n * np.log1p(-1e-9)), rel=1e-13, abs=0)
    assert wins[:, 1] == pytest.approx(-np.expm1(n * np.log1p(-1e-9)), rel=1e-13, abs=0)


def test_two_neighbors_far_up_are_distinguished():
    # The two best of 1e10 sets are single ones. At 1e10 draws, neither is a difference of rounded numbers.
    counts = np.array([10**10 - 2, 1, 1])
    n = 1e10
    expected = [np.exp(n * np.log1p(-2e-10)), np.exp(-1) - np.exp(-2), 1 - np.exp(-1)]
    assert best_probability(counts, n) == pytest.approx(expected, rel=1e-9)


def test_rank_weights_are_differences_of_powers():
    share = np.arange(1, 11) / 10
    assert best_probability(np.ones(10, dtype=int), 3) == pytest.approx(np.diff(share**3, prepend=0), rel=1e-14)


def test_merged_chunks_equal_the_whole():
    performance, winners = some_sets(3)
    whole = PerformanceHistogram.from_sets(performance, winners)
    chunks = [
        PerformanceHistogram.from_sets(performance[rows], winners[rows])
        for rows in np.array_split(np.random.default_rng(4).permutation(performance.size), 7)
    ]
    merged = PerformanceHistogram.merged(chunks)
    for name in ("performance", "winners", "counts"):
        assert np.array_equal(getattr(merged, name), getattr(whole, name))
    assert np.array_equal(merged.win_percentage(MANY_DRAWS), whole.win_percentage(MANY_DRAWS))


def test_the_histogram_loses_nothing():
    performance, winners = some_sets(5, n_sets=300, n_values=5, n_classifiers=3)
    histogram = PerformanceHistogram.from_sets(performance, winners)
    assert histogram.n_sets == 300 and histogram.n_classifiers == 3
    expected = {}
    for key in zip(performance.tolist(), map(tuple, winners.tolist()), strict=True):
        expected[key] = expected.get(key, 0) + 1
    rows = zip(histogram.performance.tolist(), map(tuple, histogram.winners.tolist()), strict=True)
    assert dict(zip(rows, histogram.counts.tolist(), strict=True)) == expected
    again = PerformanceHistogram.from_sets(histogram.performance, histogram.winners, histogram.counts)
    assert np.array_equal(again.counts, histogram.counts) and np.array_equal(again.winners, histogram.winners)


def test_counts_do_not_round():
    big = 2**60  # floats cannot represent its neighbors
    parts = [PerformanceHistogram.from_sets([0.5], [[1]], [n]) for n in (big, 1)]
    assert PerformanceHistogram.merged(parts).n_sets == big + 1


def test_samples_are_drawn_by_count():
    histogram = PerformanceHistogram.from_sets(*some_sets(6))
    sample = histogram.sample(1000, random_state=0)
    assert sample.n_sets == 1000 and (sample.counts > 0).all()
    assert np.array_equal(sample.counts, histogram.sample(1000, random_state=0).counts)
    many = histogram.sample(10**9, random_state=1)
    # A binomial share of 1e9 draws varies by at most 1.6e-5.
    assert many.win_percentage([1, 30]) == pytest.approx(histogram.win_percentage([1, 30]), abs=1e-3)


@pytest.mark.parametrize("weights", [None, [1, 1, 1]])
@pytest.mark.parametrize("distribution", [stats.norm(), stats.expon(), stats.beta(2, 5), stats.cauchy()])
def test_equal_classifiers_win_equally(distribution, weights):
    wins = theoretical_win_percentage([distribution] * 3, [1, 10, 1e10], weights=weights)
    assert wins == pytest.approx(np.full((3, 3), 1 / 3), abs=1e-12)


def test_power_laws_win_by_their_exponent_at_every_n():
    # F_c = s^a_c: the best of N has F_c^N, and c wins with a_c over the sum of all a.
    distributions = [stats.beta(a, 1) for a in (1, 2, 5)]
    wins = theoretical_win_percentage(distributions, [1, 7, 1e4, 1e10])
    assert wins == pytest.approx(np.tile([1 / 8, 2 / 8, 5 / 8], (4, 1)), abs=1e-10)


def test_exponential_mixture_has_a_closed_form():
    # Weights are equal, and rates are 1 and 2. With z = exp(-s), F = 1 - (z + z^2) / 2 and p(s, 1) ds = z / 2 dz / z.
    # The second therefore wins with the integral over z in (0, 1) of N F^(N-1) z dz.
    nodes, node_weights = np.polynomial.legendre.leggauss(60)
    z = (nodes + 1) / 2
    for n in (1, 2, 5, 20):
        second = np.sum(node_weights / 2 * n * (1 - (z + z**2) / 2) ** (n - 1) * z)
        wins = theoretical_win_percentage([stats.expon(), stats.expon(scale=0.5)], n, weights=[2, 2])
        assert wins == pytest.approx([1 - second, second], abs=1e-12)


def test_independent_exponentials_have_a_closed_form():
    # Rates 1 and 2, z = exp(-s): the first wins with the integral over z in (0, 1) of N (1 - z)^(N-1) (1 - z^2)^N dz.
    wins = theoretical_win_percentage([stats.expon(), stats.expon(scale=0.5)], [1, 2])
    assert wins[:, 0] == pytest.approx([2 / 3, 11 / 15], abs=1e-12)


def test_gaussians_equal_simulated_searches():
    means, deviations, weights = np.array([0.60, 0.66, 0.70]), np.array([0.10, 0.07, 0.04]), np.array([0.2, 0.3, 0.5])
    rng, n_searches, n_draws = np.random.default_rng(7), 40_000, 12
    distributions = [stats.norm(m, s) for m, s in zip(means, deviations, strict=True)]
    classifier = rng.choice(3, p=weights, size=(n_searches, n_draws))
    drawn = rng.normal(means[classifier], deviations[classifier])
    winner = classifier[np.arange(n_searches), drawn.argmax(axis=1)]
    own = rng.normal(means, deviations, size=(n_searches, n_draws, 3)).max(axis=1).argmax(axis=1)
    for won, given in ((winner, weights), (own, None)):
        expected = theoretical_win_percentage(distributions, n_draws, weights=given)
        error = np.sqrt(expected * (1 - expected) / n_searches)
        assert (np.abs(np.bincount(won, minlength=3) / n_searches - expected) < 4 * error).all()


def test_gaussians_equal_adaptive_quadrature_far_in_the_tail():
    wide, narrow = stats.norm(0, 1.05), stats.norm(0.3, 1)

    def integrand(s, n):
        log_cdf = np.log1p(-(wide.sf(s) + narrow.sf(s)) / 2)
        return np.exp(np.log(n) + (n - 1) * log_cdf + wide.logpdf(s)) / 2

    for n in (100, 1e6, 1e10):
        expected = integrate.quad(integrand, 0, 12, args=(n,), epsabs=1e-11, limit=200)[0]
        assert theoretical_win_percentage([wide, narrow], n, weights=[1, 1])[0] == pytest.approx(expected, abs=1e-9)


def test_the_lead_passes_from_the_often_good_to_the_widely_spread():
    distributions = [stats.norm(0.60, 0.10), stats.norm(0.66, 0.07), stats.norm(0.70, 0.04)]
    wins = theoretical_win_percentage(distributions, np.arange(1, 2000), weights=[0.2, 0.3, 0.5])
    leader = wins.argmax(axis=1)
    assert leader[0] == 2 and leader[-1] == 0 and set(leader) == {0, 1, 2}
    assert (np.diff(leader) <= 0).all()


def test_estimates_approach_the_theory():
    distributions = [stats.norm(0.60, 0.10), stats.norm(0.66, 0.07)]
    rng, n_sets, n = np.random.default_rng(8), 100_000, [1, 10, 100]
    drawn = rng.normal([0.60, 0.66], [0.10, 0.07], size=(n_sets, 2))
    estimate = win_percentage(drawn.max(axis=1), drawn == drawn.max(axis=1, keepdims=True), n)
    # The standard error of a weighted mean is at most sqrt(N / (2 M)) / 2 and, at N = 1, sqrt(1 / M) / 2.
    error = np.sqrt(np.maximum(np.array(n) / 2, 1) / n_sets) / 2
    assert (np.abs(estimate - theoretical_win_percentage(distributions, n)) < 4 * error[:, None]).all()


def test_theory_holds_at_the_ends_of_supports():
    n = [1, 100, 1e10]
    apart = theoretical_win_percentage([stats.uniform(0, 1), stats.uniform(2, 1)], n)
    assert np.array_equal(apart.round(12), [[0, 1]] * 3)
    steep = theoretical_win_percentage([stats.beta(2, 1.2), stats.beta(3, 1.2)], n)
    assert np.abs(steep.sum(axis=1) - 1).max() < 1e-12
    # Near 1, the probability above s is proportional to 1 / B(a, 1.2).
    top = 1 / special.beta([2, 3], 1.2)
    assert steep[-1] == pytest.approx(top / top.sum(), abs=1e-5)
    # The weights give the result of one draw, even if the lowest performance equals 1000 after rounding.
    low = theoretical_win_percentage([stats.beta(1.5, 3, loc=1000), stats.beta(1.5, 2, loc=1000)], 1, weights=[1, 3])
    assert low == pytest.approx([0.25, 0.75], abs=1e-6)
    # The upper half wins against the lower one unless all N draws miss it. The density has a jump.
    jump = theoretical_win_percentage([stats.uniform(0, 1), stats.uniform(2, 1)], n, weights=[1, 3])
    assert jump[:, 0] == pytest.approx([0.25, 0, 0], abs=0.005)


@pytest.mark.parametrize(
    "epsilon, p, n",
    [  # classical sample sizes of one-sided tolerance limits (Wilks 1941)
        (0.1, 0.95, 29),
        (0.1, 0.99, 44),
        (0.05, 0.95, 59),
        (0.05, 0.99, 90),
        (0.01, 0.95, 299),
        (0.01, 0.99, 459),
        (0.001, 0.95, 2995),
        (0.5, 0, 1),
    ],
)
def test_draws_needed(epsilon, p, n):
    assert draws_needed(epsilon, p) == n
    assert isinstance(draws_needed(epsilon, p), int)


def test_draws_needed_are_the_fewest_and_broadcast():
    epsilon, p = np.logspace(-9, -0.1, 50)[:, None], np.array([0.01, 0.5, 0.9, 0.999])
    draws = draws_needed(epsilon, p)
    assert draws.shape == (50, 4) and draws.dtype == np.int64
    miss = np.log1p(-epsilon)
    slack = 1e-12  # of the logarithms
    assert (draws * miss <= np.log1p(-p) * (1 - slack)).all()
    assert ((draws - 1) * miss > np.log1p(-p) * (1 + slack)).all()


def test_whole_numbers_of_draws_are_not_rounded_up():
    k = np.arange(1, 50)
    assert np.array_equal(draws_needed(0.5, 1 - 0.5**k), k)


@pytest.mark.parametrize("n_draws", [0, 0.5, -3, np.nan, np.inf, [5, 0], [], "many", None])
def test_bad_numbers_of_draws(n_draws):
    with pytest.raises(StudyError, match="n_draws"):
        win_percentage(PERFORMANCE, WINNERS, n_draws)
    with pytest.raises(StudyError, match="n_draws"):
        theoretical_win_percentage([stats.norm()], n_draws)


@pytest.mark.parametrize(
    "performance, winners, says",
    [
        ([], np.empty((0, 2)), "one or more sets"),
        ([[0.5]], [[1]], r"\(1, 1\).*\(n_sets,\)"),
        (["high"], [[1]], "real numbers"),
        ([0.5, 0.6], [[1, 0], [1]], "winners: rows differ in length"),
        ([0.5, np.nan], np.eye(2), "found nan"),
        ([0.5, 0.6], np.eye(3), r"\(3, 3\).*\(2, n_classifiers\)"),
        ([0.5], np.ones((1, 63)), "1 to 62"),
        ([0.5], [[0.5]], "other than 0 and 1"),
        ([0.5, 0.6], [[1, 0], [0, 0]], "row 1: no classifier wins"),
    ],
)
def test_bad_sets(performance, winners, says):
    with pytest.raises(ModelError, match=says):
        win_percentage(performance, winners, 1)


def test_62_classifiers_fit():
    histogram = PerformanceHistogram.from_sets(np.zeros(62), np.eye(62))
    assert histogram.counts.tolist() == [1] * 62
    assert histogram.win_percentage(3) == pytest.approx(np.full(62, 1 / 62))


@pytest.mark.parametrize(
    "distributions, weights, says",
    [
        ([], None, "one for each classifier"),
        ([stats.norm(), stats.poisson(3)], None, "continuous distributions"),
        ([stats.norm(np.nan, 1)], None, "no density is finite"),
        ([stats.norm()], [1, 2], r"found shape \(2,\)"),
        ([stats.norm(), stats.norm(1)], [1, 0], "found 0"),
    ],
)
def test_bad_distributions(distributions, weights, says):
    with pytest.raises(ModelError, match=says):
        theoretical_win_percentage(distributions, 10, weights=weights)


@pytest.mark.parametrize(
    "epsilon, p", [(0, 0.9), (1, 0.9), (np.nan, 0.9), (0.1, 1), (0.1, -0.1), (1e-300, 0.9), ("few", 0.9)]
)
def test_bad_draws_needed(epsilon, p):
    with pytest.raises(ModelError, match="must be"):
        draws_needed(epsilon, p)
