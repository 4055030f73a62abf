"""Compiled work on the rows of CSR matrices, columns rising in a row: no array of all cells, and few of the stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from scipy import sparse

from fairfold.core.arrays import canonical, csr_of_rows, with_short_indices
from fairfold.core.usage import give_back_memory


def weighted_sum(matrices: Sequence[sparse.csr_array], weights: Sequence[float], most: int) -> sparse.csr_array:
    """Sum of weighted matrices of one shape, of each row the highest cells.

    Sums are of double precision, and rounded to the matrices' own. Only the result is held besides the matrices.

    Parameters
    ----------
    matrices : CSR of one dtype, without negative numbers.
    weights : of each, above 0 or 0.
    most : cells of a row; of equal ones those of lower columns are kept.
    """
    counts, columns, values = sum_of_rows(parts_of(matrices), np.asarray(weights, dtype=np.float64), most)
    return csr_of_rows(counts, columns, values, matrices[0].shape[1])


def joined_rows(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], n_columns: int) -> sparse.csr_array:
    """CSR of rows that were made some at a time; their parts are freed on the way.

    Parameters
    ----------
    parts : one or more of numbers of cells of each row, columns and values, in order; the list is empty afterwards.
    n_columns : how many there are.
    """
    counts = np.concatenate([part[0] for part in parts])
    columns, values = (np.empty(counts.sum(), dtype=each.dtype) for each in parts[0][1:])
    end = len(columns)
    while parts:
        _, *part = parts.pop()
        first = end - len(part[0])
        columns[first:end], values[first:end] = part
        end = first
        del part
    give_back_memory()
    return csr_of_rows(counts, columns, values, n_columns)


def parts_of(matrices: Sequence[sparse.csr_array]) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
    """Starts, columns and values of canonical matrices, of one type, as compiled functions take them."""
    found = [with_short_indices(canonical(each)) for each in matrices]
    index, dtype = (np.result_type(*(getattr(each, name) for each in found)) for name in ("indices", "data"))
    return tuple(
        (
            each.indptr.astype(index, copy=False),
            each.indices.astype(index, copy=False),
            each.data.astype(dtype, copy=False),
        )
        for each in found
    )


@njit(cache=True, nogil=True, boundscheck=False)
def sum_of_rows(parts, weights, most):  # noqa: ANN001, ANN201
    """Rows of a weighted sum.

    Parameters
    ----------
    parts : tuple of (starts, columns, values) of CSR matrices of as many rows and of one type.
    weights : (n_parts,) of at least 0.
    most : highest values of a row that are kept; of equal ones those of lower columns.

    Returns
    -------
    (n,) numbers of values of each row; columns and values, one behind the other.
    """
    n_rows, room, longest = len(parts[0][0]) - 1, 0, 0
    for row in range(n_rows):
        n_here = 0
        for part in parts:
            n_here += part[0][row + 1] - part[0][row]
        longest = max(longest, n_here)
        room += min(n_here, most)
    room += longest  # of which the last row may need some before it is cut
    found, sums = np.empty(room, dtype=parts[0][1].dtype), np.empty(room, dtype=parts[0][2].dtype)
    counts, n_found, place = np.zeros(n_rows, dtype=np.int64), 0, np.empty(len(parts), dtype=np.int64)
    for row in range(n_rows):
        for number in range(len(parts)):
            place[number] = parts[number][0][row]
        before = n_found
        while True:
            column = lowest_column(parts, place, row)
            if column < 0:
                break
            total = 0.0
            for number in range(len(parts)):
                starts, columns, values = parts[number]
                if place[number] < starts[row + 1] and columns[place[number]] == column:
                    total += weights[number] * values[place[number]]
                    place[number] += 1
            if total != 0:
                found[n_found], sums[n_found] = column, total
                n_found += 1
        n_found = before + keep_highest(found[before:n_found], sums[before:n_found], most)
        counts[row] = n_found - before
    return counts, found[:n_found], sums[:n_found]


@njit(cache=True, nogil=True, boundscheck=False)
def lowest_column(parts, place, row):  # noqa: ANN001, ANN201
    """The first column of a row, from a place on in each matrix, that any of them stores; -1 where none is left."""
    lowest = -1
    for number in range(len(parts)):
        starts, columns, _ = parts[number]
        if place[number] < starts[row + 1]:
            column = np.int64(columns[place[number]])
            if lowest < 0 or column < lowest:
                lowest = column
    return lowest


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


@njit(cache=True, nogil=True, boundscheck=False)
def keep_highest(columns, values, most):  # noqa: ANN001, ANN201
    """Move the highest values of a row, in order of their columns, to the front; returns their number."""
    n = len(values)
    if n <= most:
        return n
    least = np.partition(values, n - most)[n - most]
    n_ties = most - np.sum(values > least)
    n_kept = 0
    for place in range(n):
        is_tie = values[place] == least and n_ties > 0
        if values[place] > least or is_tie:
            columns[n_kept], values[n_kept] = columns[place], values[place]
            n_kept += 1
            n_ties -= is_tie
    return n_kept
