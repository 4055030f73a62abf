"""Samples of each label from the likeliest on, and how many observed positives are among the first of them.

Of sparse probabilities nothing is sorted but what they store. A sample without a stored probability comes after all
that have one, and before those whose label is unmeasured; so its place follows from its row, and from the number of
others before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.core.arrays import Matrix, canonical
from fairfold.core.validation import UNMEASURED, check_label_matrix
from fairfold.errors import ModelError


class Rankings(NamedTuple):
    """Of the labels that have an observed positive.

    labels, n_positives, n_measured : (k,) their numbers, and the samples that are observed positive, and measured.
    hits : from (k,) numbers of samples, at least 1, how many observed positives are among so many likeliest ones of
        each label; ties go by row, and samples in which the label is unmeasured come last.
    """

    labels: np.ndarray
    n_positives: np.ndarray
    n_measured: np.ndarray
    hits: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, observed: Matrix, probabilities: Matrix) -> Rankings:
        """Rankings by probabilities, sparse or dense.

        Parameters
        ----------
        observed : (n_samples, n_labels) of 0/1, NaN where unmeasured.
        probabilities : (n_samples, n_labels), none below 0.
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

        def hits(top: np.ndarray) -> np.ndarray:
            return np.bincount(of_positive[place < top[of_positive]], minlength=len(labels))

        return cls(labels, n_positives[labels], n_samples - n_unmeasured[labels], hits)


def places_in_labels(rows: np.ndarray, labels: np.ndarray, scores: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Places of cells, from 0 on, among all samples of their label by falling score; what is not given scores 0.

    Parameters
    ----------
    rows, labels, scores : (n_cells,) row by row. Of equal scores, zeros too, the one of the first row comes first.
    shape : numbers of samples and labels.
    """
    n_samples, n_labels = shape
    n_cells = np.bincount(labels, minlength=n_labels)
    starts = np.cumsum(n_cells) - n_cells

    def places(order: np.ndarray) -> np.ndarray:
        """Among the cells of the label that are given, whose order is one of all cells, label by label."""
        found = np.empty(len(order), dtype=np.int64)
        found[order] = np.arange(len(order)) - starts[labels[order]]
        return found

    n_above = places(np.argsort(labels, kind="stable"))  # given ones in rows above, so that the others there are not
    ahead = np.where(scores > 0, 0, np.where(scores == 0, rows - n_above, n_samples - n_cells[labels]))
    return places(np.lexsort((-scores, labels))) + ahead  # both sorts leave equal ones in the order of rows


def check_shapes(observed: Matrix, probabilities: Matrix) -> None:
    """Raise :class:`ModelError` where labels and probabilities are not matrices of one shape."""
    if observed.ndim != 2 or observed.shape != probabilities.shape:
        raise ModelError(
            f"probabilities have shape {probabilities.shape} and labels {observed.shape}; both must be "
            "(n_samples, n_labels)."
        )


@njit(cache=True, nogil=True, boundscheck=False)
def _places_of_positives(starts, rows, scores, seen_starts, seen_rows, seen):  # noqa: ANN001, ANN202
    """Places of observed positives, from 0 on, among the measured samples of their label by falling score.

    Of equal scores, those of 0 too, the one of the first row comes first.

    Parameters
    ----------
    starts, rows, scores : of CSC, rows rising in a label: scores above 0; others are 0.
    seen_starts, seen_rows, seen : in the same form: 1 of an observed positive, -1 of an unmeasured label.

    Returns
    -------
    (n_positives,) places, label by label and row by row.
    """
    places, n_found = np.empty(np.sum(seen == 1), dtype=np.int64), 0
    for label in range(len(starts) - 1):
        first, end = seen_starts[label], seen_starts[label + 1]
        n_stored, at = starts[label + 1] - starts[label], first
        falling, n_measured = np.empty(n_stored, dtype=scores.dtype), 0
        measured = np.empty(n_stored, dtype=rows.dtype)
        for cell in range(starts[label], starts[label + 1]):
            while at < end and seen_rows[at] < rows[cell]:
                at += 1
            if at < end and seen_rows[at] == rows[cell] and seen[at] < 0:
                continue
            falling[n_measured], measured[n_measured] = -scores[cell], rows[cell]
            n_measured += 1
        place_of = np.empty(n_measured, dtype=np.int64)
        place_of[np.argsort(falling[:n_measured], kind="mergesort")] = np.arange(n_measured)
        n_above = n_unmeasured = 0  # stored ones in rows above that are measured, and unmeasured ones
        for at in range(first, end):
            if seen[at] < 0:
                n_unmeasured += 1
                continue
            row = seen_rows[at]
            while n_above < n_measured and measured[n_above] < row:
                n_above += 1
            if n_above < n_measured and measured[n_above] == row:
                places[n_found] = place_of[n_above]
            else:
                places[n_found] = n_measured + row - n_above - n_unmeasured
            n_found += 1
    return places
