"""Partial dependence of predictions on features."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.datasets import Dataset
from fairfold.final.dependence import partial_dependence


class Linear:
    """The first label depends on the second feature, the other one on the third."""

    def predict_proba(self, X):
        X = X.toarray() if sparse.issparse(X) else X
        return np.column_stack([0.1 + 0.5 * X[:, 1] + 0.1 * X[:, 0], 1 - X[:, 2]])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_features_that_change_a_label_most_come_first(convert):
    X = np.random.default_rng(0).random((60, 4))
    Y = np.repeat([[1, 1], [0, 0], [1, 0]], 20, axis=0).astype(np.int8)
    data = Dataset("d", "multilabel", convert(X), Y, ("a", "b", "c", "d"), ("y", "z"))
    table = partial_dependence(Linear(), data, pd.DataFrame({"features": ["d", "c", "b", "a"]}))
    assert table[["label", "feature"]].to_numpy()[:3].tolist() == [["y", "b"], ["y", "a"], ["z", "c"]]
    low, high = np.quantile(X[:, 1], [0.05, 0.95])
    expected = [low, high, *(0.1 + 0.5 * np.array([low, high]) + 0.1 * X[:, 0].mean())]
    assert table.iloc[0, 2:6].to_numpy(float) == pytest.approx(expected)
    assert table["curve"].str[0].tolist()[:3] == ["▁", "▁", "█"] and table["curve"].str[-1].tolist()[:3] == [
        "█",
        "█",
        "▁",
    ]


def test_without_numbers_there_is_no_curve():
    data = Dataset("d", "multilabel", np.ones((9, 1)), np.eye(9, 2, dtype=np.int8), ("a",), ("y", "z"))
    assert partial_dependence(Linear(), data, pd.DataFrame({"features": ["a", "soil"]})).empty
