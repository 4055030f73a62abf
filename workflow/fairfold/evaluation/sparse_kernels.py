"""Compiled parts of scores and thresholds of sparse probabilities, of sorted runs of what is stored."""

from __future__ import annotations

import numpy as np

from fairfold.compiled import njit


@njit(boundscheck=False)
def best_of_runs(p, starts, n, is_mcc):  # noqa: ANN001, ANN201
    """Best thresholds of runs of probabilities; the arithmetic of ``_best_of_rows`` and the scores in `thresholds`.

    Parameters
    ----------
    p : (n_stored,) rising in each run, above 0.
    starts : (k + 1,) where runs begin.
    n : float, cells of each run; those that are not stored are 0.
    is_mcc : whether the Matthews correlation is to be best, or F1.

    Returns
    -------
    (k,) thresholds.
    """
    found = np.empty(len(starts) - 1)
    for run in range(len(found)):
        first, end = starts[run], starts[run + 1]
        positives = 0.0
        for place in range(end - 1, first - 1, -1):
            positives += np.float64(p[place])
        hits, best, threshold = 0.0, 0.0, 0.5
        for place in range(end - 1, first - 2, -1):
            if place < first:  # all zeros, which are predicted together
                if end - first == n:
                    break
                chosen, here, below = n, 0.0, 0.0
            else:
                here, below = np.float64(p[place]), np.float64(p[place - 1]) if place > first else 0.0
                hits += here
                chosen = float(end - place)
                if place > first and here == below:
                    continue
            if is_mcc:
                covariance, spread = hits * n - chosen * positives, chosen * (n - chosen) * positives * (n - positives)
                score = covariance / np.sqrt(spread) if spread > 0 else 0.0
            else:
                score = 2 * hits / max(chosen + positives, np.finfo(np.float64).tiny)
            if score > best:
                best = score
                threshold = (here + below) / 2 if chosen < n else 0.0
        found[run] = threshold
    return found


@njit(boundscheck=False)
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
