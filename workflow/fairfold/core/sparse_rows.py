"""Work on the rows of CSR matrices, columns rising in a row, without an array of all cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from scipy import sparse

from fairfold.core.arrays import canonical, csr_of_rows, with_short_indices

_ROWS_AT_ONCE = 4096


def weighted_sum(matrices: Sequence[sparse.csr_array], weights: Sequence[float], most: int) -> sparse.csr_array:
    """Sum weighted matrices of one shape, and keep the highest cells of each row.

    Parameters
    ----------
    matrices : sequence of csr_array of shape (n_rows, n_columns)
        Matrices of one dtype without negative numbers. Sums are of double precision, then rounded to this dtype.
    weights : sequence of float
        Weight of each matrix, at least 0.
    most : int
        Cells to keep in a row. Of equal ones those of lower columns are kept.
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
    """Return numbers of cells of each row, columns and values of the highest cells."""
    counts = np.diff(matrix.indptr)
    if counts.max(initial=0) <= most:
        return counts, matrix.indices, matrix.data
    row_of = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((matrix.indices, -matrix.data, row_of))
    kept = np.sort(order[np.arange(len(order)) - matrix.indptr[row_of] < most])
    return np.minimum(counts, most), matrix.indices[kept], matrix.data[kept]


def joined_rows(parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]], n_columns: int) -> sparse.csr_array:
    """Build a matrix from rows that were made some at a time.

    Parameters
    ----------
    parts : sequence of tuple
        Numbers of cells of each row, columns and values of one or more groups of rows.
    n_columns : int
        Number of columns.
    """
    return csr_of_rows(*map(np.concatenate, zip(*parts, strict=True)), n_columns)


@njit(cache=True, nogil=True, boundscheck=False)
def values_at(starts, columns, of_starts, of_columns, of_values):  # noqa: ANN001, ANN201
    """What one matrix has in the cells that another one stores.

    Parameters
    ----------
    starts, columns : of CSR, columns rising in a row: the cells.
    of_starts, of_columns, of_values : of the matrix that is asked, of as many rows, in the same form.

    Returns
    -------
    (n_cells,) of the values' dtype, 0 where nothing is stored.
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
    """Add the product of a CSR matrix's transpose and dense rows, in place.

    Parameters
    ----------
    starts, columns, values : of (n, n_columns) CSR.
    rows : (n, k)
    found : (n_columns, k)
    """
    for row in range(len(starts) - 1):
        for cell in range(starts[row], starts[row + 1]):
            column, value = columns[cell], values[cell]
            for at in range(rows.shape[1]):
                found[column, at] += value * rows[row, at]
