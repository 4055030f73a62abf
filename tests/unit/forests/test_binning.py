import numpy as np
import pytest
from scipy import sparse

from fairfold.errors import ModelError
from fairfold.forests import sparse_codes
from fairfold.forests.binning import BinnedMatrix


def codes_of(table, feature):
    """Return the codes of one feature, sparse or dense."""
    place, n_samples = table.sparse.place[feature], table.codes.shape[1]
    if place < 0:
        return table.codes[-1 - place]
    entries = slice(table.sparse.starts[place], table.sparse.starts[place + 1])
    codes = np.full(n_samples, table.sparse.common[place])
    codes[table.sparse.rows[entries]] = table.sparse.codes[entries]
    return codes


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
    # The constant zero feature is stored as a list.
    assert table.codes.shape == (73, 900) and np.flatnonzero(table.sparse.place >= 0).tolist() == [2]
    for feature, column in enumerate(X.T.astype(np.float32)):
        distinct, ranks = np.unique(column, return_inverse=True)
        np.testing.assert_array_equal(codes_of(table, feature), ranks)
        np.testing.assert_array_equal(table.lowest[values_of(table, feature)], distinct)
    assert table.lowest is table.highest


@pytest.mark.parametrize("max_bins", [2, 10, 256])
def test_bins_hold_neighboring_values_and_equal_shares(X, max_bins):
    binned = BinnedMatrix.from_matrix(X, max_bins=max_bins).binned
    assert binned.codes.dtype == np.uint8
    for feature, column in enumerate(X.T.astype(np.float32)):
        codes = codes_of(binned, feature).astype(int)
        assert (np.unique(codes) == np.arange(codes.max() + 1)).all()
        assert codes.max() < min(max_bins, np.unique(column).size)
        for code in range(codes.max() + 1):
            inside = column[codes == code]
            at = binned.starts[feature] + code
            assert (binned.lowest[at], binned.highest[at]) == (inside.min(), inside.max())
        np.testing.assert_array_equal(np.argsort(column, kind="stable"), np.lexsort([np.arange(900), column, codes]))
    # Continuous values: bins have equal counts up to rounding.
    counts = np.bincount(codes_of(binned, 0))
    assert len(counts) == max_bins and counts.max() - counts.min() <= 1
    # Few distinct values: each has one bin.
    if max_bins >= 5:
        np.testing.assert_array_equal(codes_of(binned, 1), X[:, 1])
    # Four fifths are zero: zero has one bin, and the other values share at least one.
    codes = codes_of(binned, 3)
    assert (np.bincount(codes)[codes[X[:, 3] == 0][0]]) >= (X[:, 3] == 0).sum()
    assert codes.max() >= 1


def test_both_kinds_of_codes_are_one_where_values_are_few(X):
    few = BinnedMatrix.from_matrix(X[:, 4:])
    assert few.binned is few.exact
    assert few.exact.codes.dtype == np.uint8
    everything = BinnedMatrix.from_matrix(X, max_bins=None)
    assert everything.binned is everything.exact
    assert everything.exact.codes.dtype == np.uint16
    assert everything.shape == (900, 74)


def same_tables(one, other):
    for theirs, ours in ((one.exact, other.exact), (one.binned, other.binned)):
        for left, right in zip((*theirs[:-1], *theirs.sparse), (*ours[:-1], *ours.sparse), strict=True):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype


@pytest.fixture(scope="module")
def mixed():
    """Return sparse columns with zeros at the bottom, top or middle of the range, mixed with dense columns.

    The number of distinct values varies, and one column consists mostly of ones.
    """
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 40)) * (rng.random((900, 40)) < np.linspace(0, 0.6, 40))
    X[:, ::4] = np.abs(X[:, ::4]).round()
    X[:, 1::4] = -np.abs(X[:, 1::4])
    X[:, 7] = rng.random(900) < 0.9
    X[:, 20] = np.where(rng.random(900) < 0.8, 3, rng.normal(size=900))
    return X[:, rng.permutation(40)]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("max_bins", [2, 10, 256])
