"""Scores of the weak-label study as tables for a paper: final scores, and how they change over cascade levels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fairfold.errors import DataError

UNITS = ("dataset", "missing_rate", "model")


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Raise :class:`DataError` if a table has no column of these names; `what` names its content in the message."""
    if missing := [column for column in columns if column not in table]:
        raise DataError(f"the table of {what} has no column {missing[0]!r}; it has {', '.join(map(str, table))}.")


def summarise_scores(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Mean and standard deviation over folds of the scores at the level that the model chose.

    Parameters
    ----------
    scores : columns ``*units, fold, is_final, metric, value, reason``.
    units : columns that tell models, and studies of different data, apart.

    Returns
    -------
    DataFrame with the columns ``*units, metric, mean, sd, n_folds, reason`` in order of first appearance. ``n_folds``
    counts the folds with a value; ``sd`` (divided by n_folds - 1) is NaN below 2. ``reason`` has what kept the model
    from other folds, each text once.
    """
    final = scores[scores["is_final"]]
    groups = final.groupby([*units, "metric"], sort=False)
    summary = groups["value"].agg(mean="mean", sd="std", n_folds="count")
    reasons = groups["reason"].agg(lambda texts: " ".join(dict.fromkeys(texts.dropna().astype(str))).strip())
    return summary.assign(reason=reasons).reset_index()


def where_defined(scores: pd.DataFrame, places: Sequence[str]) -> pd.DataFrame:
    """Return the scores without places, such as folds, in which no model has a score.

    Parameters
    ----------
    scores : DataFrame
        Table with the columns of `places` and ``value``, which is NaN where there is no score.
    places : sequence of str
        Columns that identify a place.

    Returns
    -------
    DataFrame
        Rows of the other places.

    Examples
    --------
    >>> scores = pd.DataFrame({"fold": [0, 0, 1], "value": [0.5, None, None]})
    >>> where_defined(scores, ["fold"])["fold"].tolist()
    [0, 0]
    """
    return scores[scores["value"].notna().groupby([scores[name] for name in places]).transform("any")]


def printed_scores(summary: pd.DataFrame) -> pd.DataFrame:
    """Scores of one dataset as a paper prints them: a row per model and missing rate, a column per metric.

    Parameters
    ----------
    summary : what :func:`summarise_scores` gives for one dataset.

    Returns
    -------
    DataFrame with the columns ``model, missing_rate``, and a text "mean ± sd" per metric; "–" where there is no score.
    """
    models, metrics = (summary[column].drop_duplicates() for column in ("model", "metric"))
    cells = [
        "–" if not row.n_folds else f"{row.mean:.3f}" if row.n_folds == 1 else f"{row.mean:.3f} ± {row.sd:.3f}"
        for row in summary[["mean", "sd", "n_folds"]].itertuples()
    ]
    wide = summary.assign(cell=cells).pivot(index=["model", "missing_rate"], columns="metric", values="cell")
    return wide.reindex(index=models, level="model")[list(metrics)].fillna("–").reset_index().rename_axis(columns=None)


def learning_curves(scores: pd.DataFrame, units: Sequence[str] = UNITS) -> pd.DataFrame:
    """Scores at each cascade level, mean over folds.

    A fold whose cascade stopped earlier keeps the score of its last level at all later ones, which is what the cascade
    predicts when asked for more. Left out, the mean would change with the folds that it is made of: those whose cascade
    goes on are the ones that it helped.

    Parameters
    ----------
    scores : columns ``*units, fold, level, metric, value``; levels from 0, where there is no cascade.
    units : columns that tell models, and studies of different data, apart.

    Returns
    -------
    DataFrame with the columns ``*units, level, metric, mean, sd, n_folds``, up to the last level of any fold.
    ``mean`` and ``sd`` (divided by one less) are over all folds with a score; ``n_folds`` counts those whose cascade
    has the level.
    """
    keys = [*units, "metric"]
    valid = scores.dropna(subset="value")
    levels = valid.set_index([*keys, "fold", "level"])["value"].unstack("level").sort_index(axis=1)
    carried = levels.ffill(axis=1)
    parts = {
        "mean": carried.groupby(keys).mean(),
        "sd": carried.groupby(keys).std(),
        "n_folds": levels.groupby(keys).count(),
    }
    curves = pd.concat({name: part.stack(future_stack=True) for name, part in parts.items()}, axis=1)
    order = valid[[*units, "level", "metric"]].drop_duplicates()
    curves = order.merge(curves.reset_index(), on=[*units, "level", "metric"], how="left", validate="one_to_one")
    return curves.astype({"n_folds": int})


def score_tables(scores: pd.DataFrame, datasets: Sequence[str]) -> dict[str, pd.DataFrame | list[pd.DataFrame]]:
    """All tables of a study's scores.

    Parameters
    ----------
    scores : columns as of :func:`summarise_scores` and :func:`learning_curves`.
    datasets : ids, in the order of ``printed``.

    Returns
    -------
    dict with ``summary``, ``curves``, and ``printed``, a table for each dataset
    """
    summary = summarise_scores(scores)
    printed = [printed_scores(summary[summary["dataset"] == dataset]) for dataset in datasets]
    return {"summary": summary, "curves": learning_curves(scores), "printed": printed}
