"""The metrics of the study: what each is called, whether more of it is better, what it is for, and how it is computed.

A new one is an entry of ``METRICS``; scores, choices of levels, ranks, tables and figures take it from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.arrays import Matrix
from fairfold.evaluation import plain_scores, sparse_scores


class Predictions(NamedTuple):
    """Checked labels and probabilities, and what most metrics make of them.

    Y, P : (n_samples, n_labels) labels of 0/1, or -1 where unmeasured, and probabilities; both CSR, or neither.
    truth, score : both raveled, the measured (sample, label) pairs as one binary problem. Of sparse ones the pairs that
        are 0 in both are one, which has their weight.
    predicted : whether each pair's probability is above the threshold, 0/1.
    weights : None, or weights of the pairs; ``of_samples`` are those of the samples.
    """

    Y: Matrix
    P: Matrix
    truth: np.ndarray
    score: np.ndarray
    predicted: np.ndarray
    weights: np.ndarray | None = None
    of_samples: np.ndarray | None = None


class Metric(NamedTuple):
    """One number for predictions of several labels.

    direction : 1 where more is better, -1 for a loss.
    label : what axes and panels of figures call it.
    name : what sentences call it.
    use : what predictions that it scores are good for: labels in the right order, or on the right side of a threshold.
    function : of :class:`Predictions`; NaN where labels leave it undefined.
    leads : whether it stands first among those of its use.
    """

    direction: Literal[1, -1]
    label: str
    name: str
    use: Literal["ranking", "threshold"]
    function: Callable[[Predictions], float]
    leads: bool = False


def _roc_auc(of: Predictions) -> float:
    if not 0 < of.truth.sum() < of.truth.size:
        return np.nan
    return _score("roc_auc_score", of, of.score)


def _average_precision(of: Predictions) -> float:
    return _score("average_precision_score", of, of.score) if of.truth.any() else np.nan


def _hamming_loss(of: Predictions) -> float:
    return _score("hamming_loss", of, of.predicted)


def _ranking_loss(of: Predictions) -> float:
    if sparse.issparse(of.P):
        return sparse_scores.label_ranking_loss(of.Y, of.P, of.of_samples)
    if of.truth.size < of.Y.size:
        return _ranking_loss_of_measured(of)
    if of.Y.shape[1] == 1:
        return 0.0  # no pairs of labels to order
    if of.of_samples is None:
        return plain_scores.label_ranking_loss(of.Y, of.P)
    return float(_of_weights("label_ranking_loss")(of.Y, of.P, sample_weight=of.of_samples))


def _ranking_loss_of_measured(of: Predictions) -> float:
    """Mean over samples with a measured label, each by its measured labels."""
    losses = np.full(len(of.Y), np.nan)
    for row, (truth, score) in enumerate(zip(of.Y, of.P, strict=True)):
        above, below = score[truth == 1], score[truth == 0]
        if len(above) + len(below):
            pairs = np.subtract.outer(above, below)
            losses[row] = (pairs <= 0).mean() if pairs.size else 0.0
    known = ~np.isnan(losses)
    return float(np.average(losses[known], weights=None if of.of_samples is None else of.of_samples[known]))


def _mcc(of: Predictions) -> float:
    # 0 where either side is constant; scikit-learn says the same, but warns where both are
    return _score("matthews_corrcoef", of, of.predicted) if of.predicted.any() or of.truth.any() else 0.0


def _score(name: str, of: Predictions, predicted: np.ndarray) -> float:
    """Ours, which are faster, and scikit-learn's where pairs have weights."""
    if of.weights is None:
        return getattr(plain_scores, name)(of.truth, predicted)
    return float(_of_weights(name)(of.truth, predicted, sample_weight=of.weights))


def _of_weights(name: str) -> Callable[..., float]:
    from sklearn import metrics  # a second that who only looks a metric up need not wait for

    return getattr(metrics, name)


METRICS = {
    "roc_auc": Metric(1, "micro AUROC", "AUROC", "ranking", _roc_auc),
    "average_precision": Metric(
        1, "micro average precision", "average precision", "ranking", _average_precision, leads=True
    ),
    "hamming_loss": Metric(-1, "Hamming loss", "Hamming loss", "threshold", _hamming_loss),
    "ranking_loss": Metric(-1, "ranking loss", "ranking loss", "ranking", _ranking_loss),
    "mcc": Metric(1, "micro MCC", "Matthews correlation", "threshold", _mcc, leads=True),
}
HIGHER_IS_BETTER = {name: metric.direction > 0 for name, metric in METRICS.items()}


def metrics_of(use: str) -> tuple[str, ...]:
    """Names of the metrics of a use, the one that leads first."""
    return tuple(
        sorted((name for name in METRICS if METRICS[name].use == use), key=lambda name: not METRICS[name].leads)
    )
