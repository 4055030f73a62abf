"""Scores by number of training samples, and what is expected of more."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from fairfold.figures import PALETTE, STYLE, nothing_to_draw, tell
from fairfold.figures.legend import MARKERS, Legend


def plot_sample_curves(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """A row of panels for each metric that leads, a panel for each dataset, a line for each model.

    Parameters
    ----------
    curves : what :func:`fairfold.recommendation.sample_curves.sample_curves` gives.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it; metrics that do not lead are left out.

    Returns
    -------
    Figure
        Filled marks are measured; hollow ones, on dashed lines, are extrapolated. Bars are 95 % intervals.
    """
    names = Legend(legend)
    metrics = [metric for metric in curves["metric"].unique() if names.leads(metric)]
    datasets, models = list(curves["dataset"].unique()), list(curves["model"].unique())
    if not metrics:
        return nothing_to_draw()
    with mpl.rc_context(STYLE):
        size = (0.6 + 2.5 * len(datasets), 0.9 + 2.1 * len(metrics))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(metrics), len(datasets), squeeze=False, sharex="col")
        for row, metric in enumerate(metrics):
            for column, dataset in enumerate(datasets):
                panel = curves[(curves["metric"] == metric) & (curves["dataset"] == dataset)]
                for number, model in enumerate(models):
                    _draw(axes[row, column], panel[panel["model"] == model], _look(number), number)
                axes[row, column].set_title(dataset, loc="left")
                axes[row, column].set_xscale("log")
                ticks = sorted(panel["n_train"].round().unique())
                axes[row, column].set_xticks(ticks[:: -(-len(ticks) // 4)], minor=False)
                axes[row, column].xaxis.set_major_formatter("{x:.0f}")
                axes[row, column].xaxis.set_minor_formatter(NullFormatter())
            axes[row, 0].set_ylabel(names.text(metric))
        for panel in axes[-1]:
            panel.set_xlabel("training samples")
        handles = [Line2D([], [], **_look(number), label=model) for number, model in enumerate(models)]
        figure.legend(handles=handles, loc="outside upper left", ncols=4, frameon=False, columnspacing=1.2)
    return figure


def _draw(axes: Axes, numbers: pd.DataFrame, look: dict, number: int) -> None:
    is_measured = numbers["kind"] == "measured"
    known, ahead = numbers[is_measured], numbers[~is_measured]
    shift = 1.03**number  # bars of models side by side
    axes.vlines(numbers["n_train"] * shift, numbers["low"], numbers["high"], color=look["color"], linewidth=0.7)
    (line,) = axes.plot(known["n_train"] * shift, known["score"], **look)
    points = known[["model", "n_train", "score"]].itertuples(index=False, name=None)
    tell(line, [f"{model}, {n:,.0f} samples: {score:.3f}" for model, n, score in points])
    if len(ahead):
        line = pd.concat([known.tail(1), ahead])
        axes.plot(line["n_train"] * shift, line["score"], color=look["color"], linestyle="--", linewidth=0.8)
        axes.plot(ahead["n_train"] * shift, ahead["score"], **{**look, "linestyle": "none", "markerfacecolor": "white"})


def _look(number: int) -> dict:
    colour, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
    return {"color": colour, "marker": marker, "markersize": 3.4, "linewidth": 0.9, "markeredgewidth": 0.8}
