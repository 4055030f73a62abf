"""Input checks and fast scores that equal those of scikit-learn, without loops over labels or samples.

Cascades are scored after every level. On small data, the input checks of scikit-learn and a loop over samples would
dominate the run time. The functions with names of scikit-learn do the same arithmetic in the same order and return
identical numbers. They require checked input: labels are 0 or 1, arrays are not empty, and scores are finite.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, quotient, stored_cells
from fairfold.core.validation import UNMEASURED, check_binary, check_dense_binary, check_same_columns
from fairfold.errors import DataError

N_BINS = 10
"""Number of bins of the calibration error."""


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
        If shapes or names of columns differ, labels are not 0 or 1, or probabilities are not finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = check_pair(np.array([[1, np.nan]]), [[1, 0]])
    >>> P
    array([[1., 0.]])
    """
    check_same_columns(Y, P, (name, "P"))
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
    found = ranking_losses(Y, P)
    if found is None:
        return np.nan
    losses, known = found
    return float(np.average(losses[known], weights=None if of_samples is None else of_samples[known]))


def ranking_losses(Y: Matrix, P: Matrix) -> tuple[np.ndarray, np.ndarray] | None:
    """Compute the ranking loss of each sample.

    Parameters
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels and probabilities, as in :func:`label_ranking_loss`.

    Returns
    -------
    tuple of ndarray of shape (n_samples,) or None
        Loss of each sample, and whether a label of the sample is measured. None if no sample has a pair.

    Examples
    --------
    >>> import numpy as np
    >>> ranking_losses(np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]]))[0]
    array([0. , 0.5])
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
        return None
    losses = np.bincount(rows, n_negatives * at_most, minlength=n_samples) / np.maximum(n_pairs, 1)
    return losses, of_rows[0] + of_rows[1] > 0


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


class Counts(NamedTuple):
    """Counts of the labels, or of the samples, of predictions.

    Attributes
    ----------
    true_positives, predicted, positives : ndarray of shape (n_groups,)
        Weights of true positives, predicted labels and positives of each label, or of each sample.
    measured : ndarray of shape (n_groups,)
        Weight of the measured pairs.
    """

    true_positives: np.ndarray
    predicted: np.ndarray
    positives: np.ndarray
    measured: np.ndarray


class _Ranks(NamedTuple):
    """Weights of pairs that are ranked by score within each group.

    Attributes
    ----------
    order : ndarray of int of shape (n_pairs,)
        Indices of the pairs, group by group, in descending order of scores.
    all_above, positives_above : ndarray of shape (n_pairs,)
        Weight of the pairs of the group, and of its positives, with a higher score.
    all_until, positives_until : ndarray of shape (n_pairs,)
        The same with at least this score.
    """

    order: np.ndarray
    all_above: np.ndarray
    positives_above: np.ndarray
    all_until: np.ndarray
    positives_until: np.ndarray


class Pairs:
    """Measured pairs of a sample and a label, which are counted and ranked by label or by sample.

    Sparse input may leave out pairs. These are negatives with a score of 0, and only their numbers are kept.

    Parameters
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels (0, 1 or ``UNMEASURED``) and scores. Both are CSR, or neither is.
    threshold : float
        A label is predicted if its score exceeds this threshold.
    of_samples : ndarray of shape (n_samples,) or None, default=None
        Weight of each sample. None weights all samples equally.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(np.array([[1, 0], [1, 1]]), np.array([[0.9, 0.7], [0.8, 0.3]]), threshold=0.5)
    >>> pairs.of_labels.true_positives, pairs.of_labels.predicted
    (array([2., 0.]), array([2., 1.]))
    """

    def __init__(self, Y: Matrix, P: Matrix, threshold: float, of_samples: np.ndarray | None = None) -> None:
        rows, labels, truth, score, n_absent = cells_of(Y, P)
        n_samples, n_labels = P.shape
        self.of_samples = np.ones(n_samples) if of_samples is None else of_samples
        stored = np.bincount(labels, self.of_samples[rows], minlength=n_labels)
        is_absent = np.bincount(labels, minlength=n_labels) < n_samples
        self._absent_of_samples = n_absent.astype(np.float64)
        self._absent_of_labels = np.where(is_absent, self.of_samples.sum() - stored, 0.0)
        is_measured = truth != UNMEASURED
        self._rows, self._labels, self._score = rows[is_measured], labels[is_measured], score[is_measured]
        self._is_positive = truth[is_measured] == 1
        self._is_predicted, self._predicts_absent = self._score > threshold, threshold < 0

    @cached_property
    def of_labels(self) -> Counts:
        """Counts of each label."""
        return self._counts(self._labels, self._absent_of_labels, self.of_samples[self._rows])

    @cached_property
    def of_each_sample(self) -> Counts:
        """Counts of each sample, without its weight."""
        return self._counts(self._rows, self._absent_of_samples, None)

    def _counts(self, groups: np.ndarray, absent: np.ndarray, weights: np.ndarray | None) -> Counts:
        chosen = self._is_positive & self._is_predicted, self._is_predicted, self._is_positive, slice(None)
        chosen_groups = [(groups[each], None if weights is None else weights[each]) for each in chosen]
        found = [np.bincount(*each, minlength=len(absent)).astype(np.float64) for each in chosen_groups]
        return Counts(found[0], found[1] + absent * self._predicts_absent, found[2], found[3] + absent)

    @cached_property
    def _label_ranks(self) -> _Ranks:
        return self._ranks(self._labels, self._absent_of_labels, self.of_samples[self._rows])

    @cached_property
    def _sample_ranks(self) -> _Ranks:
        return self._ranks(self._rows, self._absent_of_samples, np.ones(len(self._rows)))

    def _ranks(self, groups: np.ndarray, absent: np.ndarray, weights: np.ndarray) -> _Ranks:
        order = np.lexsort((-self._score, groups))
        group, score = groups[order], self._score[order]
        is_new = np.append(True, np.diff(group) != 0)[: len(order)]
        starts = np.append(is_new | (np.diff(score, prepend=np.nan) != 0), True)
        first = np.flatnonzero(starts)
        run = np.cumsum(starts[:-1]) - 1  # Number of the run of equal scores of each pair.
        of_group = np.flatnonzero(is_new)[np.cumsum(is_new) - 1]
        found = []
        for weight in (weights[order], weights[order] * self._is_positive[order]):
            sums = np.append(0.0, np.cumsum(weight))
            found.append((sums[first[run]] - sums[of_group], sums[first[run + 1]] - sums[of_group]))
        (all_above, all_until), (positives_above, positives_until) = found
        all_above, all_until = all_above + absent[group] * (score < 0), all_until + absent[group] * (score <= 0)
        return _Ranks(order, all_above, positives_above, all_until, positives_until)

    def average_precisions(self) -> np.ndarray:
        """Compute the average precision of each label.

        Returns
        -------
        ndarray of shape (n_labels,)
            Average precisions. NaN for a label without a positive or without a negative.
        """
        ranks = self._label_ranks
        labels, weights = self._labels[ranks.order], self.of_samples[self._rows[ranks.order]]
        terms = weights * self._is_positive[ranks.order] * ranks.positives_until / ranks.all_until
        return self._where_both(np.bincount(labels, terms, minlength=len(self._absent_of_labels)))

    def areas_under_the_curve(self) -> np.ndarray:
        """Compute the area under the ROC curve of each label.

        Returns
        -------
        ndarray of shape (n_labels,)
            Areas. NaN for a label without a positive or without a negative.
        """
        ranks, counts = self._label_ranks, self.of_labels
        labels, weights = self._labels[ranks.order], self.of_samples[self._rows[ranks.order]]
        negatives = counts.measured - counts.positives
        above = ranks.all_above - ranks.positives_above
        tied = ranks.all_until - ranks.positives_until - above
        terms = weights * self._is_positive[ranks.order] * (negatives[labels] - above - tied / 2)
        sums = np.bincount(labels, terms, minlength=len(negatives))
        return self._where_both(quotient(sums, negatives, 0.0))

    def _where_both(self, sums: np.ndarray) -> np.ndarray:
        """Divide sums by the positives of each label, with NaN for labels that are all positive or all negative."""
        counts = self.of_labels
        n_measured, n_positive = (
            np.bincount(labels, minlength=len(sums)) for labels in (self._labels, self._labels[self._is_positive])
        )
        has_negative = (n_positive < n_measured) | (self._absent_of_labels > 0)
        return np.where(has_negative, quotient(sums, counts.positives), np.nan)

    def precisions_of_ranks(self) -> np.ndarray:
        """Compute the label ranking average precision of each sample.

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean over the positives of a sample of the precision at their score. 1 without a positive or a negative.
        """
        ranks, counts = self._sample_ranks, self.of_each_sample
        terms = self._is_positive[ranks.order] * ranks.positives_until / ranks.all_until
        sums = np.bincount(self._rows[ranks.order], terms, minlength=len(counts.positives))
        return quotient(sums, counts.positives, 1.0)

    def coverages(self) -> np.ndarray:
        """Compute the number of labels of each sample that rank at least as high as its lowest positive.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers of labels. 0 for a sample without a positive.
        """
        ranks, found = self._sample_ranks, np.zeros(len(self.of_samples))
        np.maximum.at(found, self._rows[ranks.order], ranks.all_until * self._is_positive[ranks.order])
        return found

    def wrong_first_labels(self) -> np.ndarray:
        """Return for each sample whether a negative label has the highest score. Ties count as wrong.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            Whether the first label is wrong.
        """
        ranks, is_wrong = self._sample_ranks, np.zeros(len(self.of_samples), dtype=bool)
        is_first = (ranks.all_above == 0) & (ranks.all_until > ranks.positives_until)
        is_wrong[self._rows[ranks.order[is_first]]] = True
        # If no stored label has a score of at least 0, absent labels come first.
        highest = np.full(len(is_wrong), -np.inf)
        np.maximum.at(highest, self._rows, self._score)
        return is_wrong | ((highest <= 0) & (self._absent_of_samples > 0))


def recall_of(counts: Counts) -> np.ndarray:
    """Compute recall from counts.

    Parameters
    ----------
    counts : Counts
        Counts of each label or sample.

    Returns
    -------
    ndarray of shape (n_groups,)
        Recall. 0 without positives.
    """
    return np.nan_to_num(quotient(counts.true_positives, counts.positives))


def jaccard_of(counts: Counts) -> np.ndarray:
    """Compute the Jaccard similarity of predicted and true labels from counts.

    Parameters
    ----------
    counts : Counts
        Counts of each label or sample.

    Returns
    -------
    ndarray of shape (n_groups,)
        Jaccard similarity. 0 without positives and predicted labels.
    """
    either = counts.predicted + counts.positives - counts.true_positives
    return np.nan_to_num(quotient(counts.true_positives, either))


def is_exact(counts: Counts) -> np.ndarray:
    """Return whether all measured labels are predicted correctly.

    Parameters
    ----------
    counts : Counts
        Counts of each label or sample.

    Returns
    -------
    ndarray of bool of shape (n_groups,)
        Whether no label is wrong.
    """
    return (counts.predicted == counts.true_positives) & (counts.positives == counts.true_positives)


def calibration_error(truth: np.ndarray, score: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Compute the expected calibration error with bins of equal width.

    Parameters
    ----------
    truth : ndarray of shape (n_pairs,)
        True label of each pair of a sample and a label, 0 or 1.
    score : ndarray of shape (n_pairs,)
        Predicted probability of each pair.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair.

    Returns
    -------
    float
        Mean over pairs of the absolute difference between mean probability and share of positives of their bin.

    Examples
    --------
    >>> import numpy as np
    >>> round(calibration_error(np.array([0, 1, 1, 1]), np.array([0.25, 0.25, 0.75, 0.75])), 2)
    0.25
    """
    weights = np.ones(len(truth)) if weights is None else weights
    return float(np.abs(np.bincount(bins_of(score), weights * (score - truth))).sum() / weights.sum())


def bins_of(score: np.ndarray) -> np.ndarray:
    """Return the bin of each probability for :func:`calibration_error`.

    Parameters
    ----------
    score : ndarray of shape (n_pairs,)
        Predicted probability of each pair.

    Returns
    -------
    ndarray of int of shape (n_pairs,)
        Bins.

    Examples
    --------
    >>> import numpy as np
    >>> bins_of(np.array([0.25, 1.0]))
    array([2, 9])
    """
    return np.clip((score * N_BINS).astype(np.int64), 0, N_BINS - 1)
