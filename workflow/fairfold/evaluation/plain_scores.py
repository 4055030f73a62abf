"""Parts of scores: checks of input, scikit-learn's scores to the last bit, and scores of sparse predictions.

Cascades score every level as they grow. On small data nine tenths of the time went into scikit-learn's checks of arrays
that are known to be 0/1 and finite, and into a loop over samples. The functions named as scikit-learn's do the same
arithmetic in the same order, so that they give the same numbers; a test compares them. They are for checked input only:
``truth`` and ``predicted`` hold 0 and 1, no array is empty, scores are finite. ``weights`` of the pairs may be None.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, stored_cells, with_data
from fairfold.core.validation import UNMEASURED, check_binary, check_dense_binary
from fairfold.errors import DataError


def check_pair(Y: Matrix, P: ArrayLike | Matrix, name: str = "Y_true") -> tuple[Matrix, Matrix]:
    """Check labels and probabilities that are scored together.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1, NaN where unmeasured.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Finite probabilities.
    name : str, default="Y_true"
        Name of the labels in messages.

    Returns
    -------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels with ``UNMEASURED`` in unmeasured cells, and probabilities, in canonical CSR if these are sparse, as
        arrays otherwise.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0/1, or probabilities are not finite numbers.
    """
    is_sparse = sparse.issparse(P)
    Y = (check_binary if is_sparse else check_dense_binary)(Y, name, DataError, unmeasured=True)
    P = canonical(P) if is_sparse else np.asarray(P)
    if P.dtype.kind not in "fiubO":
        raise DataError(f"probabilities are of type {P.dtype}; they must be numbers.")
    if P.dtype.kind != "f" or not is_sparse:
        P = P.astype(np.float64, copy=False)
    if Y.ndim != 2 or Y.shape != P.shape or 0 in Y.shape:
        raise DataError(f"labels have shape {Y.shape} and probabilities {P.shape}; both must be (n_samples, n_labels).")
    values = P.data if is_sparse else P
    if not np.isfinite(values).all():
        raise DataError(
            f"{np.count_nonzero(~np.isfinite(values))} of {values.size} predicted probabilities are not finite."
        )
    return (canonical(Y) if is_sparse else Y), P


def roc_auc_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Area under the ROC curve; both classes must occur."""
    false, true = _counts_at_thresholds(truth, score, weights)
    if len(true) > 2:  # points on a straight line with both neighbours go, as in roc_curve
        kept = np.concatenate([[True], (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0), [True]])
        false, true = false[kept], true[kept]
    false, true = np.append(0.0, false), np.append(0.0, true)
    return float(np.trapezoid(true / true[-1], false / false[-1]))


def average_precision_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean of the precisions at each threshold, weighted by the gain in recall; a positive must occur."""
    false, true = _counts_at_thresholds(truth, score, weights)
    precision = (true / (true + false))[::-1]
    recall = np.append((true / true[-1])[::-1], 0.0)
    return float(max(0.0, -np.sum(np.diff(recall) * precision)))


def matthews_corrcoef(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Matthews correlation; 0 where either side is constant."""
    cells = 2 * truth.astype(np.int64) + predicted
    table = np.bincount(cells, weights, minlength=4).reshape(2, 2).astype(np.float64)
    of_truth, of_predicted = table.sum(axis=1), table.sum(axis=0)
    n = of_predicted.sum()
    spread = (n**2 - of_predicted @ of_predicted) * (n**2 - of_truth @ of_truth)
    return float((np.trace(table) * n - of_truth @ of_predicted) / np.sqrt(spread)) if spread else 0.0


def _counts_at_thresholds(
    truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """False and true positives when all scores from each distinct one on upwards count as positive, highest first."""
    order = np.argsort(-score, kind=None if weights is None else "stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    if weights is None:
        true = np.cumsum(truth[order], dtype=np.float64)[last]
        return 1 + last - true, true
    truth, weights = truth[order], weights[order]
    return np.cumsum((1 - truth) * weights)[last], np.cumsum(truth * weights)[last]


def label_ranking_loss(Y: np.ndarray, P: np.ndarray, of_samples: np.ndarray | None = None) -> float:
    """Share of (positive, negative) label pairs of a sample in which the positive has no higher score; mean of samples.

    Samples without a positive or without a negative label have a loss of 0, and those without a measured one take no
    part; NaN where no sample has a pair.

    Parameters
    ----------
    Y, P : (n_samples, n_labels); ``UNMEASURED`` labels take no part. Some are measured.
    of_samples : (n_samples,) weights, or None.
    """
    order = np.argsort(P, axis=1)
    ranked, truth = np.take_along_axis(P, order, axis=1), np.take_along_axis(Y, order, axis=1)
    positive, negative = (truth == 1).astype(np.int64), (truth == 0).astype(np.int64)
    # Positives of at most a label's score: of equal scores, the count at the last one.
    is_last = np.append(np.diff(ranked, axis=1) != 0, np.full((len(Y), 1), True), axis=1)
    at_most = np.where(is_last, np.cumsum(positive, axis=1), Y.shape[1])
    at_most = np.minimum.accumulate(at_most[:, ::-1], axis=1)[:, ::-1]
    return _mean_loss((negative * at_most).sum(axis=1), positive.sum(axis=1), negative.sum(axis=1), of_samples)


def _mean_loss(
    n_wrong: np.ndarray, n_positives: np.ndarray, n_negatives: np.ndarray, of_samples: np.ndarray | None
) -> float:
    """Mean over samples of the share of their pairs that are wrong; each argument has one number per sample."""
    n_pairs = n_positives * n_negatives
    if not n_pairs.any():
        return np.nan
    known = n_positives + n_negatives > 0
    losses = n_wrong / np.maximum(n_pairs, 1)
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))


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
    """Compute :func:`label_ranking_loss` of CSR matrices.

    A sample's labels that store nothing are negatives, which tie at 0: they are one cell that counts for all of them.
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
    return _mean_loss(np.bincount(rows, n_negatives * at_most, minlength=n_samples), *of_rows, of_samples)


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the divisor is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