def test_sparse_is_dense(X, mixed, kind, max_bins):
    for each in (X, mixed, X[:0], X[:1], X[:, :0]):
        dense = BinnedMatrix.from_matrix(each, max_bins=max_bins)
        same_tables(dense, BinnedMatrix.from_matrix(kind(each), max_bins=max_bins))


def test_codes_do_not_depend_on_what_is_listed(mixed, monkeypatch):
    tables = BinnedMatrix.from_matrix(mixed, max_bins=5)
    monkeypatch.setattr(sparse_codes, "SPARSE_UP_TO", -1.0)
    spread = BinnedMatrix.from_matrix(mixed, max_bins=5)
    for table, other in ((tables.exact, spread.exact), (tables.binned, spread.binned)):
        assert len(other.codes) == mixed.shape[1] > len(table.codes)
        for name in ("starts", "lowest", "highest"):
            np.testing.assert_array_equal(getattr(table, name), getattr(other, name))
        for feature in range(mixed.shape[1]):
            np.testing.assert_array_equal(codes_of(table, feature), codes_of(other, feature))


def test_entries_that_are_zero_out_of_order_or_to_be_added(mixed):
    clean = sparse.csr_array(mixed)
    rows, columns = clean.nonzero()
    order = np.random.default_rng(0).permutation(2 * len(rows) + 50)
    parts = [np.concatenate([each, each, np.arange(50) % 40]) for each in (rows, columns)]
    values = np.concatenate([clean.data / 2, clean.data / 2, np.tile([0.0, -0.0], 25)])
    messy = sparse.coo_array((values[order], (parts[0][order], parts[1][order])), shape=mixed.shape)
    for kind in ("csr", "csc"):
        X = getattr(sparse, f"{kind}_array")(mixed.shape)
        by_major = np.argsort(parts[kind == "csc"], kind="stable")
        counts = np.bincount(parts[kind == "csc"], minlength=mixed.shape[kind == "csc"])
        X.data, X.indices = values[by_major], parts[kind == "csr"][by_major]
        X.indptr = np.append(0, np.cumsum(counts))
        before = X.data.copy(), X.indices.copy()
        same_tables(BinnedMatrix.from_matrix(mixed), BinnedMatrix.from_matrix(X))
        np.testing.assert_array_equal(X.data, before[0])
        np.testing.assert_array_equal(X.indices, before[1])
    same_tables(BinnedMatrix.from_matrix(mixed), BinnedMatrix.from_matrix(messy))


def test_memory_is_that_of_the_entries():
    """Three entries per feature take less than a bit per cell of the dense table."""
    n_samples, n_features = 2000, 40_000
    rows = np.sort((np.arange(n_features)[:, np.newaxis] + [0, 7, 500]) % n_samples, axis=1).ravel()
    values = np.tile([1.0, 2.0, 3.0], n_features)
    X = sparse.csc_array((values, rows, np.arange(0, len(rows) + 1, 3)), shape=(n_samples, n_features))
    table = BinnedMatrix.from_matrix(X).exact
    n_bytes = sum(array.nbytes for array in (*table[:-1], *table.sparse))
    # An entry stores its sample and code. A feature stores its place, two starts, a common code and four values twice.
    assert n_bytes < (4 + 1) * X.nnz + 60 * n_features < n_samples * n_features / 8


def test_zeros_have_no_sign():
    table = BinnedMatrix.from_matrix(np.array([[0.0], [-0.0], [1.0]])).exact
    assert codes_of(table, 0).tolist() == [0, 0, 1]


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
    X[:, 2] = X[:, 2] > 0.9
    for features in (X, X[:, 2:]):  # two separate tables, then one shared table
        whole = BinnedMatrix.from_matrix(features, max_bins=16)
        some = whole.samples(rows)
        assert some.shape == (4, features.shape[1])
        assert (some.binned is some.exact) == (whole.binned is whole.exact)
        for part, table in ((some.exact, whole.exact), (some.binned, whole.binned)):
            for feature in range(features.shape[1]):
                np.testing.assert_array_equal(codes_of(part, feature), codes_of(table, feature)[rows])
            assert part.codes.flags.c_contiguous and part.lowest is table.lowest
