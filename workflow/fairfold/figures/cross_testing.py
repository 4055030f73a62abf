"""Accuracy and power of three procedures (Korjus, Hebart & Vicente 2016, Figures 4 to 8)."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfold.errors import DataError
from fairfold.figures import PALETTE, STYLE, interval, tell

MARKS = {  # procedure -> name, colour, marker
    "nested_cv": ("nested CV", PALETTE[0], "o"),
    "cv_cross_testing": ("CV and cross-testing", PALETTE[1], "s"),
    "cv_testing": ("CV and testing", PALETTE[2], "^"),
}
METRIC_LABELS = {"accuracy": "mean accuracy", "significant_fraction": "proportion significant"}
DATASET_LABELS = {"eeg": "EEG"}
X_LABELS = {"data_size": "data size (samples)", "test_fraction": "share of the test part (%)"}
# Shares of the width of the points: curves that meet, and their intervals, stand a little apart; room at both ends.
_ASIDE, _MARGIN = 0.015, 0.08


def plot_cross_testing(points: pd.DataFrame, *, chance: float = 0.5, alpha: float = 0.05) -> Figure:
    """One figure of the paper: accuracy above, proportion of significant results below, a curve per procedure.

    Parameters
    ----------
    points : what :func:`fairfold.papers.cross_testing_points.summarise` gives, of one ``figure``: a column of
        panels per dataset and kind of x. Published points stand behind ours, as rings on dotted lines.
    chance, alpha : accuracy and proportion where there is nothing to find, drawn as dashed lines.

    Returns
    -------
    Figure
        Bars are 95 % intervals. The three procedures stand a little aside of each other at the same x.

    Raises
    ------
    DataError
        When the points are not those of one figure.
    """
    if points["figure"].nunique() != 1:
        raise DataError(f"points of {points['figure'].nunique()} figures; give those of one, such as 'fig4'.")
    columns = list(points[["dataset", "x_name"]].drop_duplicates().itertuples(index=False, name=None))
    metrics = [metric for metric in METRIC_LABELS if metric in set(points["metric"])]
    nothing = {"accuracy": chance, "significant_fraction": alpha}
    with mpl.rc_context(STYLE):
        size = (1.3 + 2.1 * max(len(columns), 1.05), 0.9 + 1.7 * len(metrics))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(metrics), len(columns), squeeze=False, sharex="col", sharey="row")
        for column, (dataset, x_name) in enumerate(columns):
            part = points[(points["dataset"] == dataset) & (points["x_name"] == x_name)]
            part = part.assign(x=part["x"] * (100 if x_name == "test_fraction" else 1))
            for row, metric in enumerate(metrics):
                _draw_panel(axes[row, column], part[part["metric"] == metric], nothing[metric])
            axes[0, column].set_title(DATASET_LABELS.get(dataset, dataset))
            axes[-1, column].set_xlabel(X_LABELS[x_name])
        for panel, metric in zip(axes[:, 0], metrics, strict=True):
            panel.set_ylabel(METRIC_LABELS[metric])
            _open_limits(panel, metric, nothing[metric])
        handles = _legend_handles(points)
        if (n_wide := min(len(columns) + 1, len(handles))) > 2:  # matplotlib fills legends column by column
            handles = [handle for first in range(n_wide) for handle in handles[first::n_wide]]
        figure.legend(handles=handles, loc="outside upper center", ncols=n_wide, frameon=False)
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, nothing: float) -> None:
    positions = np.unique(panel["x"])
    width = np.ptp(positions) or 1.0
    for side, (procedure, (name, colour, marker)) in zip((-1, 0, 1), MARKS.items(), strict=True):
        shift = side * _ASIDE * width
        curves = panel[panel["procedure"] == procedure].sort_values("x")
        theirs, ours = (curves[curves["source"] == source] for source in ("published", "ours"))
        (rings,) = axes.plot(
            theirs["x"] + shift,
            theirs["value"],
            color=colour,
            linestyle=":",
            linewidth=1,
            marker=marker,
            markersize=7,
            markerfacecolor="none",
            alpha=0.45,
            zorder=1.8,
            label=f"{name}, published",
        )
        axes.vlines(ours["x"] + shift, ours["low"], ours["high"], color=colour, linewidth=1)
        (dots,) = axes.plot(
            ours["x"] + shift,
            ours["value"],
            color=colour,
            linewidth=1,
            marker=marker,
            markersize=4,
            markeredgewidth=0,
            label=name,
        )
        tell(rings, [f"{name} at {row.x:g}, published: {row.value:.3f}" for row in theirs.itertuples()])
        tell(dots, [f"{name} at {row.x:g}: {row.value:.3f}{interval(row.low, row.high)}" for row in ours.itertuples()])
    axes.axhline(nothing, color="black", linewidth=0.6, linestyle="--", zorder=0.9)
    axes.set_xticks(positions)
    axes.set_xlim(positions[0] - _MARGIN * width, positions[-1] + _MARGIN * width)
    axes.grid(visible=False, axis="x")


def _open_limits(axes: Axes, metric: str, nothing: float) -> None:
    """Room around what chance gives, so that noise on random data does not fill the panel."""
    low, high = axes.get_ylim()
    if metric == "accuracy":
        axes.set_ylim(min(low, nothing - 0.02), max(high, nothing + 0.02))
    else:
        high = max(high, 2 * nothing)
        axes.set_ylim(-0.04 * high, high)  # markers at 0 stay whole


def _legend_handles(points: pd.DataFrame) -> list[Line2D]:
    line = {"linewidth": 1, "markersize": 4, "markeredgewidth": 0}
    handles = [
        Line2D([], [], color=colour, marker=marker, label=name, **line)
        for procedure, (name, colour, marker) in MARKS.items()
        if procedure in set(points["procedure"])
    ]
    if (points["source"] == "published").any():
        ring = {"linestyle": ":", "marker": "o", "markersize": 7, "markerfacecolor": "none", "alpha": 0.6}
        handles.append(Line2D([], [], color="#555555", linewidth=1, label="published", **ring))
    return [*handles, Line2D([], [], color="black", linewidth=0.6, linestyle="--", label="expected without effect")]
