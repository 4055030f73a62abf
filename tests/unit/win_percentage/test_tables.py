import numpy as np
import pytest

from fairfold.win_percentage import (
    PerformanceHistogram,
    null_interval,
    p_values,
    permutation_interval,
    permutation_p_values,
)
from fairfold.win_percentage.tables import random_label_table, win_table

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


def test_each_null_counts_the_random_labels_outside_its_interval(permuted):
    table = random_label_table(permuted, [1, 10], n_features=40, dataset="d", alpha=0.1).set_index("null")
    assert list(table.index) == ["pairs", "features", "estimated", "permutations"]
    assert table["n_labelings"].eq(130).all() and table["n_independent"].tolist()[:2] == [300, 40]
    wins = np.stack([each.win_percentage([1, 10]) for each in permuted])
    low, high = (bound[:, None] for bound in null_interval(300, [1, 10], 3, alpha=0.1, n_independent=40))
    outside = (wins < low) | (wins > high)
    row = table.loc["features"]
    assert row["share_of_cells"] == outside.mean()
    assert row["share_at_one_draw"] == outside[:, 0].any(axis=1).mean()
    assert row["share_at_any"] == outside.any(axis=(1, 2)).mean()
    # The test is valid: each of the 3 classifiers is outside with probability 0.1 / 2, and 130 labelings vary.
    assert table.loc["permutations", "share_at_one_draw"] < 0.25
    few = random_label_table(permuted[:30], [1, 10], n_features=40, dataset="d", alpha=0.1)
    assert "permutations" not in set(few["null"])
