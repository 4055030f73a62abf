"""Bits tell what the codes do, in nodes of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfold.forests import binning, sparse_codes
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.sparse_codes import SparseCodes, empty_bits, list_above, mark_node
from fairfold.forests.trees import MultilabelForest


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 150))
def test_samples_above_the_lowest_value(seed, n_samples, n_features):
    rng = np.random.default_rng(seed)
    codes = (rng.random((n_features, n_samples)) < rng.random((n_features, 1))).astype(np.uint8)
    codes *= rng.integers(1, 4, codes.shape).astype(np.uint8)
    sparse = SparseCodes.of(codes)
    is_sparse = (codes > 0).mean(axis=1) <= sparse_codes.SPARSE_UP_TO
    np.testing.assert_array_equal(sparse.place >= 0, is_sparse)
    bits, found = empty_bits(sparse), np.zeros(n_samples, dtype=np.uint32)
    for size in {1, min(3, n_samples), -(-n_samples // 2), n_samples}:
        rows = np.sort(rng.choice(n_samples, size, replace=False)).astype(np.uint32)
        mark_node(sparse, rows, bits)
        for feature in np.flatnonzero(is_sparse):
            n_found = list_above(sparse, sparse.place[feature], rows, bits, found)
            assert found[:n_found].tolist() == rows[codes[feature, rows] > 0].tolist()


@pytest.mark.parametrize("kind", ["random_forest", "extra_trees"])
@pytest.mark.parametrize("labels", ["0/1", "shares"])
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_trees_are_the_same_without_bits(monkeypatch, kind, labels, min_samples_leaf):
    """Words that are in or not, words that are counted, weights of words, and dense features; nodes of both sizes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 80)).round(2)
    X[:, :60] *= rng.random((500, 60)) < np.linspace(0.01, 0.3, 60)
    X[:, :20] = X[:, :20] != 0
    X[:, 20:40] = np.abs(X[:, 20:40]).round()
    Y = X[:, 10:30] + rng.normal(size=(500, 20)) > 1
    Y = Y * rng.random(Y.shape) if labels == "shares" else Y.astype(float)
    settings = {"n_trees": 6, "max_features": 0.3, "min_samples_leaf": min_samples_leaf, "random_state": 2}

    with_bits = BinnedMatrix.from_matrix(X, max_bins=32)
    assert {len(with_bits.exact.sparse.by_feature), len(with_bits.binned.sparse.by_feature)} <= {*range(20, 61)}
    forest = MultilabelForest(kind, **settings).fit(with_bits, Y)
    monkeypatch.setattr(sparse_codes, "SPARSE_UP_TO", -1.0)
    without = binning.BinnedMatrix.from_matrix(X, max_bins=32)
    assert len(without.exact.sparse.by_feature) == 0
    same = MultilabelForest(kind, **settings).fit(without, Y)
    assert len(forest.feature_) > 300
    for name, array in forest.to_arrays(with_samples=True).items():
        np.testing.assert_array_equal(array, same.to_arrays(with_samples=True)[name])
