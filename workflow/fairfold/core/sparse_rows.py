"""Process the rows of CSR matrices with ascending columns, without dense arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from fairfold.core.arrays import canonical, csr_of_rows, with_short_indices
from fairfold.core.compiled import njit

_ROWS_AT_ONCE = 4096


def weighted_sum(matrices: Sequence[sparse.csr_array], weights: Sequence[float], most: int) -> sparse.csr_array:
    """Compute a weighted sum of matrices and keep the highest cells of each row.

    Parameters
    ----------
    matrices : sequence of csr_array of shape (n_rows, n_columns)
        Matrices of one dtype without negative numbers. Sums are computed in double precision and rounded to this dtype.
    weights : sequence of float
        Weight of each matrix, at least 0.
    most : int
        Maximum number of cells to keep per row. Ties keep the lower columns.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Weighted sum.

    Examples
    --------
    >>> first, second = sparse.csr_array([[0.2, 0.4, 0.0]]), sparse.csr_array([[0.6, 0.0, 0.1]])
    >>> weighted_sum([first, second], [0.5, 0.5], most=2).toarray()
    array([[0.4, 0.2, 0. ]])
    """
    n_rows, n_columns = matrices[0].shape
    parts = []
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        weighted = (weight * each[rows].astype(np.float64) for weight, each in zip(weights, matrices, strict=True))
        total = with_short_indices(canonical(sum(weighted)))
        parts.append(_highest(total.astype(matrices[0].dtype), most))
    return joined_rows(parts, n_columns)


def _highest(matrix: sparse.csr_array, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of cells of each row, and the columns and values of the highest cells."""
    counts = np.diff(matrix.indptr)
    if counts.max(initial=0) <= most:
        return counts, matrix.indices, matrix.data
    kept = _are_highest(matrix.indptr, matrix.data, most)
    return np.minimum(counts, most), matrix.indices[kept], matrix.data[kept]


@njit(cache=True, nogil=True, boundscheck=False)
def _are_highest(starts, values, most):  # noqa: ANN001, ANN202
    """Return whether each cell is one of the highest of its row."""
    kept = np.ones(len(values), dtype=np.bool_)
    for row in range(len(starts) - 1):
        first, end = starts[row], starts[row + 1]
        if end - first > most:
            of_row = values[first:end]
            least = np.partition(of_row, len(of_row) - most)[len(of_row) - most]
            n_equal = most - np.count_nonzero(of_row > least)
            for cell in range(first, end):
                if values[cell] == least:
                    kept[cell] = n_equal > 0
                    n_equal -= 1
                else:
                    kept[cell] = values[cell] > least
    return kept


def joined_rows(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], n_columns: int) -> sparse.csr_array:
    """Build a matrix from blocks of rows.

    Parameters
    ----------
    parts : sequence of tuple of ndarray
        Number of cells of each row, columns and values of each block.
    n_columns : int
        Number of columns.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix with all rows.
    """
    counts, columns, values = map(np.concatenate, zip(*parts, strict=True))
    return csr_of_rows(counts, columns, values, n_columns)


@njit(cache=True, nogil=True, boundscheck=False)
def values_at(starts, columns, of_starts, of_columns, of_values):  # noqa: ANN001, ANN201
    """Look up the values of one CSR matrix in the stored cells of another.

    Parameters
    ----------
    starts : ndarray of int of shape (n_rows + 1,)
        Row offsets of the matrix that defines the cells.
    columns : ndarray of int of shape (n_cells,)
        Columns of the cells, ascending within a row.
    of_starts : ndarray of int of shape (n_rows + 1,)
        Row offsets of the matrix with the values.
    of_columns : ndarray of int
        Columns of the values, ascending within a row.
    of_values : ndarray
        Values.

    Returns
    -------
    ndarray of shape (n_cells,)
        Value of each cell, 0 if it is not stored, in the dtype of the values.
    """
    found = np.zeros(len(columns), dtype=of_values.dtype)
    for row in range(len(starts) - 1):
        place, end = of_starts[row], of_starts[row + 1]
        for cell in range(starts[row], starts[row + 1]):
            while place < end and of_columns[place] < columns[cell]:
                place += 1
            if place < end and of_columns[place] == columns[cell]:
                found[cell] = of_values[place]
    return found


@njit(cache=True, nogil=True, boundscheck=False)
def add_rows(starts, columns, values, rows, found):  # noqa: ANN001, ANN201
    """Add the product of a transposed CSR matrix and dense rows, in place.

    Parameters
    ----------
    starts : ndarray of int of shape (n_rows + 1,)
        Row offsets of the CSR matrix.
    columns : ndarray of int of shape (n_cells,)
        Columns of its cells.
    values : ndarray of shape (n_cells,)
        Values of its cells.
    rows : ndarray of shape (n_rows, k)
        Dense rows.
    found : ndarray of shape (n_columns, k)
        Array that the product is added to.
    """
    for row in range(len(starts) - 1):
        for cell in range(starts[row], starts[row + 1]):
            column, value = columns[cell], values[cell]
            for k in range(rows.shape[1]):
                found[column, k] += value * rows[row, k]
