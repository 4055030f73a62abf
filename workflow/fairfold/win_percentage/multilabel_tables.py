"""Win percentages of models on random feature sets of multilabel data, with what chance gives.

Two nulls stand beside them: where M sets leave equal models (``null_lower``, ``null_upper``), and what labels that
have nothing to do with the features give on the same sets (``permuted_lower``, ``permuted_upper``). A model without
performance on a set has lost there. docs/how-it-works/comparing.md says what each null answers.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.ties import settled
from fairfold.win_percentage.significance import null_interval, permutation_interval, permutation_p_values
from fairfold.win_percentage.tables import curve_table
from fairfold.win_percentage.win import draws_grid, win_percentage

_UNIT = ["dataset", "metric", "missing_rate"]
_LOST = -2.0  # below every score


def multilabel_win_tables(evaluated: pd.DataFrame, *, alpha: float = 0.05) -> dict[str, pd.DataFrame]:
    """Tables of the study, by name.

    Parameters
    ----------
    evaluated : columns ``dataset, missing_rate, permutation, set, metric, model, performance, reason``, as
        :func:`~fairfold.win_percentage.multilabel_sets.evaluate_numbered_sets` gives them; permutation 0 is the order
        of the data. All permutations of a dataset have the same sets, the first ones of permutation 0.
    alpha : level of the intervals, for all models together.

    Returns
    -------
    dict with the tables

    ``wins`` : columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, null_lower, null_upper,
        permuted_lower, permuted_upper, n_sets, n_permutations``; from all sets. Where permutations have fewer
        sets, the permuted interval is NaN and their number 0.
    ``sets`` : columns ``dataset, metric, missing_rate, model, mean, standard_deviation, best, share_of_wins, n_sets,
        n_failed, reason``; performance over the sets where the model has one, and the share of all sets where a model
        is best, models that tie sharing a set. ``n_failed`` counts evaluations without performance, those with
        permuted labels included, and ``reason`` is that of the first.
    ``permutations`` : columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, permuted_lower,
        permuted_upper, p_value, n_sets, n_permutations``; from the sets that the permutations have. Absent without any.

    A permutation in which no model has a performance is left out. Without any other, ``n_permutations`` is 0 and what
    permutations give is NaN.

    All are fractions of 1. Permuted intervals hold at ``alpha`` if permutations are enough for it, 2 c / alpha - 1 of
    them for c models. If not, they reach from the least to the largest permuted win percentage: under the null
    hypothesis n permutations leave each model outside with a chance of at most 2 / (n + 1), any of them at most
    2 c / (n + 1). p-values are two-sided and adjusted for the number of models.
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
        tables = {
            "wins": _wins(own, permuted, models, alpha),
            "sets": _summary(own, models).assign(
                n_failed=failed["size"].fillna(0).to_numpy(int), reason=failed["first"].fillna("").to_numpy()
            ),
        }
        if by_order:
            tables["permutations"] = _curves(own[: permuted.shape[1]], permuted, models, alpha)
        for name, table in tables.items():
            parts[name].append(table.assign(**dict(zip(_UNIT, unit, strict=True)))[[*_UNIT, *table]])
    return {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items() if tables}


def _win_percentages(performances: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """(n_draws, n_models) win percentages from (n_sets, n_models) performances, NaN where a model failed.

    They are NaN where no set has a performance, as that of a metric that the labels leave undefined.
    """
    if np.isnan(performances).all():
        return np.full((len(draws), performances.shape[1]), np.nan)
    performances = settled(np.nan_to_num(performances, nan=_LOST))
    top = performances.max(axis=1)
    return win_percentage(top, performances == top[:, None], draws)


def _curves(own: np.ndarray, permuted: np.ndarray, models: list[str], alpha: float) -> pd.DataFrame:
    """Win percentages with what permutations give, NaN where these have fewer sets or there are none."""
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
    """Win percentages from all sets, with both null intervals."""
    table = _curves(own, permuted, models, alpha).drop(columns="p_value")
    low, high = null_interval(len(own), draws_grid(len(own)), len(models), alpha=alpha)
    table.insert(3, "null_lower", np.repeat(low, len(models)))
    table.insert(4, "null_upper", np.repeat(high, len(models)))
    return table


def _summary(own: np.ndarray, models: list[str]) -> pd.DataFrame:
    by_model = pd.DataFrame(own, columns=models)  # whose statistics leave NaN out
    columns = {"mean": by_model.mean(), "standard_deviation": by_model.std(), "best": by_model.max()}
    table = pd.DataFrame(columns).rename_axis("model").reset_index()
    return table.assign(share_of_wins=_win_percentages(own, np.array([1.0]))[0], n_sets=len(own))
