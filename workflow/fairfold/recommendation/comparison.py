"""Which models to trust on a dataset: the best by each metric, and those that do not differ from it significantly.

Models are looked at that learned from the labels as they are, or with as few hidden as in any part of the study. What
counts are their scores on complete labels, estimated from the observed ones of left-out folds. Tests are corrected
paired t-tests over folds, two-sided, adjusted over all pairs of models after Benjamini & Hochberg, because any pair
could have become a comparison with the best. docs/how-it-works/comparing.md says what error rates that keeps.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from fairfold.core.ties import first_best, settled
from fairfold.errors import DataError
from fairfold.evaluation.corrected_t import ROPE, correlation_of_folds, p_values_ahead
from fairfold.evaluation.metrics import METRICS, metrics_of
from fairfold.evaluation.score_tables import check_columns
from fairfold.recommendation.certainty import CERTAINTY, certainty_columns

# What models are used for -> the metrics that judge it; the first one leads.
USES = {use: metrics_of(use) for use in ("ranking", "threshold")}
_DIGITS = 12  # decimals of a score; what differs less is rounding
_FOLDS = ["dataset", "missing_rate", "model", "fold", "metric", "observed", "corrected"]
_SCORES = ["dataset", "missing_rate", "model", "metric", "observed", "low", "high", "share_best"]
_COMPARED = ["model", "mean", "sd", "n_folds", "rank", "difference", "p_value", "p_adjusted", "is_top", *CERTAINTY]
_TWINS = ["same_as", "identical"]
_ESTIMATED = ["observed", "low", "high", "share_best"]


def nearest_rate(rates: Iterable[float], estimate: float) -> float:
    """The rate nearest to the estimate; the lower of two that are equally near, the lowest where the estimate is NaN.

    Parameters
    ----------
    rates : one or more.
    estimate : in the same unit.
    """
    rates = sorted(rates)
    return rates[0 if np.isnan(estimate) else first_best([-abs(rate - estimate) for rate in rates])]


def recommend(
    folds: pd.DataFrame,
    scores: pd.DataFrame,
    missing_rates: pd.DataFrame,
    *,
    identical: pd.DataFrame | None = None,
    alpha: float = 0.05,
    rope: float = ROPE,
    n_repeats: int = 1,
) -> pd.DataFrame:
    """Compare the models on each dataset with the best by estimated scores on complete labels.

    Parameters
    ----------
    folds, scores : columns ``dataset, missing_rate, model, fold, metric, observed, corrected``, and ``share_tested``
        unless folds are those of one cross-validation, and ``dataset,
        missing_rate, model, metric, observed, low, high, share_best``, as of
        :func:`~fairfold.recommendation.complete_scores.complete_scores`; the lowest missing rate of a dataset is looked
        at. Where no score could be corrected, those on observed labels are compared.
    missing_rates : columns ``dataset, hidden_rate, estimated_rate``, in percent, with a row of hidden rate 0 for each
        dataset.
    identical : DataFrame with the columns ``dataset, missing_rate, model, same_as, identical``, default=None
        Models with the scores of another model by all metrics, as of
        :func:`~fairfold.recommendation.identical.identical_models`. The two count as one in ranks and tests.
    alpha : level of the tests, for each dataset and metric.
    rope : differences up to this are practically none, in the metrics' units.
    n_repeats : cross-validations that the folds of a dataset are from, each of equally many.

    Returns
    -------
    DataFrame with the columns ``dataset, estimated_rate, missing_rate, use, metric, model, same_as, identical, mean,
    observed, low, high, share_best, sd, n_folds, rank, difference, p_value, p_adjusted, is_top, prob_best_better,
    prob_equivalent, prob_best_worse, detectable, rope, alpha``
        ``same_as`` is the model with identical scores, whose row is repeated, and ``identical`` says whether the
        predictions are identical, too (``predictions`` or ``scores``); both are missing for other models.
        ``mean`` and ``sd`` are of estimated scores over folds, ``observed`` is the mean of those on observed labels,
        ``low`` to ``high`` a 95 % interval of the mean, and ``share_best`` the share of its draws in which the model is
        the best; ``difference`` is how much worse than the best, at least 0. ``p_value`` is of the test against the
        best, NaN for itself, and ``p_adjusted`` the same adjusted over all pairs of models. ``is_top`` says that a
        model is not significantly worse than the best; all are top where a single fold allows no test. Folds in which a
        metric is undefined for all models are left out. A model without a score in one of the others is not compared:
        it has NaN, is not top, and ``n_folds`` is the number of its scores. The columns from ``prob_best_better`` to
        ``detectable`` are those of :func:`~fairfold.recommendation.certainty.certainty_columns`.

    Raises
    ------
    DataError
        When a column or the estimate of a dataset is missing, alpha is no level, a model has two scores in one fold, or
        the folds are not of so many cross-validations.
    """
    check_columns(folds, _FOLDS, "scores of folds")
    check_columns(scores, _SCORES, "complete scores")
    check_columns(missing_rates, ["dataset", "hidden_rate", "estimated_rate"], "missing rates")
    if not 0 < alpha < 1:
        raise DataError(f"alpha is {alpha!r}; it must be above 0 and below 1.")
    if not rope >= 0:
        raise DataError(f"rope is {rope!r}; it must be at least 0.")
    estimates = missing_rates[missing_rates["hidden_rate"] == 0].set_index("dataset")["estimated_rate"]
    tables = []
    for dataset, part in folds.groupby("dataset", sort=False):
        if dataset not in estimates:
            raise DataError(f"the table of missing rates has no estimate of {dataset!r} as it is (hidden rate 0).")
        rate = part["missing_rate"].min()
        part = part[part["missing_rate"] == rate]
        twins = _twins(identical, dataset, rate)
        intervals = scores[(scores["dataset"] == dataset) & (scores["missing_rate"] == rate)]
        for use, metrics in USES.items():
            for metric in metrics:
                rows = part[part["metric"] == metric]
                rows = rows.assign(value=rows["corrected"] if rows["corrected"].notna().any() else rows["observed"])
                distinct = rows[~rows["model"].isin(twins.index)]
                table = compare_with_best(distinct, metric, alpha=alpha, rope=rope, n_repeats=n_repeats)
                table = _with_twins(table, rows["model"].unique(), twins)
                of_metric = intervals[intervals["metric"] == metric].set_index("model")[_ESTIMATED]
                table = table.join(of_metric.reindex(table["model"]).reset_index(drop=True))
                names = {"dataset": dataset, "estimated_rate": estimates[dataset], "missing_rate": rate}
                named = table.assign(**names, use=use, metric=metric, rope=rope, alpha=alpha)
                compared = ["model", *_TWINS, "mean", *_ESTIMATED, *_COMPARED[2:], "rope", "alpha"]
                tables.append(named[[*names, "use", "metric", *compared]])
    return pd.concat(tables, ignore_index=True)


def _twins(identical: pd.DataFrame | None, dataset: str, rate: int) -> pd.DataFrame:
    """Columns ``same_as, identical`` of the models that count as one with another, by their names."""
    if identical is None:
        return pd.DataFrame(columns=_TWINS, dtype=object)
    rows = identical[(identical["dataset"] == dataset) & (identical["missing_rate"] == rate)]
    return rows.set_index("model")[_TWINS].astype(object)


def _with_twins(table: pd.DataFrame, models: np.ndarray, twins: pd.DataFrame) -> pd.DataFrame:
    """Add the rows of models that were left out, which are those of the models that they equal."""
    of_models = twins.reindex(models).reset_index(drop=True)
    stand_ins = of_models["same_as"].fillna(pd.Series(models))
    return table.set_index("model").loc[stand_ins].reset_index().assign(model=models, **of_models)


def compare_with_best(
    scores: pd.DataFrame, metric: str, *, alpha: float = 0.05, rope: float = ROPE, n_repeats: int = 1
) -> pd.DataFrame:
    """Models on one dataset by one metric, compared with the best over its folds.

    Parameters
    ----------
    scores : columns ``model, fold, value``; one row per model and fold, NaN where there is no score. The share of its
        samples that a fold tests is ``share_tested``; without that column folds are those of one cross-validation.
    metric : of :data:`~fairfold.evaluation.metrics.METRICS`.
    alpha : level of the tests.
    rope : differences up to this are practically none.
    n_repeats : cross-validations that the folds are from. Two scores correlate by a fold's share of the samples, from
        one cross-validation or from two (Corani & Benavoli 2015, section 3.1).

    Returns
    -------
    DataFrame with the columns from ``model`` to ``detectable`` of :func:`recommend`, in order of first appearance

    Raises
    ------
    DataError
        When a model has two scores in one fold, or the folds are not of so many cross-validations.
    """
    if scores.duplicated(["model", "fold"]).any():
        twice = scores[scores.duplicated(["model", "fold"])].iloc[0]
        raise DataError(f"model {twice['model']!r} has two scores by {metric} in fold {twice['fold']}; keep one.")
    models = scores["model"].unique()
    wide = scores.pivot(index="model", columns="fold", values="value").reindex(models)
    if n_repeats < 1 or wide.shape[1] % n_repeats:
        raise DataError(
            f"scores by {metric} are of {wide.shape[1]} folds, which {n_repeats} cross-validations cannot have."
        )
    shares = scores.drop_duplicates("fold").get("share_tested")
    correlation = correlation_of_folds(wide.shape[1] // n_repeats) if shares is None else shares.mean()
    wide = wide.dropna(axis="columns", how="all")
    table = pd.DataFrame({"model": models, "n_folds": wide.notna().sum(axis=1).to_numpy()}).reindex(columns=_COMPARED)
    table["is_top"] = False
    compared = np.flatnonzero(table["n_folds"] == max(1, wide.shape[1]))
    if compared.size:
        values = wide.to_numpy(dtype=np.float64)[compared]
        for column, found in _compared(values, METRICS[metric].direction > 0, correlation, alpha, rope).items():
            table.loc[compared, column] = found
    return table.astype({"is_top": bool})


def _compared(
    values: np.ndarray, higher_is_better: bool, correlation: float, alpha: float, rope: float = ROPE
) -> dict[str, np.ndarray]:
    """Columns of the table from values (n_models, n_folds) without NaN."""
    goodness = np.round(values if higher_is_better else -values, _DIGITS)
    means = settled(goodness.mean(axis=1))
    best = int(means.argmax())
    n_folds = values.shape[1]
    p_values = adjusted = np.full(len(values), np.nan)
    if n_folds > 1:
        matrices = _pairwise_tests(goodness, correlation)
        is_other = np.arange(len(values)) != best
        p_values, adjusted = (np.where(is_other, matrix[best], np.nan) for matrix in matrices)
    return {
        "mean": values.mean(axis=1),
        "sd": values.std(axis=1, ddof=1) if n_folds > 1 else p_values,
        "rank": pd.Series(-means).rank(method="min").to_numpy(),
        "difference": means[best] - means,
        "p_value": p_values,
        "p_adjusted": adjusted,
        "is_top": ~(adjusted <= alpha),
        **certainty_columns(goodness, best, correlation=correlation, rope=rope, alpha=alpha),
    }


def _pairwise_tests(goodness: np.ndarray, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values of all pairs of models, as they are and after Benjamini & Hochberg's adjustment; symmetric."""
    from scipy.stats import false_discovery_control  # here, as it takes a second that sentences need not wait for

    ahead = p_values_ahead(goodness[:, None] - goodness, correlation=correlation)
    p = np.minimum(1, 2 * np.minimum(ahead, ahead.T))
    pairs = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[pairs] = adjusted.T[pairs] = false_discovery_control(p[pairs]) if len(p) > 1 else 1
    return p, adjusted
