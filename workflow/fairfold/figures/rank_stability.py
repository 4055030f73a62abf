"""Agreement of ranks between repetitions of a study, by the method that made the folds: an experiment of our own."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fairfold.figures import PALETTE, STYLE, interval, tell
from fairfold.figures.legend import Legend

MARKERS = "os^vPX"
MEAN = "mean of datasets"
# Larger and behind, to be seen around a filled mark at the same place without hiding its interval
_HOLLOW = {"markerfacecolor": "white", "markersize": 6.2, "markeredgewidth": 0.8, "zorder": 0.95}


def plot_rank_stability(stability: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Kendall's tau on new and on the same folds, and the share of the split: a row per metric, a mark per dataset.

    Parameters
    ----------
    stability : what :func:`fairfold.recommendation.rank_stability.rank_stability` gives; missing rates in percent.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        A pair of panels per missing rate. Filled marks are trainings on different splits, with 95 % intervals; hollow
        ones are trainings on the same split. Black marks, with several datasets, are means over them.
    """
    metrics, rates, splitters = (list(stability[column].unique()) for column in ("metric", "missing_rate", "splitter"))
    names = Legend(legend)
    lanes = list(stability["dataset"].unique())
    lanes += [MEAN] * (len(lanes) > 1)
    stability = pd.concat([stability, _means(stability)], ignore_index=True)
    # 0 is always shown; intervals are not cut off where tau ends, so the axis does it
    least = np.clip(np.nanmin([0, *stability[["tau_low", "kendall_tau", "tau_same_folds"]].min()]), -1, 0)
    with mpl.rc_context(STYLE):
        panel_height = 0.25 + len(splitters) * (0.12 + 0.085 * len(lanes))
        size = (1.1 + 2.9 * len(rates), 1.1 + panel_height * len(metrics))
        figure = Figure(figsize=size, layout="constrained")
        ratios = {"width_ratios": [1.6, 1] * len(rates)}
        axes = figure.subplots(
            len(metrics), 2 * len(rates), squeeze=False, sharex="col", sharey=True, gridspec_kw=ratios
        )
        for row, metric in enumerate(metrics):
            for column, rate in enumerate(rates):
                panel = stability[(stability["metric"] == metric) & (stability["missing_rate"] == rate)]
                title = f"{names.label(metric)}, {rate} % hidden"
                axes[row, 2 * column].set_title(title, loc="left")
                _draw_pair(*axes[row, 2 * column : 2 * column + 2], panel, lanes, splitters)
        for column in range(len(rates)):
            axes[-1, 2 * column].set_xlabel("Kendall's tau")
            axes[-1, 2 * column + 1].set_xlabel("split's share (%)")
            axes[0, 2 * column].set_xlim(least - 0.05, 1.05)
        axes[0, 0].set_yticks(np.arange(len(splitters)), splitters)
        axes[0, 0].set_ylim(len(splitters) - 0.5, -0.5)
        figure.legend(handles=_legend(lanes), loc="outside upper left", ncols=3, frameon=False, columnspacing=1.2)
    return figure


def _means(stability: pd.DataFrame) -> pd.DataFrame:
    """Means over datasets; their errors are independent, and add up in squares."""
    table = stability.assign(squared=(stability["tau_high"] - stability["kendall_tau"]) ** 2)
    groups = table.groupby(["missing_rate", "metric", "splitter"], sort=False)
    means = groups[["kendall_tau", "tau_same_folds", "share_split", "squared"]].mean().assign(dataset=MEAN)
    half = np.sqrt(means["squared"] / groups["squared"].count())
    return means.assign(tau_low=means["kendall_tau"] - half, tau_high=means["kendall_tau"] + half).reset_index()


def _draw_pair(tau: Axes, share: Axes, panel: pd.DataFrame, lanes: list[str], splitters: list[str]) -> None:
    """Tau on the left, the share of the split on the right."""
    shifts = np.linspace(-0.3, 0.3, len(lanes)) if len(lanes) > 1 else [0]
    for lane, shift in zip(lanes, shifts, strict=True):
        numbers = panel[panel["dataset"] == lane].set_index("splitter").reindex(splitters)
        positions, look = np.arange(len(splitters)) + shift, _look(lane, lanes)
        tau.hlines(positions, numbers["tau_low"], numbers["tau_high"], color=look["color"], linewidth=0.9)
        (hollow,) = tau.plot(numbers["tau_same_folds"], positions, **look | _HOLLOW)
        (filled,) = tau.plot(numbers["kendall_tau"], positions, **look)
        (shares,) = share.plot(100 * numbers["share_split"], positions, **look)
        rows = [(f"{row.Index}, {lane}", row) for row in numbers.itertuples()]
        tell(hollow, [f"{name}, same folds: tau {row.tau_same_folds:.3f}" for name, row in rows])
        limits = [interval(row.tau_low, row.tau_high) for _, row in rows]
        news = zip(rows, limits, strict=True)
        tell(filled, [f"{name}, new folds: tau {row.kendall_tau:.3f}{limit}" for (name, row), limit in news])
        tell(shares, [f"{name}: the split's share is {row.share_split:.0%}" for name, row in rows])
    share.axvline(0, color="black", linewidth=0.6, zorder=0.8)
    for axes in (tau, share):
        axes.grid(visible=False, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))


def _look(lane: str, lanes: list[str]) -> dict:
    number = lanes.index(lane)
    colour, marker = ("black", "D") if lane == MEAN else (PALETTE[number % 6], MARKERS[number % len(MARKERS)])
    return {"color": colour, "marker": marker, "linestyle": "none", "markersize": 3.6, "markeredgewidth": 0.9}


def _legend(lanes: list[str]) -> list[Line2D]:
    """Datasets by colour and mark, then what filled and hollow marks are."""
    named = [Line2D([], [], **_look(lane, lanes), label=lane) for lane in lanes]
    grey = _look(lanes[0], lanes) | {"color": "#555555"}
    hollow = Line2D([], [], **grey | _HOLLOW, label="same folds")
    return [*named, Line2D([], [], **grey, label="new folds"), hollow]
