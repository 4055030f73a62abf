import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.splitting.comparison import (
    describe_labels,
    label_deviations,
    measure_splits,
    summarize_splits,
)
from fairfold.splitting.measures import lower_bound, relative_label_distribution
from fairfold.splitting.methods import repeated_splits


@pytest.fixture
def Y():
    return (np.random.default_rng(0).random((103, 6)) < np.linspace(0.05, 0.7, 6)).astype(np.int8)


def test_size_and_quantiles(Y):
    sizes = Y.sum(axis=0)
    described = describe_labels(sparse.csr_array(Y))
    assert (described["n_samples"], described["n_labels"]) == (103, 6)
    assert described["density"] == pytest.approx(Y.mean())
    assert [described[name] for name in ("min", "median", "max")] == [sizes.min(), np.median(sizes), sizes.max()]
    assert [described["q25"], described["q75"]] == np.percentile(sizes, [25, 75]).tolist()


def test_repeats_differ_and_do_not_depend_on_their_number(Y):
    two, seconds = repeated_splits("OptiSplit-rLD", Y, 4, 2, seed=1, names=("toy",))
    three, _ = repeated_splits("OptiSplit-rLD", Y, 4, 3, seed=1, names=("toy",))
    np.testing.assert_array_equal(two, three[:2])
    assert (two[0] != two[1]).any()
    assert two.shape == (2, 103)
    assert (seconds >= 0).all()
    other, _ = repeated_splits("OptiSplit-rLD", Y, 4, 2, seed=1, names=("other",))
    assert (other != two).any()


def test_measures_of_each_repeat_beside_the_bound(Y):
    folds = np.array([np.arange(103) % 4, np.random.default_rng(0).integers(0, 4, 103)])
    table = measure_splits(folds, Y).set_index(["repeat", "measure"])
    assert table.loc[(1, "rLD"), "value"] == relative_label_distribution(folds[1], Y)
    assert table.loc[(0, "rLD"), "bound"] == lower_bound(Y, 4, "rld")
    assert np.isnan(table.loc[(0, "LD"), "bound"])
    assert table.loc[(0, "largest fold"), "value"] == 26
    assert table.loc[(1, "smallest fold"), "value"] == np.bincount(folds[1]).min()
    assert len(table) == 2 * 6


def test_labels_without_positives_have_no_deviation(Y):
    fold_of = np.arange(103) % 4
    table = label_deviations(fold_of, np.column_stack([Y, np.zeros(103, dtype=np.int8)]))
    assert table["label"].tolist() == list(range(6))
    assert table["positives"].tolist() == Y.sum(axis=0).tolist()
    np.testing.assert_allclose(table["rLD"], relative_label_distribution(fold_of, Y, per_label=True))
    assert (table["rLD"] >= table["rLD_bound"] - 1e-12).all()


def test_mean_and_sd_over_repeats():
    rows = [("b", "IS", 0, "rLD", 2.0, 1.0), ("b", "IS", 1, "rLD", 4.0, 1.0), ("a", "IS", 0, "ED", 1.0, 0.0)]
    quality = pd.DataFrame(rows, columns=["dataset", "splitter", "repeat", "measure", "value", "bound"])
    summary = summarize_splits(quality)
    assert summary["dataset"].tolist() == ["b", "a"]
    assert summary.loc[0, ["mean", "n_repeats", "bound", "mean_over_bound"]].tolist() == [3, 2, 1, 3]
    assert summary.loc[0, "sd"] == pytest.approx(np.sqrt(2))
    assert summary.loc[1, ["sd", "mean_over_bound"]].isna().all()
    other = pd.DataFrame({"dataset": ["b", "c"], "splitter": "IS", "measure": "rLD", "value": [2.5, 9.0]})
    beside = summarize_splits(quality, other)
    assert beside["public_code"].fillna(-1).tolist() == [2.5, -1]
    pd.testing.assert_frame_equal(beside.drop(columns="public_code"), summary)
