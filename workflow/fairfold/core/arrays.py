"""Kinds of arrays that all packages take.

Where labels are many, these and their probabilities are sparse: a cell that is not stored is 0. What such matrices say
together is in the cells that any of them stores, :func:`stored_cells`, and in the number of the others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from fairfold.errors import StudyError

_CELLS_AT_ONCE = 65_536

Matrix = np.ndarray | sparse.csr_array
"""Features or labels, (n_samples, n_columns), dense or sparse by rows."""

GAPS = frozenset({"", "?", "-", "na", "n/a", "nan", "nil", "none", "null"})
"""Lower-case texts that stand for a missing value in files and in arrays of text."""

DENSE_CELLS = 50_000_000
"""Most cells, samples times labels, that a sparse matrix is made dense with; 400 MB of float64."""


def to_dense(matrix: Matrix, name: str, error: type[StudyError]) -> np.ndarray:
    """A sparse matrix as an array; what is none stays as it is, of any size.

    Parameters
    ----------
    matrix : (n_rows, n_columns).
    name : what it is called, for messages.
    error : what to raise.

    Raises
    ------
    StudyError
        ``error``, when a sparse matrix has more than ``DENSE_CELLS`` cells.
    """
    if not sparse.issparse(matrix):
        return matrix
    n_rows, n_columns = matrix.shape
    if n_rows * n_columns > DENSE_CELLS:
        raise error(
            f"{name} has {n_rows:,} × {n_columns:,} cells, all of which this needs in memory, and at most "
            f"{DENSE_CELLS:,} of a sparse matrix are: give fewer samples or labels, or take a method that stays sparse."
        )
    return matrix.toarray()


def with_sparsity(matrix: Matrix, is_sparse: bool) -> Matrix:
    """Return a matrix as CSR or as an array, of any size, and unchanged where it is one already."""
    if is_sparse == sparse.issparse(matrix):
        return matrix
    return sparse.csr_array(matrix) if is_sparse else matrix.toarray()


def canonical(matrix: Matrix) -> sparse.csr_array:
    """The matrix by rows, columns in order and none twice, without a stored 0; its own arrays where it is so."""
    rows = sparse.csr_array(matrix)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def with_data(matrix: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Other numbers in the same cells."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def finite_rows(P: Matrix) -> np.ndarray:
    """(n_rows,) whether all numbers of a row are finite; a sparse row of which nothing is known stores a NaN."""
    if not sparse.issparse(P):
        return np.isfinite(P).all(axis=1)
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    return np.bincount(rows[~np.isfinite(P.data)], minlength=P.shape[0]) == 0


def map_stored(function: Callable[[np.ndarray, np.ndarray], np.ndarray], matrix: sparse.csr_array) -> sparse.csr_array:
    """Numbers that a function makes of a matrix's stored ones, in double precision, and of their columns.

    They are rounded to the precision of the matrix, if it has floats, and share its indices.
    """
    made = np.empty(matrix.nnz, dtype=matrix.dtype if matrix.dtype.kind == "f" else np.float64)
    for first in range(0, len(made), _CELLS_AT_ONCE):
        part = slice(first, first + _CELLS_AT_ONCE)
        made[part] = function(matrix.data[part].astype(np.float64, copy=False), matrix.indices[part])
    return with_data(matrix, made)


def csr_of_rows(counts: np.ndarray, columns: np.ndarray, values: np.ndarray, n_columns: int) -> sparse.csr_array:
    """CSR with indices as short as columns have them, of rows of so many cells each.

    Parameters
    ----------
    counts : (n_rows,) cells of each row.
    columns, values : (n_cells,) one row behind the other; they are not copied.
    n_columns : how many there are.
    """
    starts = np.append(0, np.cumsum(counts))
    if starts[-1] <= np.iinfo(columns.dtype).max:
        starts = starts.astype(columns.dtype)
    return sparse.csr_array((values, columns, starts), shape=(len(counts), n_columns))


def stored_cells(*matrices: Matrix) -> tuple[np.ndarray, ...]:
    """Rows and columns of the cells in which any of several matrices is not 0, and what each of them has there.

    Parameters
    ----------
    matrices : of one shape, sparse or dense.

    Returns
    -------
    (n_cells,) rows and columns in int64, row by row, and as many values of each matrix in its dtype. Time and memory
    grow with the numbers that are stored and with rows.
    """
    n_rows, n_columns = matrices[0].shape
    parts = [canonical(matrix) for matrix in matrices]
    places = [np.repeat(np.arange(n_rows) * n_columns, np.diff(part.indptr)) + part.indices for part in parts]
    every = np.sort(np.concatenate(places), kind="stable")  # runs in order, which are merged
    every = every[np.diff(every, prepend=-1) > 0]
    values = [np.zeros(len(every), dtype=part.dtype) for part in parts]
    for value, place, part in zip(values, places, parts, strict=True):
        value[np.searchsorted(every, place)] = part.data
    return *np.divmod(every, max(n_columns, 1)), *values


def with_short_indices(X: Matrix) -> Matrix:
    """The same matrix, sparse ones with indices of 32 bits where these suffice: many libraries take no others."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc") or max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False))
    return type(X)(parts, shape=X.shape)


class RunningMean:
    """Mean of matrices of one shape, one after the other, of those so far, which need not be kept."""

    def __init__(self) -> None:
        self.sum: Matrix | None = None
        self._n = 0

    def add(self, matrix: Matrix) -> Matrix:
        """The mean of all so far, with this one."""
        self.sum = matrix if self.sum is None else self.sum + matrix
        self._n += 1
        if sparse.issparse(matrix):  # in its own precision
            return matrix if self._n == 1 else with_data(self.sum, self.sum.data / matrix.dtype.type(self._n))
        return self.sum / self._n


def are_above(matrix: Matrix, threshold: float | np.ndarray) -> Matrix:
    """Which cells are above a threshold of at least 0, one for all columns or one of each."""
    if not sparse.issparse(matrix):
        return matrix > threshold
    limits = np.broadcast_to(threshold, matrix.shape[1])[matrix.indices]
    return canonical(with_data(matrix, matrix.data > limits))


def map_rows(function: Callable[[np.ndarray], np.ndarray], matrix: Matrix, floor: float) -> Matrix:
    """What a function makes of dense rows; a sparse matrix's, of which it gets some at a time, from a floor on."""
    if not sparse.issparse(matrix):
        return function(matrix)
    size = max(DENSE_CELLS // (16 * matrix.shape[1]), 1)
    parts = [function(matrix[first : first + size].toarray()) for first in range(0, matrix.shape[0], size)]
    return sparse.vstack([sparse.csr_array(np.where(part >= floor, part, 0)) for part in parts], format="csr")


def append_columns(X: Matrix, *new: np.ndarray) -> Matrix:
    """The columns and new ones, sparse where the first are."""
    if not new:
        return X
    return sparse.hstack([X, *new], format="csr") if sparse.issparse(X) else np.hstack([X, *new])
