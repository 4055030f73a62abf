"""Compare methods over datasets by their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from fairfold.errors import DataError
from fairfold.evaluation.scores import HIGHER_IS_BETTER


def percentile_ranks(
    scores: pd.DataFrame,
    *,
    method: str = "model",
    units: Sequence[str] = ("dataset", "missing_rate"),
    repeats: Sequence[str] = ("fold",),
    higher_is_better: Mapping[str, bool] = HIGHER_IS_BETTER,
) -> pd.DataFrame:
    """Percentile rank of each method: ranked within each repeat, averaged over repeats, one number per unit.

    The best of m methods has rank 1, the worst 1/m; methods that tie share the mean of their ranks (Ilidio et al. 2024,
    Section 4.4 and Figure 1). A method without a value in a repeat (it failed, or the metric is undefined) is not
    ranked there, nor is any other: its ranks would not compare with those of complete repeats.

    Parameters
    ----------
    scores : tidy table with the columns ``metric``, ``value`` and those named below, one row per score.
    method : column with the method's name.
    units : columns that identify what is reported on (one dot of a figure).
    repeats : columns over which ranks are averaged.
    higher_is_better : for each metric whether more is better.

    Returns
    -------
    DataFrame with the columns ``*units, metric, method, percentile_rank, n_repeats`` in order of first appearance;
    ``percentile_rank`` is NaN where no repeat is complete.

    Raises
    ------
    DataError
        When a column is missing, a metric is unknown, or a method has two values in one repeat.
    """
    units, repeats = list(units), list(repeats)
    _check(scores, [*units, *repeats, method, "metric", "value"], higher_is_better)
    columns = scores[method].drop_duplicates().tolist()
    grid = scores.set_index([*units, "metric", *repeats, method])["value"]
    if grid.index.has_duplicates:
        twice = dict(zip(grid.index.names, grid.index[grid.index.duplicated()][0], strict=True))
        raise DataError(f"two scores for {twice}; keep one row per {method} and repeat.")
    wide = grid.unstack(method)[columns]
    wide = wide.reindex(grid.index.droplevel(method).drop_duplicates())  # order of first appearance, not alphabetical
    complete = wide.dropna()
    sign = [1 if higher_is_better[metric] else -1 for metric in complete.index.get_level_values("metric")]
    ranks = complete.mul(sign, axis=0).rank(axis=1, pct=True)
    grouped = ranks.groupby([*units, "metric"], sort=False)
    order = wide.index.droplevel(repeats).drop_duplicates()
    result = grouped.mean().reindex(order).stack(future_stack=True).rename("percentile_rank").reset_index()
    n_repeats = grouped.size().reindex(order, fill_value=0).rename("n_repeats").reset_index()
    return result.merge(n_repeats, how="left")


def _check(scores: pd.DataFrame, columns: Sequence[str], higher_is_better: Mapping[str, bool]) -> None:
    missing = [column for column in columns if column not in scores]
    if missing:
        raise DataError(f"the table of scores has no column {missing[0]!r}; it has {', '.join(map(str, scores))}.")
    unknown = set(scores["metric"]) - set(higher_is_better)
    if unknown:
        raise DataError(f"unknown metric {min(unknown)!r}; known are {', '.join(higher_is_better)}.")
