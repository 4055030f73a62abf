"""Figures of accuracy and power of three procedures (Korjus, Hebart & Vicente 2016, Figures 4 to 8)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.errors import DataError
from fairfold.figures import findings
from fairfold.figures.points import interval, plot_points
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, legend_line, new_figure

MARKS = {  # procedure -> name, color, marker
    "nested_cv": ("nested CV", PALETTE[0], "o"),
    "cv_cross_testing": ("CV and cross-testing", PALETTE[1], "s"),
    "cv_testing": ("CV and testing", PALETTE[2], "^"),
}
METRIC_LABELS = {"accuracy": "mean accuracy", "significant_fraction": "proportion significant"}
DATASET_LABELS = {"eeg": "EEG"}
X_LABELS = {"data_size": "data size (samples)", "test_fraction": "share of the test part (%)"}
CHANCE = 0.5  # accuracy without an effect
# Horizontal offset between curves, and margin at both ends, as shares of the range of x.
_ASIDE, _MARGIN = 0.015, 0.08
_LINE: dict = {"linewidth": 1, "markersize": 4, "markeredgewidth": 0}
_RING: dict = {"linewidth": 1, "linestyle": ":", "markersize": 7, "markerfacecolor": "none"}
_EXPECTED: dict = {"color": "black", "linewidth": 0.6, "linestyle": "--"}


@FigureSpec(
    "cross_testing_*",
    section="cross-testing",
    title="Accuracy and significance",
    reads=["tables/cross_testing_*.csv"],
    alt="accuracy and share of significant tests of three procedures, with 95 % intervals",
    when="cross_testing.experiments",
    each="cross_testing.experiments.*.figure",
    settings={"alpha": "cross_testing.alpha"},
    finding=lambda points: findings.most_powerful(points, {name: mark[0] for name, mark in MARKS.items()}),
)
def plot_cross_testing(points: pd.DataFrame, *, alpha: float = 0.05) -> Figure:
    """Draw a figure of the paper: accuracy, and proportion of significant results below it, with a curve per procedure.

    Parameters
    ----------
    points : DataFrame
        Points of one figure, as returned by :func:`fairfold.papers.cross_testing_points.summarize`. There is a column
        of panels per dataset and kind of x.
    alpha : float, default=0.05
        Expected proportion of significant results without an effect, drawn as a dashed line.

    Returns
    -------
    Figure
        Bars are 95 % confidence intervals. Published points are rings on dotted lines. The procedures are slightly
        shifted along the x axis. The dashed line of accuracy is chance.

    Raises
    ------
    DataError
        If the points belong to several figures.
    """
    if points["figure"].nunique() != 1:
        raise DataError(f"points: expected one figure, found {points['figure'].nunique()}. Select one, such as 'fig4'.")
    columns = points.groupby(["dataset", "x_name"], sort=False)
    metrics = [metric for metric in METRIC_LABELS if metric in set(points["metric"])]
    nothing = {"accuracy": CHANCE, "significant_fraction": alpha}
    size = (1.3 + 2.1 * max(len(columns), 1.05), 0.9 + 1.7 * len(metrics))
    figure, axes = new_figure(*size, len(metrics), len(columns), sharex="col", sharey="row")
    for panels, ((dataset, x_name), part) in zip(axes.T, columns, strict=True):
        part = part.assign(x=part["x"] * (100 if x_name == "test_fraction" else 1))
        for panel, metric in zip(panels, metrics, strict=True):
            _draw_panel(panel, part[part["metric"] == metric], nothing[metric])
        panels[0].set_title(DATASET_LABELS.get(dataset, dataset))
        panels[-1].set_xlabel(X_LABELS[x_name])
    for panel, metric in zip(axes[:, 0], metrics, strict=True):
        panel.set_ylabel(METRIC_LABELS[metric])
        _open_limits(panel, metric, nothing[metric])
    handles = _legend_handles(points)
    if (n_wide := min(len(columns) + 1, len(handles))) > 2:  # matplotlib fills legends column by column
        handles = [handle for first in range(n_wide) for handle in handles[first::n_wide]]
    add_legend(figure, handles, n_wide)
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, nothing: float) -> None:
    positions = np.unique(panel["x"])
    width = np.ptp(positions) or 1.0
    for side, (procedure, (name, color, marker)) in zip((-1, 0, 1), MARKS.items(), strict=True):
        curves = panel[panel["procedure"] == procedure].sort_values("x")
        curves = curves.assign(place=curves["x"] + side * _ASIDE * width)
        theirs, ours = (curves[curves["source"] == source] for source in ("published", "ours"))
        look = {"color": color, "marker": marker}
        behind = {**_RING, **look, "alpha": 0.45, "zorder": 1.8, "label": f"{name}, published"}
        texts = [f"{name} at {row.x:g}, published: {row.value:.3f}" for row in theirs.itertuples()]
        plot_points(axes, theirs["place"], theirs["value"], texts, **behind)
        axes.vlines(ours["place"], ours["low"], ours["high"], color=color, linewidth=1)
        texts = [f"{name} at {row.x:g}: {row.value:.3f}{interval(row.low, row.high)}" for row in ours.itertuples()]
        plot_points(axes, ours["place"], ours["value"], texts, **_LINE, **look, label=name)
    axes.axhline(nothing, zorder=0.9, **_EXPECTED)
    axes.set(xticks=positions, xlim=(positions[0] - _MARGIN * width, positions[-1] + _MARGIN * width))
    axes.grid(visible=False, axis="x")


def _open_limits(axes: Axes, metric: str, nothing: float) -> None:
    """Widen the limits around chance level, so noise on random data does not fill the panel."""
    low, high = axes.get_ylim()
    if metric == "accuracy":
        axes.set_ylim(min(low, nothing - 0.02), max(high, nothing + 0.02))
    else:
        high = max(high, 2 * nothing)
        axes.set_ylim(-0.04 * high, high)  # room for markers at 0


def _legend_handles(points: pd.DataFrame) -> list:
    drawn = [mark for procedure, mark in MARKS.items() if procedure in set(points["procedure"])]
    handles = [legend_line(name, color=color, marker=marker, **_LINE) for name, color, marker in drawn]
    if (points["source"] == "published").any():
        handles.append(legend_line("published", color="#555555", marker="o", alpha=0.6, **_RING))
    return [*handles, legend_line("expected without effect", **_EXPECTED)]
