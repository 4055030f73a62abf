"""Compiled parts of scores of sparse probabilities, of sorted runs of what is stored."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, boundscheck=False)
def average_precision(positives, negatives, counts, of_negatives, n_zeros):  # noqa: ANN001, ANN201
    """Mean of the precisions at each threshold, weighted by the gain in recall.

    Parameters
    ----------
    positives, negatives : (n_positives,) and (n_negatives,) scores, rising; one positive at least.
    counts, of_negatives : how much each counts; None where each counts once.
    n_zeros : how much other negatives, of score 0, count.
    """
    true = false = precisions = 0.0
    at, other, are_counted = len(positives) - 1, len(negatives) - 1, n_zeros == 0
    while at >= 0:
        threshold, gain = positives[at], 0.0
        while at >= 0 and positives[at] == threshold:
            gain += 1.0 if counts is None else counts[at]
            at -= 1
        while other >= 0 and negatives[other] >= threshold:
            false += 1.0 if of_negatives is None else of_negatives[other]
            other -= 1
        if threshold <= 0 and not are_counted:
            false, are_counted = false + n_zeros, True
        true += gain
        precisions += gain * (true / (true + false))
    return precisions / true
