"""Row operations give the same result as SciPy and NumPy on whole matrices."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.core.sparse_rows import (
    add_rows,
    joined_rows,
    values_at,
    weighted_sum,
)


def some(seed, shape=(40, 9), *, short=False):
    """Return a matrix with empty rows and equal numbers, and with 32-bit or 64-bit indices."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 6, shape) / 8 * (rng.random(shape) < rng.choice([0, 0.3, 0.8], (shape[0], 1)))
    matrix = sparse.csr_array(dense.astype(np.float32))
    index = np.int32 if short else np.int64
    parts = matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)
    return sparse.csr_array(parts, shape=shape)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 3, 9])
def test_a_weighted_sum_is_that_of_the_arrays_with_the_highest_of_a_row(n, most):
    matrices, weights = [some(seed, short=seed % 2 == 0) for seed in range(n)], np.array([0.5, 0.25, 0.75])[:n]
    expected = sum(weight * each.toarray() for weight, each in zip(weights, matrices, strict=True))  # exact
    np.put_along_axis(expected, np.argsort(-expected, axis=1, kind="stable")[:, most:], 0, axis=1)
    found = weighted_sum(matrices, weights, most)
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.has_canonical_format and found.nnz == np.count_nonzero(expected)
    assert found.dtype == np.float32 and found.indices.dtype == found.indptr.dtype == np.int32


def test_a_member_without_weight_adds_no_cells():
    assert weighted_sum([some(0), some(1)], [1.0, 0.0], 9).nnz == some(0).nnz


def test_values_at_cells_are_those_of_the_array():
    cells, asked = some(0), some(1)
    rows, columns = cells.nonzero()
    found = values_at(cells.indptr, cells.indices, asked.indptr, asked.indices, asked.data)
    np.testing.assert_array_equal(found, asked.toarray()[rows, columns])


def test_rows_are_added_to_those_of_their_columns():
    matrix, rows = some(0), np.random.default_rng(1).integers(0, 9, (40, 3)).astype(np.float64)
    found = np.ones((9, 3))
    add_rows(matrix.indptr, matrix.indices, matrix.data, rows, found)
    np.testing.assert_array_equal(found, 1 + matrix.toarray().T @ rows)  # multiples of 1/8 are exact


def test_rows_made_some_at_a_time_are_joined():
    matrix = some(0, short=True)
    parts = [matrix[first : first + 15] for first in range(0, 40, 15)]
    given = [(np.diff(part.indptr), part.indices, part.data) for part in parts]
    found = joined_rows(given, 9)
    np.testing.assert_array_equal(found.toarray(), matrix.toarray())
    assert found.indices.dtype == found.indptr.dtype == np.int32
