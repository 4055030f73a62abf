"""Types and helpers for dense and sparse arrays.

Data with many labels have sparse labels and probabilities. Cells that a sparse matrix does not store are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.errors import StudyError

Matrix: TypeAlias = Any
"""Features or labels of shape (n_samples, n_columns), as an array or in CSR format.

SciPy has no type annotations, so mypy cannot tell the two apart after ``sparse.issparse``.
"""

GAPS = frozenset({"", "?", "-", "#n/a", "na", "n/a", "nan", "nil", "none", "null"})
"""Lower-case texts that represent a missing value in files and in arrays of text."""

DENSE_CELLS = 50_000_000
"""Maximum number of cells (samples times labels) of a sparse matrix that is made dense; 400 MB of float64."""

LEAST_COUNTED = 100
"""Minimum number of features of sparse counts."""


def to_dense(matrix: Matrix, name: str, error: type[StudyError]) -> np.ndarray:
    """Convert a sparse matrix to an array, if it is not too large. Arrays are returned unchanged.

    Parameters
    ----------
    matrix : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        Matrix to convert.
    name : str
        Name of the matrix in messages.
    error : type
        Exception to raise.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Dense matrix.

    Raises
    ------
    StudyError
        ``error``, if a sparse matrix has more than ``DENSE_CELLS`` cells.
    """
    if not sparse.issparse(matrix):
        return matrix
    n_rows, n_columns = matrix.shape
    if n_rows * n_columns > DENSE_CELLS:
        raise error(
            f"{name} has {n_rows:,} × {n_columns:,} cells, but at most {DENSE_CELLS:,} cells of a sparse matrix are "
            "converted to a dense array. Use fewer samples or labels, or a method for sparse labels."
        )
    return matrix.toarray()


def with_sparsity(matrix: Matrix, is_sparse: bool) -> Matrix:
    """Convert a matrix of any size to CSR or to an array.

    Parameters
    ----------
    matrix : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        Matrix to convert.
    is_sparse : bool
        Whether to return a CSR array.

    Returns
    -------
    {ndarray, csr_array} of shape (n_rows, n_columns)
        The same object if it already has the requested type.
    """
    if is_sparse == sparse.issparse(matrix):
        return matrix
    return sparse.csr_array(matrix) if is_sparse else matrix.toarray()


def positives_by_label(Y: Matrix) -> np.ndarray:
    """Count the positives of each label.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels, 1 for positives.

    Returns
    -------
    ndarray of int of shape (n_labels,)
        Number of positives of each label.
    """
    return np.asarray((Y == 1).sum(axis=0)).ravel()


def most_common_labels(Y: Matrix, n_labels: int) -> np.ndarray:
    """Select the labels with the most positives.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels, 1 for positives.
    n_labels : int
        Maximum number of labels to select.

    Returns
    -------
    ndarray of int
        Indices of the labels in ascending order. Ties go to the first label.

    Examples
    --------
    >>> most_common_labels(np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]]), 2)
    array([0, 2])
    """
    return np.sort(np.argsort(-positives_by_label(Y), kind="stable")[:n_labels])


def quotient(above: ArrayLike, below: ArrayLike, otherwise: float = np.nan) -> np.ndarray:
    """Divide two arrays, with another value where the divisor is not positive.

    Parameters
    ----------
    above, below : array-like
        Dividend and divisor, which are broadcast.
    otherwise : float, default=nan
        Value where the divisor is not positive.

    Returns
    -------
    ndarray
        Quotient.

    Examples
    --------
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.divide(above, below, out=np.full(shape, otherwise), where=np.asarray(below) > 0)


def evenly_spaced(n_rows: int, most: int) -> np.ndarray:
    """Choose rows at equal distances, with the first and the last one.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    most : int
        Maximum number of rows to choose.

    Returns
    -------
    ndarray of int
        Positions of the rows in ascending order.

    Examples
    --------
    >>> evenly_spaced(101, 5)
    array([  0,  25,  50,  75, 100])
    """
    return np.unique(np.linspace(0, n_rows - 1, most).astype(int))


