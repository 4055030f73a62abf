"""What it costs to follow an advice: how far below the best model a dataset ends whose model was chosen without it.

Each dataset is left out in turn. Strategies choose a model from what a user would have: the scores of other datasets,
whose labels are complete, at the rate nearest to the one estimated on this dataset; and the scores of this dataset's
own cross-validation by the labels that are observed there. The regret is the score of the best model less that of the
chosen one, both by all labels that the data have, which no strategy sees.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy

from fairfold.core.ties import first_best, settled
from fairfold.errors import DataError
from fairfold.evaluation.metrics import METRICS
from fairfold.evaluation.score_tables import check_columns, where_defined
from fairfold.recommendation.comparison import compare_with_best, nearest_rate

CHOICES = ["dataset", "missing_rate", "metric", "strategy", "model", "value", "best_model", "best", "regret"]
SUMMARY = ["strategy", "missing_rate", "metric", "n_datasets", "regret", "low", "high", "worst"]
_N_RESAMPLES = 9999
_FEWEST = 5  # datasets, from which an interval can be had: resamples of fewer hold the same few means


def regret_tables(
    scores: pd.DataFrame, missing_rates: pd.DataFrame, *, alpha: float = 0.05, n_repeats: int = 1
) -> dict[str, pd.DataFrame]:
    """Regret of each strategy, dataset by dataset and summed up.

    Strategies are ``recommendation`` (of the models that are not significantly worse than the best by the dataset's own
    observed labels, the one with the best mean rank on the other datasets), ``other datasets`` (the best mean rank
    there), ``observed labels`` (the best by the dataset's own), ``any model`` (the mean over all of them, as of one
    drawn at random), and ``always X`` for each model X. Ties are won by the model that stands first.

    Parameters
    ----------
    scores : columns ``dataset, missing_rate, model, fold, is_final, metric, value, observed_value``, as of the
        weak-label study; rows that are not final are left out.
    missing_rates : columns ``dataset, hidden_rate, estimated_rate``, in percent, as of
        :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.
    alpha : level of the tests that find the models not significantly worse; see
        :func:`~fairfold.recommendation.comparison.compare_with_best`.
    n_repeats : cross-validations that the folds are from.

    Returns
    -------
    dict of two DataFrames
        ``choices``, columns ``dataset, missing_rate, metric, strategy, model, value, best_model, best, regret``: values
        are means over folds, ``regret`` is at least 0, and NaN where a strategy has nothing to choose from. ``regret``,
        columns ``strategy, missing_rate, metric, n_datasets, regret, low, high, worst``: the mean over datasets with a
        95 % bootstrap interval over them (percentiles of 9,999 resamples; NaN for fewer than five), and the largest.

    Raises
    ------
    DataError
        When a column or an estimate is missing.
    """
    needed = ["dataset", "missing_rate", "model", "fold", "is_final", "metric", "value", "observed_value"]
    check_columns(scores, needed, "scores")
    check_columns(missing_rates, ["dataset", "hidden_rate", "estimated_rate"], "missing rates")
    scores = scores[scores["is_final"]]
    estimates = missing_rates.set_index(["dataset", "hidden_rate"])["estimated_rate"]
    rows = [
        (dataset, rate, metric, *choice)
        for metric, part in scores.groupby("metric", sort=False)
        for dataset, rate, choice in _choices_by(metric, part, estimates, alpha, n_repeats)
    ]
    choices = pd.DataFrame(rows, columns=CHOICES)
    return {"choices": choices, "regret": _summary(choices)}


def _choices_by(
    metric: str, scores: pd.DataFrame, estimates: pd.Series, alpha: float, n_repeats: int
) -> Iterator[tuple[str, int, tuple]]:
    """Dataset, rate, and the rest of a row of the choices by one metric."""
    direction, models = METRICS[metric].direction, list(scores["model"].unique())
    units = ["dataset", "missing_rate", "model"]
    defined = where_defined(scores, ["dataset", "missing_rate", "fold"])
    means = defined.groupby(units, sort=False)["value"].agg(lambda values: values.mean(skipna=False))
    goodness = direction * means.unstack("model").reindex(columns=models)
    ranks = goodness.rank(axis=1, ascending=False)
    for (dataset, rate), part in scores.groupby(["dataset", "missing_rate"], sort=False):
        if (dataset, rate) not in estimates:
            raise DataError(f"the table of missing rates has no estimate of {dataset!r} at the hidden rate {rate}.")
        if (dataset, rate) not in goodness.index or goodness.loc[(dataset, rate)].isna().all():
            continue
        true = settled(goodness.loc[(dataset, rate)].to_numpy())
        best, picked = _best(true), {}
        prior = -_ranks_elsewhere(ranks, dataset, estimates[dataset, rate])
        for strategy, position in _picks(part, metric, prior, alpha, n_repeats):
            picked[strategy] = (None, np.nan) if position is None else (models[position], true[position])
        picked["any model"] = (None, np.nanmean(true))
        for strategy, (model, value) in picked.items():
            found = (strategy, model, direction * value, models[best], direction * true[best], true[best] - value)
            yield dataset, rate, found


def _picks(
    scores: pd.DataFrame, metric: str, prior: pd.Series, alpha: float, n_repeats: int
) -> Iterator[tuple[str, int | None]]:
    """Strategies on one dataset, with the position of the model that each picks.

    Parameters
    ----------
    scores : of the dataset at one rate.
    prior : how good each model is elsewhere, NaN where that is not known; higher is better.
    """
    observed = scores.assign(value=scores["observed_value"])
    by_observed = compare_with_best(observed, metric, alpha=alpha, n_repeats=n_repeats)
    own = by_observed.set_index("model").reindex(prior.index)
    prior = prior.where(own["mean"].notna().to_numpy())  # one that failed here is not taken
    yield "recommendation", _best(prior.where(own["is_top"].to_numpy(dtype=bool)).to_numpy())
    yield "other datasets", _best(prior.to_numpy())
    yield "observed labels", _best(METRICS[metric].direction * own["mean"].to_numpy(dtype=np.float64))
    yield from ((f"always {model}", position) for position, model in enumerate(prior.index))


def _ranks_elsewhere(ranks: pd.DataFrame, dataset: str, estimate: float) -> pd.Series:
    """Mean rank of each model on the other datasets, at the rate nearest to the estimate; NaN without others."""
    others = ranks[ranks.index.get_level_values("dataset") != dataset]
    if others.empty:
        return pd.Series(np.nan, index=ranks.columns)
    rate = nearest_rate(others.index.get_level_values("missing_rate").unique(), estimate)
    return others.xs(rate, level="missing_rate").mean()


def _best(goodness: np.ndarray) -> int | None:
    """Position of the largest, the first of those that tie; None where there is no number."""
    if np.isnan(goodness).all():
        return None
    return first_best(np.where(np.isnan(goodness), -np.inf, goodness))


def _summary(choices: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for unit, part in choices.groupby(["strategy", "missing_rate", "metric"], sort=False):
        regrets = part["regret"].dropna().to_numpy()
        if regrets.size:
            rows.append((*unit, regrets.size, regrets.mean(), *_interval(regrets), regrets.max()))
    return pd.DataFrame(rows, columns=SUMMARY)


def _interval(regrets: np.ndarray) -> tuple[float, float]:
    if len(regrets) < _FEWEST:
        return np.nan, np.nan
    found = scipy.stats.bootstrap((regrets,), np.mean, n_resamples=_N_RESAMPLES, method="percentile", rng=0)
    return tuple(found.confidence_interval)
