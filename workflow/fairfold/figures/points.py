"""Points with texts, which the report shows to a reader who points at one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairfold.figures.spec import Axes, Line2D


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


def interval(low: float, high: float, digits: str = ".3f") -> str:
    """Format the limits of a number; nothing where there are none."""
    return "" if np.isnan(low) else f" ({low:{digits}} to {high:{digits}})"
