"""Metrics of the study, each defined by one entry of `METRICS`.

Scores, corrections for missing labels, thresholds, model selection, ranks, tables and figures use these entries.
Metrics with the use ``"top"`` score the first labels of each sample. They are computed for datasets with many labels
and reported in separate tables. They are not used to select levels or to rank models.

The metrics of `BASIC_METRICS` are computed for every level of every model and stand in all tables of scores. The
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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import THRESHOLD
from fairfold.core.validation import UNMEASURED, with_nan
from fairfold.metrics import at_k, corrections, plain_scores
from fairfold.metrics.at_k import Terms, TopLabels
from fairfold.metrics.corrections import Correction
from fairfold.metrics.derivatives import WeighedPairs, of_ratio
from fairfold.metrics.plain_scores import Counts, Pairs, cells_of
from fairfold.metrics.ranked_cells import Cells

REFERENCE_LABELS = 64
"""Maximum number of labels of the model that estimates missing rates. All labels are assumed to miss the same share."""

MANY_LABELS = 50
"""Metrics of the first labels are computed for datasets with more labels than this."""

PLACES = (1, 3, 5)
"""Values of k for the metrics of the first labels."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Checked labels and probabilities, and the forms that metrics use, each computed when a metric needs it.

    Parameters
    ----------
    Y, P : ndarray or csr_array of shape (n_samples, n_labels)
        Labels (0, 1 or ``UNMEASURED``) and probabilities. Both are CSR, or neither is.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    of_samples : ndarray of shape (n_samples,) or None, default=None
        Weight of each sample. None weights all samples equally.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensity of each label. None if no requested metric needs it.
    label_frequency : ndarray of shape (), (n_labels,) or (n_samples, n_labels), default=1.0
        Share of positives that is observed. Only the influence of samples on corrected scores uses it.
    """

    Y: Matrix
    P: Matrix
    threshold: float = THRESHOLD
    of_samples: np.ndarray | None = None
    inverse_propensity: np.ndarray | None = None
    label_frequency: np.ndarray = field(default_factory=lambda: np.ones(()))

    @cached_property
    def truth(self) -> np.ndarray:
        """Label of each measured (sample, label) pair, as one binary problem, of shape (n_pairs,).

        For CSR input, one weighted pair represents all pairs that neither matrix stores.
        """
        return self._problem[0]

    @cached_property
    def score(self) -> np.ndarray:
        """Probability of each pair of ``truth``."""
        return self._problem[1]

    @cached_property
    def weights(self) -> np.ndarray | None:
        """Weight of each pair of ``truth``. None weights all pairs equally."""
        return self._problem[2]

    @cached_property
    def predicted(self) -> np.ndarray:
        """1 for each pair of ``truth`` whose probability exceeds the threshold, else 0."""
        return (self.score > self.threshold).astype(np.int8)

    @cached_property
    def top(self) -> TopLabels:
        """Most probable labels of each sample, up to the largest k of the metrics at k."""
        return at_k.top_labels(self.P, max(PLACES), unmeasured=self.Y == UNMEASURED)

    @cached_property
    def sparse_Y(self) -> sparse.csr_array:
        """Labels with NaN for unmeasured labels."""
        return with_nan(sparse.csr_array(self.Y))

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs that are grouped by label or sample."""
        return Pairs(self.Y, self.P, self.threshold, self.of_samples)

    @cached_property
    def sample_weights(self) -> np.ndarray:
        """Weight of each sample, 1 if all have the same."""
        return np.ones(self.Y.shape[0]) if self.of_samples is None else self.of_samples

    @cached_property
    def pooled(self) -> WeighedPairs:
        """All pairs as one binary problem, for the influence of samples."""
        return WeighedPairs(self._cells, self.sample_weights, by_label=False)

    @cached_property
    def by_label(self) -> WeighedPairs:
        """Pairs of each label, for the influence of samples."""
        return WeighedPairs(self._cells, self.sample_weights, by_label=True)

    @cached_property
    def _cells(self) -> Cells:
        return Cells.of_checked(self.Y, self.P).divided_by(self.label_frequency)

    @cached_property
    def _problem(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Label, probability and weight of each pair, which take about five times the memory of sparse matrices."""
        rows, _, truth, score, n_absent = cells_of(self.Y, self.P)
        of_samples, weights = self.of_samples, None
        if of_samples is None and sparse.issparse(self.P):
            of_samples = np.ones(self.Y.shape[0])
        if of_samples is not None:
            weights = of_samples[rows]
            if n_absent.any():
                truth, score = np.append(truth, 0), np.append(score, 0)
                weights = np.append(weights, of_samples @ n_absent)
        truth = truth.astype(np.int8)
        is_measured = truth != UNMEASURED
        if not is_measured.all():
            truth, score = truth[is_measured], score[is_measured]
            weights = None if weights is None else weights[is_measured]
        return truth, score, weights


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
        ``fairfold.metrics.corrections``, or a fixed threshold. None if no thresholds are chosen for the metric.
    by_label : bool, default=False
        Whether the thresholds of labels are chosen one by one, because the metric is a mean over labels.
    influence : callable or None, default=None
        Computes the influence of each sample on the score from :class:`Predictions`, see
        ``fairfold.metrics.derivatives``. None for a metric whose score is recomputed without some of
        the samples instead.
    training : float, default=0.8
        Variance that the training sample adds to a difference, relative to the variance that the test samples add
        and to n_tested / n_train, see ``fairfold.evaluation.intervals``.

    Examples
    --------
    >>> from fairfold.metrics.registry import METRICS
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
    is_basic: bool = True
    short: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    needs: str = ""
    scikit_learn: str = ""
    correction: Correction | None = None
    objective: Callable[..., np.ndarray] | float | None = None
    by_label: bool = False
    influence: Callable[[Predictions], np.ndarray] | None = None
    training: float = 0.8

    @property
    def jumps(self) -> bool:
        """Whether scores change in jumps, because probabilities cross a threshold, and depend on few positives."""
        return self.training == _AT_A_THRESHOLD

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
        >>> from fairfold.metrics.registry import METRICS
        >>> METRICS["hamming_loss"].goodness([0.25, float("nan")])
        array([-0.25, -1.  ])
        """
        worst = np.nan_to_num(min(self.direction * end for end in (*self.range, self.direction * -1.0)))
        found = self.direction * np.asarray(values, dtype=np.float64)
        return np.where(np.isnan(found), worst, found)


_Scored: TypeAlias = dict[str, Any]  # The fields "function" and "influence" of a metric.


def _average_precision(pred: Predictions) -> float:
    is_sparse = sparse.issparse(pred.P)
    score = plain_scores.sparse_average_precision_score if is_sparse else plain_scores.average_precision_score
    return score(pred.truth, pred.score, pred.weights)


def _of_both(function: Callable[[Predictions], float]) -> Callable[[Predictions], float]:
    """Let a metric return NaN unless both positive and negative labels occur."""
    return lambda pred: function(pred) if 0 < pred.truth.sum() < pred.truth.size else np.nan


def _pooled(function: Callable[[Counts], np.ndarray]) -> _Scored:
    """Apply a function of counts to all pairs together."""

    def score(pred: Predictions) -> float:
        counted = (pred.truth & pred.predicted, pred.predicted, pred.truth)
        if pred.weights is None:
            found = [*map(np.count_nonzero, counted), pred.truth.size]
        else:
            found = [*(pred.weights @ each for each in counted), pred.weights.sum()]
        counts = Counts(*(np.array(each, dtype=np.float64) for each in found))
        return float(function(counts)) if counts.positives > 0 else np.nan

    return {"function": score, "influence": lambda pred: pred.pooled.of_counts(function, pred.threshold)}


def _mean_of_labels(function: Callable[[Counts], np.ndarray]) -> _Scored:
    """Average a function of counts over the labels that are measured."""

    def score(pred: Predictions) -> float:
        counts = pred.pairs.of_labels
        return float(function(counts)[counts.measured > 0].mean()) if counts.positives.any() else np.nan

    return {"function": score, "influence": lambda pred: pred.by_label.of_counts(function, pred.threshold)}


def _mean_of_scored(
    function: Callable[[Pairs], np.ndarray], influence: Callable[[WeighedPairs], np.ndarray]
) -> _Scored:
    """Average a score over the labels that define it."""

    def score(pred: Predictions) -> float:
        found = function(pred.pairs)
        return float(found[~np.isnan(found)].mean()) if not np.isnan(found).all() else np.nan

    return {"function": score, "influence": lambda pred: influence(pred.by_label)}


def _mean_of_samples(
    function: Callable[[Pairs], np.ndarray], defined: Callable[[Counts], np.ndarray], counted: str = "measured"
) -> _Scored:
    """Average a score over the samples with ``counted`` labels, with NaN unless a sample defines it."""

    def score(pred: Predictions) -> float:
        pairs = pred.pairs
        counts = pairs.of_each_sample
        kept = getattr(counts, counted) > 0
        found = function(pairs)[kept] if defined(counts).any() else None
        return np.nan if found is None else float(np.average(found, weights=pairs.of_samples[kept]))

    def influence(pred: Predictions) -> np.ndarray:
        kept = getattr(pred.pairs.of_each_sample, counted) > 0
        return of_ratio(np.where(kept, function(pred.pairs), 0.0), kept, pred.sample_weights)

    return {"function": score, "influence": influence}


def _of_samples(function: Callable[[Counts], np.ndarray]) -> _Scored:
    """Average a function of counts over samples."""
    return _mean_of_samples(lambda pairs: function(pairs.of_each_sample), lambda counts: counts.positives > 0)


def _mcc_of(counts: Counts) -> np.ndarray:
    return corrections.mcc(counts.true_positives, counts.predicted, counts.positives, counts.measured)


def _of_ranking_loss(pred: Predictions) -> np.ndarray:
    """Return the influence of samples on the ranking loss."""
    found = plain_scores.ranking_losses(pred.Y, pred.P)
    return np.zeros(pred.Y.shape[0]) if found is None else of_ratio(found[0] * found[1], found[1], pred.sample_weights)


def _of_calibration_error(pred: Predictions) -> np.ndarray:
    """Return the influence of samples on the calibration error."""
    pairs, bins = pred.pooled, plain_scores.bins_of(pred.pooled.score)
    gaps = pairs.score - pairs.y
    return pairs.of_mean(np.sign(np.bincount(bins, pairs.weight * gaps))[bins] * gaps)


def _has_both(counts: Counts) -> np.ndarray:
    return (counts.positives > 0) & (counts.positives < counts.measured)


def _further(direction: Literal[1, -1], label: str, scored: _Scored, **options: Any) -> Metric:
    """Return a metric that is computed on request."""
    return Metric(direction, **{"label": label, "name": label, "is_basic": False, **scored, **options})


def _averages(
    key: str,
    function: Callable[[Counts], np.ndarray],
    correction: Callable[..., np.ndarray],
    objective: Callable[..., np.ndarray] | None = None,
) -> dict[str, Metric]:
    """Return the entries of the micro, macro and sample average of a function of counts."""
    shown = key.replace("f1", "F1")
    micro: dict[str, Any] = {"correction": Correction(correction), "objective": objective}
    macro = {"correction": Correction(correction, macro=True), "objective": objective, "by_label": True}
    return {
        f"{key}_micro": _further(
            1, f"micro {shown}", _pooled(function), short=shown.capitalize(), **micro, **_OF_POSITIVES
        ),
        f"{key}_macro": _further(
            1, f"macro {shown}", _mean_of_labels(function), short=f"macro {shown}", **macro, **_OF_POSITIVES
        ),
        f"{key}_samples": _further(
            1, f"sample {shown}", _of_samples(function), short=f"sample {shown}", **_OF_POSITIVES
        ),
    }


_AT_A_THRESHOLD = 1.5  # Share of the training sample in the variance of scores that depend on a threshold.
_OF_POSITIVES: dict[str, Any] = {"use": "threshold", "needs": "a positive label", "scikit_learn": "0"}
_OF_POSITIVES["training"] = _AT_A_THRESHOLD
_OF_CELLS = {"needs": "a measured label", "scikit_learn": "an error"}
_OF_PAIRS = "a sample with a positive and a negative label"


def _ratio_at(k: int, terms: Callable[[Predictions], Terms]) -> _Scored:
    """Divide sums over samples of terms at k."""

    def influence(pred: Predictions) -> np.ndarray:
        found = terms(pred)
        return of_ratio(found.above[:, k - 1], found.below[:, k - 1], found.weights)

    return {"function": lambda pred: terms(pred).ratios()[-1], "influence": influence}


def _metrics_at(k: int) -> dict[str, Metric]:
    """Return the entries of the metrics at k."""
    terms: dict[str, Callable[[Predictions], Terms]] = {
        "precision": lambda pred: at_k.precision_terms(pred.sparse_Y, pred.top, k, pred.of_samples),
        "recall": lambda pred: at_k.recall_terms(pred.sparse_Y, pred.top, k, pred.of_samples),
        "ndcg": lambda pred: at_k.ndcg_terms(pred.sparse_Y, pred.top, k, pred.of_samples),
        "propensity_scored_precision": lambda pred: at_k.propensity_scored_precision_terms(
            pred.sparse_Y, pred.top, np.asarray(pred.inverse_propensity), k, pred.of_samples
        ),
    }
    scored: dict[str, _Scored] = {key: _ratio_at(k, each) for key, each in terms.items()}
    # The share of labels that are found is no smooth function of the weights of samples.
    scored["coverage"] = {"function": lambda pred: at_k.coverage_at_k(pred.sparse_Y, pred.top, k)[-1]}
    names = {"ndcg": "nDCG", "propensity_scored_precision": "propensity-scored precision"}
    pair, more = (
        "a positive and a negative label",
        f"a sample with a positive and more than {k} label{'s' if k > 1 else ''}",
    )
    needs = {"precision": pair, "ndcg": f"a sample with {pair}"}
    needs["propensity_scored_precision"] = more.replace("a positive", "a positive, a negative", 1)
    return {
        f"{key}_at_{k}": Metric(
            1,
            label=(label := f"{names.get(key, key)} at {k}"),
            name=label,
            use="top",
            leads=key == "ndcg" and k == PLACES[-1],
            needs_propensity=key == "propensity_scored_precision",
            needs=needs.get(key, more),
            scikit_learn="no such function" if key != "ndcg" else "0 without a positive; an error for one label",
            **fields,
        )
        for key, fields in scored.items()
    }


METRICS = {
    "roc_auc": Metric(
        1,
        label="micro AUROC",
        name="AUROC",
        use="ranking",
        function=_of_both(lambda pred: plain_scores.roc_auc_score(pred.truth, pred.score, pred.weights)),
        needs="a positive and a negative label",
        scikit_learn="NaN",
        correction=Correction(corrections.roc_auc),
        influence=lambda pred: pred.pooled.of_area(),
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
        influence=lambda pred: pred.pooled.of_average_precision(),
    ),
    "hamming_loss": Metric(
        -1,
        label="Hamming loss",
        name="Hamming loss",
        use="threshold",
        function=lambda pred: np.average(pred.truth != pred.predicted, weights=pred.weights),
        needs="a measured label",
        scikit_learn="an error",
        correction=Correction(corrections.corrected_hamming_loss),
        objective=0.5,
        influence=lambda pred: pred.pooled.of_counts(corrections.hamming_loss_of, pred.threshold),
    ),
    "ranking_loss": Metric(
        -1,
        label="ranking loss",
        name="ranking loss",
        use="ranking",
        function=lambda pred: plain_scores.label_ranking_loss(pred.Y, pred.P, pred.of_samples),
        needs="a sample with a positive and a negative label",
        scikit_learn="0; an error for one label",
        correction=Correction(np.asarray, of_samples=True),
        influence=_of_ranking_loss,
    ),
    "mcc": Metric(
        1,
        label="micro MCC",
        name="Matthews correlation",
        use="threshold",
        function=_of_both(lambda pred: plain_scores.matthews_corrcoef(pred.truth, pred.predicted, pred.weights)),
        leads=True,
        short="MCC",
        range=(-1.0, 1.0),
        needs="a positive and a negative label",
        scikit_learn="0",
        correction=Correction(corrections.corrected_mcc),
        objective=corrections.mcc,
        influence=lambda pred: pred.pooled.of_counts(_mcc_of, pred.threshold),
        training=_AT_A_THRESHOLD,
    ),
    **_averages("f1", corrections.f1_of, corrections.f1_of, corrections.f1),
    **_averages("precision", corrections.precision_of, corrections.precision_of),
    **_averages("recall", plain_scores.recall_of, corrections.corrected_recall),
    "accuracy_samples": _further(
        1,
        "sample accuracy",
        _of_samples(plain_scores.jaccard_of),
        name="sample accuracy (Jaccard)",
        **_OF_POSITIVES,
    ),
    "subset_accuracy": _further(
        1,
        "subset accuracy",
        _mean_of_samples(lambda pairs: plain_scores.is_exact(pairs.of_each_sample), lambda counts: counts.measured > 0),
        use="threshold",
        **_OF_CELLS,
    ),
    "mcc_macro": _further(
        1,
        "macro MCC",
        _mean_of_labels(_mcc_of),
        name="macro Matthews correlation",
        range=(-1.0, 1.0),
        correction=Correction(corrections.corrected_mcc, macro=True),
        objective=corrections.mcc,
        by_label=True,
        **_OF_POSITIVES,
    ),
    "average_precision_macro": _further(
        1,
        "macro average precision",
        _mean_of_scored(Pairs.average_precisions, WeighedPairs.of_average_precision),
        use="ranking",
        short="macro AP",
        needs="a label with a positive and a negative",
        scikit_learn="0 for a label without a positive",
        correction=Correction(corrections.average_precision, macro=True),
    ),
    "roc_auc_macro": _further(
        1,
        "macro AUROC",
        _mean_of_scored(Pairs.areas_under_the_curve, WeighedPairs.of_area),
        use="ranking",
        needs="a label with a positive and a negative",
        scikit_learn="NaN",
        correction=Correction(corrections.roc_auc, macro=True),
    ),
    "label_ranking_average_precision": _further(
        1,
        "label ranking average precision",
        _mean_of_samples(Pairs.precisions_of_ranks, _has_both),
        use="ranking",
        short="LRAP",
        needs=_OF_PAIRS,
        scikit_learn="1; an error for one label",
    ),
    "one_error": _further(
        -1,
        "one-error",
        _mean_of_samples(Pairs.wrong_first_labels, _has_both, "positives"),
        use="ranking",
        needs=_OF_PAIRS,
        scikit_learn="no such function",
    ),
    "coverage_error": _further(
        -1,
        "coverage error",
        _mean_of_samples(Pairs.coverages, _has_both),
        use="ranking",
        range=(0.0, float("inf")),
        needs=_OF_PAIRS,
        scikit_learn="0 or the number of labels",
    ),
    "brier_score": _further(
        -1,
        "Brier score",
        {
            "function": lambda pred: np.average((pred.score - pred.truth) ** 2, weights=pred.weights),
            "influence": lambda pred: pred.pooled.of_mean(
                pred.pooled.score**2 + pred.pooled.y * (1 - 2 * pred.pooled.score)
            ),
        },
        use="ranking",
        correction=Correction(corrections.corrected_brier_score),
        **_OF_CELLS,
    ),
    "calibration_error": _further(
        -1,
        "calibration error",
        {
            "function": lambda pred: plain_scores.calibration_error(pred.truth, pred.score, pred.weights),
            "influence": _of_calibration_error,
        },
        name="expected calibration error",
        use="ranking",
        needs="a measured label",
        scikit_learn="no such function",
    ),
    **{name: metric for k in PLACES for name, metric in _metrics_at(k).items()},
}

BASIC_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top" and metric.is_basic}
"""Metrics of every table of scores, for any number of labels."""

FURTHER_METRICS = {name: metric for name, metric in METRICS.items() if metric.use != "top" and not metric.is_basic}
"""Metrics that are computed on request, for any number of labels."""


def over_labels(name: str) -> str | None:
    """Return the metric that averages a pooled score over labels.

    Parameters
    ----------
    name : str
        Name of a metric.

    Returns
    -------
    str or None
        Name of the mean over labels. None for a metric that does not pool labels.

    Examples
    --------
    >>> over_labels("average_precision"), over_labels("f1_micro"), over_labels("f1_macro")
    ('average_precision_macro', 'f1_macro', None)
    """
    mean = f"{name.removesuffix('_micro')}_macro"
    return mean if mean in METRICS else None


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
