"""What could not be computed, and why."""

from __future__ import annotations

import pandas as pd

_UNITS = ("dataset", "missing_rate", "hidden_rate", "splitter", "model", "procedure")
_PARTS = ("fold", "repetition")


def failures_of(table: pd.DataFrame) -> pd.DataFrame:
    """Rows that have a reason in place of numbers, folds and repetitions of the same fate put together.

    Parameters
    ----------
    table : any of dataset, missing rate, model and the like, a fold or repetition, or how many failed, ``n_failed``,
        and the column ``reason``, which is empty where there are numbers.

    Returns
    -------
    DataFrame with the columns of ``table`` that say what failed, ``times`` (folds, repetitions or ``n_failed``), and
    ``reason``, in order of first appearance.
    """
    units = [name for name in _UNITS if name in table]
    parts = [name for name in (*_PARTS, "n_failed") if name in table]
    failed = table.loc[table["reason"] != "", [*units, *parts, "reason"]].drop_duplicates()
    failed["times"] = failed.get("n_failed", 1)
    counts = failed.groupby([*units, "reason"], sort=False)["times"].sum().reset_index()
    return counts[[*units, "times", "reason"]]
