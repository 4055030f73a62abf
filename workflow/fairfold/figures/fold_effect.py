"""Spread and bias of cross-validated scores, by the method that made the folds: an experiment of our own."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import stats

from fairfold.figures import PALETTE, STYLE, interval, tell
from fairfold.figures.legend import Legend

MARKS = {"micro": (PALETTE[0], "o"), "macro": (PALETTE[3], "s")}
QUANTITIES = {"sd": "spread (sd)", "bias": "bias"}


def plot_fold_effect(
    summary: pd.DataFrame,
    legend: pd.DataFrame | None = None,
    *,
    n_halvings: int,
    aggregation: str = "per-fold",
    baseline: str = "random",
) -> Figure:
    """Spread and bias of estimated scores: a column per dataset, rows for spread and bias of each metric.

    Parameters
    ----------
    summary : what :func:`fairfold.splitting.fold_effect.summarise` gives, with a column ``dataset``.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.
    n_halvings : how many halvings the standard errors come from.
    aggregation : which scores to show, ``"per-fold"`` or ``"pooled"``.
    baseline : method whose values stand as dashed lines in each panel.

    Returns
    -------
    Figure
        Bars are 95 % intervals. Those of the bias are thin; the thick part is the interval of the difference from the
        baseline, which is shorter, because both split the same pools.
    """
    summary = summary[summary["aggregation"] == aggregation]
    datasets, metrics, methods = (list(summary[column].unique()) for column in ("dataset", "metric", "method"))
    quantile, names = stats.t.ppf(0.975, n_halvings - 1), Legend(legend)
    with mpl.rc_context(STYLE):
        panel_height = 0.3 + 0.13 * len(methods)
        size = (1.4 + 1.75 * len(datasets), 0.8 + 2 * len(metrics) * panel_height)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(2 * len(metrics), len(datasets), squeeze=False, sharey=True)
        for row, (quantity, metric) in enumerate((q, m) for q in QUANTITIES for m in metrics):
            for column, dataset in enumerate(datasets):
                panel = summary[(summary["metric"] == metric) & (summary["dataset"] == dataset)]
                _draw_panel(axes[row, column], panel, quantity, methods, baseline, quantile)
            axes[row, 0].set_ylabel(f"{names.text(metric)}\n{QUANTITIES[quantity]}")
        axes[0, 0].set_yticks(np.arange(len(methods)), methods)
        axes[0, 0].set_ylim(len(methods) - 0.4, -0.6)
        for column, dataset in enumerate(datasets):
            axes[0, column].set_title(dataset)
        figure.supxlabel("thousandths of a score", fontsize=STYLE["axes.labelsize"])
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False)
    return figure


def _draw_panel(
    axes: Axes, panel: pd.DataFrame, quantity: str, methods: list[str], baseline: str, quantile: float
) -> None:
    for shift, (average, (colour, marker)) in zip((-0.17, 0.17), MARKS.items(), strict=True):
        numbers = panel[panel["average"] == average].set_index("method").reindex(methods)
        rows = 1000 * numbers[[quantity, "sd_low", "sd_high", "bias_se", "bias_difference_se"]]
        positions, values = np.arange(len(methods)) + shift, rows[quantity].to_numpy()
        if quantity == "sd":
            low, high = rows["sd_low"], rows["sd_high"]
            axes.hlines(positions, low, high, color=colour, linewidth=1)
        else:
            thin, thick = quantile * rows["bias_se"], quantile * rows["bias_difference_se"]
            low, high = values - thin, values + thin
            axes.hlines(positions, low, high, color=colour, linewidth=0.6)
            axes.hlines(positions, values - thick, values + thick, color=colour, linewidth=2)
        name = f"{average}-averaged"
        (line,) = axes.plot(values, positions, marker, color=colour, markersize=3.2, markeredgewidth=0, label=name)
        limits = map(interval, low, high, [".1f"] * len(methods))
        said = zip(methods, values, limits, strict=True)
        tell(line, [f"{method}, {name}: {quantity} {value:.1f}{limit} thousandths" for method, value, limit in said])
        axes.axvline(rows.loc[baseline, quantity], color=colour, linewidth=0.6, linestyle="--", alpha=0.7, zorder=0.9)
    if quantity == "sd":
        axes.set_xlim(left=0)
    else:
        axes.axvline(0, color="black", linewidth=0.6, zorder=0.8)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(visible=False, axis="y")
