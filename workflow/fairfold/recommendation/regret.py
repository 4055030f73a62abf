"""Measure the regret of strategies for choosing a model.

The regret is the score of the best model minus the score of the chosen model, both on all labels of the data. Each
dataset is held out in turn. A strategy sees only what a user would have: scores of the other datasets on complete
labels, at the missing rate nearest to the estimate for this dataset, and scores of this dataset on observed labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import scipy

from fairfold.core.rounding import equalize_ties, first_best
from fairfold.errors import DataError
from fairfold.evaluation.score_tables import check_columns, where_defined
from fairfold.metrics.registry import METRICS
from fairfold.recommendation.comparison import compare_with_best, nearest_rate

CHOICES = ["dataset", "missing_rate", "metric", "strategy", "model", "value", "best_model", "best", "regret"]
SUMMARY = ["strategy", "missing_rate", "metric", "n_datasets", "regret", "low", "high", "worst"]
_N_RESAMPLES = 9999
# Fewest datasets for a bootstrap interval. Resamples of fewer datasets have too few different means.
_FEWEST = 5


def regret_tables(
    scores: pd.DataFrame, missing_rates: pd.DataFrame, *, alpha: float = 0.05, n_repeats: int = 1
) -> dict[str, pd.DataFrame]:
    """Compute the regret of each strategy, for each dataset and on average.

    Strategies, with ties going to the first model:

    - ``recommendation`` : among the models that are not significantly worse than the best on this dataset's observed
      labels, the one with the best mean rank on the other datasets
    - ``other datasets`` : the model with the best mean rank on the other datasets
    - ``observed labels`` : the best model on this dataset's observed labels
    - ``any model`` : a random model, scored by the mean over all models
    - ``always X`` : the model X, for each model

    Parameters
    ----------
    scores : DataFrame
        Scores of the weak-label study, with the columns ``dataset, missing_rate, model, fold, is_final, metric, value,
        observed_value``. Rows that are not final are ignored.
    missing_rates : DataFrame
        Columns ``dataset, hidden_rate, estimated_rate``, in percent, as returned by
        :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate`.
    alpha : float, default=0.05
        Level of the tests against the best model, see :func:`~fairfold.recommendation.comparison.compare_with_best`.
    n_repeats : int, default=1
        Number of cross-validations that the folds belong to.

    Returns
    -------
    dict of str to DataFrame
        ``choices`` has the columns ``dataset, missing_rate, metric, strategy, model, value, best_model, best, regret``.
        Values are means over folds. ``regret`` is at least 0, or NaN if a strategy has nothing to choose from.

        ``regret`` has the columns ``strategy, missing_rate, metric, n_datasets, regret, low, high, worst``: the mean
        regret over datasets, its 95 % confidence interval (percentile bootstrap over datasets; NaN for fewer than
        five), and the largest regret.

    Raises
    ------
    DataError
        If a column or an estimate is missing.
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
    """Yield the dataset, the missing rate and the other columns of each choice for one metric."""
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
        true = equalize_ties(goodness.loc[(dataset, rate)].to_numpy())
        best, picked = int(np.nanargmax(true)), {}
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
    """Yield each strategy for one dataset, and the position of the model that it picks.

    Parameters
    ----------
    scores : DataFrame
        Scores of the dataset at one missing rate.
    metric : str
        Name of the metric.
    prior : Series
        Goodness of each model on other datasets. Higher is better; NaN if unknown.
    alpha : float
        Level of the tests.
    n_repeats : int
        Number of cross-validations.
    """
    observed = scores.assign(value=scores["observed_value"])
    by_observed = compare_with_best(observed, metric, alpha=alpha, n_repeats=n_repeats)
    own = by_observed.set_index("model").reindex(prior.index)
    prior = prior.where(own["mean"].notna().to_numpy())  # Ignore models that failed on this dataset.
    yield "recommendation", _best(prior.where(own["is_top"].to_numpy(dtype=bool)).to_numpy())
    yield "other datasets", _best(prior.to_numpy())
    yield "observed labels", _best(METRICS[metric].direction * own["mean"].to_numpy(dtype=np.float64))
    yield from ((f"always {model}", position) for position, model in enumerate(prior.index))


def _ranks_elsewhere(ranks: pd.DataFrame, dataset: str, estimate: float) -> pd.Series:
    """Compute the mean rank of each model on the other datasets at the rate nearest to the estimate."""
    others = ranks[ranks.index.get_level_values("dataset") != dataset]
    if others.empty:
        return pd.Series(np.nan, index=ranks.columns)
    rate = nearest_rate(others.index.get_level_values("missing_rate").unique(), estimate)
    return others.xs(rate, level="missing_rate").mean()


def _best(goodness: np.ndarray) -> int | None:
    """Return the position of the first largest number, or None if all are NaN."""
    if np.isnan(goodness).all():
        return None
    return int(first_best(np.where(np.isnan(goodness), -np.inf, goodness)))


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
