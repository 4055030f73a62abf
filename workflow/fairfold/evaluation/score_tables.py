"""Summary tables of scores: final scores and learning curves over cascade levels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fairfold.errors import DataError
from fairfold.evaluation.metrics import FURTHER_METRICS

UNITS = ("dataset", "missing_rate", "model")


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Check that a table has the required columns.

    Parameters
    ----------
    table : DataFrame
        Table to check.
    columns : sequence of str
        Required columns.
    what : str
        Description of the content of the table, for the error message.

    Raises
    ------
    DataError
        If a column is missing.
    """
    if missing := [column for column in columns if column not in table]:
        raise DataError(f"the table of {what} has no column {missing[0]!r}; it has {', '.join(map(str, table))}.")


def summarize_scores(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Compute mean and standard deviation over folds of the scores at the level that each model selected.

    Parameters
    ----------
    scores : DataFrame
        Columns ``*units, fold, is_final, metric, value, reason``.
    units : sequence of str, default=("dataset", "missing_rate", "model")
        Columns that identify a model and the data of a study.

    Returns
    -------
    DataFrame
        Columns ``*units, metric, mean, sd, n_folds, reason``, in order of first appearance. ``n_folds`` is the number
        of folds with a value. ``sd`` (divided by n_folds - 1) is NaN for fewer than 2 folds. ``reason`` lists the
        distinct reasons for missing values.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 1], "value": [0.25, 0.75]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, model="a", metric="mcc", is_final=True, reason="")
    >>> summarize_scores(scores)[["model", "mean", "n_folds"]].values.tolist()
    [['a', 0.5, 2]]
    """
    final = scores[scores["is_final"]]
    groups = final.groupby([*units, "metric"], sort=False)
    summary = groups["value"].agg(mean="mean", sd="std", n_folds="count")
    reasons = groups["reason"].agg(lambda texts: " ".join(dict.fromkeys(texts.dropna().astype(str))).strip())
    return summary.assign(reason=reasons).reset_index()


def where_defined(scores: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Exclude units, such as folds, in which no model has a score.

    Parameters
    ----------
    scores : DataFrame
        Table with the columns of `places` and ``value``, which is NaN for a missing score.
    places : sequence of str
        Columns that identify a unit.

    Returns
    -------
    DataFrame
        Rows of the remaining units.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 0, 1], "value": [0.5, None, None]})
    >>> where_defined(scores, ["fold"])["fold"].tolist()
    [0, 0]
    """
    return scores[scores["value"].notna().groupby([scores[name] for name in places]).transform("any")]


def printed_scores(summary: pd.DataFrame) -> pd.DataFrame:
    """Format the scores of one dataset for a paper, with one row per model and missing rate.

    Parameters
    ----------
    summary : DataFrame
        Result of :func:`summarize_scores` for one dataset.

    Returns
    -------
    DataFrame
        Columns ``model, missing_rate``, and one column per metric with the text "mean ± sd". "–" marks a missing score.

    Examples
    --------
    >>> summary = pd.DataFrame({"model": ["a", "b"], "mean": [0.5, None], "sd": [0.1, None], "n_folds": [5, 0]})
    >>> printed_scores(summary.assign(missing_rate=0, metric="mcc"))["mcc"].tolist()
    ['0.500 ± 0.100', '–']
    """
    models, metrics = (summary[column].drop_duplicates() for column in ("model", "metric"))
    cells = [
        "–" if not row.n_folds else f"{row.mean:.3f}" if row.n_folds == 1 else f"{row.mean:.3f} ± {row.sd:.3f}"
        for row in summary[["mean", "sd", "n_folds"]].itertuples()
    ]
    wide = summary.assign(cell=cells).pivot(index=["model", "missing_rate"], columns="metric", values="cell")
    return wide.reindex(index=models, level="model")[list(metrics)].fillna("–").reset_index().rename_axis(columns=None)


def learning_curves(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Compute the scores at each cascade level, averaged over folds.

    Parameters
    ----------
    scores : DataFrame
        Columns ``*units, fold, level, metric, value``. Levels start at 0. Models that are not cascades have only
        level 0.
    units : sequence of str, default=("dataset", "missing_rate", "model")
        Columns that identify a model and the data of a study.

    Returns
    -------
    DataFrame
        Columns ``*units, level, metric, mean, sd, n_folds``, up to the last level of any fold. ``mean`` and ``sd``
        (divided by n - 1) include all folds with a score. ``n_folds`` is the number of folds whose cascade has the
        level.

    Notes
    -----
    If the cascade of a fold stops early, the score of its last level is used for all later levels, as the cascade would
    predict. Excluding such folds would bias the mean, because cascades grow in the folds that they improve.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 0, 1], "level": [0, 1, 0], "value": [0.25, 0.75, 0.25]})
    >>> scores = scores.assign(dataset="flags", missing_rate=0, model="a", metric="mcc")
    >>> learning_curves(scores)[["level", "mean", "n_folds"]].values.tolist()
    [[0.0, 0.25, 2.0], [1.0, 0.5, 1.0]]
    """
    keys = [*units, "metric"]
    valid = scores.dropna(subset="value")
    levels = valid.set_index([*keys, "fold", "level"])["value"].unstack("level").sort_index(axis=1)
    carried = levels.ffill(axis=1).groupby(keys)
    parts = {"mean": carried.mean(), "sd": carried.std(), "n_folds": levels.groupby(keys).count()}
    curves = pd.concat({name: part.stack(future_stack=True) for name, part in parts.items()}, axis=1)
    order = valid[[*units, "level", "metric"]].drop_duplicates()
    curves = order.merge(curves.reset_index(), on=[*units, "level", "metric"], how="left", validate="one_to_one")
    return curves.astype({"n_folds": int})


def score_tables(scores: pd.DataFrame, datasets: Sequence[str]) -> dict[str, pd.DataFrame | list[pd.DataFrame]]:
    """Compute all score tables of a study.

    Parameters
    ----------
    scores : DataFrame
        Columns as in :func:`summarize_scores` and :func:`learning_curves`.
    datasets : sequence of str
        Datasets, in the order of ``printed``.

    Returns
    -------
    dict
        ``summary`` and ``curves`` (DataFrame), and ``printed`` (list of DataFrame, one per dataset).
    """
    summary = summarize_scores(scores)
    by_level = scores[~scores["metric"].isin(FURTHER_METRICS)]  # These are scored at the final level only.
    printed = [printed_scores(summary[summary["dataset"] == dataset]) for dataset in datasets]
    return {"summary": summary, "curves": learning_curves(by_level), "printed": printed}
