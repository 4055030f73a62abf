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
    failed = table[table["reason"] != ""]
    if "n_failed" not in table:  # metrics of a fold share its fate
        failed = failed[[*units, *(name for name in _PARTS if name in table), "reason"]].drop_duplicates()
        failed = failed.groupby([*units, "reason"], sort=False).size().rename("n_failed").reset_index()
    counts = failed.groupby([*units, "reason"], sort=False)["n_failed"].max().rename("times").reset_index()
    return counts[[*units, "times", "reason"]]
