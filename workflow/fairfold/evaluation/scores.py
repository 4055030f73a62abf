"""Scores of multilabel predictions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, stored_cells
from fairfold.core.validation import UNMEASURED, check_weights, with_nan
from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.at_k import top_labels
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS, ON_REQUEST, PLACES, Metric, Predictions, metric_of
from fairfold.evaluation.plain_scores import check_pair


def multilabel_scores(
    Y_true: Matrix,
    P: Matrix,
    threshold: float = 0.5,
    *,
    metrics: Iterable[str] = tuple(BASIC_METRICS),
    sample_weight: np.ndarray | None = None,
    inverse_propensity: np.ndarray | None = None,
) -> dict[str, float]:
    """Compute scores of predicted label probabilities.

    ``roc_auc``, ``average_precision`` and ``mcc`` (Matthews correlation) are micro-averaged: the (sample, label) pairs
    are pooled into one binary problem. ``hamming_loss`` is the share of wrong pairs. ``ranking_loss`` is the share of
    wrongly ordered (positive, negative) label pairs within a sample, averaged over samples that have such a pair. For
    both less is better.
    ``hamming_loss`` and ``mcc`` score ``P > threshold``, the others the probabilities (Ilidio et al. 2024, Sec. 4.4).
    Those at k, such as ``recall_at_5``, are of ``fairfold.evaluation.at_k``, which takes sparse matrices, too.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1, NaN where a label is unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities, finite; of a CSR matrix those that are not stored are 0.
    threshold : probability above which a label counts as predicted.
    metrics : those to compute, of ``METRICS`` or ``ON_REQUEST``; by default those of ``METRICS`` that are not at k.
    sample_weight : (n_samples,) above 0, how much a sample counts in means, and its labels in pools; None for 1.
    inverse_propensity : (n_labels,), what propensity-scored precision needs; see
        :func:`~fairfold.evaluation.at_k.inverse_propensities`.

    Returns
    -------
    dict from metric to float
        NaN where the labels leave a metric undefined; its entry states in `needs` what it needs. Time grows with
        n·q·log(n·q), of sparse probabilities with what is stored in place of n·q.

    Raises
    ------
    DataError
        When the shapes differ, labels are not 0/1, weights not above 0, probabilities are not finite, there is no
        such metric, or it needs propensities that are not given.
    """
    entries = _checked_metrics(metrics, inverse_propensity)
    Y, P = check_pair(Y_true, P)
    of_samples = check_weights(sample_weight, Y.shape[0], DataError)
    if np.count_nonzero((Y.data if sparse.issparse(Y) else Y) == UNMEASURED) == np.prod(Y.shape):
        return dict.fromkeys(entries, np.nan)
    predictions = Predictions(Y, P, of_samples=of_samples)
    if any(metric.use != "top" for metric in entries.values()):
        truth, score, weights = _pairs(Y, P, of_samples)
        predicted = (score > threshold).astype(np.int8)
        predictions = predictions._replace(truth=truth, score=score, predicted=predicted, weights=weights)
    if any(metric.use == "top" for metric in entries.values()):
        top = top_labels(P, max(PLACES), unmeasured=Y == UNMEASURED)
        sparse_Y = with_nan(sparse.csr_array(Y))
        predictions = predictions._replace(top=top, sparse_Y=sparse_Y, inverse_propensity=inverse_propensity)
    return {name: float(metric.function(predictions)) for name, metric in entries.items()}


def _pairs(Y: Matrix, P: Matrix, of_samples: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Labels, probabilities and weights of all measured pairs of a sample and a label.

    Of sparse matrices, all pairs that neither stores are one pair, which has their weight. These take five times the
    memory of what is stored.
    """
    if sparse.issparse(P):
        rows, _, truth, score = stored_cells(Y, P)
        of_samples = np.ones(Y.shape[0]) if of_samples is None else of_samples
        weights = of_samples[rows]
        n_others = Y.shape[1] - np.bincount(rows, minlength=Y.shape[0])
        if n_others.any():
            truth, score, weights = np.append(truth, 0), np.append(score, 0), np.append(weights, of_samples @ n_others)
    else:
        truth, score = Y.ravel(), P.ravel()
        weights = None if of_samples is None else np.repeat(of_samples, Y.shape[1])
    truth = truth.astype(np.int8)
    is_measured = truth != UNMEASURED
    if not is_measured.all():
        truth, score = truth[is_measured], score[is_measured]
        weights = None if weights is None else weights[is_measured]
    return truth, score, weights


def _checked_metrics(names: Iterable[str], inverse_propensity: np.ndarray | None) -> dict[str, Metric]:
    entries = {}
    for name in names:
        metric = entries[name] = metric_of(name)
        if metric is None:
            raise DataError(unknown_name("metric", name, [*METRICS, *ON_REQUEST]))
        if metric.needs_propensity and inverse_propensity is None:
            raise DataError(
                f"{name} needs inverse_propensity. Give the result of fairfold.evaluation.at_k.inverse_propensities "
                "for the training labels."
            )
    return entries
