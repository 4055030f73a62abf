"""Label matrices as the splitters see them: checked once at the door, compressed by rows, never made dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fairfold.core.validation import UNMEASURED, check_binary
from fairfold.errors import SplitError


class Rows(NamedTuple):
    """What is assigned to folds: samples, or groups of samples that stay together.

    labels : csr_array of bool, shape (n_rows, n_labels); the labels that occur in each row.
    weights : ndarray of int64, shape (n_rows,); samples in each row.
    amounts : ndarray of int64, shape (labels.nnz,), or None for all 1; positives behind each stored label.
    """

    labels: sp.csr_array
    weights: np.ndarray
    amounts: np.ndarray | None = None

    def of(self, rows: np.ndarray) -> Rows:
        """Return some of the rows, in this order."""
        labels, amounts = self.labels, self.amounts
        if amounts is not None:
            amounts = sp.csr_array((amounts, labels.indices, labels.indptr), shape=labels.shape)[rows].data
        return Rows(labels[rows], self.weights[rows], amounts)


def check_labels(Y: Any) -> sp.csr_array:
    """Labels as a canonical boolean CSR array; the caller's matrix is not changed.

    Parameters
    ----------
    Y : array-like or SciPy sparse matrix, shape (n_samples, n_labels) or (n_samples,)
        Labels, 0 or 1, of any boolean, integer or float type, or NaN for an unmeasured one, which is no positive. One
        dimension is one label.

    Returns
    -------
    labels : csr_array of bool, shape (n_samples, n_labels)
        One stored ``True`` per positive, columns sorted within rows.

    Raises
    ------
    SplitError
        For a wrong shape, a value other than 0, 1 and NaN, or a matrix without any positive.
    """
    return labels_and_unmeasured(Y)[0]


def labels_and_unmeasured(Y: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Labels as :func:`check_labels` gives them, and the same of the cells that are unmeasured, of which none may be.

    Parameters, errors : as :func:`check_labels`.
    """
    Y = check_binary(Y, "Y", SplitError, unmeasured=True)
    if Y.ndim > 2:
        raise SplitError(f"Y has shape {Y.shape}: pass a matrix of shape (n_samples, n_labels)")
    Y = Y[:, np.newaxis] if Y.ndim == 1 else Y
    labels, unmeasured = (with_small_indices(_cells(Y, value)) for value in (1, UNMEASURED))
    if not all(labels.shape):
        raise SplitError(f"Y is empty, shape {labels.shape}: it needs at least one row and one label")
    if not labels.nnz:
        raise SplitError(f"Y, shape {labels.shape}, has no positive label: there is nothing to balance; use KFold")
    return labels, unmeasured


def labels_to_balance(Y: Any) -> sp.csr_array:
    """What splitters spread evenly: the labels and, where a label is unmeasured somewhere, its unmeasured cells.

    Folds of one size with as many unmeasured cells of a label have as many measured ones: its positives are then
    balanced among these.

    Parameters, errors : as :func:`check_labels`.

    Returns
    -------
    csr_array of bool, shape (n_samples, n_labels + labels with an unmeasured cell)
    """
    labels, unmeasured = labels_and_unmeasured(Y)
    if not unmeasured.nnz:
        return labels
    unmeasured = unmeasured[:, np.flatnonzero(np.bincount(unmeasured.indices, minlength=unmeasured.shape[1]))]
    return with_small_indices(sp.hstack((labels, unmeasured), format="csr"))


def _cells(Y: np.ndarray | sp.csr_array, value: int) -> sp.csr_array:
    """Cells that hold a value other than 0."""
    if not sp.issparse(Y):
        return sp.csr_array(value == Y)
    holds = Y.data == value
    if not holds.any():
        return sp.csr_array(Y.shape, dtype=bool)
    cells = sp.csr_array((holds, Y.indices, Y.indptr), shape=Y.shape)
    if not holds.all():
        cells = cells.copy()
        cells.eliminate_zeros()
    return cells


def with_small_indices(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with 32-bit indices where they suffice, so that each kernel is compiled for one type."""
    index_type = np.int32 if max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max else np.int64
    matrix.indices, matrix.indptr = (array.astype(index_type, copy=False) for array in (matrix.indices, matrix.indptr))
    return matrix


def label_sizes(labels: sp.csr_array, amounts: np.ndarray | None = None) -> np.ndarray:
    """Positives of each label, shape (n_labels,), int64; ``amounts`` as for :func:`count_positives`."""
    return np.bincount(labels.indices, amounts, minlength=labels.shape[1]).astype(np.int64, copy=False)


def count_positives(
    labels: sp.csr_array, fold_of: np.ndarray, n_splits: int, amounts: np.ndarray | None = None
) -> np.ndarray:
    """Positives of each label in each fold, shape (n_splits, n_labels), int64.

    Parameters
    ----------
    labels : csr_array of bool, shape (n_rows, n_labels)
    fold_of : ndarray of int, shape (n_rows,)
    n_splits : number of folds.
    amounts : ndarray of int, shape (labels.nnz,), optional
        How many positives each stored label stands for; by default one.
    """
    n_rows = labels.shape[0]
    ones = np.ones(n_rows, dtype=np.int64)
    membership = sp.csc_array((ones, fold_of, np.arange(n_rows + 1)), shape=(n_splits, n_rows)).tocsr()
    if amounts is not None:
        labels = sp.csr_array((amounts, labels.indices, labels.indptr), shape=labels.shape)
    return (membership @ labels).toarray().astype(np.int64)
