"""Input checks and fast scores that equal those of scikit-learn.

Cascades are scored after every level. On small data, the input checks of scikit-learn and a loop over samples would
dominate the run time. The functions with names of scikit-learn do the same arithmetic in the same order and return
identical numbers. They require checked input: labels are 0 or 1, arrays are not empty, and scores are finite.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, stored_cells
from fairfold.core.validation import check_binary, check_dense_binary
from fairfold.errors import DataError


def check_pair(Y: Matrix, P: Matrix, name: str = "Y_true") -> tuple[Matrix, Matrix]:
    """Check labels and probabilities that are scored together.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, with NaN for unmeasured labels.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Finite probabilities.
    name : str, default="Y_true"
        Name of the labels in error messages.

    Returns
    -------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels, with ``UNMEASURED`` for unmeasured labels, and probabilities. Both are canonical CSR if `P` is sparse,
        else dense.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0 or 1, or probabilities are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = check_pair(np.array([[1, np.nan]]), [[1, 0]])
    >>> P
    array([[1., 0.]])
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


def cells_of(Y: Matrix, P: Matrix) -> tuple[np.ndarray, ...]:
    """Return the cells of labels and probabilities; for sparse matrices, those that either matrix stores.

    Parameters
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels and probabilities. Both are CSR, or neither is.

    Returns
    -------
    rows, labels : ndarray of int of shape (n_cells,)
        Sample and label of each cell, ordered by sample.
    truth, score : ndarray of shape (n_cells,)
        Label and probability of each cell.
    n_absent : ndarray of int of shape (n_samples,)
        Number of other labels of each sample, which are negative and have probability 0.

    Examples
    --------
    >>> import numpy as np
    >>> rows, labels, truth, score, n_absent = cells_of(np.array([[1, 0]]), np.array([[0.9, 0.2]]))
    >>> labels, truth, n_absent
    (array([0, 1]), array([1, 0]), array([0]))
    """
    if sparse.issparse(P):
        cells = stored_cells(Y, P)
    else:
        cells = *(each.ravel() for each in np.indices(P.shape)), Y.ravel(), P.ravel()
    return *cells, P.shape[1] - np.bincount(cells[0], minlength=P.shape[0])


def roc_auc_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute the area under the ROC curve, like scikit-learn but without input checks.

    Parameters
    ----------
    truth : ndarray of shape (n_pairs,)
        True label of each pair of a sample and a label, 0 or 1.
    score : ndarray of shape (n_pairs,)
        Predicted score of each pair.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair.

    Returns
    -------
    float
        Area under the ROC curve. The result is not valid unless both 0 and 1 occur in `truth`.

    Examples
    --------
    >>> import numpy as np
    >>> roc_auc_score(np.array([1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.2]))
    0.75
    """
    false, true = _counts_at_thresholds(truth, score, weights)
    if len(true) > 2:  # Drops collinear points, as roc_curve does.
        kept = np.concatenate([[True], (np.diff(false, 2) != 0) | (np.diff(true, 2) != 0), [True]])
        false, true = false[kept], true[kept]
    false, true = np.append(0.0, false), np.append(0.0, true)
    return float(np.trapezoid(true / true[-1], false / false[-1]))


def average_precision_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute average precision, like scikit-learn but without input checks.

    Average precision is the mean of the precision at each threshold, weighted by the gain in recall.

    Parameters
    ----------
    truth : ndarray of shape (n_pairs,)
        True label of each pair of a sample and a label, 0 or 1.
    score : ndarray of shape (n_pairs,)
        Predicted score of each pair.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair.

    Returns
    -------
    float
        Average precision. The result is not valid if `truth` contains no 1.

    Examples
    --------
    >>> import numpy as np
    >>> round(average_precision_score(np.array([1, 0, 1, 0]), np.array([0.9, 0.6, 0.4, 0.2])), 2)
    0.83
    """
    false, true = _counts_at_thresholds(truth, score, weights)
    precision = (true / (true + false))[::-1]
    recall = np.append((true / true[-1])[::-1], 0.0)
    return float(max(0.0, -np.sum(np.diff(recall) * precision)))


