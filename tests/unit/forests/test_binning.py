import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix


def values_of(table, feature):
    return slice(table.starts[feature], table.starts[feature + 1])


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=900),
        rng.integers(0, 5, 900),
        np.zeros(900),
        np.where(rng.random(900) < 0.8, 0, rng.random(900)),
    ]
    return np.column_stack([*columns, rng.integers(0, 2, (900, 70))])


def test_exact_codes_are_ranks(X):
    table = BinnedMatrix.from_matrix(X).exact
    assert table.codes.shape == X.shape[::-1]
    for feature, column in enumerate(X.T.astype(np.float32)):
        distinct, ranks = np.unique(column, return_inverse=True)
        np.testing.assert_array_equal(table.codes[feature], ranks)
        np.testing.assert_array_equal(table.lowest[values_of(table, feature)], distinct)
    assert table.lowest is table.highest


@pytest.mark.parametrize("max_bins", [2, 10, 256])
def test_bins_hold_neighbouring_values_and_equal_shares(X, max_bins):
    binned = BinnedMatrix.from_matrix(X, max_bins=max_bins).binned
    assert binned.codes.dtype == np.uint8
    for feature, column in enumerate(X.T.astype(np.float32)):
        codes = binned.codes[feature].astype(int)
        assert (np.unique(codes) == np.arange(codes.max() + 1)).all()
        assert codes.max() < min(max_bins, np.unique(column).size)
        for code in range(codes.max() + 1):
            inside = column[codes == code]
            at = binned.starts[feature] + code
            assert (binned.lowest[at], binned.highest[at]) == (inside.min(), inside.max())
        np.testing.assert_array_equal(np.argsort(column, kind="stable"), np.lexsort([np.arange(900), column, codes]))
    # continuous: as many samples in each bin as there are, but for rounding
    counts = np.bincount(binned.codes[0])
    assert len(counts) == max_bins and counts.max() - counts.min() <= 1
    # few values: one bin each
    if max_bins >= 5:
        np.testing.assert_array_equal(binned.codes[1], X[:, 1])
    # four fifths are zero: one bin of its own, and the others still share more than one
    assert (np.bincount(binned.codes[3])[binned.codes[3][X[:, 3] == 0][0]]) >= (X[:, 3] == 0).sum()
    assert binned.codes[3].max() >= 1


def test_both_kinds_of_codes_are_one_where_values_are_few(X):
    few = BinnedMatrix.from_matrix(X[:, 4:])
    assert few.binned is few.exact
    assert few.exact.codes.dtype == np.uint8
    everything = BinnedMatrix.from_matrix(X, max_bins=None)
    assert everything.binned is everything.exact
    assert everything.exact.codes.dtype == np.uint16
    assert everything.shape == (900, 74)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
def test_sparse_is_dense(X, kind):
    dense, other = BinnedMatrix.from_matrix(X), BinnedMatrix.from_matrix(kind(X))
    for theirs, ours in ((dense.exact, other.exact), (dense.binned, other.binned)):
        for one, other in zip((*theirs[:-1], *theirs.sparse), (*ours[:-1], *ours.sparse), strict=True):
            np.testing.assert_array_equal(one, other)


def test_zeros_have_no_sign():
    table = BinnedMatrix.from_matrix(np.array([[0.0], [-0.0], [1.0]])).exact
    assert table.codes.tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("max_bins", [1, 257, 10.0])
def test_bad_number_of_bins(X, max_bins):
    with pytest.raises(ModelError, match=r"max_bins is .* 2 to 256, or None"):
        BinnedMatrix.from_matrix(X, max_bins=max_bins)


def test_numbers_that_single_precision_cannot_hold():
    with pytest.raises(ModelError, match="finite and below"):
        BinnedMatrix.from_matrix(np.array([[1e300], [0.0]]))


def test_some_samples_keep_the_codes_that_they_have_among_all():
    rng = np.random.default_rng(0)
    X, rows = rng.random((400, 3)), np.array([3, 8, 20, 399])
    X[:, 2] = X[:, 2] > 0.5
    for features in (X, X[:, 2:]):  # binned, and the same table for both
        whole = BinnedMatrix.from_matrix(features, max_bins=16)
        some = whole.samples(rows)
        assert some.shape == (4, features.shape[1])
        assert (some.binned is some.exact) == (whole.binned is whole.exact)
        for part, table in ((some.exact, whole.exact), (some.binned, whole.binned)):
            np.testing.assert_array_equal(part.codes, table.codes[:, rows])
            assert part.codes.flags.c_contiguous and part.lowest is table.lowest
