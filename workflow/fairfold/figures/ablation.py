"""What each part of a model adds to its scores."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fairfold.figures import PALETTE, STYLE, interval, nothing_to_draw, tell
from fairfold.figures.legend import MARKERS, Legend

ALL = "all"  # what the table calls the mean over datasets


def plot_ablation(ablation: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """A row of panels for each metric that leads, a panel for each missing rate, a line for each part.

    Parameters
    ----------
    ablation : what :func:`fairfold.models.ablation.ablation_table` gives; missing rates in percent.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it; metrics that do not lead are left out.

    Returns
    -------
    Figure
        A mark per dataset, with its interval; black ones, with several datasets, are means over them.
    """
    names = Legend(legend)
    metrics = [metric for metric in ablation["metric"].unique() if names.leads(metric)]
    rates, parts = sorted(ablation["missing_rate"].unique()), list(ablation["part"].unique())
    lanes = list(ablation["dataset"].unique())
    if lanes[-1:] == [ALL] and len(lanes) == 2:
        lanes = lanes[:1]  # a mean of one
    if not metrics:
        return nothing_to_draw()
    with mpl.rc_context(STYLE):
        panel_height = 0.3 + len(parts) * (0.1 + 0.07 * len(lanes))
        figure = Figure(figsize=(1.6 + 2.6 * len(rates), 0.8 + panel_height * len(metrics)), layout="constrained")
        axes = figure.subplots(len(metrics), len(rates), squeeze=False, sharey=True, sharex="row")
        for row, metric in enumerate(metrics):
            for column, rate in enumerate(rates):
                panel = ablation[(ablation["metric"] == metric) & (ablation["missing_rate"] == rate)]
                axes[row, column].set_title(f"{rate} % hidden", loc="left")
                axes[row, column].set_xlabel(f"adds to {names.text(metric)}")
                _draw(axes[row, column], panel, lanes, parts)
        axes[0, 0].set_yticks(np.arange(len(parts)), parts)
        axes[0, 0].set_ylim(len(parts) - 0.5, -0.5)
        handles = [Line2D([], [], **_look(lane, lanes), label=_name(lane)) for lane in lanes]
        figure.legend(handles=handles, loc="outside upper left", ncols=4, frameon=False, columnspacing=1.2)
    return figure


def _draw(axes: Axes, panel: pd.DataFrame, lanes: list[str], parts: list[str]) -> None:
    shifts = np.linspace(-0.3, 0.3, len(lanes)) if len(lanes) > 1 else [0]
    for lane, shift in zip(lanes, shifts, strict=True):
        numbers = panel[panel["dataset"] == lane].set_index("part").reindex(parts)
        positions, look = np.arange(len(parts)) + shift, _look(lane, lanes)
        axes.hlines(positions, numbers["low"], numbers["high"], color=look["color"], linewidth=0.9)
        (line,) = axes.plot(numbers["gain"], positions, **look)
        rows = numbers[["gain", "low", "high"]].itertuples(name=None)
        tell(line, [f"{part}, {_name(lane)}: {gain:+.4f}{interval(*ends, '+.4f')}" for part, gain, *ends in rows])
    axes.axvline(0, color="black", linewidth=0.6, zorder=0.8)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def _name(lane: str) -> str:
    return "mean of datasets" if lane == ALL else lane


def _look(lane: str, lanes: list[str]) -> dict:
    number = lanes.index(lane)
    colour, marker = ("black", "D") if lane == ALL else (PALETTE[number % 6], MARKERS[number % len(MARKERS)])
    return {"color": colour, "marker": marker, "linestyle": "none", "markersize": 3.6, "markeredgewidth": 0.9}
