"""Scores of multilabel predictions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS, PLACES, Predictions
from fairfold.evaluation.top_labels import top_labels
from fairfold.validation import UNMEASURED, check_dense_binary, check_weights


def multilabel_scores(
    Y_true: np.ndarray | sparse.csr_array,
    P: np.ndarray,
    threshold: float = 0.5,
    *,
    metrics: Iterable[str] = tuple(BASIC_METRICS),
    sample_weight: np.ndarray | None = None,
    inverse_propensity: np.ndarray | None = None,
) -> dict[str, float]:
    """Scores of predicted label probabilities, those of ``METRICS``.

    ``roc_auc``, ``average_precision`` and ``mcc`` (Matthews correlation) are micro-averaged: the (sample, label) pairs
    are pooled into one binary problem. ``hamming_loss`` is the share of wrong pairs, ``ranking_loss`` the share of
    wrongly ordered (positive, negative) label pairs within a sample, averaged over samples; for both less is better.
    ``hamming_loss`` and ``mcc`` score ``P > threshold``, the others the probabilities (Ilidio et al. 2024, Sec. 4.4).
    Those at k, such as ``recall_at_5``, are of :mod:`fairfold.evaluation.at_k`, which takes sparse matrices, too.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1, -1 where a label is unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities, finite.
    threshold : probability above which a label counts as predicted.
    metrics : those to compute, of ``METRICS``; by default all but those at k.
    sample_weight : (n_samples,) above 0, how much a sample counts in means, and its labels in pools; None for 1.
    inverse_propensity : (n_labels,), what propensity-scored precision needs; see
        :func:`~fairfold.evaluation.at_k.inverse_propensities`.

    Returns
    -------
    dict from metric to float. Where all labels are equal ``roc_auc`` is undefined and NaN, and so is
    ``average_precision`` where no label is positive. Time grows with n·q·log(n·q).

    Raises
    ------
    DataError
        When the shapes differ, labels are not 0/1, weights not above 0, probabilities are not finite, there is no
        such metric, or it needs propensities that are not given.
    """
    Y = check_dense_binary(Y_true, "Y_true", DataError, unmeasured=True)
    P = np.asarray(P, dtype=np.float64)
    if Y.ndim != 2 or Y.shape != P.shape or Y.size == 0:
        raise DataError(f"labels have shape {Y.shape} and probabilities {P.shape}; both must be (n_samples, n_labels).")
    if not np.isfinite(P).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(P))} of {P.size} predicted probabilities are not finite.")
    metrics = tuple(metrics)
    _check_metrics(metrics, inverse_propensity)
    truth, score = Y.ravel().astype(np.int8), P.ravel()
    of_samples = check_weights(sample_weight, len(Y), DataError)
    weights = None if of_samples is None else np.repeat(of_samples, Y.shape[1])
    is_measured = truth != UNMEASURED
    if not is_measured.all():
        truth, score = truth[is_measured], score[is_measured]
        weights = None if weights is None else weights[is_measured]
        if not truth.size:
            return dict.fromkeys(metrics, np.nan)
    predicted = (score > threshold).astype(np.int8)
    predictions = Predictions(Y, P, truth, score, predicted, weights, of_samples)
    if any(METRICS[metric].use == "top" for metric in metrics):
        top = top_labels(P, max(PLACES), unmeasured=Y == UNMEASURED)
        predictions = predictions._replace(top=top, sparse_Y=sparse.csr_array(Y), inverse_propensity=inverse_propensity)
    return {metric: float(METRICS[metric].function(predictions)) for metric in metrics}


def _check_metrics(metrics: Iterable[str], inverse_propensity: np.ndarray | None) -> None:
    for metric in metrics:
        if metric not in METRICS:
            raise DataError(unknown_name("metric", metric, METRICS))
        if METRICS[metric].needs_propensity and inverse_propensity is None:
            raise DataError(
                f"{metric} needs inverse_propensity; give what fairfold.evaluation.at_k.inverse_propensities makes of "
                "the training labels."
            )
