"""Scores for hierarchies of labels, as defined by the Critical Assessment of Functional Annotation (CAFA).

F_max (Radivojac et al. 2013) is the best F1 over all thresholds. Precision is averaged over the samples with a
prediction at the threshold, recall over all samples with a label. S_min (Clark & Radivojac 2013) combines the
information in labels that are not predicted (remaining uncertainty) and in labels that are wrongly predicted
(misinformation). Both are averaged over samples. S_min is the smallest Euclidean norm of the two over all thresholds.

Details follow the evaluator of CAFA. Thresholds are 0.01 to 0.99, and a label is predicted if its probability is at
least the threshold. Samples without a label are ignored. Thresholds without any prediction are ignored if other
thresholds exist.

References
----------
Radivojac et al. (2013), A large-scale evaluation of computational protein function prediction, Nature Methods 10.
Clark & Radivojac (2013), Information-theoretic evaluation of predicted ontological annotations, Bioinformatics 29.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows, quotient
from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.validation import check_label_matrix
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.ranked_cells import Cells

THRESHOLDS = np.arange(0.01, 1, 0.01)
"""Thresholds of CAFA's evaluator, identical to the last bit."""


_ROUNDING = 1e-9  # Means of ones may exceed 1 by rounding errors.


SCORES = ("f_max", "weighted_f_max", "s_min")
"""Names of the scores. Higher is better for the first two, lower for the last."""


def information_accretion(Y: Matrix, hierarchy: Hierarchy) -> np.ndarray:
    """Compute the information of each label given its parents, in bits: -log2 P(label | all its parents).

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Training labels, 0 or 1, that respect the true-path rule. NaN marks an unmeasured label and counts as 0. Samples
        without a label are ignored.
    hierarchy : Hierarchy
        Hierarchy of the labels.

    Returns
    -------
    ndarray of shape (n_labels,)
        Information of each label, at least 0. It is 0 for labels without a sample, which then do not affect weighted
        scores, as in the evaluator of CAFA.

    Raises
    ------
    DataError
        If `Y` is invalid or has another number of labels.

    Notes
    -----
    This is Equation 3 of Clark & Radivojac (2013). Probabilities are shares of samples, as in CAFA.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.core.hierarchy import Hierarchy
    >>> hierarchy = Hierarchy(np.array([[1, 0]]), n_labels=2)  # label 0 is the parent of label 1
    >>> information_accretion(np.array([[1, 1], [1, 0], [1, 1], [1, 0]]), hierarchy)
    array([0., 1.])
    """
    Y = check_label_matrix(Y, "Y", DataError, n_labels=hierarchy.n_labels)
    positive = sparse.csr_array(Y == 1)
    positive = positive[np.flatnonzero(np.diff(positive.indptr))].tocsc()
    parents, starts = hierarchy.neighbors(below=False)
    bits = np.zeros(hierarchy.n_labels)
    for label, n_with in enumerate(np.diff(positive.indptr)):
        own = parents[starts[label] : starts[label + 1]]
        if n_with:
            n_known = np.count_nonzero(positive[:, own].sum(axis=1) == len(own))
            bits[label] = np.log2(n_known / n_with)
    return bits


def hierarchical_scores(Y_true: Matrix, P: Matrix, information: np.ndarray) -> dict[str, float]:
    """Compute F_max, F_max weighted by information, and S_min.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1, that respect the true-path rule. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities from 0 to 1 that respect the true-path rule. Entries that a sparse matrix does not store are 0.
    information : array-like of shape (n_labels,)
        Information of each label, computed from the training samples. See :func:`information_accretion`.

    Returns
    -------
    dict of str to float
        Scores with the keys of ``SCORES``. All are NaN if no sample has a label. If nothing is predicted at any
        threshold, F_max is 0 and S_min is the remaining uncertainty without predictions.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0 or 1, or probabilities are not from 0 to 1.

    Notes
    -----
    Time and memory are O(n_samples · (n_labels + n_thresholds)). For sparse probabilities, the number of stored entries
    replaces n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> Y, P = np.array([[1, 1], [1, 0]]), np.array([[0.9, 0.4], [0.8, 0.6]])
    >>> scores = hierarchical_scores(Y, P, information=np.array([0.0, 1.0]))
    >>> {name: round(score, 2) for name, score in scores.items()}
    {'f_max': 0.86, 'weighted_f_max': 0.5, 's_min': 0.5}
    """
    cells = Cells.of(Y_true, P, "Y_true")
    information = np.asarray(information, dtype=np.float64)
    if information.shape != cells.shape[1:]:
        raise DataError(f"information has shape {information.shape}; it must be {cells.shape[1:]}, one per label.")
    if not ((cells.P >= -_ROUNDING) & (cells.P <= 1 + _ROUNDING)).all():
        raise DataError("probabilities must be numbers from 0 to 1.")
    counted = cells.sums(cells.w) > 0
    if not counted.any():
        return dict.fromkeys(SCORES, np.nan)
    plain, weighted = (
        [sums[counted] for sums in _sums(cells, weights)] for weights in (np.ones(cells.n_labels), information)
    )
    taken = (plain[0] > 0).any(axis=0)
    taken = taken if taken.any() else ~taken
    best = _f(*plain)[taken].max(), _f(*weighted)[taken].max(), _s(*weighted)[taken].min()
    return dict(zip(SCORES, map(float, best), strict=True))


