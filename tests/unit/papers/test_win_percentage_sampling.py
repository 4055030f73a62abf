from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairfold.core.seeds import seed_sequence
from fairfold.errors import DataError, ModelError
from fairfold.papers import win_percentage_sampling
from fairfold.papers.win_percentage_sampling import (
    band,
    fit_rmse_law,
    rank_weights,
    sampled_win_percentages,
    sampling_errors,
    sampling_example,
    sampling_laws,
    synthetic_rmse,
)
from fairfold.win_percentage import (
    PerformanceHistogram,
    effective_sets,
    win_percentage,
)
from fairfold.win_percentage.win import draws_grid


@pytest.fixture(scope="module")
def histogram():
    """Return 200,000 feature sets of six classifiers with 400 performance levels, some tied."""
    rng = np.random.default_rng(0)
    performance = rng.binomial(400, 0.5, size=(200_000, 6)) / 400 + [0, 0, 0, 0, 0.01, 0.01]
    top = performance.max(axis=1)
    return PerformanceHistogram.from_sets(top, performance == top[:, None])


def test_sampled_win_percentages_are_win_percentage_of_the_drawn_sets():
    means, deviations, n = [0.5, 0.6, 0.7], [0.2, 0.1, 0.05], [1, 3, 50]
    found = sampled_win_percentages(means, deviations, 40, n, n_trials=5, rng=np.random.default_rng(3))
    rng = np.random.default_rng(3)
    best = rng.integers(3, size=(5, 40), dtype=np.int8)
    performance = rng.normal(np.array(means)[best], np.array(deviations)[best])
    for trial in range(5):
        expected = win_percentage(performance[trial], best[trial][:, None] == np.arange(3), n)
        assert found[trial] == pytest.approx(expected, rel=1e-12)


def test_of_the_two_printed_errors_the_synthetic_study_gives_the_second():
    # The test uses 3 of the 100 trials and 25 of the 100 distributions, which vary by 0.4 and 0.12 %. The paper prints
    # 4.2 % and 1.0 %. An error proportional to 1 / √M cannot reach the first.
    table = synthetic_rmse(n_distributions=25, n_trials=3)
    errors = np.sqrt((table["rmse"] ** 2).groupby(table["n_sampled"]).mean())
    assert errors[1_000] == pytest.approx(0.031, abs=0.009)
    assert errors[10_000] == pytest.approx(0.0095, abs=0.0028)
    assert errors[1_000] / errors[10_000] == pytest.approx(np.sqrt(10), rel=0.15)


def test_synthetic_errors_of_one_draw_are_binomial():
    table = synthetic_rmse([400], [1], n_distributions=2, n_trials=2_000)
    # The expected share of 400 sets is a third. With 2 x 2,000 trials, the error of the root mean square is 1 %.
    assert table["rmse"].item() == pytest.approx(np.sqrt(2 / 9 / 400), rel=0.05)
    assert table.drop(columns="rmse").to_dict("records") == [{"source": "synthetic", "n_sampled": 400, "n_draws": 1}]


def test_a_synthetic_distribution_does_not_depend_on_the_others_or_on_m():
    def squares(count, n_sampled=(100,), **options):
        table = synthetic_rmse(n_sampled, [10], n_distributions=count, n_trials=3, **options)
        return count * table["rmse"].to_numpy() ** 2

    assert squares(1, (50, 100))[1] == pytest.approx(squares(1)[0])
    assert squares(2)[0] > squares(1)[0]
    assert squares(1) == squares(1)
    assert squares(1) != squares(1, random_state=1)


def test_synthetic_distributions_are_those_of_the_paper(monkeypatch):
    seen = []

    def spy(distributions, n_draws, *, weights):
        seen.extend((d.mean(), d.std()) for d in distributions)
        assert np.ptp(weights) == 0
        return np.full((len(n_draws), len(distributions)), 1 / 3)

    monkeypatch.setattr(win_percentage_sampling, "theoretical_win_percentage", spy)
    synthetic_rmse([10], [2], n_distributions=100, n_trials=1)
    means, deviations = np.transpose(seen)
    assert means.size == 300
    # Kolmogorov-Smirnov test of 300 values at 0.001.
    assert stats.kstest(means, stats.norm(0.5, 0.1).cdf).pvalue > 0.001
    assert stats.kstest(deviations, stats.halfnorm(0, 0.1).cdf).pvalue > 0.001


def test_sampling_a_full_evaluation_follows_the_law_of_the_paper(histogram):
    options = {"n_sampled": [1_000, 10_000], "n_draws": [1, 10, 100, 1_000], "n_trials": 60, "random_state": 0}
    table = sampling_errors(histogram, "many", **options)
    law = 0.24 * (table["n_draws"] / table["n_sampled"]) ** 0.48
    ratio = table["rmse"] / law
    assert ((ratio > 1 / 1.5) & (ratio < 1.5)).all()
    assert set(table["source"]) == {"many"}


def test_errors_of_samples_are_those_of_the_effective_number_of_sets():
    rng = np.random.default_rng(0)
    winner = rng.integers(3, size=100_000)
    sets = PerformanceHistogram.from_sets(np.arange(100_000.0), winner[:, None] == np.arange(3))
    options = {"n_sampled": [500], "n_draws": [1, 10, 50], "n_trials": 400, "random_state": 0}
    table = sampling_errors(sets, "null", **options)
    # All classifiers are equal: variance 2 / 9 over K; 400 trials of 3 values, and the shares of the full evaluation.
    assert table["rmse"].to_numpy() == pytest.approx(np.sqrt(2 / 9 / effective_sets(500, [1, 10, 50])), rel=0.08)


