"""How figures look, and the words and numbers in them."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

# Okabe & Ito (2008): told apart by colour-blind readers, and in grey by their lightness.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000", "#999999")

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


def name_of(name: object) -> str:
    """A name from a user's data as figures have it: no mathematics, and its middle left out where it is long."""
    text = str(name)
    if len(text) > _LONGEST_NAME:
        half = (_LONGEST_NAME - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def nothing_to_draw(reason: str = "no model has a value here") -> Figure:
    """What is drawn of an empty table, so that a study in which no model could run ends with its reasons."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.3, 1))
        figure.text(0.5, 0.5, f"nothing to draw: {reason}", ha="center", va="center")
    return figure


def interval(low: float, high: float, digits: str = ".3f") -> str:
    """Limits as they follow a number in a text; nothing where there are none."""
    return "" if np.isnan(low) else f" ({low:{digits}} to {high:{digits}})"
