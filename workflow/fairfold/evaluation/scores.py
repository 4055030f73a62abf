"""Scores of multilabel predictions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, stored_cells
from fairfold.core.validation import UNMEASURED, check_dense_binary, check_label_matrix, check_weights, with_nan
from fairfold.errors import DataError, unknown_name
from fairfold.evaluation.at_k import top_labels
from fairfold.evaluation.metrics import BASIC_METRICS, METRICS, ON_REQUEST, PLACES, Metric, Predictions, metric_of


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
    if sparse.issparse(P):
        pooled = any(metric.of_pool for metric in entries.values())
        predictions = _stored(Y_true, P, threshold, sample_weight, pooled=pooled)
    else:
        predictions = _pool(Y_true, P, threshold, sample_weight)
    if not _are_any_measured(predictions.Y):
        return dict.fromkeys(entries, np.nan)
    if any(metric.use == "top" for metric in entries.values()):
        Y = predictions.Y
        top = top_labels(predictions.P, max(PLACES), unmeasured=Y == UNMEASURED)
        predictions = predictions._replace(
            top=top, sparse_Y=with_nan(sparse.csr_array(Y)), inverse_propensity=inverse_propensity
        )
    return {name: float(metric.function(predictions)) for name, metric in entries.items()}


def _pool(Y_true: Matrix, P: np.ndarray, threshold: float, sample_weight: np.ndarray | None) -> Predictions:
    """All (sample, label) pairs that are measured."""
    Y = check_dense_binary(Y_true, "Y_true", DataError, unmeasured=True)
    P = np.asarray(P, dtype=np.float64)
    _check_probabilities(P.shape, P, Y.shape)
    truth, score = Y.ravel().astype(np.int8), P.ravel()
    of_samples = check_weights(sample_weight, len(Y), DataError)
    weights = None if of_samples is None else np.repeat(of_samples, Y.shape[1])
    is_measured = truth != UNMEASURED
    if not is_measured.all():
        truth, score = truth[is_measured], score[is_measured]
        weights = None if weights is None else weights[is_measured]
    return Predictions(Y, P, truth, score, (score > threshold).astype(np.int8), weights, of_samples)


def _are_any_measured(Y: Matrix) -> bool:
    n_unmeasured = np.count_nonzero((Y.data if sparse.issparse(Y) else Y) == UNMEASURED)
    return n_unmeasured < Y.shape[0] * Y.shape[1]


def _stored(
    Y_true: Matrix, P: sparse.csr_array, threshold: float, sample_weight: np.ndarray | None, *, pooled: bool
) -> Predictions:
    """Pairs that are not 0 in both, as far as they are measured, and one pair with the weight of all others.

    They take five times the memory of what is stored, and are only made if some metric looks at them.
    """
    Y = sparse.csr_array(check_label_matrix(Y_true, "Y_true", DataError))
    P = canonical(P)
    P = P if P.dtype.kind == "f" else P.astype(np.float64)
    _check_probabilities(P.shape, P.data, Y.shape)
    of_samples = check_weights(sample_weight, Y.shape[0], DataError)
    if not pooled:
        return Predictions(Y, P, None, None, None, None, of_samples)
    rows, _, truth, score = stored_cells(Y, P)
    weights = np.ones(Y.shape[0]) if of_samples is None else of_samples
    n_others = Y.shape[1] - np.bincount(rows, minlength=Y.shape[0])
    is_measured = truth != UNMEASURED
    truth, score, of_pairs = truth[is_measured].astype(np.int8), score[is_measured], weights[rows[is_measured]]
    if n_others.any():
        truth, score, of_pairs = (
            np.append(truth, np.int8(0)),
            np.append(score, 0),
            np.append(of_pairs, weights @ n_others),
        )
    return Predictions(Y, P, truth, score, (score > threshold).astype(np.int8), of_pairs, of_samples)


def _check_probabilities(shape: tuple[int, ...], values: np.ndarray, of_labels: tuple[int, ...]) -> None:
    if len(of_labels) != 2 or of_labels != shape or 0 in shape:
        raise DataError(f"labels have shape {of_labels} and probabilities {shape}; both must be (n_samples, n_labels).")
    if not np.isfinite(values).all():
        raise DataError(
            f"{np.count_nonzero(~np.isfinite(values))} of {values.size} predicted probabilities are not finite."
        )


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
