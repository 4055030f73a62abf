"""Shared appearance of figures: colors, axes, legends, and the words and numbers in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.figures.spec import Axes, Figure, Line2D

# Okabe & Ito (2008): color-blind readers can distinguish them, and their lightness differs in gray.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000", "#999999")
LINE_COLORS = tuple(color for color in PALETTE if color != "#F0E442")  # Yellow is too light for lines on white.
MARKERS = "osD^vPX*h"

_LONGEST_NAME = 41  # letters

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "pdf.fonttype": 42,
}


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, *, layout: str | None = "constrained", **options: Any
) -> tuple[Figure, np.ndarray]:
    """Create a figure and its axes of shape (rows, columns); sizes are in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=layout)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def look_of(position: int) -> dict[str, str]:
    """Return the color and marker of the n-th of several things that no table names."""
    return {"color": PALETTE[position % len(PALETTE)], "marker": MARKERS[position % len(MARKERS)]}


def side_by_side(n: int, width: float) -> np.ndarray:
    """Spread n positions evenly around 0; a single one is at 0."""
    return np.linspace(-width / 2, width / 2, n) if n > 1 else np.zeros(1)


def entry(label: str, *, area: bool = False, **look: Any) -> Any:
    """Create a legend entry for a line or a mark, or for a bar or a band (``area``)."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return Patch(label=label, **look) if area else Line2D([], [], label=label, **look)


def add_legend(
    figure: Figure, handles: Sequence[Any], n_columns: int, place: str = "upper center", **options: Any
) -> None:
    """Add a legend above the panels."""
    figure.legend(handles=handles, loc=f"outside {place}", ncols=n_columns, frameon=False, **options)


def name_of(name: object) -> str:
    """Escape a name from a user's data, and shorten the middle of a long one."""
    text = str(name)
    if len(text) > _LONGEST_NAME:
        half = (_LONGEST_NAME - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def nothing_to_draw(reason: str = "no model has a value here") -> Figure:
    """Create the figure of an empty table, so that a study in which no model could run ends with its reasons."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.3, 1))
        figure.text(0.5, 0.5, f"nothing to draw: {reason}", ha="center", va="center")
    return figure


def interval(low: float, high: float, digits: str = ".3f") -> str:
    """Format the limits of a number; nothing where there are none."""
    return "" if np.isnan(low) else f" ({low:{digits}} to {high:{digits}})"


def tell(line: Line2D, texts: Iterable[str]) -> None:
    """Set the text of each point of a line; the report shows it to a reader who points at it.

    Parameters
    ----------
    line : Line2D
        What ``plot`` returned.
    texts : iterable of str
        A text for each of its points.
    """
    texts, n_points = list(texts), len(line.get_xdata())
    if len(texts) != n_points:
        raise ValueError(f"{len(texts)} texts for {n_points} points.")
    line.texts_of_points = texts


def tell_at(axes: Axes, x: Sequence[float], y: Sequence[float], texts: Sequence[str]) -> None:
    """Set texts for bars and fields, which are no line; the report shows them to a reader who points at one.

    Parameters
    ----------
    axes : Axes
        The axes that show them.
    x, y : sequence of float of shape (n_points,)
        Places to point at, in units of the axes.
    texts : sequence of str
        A text for each point.
    """
    from matplotlib.lines import Line2D

    places = Line2D(x, y, visible=False)  # takes no room, either
    axes.add_artist(places)
    tell(places, texts)


def plot_points(axes: Axes, x: ArrayLike, y: ArrayLike, texts: Iterable[str], **look: Any) -> None:
    """Plot a line or marks, and set the text of each point."""
    tell(axes.plot(x, y, **look)[0], texts)


def texts_of(table: pd.DataFrame, text: str, **values: Any) -> list[str]:
    """Fill in a text for each row of a table: ``{column:.2f}``, or a value that all rows share."""
    return [text.format(**{**row, **values}) for row in table.to_dict("records")]
