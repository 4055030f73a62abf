"""Distributions of features and pairs of labels."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.datasets import Dataset
from fairfold.datasets.distributions import feature_table, label_pairs


def dataset(X, Y, **others):
    names = tuple(f"x{n}" for n in range(X.shape[1])), tuple(f"y{n}" for n in range(Y.shape[1]))
    return Dataset("d", "multilabel", X, Y, *names, **others)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_features_have_ranges_gaps_zeros_and_bars(convert):
    X = np.array([[0.0, 5], [0, 6], [1, 7], [12, np.nan]])
    table = feature_table(dataset(convert(X), np.eye(4, dtype=np.int8)))
    assert table.iloc[0, 1:7].tolist() == [0, 3, 0.5, 0, 0.5, 12]
    assert table.iloc[1, 1:7].tolist() == [0.25, 3, 0, 5, 6, 7]
    assert table["histogram"].tolist() == ["█▅▁▁▁▁▁▁▁▁▁▅", "█▁▁▁▁▁█▁▁▁▁█"]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_pairs_of_labels_equal_a_plain_reference(convert):
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 4)) < 0.4).astype(np.int8)
    Y[:, 3] = 1 - Y[:, 0]
    table = label_pairs(dataset(np.zeros((60, 1)), convert(Y)))
    assert table.iloc[0, :2].tolist() == ["y0", "y3"] and table["phi"].iloc[0] == pytest.approx(-1)
    for row in table.itertuples():
        first, other = (Y[:, int(name[1:])].astype(float) for name in (row.label, row.other_label))
        assert row.phi == pytest.approx(np.corrcoef(first, other)[0, 1])
        assert row.lift == pytest.approx((first * other).mean() / (first.mean() * other.mean()))
        assert (row.n_measured, row.n_both) == (60, (first * other).sum())


def test_unmeasured_labels_and_constants_are_left_out_of_pairs():
    Y = np.array([[1, 1, 0], [0, 0, 0], [1, np.nan, 0], [np.nan, 1, 0], [1, 0, 0]], dtype=np.float32)
    (row,) = label_pairs(dataset(np.zeros((5, 1)), Y)).itertuples()
    assert (row.label, row.other_label, row.n_measured, row.n_both) == ("y0", "y1", 3, 1)
    assert row.phi == pytest.approx(np.corrcoef([1, 0, 1], [1, 0, 0])[0, 1])
