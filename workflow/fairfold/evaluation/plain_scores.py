"""scikit-learn's scores, to the last bit, without its checks of input.

Cascades score every level as they grow, and on small data nine tenths of their time went into checking, again and
again, arrays that are known to be 0/1 and finite, and into a loop over samples. These functions do the same arithmetic
in the same order, so they give the very same numbers; a test compares them. They are for checked input only: ``truth``
and ``predicted`` hold 0 and 1, no array is empty, scores are finite.
"""

from __future__ import annotations

import numpy as np


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
