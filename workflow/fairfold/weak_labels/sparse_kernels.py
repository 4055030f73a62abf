"""Compiled parts of calibration and label frequency on sparse probabilities; no array of all cells on the way."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, boundscheck=False)
def logistic_sums(z, is_observed, counts, labels, coefficients):  # noqa: ANN001, ANN201
    """Sums over each label's cells that Newton's method for logistic curves needs.

    Parameters
    ----------
    z, is_observed, counts, labels : (n_cells,) score, 0 or 1, how much it counts, of numbers or booleans, and label;
        labels are None where there is one for all.
    coefficients : (n_labels, 2) slopes and intercepts.

    Returns
    -------
    (5, n_labels) of error · z, error, w · z², w · z and w, where w = p · (1 - p), and errors are p - is_observed.
    """
    sums = np.zeros((5, len(coefficients)))
    for cell in range(len(z)):
        label = 0 if labels is None else labels[cell]
        p = 1 / (1 + np.exp(-(z[cell] * coefficients[label, 0] + coefficients[label, 1])))
        error, weight = counts[cell] * (p - is_observed[cell]), counts[cell] * p * (1 - p)
        sums[0, label] += error * z[cell]
        sums[1, label] += error
        sums[2, label] += weight * z[cell] * z[cell]
        sums[3, label] += weight * z[cell]
        sums[4, label] += weight
    return sums


@njit(cache=True, nogil=True, boundscheck=False)
def places_of_positives(starts, rows, scores, seen_starts, seen_rows, seen):  # noqa: ANN001, ANN201
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
