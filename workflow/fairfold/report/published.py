"""Sentences that summarize the comparison with published numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

_NEGLIGIBLE = (
    ("difference_in_se", 2.0, "that scatter are within two standard errors"),
    ("difference_in_digits", 0.5, "others have the digits that are printed"),
)


def distance(comparison: pd.DataFrame) -> pd.Series:
    """Compute the absolute difference between published and computed numbers.

    Parameters
    ----------
    comparison : DataFrame
        Columns ``difference_in_se, difference_in_digits``.

    Returns
    -------
    Series
        Difference in standard errors if available, else in units of the last digit. NaN for numbers without a
        counterpart.

    Examples
    --------
    >>> import pandas as pd
    >>> comparison = pd.DataFrame({"difference_in_se": [-1.5, None], "difference_in_digits": [None, 0.5]})
    >>> distance(comparison).tolist()
    [1.5, 0.5]
    """
    return comparison["difference_in_se"].fillna(comparison["difference_in_digits"]).abs()


def published_sentences(comparison: pd.DataFrame) -> list[str]:
    """Summarize the comparison with published numbers, with one sentence per paper.

    Parameters
    ----------
    comparison : DataFrame
        Columns ``paper, place, what, published, ours, difference_in_se, difference_in_digits``, and ``note`` if some
        numbers are of stand-ins.

    Returns
    -------
    list of str
        Sentences. An additional sentence comes first if no published number has a counterpart.
    """
    sentences = [_sentence(paper, rows) for paper, rows in comparison.groupby("paper", sort=True)]
    if comparison["ours"].notna().any():
        return sentences
    return ["None of this configuration's data are those of a publication that fairfold has numbers of.", *sentences]


def _sentence(paper: str, rows: pd.DataFrame) -> str:
    computed = rows[rows["ours"].notna()]
    counted = f"{paper}: {len(rows):,} published number{'s' if len(rows) > 1 else ''}"
    if computed.empty:
        return f"{counted}, none with a counterpart here."
    n_stand_ins = computed["note"].astype(str).str.startswith("a stand-in").sum() if "note" in computed else 0
    apart = f" ({n_stand_ins:,} of stand-ins)" if n_stand_ins else ""
    parts = [f"{counted}, {len(computed):,} with a counterpart here{apart}"]
    for column, most, what in _NEGLIGIBLE:
        sizes = computed[column].dropna().abs()
        if len(sizes):
            # A tie in the last digit, such as 0.0625 printed as 0.062 or 0.063, is not a difference.
            parts.append(f"{(sizes <= most + 1e-9).sum():,} of {len(sizes):,} {what}")
    return f"{'; '.join(parts)}; {_farthest(computed)}."


def _farthest(computed: pd.DataFrame) -> str:
    distances = distance(computed).replace(np.inf, np.nan)  # a number that does not vary here
    if distances.isna().all():
        return "none of them is to be compared"
    row = computed.loc[distances.idxmax()]
    in_se = pd.notna(row["difference_in_se"])
    size = abs(row["difference_in_se"] if in_se else row["difference_in_digits"])
    unit = "standard errors" if in_se else "units of the last digit"
    where = f"{row['place']}, {row['what']}: {row['published']:g} published, {row['ours']:.5g} here"
    return f"the largest distance is {size:.1f} {unit} ({where})"
