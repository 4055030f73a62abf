"""Scores on complete labels, estimated for every model from those that are observed, with intervals.

What is scored are the probabilities of left-out samples, fold by fold as in the other tables; the correction is that of
:mod:`fairfold.evaluation.corrected`. An interval holds the scatter over samples, drawn anew within each fold, and what
is not known of the label frequency. All models meet the same draws. So do repetitions of cross-validation, the draws
being within folds of the first: taken for other samples, the same ones would narrow the interval as more samples do.
Where labels were hidden on purpose, the score by all labels says how right estimates and intervals are.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.folds import Part, parts_of, share_tested
from fairfold.core.groups import OfSamples
from fairfold.evaluation.corrected import Corrected, draw_samples
from fairfold.evaluation.corrections import NOT_CORRECTED
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.metrics import BASIC_METRICS, Metric
from fairfold.evaluation.score_tables import check_columns
from fairfold.evaluation.scores import multilabel_scores
from fairfold.weak_labels.plateau import FrequencyDistribution

LEVEL = 0.95
ALL_MODELS = "all models"
_DIGITS = 12  # decimals of a score; what differs less is rounding
_FOLDS = ["model", "fold", "metric", "complete", "observed", "corrected", "known", "share_tested"]
_SCORES = ["model", "metric", "complete", "observed", "corrected", "low", "high", "share_best", "known"]
_QUALITY = [
    *("missing_rate", "metric", "model", "n", "bias_observed", "error_observed", "bias_corrected", "error_corrected"),
    *("error_known", "coverage", "width"),
]


def complete_scores(
    Y: Matrix,
    observed: Matrix,
    predictions: Mapping[str, FinalPredictions],
    frequency: FrequencyDistribution | None,
    known_frequency: float,
    *,
    threshold: float = 0.5,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    hierarchical: bool = False,
    n_draws: int = 200,
    random_state: int = 0,
) -> dict[str, pd.DataFrame]:
    """Scores of models on one dataset at one missing rate, by all labels, by observed ones, and corrected.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1, all labels that the data have.
    observed : (n_samples, n_labels) what is left of them; NaN where unmeasured.
    predictions : model -> what its final scores are of.
    frequency : what is known of the label frequency; None for nothing, and no corrected scores.
    known_frequency : the share of positives that was left, as who hid them knows it.
    threshold : probability above which a label counts as predicted.
    groups, sample_weight : (n_samples,) or None; samples of a group are drawn together, and weights count in scores.
    hierarchical : whether labels are below each other. Metrics whose correction needs labels that are missing
        independently of each other are not corrected then.
    n_draws : of samples and frequencies, for the intervals.
    random_state : seed.

    Returns
    -------
    dict of two DataFrames
        ``folds``, columns ``model, fold, metric, complete, observed, corrected, known, share_tested``: the score by all
        labels, by observed ones, and this corrected with the median of the frequency and with the known one, and the
        share of the fold's samples that is tested; ``scores``, columns
        ``model, metric, complete, observed, corrected, low, high, share_best, known``, means over folds with a 95 %
        interval of the corrected score and the share of draws in which no other model has a better one. Means leave out
        folds in which the score is undefined for all models. They are NaN where there is no other fold, or where a
        model has no predictions in one; so are corrections of a metric that cannot be corrected. Time grows with the
        draws times n·q for each model.

    Raises
    ------
    DataError
        As :func:`~fairfold.evaluation.corrected.corrected_scores`.
    """
    of_samples = OfSamples(groups, sample_weight)
    is_correctable = {name: is_corrected(metric, hierarchical=hierarchical) for name, metric in BASIC_METRICS.items()}
    drawn_frequencies = None if frequency is None else frequency.draw(n_draws, random_state)  # the same in all folds
    frequencies = known_frequency, None if frequency is None else frequency.median, drawn_frequencies
    rows, draws = [], defaultdict(list)
    for model, predicted in predictions.items():
        parts = parts_of(predicted.fold_of, Y.shape[0])
        n_folds = len(parts) // len(np.atleast_2d(predicted.fold_of))
        counts = _drawn_within_folds(parts, Y.shape[0], of_samples, n_draws, random_state)
        for fold, (train, test) in enumerate(parts):
            given = {"threshold": threshold, "sample_weight": of_samples.of(test).weights}
            seed = random_state + fold % n_folds
            for metrics, P in _alike(predicted, fold):
                labels = Y[test], observed[test]
                correctable = tuple(filter(is_correctable.get, metrics))
                found, drawn = _score_fold(labels, P, metrics, correctable, frequencies, counts[:, test], seed, given)
                for metric in metrics:
                    numbers = (table.get(metric, np.nan) for table in found)
                    rows.append((model, fold, metric, *numbers, share_tested(train, test)))
                    draws[model, metric].append(drawn.get(metric, np.full(n_draws, np.nan)))
    folds = pd.DataFrame(rows, columns=_FOLDS)
    return {"folds": folds, "scores": _summary(folds, draws, list(predictions))}


def _score_fold(
    labels: tuple[Matrix, Matrix],
    P: Matrix,
    metrics: list[str],
    correctable: tuple[str, ...],
    frequencies: tuple[float, float | None, np.ndarray | None],
    counts: np.ndarray,
    random_state: int,
    given: Mapping[str, Any],
) -> tuple[list[dict[str, float]], dict[str, np.ndarray]]:
    """Scores by all labels, by observed ones, corrected, and corrected with what is known; and draws of the third."""
    if not finite_rows(P).all():
        return [{}] * 4, {}
    scorer = Corrected(labels[1], P, metrics=correctable, **given)
    by_labels = [multilabel_scores(each, P, metrics=metrics, **given) for each in labels]
    known, median, drawn = frequencies
    corrected = {} if median is None else scorer.scores(median)
    draws = scorer.draws(drawn, counts, random_state) if drawn is not None and correctable else {}
    return [*by_labels, corrected, scorer.scores(known)], draws


def is_corrected(metric: Metric, *, hierarchical: bool) -> bool:
    """Return whether a metric can be corrected for missing labels, which may be below each other."""
    return metric.correction is not None and not (hierarchical and metric.correction.of_samples)


def with_notes(scores: pd.DataFrame, *, hierarchical: bool = False) -> pd.DataFrame:
    """Add the column ``note`` to scores of :func:`complete_scores` where a metric cannot be corrected.

    Parameters
    ----------
    scores : DataFrame
        Table with the column ``metric``.
    hierarchical : bool, default=False
        Whether labels are below each other.

    Returns
    -------
    DataFrame
        The same table if all metrics can be corrected.

    Examples
    --------
    >>> with_notes(pd.DataFrame({"metric": ["mcc", "ranking_loss"]}), hierarchical=True)["note"].tolist()
    ['', 'cannot be corrected']
    """
    is_noted = [not is_corrected(BASIC_METRICS[name], hierarchical=hierarchical) for name in scores["metric"]]
    return scores.assign(note=np.where(is_noted, NOT_CORRECTED, "")) if any(is_noted) else scores


def share_left(Y: Matrix, observed: Matrix, fold_of: np.ndarray) -> float:
    """The label frequency where labels were hidden on purpose: share of the positives that is left.

    Parameters
    ----------
    Y, observed : (n_samples, n_labels) all labels, and what is left of them; in samples that are never tested nothing
        is hidden, and these do not count.
    fold_of : (n_samples,) or (n_repeats, n_samples) test fold of each sample, below 0 for none.
    """
    tested = np.atleast_2d(fold_of)[0] >= 0
    n_left, n_all = ((labels[tested] == 1).sum() for labels in (observed, Y))
    return n_left / n_all


def _drawn_within_folds(
    parts: Sequence[Part], n_samples: int, of_samples: OfSamples, n_draws: int, random_state: int
) -> np.ndarray:
    """(n_draws, n_samples) how often each sample is drawn, within folds of the first split."""
    counts = np.zeros((n_draws, n_samples), dtype=np.int32)
    is_drawn = np.zeros(n_samples, dtype=bool)
    for fold, (_, test) in enumerate(parts):
        if is_drawn[test[0]]:  # a fold of another split
            break
        is_drawn[test] = True
        groups = of_samples.of(test).groups
        if groups is not None and len(np.unique(groups)) == 1:  # nothing to draw from but its samples
            groups = None
        counts[:, test] = list(draw_samples(len(test), groups, n_draws, random_state + fold))
    return counts


def _alike(predicted: FinalPredictions, fold: int) -> Iterator[tuple[list[str], np.ndarray]]:
    """Metrics that score the same level of a fold, and its probabilities."""
    by_level: dict[int, list[str]] = {}
    for number, metric in enumerate(BASIC_METRICS):
        by_level.setdefault(int(predicted.kept[number, fold]), []).append(metric)
    for metrics in by_level.values():
        yield metrics, predicted.in_fold(metrics[0], fold)


def _summary(
    folds: pd.DataFrame, draws: Mapping[tuple[str, str], list[np.ndarray]], models: Sequence[str]
) -> pd.DataFrame:
    """Means over folds, with intervals; folds in which no model has a score, which is undefined there, are left out."""
    columns = _FOLDS[3:]
    is_defined = folds[columns].notna().groupby([folds["metric"], folds["fold"]]).transform("any")
    folds = folds.assign(**{name: folds[name].where(is_defined[name], np.inf) for name in columns})
    groups = folds.groupby(["model", "metric"], sort=False)
    means = groups[columns].agg(lambda values: values[values != np.inf].mean(skipna=False))
    drawn_means = {unit: _mean_draw(draws[unit], (values != np.inf).to_numpy()) for unit, values in groups["corrected"]}
    tables = []
    for metric, of_metric in BASIC_METRICS.items():
        table = means.xs(metric, level="metric").assign(metric=metric, low=np.nan, high=np.nan, share_best=np.nan)
        drawn = pd.DataFrame({model: drawn_means[model, metric] for model in table.index})
        drawn = drawn.loc[:, table["corrected"].notna()].dropna()  # draws without an observed label in a fold
        if drawn.size:
            goodness = of_metric.direction * drawn.round(_DIGITS)
            table.loc[drawn.columns, "low"] = drawn.quantile((1 - LEVEL) / 2)
            table.loc[drawn.columns, "high"] = drawn.quantile((1 + LEVEL) / 2)
            table.loc[drawn.columns, "share_best"] = goodness.eq(goodness.max(axis=1), axis=0).mean()
        tables.append(table.reset_index()[_SCORES])
    whole = pd.concat(tables, ignore_index=True)
    return whole.sort_values("model", key=lambda names: names.map(models.index), kind="stable", ignore_index=True)


def _mean_draw(drawn: list[np.ndarray], is_defined: np.ndarray) -> np.ndarray:
    """(n_draws,) means over the folds in which the score is defined; NaN where there is none."""
    if not is_defined.any():
        return np.full(len(drawn[0]), np.nan)
    return sum(of_fold / is_defined.sum() for of_fold in itertools.compress(drawn, is_defined))


def correction_quality(scores: pd.DataFrame) -> pd.DataFrame:
    """How near estimates come to the scores by all labels, over datasets.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, model, metric, complete, observed, corrected, low, high, known``, as of
        :func:`complete_scores`; labels of the data are taken as complete.

    Returns
    -------
    DataFrame with the columns ``missing_rate, metric, model, n, bias_observed, error_observed, bias_corrected,
    error_corrected, error_known, coverage, width``
        A row for each model and one for all of them; ``n`` counts datasets, or datasets and models. The bias is the
        mean of estimate less score, the error that of its absolute value; ``known`` is what the frequency that was
        hidden by gives. ``coverage`` is the share of 95 % intervals that hold the score by all labels, rounded to six
        decimals, and ``width`` their mean width. Models on one dataset share its frequency, and so its errors.

    Raises
    ------
    DataError
        When a column is missing.
    """
    check_columns(scores, ["dataset", "missing_rate", *_SCORES], "complete scores")
    whole = scores.dropna(subset=["complete", "observed", "corrected", "low", "high"])
    truth = whole["complete"]
    held = (whole["low"].round(6) <= truth.round(6)) & (truth.round(6) <= whole["high"].round(6))
    told = whole[["missing_rate", "metric", "model"]].assign(
        n=1, coverage=held.astype(float), width=whole["high"] - whole["low"]
    )
    for name in ("observed", "corrected", "known"):
        told[f"bias_{name}"] = whole[name] - truth
        told[f"error_{name}"] = told[f"bias_{name}"].abs()
    told = pd.concat([told.assign(model=ALL_MODELS), told])
    grouped = told.groupby(["missing_rate", "metric", "model"], sort=False)
    return grouped.agg({column: "sum" if column == "n" else "mean" for column in _QUALITY[3:]}).reset_index()
