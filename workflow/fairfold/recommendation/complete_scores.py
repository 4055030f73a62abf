"""Score labels as they are, or estimate scores on complete labels, with confidence intervals.

Predictions of each test fold are scored. Unless the label frequency is 1, which takes labels as they are, the score is
corrected by :mod:`fairfold.missing_labels.corrected`. The
interval covers the scatter over samples, which are resampled within each fold, and the uncertainty of the label
frequency. All models use the same resamples. Repetitions of cross-validation reuse the resamples of the first one,
because the same samples must not narrow the interval like new samples. The interval is for the mean score of the models
of the folds on new samples of the same population. Balanced folds make scores too good for these. The worse end of the
interval, which is the lower end of a score and the upper end of a loss, is therefore moved by the estimated
:mod:`~fairfold.recommendation.optimism`, and that of AUROC by twice as much. Scores of few samples, such as average
precision, are also too good by chance. Where labels are taken as they are, the worse end is moved by this bias, too.
It is estimated by the mean of the resamples minus the score (Efron and Tibshirani 1993, chapter 10). If labels were
hidden on purpose, the score on all labels shows the error of estimates. The interval holds it more often than the
score of new samples, because it is the score of the same samples.

Two further estimates show the effect of labels that are not missing at random: ``if_hard`` and ``if_easy`` assume that
hard, or easy, positives are missing more often, see :func:`~fairfold.missing_labels.corrected.frequency_if_hard`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.folds import Part, parts_of, share_tested
from fairfold.core.groups import SampleMetadata
from fairfold.core.rounding import SCORE_DECIMALS
from fairfold.core.validation import capped_frequency
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.score_tables import check_columns
from fairfold.metrics.corrections import NOT_CORRECTED, ODDS_FACTOR, SENSITIVITY
from fairfold.metrics.registry import BASIC_METRICS, METRICS, Metric, over_labels
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import Corrected, corrected_scores, draw_samples, frequency_if_hard
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.optimism import FACTORS, frequency_shifts, optimism

LEVEL = 0.95
UNBALANCED = ("random", "clusters")
"""Methods whose folds differ in their labels, so that scores are not optimistic."""
N_DRAWS = 200  # bootstrap samples of each fold
WIDER = 1.15  # factor of intervals for labels as given, chosen on draws 0 to 3 of benchmarks/noisy_complete.py
ALL_MODELS = "all models"
_FOLDS = ["model", "fold", "metric", "complete", "observed", "corrected", "known", *SENSITIVITY]
_FOLDS += ["at_bound", "over_labels", "optimism", "share_tested"]
_SCORES = ["model", "metric", "complete", "observed", "corrected", "low", "high", "share_best", "known"]


def complete_scores(
    Y: Matrix,
    observed: Matrix,
    predictions: Mapping[str, FinalPredictions],
    frequency: FrequencyDistribution | None,
    known_frequency: float,
    *,
    bound: float | None = None,
    threshold: float = THRESHOLD,
    score: str = SCORE,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    hierarchical: bool = False,
    balanced: bool = True,
    n_draws: int = N_DRAWS,
    random_state: int = 0,
) -> dict[str, pd.DataFrame]:
    """Score models on all labels, on observed labels, and with the correction for missing labels.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        All labels of the data, 0 or 1.
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels; NaN marks unmeasured labels.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model.
    frequency : FrequencyDistribution or None
        Distribution of the label frequency. None if it is unknown; then there are no corrected scores.
    known_frequency : float
        True label frequency, known if labels were hidden on purpose.
    bound : float or None, default=None
        Lowest label frequency that the labels allow, which gives the scores ``at_bound``. None leaves them out.
    threshold : float, default=0.5
        Probability above which a label counts as predicted.
    score : str, default="average_precision"
        Metric that is scored in addition to ``BASIC_METRICS``, if it is not one of them.
    groups : ndarray of shape (n_samples,), default=None
        Group of each sample. Samples of a group are resampled together.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in scores.
    hierarchical : bool, default=False
        Whether the labels form a hierarchy. Then metrics whose correction assumes independently missing labels are not
        corrected.
    balanced : bool, default=True
        Whether the folds balance the labels. Otherwise, scores are not optimistic, and intervals are not moved.
    n_draws : int, default=200
        Number of draws of samples and frequencies for the intervals.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    dict of str to DataFrame
        ``folds`` has one row per model, fold and metric with the columns ``model, fold, metric`` and

        - ``complete``, ``observed`` : the score on all labels and on observed labels
        - ``corrected``, ``known`` : its correction with the median frequency and with the known one
        - ``if_hard``, ``if_easy`` : its correction if hard or easy positives are missing more often
        - ``at_bound`` : its correction with the bound
        - ``over_labels`` : the mean over labels, for the score of the study, if that score pools labels
        - ``optimism``, ``share_tested`` : the estimated optimism of the corrected score, and the share of samples in
          the test fold

        ``scores`` has one row per model and metric with means of these columns, except the last two, over folds. It
        adds ``low, high``, a 95 % confidence interval for new samples, and ``share_best``, the share of draws in which
        the model is the best. Models that tie share a draw.

        Means ignore folds in which the score is undefined for all models. Values are NaN if no fold remains, if a model
        lacks predictions in a fold, or if the metric cannot be corrected.

    Raises
    ------
    DataError
        As :func:`~fairfold.missing_labels.corrected_scores`.

    Notes
    -----
    In each fold, the label frequency of a label is raised to the share of its positives, so that it does not have more
    hidden positives than zeros.

    The cost is O(n_draws * n_samples * n_labels) for each model.
    """
    metadata = SampleMetadata(groups, sample_weight)
    scored = list(dict.fromkeys([*BASIC_METRICS, score]))
    is_as_given = frequency is not None and frequency.median == 1
    is_restricted = hierarchical and not is_as_given
    # All folds use the same frequencies.
    drawn_frequencies: Iterable[float] = [] if frequency is None else frequency.draw(n_draws, random_state)
    assumed = _Assumed(frequency, known_frequency, bound, drawn_frequencies)
    rows, draws = [], defaultdict(list)
    for model, predicted in predictions.items():
        parts = parts_of(predicted.fold_of, Y.shape[0])
        n_folds = len(parts) // len(np.atleast_2d(predicted.fold_of))
        counts = _drawn_within_folds(parts, Y.shape[0], metadata, n_draws, random_state)
        tested = np.unique(np.concatenate([test for _, test in parts]))
        shifts = frequency_shifts(observed[tested], metadata.of(tested).groups, random_state=random_state)
        for fold, (train, test) in enumerate(parts):
            options = {"threshold": threshold, "sample_weight": metadata.of(test).weights}
            for metrics, P in _alike(predicted, scored, fold):
                correctable = [name for name in metrics if is_correctable(METRICS[name], hierarchical=is_restricted)]
                of_fold = _Fold(Y[test], observed[test], P, metrics, correctable, options)
                found = of_fold.scores(assumed, score, shifts if balanced else None)
                drawn = of_fold.draws(assumed, counts[:, test], random_state + fold % n_folds)
                for metric in metrics:
                    numbers = (found.get(name, {}).get(metric, np.nan) for name in _FOLDS[3:-1])
                    rows.append((model, fold, metric, *numbers, share_tested(train, test)))
                    draws[model, metric].append(drawn.get(metric, np.full(n_draws, np.nan)))
    folds = pd.DataFrame(rows, columns=_FOLDS)
    return {"folds": folds, "scores": _summary(folds, draws, list(predictions), is_biased=is_as_given)}


class _Assumed(NamedTuple):
    """Label frequencies: their distribution, the true one, the lowest one, and draws."""

    distribution: FrequencyDistribution | None
    known: float
    bound: float | None
    drawn: Iterable[float]


@dataclass(frozen=True)
class _Fold:
    """Labels and probabilities of the samples of a test fold, metrics, and options of scores."""

    Y: Matrix
    observed: Matrix
    P: Matrix
    metrics: list[str]
    correctable: list[str]
    options: dict[str, Any]

    @cached_property
    def scorer(self) -> Corrected | None:
        """Return the corrected scores, or None if the model failed."""
        if not finite_rows(self.P).all():
            return None
        return Corrected(self.observed, self.P, metrics=tuple(self.correctable), **self.options)

    def capped(self, frequency: float) -> float | np.ndarray:
        """Raise a label frequency to the share of positives of each label."""
        return capped_frequency(self.observed, frequency)

    def scores(self, assumed: _Assumed, score: str, shifts: np.ndarray | None) -> dict[str, dict[str, float]]:
        """Return each column of ``folds`` by metric. Without `shifts`, scores are not optimistic."""
        if self.scorer is None:
            return {}
        found = {
            name: multilabel_scores(labels, self.P, metrics=self.metrics, **self.options)
            for name, labels in (("complete", self.Y), ("observed", self.observed))
        }
        found["known"] = self.scorer.scores(self.capped(assumed.known))
        c = 1.0 if assumed.distribution is None else assumed.distribution.median
        at_median = partial(corrected_scores, self.observed, label_frequency=self.capped(c), **self.options)
        if (mean := over_labels(score)) and score in self.metrics:
            found["over_labels"] = {score: at_median(P=self.P, metrics=[mean])[mean]}
        if assumed.distribution is None or not self.correctable:
            return found
        found["corrected"] = self.scorer.scores(self.capped(c))
        found |= {} if c == 1 else _if_not_at_random(self.scorer, self.observed, self.P, c)
        found |= {} if assumed.bound is None else {"at_bound": self.scorer.scores(self.capped(assumed.bound))}
        found["optimism"] = dict.fromkeys(self.correctable, 0.0)
        if shifts is not None:
            of_metrics = partial(at_median, metrics=self.correctable)
            found["optimism"] = optimism(found["corrected"], of_metrics, self.P, shifts, c)
        return found

    def draws(self, assumed: _Assumed, counts: np.ndarray, random_state: int) -> dict[str, np.ndarray]:
        """Return draws of each corrected score, for counts of the samples of shape (n_draws, n_samples)."""
        if self.scorer is None or assumed.distribution is None or not self.correctable:
            return {}
        return self.scorer.draws(map(self.capped, assumed.drawn), counts, random_state)


def _if_not_at_random(scorer: Corrected, observed: Matrix, P: Matrix, c: float) -> dict[str, dict[str, float]]:
    """Correct scores as if hard, or easy, positives were missing more often. Sparse predictions have no such score."""
    if sparse.issparse(P):
        return {}
    factors = zip(SENSITIVITY, (ODDS_FACTOR, 1 / ODDS_FACTOR), strict=True)
    return {name: scorer.scores(frequency_if_hard(observed, P, c, factor)) for name, factor in factors}


def is_correctable(metric: Metric, *, hierarchical: bool) -> bool:
    """Return whether a metric can be corrected for missing labels.

    Parameters
    ----------
    metric : Metric
        Entry of :data:`~fairfold.metrics.registry.METRICS`.
    hierarchical : bool
        Whether the labels form a hierarchy.

    Returns
    -------
    bool
        False for metrics without a correction. With a hierarchy, also false for corrections that assume independently
        missing labels.

    Examples
    --------
    >>> is_correctable(BASIC_METRICS["ranking_loss"], hierarchical=False)
    True
    >>> is_correctable(BASIC_METRICS["ranking_loss"], hierarchical=True)
    False
    """
    return metric.correction is not None and not (hierarchical and metric.correction.of_samples)


def with_notes(scores: pd.DataFrame, *, hierarchical: bool = False) -> pd.DataFrame:
    """Add a column ``note`` that marks the metrics without a correction.

    Parameters
    ----------
    scores : DataFrame
        Scores of :func:`complete_scores`, with the column ``metric``.
    hierarchical : bool, default=False
        Whether the labels form a hierarchy.

    Returns
    -------
    DataFrame
        The scores with the new column, or unchanged if all metrics can be corrected.

    Examples
    --------
    >>> with_notes(pd.DataFrame({"metric": ["mcc", "ranking_loss"]}), hierarchical=True)["note"].tolist()
    ['', 'cannot be corrected']
    """
    is_noted = [not is_correctable(METRICS[name], hierarchical=hierarchical) for name in scores["metric"]]
    return scores.assign(note=np.where(is_noted, NOT_CORRECTED, "")) if any(is_noted) else scores


def share_left(Y: Matrix, observed: Matrix, fold_of: np.ndarray) -> float:
    """Compute the label frequency of data with labels hidden on purpose.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        All labels.
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels.
    fold_of : ndarray of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample, negative for samples that are never tested. Those are ignored, because none of their
        labels is hidden.

    Returns
    -------
    float
        Share of the positives that is observed.

    Examples
    --------
    >>> Y = np.array([[1, 1], [1, 1], [0, 1]])
    >>> observed = np.array([[1, 0], [1, 1], [0, 1]])
    >>> float(share_left(Y, observed, np.array([0, 1, -1])))
    0.75
    """
    tested = np.atleast_2d(fold_of)[0] >= 0
    n_left, n_all = ((labels[tested] == 1).sum() for labels in (observed, Y))
    return n_left / n_all


def _drawn_within_folds(
    parts: Sequence[Part], n_samples: int, metadata: SampleMetadata, n_draws: int, random_state: int
) -> np.ndarray:
    """Count how often each sample is drawn within the folds of the first split, shape (n_draws, n_samples)."""
    counts = np.zeros((n_draws, n_samples), dtype=np.int32)
    is_drawn = np.zeros(n_samples, dtype=bool)
    for fold, (_, test) in enumerate(parts):
        if is_drawn[test[0]]:  # The following folds belong to the next split.
            break
        is_drawn[test] = True
        groups = metadata.of(test).groups
        # A single group cannot be resampled, but its samples can.
        if groups is not None and len(np.unique(groups)) == 1:
            groups = None
        counts[:, test] = list(draw_samples(len(test), groups, n_draws, random_state + fold))
    return counts


def _alike(predicted: FinalPredictions, metrics: Sequence[str], fold: int) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yield the metrics that score the same cascade level in a fold, and the probabilities of that level."""
    by_level: dict[int, list[str]] = {}
    for number, metric in enumerate(metrics):
        kept = predicted.kept[min(number, len(predicted.kept) - 1), fold]  # A model that failed has no further row.
        by_level.setdefault(int(kept), []).append(metric)
    for metrics in by_level.values():
        yield metrics, predicted.in_fold(metrics[0], fold)


