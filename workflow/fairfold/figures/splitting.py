"""How even splits are (Tiittanen, Holm & Törönen 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from fairfold.figures import PALETTE, STYLE, tell

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


def plot_metric_behaviour(deviations: pd.DataFrame) -> Figure:
    """Figure 1: LD, DCP and rLD of each label against its number of positives, for three patterns of folds.

    A measure is fit for imbalanced labels when it judges the same pattern alike whatever the size of the label: rLD and
    DCP stay flat, LD drifts.

    Parameters
    ----------
    deviations : columns ``pattern, positives, LD, DCP, rLD``.

    Returns
    -------
    Figure
    """
    measures = ("LD", "DCP", "rLD")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 2.6))
        axes = figure.subplots(1, len(measures))
        styles = _styles(deviations["pattern"].unique())
        for panel, measure in zip(axes, measures, strict=True):
            for pattern, part in deviations.groupby("pattern", sort=False):
                (line,) = panel.plot(
                    part["positives"], part[measure], linestyle="", markersize=3, label=pattern, **styles[pattern]
                )
                values = zip(part["positives"], part[measure], strict=True)
                tell(line, [f"{pattern}, {n:,} positives: {measure} {value:.3g}" for n, value in values])
            panel.set(xscale="log", xlabel="positives of the label", ylabel=measure)
            panel.set_ylim(bottom=0 if measure != "DCP" else None)
        _legend_above(figure, axes[0], ncols=3)
    return figure


def plot_label_deviations(deviations: pd.DataFrame) -> Figure:
    """rLD of each label against its number of positives, a panel per dataset (row) and splitter (column).

    Parameters
    ----------
    deviations : columns ``dataset, splitter, label, positives, rLD, rLD_bound``; the bound is drawn as a line of grey
        dots.

    Returns
    -------
    Figure
    """
    datasets, splitters = deviations["dataset"].unique(), deviations["splitter"].unique()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(0.6 + 1.15 * len(splitters), 0.9 + 1.3 * len(datasets)))
        axes = figure.subplots(len(datasets), len(splitters), sharex="row", sharey="row", squeeze=False)
        for row, dataset in enumerate(datasets):
            for column, splitter in enumerate(splitters):
                panel = axes[row, column]
                chosen = (deviations["dataset"] == dataset) & (deviations["splitter"] == splitter)
                part = deviations[chosen]
                dots = {"rasterized": True, "linestyle": "", "marker": "."}
                (line,) = panel.plot(part["positives"], part["rLD"], markersize=2, color=PALETTE[0], **dots)
                panel.plot(part["positives"], part["rLD_bound"], markersize=1, color="#555555", **dots)
                rows = part[["label", "positives", "rLD", "rLD_bound"]].itertuples(index=False, name=None)
                tell(line, ["label {}, {:,} positives: rLD {:.2g}, least {:.2g}".format(*row) for row in rows])
                panel.set_xscale("log")
                panel.xaxis.set_minor_formatter(NullFormatter())
                panel.set_yscale("symlog", linthresh=1e-3)
            axes[row, 0].set_ylabel(f"{dataset}\nrLD")
        for column, splitter in enumerate(splitters):
            axes[0, column].set_title(splitter, fontsize=7)
        figure.supxlabel("positives of the label (grey: the least that folds of equal size allow)", fontsize=8)
        figure.tight_layout()
    return figure


def plot_quality_against_seconds(summary: pd.DataFrame) -> Figure:
    """Mean rLD over its bound against CPU seconds, a panel per dataset, a marker per splitter.

    Parameters
    ----------
    summary : columns ``dataset, splitter, mean_over_bound, seconds``.

    Returns
    -------
    Figure
    """
    datasets = summary["dataset"].unique()
    with mpl.rc_context(STYLE):
        columns = min(3, len(datasets))
        rows = -(-len(datasets) // columns)
        figure = Figure(figsize=(0.4 + 2.3 * columns, 0.8 + 2.0 * rows))
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        styles = _styles(summary["splitter"].unique())
        for panel, dataset in zip(panels, datasets, strict=False):
            for _, row in summary[summary["dataset"] == dataset].iterrows():
                (line,) = panel.plot(
                    row["seconds"],
                    row["mean_over_bound"],
                    linestyle="",
                    markersize=5,
                    label=row["splitter"],
                    **styles[row["splitter"]],
                )
                times, seconds = row["mean_over_bound"], row["seconds"]
                tell(line, [f"{row['splitter']}: {times:.3g} times the least possible, {seconds:.2g} s"])
            panel.axhline(1, color="#555555", linewidth=0.8)
            panel.set(xscale="log", yscale="log", title=dataset, xlabel="CPU seconds")
            panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.yaxis.set_minor_formatter(NullFormatter())
        for panel in panels[len(datasets) :]:
            panel.set_visible(False)
        for row in range(rows):
            panels[row * columns].set_ylabel("rLD / least possible")
        _legend_above(figure, panels[0], ncols=5)
    return figure


def _styles(names: np.ndarray) -> Mapping[str, dict[str, Any]]:
    return {
        name: {
            "color": PALETTE[i % len(PALETTE)],
            "marker": _MARKERS[i % len(_MARKERS)],
            "markeredgecolor": "black",
            "markeredgewidth": 0.4,
        }
        for i, name in enumerate(names)
    }


def _legend_above(figure: Figure, axes: Axes, ncols: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    rows = -(-len(labels) // ncols)
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.1 + 0.17 * rows) / height))
    figure.legend(handles, labels, loc="upper center", ncols=ncols, frameon=False, fontsize=7)
