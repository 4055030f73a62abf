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

from fairfold.core.arrays import Matrix, canonical, stored_cells
from fairfold.core.validation import check_binary, check_dense_binary
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


def label_ranking_loss(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Share of (positive, negative) label pairs of a sample in which the positive has no higher score; mean of samples.

    Samples without a positive or without a negative label have a loss of 0, and those without a measured one take no
    part; NaN where no sample has a pair. Labels of a sample that CSR matrices do not store are negatives, which tie at
    0: they are one cell that counts for all of them.

    Parameters
    ----------
    Y, P : (n_samples, n_labels), both CSR or neither; ``UNMEASURED`` labels take no part. Some are measured.
    of_samples : (n_samples,) weights, or None.
    """
    n_samples, n_labels = P.shape
    if sparse.issparse(P):
        rows, _, truth, score = stored_cells(Y, P)
        n_absent = n_labels - np.bincount(rows, minlength=n_samples)
        n_negatives = np.concatenate([truth == 0, n_absent])
        is_positive = np.append(truth == 1, np.zeros(n_samples, dtype=bool))
        rows, score = np.append(rows, np.arange(n_samples)), np.append(score, np.zeros(n_samples))
        order = np.lexsort((score, rows))
    else:
        rows, score, is_positive, n_negatives = (
            np.indices(P.shape)[0].ravel(),
            P.ravel(),
            Y.ravel() == 1,
            Y.ravel() == 0,
        )
        order = (np.argsort(P, axis=1) + n_labels * np.arange(n_samples)[:, np.newaxis]).ravel()
    rows, score, is_positive, n_negatives = (each[order] for each in (rows, score, is_positive, n_negatives))
    of_rows = [np.bincount(rows, each, minlength=n_samples) for each in (is_positive, n_negatives)]
    # Positives of at most a cell's score: of equal scores, the count at the last one.
    is_last = np.append((np.diff(score) != 0) | (np.diff(rows) != 0), True)
    at_most = np.cumsum(is_positive)[is_last][np.cumsum(is_last) - is_last]
    at_most = at_most - (np.cumsum(of_rows[0]) - of_rows[0])[rows]
    n_pairs = of_rows[0] * of_rows[1]
    if not n_pairs.any():
        return np.nan
    losses = np.bincount(rows, n_negatives * at_most, minlength=n_samples) / np.maximum(n_pairs, 1)
    known = of_rows[0] + of_rows[1] > 0
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))


def sparse_average_precision_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray) -> float:
    """Compute :func:`average_precision_score` of many pairs, whose terms are added one after the other."""
    false, true = _counts_at_thresholds(truth, score, weights)
    terms = np.diff(true, prepend=0.0) * (true / (true + false))
    return float(np.cumsum(terms)[-1] / true[-1])


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide, with NaN where the divisor is not above 0.

    Examples
    --------
    >>> import numpy as np
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