def _summary(
    folds: pd.DataFrame, draws: Mapping[tuple[str, str], list[np.ndarray]], models: Sequence[str], *, is_biased: bool
) -> pd.DataFrame:
    """Average over folds, with intervals; folds without a score of any model are ignored.

    ``is_biased`` moves the worse end by the bias of few samples, too, and widens the interval. Draws of an uncertain
    frequency do not show that bias.
    """
    columns = _FOLDS[3:]
    is_defined = folds[columns].notna().groupby([folds["metric"], folds["fold"]]).transform("any")
    folds = folds.assign(**{name: folds[name].where(is_defined[name], np.inf) for name in columns})
    groups = folds.groupby(["model", "metric"], sort=False)
    means = groups[columns].agg(lambda values: values[values != np.inf].mean(skipna=False))
    drawn_means = {unit: _mean_draw(draws[unit], (values != np.inf).to_numpy()) for unit, values in groups["corrected"]}
    tables = []
    for metric, of_metric in METRICS.items():
        if metric not in means.index.unique("metric"):
            continue
        table = means.xs(metric, level="metric").assign(metric=metric, low=np.nan, high=np.nan, share_best=np.nan)
        drawn = pd.DataFrame({model: drawn_means[model, metric] for model in table.index})
        # Ignore draws that contain no observed label in some fold.
        drawn = drawn.loc[:, table["corrected"].notna()].dropna()
        if drawn.size:
            goodness = of_metric.direction * drawn.round(SCORE_DECIMALS)
            estimates = table.loc[drawn.columns, "corrected"]
            # If few predicted labels are true, all draws can have more true positives than the estimate.
            low = (drawn.quantile((1 - LEVEL) / 2) - estimates).clip(upper=0)
            high = (drawn.quantile((1 + LEVEL) / 2) - estimates).clip(lower=0)
            too_good = FACTORS.get(metric, 1) * (of_metric.direction * table["optimism"]).clip(lower=0)
            if is_biased:
                low, high = WIDER * low, WIDER * high
                too_good += (goodness.mean() - of_metric.direction * estimates).clip(lower=0)
            if of_metric.direction > 0:
                low = low - too_good
            else:
                high = high + too_good
            table["low"], table["high"] = ((estimates + end).clip(*of_metric.range) for end in (low, high))
            is_best = goodness.eq(goodness.max(axis=1), axis=0)
            table.loc[drawn.columns, "share_best"] = is_best.div(is_best.sum(axis=1), axis=0).mean()  # ties share
        tables.append(table.reset_index()[[*_SCORES, *SENSITIVITY, "at_bound", "over_labels"]])
    whole = pd.concat(tables, ignore_index=True)
    return whole.sort_values("model", key=lambda names: names.map(models.index), kind="stable", ignore_index=True)


