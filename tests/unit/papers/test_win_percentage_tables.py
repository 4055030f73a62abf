import numpy as np
import pytest
from scipy import stats

from fairfold.papers import win_percentage_tables
from fairfold.papers.win_percentage_tables import (
    classifier_table,
    dataset_row,
    density_table,
    draws_table,
)
from fairfold.win_percentage import (
    GAUSSIAN_CLASSIFIERS,
    PerformanceHistogram,
)

NAMES = ("NC", "LDA", "QDA")


def test_table_2_has_the_ten_printed_numbers():
    printed = {
        1e-3: ["0.999", "0.499", "0.0667", "0.00688", "0.000691"],
        1e-6: ["1", "0.749", "0.129", "0.0137", "0.00138"],
    }
    table = draws_table()
    for epsilon, part in table.groupby("epsilon"):
        assert part["n_draws"].tolist() == [1, 10, 100, 1_000, 10_000]
        assert part["p"].map("{:.3g}".format).tolist() == printed[epsilon]
    assert ((1 - table["p"]) ** table["n_draws"]).to_numpy() == pytest.approx(table["epsilon"].to_numpy(), rel=1e-9)


def test_the_six_classifiers_are_three_covariances_pooled_and_not():
    table = classifier_table()
    assert table["classifier"].tolist() == list(GAUSSIAN_CLASSIFIERS)
    shapes = ["spherical", "diagonal", "full"]
    assert table["covariance"].tolist() == shapes * 2
    assert table["pooled"].tolist() == [True] * 3 + [False] * 3
    assert table["degrees_of_freedom"].tolist() == [5, 6, 7, 6, 8, 10]  # as in Table 4
    assert table["name"].nunique() == 6
    # Three classes of four features have 12 means and 1, 4 or 10 parameters per covariance.
    assert classifier_table(3, 4)["degrees_of_freedom"].tolist() == [13, 16, 22, 15, 24, 42]


def test_a_row_of_a_dataset():
    X, y = np.zeros((7, 9)), list("bbabbba")
    row = dataset_row("west", "breast cancer, 7 samples", X, y, kept=[0, 3, 4, 8])
    assert row.to_dict("records") == [
        {
            "dataset": "west",
            "title": "breast cancer, 7 samples",
            "n_samples": 7,
            "n_first": 2,
            "n_second": 5,
            "n_features": 9,
            "n_gaussian": 4,
            "n_pairs": 6,
        }
    ]


@pytest.fixture
def pairs():
    """Return 2,000 pairs, some of which several classifiers reach."""
    rng = np.random.default_rng(0)
    winners = rng.random((2000, 3)) < [0.6, 0.3, 0.1]
    winners[~winners.any(axis=1), 0] = True
    return rng.beta(8, 5, size=300)[rng.integers(0, 300, size=2000)], winners


def test_densities_are_scipys_with_the_bandwidth_that_is_stated(pairs, monkeypatch):
    monkeypatch.setattr(win_percentage_tables, "BANDWIDTH", 0.03)  # many bins, whose width matters little
    performance, winners = pairs
    histogram = PerformanceHistogram.from_sets(performance, winners)
    table = density_table(histogram, NAMES, dataset="d")
    assert list(table) == ["dataset", "classifier", "performance", "pairs", "density"]
    for name, won in zip(NAMES, (winners / winners.sum(axis=1, keepdims=True)).T, strict=True):
        part = table[table["classifier"] == name]
        kernels = stats.norm.pdf(part["performance"].to_numpy()[:, None], performance, 0.03)
        expected = kernels @ won / len(performance)
        inside = part["performance"].between(0.2, 0.88)  # six and four bandwidths from the ends
        # Counting in bins of width w first adds w² / 12 to the variance: 0.06 %.
        assert part["density"][inside].to_numpy() == pytest.approx(expected[inside], rel=0.01, abs=0.01)
        assert part["pairs"].sum() == pytest.approx(won.sum())


def test_densities_integrate_to_one_over_all_classifiers_also_at_the_ends():
    winners = [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
    table = density_table(PerformanceHistogram.from_sets([0.0, 0.5, 1.0], winners, [5, 4, 3]), NAMES, dataset="d")
    spacing = np.unique(np.diff(table["performance"][:400]).round(12))
    assert spacing == pytest.approx([0.0025])
    areas = table.groupby("classifier", sort=False)["density"].sum() * 0.0025
    assert areas.to_numpy() == pytest.approx([7 / 12, 3 / 12, 2 / 12])
    assert (table["density"] >= 0).all()
    last = table[table["classifier"] == NAMES[1]]["density"].iloc[-1]
    assert last == pytest.approx(2 * 3 / 12 * stats.norm.pdf(0, scale=0.01), rel=0.02)  # half a Gaussian, reflected


def test_pairs_are_in_the_bins_of_their_performance():
    table = density_table(PerformanceHistogram.from_sets([0.301, 0.7], [[1], [1]], [4, 9]), ["NC"], dataset="d")
    counted = table[table["pairs"] > 0]
    assert counted["pairs"].tolist() == [4, 9]
    assert (counted["performance"] - [0.301, 0.7]).abs().max() <= 0.00125 + 1e-9
