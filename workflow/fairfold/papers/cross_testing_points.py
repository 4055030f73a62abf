"""The points of Figures 4 to 8 of Korjus, Hebart & Vicente (2016), beside the published ones, and their Table 1."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from fairfold.cross_testing.names import INTERPRETABLE

_REASONS = {
    "nested_cv": "each outer fold chooses its own parameters and fits its own model",
    "cv_cross_testing": "parameters are chosen once, but a model is fitted for each fold of the test part",
    "cv_testing": "parameters are chosen once, and one model is fitted and tested",
}
_PANEL = ["figure", "dataset", "x_name"]
_POINT = [*_PANEL, "x", "procedure"]
_COLUMNS = [*_PANEL, "x", "source", "procedure", "metric", "value", "low", "high", "n_repetitions", "difference_in_se"]


def summarise(repetitions: pd.DataFrame, *, alpha: float = 0.05, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Mean accuracy and proportion of significant results of each procedure, one row per point of the figures.

    Intervals are those of 95 %, over repetitions: normal for accuracies, Wilson's for proportions.

    Parameters
    ----------
    repetitions : one row per run of a procedure, with the columns
        ``figure, dataset, x_name, x, repetition, procedure, accuracy, p_randomised``, the paper's form of p-values.
    alpha : a result is significant where p ≤ alpha.
    published : points with the columns ``figure, dataset, x_name, x, approach, metric, value, n_repetitions``. Those
        of the panels that ``repetitions`` has follow, as they are printed, without intervals.

    Returns
    -------
    DataFrame
        Columns ``figure, dataset, x_name, x, source, procedure, metric, value, low, high, n_repetitions,
        difference_in_se``, in order of first appearance. ``source`` is ``"ours"`` or ``"published"``; ``metric`` is
        ``"accuracy"`` or ``"significant_fraction"``.
        ``difference_in_se``, for published points only, is ours minus the published value over the standard error of
        that difference, as if both were draws from one population: the standard deviation of our accuracies, or the
        proportion of both together, serves both sides. NaN where there is no such point of ours.
    """
    points = repetitions.assign(significant=repetitions["p_randomised"] <= alpha).groupby(_POINT, sort=False)
    moments = points.agg(
        mean=("accuracy", "mean"), sd=("accuracy", "std"), hits=("significant", "sum"), n_repetitions=("x", "size")
    ).reset_index()
    ours = pd.concat([_accuracies(moments), _proportions(moments)]).assign(source="ours")
    tables = [ours] if published is None else [ours, _compare(published, ours)]
    return pd.concat(tables, ignore_index=True).reindex(columns=_COLUMNS)


def interpretation_table() -> pd.DataFrame:
    """What may be interpreted after each procedure (Korjus, Hebart & Vicente 2016, Table 1).

    Returns
    -------
    DataFrame with the columns ``procedure, performance, parameters, model``, each ``"yes"`` or ``"no"``, and
    ``reason``
    """
    kinds = INTERPRETABLE["cv_testing"]
    rows = [
        {"procedure": procedure, **{kind: "yes" if kind in allowed else "no" for kind in kinds}}
        for procedure, allowed in INTERPRETABLE.items()
    ]
    return pd.DataFrame(rows).assign(reason=list(_REASONS.values()))


def _accuracies(moments: pd.DataFrame) -> pd.DataFrame:
    half = scipy.stats.norm.ppf(0.975) * moments["sd"] / np.sqrt(moments["n_repetitions"])
    mean = moments["mean"]
    return moments.assign(metric="accuracy", value=mean, low=mean - half, high=mean + half)


def _proportions(moments: pd.DataFrame) -> pd.DataFrame:
    intervals = [
        scipy.stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
        for hits, n in zip(moments["hits"], moments["n_repetitions"], strict=True)
    ]
    low, high = np.transpose(intervals)
    fraction = moments["hits"] / moments["n_repetitions"]
    return moments.assign(metric="significant_fraction", value=fraction, low=low, high=high)


def _compare(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """The published points of our panels, with what separates ours from them."""
    theirs = published.drop(columns="source", errors="ignore").rename(columns={"approach": "procedure"})
    theirs = theirs.merge(ours[_PANEL].drop_duplicates(), on=_PANEL)
    both = theirs.merge(ours, on=[*_POINT, "metric"], how="left", suffixes=("", "_ours"))
    n, n_ours = both["n_repetitions"], both["n_repetitions_ours"]
    pooled = (n * both["value"] + n_ours * both["value_ours"]) / (n + n_ours)
    sd = both["sd"].where(both["metric"] == "accuracy", np.sqrt(pooled * (1 - pooled)))
    difference = both["value_ours"] - both["value"]
    # no scatter at all, as where every result of both is significant: no difference is 0 standard errors
    in_se = (difference / (sd * np.sqrt(1 / n + 1 / n_ours))).mask(difference == 0, 0.0)
    return theirs.assign(source="published", difference_in_se=in_se.to_numpy())