def matthews_corrcoef(truth: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute the Matthews correlation coefficient, like scikit-learn but without input checks.

    Parameters
    ----------
    truth : ndarray of shape (n_pairs,)
        True label of each pair of a sample and a label, 0 or 1.
    predicted : ndarray of int of shape (n_pairs,)
        Predicted label of each pair, 0 or 1.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair.

    Returns
    -------
    float
        Matthews correlation coefficient. 0 if the true or the predicted labels are constant.

    Examples
    --------
    >>> import numpy as np
    >>> round(matthews_corrcoef(np.array([1, 0, 1, 0]), np.array([1, 0, 1, 1])), 2)
    0.58
    """
    cells = 2 * truth.astype(np.int64) + predicted
    table = np.bincount(cells, weights, minlength=4).reshape(2, 2).astype(np.float64)
    of_truth, of_predicted = table.sum(axis=1), table.sum(axis=0)
    n = of_predicted.sum()
    spread = (n**2 - of_predicted @ of_predicted) * (n**2 - of_truth @ of_truth)
    return float((np.trace(table) * n - of_truth @ of_predicted) / np.sqrt(spread)) if spread else 0.0


def _counts_at_thresholds(
    truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Count false and true positives at each distinct score as threshold, in descending order of scores."""
    order = np.argsort(-score, kind=None if weights is None else "stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    if weights is None:
        true = np.cumsum(truth[order], dtype=np.float64)[last]
        return 1 + last - true, true
    truth, weights = truth[order], weights[order]
    return np.cumsum((1 - truth) * weights)[last], np.cumsum(truth * weights)[last]


def label_ranking_loss(Y: Matrix, P: Matrix, of_samples: np.ndarray | None = None) -> float:
    """Compute the share of wrongly ordered pairs of a positive and a negative label, averaged over samples.

    Parameters
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels and probabilities. Both are CSR, or neither is. ``UNMEASURED`` labels are ignored. At least one label
        must be measured.
    of_samples : ndarray of shape (n_samples,) or None, default=None
        Weight of each sample.

    Returns
    -------
    float
        Ranking loss. Ties count as wrong. NaN if no sample has a pair.

    Notes
    -----
    Samples without a positive or without a negative label have a loss of 0. Samples without a measured label are
    ignored. Cells that a CSR matrix does not store are negative labels with a probability of 0.

    Examples
    --------
    >>> import numpy as np
    >>> label_ranking_loss(np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]]))
    0.25
    """
    n_samples = P.shape[0]
    rows, _, truth, score, n_absent = cells_of(Y, P)
    n_negatives = np.concatenate([truth == 0, n_absent])
    is_positive = np.append(truth == 1, np.zeros(n_samples, dtype=bool))
    rows, score = np.append(rows, np.arange(n_samples)), np.append(score, np.zeros(n_samples))
    order = np.lexsort((score, rows))
    rows, score, is_positive, n_negatives = (each[order] for each in (rows, score, is_positive, n_negatives))
    of_rows = [np.bincount(rows, each, minlength=n_samples) for each in (is_positive, n_negatives)]
    # Number of positives with at most the score of a cell. Cells with equal scores use the count at the last one.
    is_last = np.append((np.diff(score) != 0) | (np.diff(rows) != 0), True)
    at_most = np.cumsum(is_positive)[is_last][np.cumsum(is_last) - is_last]
    at_most = at_most - (np.cumsum(of_rows[0]) - of_rows[0])[rows]
    n_pairs = of_rows[0] * of_rows[1]
    if not n_pairs.any():
        return np.nan
    losses = np.bincount(rows, n_negatives * at_most, minlength=n_samples) / np.maximum(n_pairs, 1)
    known = of_rows[0] + of_rows[1] > 0
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))


def sparse_average_precision_score(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute average precision for the stored cells of sparse matrices.

    The result equals that of :func:`average_precision_score` up to rounding errors. The terms are summed one after
    the other.

    Parameters
    ----------
    truth : ndarray of shape (n_pairs,)
        True label of each pair of a sample and a label, 0 or 1.
    score : ndarray of shape (n_pairs,)
        Predicted score of each pair.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair. One pair can represent all cells of 0 that the matrices do not store.

    Returns
    -------
    float
        Average precision. The result is not valid if `truth` contains no 1.

    Examples
    --------
    >>> import numpy as np
    >>> sparse_average_precision_score(np.array([1, 0]), np.array([0.5, 0.0]), np.array([1.0, 9.0]))
    1.0
    """
    false, true = _counts_at_thresholds(truth, score, weights)
    terms = np.diff(true, prepend=0.0) * (true / (true + false))
    return float(np.cumsum(terms)[-1] / true[-1])


def quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide two arrays, with NaN where the divisor is not positive.

    Parameters
    ----------
    above, below : ndarray of the same shape
        Dividend and divisor.

    Returns
    -------
    ndarray
        Quotient.

    Examples
    --------
    >>> import numpy as np
    >>> quotient(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0)
