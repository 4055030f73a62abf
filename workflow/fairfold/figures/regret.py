"""What it costs to choose a model in one way or another."""

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

_ROW = 0.17  # inches


def plot_regret(regret: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """A panel for each metric that leads, a row for each way to choose, a mark for each missing rate.

    Parameters
    ----------
    regret : columns ``strategy, missing_rate, metric, regret, low, high``, as of
        ``fairfold.recommendation.regret``.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it; metrics that do not lead are left out.

    Returns
    -------
    Figure
        Ways are sorted by their mean regret over metrics and rates, each in shares of the metric's largest.
    """
    names = Legend(legend)
    leading = [metric for metric in regret["metric"].unique() if names.leads(metric)] if len(regret) else []
    shown = regret[regret["metric"].isin(leading)]
    if shown.empty:
        return nothing_to_draw()
    strategies, rates = _by_regret(shown), sorted(shown["missing_rate"].unique())
    with mpl.rc_context(STYLE):
        size = (0.9 + 2.6 * len(leading), 0.9 + _ROW * len(strategies) * len(rates) ** 0.5)
        figure = Figure(figsize=size, layout="constrained")
        for axes, metric in zip(figure.subplots(1, len(leading), squeeze=False, sharey=True)[0], leading, strict=True):
            _draw(axes, shown[shown["metric"] == metric], strategies, rates)
            axes.set_xlabel(f"below the best, {names.text(metric)}")
        axes.set_yticks(range(len(strategies)), strategies)
        axes.set_ylim(len(strategies) - 0.4, -0.6)
        handles = [
            Line2D([], [], color=colour, marker=marker, linewidth=1, markersize=4, label=f"{rate} % hidden")
            for rate, (colour, marker) in zip(rates, _looks(rates), strict=True)
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=min(4, len(rates)), frameon=False)
    return figure


def _by_regret(regret: pd.DataFrame) -> list[str]:
    share = regret["regret"] / regret.groupby("metric")["regret"].transform("max")
    return list(share.groupby(regret["strategy"], sort=False).mean().sort_values(kind="stable").index)


def _draw(axes: Axes, regret: pd.DataFrame, strategies: list[str], rates: list[int]) -> None:
    aside = np.linspace(-0.27, 0.27, len(rates)) if len(rates) > 1 else np.zeros(1)
    for rate, shift, (colour, marker) in zip(rates, aside, _looks(rates), strict=True):
        part = regret[regret["missing_rate"] == rate].set_index("strategy").reindex(strategies)
        positions = np.arange(len(strategies)) + shift
        axes.hlines(positions, part["low"], part["high"], color=colour, linewidth=1)
        (line,) = axes.plot(part["regret"], positions, marker, color=colour, markersize=3.5, clip_on=False)
        means = part[["regret", "low", "high"]].itertuples(name=None)
        tell(line, [f"{way}, {rate} % hidden: {mean:.3f}{interval(low, high)}" for way, mean, low, high in means])
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.grid(visible=False, axis="y")


def _looks(rates: list[int]) -> list[tuple[str, str]]:
    return [(PALETTE[n % len(PALETTE)], MARKERS[n % len(MARKERS)]) for n in range(len(rates))]