def _sums(cells: Cells, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the weights of predicted labels, of hits and of true labels of each sample.

    The first two have the shape (n_samples, n_thresholds), the last (n_samples, 1).
    """
    n_bins = len(THRESHOLDS) + 1  # bin b has the probabilities of at least b thresholds
    bin_of = np.searchsorted(THRESHOLDS, cells.P, side="right") + n_bins * cells.rows
    of_cells = np.where(cells.is_measured, weights[cells.labels], 0.0)

    def at_least(values: np.ndarray) -> np.ndarray:
        """Sum the values of the cells that reach each threshold."""
        of_bins = np.bincount(bin_of, values, minlength=n_bins * cells.shape[0]).reshape(-1, n_bins)
        return np.cumsum(of_bins[:, ::-1], axis=1)[:, -2::-1]  # from the highest bin down to the lowest but one

    of_true = of_cells * cells.w
    return at_least(of_cells), at_least(of_true), cells.sums(of_true)[:, np.newaxis]


def _f(predicted: np.ndarray, hit: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Compute the harmonic mean of precision and recall at each threshold."""
    precision = quotient(quotient(hit, predicted, 0.0).sum(axis=0), (predicted > 0).sum(axis=0), 0.0)
    recall = quotient(hit, true, 0.0).mean(axis=0)
    return quotient(2 * precision * recall, precision + recall, 0.0)


def _s(predicted: np.ndarray, hit: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Compute the norm of remaining uncertainty and misinformation at each threshold."""
    return np.hypot((true - hit).mean(axis=0), (predicted - hit).mean(axis=0))


def score_hierarchy(Y: Matrix, predictions: FinalPredictions, hierarchy: Hierarchy, **unit: Any) -> pd.DataFrame:
    """Compute hierarchical scores of out-of-fold predictions, by fold and namespace.

    Each namespace of an ontology is scored separately, as in CAFA. Its scores use only its labels and the samples that
    have at least one of them. The information of labels is computed from the training part of each fold.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        True labels.
    predictions : FinalPredictions
        Out-of-fold predictions. Those selected by average precision are scored.
    hierarchy : Hierarchy
        Hierarchy of the labels.
    **unit : object
        Values of additional columns, which come first.

    Returns
    -------
    DataFrame
        Columns ``*unit, fold, namespace, metric, value, n_violations``. The namespace is ``all`` if there is only one.
        ``n_violations`` counts the probabilities above that of a parent and should be 0.

    Raises
    ------
    DataError
        If labels or probabilities are invalid, see :func:`hierarchical_scores`.
    """
    rows = []
    for fold, (train, test) in enumerate(parts_of(predictions.fold_of, Y.shape[0])):
        P = predictions.in_fold("average_precision", fold)
        predicted = finite_rows(P).all()
        for namespace, labels in hierarchy.by_namespace().items():
            scores, n_violations = dict.fromkeys(SCORES, np.nan), np.nan
            if predicted:
                information = information_accretion(Y[train][:, labels], hierarchy.of(labels))
                scores = hierarchical_scores(Y[test][:, labels], P[:, labels], information)
                n_violations = hierarchy.n_violations(P, labels)
            place = (*unit.values(), fold, namespace)
            rows += [(*place, metric, value, n_violations) for metric, value in scores.items()]
    return pd.DataFrame(rows, columns=[*unit, "fold", "namespace", "metric", "value", "n_violations"])


def summarize_hierarchies(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute mean and standard deviation over folds.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset, missing_rate, model`` and those of :func:`score_hierarchy`.

    Returns
    -------
    DataFrame
        Columns ``dataset, missing_rate, model, namespace, metric, mean, sd, n_folds, n_violations``. ``n_folds`` is the
        number of folds with a score. ``sd`` (divided by n_folds - 1) is NaN for fewer than 2 folds. ``n_violations`` is
        summed over folds.
    """
    groups = scores.groupby(["dataset", "missing_rate", "model", "namespace", "metric"], sort=False)
    summary = groups["value"].agg(mean="mean", sd="std", n_folds="count")
    return summary.assign(n_violations=groups["n_violations"].sum().astype(int)).reset_index()
