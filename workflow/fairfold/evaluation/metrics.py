"""The metrics of the study. Each metric is one entry of `METRICS`, which holds all that the study needs to know of it.

Scores, corrections, thresholds, choices of levels, ranks, tables and figures derive from the entry. Metrics of the use
``"top"`` look at the first labels of each sample. They are computed where labels are many, for tables of their own, and
take no part in choices of levels and ranks.

Undefined scores
----------------
A score is NaN where the labels do not define it. It is never taken for a good score: an undefined metric leaves the
comparison of models, and tables show an empty cell or "–". Each entry states what its metric needs (`needs`) and what
scikit-learn returns without it (`scikit_learn`); the reference page of names prints both.

The ranking loss follows scikit-learn where any sample has both a positive and a negative label: other samples count in
the mean with a loss of 0. It is undefined where no sample has both.

Unmeasured labels count as absent. Means over labels leave out labels for which the metric is undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.evaluation import at_k, corrections, plain_scores
from fairfold.evaluation.at_k import TopLabels
from fairfold.evaluation.corrections import Correction

MANY_LABELS = 50
"""More labels than these are many: metrics of the first ones are computed, too."""

PLACES = (1, 3, 5)
"""At which those look."""


class Predictions(NamedTuple):
    """Checked labels and probabilities, and what most metrics make of them.

    Attributes
    ----------
    Y, P : (n_samples, n_labels) labels of 0/1, or ``UNMEASURED``, and probabilities; both CSR, or neither.
    truth, score : both raveled, the measured (sample, label) pairs as one binary problem. Of sparse ones the pairs that
        are 0 in both are one, which has their weight; None where no metric looks.
    predicted : whether each pair's probability is above the threshold, 0/1; None, too.
    weights : None, or weights of the pairs; ``of_samples`` are those of the samples.
    top : the labels that come first in each sample, as many as the last of ``PLACES``; None where no metric looks.
    sparse_Y : the labels once more, with NaN where unmeasured, for metrics that look at these; None where none does.
    inverse_propensity : (n_labels,) or None, where no metric needs it.
    """

    Y: Matrix
    P: Matrix
    truth: np.ndarray | None = None
    score: np.ndarray | None = None
    predicted: np.ndarray | None = None
    weights: np.ndarray | None = None
    of_samples: np.ndarray | None = None
    top: TopLabels | None = None
    sparse_Y: sparse.csr_array | None = None
    inverse_propensity: np.ndarray | None = None


class Metric(NamedTuple):
    """One number for predictions of several labels, with all that a study needs to know of it.

    Parameters
    ----------
    direction : {1, -1}
        1 where more is better, -1 for a loss.
    label : str
        Name on axes and panels of figures.
    name : str
        Name in sentences.
    use : {"ranking", "threshold", "top"}
        What a good score shows: labels in the right order, on the right side of a threshold, or first in their sample.
    function : callable
        Computes the score from :class:`Predictions`; NaN where the labels leave it undefined.
    leads : bool, default=False
        Whether the metric stands first among those of its use.
    needs_propensity : bool, default=False
        Whether the metric needs `inverse_propensity`.
    short : str, default=""
        Name in narrow tables; `name` where it is empty.
    range : tuple of float, default=(0, 1)
        Lowest and highest value.
    needs : str, default=""
        What the labels must have, else the score is NaN. It completes the sentence "It needs …".
    scikit_learn : str, default=""
        What scikit-learn returns where the score is NaN here.
    correction : Correction, default=None
        How the score is corrected for missing labels; None for a metric that cannot be corrected.
    objective : callable or float, default=None
        How thresholds are chosen for the metric: a function of expected counts, as those of
        ``fairfold.evaluation.corrections``, or the threshold itself. None for a metric that no threshold is chosen for.
    """

    direction: Literal[1, -1]
    label: str
    name: str
    use: Literal["ranking", "threshold", "top"]
    function: Callable[[Predictions], float]
    leads: bool = False
    needs_propensity: bool = False
    short: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    needs: str = ""
    scikit_learn: str = ""
    correction: Correction | None = None
    objective: Callable[..., np.ndarray] | float | None = None

    @property
    def best(self) -> float:
        """The best possible value."""
        return max(self.range, key=lambda end: self.direction * end)

    @property
    def undefined(self) -> str:
        """Reason for a score that is NaN."""
        return f"{self.name} is undefined: it needs {self.needs}" if self.needs else f"{self.name} is undefined"

    def goodness(self, values: np.ndarray | list[float]) -> np.ndarray:
        """Turn scores so that more is better; undefined ones are as bad as the worst.

        Parameters
        ----------
        values : array-like of shape (n_scores,)
            Scores; NaN where undefined.

        Returns
        -------
        ndarray of shape (n_scores,)
            Numbers that are higher for better scores, and finite.
        """
        worst = min(self.direction * end for end in (*self.range, self.direction * -1.0))
        found = self.direction * np.asarray(values, dtype=np.float64)
        return np.where(np.isnan(found), worst, found)


def _roc_auc(of: Predictions) -> float:
    return plain_scores.roc_auc_score(of.truth, of.score, of.weights) if _has_both(of.truth) else np.nan


def _average_precision(of: Predictions) -> float:
    score = (
        plain_scores.sparse_average_precision_score if sparse.issparse(of.P) else plain_scores.average_precision_score
    )
    return score(of.truth, of.score, of.weights) if _has_both(of.truth) else np.nan


def _has_both(truth: np.ndarray) -> bool:
    """Whether there are positives and negatives."""
    return bool(0 < truth.sum() < truth.size)


def _mcc(of: Predictions) -> float:
    return plain_scores.matthews_corrcoef(of.truth, of.predicted, of.weights) if _has_both(of.truth) else np.nan


def _f1(of: Predictions) -> float:
    weights = np.ones(of.truth.size) if of.weights is None else of.weights
    hits, predicted, positives = (weights @ each for each in (of.truth & of.predicted, of.predicted, of.truth))
    return float(corrections.f1(hits, predicted, positives)) if positives > 0 else np.nan


def _metrics_at(k: int) -> dict[str, Metric]:
    """Those of the first k labels."""

    functions = {
        "precision": lambda of: at_k.precision_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples),
        "recall": lambda of: at_k.recall_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples),
        "ndcg": lambda of: at_k.ndcg_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples),
        "propensity_scored_precision": lambda of: at_k.propensity_scored_precision_at_k(
            of.sparse_Y, of.top, of.inverse_propensity, k, sample_weight=of.of_samples
        ),
        "coverage": lambda of: at_k.coverage_at_k(of.sparse_Y, of.top, k),
    }
    names = {"ndcg": "nDCG", "propensity_scored_precision": "propensity-scored precision"}
    pair, more = "a positive and a negative label", f"a sample with a positive and more than {k} label{'s' * (k > 1)}"
    needs = {"precision": pair, "ndcg": f"a sample with {pair}"}
    needs["propensity_scored_precision"] = more.replace("a positive", "a positive, a negative", 1)
    return {
        f"{key}_at_{k}": Metric(
            1,
            label=(label := f"{names.get(key, key)} at {k}"),
            name=label,
            use="top",
            function=lambda of, scores=scores: scores(of)[-1],
            leads=key == "ndcg" and k == PLACES[-1],
            needs_propensity=key == "propensity_scored_precision",
            needs=needs.get(key, more),
            scikit_learn="no such function" if key != "ndcg" else "0 without a positive; an error for one label",
        )
        for key, scores in functions.items()
    }


METRICS = {
    "roc_auc": Metric(
        1,
        label="micro AUROC",
        name="AUROC",
        use="ranking",
        function=_roc_auc,
        needs="a positive and a negative label",
        scikit_learn="NaN",
        correction=Correction(corrections.roc_auc),
    ),
    "average_precision": Metric(
        1,
        label="micro average precision",
        name="average precision",
        use="ranking",
        function=_average_precision,
        leads=True,
        short="AP",
        needs="a positive and a negative label",
        scikit_learn="0 without a positive, 1 without a negative",
        correction=Correction(corrections.average_precision),
    ),
    "hamming_loss": Metric(
        -1,
        label="Hamming loss",
        name="Hamming loss",
        use="threshold",
        function=lambda of: np.average(of.truth != of.predicted, weights=of.weights),
        needs="a measured label",
        scikit_learn="an error",
        correction=Correction(corrections.corrected_hamming_loss, by_label=False),
        objective=0.5,
    ),
    "ranking_loss": Metric(
        -1,
        label="ranking loss",
        name="ranking loss",
        use="ranking",
        function=lambda of: plain_scores.label_ranking_loss(of.Y, of.P, of.of_samples),
        needs="a sample with a positive and a negative label",
        scikit_learn="0; an error for one label",
        correction=Correction(corrections.ranking_loss, by_label=False, of_samples=True),
    ),
    "mcc": Metric(
        1,
        label="micro MCC",
        name="Matthews correlation",
        use="threshold",
        function=_mcc,
        leads=True,
        short="MCC",
        range=(-1.0, 1.0),
        needs="a positive and a negative label",
        scikit_learn="0",
        correction=Correction(corrections.corrected_mcc),
        objective=corrections.mcc,
    ),
    **{name: metric for k in PLACES for name, metric in _metrics_at(k).items()},
}
ON_REQUEST = {
    "f1": Metric(
        1,
        label="micro F1",
        name="F1",
        use="threshold",
        function=_f1,
        needs="a positive label",
        scikit_learn="0",
        correction=Correction(corrections.corrected_f1),
        objective=corrections.f1,
    )
}
"""Metrics that are computed where they are asked for by name, and that a study has no tables of."""

BASIC_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top"}
"""Those that are computed however many labels there are."""

HIGHER_IS_BETTER = {name: metric.direction > 0 for name, metric in METRICS.items()}


def metric_of(name: str) -> Metric | None:
    """Return the entry of a metric of `METRICS` or `ON_REQUEST`, or None.

    Examples
    --------
    >>> metric_of("f1").name
    'F1'
    """
    return METRICS.get(name) or ON_REQUEST.get(name)


def metrics_of(use: str) -> tuple[str, ...]:
    """Names of the metrics of a use, the one that leads first."""
    names = (name for name, metric in METRICS.items() if metric.use == use)
    return tuple(sorted(names, key=lambda name: not METRICS[name].leads))
