"""Metrics of the study, each defined by one entry of `METRICS`.

Scores, corrections for missing labels, thresholds, model selection, ranks, tables and figures use these entries.
Metrics with the use ``"top"`` score the first labels of each sample. They are computed for datasets with many labels
and reported in separate tables. They are not used to select levels or to rank models.

The five metrics of `BASIC_METRICS` are computed for every level of every model and stand in all tables of scores. The
other metrics are computed on request, for example if one of them is the score of a study.

Averages
--------
The suffix of a name states the average. Without a suffix, or with ``_micro``, all (sample, label) pairs form one binary
problem. ``_macro`` is the mean over labels, ``_samples`` the mean over samples.

Undefined scores
----------------
A score is NaN if the labels do not define it. NaN never counts as a good score: an undefined metric is excluded from
the comparison of models, and tables show an empty cell or "–". Each entry states the requirement of its metric
(`needs`) and the value that scikit-learn returns otherwise (`scikit_learn`). The reference page of names prints both.

The ranking loss follows scikit-learn if at least one sample has both a positive and a negative label: other samples
then have a loss of 0. It is undefined if no sample has both.

F1, precision, recall and accuracy of a label or sample are 0 where they are undefined, as in scikit-learn. Unmeasured
labels are ignored. Means over labels and samples exclude those without a measured label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.evaluation import at_k, corrections, plain_scores
from fairfold.evaluation.at_k import TopLabels
from fairfold.evaluation.corrections import Correction
from fairfold.evaluation.plain_scores import Counts, Pairs

MANY_LABELS = 50
"""Metrics of the first labels are computed for datasets with more labels than this."""

PLACES = (1, 3, 5)
"""Values of k for the metrics of the first labels."""


class Predictions(NamedTuple):
    """Checked labels and probabilities, in the forms that metrics use.

    Attributes
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels (0, 1 or ``UNMEASURED``) and probabilities. Both are CSR, or neither is.
    truth, score : ndarray of shape (n_pairs,)
        Label and probability of each measured (sample, label) pair, as one binary problem. For CSR input, one weighted
        pair represents all pairs that neither matrix stores. Empty if no requested metric needs them.
    predicted : ndarray of int of shape (n_pairs,)
        1 for each pair whose probability exceeds the threshold, else 0. Empty if no requested metric needs it.
    weights : ndarray of shape (n_pairs,) or None, default=None
        Weight of each pair. None weights all pairs equally.
    of_samples : ndarray of shape (n_samples,) or None, default=None
        Weight of each sample. None weights all samples equally.
    top : TopLabels or None, default=None
        Most probable labels of each sample, up to the largest k of the metrics at k. None if no requested metric needs
        them.
    sparse_Y : csr_array of shape (n_samples, n_labels) or None, default=None
        Labels with NaN for unmeasured labels. None if no requested metric needs them.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensity of each label. None if no requested metric needs it.
    pairs : Pairs or None, default=None
        Pairs that are grouped by label or sample. None if no requested metric needs them.
    """

    Y: Matrix
    P: Matrix
    truth: np.ndarray = np.empty(0)
    score: np.ndarray = np.empty(0)
    predicted: np.ndarray = np.empty(0)
    weights: np.ndarray | None = None
    of_samples: np.ndarray | None = None
    top: TopLabels | None = None
    sparse_Y: sparse.csr_array | None = None
    inverse_propensity: np.ndarray | None = None
    pairs: Pairs | None = None


class Metric(NamedTuple):
    """Metric of multilabel predictions, with all properties that a study needs.

    Parameters
    ----------
    direction : {1, -1}
        1 if higher is better, -1 for a loss.
    label : str
        Name on axes and panels of figures.
    name : str
        Name in sentences.
    use : {"ranking", "threshold", "top"}
        Property that the metric measures: the order of all labels, the labels predicted at a threshold, or the first
        labels of each sample.
    function : callable
        Computes the score from :class:`Predictions`. Returns NaN if the labels leave the score undefined.
    leads : bool, default=False
        Whether the metric is the main one of its use.
    needs_propensity : bool, default=False
        Whether the metric needs `inverse_propensity`.
    needs_pairs : bool, default=False
        Whether the metric needs `pairs`.
    is_basic : bool, default=True
        Whether every table of scores includes the metric, and levels are selected by it. Other metrics are computed on
        request. Not used for metrics of the first labels.
    short : str, default=""
        Name in narrow tables. If empty, `name` is used.
    range : tuple of float, default=(0, 1)
        Lowest and highest value.
    needs : str, default=""
        Requirement on the labels. The score is NaN if it is not met. Completes the sentence "It needs …".
    scikit_learn : str, default=""
        Value that scikit-learn returns if the score is NaN here.
    correction : Correction or None, default=None
        Correction of the score for missing labels. None for a metric that cannot be corrected.
    objective : callable, float or None, default=None
        Objective for the choice of thresholds: a function of expected counts, as in
        ``fairfold.evaluation.corrections``, or a fixed threshold. None if no thresholds are chosen for the metric.
    by_label : bool, default=False
        Whether the thresholds of labels are chosen one by one, because the metric is a mean over labels.

    Examples
    --------
    >>> from fairfold.evaluation.metrics import METRICS
    >>> METRICS["mcc"].name, METRICS["mcc"].best
    ('Matthews correlation', 1.0)
    """

    direction: Literal[1, -1]
    label: str
    name: str
    use: Literal["ranking", "threshold", "top"]
    function: Callable[[Predictions], float]
    leads: bool = False
    needs_propensity: bool = False
    needs_pairs: bool = False
    is_basic: bool = True
    short: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    needs: str = ""
    scikit_learn: str = ""
    correction: Correction | None = None
    objective: Callable[..., np.ndarray] | float | None = None
    by_label: bool = False

    @property
    def best(self) -> float:
        """Best possible value."""
        return max(self.range, key=lambda end: self.direction * end)

    @property
    def undefined(self) -> str:
        """Reason for an undefined score."""
        return f"{self.name} is undefined: it needs {self.needs}" if self.needs else f"{self.name} is undefined"

    def goodness(self, values: np.ndarray | list[float]) -> np.ndarray:
        """Convert scores to a scale on which higher is better. Undefined scores get the worst value.

        Parameters
        ----------
        values : array-like of shape (n_scores,)
            Scores, with NaN for undefined scores.

        Returns
        -------
        ndarray of shape (n_scores,)
            Finite numbers that are higher for better scores.

        Examples
        --------
        >>> from fairfold.evaluation.metrics import METRICS
        >>> METRICS["hamming_loss"].goodness([0.25, float("nan")])
        array([-0.25, -1.  ])
        """
        worst = np.nan_to_num(min(self.direction * end for end in (*self.range, self.direction * -1.0)))
        found = self.direction * np.asarray(values, dtype=np.float64)
        return np.where(np.isnan(found), worst, found)


def _average_precision(of: Predictions) -> float:
    is_sparse = sparse.issparse(of.P)
    score = plain_scores.sparse_average_precision_score if is_sparse else plain_scores.average_precision_score
    return score(of.truth, of.score, of.weights)


def _of_both(function: Callable[[Predictions], float]) -> Callable[[Predictions], float]:
    """Let a metric return NaN unless both positive and negative labels occur."""
    return lambda of: function(of) if 0 < of.truth.sum() < of.truth.size else np.nan


def _pooled(function: Callable[[Counts], np.ndarray]) -> Callable[[Predictions], float]:
    """Apply a function of counts to all pairs together."""

    def score(of: Predictions) -> float:
        weights = np.ones(of.truth.size) if of.weights is None else of.weights
        true_positives, predicted, positives = (
            weights @ each for each in (of.truth & of.predicted, of.predicted, of.truth)
        )
        counts = Counts(*(np.array(each) for each in (true_positives, predicted, positives, weights.sum())))
        return float(function(counts)) if positives > 0 else np.nan

    return score


def _mean_of_labels(function: Callable[[Counts], np.ndarray]) -> Callable[[Predictions], float]:
    """Average a function of counts over the labels that are measured."""

    def score(of: Predictions) -> float:
        counts = cast(Pairs, of.pairs).of_labels
        return float(function(counts)[counts.measured > 0].mean()) if counts.positives.any() else np.nan

    return score


def _mean_of_scored(function: Callable[[Pairs], np.ndarray]) -> Callable[[Predictions], float]:
    """Average a score over the labels that define it."""

    def score(of: Predictions) -> float:
        found = function(cast(Pairs, of.pairs))
        return float(found[~np.isnan(found)].mean()) if not np.isnan(found).all() else np.nan

    return score


def _mean_of_samples(
    function: Callable[[Pairs], np.ndarray], defined: Callable[[Counts], np.ndarray], counted: str = "measured"
) -> Callable[[Predictions], float]:
    """Average a score over the samples with ``counted`` labels, with NaN unless a sample defines it."""

    def score(of: Predictions) -> float:
        pairs = cast(Pairs, of.pairs)
        counts = pairs.of_each_sample
        kept = getattr(counts, counted) > 0
        found = function(pairs)[kept] if defined(counts).any() else None
        return np.nan if found is None else float(np.average(found, weights=pairs.of_samples[kept]))

    return score


def _of_samples(function: Callable[[Counts], np.ndarray]) -> Callable[[Predictions], float]:
    """Average a function of counts over samples."""
    return _mean_of_samples(lambda pairs: function(pairs.of_each_sample), lambda counts: counts.positives > 0)


def _has_both(counts: Counts) -> np.ndarray:
    return (counts.positives > 0) & (counts.positives < counts.measured)


def _f1(of: Counts) -> np.ndarray:
    return corrections.f1(of.true_positives, of.predicted, of.positives)


def _averages(
    key: str,
    function: Callable[[Counts], np.ndarray],
    correction: Callable[..., np.ndarray],
    objective: Callable[..., np.ndarray] | None = None,
) -> dict[str, Metric]:
    """Return the entries of the micro, macro and sample average of a function of counts."""
    shown, capital = key.replace("f1", "F1"), key.replace("f1", "F1").capitalize()
    given: dict[str, Any] = {"use": "threshold", "is_basic": False, "needs": "a positive label", "scikit_learn": "0"}
    return {
        f"{key}_micro": Metric(
            1,
            label=f"micro {shown}",
            name=f"micro {shown}",
            function=_pooled(function),
            correction=Correction(correction),
            objective=objective,
            short=capital,
            **given,
        ),
        f"{key}_macro": Metric(
            1,
            label=f"macro {shown}",
            name=f"macro {shown}",
            function=_mean_of_labels(function),
            needs_pairs=True,
            correction=Correction(correction, macro=True),
            objective=objective,
            by_label=True,
            short=f"macro {shown}",
            **given,
        ),
        f"{key}_samples": Metric(
            1,
            label=f"sample {shown}",
            name=f"sample {shown}",
            function=_of_samples(function),
            needs_pairs=True,
            short=f"sample {shown}",
            **given,
        ),
    }


def _metrics_at(k: int) -> dict[str, Metric]:
    """Return the entries of the metrics at k."""
    functions: dict[str, Callable[..., float]] = {
        "precision": lambda of: at_k.precision_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples)[-1],
        "recall": lambda of: at_k.recall_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples)[-1],
        "ndcg": lambda of: at_k.ndcg_at_k(of.sparse_Y, of.top, k, sample_weight=of.of_samples)[-1],
        "propensity_scored_precision": lambda of: at_k.propensity_scored_precision_at_k(
            of.sparse_Y, of.top, of.inverse_propensity, k, sample_weight=of.of_samples
        )[-1],
        "coverage": lambda of: at_k.coverage_at_k(of.sparse_Y, of.top, k)[-1],
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
            function=function,
            leads=key == "ndcg" and k == PLACES[-1],
            needs_propensity=key == "propensity_scored_precision",
            needs=needs.get(key, more),
            scikit_learn="no such function" if key != "ndcg" else "0 without a positive; an error for one label",
        )
        for key, function in functions.items()
    }


METRICS = {
    "roc_auc": Metric(
        1,
        label="micro AUROC",
        name="AUROC",
        use="ranking",
        function=_of_both(lambda of: plain_scores.roc_auc_score(of.truth, of.score, of.weights)),
        needs="a positive and a negative label",
        scikit_learn="NaN",
        correction=Correction(corrections.roc_auc),
    ),
    "average_precision": Metric(
        1,
        label="micro average precision",
        name="average precision",
        use="ranking",
        function=_of_both(_average_precision),
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
        correction=Correction(corrections.corrected_hamming_loss),
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
        correction=Correction(np.asarray, of_samples=True),
    ),
    "mcc": Metric(
        1,
        label="micro MCC",
        name="Matthews correlation",
        use="threshold",
        function=_of_both(lambda of: plain_scores.matthews_corrcoef(of.truth, of.predicted, of.weights)),
        leads=True,
        short="MCC",
        range=(-1.0, 1.0),
        needs="a positive and a negative label",
        scikit_learn="0",
        correction=Correction(corrections.corrected_mcc),
        objective=corrections.mcc,
    ),
    **_averages("f1", _f1, corrections.corrected_f1, corrections.f1),
    **_averages("precision", plain_scores.precision_of, corrections.corrected_precision),
    **_averages("recall", plain_scores.recall_of, corrections.corrected_recall),
    "accuracy_samples": Metric(
        1,
        label="sample accuracy",
        name="sample accuracy (Jaccard)",
        use="threshold",
        function=_of_samples(plain_scores.jaccard_of),
        needs_pairs=True,
        is_basic=False,
        needs="a positive label",
        scikit_learn="0",
    ),
    "subset_accuracy": Metric(
        1,
        label="subset accuracy",
        name="subset accuracy",
        use="threshold",
        function=_mean_of_samples(
            lambda pairs: plain_scores.is_exact(pairs.of_each_sample), lambda counts: counts.measured > 0
        ),
        needs_pairs=True,
        is_basic=False,
        needs="a measured label",
        scikit_learn="an error",
    ),
    "mcc_macro": Metric(
        1,
        label="macro MCC",
        name="macro Matthews correlation",
        use="threshold",
        function=_mean_of_labels(
            lambda of: corrections.mcc(of.true_positives, of.predicted, of.positives, of.measured)
        ),
        needs_pairs=True,
        is_basic=False,
        range=(-1.0, 1.0),
        needs="a positive label",
        scikit_learn="0",
        correction=Correction(corrections.corrected_mcc, macro=True),
        objective=corrections.mcc,
        by_label=True,
    ),
    "average_precision_macro": Metric(
        1,
        label="macro average precision",
        name="macro average precision",
        use="ranking",
        function=_mean_of_scored(Pairs.average_precisions),
        needs_pairs=True,
        is_basic=False,
        short="macro AP",
        needs="a label with a positive and a negative",
        scikit_learn="0 for a label without a positive",
        correction=Correction(corrections.average_precision, macro=True),
    ),
    "roc_auc_macro": Metric(
        1,
        label="macro AUROC",
        name="macro AUROC",
        use="ranking",
        function=_mean_of_scored(Pairs.areas_under_the_curve),
        needs_pairs=True,
        is_basic=False,
        needs="a label with a positive and a negative",
        scikit_learn="NaN",
        correction=Correction(corrections.roc_auc, macro=True),
    ),
    "label_ranking_average_precision": Metric(
        1,
        label="label ranking average precision",
        name="label ranking average precision",
        use="ranking",
        function=_mean_of_samples(Pairs.precisions_of_ranks, _has_both),
        needs_pairs=True,
        is_basic=False,
        short="LRAP",
        needs="a sample with a positive and a negative label",
        scikit_learn="1; an error for one label",
    ),
    "one_error": Metric(
        -1,
        label="one-error",
        name="one-error",
        use="ranking",
        function=_mean_of_samples(Pairs.wrong_first_labels, _has_both, "positives"),
        needs_pairs=True,
        is_basic=False,
        needs="a sample with a positive and a negative label",
        scikit_learn="no such function",
    ),
    "coverage_error": Metric(
        -1,
        label="coverage error",
        name="coverage error",
        use="ranking",
        function=_mean_of_samples(Pairs.coverages, _has_both),
        needs_pairs=True,
        is_basic=False,
        range=(0.0, float("inf")),
        needs="a sample with a positive and a negative label",
        scikit_learn="0 or the number of labels",
    ),
    "brier_score": Metric(
        -1,
        label="Brier score",
        name="Brier score",
        use="ranking",
        function=lambda of: np.average((of.score - of.truth) ** 2, weights=of.weights),
        is_basic=False,
        needs="a measured label",
        scikit_learn="an error",
        correction=Correction(corrections.corrected_brier_score),
    ),
    "calibration_error": Metric(
        -1,
        label="calibration error",
        name="expected calibration error",
        use="ranking",
        function=lambda of: plain_scores.calibration_error(of.truth, of.score, of.weights),
        is_basic=False,
        needs="a measured label",
        scikit_learn="no such function",
    ),
    **{name: metric for k in PLACES for name, metric in _metrics_at(k).items()},
}

BASIC_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top" and metric.is_basic}
"""Metrics of every table of scores, for any number of labels."""

FURTHER_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top" and not metric.is_basic}
"""Metrics that are computed on request, for any number of labels."""

REPORTED = ("f1_micro", "f1_macro", "f1_samples", "subset_accuracy")
"""Further metrics of the score summary of every study, each for the decisions made for it."""

HIGHER_IS_BETTER = {name: metric.direction > 0 for name, metric in METRICS.items()}


def metrics_of(use: str) -> tuple[str, ...]:
    """Return the names of the basic metrics, or of those of the first labels, with a given use.

    The main metric comes first.

    Parameters
    ----------
    use : {"ranking", "threshold", "top"}
        Use of the metrics.

    Returns
    -------
    tuple of str
        Names of the metrics.

    Examples
    --------
    >>> metrics_of("ranking")
    ('average_precision', 'roc_auc', 'ranking_loss')
    """
    names = (name for name in (METRICS if use == "top" else BASIC_METRICS) if METRICS[name].use == use)
    return tuple(sorted(names, key=lambda name: not METRICS[name].leads))
