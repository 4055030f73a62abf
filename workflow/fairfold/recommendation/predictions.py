"""Tables of out-of-fold predictions: reliability, precision and recall, and decisions at each threshold.

They use the labels of the data as they are. A missing positive counts as a negative, and an unmeasured label does not
count.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.arrays import evenly_spaced, with_sparsity
from fairfold.core.defaults import SCORE
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS

MOST_LABELS = 60
"""Number of labels that the tables describe: those with the most positives."""
N_BINS = 10
THRESHOLDS = np.round(np.arange(0.01, 1, 0.01), 2)
_MOST_POINTS = 40  # points of a curve of precision and recall


def first_cross_validation(predicted: FinalPredictions, metric: str, labels: np.ndarray) -> np.ndarray:
    """Return the out-of-fold probabilities of the first cross-validation.

    Parameters
    ----------
    predicted : FinalPredictions
        Out-of-fold predictions.
    metric : str
        Metric that selects the level of a cascade. If it selects decisions instead of probabilities, ``SCORE`` does.
    labels : ndarray of int
        Labels to return.

    Returns
    -------
    ndarray of shape (n_samples, n_chosen)
        Probabilities, with NaN for samples that are never tested.
    """
    fold_of = np.atleast_2d(predicted.fold_of)[0]
    P = np.full((len(fold_of), len(labels)), np.nan)
    metric = metric if metric in BASIC_METRICS else SCORE
    for fold in range(int(fold_of.max(initial=-1)) + 1):
        found = predicted.in_fold(metric, fold)[:, labels]
        P[fold_of == fold] = with_sparsity(found, False)
    return P


def reliability(Y: np.ndarray, P: np.ndarray) -> pd.DataFrame:
    """Compare predicted probabilities with observed shares of positives.

    Parameters
    ----------
    Y, P : ndarray of shape (n_samples, n_labels)
        Labels and probabilities; NaN is ignored.

    Returns
    -------
    DataFrame
        Columns ``bin, n, probability, share``: number of sample-label pairs with a probability in each tenth, their
        mean probability, and their share of positives. Empty tenths have no row.

    Examples
    --------
    >>> reliability(np.array([[0.0, 1.0]]), np.array([[0.05, 0.95]])).to_numpy().tolist()
    [[0.0, 1.0, 0.05, 0.0], [9.0, 1.0, 0.95, 1.0]]
    """
    known = np.isfinite(Y) & np.isfinite(P)
    y, p = Y[known], P[known]
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    tenths = pd.DataFrame({"probability": p, "share": y}).groupby(bins)
    means = tenths.mean().rename_axis("bin").reset_index()
    means.insert(1, "n", tenths.size().to_numpy())
    return means


def decisions(Y: np.ndarray, P: np.ndarray, names: list[str]) -> pd.DataFrame:
    """Count the decisions on each label at each threshold.

    Parameters
    ----------
    Y, P : ndarray of shape (n_samples, n_labels)
        Labels and probabilities; NaN is ignored.
    names : list of str
        Names of the labels.

    Returns
    -------
    DataFrame
        Columns ``label, n, n_positives, threshold, n_predicted, n_true_positives``: measured samples, positives, and
        samples with a probability above the threshold, in total and among positives.

    Examples
    --------
    >>> table = decisions(np.array([[0.0], [1.0]]), np.array([[0.2], [0.7]]), ["leaf"])
    >>> table[table["threshold"] == 0.5].to_numpy().tolist()
    [['leaf', 2, 1, 0.5, 1, 1]]
    """
    tables = []
    for name, y, p in zip(names, Y.T, P.T, strict=True):
        known = np.isfinite(y) & np.isfinite(p)
        y, p = y[known], p[known]
        above = [len(each) - np.searchsorted(np.sort(each), THRESHOLDS, side="right") for each in (p, p[y == 1])]
        counts = {"threshold": THRESHOLDS, "n_predicted": above[0], "n_true_positives": above[1]}
        tables.append(pd.DataFrame({"label": name, "n": len(y), "n_positives": int(y.sum()), **counts}))
    return pd.concat(tables, ignore_index=True)


def precision_recall(Y: np.ndarray, P: np.ndarray, names: list[str]) -> pd.DataFrame:
    """Compute curves of precision and recall of each label.

    Parameters
    ----------
    Y, P : ndarray of shape (n_samples, n_labels)
        Labels and probabilities; NaN is ignored.
    names : list of str
        Names of the labels.

    Returns
    -------
    DataFrame
        Columns ``label, share, recall, precision``: share of positives, which is the precision of guesses, and at most
        40 points of the curve. Labels without positives have no row.

    Examples
    --------
    >>> precision_recall(np.array([[1.0], [0.0], [1.0]]), np.array([[0.9], [0.8], [0.7]]), ["leaf"]).round(2)
      label  share  recall  precision
    0  leaf   0.67     0.5       1.00
    1  leaf   0.67     1.0       0.67
    """
    tables = []
    for name, y, p in zip(names, Y.T, P.T, strict=True):
        known = np.isfinite(y) & np.isfinite(p)
        order = np.argsort(-p[known], kind="stable")
        ranked, sorted_p = y[known][order], p[known][order]
        last_of_equals = np.flatnonzero(np.diff(sorted_p, append=-np.inf))
        true_positives = np.cumsum(ranked)[last_of_equals]
        is_new = np.diff(true_positives, prepend=0) > 0
        true_positives, ranks = true_positives[is_new], last_of_equals[is_new] + 1
        if len(true_positives):
            shown = evenly_spaced(len(true_positives), _MOST_POINTS)
            curve = {
                "recall": true_positives[shown] / true_positives[-1],
                "precision": true_positives[shown] / ranks[shown],
            }
            tables.append(pd.DataFrame({"label": name, "share": ranked.mean(), **curve}))
    none = pd.DataFrame(columns=["label", "share", "recall", "precision"])
    return pd.concat(tables, ignore_index=True) if tables else none
