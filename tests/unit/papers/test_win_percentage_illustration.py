import numpy as np
import pytest
from scipy import integrate, stats

from fairfold.errors import ModelError
from fairfold.papers.win_percentage_illustration import (
    GAUSSIANS,
    exact_win_percentages,
    illustrative_curves,
    joint_densities,
)
from fairfold.win_percentage import PerformanceHistogram


def test_the_leader_changes_where_the_paper_states_but_for_one_draw():
    n = np.arange(2, 3000)
    wins = exact_win_percentages(n)
    leader = np.array(list(GAUSSIANS))[wins.argmax(axis=1)]
    assert GAUSSIANS == {"c1": (0.50, 0.20), "c2": (0.70, 0.07), "c3": (0.75, 0.02)}  # equation 1
    assert set(leader[n <= 10]) == {"c3"}
    assert set(leader[(n > 11) & (n <= 26)]) == {"c2"}
    assert set(leader[n >= 27]) == {"c1"}
    # The paper prints that c2 leads from 11 on.
    assert wins[n == 11][0] == pytest.approx([0.2496, 0.3742, 0.3762], abs=1e-4)
    assert exact_win_percentages([1])[0] == pytest.approx(np.full(3, 1 / 3), abs=1e-9)


def test_exact_win_percentages_are_the_integral_of_equation_7():
    gaussians = [stats.norm(*each) for each in GAUSSIANS.values()]

    def integrand(s, n, k):
        return n * np.mean([each.cdf(s) for each in gaussians]) ** (n - 1) * gaussians[k].pdf(s) / 3

    for n in (2, 26):
        for k in range(3):
            exact = integrate.quad(integrand, -1, 2, args=(n, k), points=[0.5, 0.7, 0.75, 0.9], limit=400)[0]
            assert exact_win_percentages([n])[0, k] == pytest.approx(exact, abs=1e-7)


def test_joint_densities_are_a_third_of_the_density_of_each():
    table = joint_densities(n_points=101)
    assert list(table) == ["classifier", "performance", "density"]
    for name, (mean, deviation) in GAUSSIANS.items():
        part = table[table["classifier"] == name]
        assert part["density"].to_numpy() == pytest.approx(stats.norm.pdf(part["performance"], mean, deviation) / 3)
        assert part["performance"].iloc[[0, -1]].tolist() == [0, 1]


def test_the_band_holds_the_exact_curve_and_is_as_wide_as_estimates_scatter():
    table = illustrative_curves([1, 5, 26, 100], n_sampled=2000, n_iterations=400)
    assert list(table) == ["n_draws", "classifier", "win_percentage", "lower", "upper"]
    assert list(table["classifier"]) == ["c1", "c2", "c3"] * 4
    assert table["win_percentage"].to_numpy() == pytest.approx(exact_win_percentages([1, 5, 26, 100]).ravel())
    assert (table["lower"] < table["win_percentage"]).all() and (table["win_percentage"] < table["upper"]).all()
    # At N = 1 an estimate is a binomial share of 2,000 sets. The error of a 2.5 % quantile of 400 is about 8 %.
    half = stats.norm.ppf(0.975) * np.sqrt(2 / 9 / 2000)
    width = (table["upper"] - table["lower"])[table["n_draws"] == 1]
    assert width.to_numpy() == pytest.approx(np.full(3, 2 * half), rel=0.2)


def test_the_band_narrows_with_more_sets():
    def width(**options):
        table = illustrative_curves([20], n_iterations=400, **options)
        return (table["upper"] - table["lower"]).mean()

    wide = width(n_sampled=500)
    assert width(n_sampled=8000) == pytest.approx(wide / 4, rel=0.25)  # square root; about 8 % error of 400 bands


def test_curves_are_of_drawn_feature_sets_like_these():
    rng = np.random.default_rng(0)
    means, deviations = np.transpose(list(GAUSSIANS.values()))
    best = rng.integers(3, size=400_000)
    sets = PerformanceHistogram.from_sets(rng.normal(means[best], deviations[best]), best[:, None] == np.arange(3))
    # K is 30,000 at N = 26, with a standard error below 0.003.
    assert sets.win_percentage([2, 26]) == pytest.approx(exact_win_percentages([2, 26]), abs=0.012)


def test_same_seed_same_table_and_another_seed_another():
    one, two, other = (illustrative_curves([5], n_sampled=50, n_iterations=9, random_state=seed) for seed in (1, 1, 2))
    assert one.equals(two)
    assert not one.equals(other)


def test_refusals():
    with pytest.raises(ModelError, match=r"n_draws: found 0\. The value must be finite and at least 1"):
        illustrative_curves([0], n_sampled=10, n_iterations=2)
