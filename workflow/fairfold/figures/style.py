"""Shared appearance of figures: colors, axes, legends, and the words and numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def name_rows(axes: Axes, names: Sequence[str], margin: float = 0.5) -> None:
    """Name the rows of marks of an axes, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 1 + margin, -margin)
