"""Figure of the scores of each label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_intervals
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, empty_figure, name_of, name_rows, new_figure

MOST_LABELS = findings.MOST_LABELS
_SCORES = ("roc_auc", "average_precision", "mcc")


@FigureSpec(
    "label_scores_*",
    section="labels",
    title="Scores of each label",
    reads=["tables/labels/*.csv", "legend.csv"],
    alt="AUROC, average precision and Matthews correlation of each label, with intervals and the score of guesses",
    each="weak_labels.datasets",
    open=True,
    finding=findings.hardest_label,
)
def plot_label_scores(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw a panel per score and a row per label, starting with the worst label.

    Parameters
    ----------
    scores : DataFrame
        Scores of one dataset in drawing order, with the columns ``label, n_positives``. For each of ``roc_auc,
        average_precision, mcc``, there are the columns ``<score>``, ``<score>_low`` and ``<score>_high``. Only the
        first ``MOST_LABELS`` labels are drawn. The optional column ``share`` is the share of positives.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        Bars are confidence intervals. A vertical line marks the score of guessing: 0.5 for AUROC and 0 for the Matthews
        correlation. For average precision, a gray mark per label is at its share of positives.
    """
    shown = scores.dropna(subset=list(_SCORES), how="all")[:MOST_LABELS]
    if shown.empty:
        return empty_figure()
    names = Legend(legend)
    figure, axes = new_figure(7.2, 0.9 + 0.16 * len(shown), 1, len(_SCORES), sharey=True)
    for panel, score, color in zip(axes[0], _SCORES, PALETTE, strict=False):
        _draw_panel(panel, shown, score, names.text(score), color)
    name_rows(axes[0, 0], [f"{name_of(row.label)} ({row.n_positives})" for row in shown.itertuples()])
    return figure


def _draw_panel(axes: Axes, shown: pd.DataFrame, score: str, name: str, color: str) -> None:
    places = np.arange(len(shown))
    names, table = shown["label"].astype(str) + f", {name}", shown[[score, f"{score}_low", f"{score}_high"]]
    plot_intervals(axes, places, table, names, marker="o", linestyle="", color=color, markersize=3.2)
    axes.set_xlabel(name)
    axes.grid(visible=False, axis="y")
    if score == "average_precision" and "share" in shown:
        axes.plot(shown["share"], places, "|", color="#777777", markersize=6)
    else:
        axes.axvline(0.5 if score == "roc_auc" else 0, color="#777777", linewidth=0.8, zorder=0.8)
