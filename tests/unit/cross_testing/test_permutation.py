import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from fairfold.cross_testing.permutation import P_VALUE_FORMS, p_values


def test_forms_by_hand():
    # Two are above, three tie and five are below.
    permuted = np.array([0.9, 0.8, 0.7, 0.7, 0.7, 0.6, 0.5, 0.5, 0.4, 0.1])
    found = p_values(0.7, permuted, draw=0.25)
    assert found == {"classical": 5 / 10, "mid": 3.5 / 10, "randomized": (2 + 0.25 * 4) / 11, "exact": 6 / 11}
    assert tuple(found) == P_VALUE_FORMS


def test_the_draw_spans_the_exact_p_values_without_and_with_ties():
    permuted = np.array([3, 2, 2, 1])
    assert p_values(2, permuted, 0.0)["randomized"] == 1 / 5
    assert p_values(2, permuted, 1 - 1e-12)["randomized"] == pytest.approx(p_values(2, permuted, 0)["exact"])


def test_rounding_makes_no_difference_between_equal_scores():
    score, permuted = 0.1 + 0.2, np.array([0.3, 0.3 + 1e-12, 0.29])
    assert score != permuted[0]
    assert p_values(score, permuted, 0.5)["mid"] == 1 / 3


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 4, 6), rng.integers(1, 5, 5)

    def difference(x, y, axis):
        return np.mean(y, axis=axis) - np.mean(x, axis=axis)

    def run(n_resamples):
        return permutation_test(
            samples, difference, vectorized=True, n_resamples=n_resamples, alternative="greater", rng=seed
        )

    drawn = run(199)
    assert p_values(drawn.statistic, drawn.null_distribution, 0.5)["exact"] == pytest.approx(drawn.pvalue)
    listed = run(np.inf)  # all orders, including the observed one
    assert p_values(listed.statistic, listed.null_distribution, 0.5)["classical"] == pytest.approx(listed.pvalue)


@pytest.mark.parametrize(("n", "n_values"), [(10, 3), (30, 6), (99, 1000)])
def test_the_level_is_exact(n, n_values):
    """Exchangeable scores with ties are significant with probability alpha."""
    rng, alpha, n_repeats = np.random.default_rng(n), 0.05, 20_000
    scores, draws = rng.integers(0, n_values, (n_repeats, n + 1)), rng.random(n_repeats)
    found = [p_values(row[0], row[1:], draw) for row, draw in zip(scores, draws, strict=True)]
    significant = {form: sum(p[form] <= alpha for p in found) for form in P_VALUE_FORMS}
    low, high = binom.interval(0.999, n_repeats, alpha)
    assert low <= significant["randomized"] <= high
    assert significant["exact"] <= high
    if n == 10:  # the check fails without the observed order and without the random draw
        paper = sum(
            np.sum(row[1:] > row[0]) + u * np.sum(row[1:] == row[0]) <= alpha * n
            for row, u in zip(scores, draws, strict=True)
        )
        assert paper > high
        assert significant["exact"] < low
