import numpy as np
import pytest

from fairfold.win_percentage import (
    PerformanceHistogram,
    null_interval,
    p_values,
    permutation_interval,
    permutation_p_values,
)
from fairfold.win_percentage.tables import (
    win_table,
)

NAMES = ("NC", "LDA", "QDA")


@pytest.fixture(scope="module")
def histogram():
    rng = np.random.default_rng(0)
    performance = rng.integers(50, 90, size=(300, 3)) / 100 + [0, 0, 0.03]
    top = performance.max(axis=1)
    return PerformanceHistogram.from_sets(top, performance == top[:, None])


@pytest.fixture(scope="module")
def permuted(histogram):
    return [histogram.sample(300, random_state=seed) for seed in range(130)]


def test_the_numbers_of_figure_5_are_those_of_their_functions(histogram, permuted):
    n, options = [1, 10, 1000], {"alpha": 0.1}
    table = win_table(histogram, NAMES, n, dataset="d", n_independent=40, permuted=permuted, **options)
    assert list(table) == [
        *("dataset", "n_draws", "classifier", "win_percentage", "null_lower", "null_upper", "p_value"),
        *("permuted_lower", "permuted_upper", "permuted_p_value"),
    ]
    wins = histogram.win_percentage(n)
    chance = np.stack([each.win_percentage(n) for each in permuted])
    low, high = null_interval(300, n, 3, n_independent=40, **options)
    lower, upper = permutation_interval(chance, **options)
    expected = {
        "win_percentage": wins,
        "null_lower": np.repeat(low, 3),
        "null_upper": np.repeat(high, 3),
        "p_value": p_values(wins, 300, n, n_independent=40),
        "permuted_lower": lower,
        "permuted_upper": upper,
        "permuted_p_value": permutation_p_values(wins, chance),
    }
    for name, values in expected.items():
        assert table[name].to_numpy() == pytest.approx(np.ravel(values)), name
    assert table["classifier"].tolist() == list(NAMES) * 3
    assert table["n_draws"].tolist() == np.repeat(n, 3).tolist()
    assert table.groupby("n_draws")["win_percentage"].sum().to_numpy() == pytest.approx(np.ones(3))


def test_without_permutations_their_columns_are_empty(histogram):
    table = win_table(histogram, NAMES, [1, 2], dataset="d")
    assert table.filter(like="permuted").isna().all(axis=None)
    assert table.filter(regex="^(win|null|p_)").notna().all(axis=None)
