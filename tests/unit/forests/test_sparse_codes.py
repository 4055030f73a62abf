"""Lists store the same codes as arrays, in nodes of any size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfold.forests import sparse_codes
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.sparse_codes import SparseCodes, list_others, write_codes
from fairfold.forests.trees import MultilabelForest


def codes_of(sparse, place, n_samples):
    """Return the codes of one of the sparse features."""
    codes = np.full(n_samples, sparse.common[place])
    entries = slice(sparse.starts[place], sparse.starts[place + 1])
    codes[sparse.rows[entries]] = sparse.codes[entries]
    return codes


def draw_codes(seed, n_samples, n_features):
    """Return codes of shape (n_features, n_samples), their number per feature, and lists of the sparse features."""
    rng = np.random.default_rng(seed)
    is_other = rng.random((n_features, n_samples)) < rng.choice([0.01, 0.03, 0.3], (n_features, 1))
    common = rng.integers(0, 3, n_features)
    n_codes = np.where(rng.random(n_features) < 0.5, 2, 4)
    common[n_codes == 2] %= 2
    others = (common[:, np.newaxis] + rng.integers(1, n_codes[:, np.newaxis], is_other.shape)) % n_codes[:, np.newaxis]
    codes = np.where(is_other, others, common[:, np.newaxis]).astype(np.uint8)
    listed = sparse_codes.is_sparse(is_other.sum(axis=1), n_samples)
    place = np.where(listed, np.cumsum(listed) - 1, -np.cumsum(~listed)).astype(np.int32)
    starts = np.append(0, np.cumsum(is_other[listed].sum(axis=1)))
    rows = np.nonzero(is_other[listed])[1].astype(np.uint32)
    entries = codes[listed][is_other[listed]]
    return codes, n_codes, SparseCodes(place, common[listed].astype(np.uint8), starts, rows, entries)


def nodes_of(rng, n_samples):
    for size in {1, min(3, n_samples), min(9, n_samples), -(-n_samples // 2), n_samples}:
        yield np.sort(rng.choice(n_samples, size, replace=False)).astype(np.uint32)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 150))
def test_codes_of_the_samples_of_a_node(seed, n_samples, n_features):
    codes, _, listed = draw_codes(seed, n_samples, n_features)
    found, of_found = np.zeros(n_samples, dtype=np.uint32), np.zeros(n_samples, dtype=np.uint8)
    node_of = np.zeros(n_samples, dtype=np.int32)
    for node, rows in enumerate(nodes_of(np.random.default_rng(seed), n_samples), start=1):
        node_of[rows] = node
        for feature in np.flatnonzero(listed.place >= 0):
            place = listed.place[feature]
            entries = listed.rows, listed.codes, listed.starts[place], listed.starts[place + 1]
            n_found = list_others(*entries, rows, node_of, node, found, of_found)
            expected = rows[codes[feature, rows] != listed.common[place]]
            assert found[:n_found].tolist() == expected.tolist()
            assert of_found[:n_found].tolist() == codes[feature, expected].tolist()
            write_codes(listed, place, rows, of_found)
            assert of_found[: len(rows)].tolist() == codes[feature, rows].tolist()


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 50))
def test_other_codes_and_other_samples(seed, n_samples, n_features):
    codes, _, listed = draw_codes(seed, n_samples, n_features)
    rng = np.random.default_rng(seed)
    sparse_features = np.flatnonzero(listed.place >= 0)
    halved = listed.recoded(listed.common // 2, listed.codes // 2)  # some codes become the common one
    chosen = rng.choice(n_samples, -(-n_samples // 3), replace=False)
    some = listed.samples(chosen, n_samples)
    for feature in sparse_features:
        place = listed.place[feature]
        np.testing.assert_array_equal(codes_of(listed, place, n_samples), codes[feature])
        np.testing.assert_array_equal(codes_of(halved, place, n_samples), codes[feature] // 2)
        np.testing.assert_array_equal(codes_of(some, place, len(chosen)), codes[feature, chosen])
    for each in (halved, some):
        places = np.repeat(np.arange(len(each.common)), np.diff(each.starts))
        assert (each.codes != each.common[places]).all()
        assert (np.diff(places * n_samples + each.rows.astype(int)) > 0).all()


@pytest.mark.parametrize("kind", ["random_forest", "extra_trees"])
@pytest.mark.parametrize("labels", ["0/1", "shares"])
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_trees_are_the_same_without_lists(monkeypatch, kind, labels, min_samples_leaf):
    """Features are binary words, word counts, signed word weights and dense columns."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 80)).round(2)
    X[:, :60] *= rng.random((500, 60)) < np.tile(np.linspace(0.002, 0.05, 20), 3)
    X[:, :20] = X[:, :20] != 0
    X[:, 20:40] = np.abs(X[:, 20:40]).round()
    Y = X[:, 10:30] + rng.normal(size=(500, 20)) > 1
    Y = Y * rng.random(Y.shape) if labels == "shares" else Y.astype(float)
    shape = {"n_trees": 6, "max_features": 0.3, "min_samples_leaf": min_samples_leaf, "random_state": 2}

    with_lists = BinnedMatrix.from_matrix(X, max_bins=32)
    assert 30 <= len(with_lists.exact.sparse.common) < 60
    forest = MultilabelForest(kind, **shape).fit(with_lists, Y)
    monkeypatch.setattr(sparse_codes, "SPARSE_UP_TO", -1.0)
    without = BinnedMatrix.from_matrix(X, max_bins=32)
    assert len(without.exact.codes) == 80
    same = MultilabelForest(kind, **shape).fit(without, Y)
    assert len(forest.feature_) > 200
    for name, value in vars(forest).items():
        np.testing.assert_array_equal(value, vars(same)[name])
