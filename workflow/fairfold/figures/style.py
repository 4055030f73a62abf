"""Shared style of figures: colors, axes, legends and names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe & Ito (2008): color-blind readers can distinguish them, and their lightness differs in gray.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000", "#999999")
LINE_COLORS = tuple(color for color in PALETTE if color != "#F0E442")  # Yellow is too light for lines on white.
MARKERS = "osD^vPX*h"

_LONGEST_NAME = 41  # maximum number of characters

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "figure.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "pdf.fonttype": 42,
}


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Create a figure and its axes.

    Parameters
    ----------
    width, height : float
        Size in inches.
    rows, columns : int, default=1
        Numbers of rows and columns of axes.
    **options : dict
        Parameters of ``Figure.subplots``.

    Returns
    -------
    figure : Figure
        The figure.
    axes : ndarray of shape (rows, columns)
        The axes.

    Examples
    --------
    >>> figure, axes = new_figure(4, 3, rows=2, columns=3)
    >>> axes.shape
    (2, 3)
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def panels_of(
    axes: np.ndarray, table: pd.DataFrame, row: str, column: str
) -> Iterator[tuple[Axes, Any, Any, pd.DataFrame]]:
    """Assign the rows of a table to a grid of axes by the values of two columns.

    Parameters
    ----------
    axes : ndarray of shape (n_rows, n_columns)
        Axes, one per pair of values in order of appearance.
    table : DataFrame
        Table to draw.
    row, column : str
        Columns whose values are the rows and the columns of the grid.

    Yields
    ------
    panel : Axes
        Axes of a pair.
    row_value, column_value : object
        Values of the pair.
    part : DataFrame
        Rows of the table with these values.
    """
    places = product(table[row].unique(), table[column].unique())
    for panel, (of_row, of_column) in zip(axes.flat, places, strict=True):
        yield panel, of_row, of_column, table[(table[row] == of_row) & (table[column] == of_column)]


def style_of(position: int) -> dict[str, Any]:
    """Return the color and marker of the n-th item without an entry in the legend table.

    Parameters
    ----------
    position : int
        Position of the item, from 0.

    Returns
    -------
    dict
        Keyword arguments ``color`` and ``marker`` of ``plot``.

    Examples
    --------
    >>> style_of(0)
    {'color': '#0072B2', 'marker': 'o'}
    """
    return {"color": LINE_COLORS[position % len(LINE_COLORS)], "marker": MARKERS[position % len(MARKERS)]}


def side_by_side(n: int, width: float) -> np.ndarray:
    """Spread n positions evenly around 0.

    Parameters
    ----------
    n : int
        Number of positions.
    width : float
        Distance between the first and the last position.

    Returns
    -------
    ndarray of shape (n,)
        The positions; 0 for a single one.

    Examples
    --------
    >>> side_by_side(3, 0.6)
    array([-0.3,  0. ,  0.3])
    """
    return np.linspace(-width / 2, width / 2, n) if n > 1 else np.zeros(1)


def legend_line(label: str, **look: Any) -> Artist:
    """Create a legend entry for a line or a mark.

    Parameters
    ----------
    label : str
        Text of the entry.
    **look : dict
        Appearance of the entry.

    Returns
    -------
    Line2D
        The handle of the entry.
    """
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def legend_patch(label: str, **look: Any) -> Artist:
    """Create a legend entry for a bar or a band.

    Parameters
    ----------
    label : str
        Text of the entry.
    **look : dict
        Appearance of the entry.

    Returns
    -------
    Patch
        The handle of the entry.
    """
    from matplotlib.patches import Patch

    return Patch(label=label, **look)


def add_legend(
    figure: Figure, handles: Sequence[Artist], n_columns: int | None = None, place: str = "upper center", **options: Any
) -> None:
    """Add a legend above the panels.

    Parameters
    ----------
    figure : Figure
        Figure to change.
    handles : sequence
        Entries, as returned by :func:`legend_line` and :func:`legend_patch`.
    n_columns : int or None, default=None
        Number of columns. None uses as many columns as fit, and makes the figure higher by the height of the legend.
    place : str, default="upper center"
        Position outside the axes, as in matplotlib.
    **options : dict
        Parameters of ``Figure.legend``.
    """
    if n_columns is None:
        width, height = figure.get_size_inches()
        # The divisor is the width of an entry in inches: line and spaces, and each character.
        longest = max((len(str(handle.get_label())) for handle in handles), default=0)
        n_rows = max(-(-len(handles) // max(int(width / (0.5 + 0.06 * longest)), 1)), 1)
        figure.set_size_inches(width, height + 0.17 * n_rows)
        n_columns, options = max(-(-len(handles) // n_rows), 1), {"columnspacing": 1.2, **options}
    options = {"loc": f"outside {place}", "ncols": n_columns, "frameon": False, **options}
    figure.legend(handles=handles, **options)


def name_of(name: object) -> str:
    """Escape a name from user data, and shorten long names in the middle.

    Parameters
    ----------
    name : object
        Name to show.

    Returns
    -------
    str
        Text that matplotlib shows unchanged.

    Examples
    --------
    >>> len(name_of("x" * 100))
    41
    """
    text = str(name)
    if len(text) > _LONGEST_NAME:
        half = (_LONGEST_NAME - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def empty_figure(reason: str = "no model has a score") -> Figure:
    """Create the figure of an empty table, for studies without a result to draw.

    Parameters
    ----------
    reason : str, default="no model has a score"
        Reason to show.

    Returns
    -------
    Figure
        Figure with a text.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.3, 1))
        figure.text(0.5, 0.5, f"nothing to draw: {reason}", ha="center", va="center")
    return figure


def name_rows(axes: Axes, names: Sequence[str], margin: float = 0.5) -> None:
    """Label the rows of an axes from top to bottom.

    Parameters
    ----------
    axes : Axes
        Axes to change.
    names : sequence of str
        Names of the rows.
    margin : float, default=0.5
        Space above the first and below the last row, in rows.
    """
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 1 + margin, -margin)