def _mean_draw(drawn: list[np.ndarray], is_defined: np.ndarray) -> np.ndarray:
    """Average draws over the folds with a defined score, shape (n_draws,); NaN if no fold has one."""
    if not is_defined.any():
        return np.full(len(drawn[0]), np.nan)
    return sum(of_fold / is_defined.sum() for of_fold in itertools.compress(drawn, is_defined))


def correction_quality(scores: pd.DataFrame) -> pd.DataFrame:
    """Compare estimated scores with the scores on all labels, over datasets.

    Parameters
    ----------
    scores : DataFrame
        Columns ``dataset, missing_rate, model, metric, complete, observed, corrected, low, high, known``, as returned
        by :func:`complete_scores`. The labels of the data are taken as complete.

    Returns
    -------
    DataFrame
        One row per missing rate, metric and model, and one for all models together. Columns:

        - ``missing_rate``, ``metric``, ``model``
        - ``n`` : number of datasets, or of pairs of dataset and model
        - ``bias_observed``, ``bias_corrected`` : mean of estimate minus true score
        - ``error_observed``, ``error_corrected``, ``error_known`` : mean absolute error of the score on observed
          labels, of the corrected score, and of the score corrected with the true label frequency
        - ``coverage`` : share of the 95 % intervals that contain the true score, both rounded to six decimals
        - ``width`` : mean width of the intervals

        Models of one dataset share its label frequency, so their errors are not independent.

    Raises
    ------
    DataError
        If a column is missing.

    Examples
    --------
    >>> row = {"dataset": "d", "missing_rate": 30, "model": "forest", "metric": "average_precision", "complete": 0.7,
    ...        "observed": 0.5, "corrected": 0.68, "low": 0.6, "high": 0.75, "share_best": 1.0, "known": 0.7}
    >>> quality = correction_quality(pd.DataFrame([row]))
    >>> quality[["model", "error_observed", "error_corrected", "coverage"]].round(2)
            model  error_observed  error_corrected  coverage
    0  all models             0.2             0.02       1.0
    1      forest             0.2             0.02       1.0
    """
    check_columns(scores, ["dataset", "missing_rate", *_SCORES], "complete scores")
    whole = scores.dropna(subset=["complete", "observed", "corrected", "low", "high"])
    units = ["missing_rate", "metric", "model"]
    errors = whole[units].copy()
    for name in ("observed", "corrected", "known"):
        errors[f"bias_{name}"] = whole[name] - whole["complete"]
        errors[f"error_{name}"] = errors[f"bias_{name}"].abs()
    truth, low, high = (whole[name].round(6) for name in ("complete", "low", "high"))
    errors = errors.assign(coverage=truth.between(low, high).astype(float), width=whole["high"] - whole["low"])
    grouped = pd.concat([errors.assign(model=ALL_MODELS), errors]).groupby(units, sort=False)
    quality = grouped.mean().drop(columns="bias_known")
    quality.insert(0, "n", grouped.size())
    return quality.reset_index()
