"""What the comparisons with all papers share: rows of a published number and ours, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from fairfold.report.published import distance

COLUMNS = ["paper", "place", "what", "published", "ours", "standard_error", "difference_in_se", "difference_in_digits"]
COLUMNS += ["file", "note"]
Tables = Mapping[str, pd.DataFrame]


def last_digit(printed: str) -> float:
    """What one more in the last printed digit is worth: 0.001 for ``"0.550"``, 100000 for ``"4.8e6"``."""
    return 10.0 ** int(Decimal(printed).as_tuple().exponent)


def with_distances(table: pd.DataFrame, paper: str, *, is_rounded: bool = True, **columns: Any) -> pd.DataFrame:
    """Numbers of one paper and ours, with the distance between them.

    Parameters
    ----------
    table, columns : together the columns ``place, what, published, ours, scatter, file, note``. ``published`` is text
        as it is printed, by default the column ``value``; ``ours`` is NaN where there is no counterpart; ``scatter`` is
        the standard error of the difference but for rounding, by default NaN: our number does not scatter.
        ``file``, below the study's ``results``, is what ours is read from. Where a column ``is_apart`` is there and
        true, the two are shown beside each other and not compared, as seconds of two machines.
    paper : authors and year.
    is_rounded : whether the last digit of the published numbers is rounded, which adds a twelfth of its square to the
        variance of the difference. Points that were read off a figure are not.

    Returns
    -------
    DataFrame with ``COLUMNS``
        ``difference_in_se`` is ours minus published in standard errors. Where ours does not scatter, or by less than
        rounding, that is NaN, and ``difference_in_digits`` has the difference in units of the last printed digit, of
        which a half is what rounding hides.
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
    """The rows with the largest distance first, those without one last, in the order of their papers."""
    order = distance(comparison).sort_values(ascending=False, kind="stable", na_position="last").index
    return comparison.loc[order].reset_index(drop=True)


def beside(published: pd.DataFrame, ours: pd.DataFrame | None, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Published rows with these columns of ours where the keys agree, NaN elsewhere and where we have no table."""
    if ours is None or ours.empty:
        return published.assign(**dict.fromkeys(columns, np.nan))
    return published.merge(ours[[*keys, *columns]], on=keys, how="left", validate="many_to_one")


def lacking(wanted: Mapping[str, tuple[Any, Sequence[Any]]]) -> str:
    """Which key of the configuration has not what a published number is of.

    Parameters
    ----------
    wanted : key -> what it must have, and what it has.

    Returns
    -------
    str
        Empty when nothing is lacking.
    """
    for key, (value, found) in wanted.items():
        if value not in found:
            return f"not computed here: {key} needs {value}"
    return ""


def joined(table: pd.DataFrame, columns: list[str], separator: str = ", ") -> pd.Series:
    """The texts of some columns, row by row."""
    texts = table[columns].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
    return texts.agg(separator.join, axis=1) if len(texts) else pd.Series([], dtype=object)


def notes_of(*parts: pd.Series | str, index: pd.Index) -> pd.Series:
    """Parts of notes, row by row, with a semicolon between those that are not empty."""
    columns = [part if isinstance(part, pd.Series) else pd.Series(part, index=index) for part in parts]
    texts = pd.concat(columns, axis=1).fillna("")
    return texts.apply(lambda row: "; ".join(filter(None, row)), axis=1) if len(index) else pd.Series([], dtype=object)
