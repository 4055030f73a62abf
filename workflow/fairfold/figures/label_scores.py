"""How well each label is predicted."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fairfold.figures import PALETTE, STYLE, interval, name_of, nothing_to_draw, tell
from fairfold.figures.legend import Legend

MOST_LABELS = 60
_SCORES = ("roc_auc", "average_precision", "mcc")


def plot_label_scores(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """A panel for each score, a line for each label, the worst first, with its interval.

    Parameters
    ----------
    scores : of one dataset, columns ``label, n_positives`` and, for each of ``roc_auc, average_precision, mcc``, the
        score, ``<score>_low`` and ``<score>_high``, in the order in which they are drawn; of more than ``MOST_LABELS``
        the first.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        A vertical line is at the score of guesses: 0.5 of AUROC, 0 of Matthews correlation; of average precision a grey
        mark for each label is at its share of positives, if the table has it (``share``).
    """
    shown = scores.dropna(subset=list(_SCORES), how="all")[:MOST_LABELS]
    if shown.empty:
        return nothing_to_draw()
    names = Legend(legend)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.9 + 0.16 * len(shown)), layout="constrained")
        axes = figure.subplots(1, len(_SCORES), sharey=True)
        places = np.arange(len(shown))
        for panel, score, colour in zip(axes, _SCORES, PALETTE, strict=False):
            name = names.text(score)
            panel.hlines(places, shown[f"{score}_low"], shown[f"{score}_high"], color=colour, linewidth=1)
            (line,) = panel.plot(shown[score], places, "o", color=colour, markersize=3.2)
            rows = shown[["label", score, f"{score}_low", f"{score}_high"]].itertuples(index=False, name=None)
            tell(line, [f"{label}: {name} {value:.3f}{interval(*ends)}" for label, value, *ends in rows])
            panel.set_xlabel(name)
            panel.grid(visible=False, axis="y")
            if score == "average_precision" and "share" in shown:
                panel.plot(shown["share"], places, "|", color="#777777", markersize=6)
            else:
                panel.axvline(0.5 if score == "roc_auc" else 0, color="#777777", linewidth=0.8, zorder=0.8)
        axes[0].set_yticks(places, [f"{name_of(row.label)} ({row.n_positives})" for row in shown.itertuples()])
        axes[0].set_ylim(len(shown) - 0.5, -0.5)
    return figure
