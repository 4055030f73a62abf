"""Figures of out-of-fold predictions: reliability of each model, and precision and recall of each label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.points import plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, STYLE, empty_figure, name_of, new_figure

_MOST_PANELS = 24
_COLUMNS = 6  # most panels of a row


@FigureSpec(
    "reliability_*",
    section="models",
    title="Reliability of probabilities",
    reads=["tables/reliability/*.csv"],
    alt="share of positives against the predicted probability, a panel for each model",
    each="weak_labels.datasets",
    open=True,
    finding=findings.most_reliable,
)
def plot_reliability(reliability: pd.DataFrame) -> Figure:
    """Draw the share of positives against the predicted probability, with a panel per model.

    Parameters
    ----------
    reliability : DataFrame
        Columns ``model, n, probability, share`` of one dataset, as returned by
        ``fairfold.recommendation.predictions.reliability``.

    Returns
    -------
    Figure
        One point per tenth of the probabilities; larger points stand for more sample-label pairs. Probabilities on the
        gray line are reliable.
    """
    if reliability.empty:
        return empty_figure()
    models = list(reliability["model"].unique())
    figure, panels = _grid(models, "predicted probability", "share of positives")
    for panel, model in zip(panels, models, strict=False):
        part = reliability[reliability["model"] == model]
        panel.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, zorder=0.9)
        panel.plot(part["probability"], part["share"], color=PALETTE[0], linewidth=1)
        sizes = 4 + 40 * np.sqrt(part["n"] / part["n"].max())
        panel.scatter(part["probability"], part["share"], s=sizes, color=PALETTE[0], linewidths=0, zorder=3)
        text = "{model}: {share:.1%} positives where {probability:.1%} is predicted ({n:,} pairs)"
        plot_points(panel, part["probability"], part["share"], texts_of(part, text), marker="", linestyle="")
    return figure


@FigureSpec(
    "precision_recall_*",
    section="labels",
    title="Precision and recall of each label",
    reads=["tables/precision_recall/*.csv"],
    alt="precision against recall, a panel for each label, with the precision of guesses",
    each="weak_labels.datasets",
)
def plot_precision_recall(curves: pd.DataFrame) -> Figure:
    """Draw precision against recall, with a panel per label.

    Parameters
    ----------
    curves : DataFrame
        Columns ``label, share, recall, precision`` of one dataset, as returned by
        ``fairfold.recommendation.predictions.precision_recall``.

    Returns
    -------
    Figure
        The first ``24`` labels. The gray line is the precision of guesses.
    """
    if curves.empty:
        return empty_figure("no label has a positive")
    labels = list(curves["label"].unique())[:_MOST_PANELS]
    figure, panels = _grid([name_of(label) for label in labels], "recall", "precision")
    for panel, label in zip(panels, labels, strict=False):
        part = curves[curves["label"] == label]
        panel.axhline(part["share"].iloc[0], color="0.6", linewidth=0.8)
        texts = texts_of(part, "{label}: precision {precision:.2f} at recall {recall:.2f}")
        plot_points(panel, part["recall"], part["precision"], texts, color=PALETTE[0], linewidth=1.1)
    return figure


def _grid(titles: list[str], x_name: str, y_name: str) -> tuple[Figure, Iterator[Axes]]:
    """Create a square panel per title."""
    rows = -(-len(titles) // _COLUMNS)
    columns = -(-len(titles) // rows)  # rows of about equal length
    figure, axes = new_figure(0.6 + 1.35 * columns, 0.6 + 1.45 * rows, rows, columns, sharex=True, sharey=True)
    for panel in axes.flat[len(titles) :]:
        panel.remove()
    for number, (panel, title) in enumerate(zip(axes.flat, titles, strict=False)):
        panel.set_title(title, fontsize=6)
        panel.tick_params(labelbottom=number + columns >= len(titles))
    axes[0, 0].set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    axes[0, 0].set(xticklabels=["0", "0.5", "1"], yticklabels=["0", "0.5", "1"])
    figure.supxlabel(x_name, fontsize=STYLE["axes.labelsize"])
    figure.supylabel(y_name, fontsize=STYLE["axes.labelsize"])
    return figure, iter(axes.flat)
