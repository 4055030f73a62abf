"""Decimals of numbers with confidence intervals, and curves of characters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LEAST = 2
"""Minimum number of decimals of numbers between −1 and 1, such as scores."""
_MOST = 5
_BARS = "▁▂▃▄▅▆▇█"


def decimals_of(low: ArrayLike, high: ArrayLike) -> int:
    """Return the decimals that numbers with these intervals deserve.

    A unit of the last decimal is at most half as long as the median interval.

    Parameters
    ----------
    low, high : array-like of shape (n,)
        Ends of the intervals. Missing ones are ignored.

    Returns
    -------
    int
        Number of decimals: at least two for numbers between −1 and 1, and at most five. Without an interval, three.

    Examples
    --------
    >>> decimals_of(0.70, 0.80), decimals_of([0.741, 0.7421], [0.743, 0.7441]), decimals_of(0.0, 20.0)
    (2, 3, 0)
    """
    low, high = (np.ravel(np.asarray(end, dtype=np.float64)) for end in (low, high))
    widths = (high - low)[np.isfinite(high - low) & (high > low)]
    if not len(widths):
        return 3
    least = LEAST if np.nanmax(np.abs([low, high])) <= 1 else 0
    return int(np.clip(np.ceil(-np.log10(np.median(widths) / 2) - 1e-9), least, _MOST))


def bars(values: ArrayLike, low: float, high: float) -> str:
    """Draw numbers as bars of eight heights.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers from `low` to `high`.
    low, high : float
        Numbers of the lowest and of the highest bar. A number above `low` is not drawn as the lowest bar.

    Returns
    -------
    str
        A character for each number.

    Examples
    --------
    >>> bars([0, 1, 50, 100], 0, 100)
    '▁▂▅█'
    """
    heights = (np.asarray(values, dtype=np.float64) - low) / ((high - low) or 1.0)
    return "".join(_BARS[level] for level in np.ceil(heights * (len(_BARS) - 1) - 1e-9).astype(int))