def canonical(matrix: Matrix) -> sparse.csr_array:
    """Return a matrix as canonical CSR: sorted columns, no duplicates and no stored zeros.

    Parameters
    ----------
    matrix : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        Matrix to convert.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Canonical matrix. It shares the arrays of a matrix that is already canonical.

    Examples
    --------
    >>> matrix = sparse.csr_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    >>> matrix.nnz, canonical(matrix).nnz
    (2, 1)
    >>> canonical(matrix).toarray()
    array([[0, 3],
           [0, 0]])
    """
    rows = sparse.csr_array(matrix)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def with_data(matrix: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Return a matrix with the same stored cells and other values.

    Parameters
    ----------
    matrix : csr_array of shape (n_rows, n_columns)
        Matrix whose indices are used.
    data : ndarray of shape (n_stored,)
        New values.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix with the new values.
    """
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def finite_rows(P: Matrix) -> np.ndarray:
    """Return whether all numbers of each row are finite.

    Parameters
    ----------
    P : {ndarray, csr_array} of shape (n_rows, n_columns)
        Matrix. An unknown sparse row stores a NaN.

    Returns
    -------
    ndarray of bool of shape (n_rows,)
        Whether each row is finite.
    """
    if not sparse.issparse(P):
        return np.isfinite(P).all(axis=1)
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    return np.bincount(rows[~np.isfinite(P.data)], minlength=P.shape[0]) == 0


def map_stored(function: Callable[[np.ndarray, np.ndarray], np.ndarray], matrix: sparse.csr_array) -> sparse.csr_array:
    """Apply a function to the stored values of a matrix, in double precision.

    Parameters
    ----------
    function : callable
        Function of an array of values and an array of their columns that returns new values.
    matrix : csr_array of shape (n_rows, n_columns)
        Matrix.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix with the same indices. Values are rounded to the dtype of the matrix if it is a float, otherwise they are
        float64.
    """
    dtype = matrix.dtype if matrix.dtype.kind == "f" else np.float64
    return with_data(matrix, function(matrix.data.astype(np.float64, copy=False), matrix.indices).astype(dtype))


def csr_of_rows(counts: np.ndarray, columns: np.ndarray, values: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Build a CSR array from the number of cells of each row.

    Parameters
    ----------
    counts : ndarray of int of shape (n_rows,)
        Number of cells of each row.
    columns : ndarray of int of shape (n_cells,)
        Column of each cell, row by row. The array is not copied, and row offsets use its dtype if they fit.
    values : ndarray of shape (n_cells,)
        Value of each cell. The array is not copied.
    n_columns : int
        Number of columns.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix.
    """
    starts = np.append(0, np.cumsum(counts))
    if starts[-1] <= np.iinfo(columns.dtype).max:
        starts = starts.astype(columns.dtype)
    return sparse.csr_array((values, columns, starts), shape=(len(counts), n_columns))


def stored_cells(*matrices: Matrix) -> tuple[np.ndarray, ...]:
    """Return the cells that are not 0 in at least one of several matrices.

    Parameters
    ----------
    *matrices : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        Matrices of the same shape.

    Returns
    -------
    tuple of ndarray of shape (n_cells,)
        Rows and columns of the cells, row by row, followed by the values of each matrix in its dtype.

    Notes
    -----
    Time and memory grow with the number of stored values and rows.

    Examples
    --------
    >>> rows, columns, first, second = stored_cells(np.array([[0, 5], [0, 0]]), np.array([[0, 0], [7, 0]]))
    >>> rows, columns
    (array([0, 1]), array([1, 0]))
    >>> first, second
    (array([5, 0]), array([0, 7]))
    """
    n_rows, n_columns = matrices[0].shape
    parts = [canonical(matrix) for matrix in matrices]
    places = [np.repeat(np.arange(n_rows) * n_columns, np.diff(part.indptr)) + part.indices for part in parts]
    every = np.sort(np.concatenate(places), kind="stable")  # The stable sort merges sorted runs.
    every = every[np.diff(every, prepend=-1) > 0]
    values = [np.zeros(len(every), dtype=part.dtype) for part in parts]
    for value, place, part in zip(values, places, parts, strict=True):
        value[np.searchsorted(every, place)] = part.data
    return *np.divmod(every, max(n_columns, 1)), *values


def with_short_indices(X: Matrix) -> Matrix:
    """Convert the indices of a sparse matrix to 32 bits if they fit, because many libraries require this.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Matrix.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_samples, n_features)
        Matrix with the same values. Arrays are returned unchanged.
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc") or max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False))
    return type(X)(parts, shape=X.shape)


class RunningMean:
    """Mean of a sequence of matrices of the same shape, updated without storing the matrices.

    Examples
    --------
    >>> mean = RunningMean()
    >>> first = mean.add(np.array([[0.0, 2.0]]))
    >>> mean.add(np.array([[1.0, 4.0]]))
    array([[0.5, 3. ]])
    """

    def __init__(self) -> None:
        self.sum: Matrix | None = None
        self._n = 0

    def add(self, matrix: Matrix) -> Matrix:
        """Add a matrix and return the mean of all matrices so far.

        Parameters
        ----------
        matrix : {ndarray, csr_array} of shape (n_rows, n_columns)
            Next matrix.

        Returns
        -------
        {ndarray, csr_array} of shape (n_rows, n_columns)
            Mean. Sparse means have the dtype of the matrix.
        """
        self.sum = matrix if self.sum is None else self.sum + matrix
        self._n += 1
        if sparse.issparse(matrix):  # Keep the precision of the matrix.
            return matrix if self._n == 1 else with_data(self.sum, self.sum.data / matrix.dtype.type(self._n))
        return self.sum / self._n


def are_above(matrix: Matrix, threshold: float | np.ndarray) -> Matrix:
    """Return which cells are above a threshold.

    Parameters
    ----------
    matrix : {ndarray, csr_array} of shape (n_rows, n_columns)
        Matrix.
    threshold : float or ndarray of shape (n_columns,)
        Threshold of all columns or of each column, at least 0.

    Returns
    -------
    {ndarray, csr_array} of bool of shape (n_rows, n_columns)
        Whether each cell is above the threshold.
    """
    if not sparse.issparse(matrix):
        return matrix > threshold
    limits = np.broadcast_to(threshold, matrix.shape[1])[matrix.indices]
    return canonical(with_data(matrix, matrix.data > limits))


def are_counts(X: Matrix) -> bool:
    """Check whether the features are many, sparse and never negative, like the frequencies of terms.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    bool
        Whether ``X`` is a sparse matrix of at least ``LEAST_COUNTED`` features without negative values.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from fairfold.core.arrays import are_counts
    >>> are_counts(sparse.eye_array(200)), are_counts(np.eye(200)), are_counts(sparse.eye_array(20))
    (True, False, False)
    """
    return sparse.issparse(X) and X.shape[1] >= LEAST_COUNTED and bool(X.data.min(initial=0) >= 0)


def map_rows(function: Callable[[np.ndarray], np.ndarray], matrix: Matrix, floor: float) -> Matrix:
    """Apply a function to dense rows. Sparse matrices are processed in blocks of rows.

    Parameters
    ----------
    function : callable
        Function of a dense array that returns an array with the same number of rows.
    matrix : {ndarray, csr_array} of shape (n_rows, n_columns)
        Matrix.
    floor : float
        Smallest value that a sparse result stores.

    Returns
    -------
    {ndarray, csr_array}
        Result of the function, sparse if the matrix is.
    """
    if not sparse.issparse(matrix):
        return function(matrix)
    size = max(DENSE_CELLS // (16 * matrix.shape[1]), 1)
    parts = [function(matrix[first : first + size].toarray()) for first in range(0, matrix.shape[0], size)]
    return sparse.vstack([sparse.csr_array(np.where(part >= floor, part, 0)) for part in parts], format="csr")


def append_columns(X: Matrix, *new: np.ndarray) -> Matrix:
    """Append columns to a matrix.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Matrix.
    *new : ndarray
        Blocks of columns, each with n_samples rows.

    Returns
    -------
    {ndarray, csr_array}
        Matrix with all columns, sparse if ``X`` is.
    """
    if not new:
        return X
    return sparse.hstack([X, *new], format="csr") if sparse.issparse(X) else np.hstack([X, *new])


def rows_of(ranges: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the rows of several ranges, one after the other.

    Parameters
    ----------
    ranges : sequence of (int, int)
        Start and stop of each range. If the start is larger, the rows from start - 1 down to stop follow.

    Returns
    -------
    ndarray of int
        The rows.

    Examples
    --------
    >>> rows_of([[2, 4], [2, 0]]).tolist()
    [2, 3, 1, 0]
    """
    parts = [np.arange(a, b) if a <= b else np.arange(b, a)[::-1] for a, b in ranges]
    return np.concatenate(parts).astype(np.int64)
