"""Rank the samples of each label by probability and count observed positives among the top samples.

Only stored probabilities of a sparse matrix are sorted. Samples without a stored probability follow those with one, and
samples with an unmeasured label come last. Their places follow from their rows and the number of other samples above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairfold.core.arrays import Matrix, canonical
from fairfold.core.compiled import njit
from fairfold.core.validation import UNMEASURED, check_label_matrix
from fairfold.errors import ModelError


class Rankings(NamedTuple):
    """Rankings of the labels that have an observed positive.

    Attributes
    ----------
    labels : ndarray of shape (k,)
        Column numbers of the labels, from 0.
    n_positives : ndarray of shape (k,)
        Number of observed positives of each label.
    n_measured : ndarray of shape (k,)
        Number of samples with a measured label.
    true_positives : callable
        Function that returns the number of observed positives among the top samples of each label. Its argument is an
        array of shape (k,) with the number of top samples, at least 1. Ties are in the order of rows, and samples with
        an unmeasured label come last.
    """

    labels: np.ndarray
    n_positives: np.ndarray
    n_measured: np.ndarray
    true_positives: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, observed: Matrix, probabilities: Matrix) -> Rankings:
        """Rank samples by their probabilities.

        Parameters
        ----------
        observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Observed labels of 0/1. NaN is an unmeasured label.
        probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
            Probabilities, at least 0.

        Returns
        -------
        Rankings
            Rankings of the labels that have an observed positive.

        Raises
        ------
        ModelError
            If labels are not 0, 1 or NaN, or shapes differ.

        Examples
        --------
        >>> observed = np.array([[1], [0], [1], [0]])
        >>> rankings = Rankings.of(observed, np.array([[0.9], [0.7], [0.4], [0.8]]))
        >>> rankings.true_positives(np.array([2]))
        array([1])
        """
        n_samples, n_labels = probabilities.shape
        observed = check_label_matrix(observed, "observed", ModelError, n_samples=n_samples, n_labels=n_labels)
        seen, p = canonical(observed).astype(np.int8, copy=False).tocsc(), canonical(probabilities).tocsc()
        label_of = np.repeat(np.arange(n_labels), np.diff(seen.indptr))
        n_positives, n_unmeasured = (
            np.bincount(label_of[seen.data == value], minlength=n_labels) for value in (1, UNMEASURED)
        )
        labels = np.flatnonzero(n_positives)
        place = _places_of_positives(p.indptr, p.indices, p.data, seen.indptr, seen.indices, seen.data)
        of_positive = np.searchsorted(labels, label_of[seen.data == 1])

        def true_positives(top: np.ndarray) -> np.ndarray:
            return np.bincount(of_positive[place < top[of_positive]], minlength=len(labels))

        return cls(labels, n_positives[labels], n_samples - n_unmeasured[labels], true_positives)


def places_in_labels(rows: np.ndarray, labels: np.ndarray, scores: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Compute the rank of each cell among all samples of its label, by descending score.

    Parameters
    ----------
    rows : ndarray of shape (n_cells,)
        Row of each cell, ascending.
    labels : ndarray of shape (n_cells,)
        Label of each cell.
    scores : ndarray of shape (n_cells,)
        Score of each cell. Cells that are not given have score 0. Ties are in the order of rows.
    shape : tuple of int
        Numbers of samples and labels.

    Returns
    -------
    ndarray of int64 of shape (n_cells,)
        Ranks, starting at 0.

    Examples
    --------
    >>> places_in_labels(np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([0.2, 0.9, 0.5]), (4, 1))
    array([2, 0, 1])
    """
    n_samples, n_labels = shape
    n_cells = np.bincount(labels, minlength=n_labels)
    starts = np.cumsum(n_cells) - n_cells

    def places(order: np.ndarray) -> np.ndarray:
        """Return places among the given cells of the label. The order sorts all cells by label."""
        found = np.empty(len(order), dtype=np.int64)
        found[order] = np.arange(len(order)) - starts[labels[order]]
        return found

    n_above = places(np.argsort(labels, kind="stable"))  # Number of given cells in rows above.
    ahead = np.where(scores > 0, 0, np.where(scores == 0, rows - n_above, n_samples - n_cells[labels]))
    return places(np.lexsort((-scores, labels))) + ahead  # Both sorts are stable.


def check_shapes(observed: Matrix, probabilities: Matrix) -> None:
    """Check that labels and probabilities are matrices of the same shape.

    Parameters
    ----------
    observed : {ndarray, csr_array} of shape (n_samples, n_labels)
        Labels.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities.

    Raises
    ------
    ModelError
        If a shape is wrong.
    """
    if observed.ndim != 2 or observed.shape != probabilities.shape:
        found = f"found shape {probabilities.shape} for labels of shape {observed.shape}"
        raise ModelError(f"probabilities: {found}. Both must be (n_samples, n_labels).")


@njit(cache=True, nogil=True, boundscheck=False)
def _places_of_positives(starts, rows, scores, seen_starts, seen_rows, seen):  # noqa: ANN001, ANN202
    """Compute the places of observed positives among the measured samples of their label, by descending score.

    All arrays are in CSC format with ascending rows. ``scores`` contains scores above 0, and ``seen`` is 1 for an
    observed positive and -1 for an unmeasured label. Places are sorted by label and row.
    """
    places, n_found = np.empty(np.sum(seen == 1), dtype=np.int64), 0
    for label in range(len(starts) - 1):
        first, end = seen_starts[label], seen_starts[label + 1]
        n_stored, position = starts[label + 1] - starts[label], first
        falling, n_measured = np.empty(n_stored, dtype=scores.dtype), 0
        measured = np.empty(n_stored, dtype=rows.dtype)
        for cell in range(starts[label], starts[label + 1]):
            while position < end and seen_rows[position] < rows[cell]:
                position += 1
            if position < end and seen_rows[position] == rows[cell] and seen[position] < 0:
                continue
            falling[n_measured], measured[n_measured] = -scores[cell], rows[cell]
            n_measured += 1
        place_of = np.empty(n_measured, dtype=np.int64)
        order = np.argsort(falling[:n_measured], kind="mergesort")
        for place in range(n_measured):  # Numba's assignment to listed elements also compiles a shape check.
            place_of[order[place]] = place
        n_above = n_unmeasured = 0  # Measured stored cells and unmeasured cells in rows above.
        for position in range(first, end):
            if seen[position] < 0:
                n_unmeasured += 1
                continue
            row = seen_rows[position]
            while n_above < n_measured and measured[n_above] < row:
                n_above += 1
            if n_above < n_measured and measured[n_above] == row:
                places[n_found] = place_of[n_above]
            else:
                places[n_found] = n_measured + row - n_above - n_unmeasured
            n_found += 1
    return places