def test_the_fit_finds_the_law_and_looks_at_n_up_to_m_only():
    m, n = (side.ravel() for side in np.meshgrid([100, 1000], [1, 10, 100, 1000]))
    rmse = np.where(n > m, 7.0, 0.24 * (n / m) ** 0.48)
    table = pd.DataFrame({"source": "law", "n_sampled": m, "n_draws": n, "rmse": rmse})
    assert fit_rmse_law(table) == pytest.approx((0.24, 0.48))
    none = pd.DataFrame({"source": "law", "n_sampled": [100], "n_draws": [50], "rmse": [0.0]})
    assert fit_rmse_law(pd.concat([table, none])) == pytest.approx((0.24, 0.48))
    with pytest.raises(DataError, match="1 different N / M"):
        fit_rmse_law(table[table["n_draws"] / table["n_sampled"] == 0.1])


def test_a_band_leaves_half_of_the_rest_on_each_side():
    lower, upper = band(np.arange(201.0)[:, None]).values()
    assert (lower.item(), upper.item()) == pytest.approx((5, 195))


@pytest.mark.parametrize(("m", "n"), [(4, 1), (4, 3), (3, 4)])
def test_rank_weights_are_those_of_all_draws(m, n):
    best = np.array([min(drawn) for drawn in product(range(1, m + 1), repeat=n)])
    expected = [np.mean(best == rank) for rank in range(1, m + 1)]
    table = rank_weights([m], [n])
    assert table["weight"].to_numpy() == pytest.approx(expected)
    assert table["rank"].tolist() == list(range(1, m + 1))


def test_rank_weights_of_many_sets_keep_their_precision():
    weights = rank_weights([10**8], [1, 10**6]).set_index(["n_draws", "rank"])["weight"]
    assert weights[1].to_numpy() == pytest.approx(np.full(len(weights[1]), 1e-8), rel=1e-12)
    # exp(-N (r - 1) / M) (1 - exp(-N / M)), with a relative error of N / M².
    assert weights[10**6, 1] == pytest.approx(-np.expm1(-0.01), rel=1e-7)
    assert weights.index.get_level_values("rank").max() == 10**8
    assert len(weights[1]) < 200


def test_draws_go_up_to_the_largest_sample(histogram):
    options = {"n_sampled": [10, 30], "n_trials": 2, "random_state": 3}
    errors = sampling_errors(histogram, "d", **options)
    assert errors["n_draws"].unique().tolist() == draws_grid(30).tolist()


def test_refusals():
    with pytest.raises(ModelError, match="n_draws: found 0"):
        synthetic_rmse([10], [0])


def test_laws_of_each_source_and_of_all():
    n_draws = np.array([1, 10, 100])
    tables = [
        pd.DataFrame(
            {"source": source, "n_sampled": 1000, "n_draws": n_draws, "rmse": factor * (n_draws / 1000) ** 0.5}
        )
        for source, factor in (("a", 0.2), ("b", 0.8))
    ]
    laws = sampling_laws(pd.concat(tables)).set_index("source")
    np.testing.assert_allclose(laws.loc[["all", "a", "b"], "factor"], [0.4, 0.2, 0.8])
    np.testing.assert_allclose(laws["exponent"], 0.5)


def test_samples_above_the_number_of_sets_are_left_out_of_the_law():
    n_draws = np.array([1, 10, 100, 1000])
    ratio = n_draws / 1000
    good = pd.DataFrame({"source": "a", "n_sampled": 1000, "n_draws": n_draws, "rmse": 0.24 * ratio**0.48})
    small = good.assign(source="b", rmse=0.01 * ratio)
    laws = sampling_laws(pd.concat([good, small]), {"b": 999})
    assert laws["source"].tolist() == ["all", "a"]
    np.testing.assert_allclose(laws[["factor", "exponent"]], [[0.24, 0.48]] * 2)
    assert sampling_laws(pd.concat([good, small]), {"b": 1000})["source"].tolist() == ["all", "a", "b"]


def test_the_example_is_the_wanted_dataset_or_the_one_with_the_most_sets():
    rng = np.random.default_rng(0)
    few, many = (
        PerformanceHistogram.from_sets(rng.random(size), np.eye(2)[rng.integers(2, size=size)]) for size in (20, 50)
    )
    both = {"few": few, "many": many}
    table = sampling_example(both, ["x", "y"], dataset="few", n_trials=30, random_state=3)
    assert (
        set(table["dataset"]) == {"few"} and set(table["n_sampled"]) == {40} and table["requested_dataset"].isna().all()
    )
    draws = np.unique(table["n_draws"])
    rng = np.random.default_rng(seed_sequence(3, "sample", 40))
    found = np.stack([few.sample(40, random_state=rng).win_percentage(draws) for _ in range(30)])
    np.testing.assert_allclose(table["mean"], found.mean(axis=0).ravel())
    np.testing.assert_allclose(table["standard_error"], found.std(axis=0, ddof=1).ravel() / np.sqrt(30))
    np.testing.assert_allclose(table["win_percentage"], few.win_percentage(draws).ravel())
    for wanted in (None, "absent"):
        table = sampling_example(both, ["x", "y"], dataset=wanted, n_sampled=1_000, n_trials=2)
        assert set(table["dataset"]) == {"many"} and set(table["n_sampled"]) == {1_000}
        assert table["requested_dataset"].iloc[0] == wanted and table["n_draws"].max() == 1_000
