"""The labels that come first in each sample, of dense or sparse probabilities, in blocks of samples.

In CSR an absent probability is 0. Labels of equal probability come in the order of their numbers; so those of
probability 0 come last, the first label first, and dense and CSR give the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.errors import DataError

BLOCK = 2**22
"""Cells, or stored probabilities, that are looked at together: with sorting, up to 340 MB of memory."""


class TopLabels(NamedTuple):
    """The labels that come first in each sample.

    labels : (n_samples, k) their numbers, the most probable first; -1 where a sample has no more.
    """

    labels: np.ndarray


def top_labels(P: Matrix, k: int = 5, *, unmeasured: Matrix | None = None, zeros: bool = True) -> TopLabels:
    """The k labels of highest probability in each sample, those of equal probability in the order of their numbers.

    Parameters
    ----------
    P : (n_samples, n_labels) probabilities, or other scores if dense; finite. In CSR an absent one is 0.
    k : how many, at least 1.
    unmeasured : (n_samples, n_labels) of bool, labels that take no place; None for none.
    zeros : whether labels of probability 0 take the places that are left when there are fewer than k others.

    Returns
    -------
    TopLabels
        Time grows with the cells of a dense P, and with the stored ones of a sparse P, of which s take s·log(s); memory
        beyond the result is that of a block of samples.

    Raises
    ------
    DataError
        When P is no such matrix, holds numbers that are not finite, or, sparse, negative ones; or k is no such number.
    """
    check_k(k)
    P = check_probabilities(P)
    if unmeasured is not None:
        unmeasured = sparse.csr_array(unmeasured, dtype=bool, copy=True)  # which is changed below
        if unmeasured.shape != P.shape:
            raise DataError(f"probabilities have shape {P.shape} and what is unmeasured {unmeasured.shape}.")
        unmeasured.sum_duplicates()
        unmeasured.eliminate_zeros()
    if sparse.issparse(P):
        return TopLabels(_top_of_sparse(P, k, unmeasured, zeros))
    return TopLabels(_top_of_dense(P, k, unmeasured, zeros))


def _top_of_dense(P: np.ndarray, k: int, unmeasured: sparse.csr_array | None, zeros: bool) -> np.ndarray:
    top = np.full((len(P), k), -1, dtype=np.int64)
    n_labels = P.shape[1]
    for start, stop in blocks(len(P), n_labels):
        block = P[start:stop]
        if unmeasured is not None:
            block = block.copy()
            block[unmeasured[start:stop].nonzero()] = -np.inf
        is_candidate = np.isfinite(block) if zeros else np.isfinite(block) & (block != 0)
        if k < n_labels:
            is_candidate &= block >= np.partition(block, n_labels - k, axis=1)[:, n_labels - k, np.newaxis]
        rows, labels = np.nonzero(is_candidate)
        top[start:stop] = first_of_rows(rows, labels, block[rows, labels], stop - start, k)
    return top


def _top_of_sparse(P: sparse.csr_array, k: int, unmeasured: sparse.csr_array | None, zeros: bool) -> np.ndarray:
    top = np.full((P.shape[0], k), -1, dtype=np.int64)
    if unmeasured is not None:
        P = sparse.csr_array(P - P.multiply(unmeasured))
    n_unmeasured = 0 if unmeasured is None else int(np.diff(unmeasured.indptr).max(initial=0))
    # The first free labels are among so many: fewer than k are positive, and k are to be free.
    n_looked_at = min(P.shape[1], 2 * k - 1 + n_unmeasured)
    for start, stop in _blocks_of_rows(P, max(n_looked_at, 1)):
        block, of_block = P[start:stop], top[start:stop]
        is_positive = block.data > 0
        rows = np.repeat(np.arange(stop - start), np.diff(block.indptr))[is_positive]
        labels = block.indices[is_positive].astype(np.int64)
        of_block[:] = first_of_rows(rows, labels, block.data[is_positive], stop - start, k)
        if zeros and (short := np.flatnonzero(of_block[:, -1] < 0)).size:
            taken = None if unmeasured is None else unmeasured[start:stop][short]
            of_block[short] = _with_zeros(of_block[short], n_looked_at, taken)
    return top


def first_of_rows(rows: np.ndarray, labels: np.ndarray, values: np.ndarray, n_rows: int, k: int) -> np.ndarray:
    """(n_rows, k) labels of the highest values of each row, -1 where there are no more; rows and labels ascend."""
    top = np.full((n_rows, k), -1, dtype=np.int64)
    order = np.lexsort((-values, rows))  # stable, so that labels ascend where values are equal
    rows = rows[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, np.arange(n_rows))[rows]
    is_first = place < k
    top[rows[is_first], place[is_first]] = labels[order][is_first]
    return top


def _with_zeros(top: np.ndarray, n_looked_at: int, unmeasured: sparse.csr_array | None) -> np.ndarray:
    """The same with the first labels that have no place yet in those that are left."""
    k = top.shape[1]
    is_free = np.full((len(top), n_looked_at), True)
    rows, places = np.nonzero((top >= 0) & (top < n_looked_at))
    is_free[rows, top[rows, places]] = False
    if unmeasured is not None:
        is_free[unmeasured[:, :n_looked_at].nonzero()] = False
    rows, labels = np.nonzero(is_free)
    n_taken = np.count_nonzero(top >= 0, axis=1)
    place = n_taken[rows] + np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(top)))[rows]
    is_first = place < k
    top[rows[is_first], place[is_first]] = labels[is_first]
    return top


def check_k(k: int) -> None:
    """Raise :class:`DataError` where k is no whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise DataError(f"k is {k!r}; it must be a whole number from 1.")


def check_probabilities(P: Matrix) -> Matrix:
    """As an array of floats, or a canonical CSR array; raises as :func:`top_labels`. The caller's are not changed."""
    if sparse.issparse(P):
        if P.ndim != 2:
            raise DataError(f"probabilities have {P.ndim} dimension(s); they must be (n_samples, n_labels).")
        matrix = sparse.csr_array(P)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # the caller's stays as it is
            matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = values = np.asarray(P)
    if values.dtype.kind not in "fiub":
        raise DataError(f"probabilities are of type {values.dtype}; they must be numbers.")
    if values.dtype.kind != "f":
        matrix, values = matrix.astype(np.float64), values.astype(np.float64)
    if matrix.ndim != 2:
        raise DataError(f"probabilities have shape {matrix.shape}; they must be (n_samples, n_labels).")
    if not np.isfinite(values).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(values))} predicted probabilities are not finite.")
    if sparse.issparse(matrix) and (values < 0).any():
        raise DataError("sparse probabilities hold a negative number, which is below those that are absent; give none.")
    return matrix


def blocks(n_rows: int, n_cells: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of so many cells each."""
    step = max(1, BLOCK // max(n_cells, 1))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)


def _blocks_of_rows(P: sparse.csr_array, n_cells: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of about ``BLOCK`` stored numbers at most, and of so many cells besides."""
    yield from runs(np.cumsum(np.maximum(np.diff(P.indptr), n_cells)))


def runs(costs: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of about ``BLOCK`` by running totals, or of one that is more."""
    start = 0
    while start < len(costs):
        spent = costs[start - 1] if start else 0
        stop = max(int(np.searchsorted(costs, spent + BLOCK, side="right")), start + 1)
        yield start, stop
        start = stop
