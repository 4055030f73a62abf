"""Figures of the evenness of splits (Tiittanen, Holm & Törönen 2021)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.points import plot_points, significant, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, empty_figure, new_figure, style_of

_COLUMNS = 5  # most panels side by side

_Figure = partial(FigureSpec, section="splitting", when="splitting.datasets")


@_Figure(
    "metric_behavior",
    title="Behavior of the measures",
    reads=["tables/metric_behavior.csv"],
    alt="LD, DCP and rLD against the number of positives of a label, for three patterns of folds",
)
def plot_metric_behavior(deviations: pd.DataFrame) -> Figure:
    """Draw Figure 1: LD, DCP and rLD of each label against its number of positives, for three patterns of folds.

    A measure suits imbalanced labels if the value of a pattern does not depend on the size of the label. This holds for
    rLD and DCP, but not for LD.

    Parameters
    ----------
    deviations : DataFrame
        Columns ``pattern, positives, LD, DCP, rLD``.

    Returns
    -------
    Figure
        One panel per measure.
    """
    measures = ("LD", "DCP", "rLD")
    figure, axes = new_figure(7, 2.6, 1, len(measures))
    styles = _styles(deviations["pattern"].unique())
    for panel, measure in zip(axes[0], measures, strict=True):
        for pattern, part in deviations.groupby("pattern", sort=False):
            values = zip(part["positives"], part[measure], strict=True)
            texts = [f"{pattern}, {n:,} positives: {measure} {significant(value)}" for n, value in values]
            plot_points(panel, part["positives"], part[measure], texts, markersize=3, **styles[pattern])
        panel.set(xscale="log", xlabel="positives of the label", ylabel=measure)
        panel.set_ylim(bottom=0 if measure != "DCP" else None)
    add_legend(figure, axes[0, 0].get_legend_handles_labels()[0], 3)
    return figure


@_Figure(
    "label_deviations",
    title="Deviation of each label",
    reads=["tables/label_deviations.csv"],
    alt="rLD of each label against its number of positives, a panel for each method and dataset",
    finding=findings.lowest_deviation,
)
def plot_label_deviations(deviations: pd.DataFrame) -> Figure:
    """Draw rLD of each label against its number of positives, with a panel per dataset and splitter.

    Parameters
    ----------
    deviations : DataFrame
        Columns ``dataset, splitter, label, positives, rLD, rLD_bound``.

    Returns
    -------
    Figure
        One dot per label. Gray dots are the bound.
    """
    datasets, splitters = (deviations[column].unique() for column in ("dataset", "splitter"))
    columns = min(_COLUMNS, len(splitters))
    rows = -(-len(splitters) // columns)  # of each dataset
    size = (0.6 + 1.3 * columns, 0.5 + 1.4 * rows * len(datasets))
    figure, axes = new_figure(*size, rows * len(datasets), columns)
    for panels, dataset in zip(axes.reshape(len(datasets), -1), datasets, strict=True):
        for position, panel in enumerate(panels):
            if position >= len(splitters):
                panel.remove()
                continue
            part = deviations[(deviations["dataset"] == dataset) & (deviations["splitter"] == splitters[position])]
            if position:
                panel.sharex(panels[0])
                panel.sharey(panels[0])
            _draw_deviations(panel, part)
            panel.set_title(splitters[position])
            panel.tick_params(labelleft=position % columns == 0, labelbottom=position + columns >= len(splitters))
        for panel in panels[::columns]:
            panel.set_ylabel(f"{dataset}\nrLD")
    figure.supxlabel("positives of the label (gray: lower bound for folds of equal size)")
    return figure


def _draw_deviations(panel: Axes, part: pd.DataFrame) -> None:
    dots: dict = {"rasterized": True, "linestyle": "", "marker": "."}
    shown = part[["label", "positives"]].join(part[["rLD", "rLD_bound"]].map(significant, digits=2))
    texts = texts_of(shown, "label {label}, {positives:,} positives: rLD {rLD}, lower bound {rLD_bound}")
    panel.set_xscale("log")
    panel.xaxis.set_minor_formatter("")
    panel.set_yscale("symlog", linthresh=1e-3)
    plot_points(panel, part["positives"], part["rLD"], texts, markersize=2.5, color=PALETTE[0], **dots)
    panel.plot(part["positives"], part["rLD_bound"], markersize=1.5, color="#555555", **dots)


@_Figure(
    "quality_against_seconds",
    folder="timings",
    title="Quality against run time",
    reads=["timings/quality_against_seconds.csv"],
    alt="mean rLD divided by its lower bound against CPU seconds, a mark for each method and dataset",
    finding=findings.most_balanced,
)
def plot_quality_against_seconds(summary: pd.DataFrame) -> Figure:
    """Draw mean rLD divided by its bound against CPU seconds, with a panel per dataset and a marker per splitter.

    Parameters
    ----------
    summary : DataFrame
        Columns ``dataset, splitter, mean_over_bound, seconds``.

    Returns
    -------
    Figure
        Both axes are logarithmic. A dataset without positive values has no panel.
    """
    is_drawn = (summary["mean_over_bound"] > 0) & (summary["seconds"] > 0)
    datasets = summary.loc[is_drawn, "dataset"].unique()
    if not len(datasets):
        return empty_figure("no positive quality and run time")
    columns = min(3, len(datasets))
    rows = -(-len(datasets) // columns)
    figure, axes = new_figure(max(0.4 + 2.3 * columns, 4.3), 0.8 + 2.0 * rows, rows, columns)
    styles = _styles(summary["splitter"].unique())
    for panel, dataset in zip(axes.flat, datasets, strict=False):
        for row in summary[summary["dataset"] == dataset].itertuples():
            text = f"{row.splitter}: {significant(row.mean_over_bound)} times the lower bound, "
            text += f"{significant(row.seconds, 2)} s"
            plot_points(panel, row.seconds, row.mean_over_bound, [text], markersize=5, **styles[row.splitter])
        panel.axhline(1, color="#555555", linewidth=0.8)
        panel.set(xscale="log", yscale="log", title=dataset, xlabel="CPU seconds")
        panel.locator_params("y", subs=(1, 2, 5))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("")
    for panel in axes.flat[len(datasets) :]:
        panel.set_visible(False)
    for panel in axes[:, 0]:
        panel.set_ylabel("rLD / lower bound")
    add_legend(figure, axes[0, 0].get_legend_handles_labels()[0])
    return figure


def _styles(names: np.ndarray) -> dict[str, dict[str, Any]]:
    edge = {"linestyle": "", "markeredgecolor": "black", "markeredgewidth": 0.4}
    return {name: {"label": name, **style_of(number), **edge} for number, name in enumerate(names)}
