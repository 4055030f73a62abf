"""Which share of test data finds an effect most often, by simulation from the data at hand."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfold.figures import STYLE, interval, tell, tell_at
from fairfold.figures.cross_testing import MARKS

NUMBERS = {"power": ("low", "high"), "level": ("level_low", "level_high")}
_LABELS = {"power": "effect found\n(share of simulations)", "level": "found after\npermuting labels"}
# Points of percent: marks of two procedures at one share stand side by side; room at both ends.
_ASIDE, _MARGIN = 0.6, 4


def plot_test_shares(table: pd.DataFrame, *, alpha: float = 0.05) -> Figure:
    """Power above and level below, a column of panels per dataset, a curve per procedure with a test part.

    Parameters
    ----------
    table : what :func:`fairfold.cross_testing.shares.summarise_test_shares` gives.
    alpha : level that tests should keep, a dashed line.

    Returns
    -------
    Figure
        Bars, and the band of nested cross-validation, are 95 % intervals. Filled marks cannot be told from the best
        share of their procedure.
    """
    datasets = list(table["dataset"].unique())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.6 + 2.6 * max(len(datasets), 1.4), 3.9), layout="constrained")
        axes = figure.subplots(2, len(datasets), squeeze=False, sharex="col", sharey="row", height_ratios=(2, 1))
        for column, dataset in enumerate(datasets):
            panel = table[table["dataset"] == dataset]
            for row, number in enumerate(NUMBERS):
                _draw_panel(axes[row, column], panel, number, alpha)
            axes[0, column].set_title(f"{dataset}, {panel['n_samples'].iloc[0]} samples", loc="left")
            axes[1, column].set_xlabel("share of the test part (%)")
        for panel, number in zip(axes[:, 0], NUMBERS, strict=True):
            panel.set_ylabel(_LABELS[number])
        axes[0, 0].set_ylim(-0.03, 1.03)
        top = max(axes[1, 0].get_ylim()[1], 2 * alpha)
        axes[1, 0].set_ylim(-0.06 * top, top)  # so that marks at 0 are whole
        figure.legend(handles=_handles(), loc="outside upper center", ncols=3, frameon=False, columnspacing=1.2)
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, number: str, alpha: float) -> None:
    low, high = NUMBERS[number]
    shares = 100 * np.unique(panel["test_fraction"].dropna())
    for side, (procedure, (name, colour, marker)) in zip((0, -1, 1), MARKS.items(), strict=True):
        curve = panel[(panel["procedure"] == procedure) & panel[number].notna()]
        if procedure == "nested_cv":
            for _, whole in curve.iterrows():
                axes.axhspan(whole[low], whole[high], color=colour, alpha=0.15, linewidth=0)
                axes.axhline(whole[number], color=colour, linewidth=1)
                said = f"{name}: {whole[number]:.0%}{interval(whole[low], whole[high], '.0%')}"
                tell_at(axes, shares, [whole[number]] * len(shares), [said] * len(shares))
            continue
        x = 100 * curve["test_fraction"] + side * _ASIDE
        axes.vlines(x, curve[low], curve[high], color=colour, linewidth=1)
        (line,) = axes.plot(x, curve[number], color=colour, linewidth=1)
        rows = curve[["test_fraction", number, low, high]].itertuples(index=False, name=None)
        tell(line, [f"{name}, {at:.0%} tested: {share:.0%}{interval(*ends, '.0%')}" for at, share, *ends in rows])
        for is_top, fill in ((True, colour), (False, "white")):
            marks = curve["is_top"].to_numpy(dtype=bool) == is_top if number == "power" else np.full(len(x), is_top)
            look = {"linestyle": "none", "marker": marker, "markersize": 4, "markeredgewidth": 0.9}
            axes.plot(x[marks], curve[number][marks], color=colour, markerfacecolor=fill, **look)
    axes.axhline(alpha, color="black", linewidth=0.6, linestyle="--", zorder=0.9)
    axes.set_xticks(shares)
    axes.set_xlim(shares[0] - _MARGIN, shares[-1] + _MARGIN)
    axes.grid(visible=False, axis="x")


def _handles() -> list[Line2D]:
    line = {"linewidth": 1, "markersize": 4, "markeredgewidth": 0.9}
    curves = [
        Line2D([], [], color=colour, marker="none" if procedure == "nested_cv" else marker, label=name, **line)
        for procedure, (name, colour, marker) in MARKS.items()
    ]
    worse = {"color": "#555555", "marker": "o", "linestyle": "none", "markerfacecolor": "white", "markersize": 4}
    level = {"color": "black", "linewidth": 0.6, "linestyle": "--"}
    return [
        *curves,
        Line2D([], [], label="worse than the best share", **worse),
        Line2D([], [], label="level of the tests", **level),
    ]
