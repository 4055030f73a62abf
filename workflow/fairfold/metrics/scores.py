"""Scores of multilabel predictions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import THRESHOLD
from fairfold.core.validation import UNMEASURED, check_weights
from fairfold.errors import DataError, check_name
from fairfold.metrics.plain_scores import check_pair
from fairfold.metrics.registry import BASIC_METRICS, METRICS, Metric, Predictions


def multilabel_scores(
    Y_true: Matrix,
    P: Matrix,
    threshold: float = THRESHOLD,
    *,
    metrics: Iterable[str] = tuple(BASIC_METRICS),
    sample_weight: np.ndarray | None = None,
    inverse_propensity: np.ndarray | None = None,
) -> dict[str, float]:
    """Compute scores of predicted label probabilities.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Finite predicted probabilities. Entries that a sparse matrix does not store are 0.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    metrics : iterable of str, optional
        Metrics to compute, from ``METRICS``. By default, the five of ``BASIC_METRICS``.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample in means, and of its labels in pooled scores. If None, all samples have weight 1.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensities, required by propensity-scored precision. See
        :func:`~fairfold.metrics.at_k.inverse_propensities`.

    Returns
    -------
    dict of str to float
        Score of each metric. NaN if the labels leave the metric undefined. The field `needs` of its entry states the
        requirement.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0 or 1, weights are not positive, probabilities are not finite, a metric is
        unknown, or required propensities are missing.

    Notes
    -----
    ``roc_auc``, ``average_precision`` and ``mcc`` (Matthews correlation) are micro-averaged: all (sample, label) pairs
    form one binary problem. The suffixes ``_micro``, ``_macro`` and ``_samples`` of other metrics state their average.
    ``hamming_loss`` is the share of wrong pairs. ``ranking_loss`` is the share of wrongly ordered (positive, negative)
    label pairs of a sample, averaged over samples. A sample without such a pair has a loss of 0. Lower is better for
    losses and errors.

    Metrics with the use ``"threshold"``, such as ``mcc`` and ``f1_macro``, score the predictions ``P > threshold``. The
    other metrics score the probabilities (Ilidio et al. 2024, Sec. 4.4). To score given decisions, pass them as `P`.
    Metrics at k, such as ``recall_at_5``, are defined in ``fairfold.metrics.at_k``.

    Run time is O(n_samples · n_labels · log(n_samples · n_labels)). For sparse input, the number of stored entries
    replaces n_samples · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> scores = multilabel_scores(Y, P, metrics=["hamming_loss", "ranking_loss", "recall_at_1"])
    >>> {name: round(score, 2) for name, score in scores.items()}
    {'hamming_loss': 0.17, 'ranking_loss': 0.25, 'recall_at_1': 0.25}
    """
    entries = checked_metrics(metrics, inverse_propensity)
    Y, P = check_pair(Y_true, P)
    of_samples = check_weights(sample_weight, Y.shape[0], DataError)
    if np.count_nonzero((Y.data if sparse.issparse(Y) else Y) == UNMEASURED) == np.prod(Y.shape):
        return dict.fromkeys(entries, np.nan)
    predictions = Predictions(Y, P, threshold, of_samples, inverse_propensity)
    return {name: float(metric.function(predictions)) for name, metric in entries.items()}


def checked_metrics(names: Iterable[str], inverse_propensity: np.ndarray | None = None) -> dict[str, Metric]:
    """Return the entries of metrics.

    Parameters
    ----------
    names : iterable of str
        Metrics from ``METRICS``.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensities, required by propensity-scored precision.

    Returns
    -------
    dict of str to Metric
        Entries by name.

    Raises
    ------
    DataError
        If a metric is unknown, or required propensities are missing.
    """
    entries: dict[str, Metric] = {}
    for name in names:
        check_name("metric", name, METRICS, DataError)
        entries[name] = METRICS[name]
        if entries[name].needs_propensity and inverse_propensity is None:
            raise DataError(
                f"{name} needs inverse_propensity. Give the result of fairfold.metrics.at_k.inverse_propensities "
                "for the training labels."
            )
    return entries
