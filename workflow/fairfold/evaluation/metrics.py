"""The metrics of the study: what each is called, whether more of it is better, what it is for, and how it is computed.

A new one is an entry of ``METRICS``; scores, choices of levels, ranks, tables and figures take it from there. Those of
the use ``"top"`` look at the first labels of each sample: they are computed where labels are many, for tables of their
own, and take no part in choices of levels and ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.arrays import Matrix
from fairfold.evaluation import at_k, plain_scores, sparse_scores
from fairfold.evaluation.top_labels import TopLabels

MANY_LABELS = 50
"""More labels than these are many: metrics of the first ones are computed, too."""

PLACES = (1, 3, 5)
"""At which those look."""


class Predictions(NamedTuple):
    """Checked labels and probabilities, and what most metrics make of them.

    Attributes
    ----------
    Y, P : (n_samples, n_labels) labels of 0/1, or -1 where unmeasured, and probabilities; both CSR, or neither.
    truth, score : both raveled, the measured (sample, label) pairs as one binary problem. Of sparse ones the pairs that
        are 0 in both are one, which has their weight; None where no metric looks.
    predicted : whether each pair's probability is above the threshold, 0/1; None, too.
    weights : None, or weights of the pairs; ``of_samples`` are those of the samples.
    top : the labels that come first in each sample, as many as the last of ``PLACES``; None where no metric looks.
    sparse_Y : the labels once more, for metrics that look at these; None where none does.
    inverse_propensity : (n_labels,) or None, where no metric needs it.
    """

    Y: Matrix
    P: Matrix
    truth: np.ndarray | None
    score: np.ndarray | None
    predicted: np.ndarray | None
    weights: np.ndarray | None = None
    of_samples: np.ndarray | None = None
    top: TopLabels | None = None
    sparse_Y: sparse.csr_array | None = None
    inverse_propensity: np.ndarray | None = None


class Metric(NamedTuple):
    """One number for predictions of several labels.

    Parameters
    ----------
    direction : 1 where more is better, -1 for a loss.
    label : what axes and panels of figures call it.
    name : what sentences call it.
    use : what predictions that it scores are good for: labels in the right order, or on the right side of a threshold,
        or first in their sample.
    function : of :class:`Predictions`; NaN where labels leave it undefined.
    leads : whether it stands first among those of its use.
    needs_propensity : whether it needs ``inverse_propensity``.
    of_pool : whether, of sparse predictions, it looks at the pairs as one problem.
    """

    direction: Literal[1, -1]
    label: str
    name: str
    use: Literal["ranking", "threshold", "top"]
    function: Callable[[Predictions], float]
    leads: bool = False
    needs_propensity: bool = False
    of_pool: bool = False


def _roc_auc(of: Predictions) -> float:
    if not 0 < of.truth.sum() < of.truth.size:
        return np.nan
    return _score("roc_auc_score", of, of.score)


def _average_precision(of: Predictions) -> float:
    if sparse.issparse(of.P):
        return sparse_scores.average_precision_score(of.Y, of.P, of.of_samples)
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


def _metrics_at(k: int) -> dict[str, Metric]:
    """Those of the first k labels."""

    def of_samples(score: Callable[..., np.ndarray]) -> Callable[[Predictions], float]:
        return lambda of: score(of.sparse_Y, of.top, k, sample_weight=of.of_samples)[-1]

    def propensity_scored(of: Predictions) -> float:
        return at_k.propensity_scored_precision_at_k(
            of.sparse_Y, of.top, of.inverse_propensity, k, sample_weight=of.of_samples
        )[-1]

    functions = {
        "precision": of_samples(at_k.precision_at_k),
        "recall": of_samples(at_k.recall_at_k),
        "ndcg": of_samples(at_k.ndcg_at_k),
        "propensity_scored_precision": propensity_scored,
        "coverage": lambda of: at_k.coverage_at_k(of.sparse_Y, of.top, k)[-1],
    }
    names = {"ndcg": "nDCG", "propensity_scored_precision": "propensity-scored precision"}
    return {
        f"{key}_at_{k}": Metric(
            1,
            label=(label := f"{names.get(key, key)} at {k}"),
            name=label,
            use="top",
            function=function,
            leads=key == "ndcg" and k == PLACES[-1],
            needs_propensity=function is propensity_scored,
        )
        for key, function in functions.items()
    }


METRICS = {
    "roc_auc": Metric(1, "micro AUROC", "AUROC", "ranking", _roc_auc, of_pool=True),
    "average_precision": Metric(
        1, "micro average precision", "average precision", "ranking", _average_precision, leads=True
    ),
    "hamming_loss": Metric(-1, "Hamming loss", "Hamming loss", "threshold", _hamming_loss, of_pool=True),
    "ranking_loss": Metric(-1, "ranking loss", "ranking loss", "ranking", _ranking_loss),
    "mcc": Metric(1, "micro MCC", "Matthews correlation", "threshold", _mcc, leads=True, of_pool=True),
    **{name: metric for k in PLACES for name, metric in _metrics_at(k).items()},
}
BASIC_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top"}
"""Those that are computed however many labels there are."""

HIGHER_IS_BETTER = {name: metric.direction > 0 for name, metric in METRICS.items()}


def metrics_of(use: str) -> tuple[str, ...]:
    """Names of the metrics of a use, the one that leads first."""
    return tuple(
        sorted((name for name in METRICS if METRICS[name].use == use), key=lambda name: not METRICS[name].leads)
    )
