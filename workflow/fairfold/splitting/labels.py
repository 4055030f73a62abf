"""Label matrices for the splitters: checked, sparse by rows and never made dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairfold.core.validation import UNMEASURED, check_binary
from fairfold.errors import SplitError


class Rows(NamedTuple):
    """Rows to assign to folds: samples, or groups of samples that stay together.

    Attributes
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels that occur in each row.
    weights : ndarray of int64 of shape (n_rows,)
        Number of samples in each row.
    amounts : ndarray of int64 of shape (labels.nnz,) or None, default=None
        Number of positives behind each stored label. ``None`` stands for one each.
    """

    labels: sp.csr_array
    weights: np.ndarray
    amounts: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> Rows:
        """Return a selection of rows.

        Parameters
        ----------
        rows : ndarray of int
            Indices of the rows, in the order of the result.

        Returns
        -------
        Rows
            The selected rows.
        """
        labels, amounts = self.labels, self.amounts
        if amounts is not None:
            amounts = sp.csr_array((amounts, labels.indices, labels.indptr), shape=labels.shape)[rows].data
        return Rows(labels[rows], self.weights[rows], amounts)


def check_labels(Y: Any) -> sp.csr_array:
    """Convert labels to a canonical boolean CSR array.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        Labels, 0 or 1, of a boolean, integer or float type. NaN marks an unmeasured label, which does not count as a
        positive. A one-dimensional array is a single label. The input is not changed.

    Returns
    -------
    csr_array of bool of shape (n_samples, n_labels)
        One stored ``True`` per positive, with columns sorted within rows.

    Raises
    ------
    SplitError
        If the shape is wrong, a value is not 0, 1 or NaN, or no label is positive.

    Examples
    --------
    >>> labels = check_labels([[1, 0], [0, float("nan")], [1, 1]])
    >>> labels.shape, labels.nnz
    ((3, 2), 3)
    """
    return labels_and_unmeasured(Y)[0]


def labels_and_unmeasured(Y: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Convert labels to two boolean CSR arrays: the positives and the unmeasured cells.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        Labels, as for :func:`check_labels`.

    Returns
    -------
    labels : csr_array of bool of shape (n_samples, n_labels)
        Positives, as returned by :func:`check_labels`.
    unmeasured : csr_array of bool of shape (n_samples, n_labels)
        One stored ``True`` per unmeasured cell. The array stores nothing if every label is measured.

    Raises
    ------
    SplitError
        For the reasons given in :func:`check_labels`.

    Examples
    --------
    >>> labels, unmeasured = labels_and_unmeasured([[1, 0], [0, float("nan")], [1, 1]])
    >>> labels.nnz, unmeasured.nnz
    (3, 1)
    """
    Y = check_binary(Y, "Y", SplitError, unmeasured=True)
    if Y.ndim > 2:
        raise SplitError(f"Y: found shape {Y.shape}. Give a matrix of shape (n_samples, n_labels).")
    Y = Y[:, np.newaxis] if Y.ndim == 1 else Y
    labels, unmeasured = (with_small_indices(_cells(Y, value)) for value in (1, UNMEASURED))
    if not all(labels.shape):
        raise SplitError(f"Y: found shape {labels.shape}. Give at least one row and one label.")
    if not labels.nnz:
        raise SplitError(f"Y: found no positive label in shape {labels.shape}. Use KFold, as no label can be balanced.")
    return labels, unmeasured


def labels_to_balance(Y: Any) -> sp.csr_array:
    """Return the indicators that splitters spread evenly: positives and unmeasured cells.

    Each label with at least one unmeasured cell adds a column that marks its unmeasured cells. If folds of equal size
    have equal numbers of unmeasured cells, they also have equal numbers of measured ones. The positives are therefore
    balanced relative to the measured cells.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        Labels, as for :func:`check_labels`.

    Returns
    -------
    csr_array of bool of shape (n_samples, n_labels + number of labels with unmeasured cells)
        Columns of the labels, followed by the columns of the unmeasured cells.

    Raises
    ------
    SplitError
        For the reasons given in :func:`check_labels`.

    Examples
    --------
    >>> labels_to_balance([[1, 0], [0, float("nan")], [0, 1]]).toarray().astype(int)
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]])
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    if not unmeasured.nnz:
        return labels
    unmeasured = unmeasured[:, np.flatnonzero(np.bincount(unmeasured.indices, minlength=unmeasured.shape[1]))]
    return with_small_indices(sp.hstack((labels, unmeasured), format="csr"))


def _cells(Y: np.ndarray | sp.csr_array, value: int) -> sp.csr_array:
    """Return the cells that hold a value other than 0."""
    if not sp.issparse(Y):
        return sp.csr_array(value == Y)
    stored = sp.csr_array(Y)
    cells = sp.csr_array((stored.data == value, stored.indices.copy(), stored.indptr.copy()), shape=Y.shape)
    cells.eliminate_zeros()
    return cells


def with_small_indices(matrix: sp.csr_array) -> sp.csr_array:
    """Convert the indices of a matrix to 32 bits if they fit.

    The common index type lets Numba compile each kernel once.

    Parameters
    ----------
    matrix : csr_array
        Matrix whose index arrays are replaced in place.

    Returns
    -------
    csr_array
        The same matrix.
    """
    index_type = np.int32 if max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max else np.int64
    matrix.indices, matrix.indptr = (array.astype(index_type, copy=False) for array in (matrix.indices, matrix.indptr))
    return matrix


def label_sizes(labels: sp.csr_array, amounts: np.ndarray | None = None) -> np.ndarray:
    """Count the positives of each label.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.
    amounts : ndarray of int of shape (labels.nnz,), default=None
        Number of positives behind each stored label. ``None`` stands for one each.

    Returns
    -------
    ndarray of int64 of shape (n_labels,)
        Number of positives of each label.

    Examples
    --------
    >>> label_sizes(check_labels([[1, 0], [1, 1], [1, 0]]))
    array([3, 1])
    """
    return np.bincount(labels.indices, amounts, minlength=labels.shape[1]).astype(np.int64, copy=False)


def count_positives(
    labels: sp.csr_array, fold_of: np.ndarray, n_splits: int, amounts: np.ndarray | None = None
) -> np.ndarray:
    """Count the positives of each label in each fold.

    Parameters
    ----------
    labels : csr_array of bool of shape (n_rows, n_labels)
        Labels of each row.
    fold_of : ndarray of int of shape (n_rows,)
        Fold of each row.
    n_splits : int
        Number of folds.
    amounts : ndarray of int of shape (labels.nnz,), default=None
        Number of positives behind each stored label. ``None`` stands for one each.

    Returns
    -------
    ndarray of int64 of shape (n_splits, n_labels)
        Number of positives of each label in each fold.

    Examples
    --------
    >>> import numpy as np
    >>> count_positives(check_labels([[1, 0], [1, 1], [1, 0]]), np.array([0, 0, 1]), 2)
    array([[2, 1],
           [1, 0]])
    """
    n_rows = labels.shape[0]
    ones = np.ones(n_rows, dtype=np.int64)
    membership = sp.csc_array((ones, fold_of, np.arange(n_rows + 1)), shape=(n_splits, n_rows)).tocsr()
    if amounts is not None:
        labels = sp.csr_array((amounts, labels.indices, labels.indptr), shape=labels.shape)
    return (membership @ labels).toarray().astype(np.int64)
