"""Tables of win percentages on random feature sets of multilabel data, with null intervals.

The tables contain two null intervals. ``null_lower`` and ``null_upper`` describe equal models on M sets.
``permuted_lower`` and ``permuted_upper`` describe labels without relation to the features, on the same sets. A model
without a performance on a set loses on this set. See docs/how-it-works/comparing.md for the meaning of each interval.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.rounding import equalize_ties
from fairfold.win_percentage.significance import null_interval, permutation_interval, permutation_p_values
from fairfold.win_percentage.tables import curve_table
from fairfold.win_percentage.win import draws_grid, win_percentage

_UNIT = ["dataset", "metric", "missing_rate"]
_LOST = -2.0  # Lower than every score.


def multilabel_win_tables(evaluated: pd.DataFrame, *, alpha: float = 0.05) -> dict[str, pd.DataFrame]:
    """Build the tables of a study of win percentages.

    Parameters
    ----------
    evaluated : DataFrame
        Columns ``dataset, missing_rate, permutation, set, metric, model, performance, reason``, as returned by
        :func:`~fairfold.win_percentage.multilabel_sets.evaluate_numbered_sets`. Permutation 0 is the order of the data.
        All other permutations of a dataset are evaluated on the same sets: the first sets, or all sets, of
        permutation 0.
    alpha : float, default=0.05
        Level of the intervals, for all models together.

    Returns
    -------
    dict of str to DataFrame
        Tables ``wins``, ``sets`` and, if there are permutations, ``permutations``. See Notes for their columns.

    Notes
    -----
    All win percentages, shares and bounds are fractions of 1.

    ``wins`` has the columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, null_lower, null_upper,
    permuted_lower, permuted_upper, n_sets, n_permutations``, computed from all sets. If permutations have fewer sets,
    the permuted interval is NaN and their number is 0.

    ``sets`` has the columns ``dataset, metric, missing_rate, model, mean, standard_deviation, best, share_of_wins,
    n_sets, n_failed, reason``. The statistics use the sets where the model has a performance. ``share_of_wins`` is the
    share of all sets where the model is the best; models that tie share a set. ``n_failed`` counts evaluations without
    a performance, including those with permuted labels. ``reason`` is the reason for the first failure.

    ``permutations`` has the columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, permuted_lower,
    permuted_upper, p_value, n_sets, n_permutations``, computed from the sets that the permutations have.

    Permutations without any performance are ignored. If no permutation remains, ``n_permutations`` is 0 and the
    permuted columns are NaN.

    Permuted intervals have level `alpha` if there are enough permutations: 2 c / alpha - 1 for c models. With fewer
    permutations, the bounds are the smallest and the largest permuted win percentage. Under the null hypothesis and
    with n permutations, each model is then outside the interval with probability at most 2 / (n + 1). At least one
    model is outside with probability at most 2 c / (n + 1). p-values are two-sided and adjusted for the number of
    models.
    """
    evaluated = evaluated.fillna({"reason": ""})
    parts: dict[str, list[pd.DataFrame]] = {"wins": [], "sets": [], "permutations": []}
    for unit, rows in evaluated.groupby(_UNIT, sort=False):
        models = list(rows["model"].unique())
        wide = rows.pivot(index=["permutation", "set"], columns="model", values="performance")[models].astype(float)
        by_order = {order: table.to_numpy() for order, table in wide.groupby(level="permutation")}
        own = by_order.pop(0)
        n_sets = len(next(iter(by_order.values()), own))
        kept = [table for table in by_order.values() if np.isfinite(table).any()]
        permuted = np.stack(kept) if kept else np.empty((0, n_sets, len(models)))
        failed = rows[rows["reason"] != ""].groupby("model")["reason"].agg(["size", "first"]).reindex(models)
        sizes, reasons = failed["size"].fillna(0).to_numpy(int), failed["first"].fillna("").to_numpy()
        summary = _summary(own, models).assign(n_failed=sizes, reason=reasons)
        tables = {"wins": _wins(own, permuted, models, alpha), "sets": summary}
        if by_order:
            tables["permutations"] = _curves(own[: permuted.shape[1]], permuted, models, alpha)
        for name, table in tables.items():
            parts[name].append(table.assign(**dict(zip(_UNIT, unit, strict=True)))[[*_UNIT, *table]])
    return {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items() if tables}


def _win_percentages(performances: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Compute win percentages (n_draws, n_models) from performances (n_sets, n_models), NaN where a model failed.

    All win percentages are NaN if no set has a performance, for example because the metric is undefined for the labels.
    """
    if np.isnan(performances).all():
        return np.full((len(draws), performances.shape[1]), np.nan)
    performances = equalize_ties(np.nan_to_num(performances, nan=_LOST))
    top = performances.max(axis=1)
    return win_percentage(top, performances == top[:, None], draws)


def _curves(own: np.ndarray, permuted: np.ndarray, models: list[str], alpha: float) -> pd.DataFrame:
    """Compute win percentages with permuted intervals and p-values, NaN without permutations of all these sets."""
    draws = draws_grid(len(own))
    wins = _win_percentages(own, draws)
    low = high = p_value = np.full(wins.shape, np.nan)
    n_permutations = len(permuted) if permuted.shape[1] == len(own) else 0
    if n_permutations:
        chance = np.stack([_win_percentages(each, draws) for each in permuted])
        low, high = chance.min(axis=0), chance.max(axis=0)
        if n_permutations + 1 >= 2 * len(models) / alpha:
            low, high = permutation_interval(chance, alpha=alpha)
        p_value = permutation_p_values(wins, chance)
    columns = {"win_percentage": wins, "permuted_lower": low, "permuted_upper": high, "p_value": p_value}
    table = curve_table(models, draws, **columns).rename(columns={"classifier": "model"})
    return table.assign(n_sets=len(own), n_permutations=n_permutations)


def _wins(own: np.ndarray, permuted: np.ndarray, models: list[str], alpha: float) -> pd.DataFrame:
    """Compute win percentages from all sets, with both null intervals."""
    table = _curves(own, permuted, models, alpha).drop(columns="p_value")
    low, high = null_interval(len(own), draws_grid(len(own)), len(models), alpha=alpha)
    table.insert(3, "null_lower", np.repeat(low, len(models)))
    table.insert(4, "null_upper", np.repeat(high, len(models)))
    return table


def _summary(own: np.ndarray, models: list[str]) -> pd.DataFrame:
    by_model = pd.DataFrame(own, columns=models)
    columns = {"mean": by_model.mean(), "standard_deviation": by_model.std(), "best": by_model.max()}
    table = pd.DataFrame(columns).rename_axis("model").reset_index()
    return table.assign(share_of_wins=_win_percentages(own, np.array([1.0]))[0], n_sets=len(own))
