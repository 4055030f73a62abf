"""Scores of multilabel predictions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.plain_scores import (
    average_precision_score,
    hamming_loss,
    label_ranking_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from fairfold.validation import check_dense_binary

# Metric -> whether more is better.
HIGHER_IS_BETTER = {
    "roc_auc": True,
    "average_precision": True,
    "hamming_loss": False,
    "ranking_loss": False,
    "mcc": True,
}


def multilabel_scores(
    Y_true: np.ndarray | sparse.csr_array,
    P: np.ndarray,
    threshold: float = 0.5,
    *,
    metrics: Iterable[str] = tuple(HIGHER_IS_BETTER),
) -> dict[str, float]:
    """Five scores of predicted label probabilities.

    ``roc_auc``, ``average_precision`` and ``mcc`` (Matthews correlation) are micro-averaged: the (sample, label) pairs
    are pooled into one binary problem. ``hamming_loss`` is the share of wrong pairs, ``ranking_loss`` the share of
    wrongly ordered (positive, negative) label pairs within a sample, averaged over samples; for both less is better.
    ``hamming_loss`` and ``mcc`` judge ``P > threshold``, the others the probabilities (Ilidio et al. 2024, Sec. 4.4).

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1.
    P : (n_samples, n_labels) probabilities, finite.
    threshold : probability above which a label counts as predicted.
    metrics : those to compute, of ``HIGHER_IS_BETTER``.

    Returns
    -------
    dict from metric to float. Where all labels are equal ``roc_auc`` is undefined and NaN, and so is
    ``average_precision`` where no label is positive. Time grows with n·q·log(n·q).

    Raises
    ------
    DataError
        When the shapes differ, labels are not 0/1, probabilities are not finite, or there is no such metric.
    """
    Y = check_dense_binary(Y_true, "Y_true", DataError)
    P = np.asarray(P, dtype=np.float64)
    if Y.ndim != 2 or Y.shape != P.shape or Y.size == 0:
        raise DataError(f"labels have shape {Y.shape} and probabilities {P.shape}; both must be (n_samples, n_labels).")
    if not np.isfinite(P).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(P))} of {P.size} predicted probabilities are not finite.")
    for metric in metrics:
        if metric not in HIGHER_IS_BETTER:
            raise DataError(unknown_name("metric", metric, HIGHER_IS_BETTER))
    truth, score = Y.ravel().astype(np.int8), P.ravel()
    predicted = (score > threshold).astype(np.int8)
    compute = {
        "roc_auc": lambda: roc_auc_score(truth, score) if 0 < truth.sum() < truth.size else np.nan,
        "average_precision": lambda: average_precision_score(truth, score) if truth.any() else np.nan,
        "hamming_loss": lambda: hamming_loss(truth, predicted),
        # a single label has no pairs of labels to order
        "ranking_loss": lambda: label_ranking_loss(Y, P) if Y.shape[1] > 1 else 0.0,
        # 0 where either side is constant; scikit-learn says the same, but warns where both are
        "mcc": lambda: matthews_corrcoef(truth, predicted) if predicted.any() or truth.any() else 0.0,
    }
    return {metric: float(compute[metric]()) for metric in metrics}
