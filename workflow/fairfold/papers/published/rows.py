"""Shared rows of the comparisons: a published number, our number, and their distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ["paper", "place", "what", "published", "ours", "standard_error", "difference_in_se", "difference_in_digits"]
COLUMNS += ["file", "note"]
Tables = Mapping[str, pd.DataFrame]


def last_digit(printed: str) -> float:
    """Return the unit of the last printed digit.

    Parameters
    ----------
    printed : str
        Number as printed.

    Returns
    -------
    float
        Unit of the last digit.

    Examples
    --------
    >>> last_digit("4.8e6")
    100000.0
    >>> round(last_digit("0.550"), 3)
    0.001
    """
    return 10.0 ** int(Decimal(printed).as_tuple().exponent)


def with_distances(table: pd.DataFrame, paper: str, *, is_rounded: bool = True, **columns: Any) -> pd.DataFrame:
    """Compute the distance between the numbers of one paper and ours.

    Parameters
    ----------
    table : DataFrame
        Together with ``columns``, the columns ``place, what, published, ours, scatter, file, note``:

        - ``published`` : text as printed; the default is the column ``value``
        - ``ours`` : our number, NaN without a counterpart
        - ``scatter`` : standard error of the difference without rounding; the default is NaN, for numbers without
          scatter
        - ``file`` : source of our number, relative to ``results``
        - ``is_apart`` : optional; true for numbers that are shown but not compared, such as run times of two machines
    paper : str
        Authors and year.
    is_rounded : bool, default=True
        Whether the last published digit is rounded. Rounding adds a twelfth of the squared unit to the variance of the
        difference. Points that were read off a figure are not rounded.
    **columns : dict
        Further columns, or values that all rows share.

    Returns
    -------
    DataFrame
        The columns ``COLUMNS``. ``difference_in_se`` is our number minus the published one in standard errors. It is
        NaN if the scatter of our number is missing or smaller than rounding. Then ``difference_in_digits`` contains the
        difference in units of the last printed digit; values up to a half are due to rounding.

    Examples
    --------
    >>> table = pd.DataFrame({"value": ["0.55"], "ours": [0.57], "place": "", "what": "", "file": "", "note": ""})
    >>> with_distances(table, "Authors (2020)")["difference_in_digits"].round(1).tolist()
    [2.0]
    >>> with_distances(table, "Authors (2020)", scatter=0.01)["difference_in_se"].round(1).tolist()
    [1.9]
    """
    pairs = table.assign(**{"is_apart": False, "scatter": np.nan, **table, **columns})
    printed = pairs["published"] if "published" in pairs else pairs["value"]
    unit, published, ours = printed.map(last_digit).astype(float), printed.astype(float), pairs["ours"].astype(float)
    difference = (ours - published).mask(pairs["is_apart"].astype(bool))
    rounding = unit / np.sqrt(12) if is_rounded else 0.0 * unit
    scatter = pairs["scatter"].astype(float)
    error = np.hypot(scatter, rounding).where((scatter > rounding) & difference.notna())
    in_digits = (difference / unit).where(error.isna())
    distances = {"standard_error": error, "difference_in_se": difference / error, "difference_in_digits": in_digits}
    return pairs.assign(paper=paper, published=published, ours=ours, **distances)[COLUMNS]


def by_distance(comparison: pd.DataFrame) -> pd.DataFrame:
    """Sort rows by decreasing distance; rows without a distance are last, in their order.

    Parameters
    ----------
    comparison : DataFrame
        Rows of :func:`with_distances`.

    Returns
    -------
    DataFrame
        The sorted rows.
    """
    distances = comparison["difference_in_se"].fillna(comparison["difference_in_digits"]).abs()
    order = distances.sort_values(ascending=False, kind="stable", na_position="last").index
    return comparison.loc[order].reset_index(drop=True)


def with_results(
    published: pd.DataFrame, ours: pd.DataFrame | None, keys: list[str], columns: list[str]
) -> pd.DataFrame:
    """Add columns of our table to published rows with the same keys.

    Parameters
    ----------
    published : DataFrame
        Published rows.
    ours : DataFrame or None
        Our table.
    keys : list of str
        Columns to match.
    columns : list of str
        Columns to add.

    Returns
    -------
    DataFrame
        Published rows with the columns, NaN for rows without a match.

    Examples
    --------
    >>> published = pd.DataFrame({"dataset": ["a", "b"], "value": ["1", "2"]})
    >>> with_results(published, pd.DataFrame({"dataset": ["a"], "mean": [1.1]}), ["dataset"], ["mean"])
      dataset value  mean
    0       a     1   1.1
    1       b     2   NaN
    """
    if ours is None or ours.empty:
        return published.assign(**dict.fromkeys(columns, np.nan))
    return published.merge(ours[[*keys, *columns]], on=keys, how="left", validate="many_to_one")


def missing_reason(wanted: Mapping[str, tuple[Any, Sequence[Any]]]) -> str:
    """Return a note about the first key of the configuration that lacks a value needed for a published number.

    Parameters
    ----------
    wanted : mapping of str to tuple
        For each key, the needed value and the configured values.

    Returns
    -------
    str
        Empty if no value is missing.

    Examples
    --------
    >>> missing_reason({"weak_labels.models": ("LCForest", ["RF+ET"])})
    'not computed here: weak_labels.models needs LCForest'
    """
    for key, (value, found) in wanted.items():
        if value not in found:
            return f"not computed here: {key} needs {value}"
    return ""


def joined(table: pd.DataFrame, columns: list[str], separator: str = ", ") -> pd.Series:
    """Join the texts of some columns row by row.

    Parameters
    ----------
    table : DataFrame
        Table.
    columns : list of str
        Columns to join.
    separator : str, default=", "
        Text between the values.

    Returns
    -------
    Series
        One text per row.

    Examples
    --------
    >>> joined(pd.DataFrame({"dataset": ["yeast"], "rate": [30.0]}), ["dataset", "rate"]).tolist()
    ['yeast, 30']
    """
    texts = table[columns].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
    return texts.agg(separator.join, axis=1) if len(texts) else pd.Series([], dtype=object)


def notes_of(*parts: pd.Series | str, index: pd.Index) -> pd.Series:
    """Join parts of notes row by row, with a semicolon between parts that are not empty.

    Parameters
    ----------
    *parts : Series or str
        Parts of the notes. A string is a part of all rows.
    index : Index
        Index of the rows.

    Returns
    -------
    Series
        One note per row.

    Examples
    --------
    >>> notes_of(pd.Series(["", "5 folds"]), "ours", index=pd.RangeIndex(2)).tolist()
    ['ours', '5 folds; ours']
    """
    columns = [part if isinstance(part, pd.Series) else pd.Series(part, index=index) for part in parts]
    texts = pd.concat(columns, axis=1).fillna("")
    return texts.apply(lambda row: "; ".join(filter(None, row)), axis=1) if len(index) else pd.Series([], dtype=object)
