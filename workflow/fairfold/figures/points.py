"""Points with texts, which the report shows as tooltips."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.figures.spec import Axes, Line2D

_ROUNDING_ERROR, _LEAST = 1e-12, 1e-6  # sizes of numbers that are shown as 0 and as a bound


def add_tooltips(line: Line2D, texts: Iterable[str]) -> None:
    """Attach a text to each point of a line, which the report shows as a tooltip.

    Parameters
    ----------
    line : Line2D
        Line returned by ``plot``.
    texts : iterable of str
        One text per point.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> (line,) = axes.plot([1, 2], [0.7, 0.8])
    >>> add_tooltips(line, ["fold 1: 0.70", "fold 2: 0.80"])
    >>> add_tooltips(line, ["fold 1: 0.70"])
    Traceback (most recent call last):
    ValueError: 1 texts for 2 points.
    """
    texts, n_points = list(texts), np.size(line.get_xdata())
    if len(texts) != n_points:
        raise ValueError(f"{len(texts)} texts for {n_points} points.")
    line.texts_of_points = texts  # type: ignore[attr-defined]  # save_figure reads this attribute.


def add_tooltips_at(axes: Axes, x: Sequence[float], y: Sequence[float], texts: Sequence[str]) -> None:
    """Attach texts to positions, such as those of bars, which the report shows as tooltips.

    Parameters
    ----------
    axes : Axes
        Axes of the positions.
    x, y : sequence of float of shape (n_points,)
        Positions in data coordinates.
    texts : sequence of str
        One text per position.
    """
    from matplotlib.lines import Line2D

    places = Line2D(x, y, visible=False)  # invisible artists take no room in the layout
    axes.add_artist(places)
    add_tooltips(places, texts)


def plot_points(axes: Axes, x: ArrayLike, y: ArrayLike, texts: Iterable[str], **look: Any) -> None:
    """Plot a line or marks, and attach a text to each point.

    Parameters
    ----------
    axes : Axes
        Axes to plot to.
    x, y : array-like of shape (n_points,)
        Positions in data coordinates.
    texts : iterable of str
        One text per point.
    **look : dict
        Parameters of ``Axes.plot``.
    """
    add_tooltips(axes.plot(x, y, **look)[0], texts)


def plot_intervals(
    axes: Axes, positions: ArrayLike, table: pd.DataFrame, names: Iterable[str], digits: str = ".3f", **look: Any
) -> None:
    """Plot a mark and a horizontal interval in each row of an axes, with a text for each mark.

    Parameters
    ----------
    axes : Axes
        Axes to plot to.
    positions : array-like of shape (n_rows,)
        Vertical positions.
    table : DataFrame of shape (n_rows, 3)
        Value, lower limit and upper limit of each row.
    names : iterable of str
        Beginning of each text.
    digits : str, default=".3f"
        Format of the numbers in texts.
    **look : dict
        Parameters of ``Axes.plot``, with a color.
    """
    axes.hlines(positions, table.iloc[:, 1], table.iloc[:, 2], color=look["color"], linewidth=1)
    rows = zip(names, table.itertuples(index=False, name=None), strict=True)
    texts = [f"{name}: {value:{digits}}{interval(low, high, digits)}" for name, (value, low, high) in rows]
    plot_points(axes, table.iloc[:, 0], positions, texts, **look)


def texts_of(table: pd.DataFrame, text: str, **values: Any) -> list[str]:
    """Format a text for each row of a table.

    Parameters
    ----------
    table : DataFrame
        Table with the values.
    text : str
        Format string with the column names as fields, such as ``{column:.2f}``.
    **values : dict
        Further fields that all rows share.

    Returns
    -------
    list of str
        One text per row.

    Examples
    --------
    >>> texts_of(pd.DataFrame({"model": ["a", "b"], "score": [0.512, 0.6]}), "{model}: {score:.2f}")
    ['a: 0.51', 'b: 0.60']
    """
    return [text.format(**{**row, **values}) for row in table.to_dict("records")]


def significant(value: float, digits: int = 3) -> str:
    """Format a number with significant digits and without an exponent.

    Parameters
    ----------
    value : float
        Number to format.
    digits : int, default=3
        Number of significant digits.

    Returns
    -------
    str
        The number. Rounding errors are 0, and an infinite or missing number is a dash.

    Examples
    --------
    >>> [significant(value) for value in (0.12345, 10_000.0, 8.4e-05, 2.2e-16, 3e-7)]
    ['0.123', '10,000', '0.000084', '0', 'below 0.000001']
    """
    size = abs(value)
    if not math.isfinite(value):
        return "–"
    if size < _LEAST:
        return "0" if size < _ROUNDING_ERROR else f"below {_LEAST:f}"
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def interval(low: float, high: float, digits: str = ".3f") -> str:
    """Format an interval, or return an empty string if a limit is NaN or infinite.

    Parameters
    ----------
    low, high : float
        Limits.
    digits : str, default=".3f"
        Format of a limit.

    Returns
    -------
    str
        The interval in parentheses after a space.

    Examples
    --------
    >>> "0.750" + interval(0.7, 0.8)
    '0.750 (0.700 to 0.800)'
    """
    return f" ({low:{digits}} to {high:{digits}})" if math.isfinite(low) and math.isfinite(high) else ""
