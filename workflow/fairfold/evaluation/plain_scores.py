"""scikit-learn's scores, to the last bit, without its checks of input; and scores of sparse predictions.

Cascades score every level as they grow, and on small data nine tenths of their time went into checking, again and
again, arrays that are known to be 0/1 and finite, and into a loop over samples. These functions do the same arithmetic
in the same order, so they give the very same numbers; a test compares them. They are for checked input only: ``truth``
and ``predicted`` hold 0 and 1, no array is empty, scores are finite.
"""

from __future__ import annotations

import numpy as np

from fairfold.core.arrays import Matrix, canonical, stored_cells, with_data
from fairfold.core.validation import UNMEASURED


def roc_auc_score(truth: np.ndarray, score: np.ndarray) -> float:
    """Area under the ROC curve; both classes must occur.

    Parameters
    ----------
    truth, score : (n,)
    """
    false, true = _counts_at_thresholds(truth, score)
    if len(true) > 2:  # points on a straight line with both neighbours go, as in roc_curve
        kept = np.concatenate([[True], (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0), [True]])
        false, true = false[kept], true[kept]
    false, true = np.append(0.0, false), np.append(0.0, true)
    return float(np.trapezoid(true / true[-1], false / false[-1]))


def average_precision_score(truth: np.ndarray, score: np.ndarray) -> float:
    """Mean of the precisions at each threshold, weighted by the gain in recall; a positive must occur.

    Parameters
    ----------
    truth, score : (n,)
    """
    false, true = _counts_at_thresholds(truth, score)
    precision = (true / (true + false))[::-1]
    recall = np.append((true / true[-1])[::-1], 0.0)
    return float(max(0.0, -np.sum(np.diff(recall) * precision)))


def hamming_loss(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of wrong predictions.

    Parameters
    ----------
    truth, predicted : (n,)
    """
    return float(np.mean(truth != predicted))


def label_ranking_loss(Y: np.ndarray, P: np.ndarray) -> float:
    """Share of (positive, negative) label pairs of a sample in which the positive has no higher score; mean of samples.

    Parameters
    ----------
    Y, P : (n_samples, n_labels)
    """
    order = np.argsort(P, axis=1)
    ranked, positive = np.take_along_axis(P, order, axis=1), np.take_along_axis(Y, order, axis=1).astype(np.int64)
    n_labels, n_positives = Y.shape[1], positive.sum(axis=1)
    # Positives of at most a label's score: of equal scores, the count at the last one.
    is_last = np.append(np.diff(ranked, axis=1) != 0, np.full((len(Y), 1), True), axis=1)
    at_most = np.where(is_last, np.cumsum(positive, axis=1), n_labels)
    at_most = np.minimum.accumulate(at_most[:, ::-1], axis=1)[:, ::-1]
    wrong = ((1 - positive) * at_most).sum(axis=1)
    n_pairs = n_positives * (n_labels - n_positives)
    return float(np.mean(wrong / np.maximum(n_pairs, 1)))


def matthews_corrcoef(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Matthews correlation; 0 where either side is constant.

    Parameters
    ----------
    truth, predicted : (n,)
    """
    table = np.bincount(2 * truth.astype(np.int64) + predicted, minlength=4).reshape(2, 2).astype(np.float64)
    of_truth, of_predicted, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    spread = (n**2 - of_predicted @ of_predicted) * (n**2 - of_truth @ of_truth)
    return float((np.trace(table) * n - of_truth @ of_predicted) / np.sqrt(spread)) if spread else 0.0


def _counts_at_thresholds(truth: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positives when all scores from each distinct one on upwards count as positive, highest first."""
    order = np.argsort(-score)
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    true = np.cumsum(truth[order], dtype=np.float64)[last]
    return 1 + last - true, true


def sparse_average_precision_score(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Compute the micro average precision of sparse predictions; NaN without a positive or without a negative.

    No array is longer than what P and Y store.

    Parameters
    ----------
    Y, P : (n_samples, n_labels), CSR; ``UNMEASURED`` labels take no part.
    of_samples : (n_samples,) weights, or None.
    """
    from fairfold.core.sparse_rows import values_at  # compiled

    Y, P = canonical(Y), canonical(P)
    truth = values_at(P.indptr, P.indices, Y.indptr, Y.indices, Y.data)
    n_of = {value: with_data(Y, Y.data == value).sum(axis=1) for value in (1, UNMEASURED)}
    n_absent = {value: n_of[value] - with_data(P, truth == value).sum(axis=1) for value in n_of}
    n_measured = P.shape[0] * P.shape[1] - n_of[UNMEASURED].sum()
    if not 0 < n_of[1].sum() < n_measured:
        return np.nan
    weights = np.ones(P.shape[0]) if of_samples is None else of_samples
    of_cells = np.repeat(weights, np.diff(P.indptr))
    n_zeros = weights @ (P.shape[1] - np.diff(P.indptr) - n_absent[1] - n_absent[UNMEASURED])
    positives = np.append(P.data[truth == 1], np.zeros(n_absent[1].sum(), P.dtype))
    of_positives = np.append(of_cells[truth == 1], np.repeat(weights, n_absent[1]))
    falling = np.argsort(positives)[::-1]
    negated, place = np.unique(-positives[falling], return_inverse=True)  # thresholds, the highest first
    gain = np.bincount(place, of_positives[falling])
    true = np.cumsum(gain)
    negatives, of_negatives = P.data[truth == 0], of_cells[truth == 0]
    falling = np.argsort(negatives)[::-1]
    n_at_least = np.searchsorted(-negatives[falling], negated, side="right")
    false = np.append(0.0, np.cumsum(of_negatives[falling]))[n_at_least] + np.where(negated < 0, 0.0, n_zeros)
    return float(np.cumsum(gain * (true / (true + false)))[-1] / true[-1])


def sparse_label_ranking_loss(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Share of (positive, negative) label pairs of a sample in which the positive has no higher score; mean of samples.

    Samples without a positive or without a negative label have a loss of 0; NaN where no sample has both. A sample's
    labels that store nothing are negatives, which tie at 0: they are one cell that counts for all of them.

    Parameters
    ----------
    Y, P : (n_samples, n_labels), CSR; ``UNMEASURED`` labels take no part. Some are measured.
    of_samples : (n_samples,) weights, or None.
    """
    n_samples, n_labels = P.shape
    rows, _, truth, score = stored_cells(Y, P)
    n_absent = n_labels - np.bincount(rows, minlength=n_samples)
    n_negatives = np.concatenate([truth == 0, n_absent])
    is_positive = np.append(truth == 1, np.zeros(n_samples, dtype=bool))
    rows, score = np.append(rows, np.arange(n_samples)), np.append(score, np.zeros(n_samples))
    order = np.lexsort((score, rows))
    rows, score, is_positive, n_negatives = (each[order] for each in (rows, score, is_positive, n_negatives))
    of_rows = [np.bincount(rows, each, minlength=n_samples) for each in (is_positive, n_negatives)]
    # Positives of at most a cell's score: of equal scores, the count at the last one.
    is_last = np.append((np.diff(score) != 0) | (np.diff(rows) != 0), True)
    at_most = np.cumsum(is_positive)[is_last][np.cumsum(is_last) - is_last]
    at_most = at_most - (np.cumsum(of_rows[0]) - of_rows[0])[rows]
    n_pairs = of_rows[0] * of_rows[1]
    losses = np.bincount(rows, n_negatives * at_most, minlength=n_samples) / np.maximum(n_pairs, 1)
    if not n_pairs.any():
        return np.nan
    known = of_rows[0] + of_rows[1] > 0
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the divisor is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
