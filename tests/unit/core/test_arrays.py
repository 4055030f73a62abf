"""Sparse matrices: stored cells and size limits."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.core.arrays import DENSE_CELLS, RunningMean, canonical, stored_cells, to_dense, with_data
from fairfold.core.validation import check_dense_binary
from fairfold.errors import DataError


def untidy(dense):
    """Return the matrix with explicit zeros, unsorted columns and each number split into two halves."""
    rows, columns = (each[::-1] for each in np.indices(dense.shape).reshape(2, -1))
    values = dense[rows, columns].astype(np.float64)
    halves = np.concatenate([values / 2, values / 2])
    order = np.argsort(np.tile(rows, 2), kind="stable")
    indptr = np.arange(len(dense) + 1) * 2 * dense.shape[1]
    return sparse.csr_array((halves[order], np.tile(columns, 2)[order], indptr), shape=dense.shape)


@pytest.fixture
def dense():
    rng = np.random.default_rng(0)
    return rng.integers(-2, 4, (7, 5)) * (rng.random((7, 5)) < 0.5)


def test_an_untidy_matrix_is_tidied_and_stays_as_it_was(dense):
    matrix = untidy(dense)
    tidy = canonical(matrix)
    np.testing.assert_array_equal(tidy.toarray(), dense)
    assert tidy.has_canonical_format and tidy.nnz == np.count_nonzero(dense)
    assert matrix.nnz == 2 * dense.size
    again = canonical(tidy)
    assert np.shares_memory(again.data, tidy.data) and np.shares_memory(again.indices, tidy.indices)
    np.testing.assert_array_equal(with_data(tidy, tidy.data * 2).toarray(), 2 * dense)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array, sparse.csr_matrix, untidy])
def test_cells_are_those_that_any_matrix_stores(dense, form):
    other = np.where(np.random.default_rng(1).random(dense.shape) < 0.3, 0.25, 0)
    rows, columns, first, second = stored_cells(form(dense), form(other))
    at = np.argwhere((dense != 0) | (other != 0))
    np.testing.assert_array_equal(np.column_stack([rows, columns]), at)
    np.testing.assert_array_equal(first, dense[rows, columns])
    np.testing.assert_array_equal(second, other[rows, columns])
    assert second.dtype == np.float64


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 2)])
def test_nothing_stored_gives_no_cells(shape):
    assert [len(part) for part in stored_cells(sparse.csr_array(shape), sparse.csr_array(shape))] == [0] * 4


def test_places_past_32_bits_are_distinguished():
    shape = (100_000, 100_000)
    first = sparse.coo_array(([1.0, 2.0], ([0, 99_999], [5, 99_999])), shape=shape).tocsr()
    second = sparse.coo_array(([3.0], ([99_999], [99_998])), shape=shape).tocsr()
    rows, columns, *values = stored_cells(first, second)
    assert rows.tolist() == [0, 99_999, 99_999] and columns.tolist() == [5, 99_998, 99_999]
    assert [value.tolist() for value in values] == [[1, 0, 2], [0, 3, 0]]


def test_a_sparse_matrix_of_too_many_cells_is_not_made_dense():
    side = int(DENSE_CELLS**0.5) + 1
    large = sparse.csr_array((side, side), dtype=np.int8)
    for call in (lambda: to_dense(large, "Y", DataError), lambda: check_dense_binary(large, "Y", DataError)):
        with pytest.raises(DataError, match=rf"Y has {side:,} × {side:,} cells, but at most 50,000,000 cells"):
            call()
    small = sparse.csr_array(np.eye(3))
    np.testing.assert_array_equal(to_dense(small, "Y", DataError), np.eye(3))
    array = np.broadcast_to(np.int8(0), (side, side))  # already dense
    assert to_dense(array, "Y", DataError) is array


def to_array(matrix):
    return to_dense(matrix, "matrix", DataError)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_running_mean_is_that_of_all_so_far(kind):
    rng = np.random.default_rng(0)
    matrices = [kind(rng.random((6, 4)) * (rng.random((6, 4)) < 0.6)) for _ in range(5)]
    before = [matrix.copy() for matrix in matrices]
    running = RunningMean()
    for n, matrix in enumerate(matrices, start=1):
        found, expected = running.add(matrix), sum(map(to_array, matrices[1:n]), start=to_array(matrices[0])) / n
        assert type(found) is type(matrix)
        np.testing.assert_array_equal(to_array(found), expected)
    assert all(abs(a - b).max() == 0 for a, b in zip(matrices, before, strict=True))
