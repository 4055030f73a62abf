"""Figure of the regret of strategies for choosing a model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_intervals
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, name_rows, new_figure, side_by_side, style_of

_ROW = 0.17  # height of a row in inches


@FigureSpec(
    "regret",
    section="ranks",
    title="Regret of following the recommendation",
    reads=["tables/regret.csv", "legend.csv"],
    alt="regret of each strategy for choosing a model, with 95 % confidence intervals over datasets",
    several="weak_labels.datasets",
    finding=findings.smallest_regret,
)
def plot_regret(regret: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw the regret of strategies for choosing a model: a panel per leading metric, a row per strategy.

    Parameters
    ----------
    regret : DataFrame
        Columns ``strategy, missing_rate, metric, regret, low, high``, as returned by
        ``fairfold.recommendation.regret.regret_tables``.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`. Only leading metrics are drawn.

    Returns
    -------
    Figure
        One mark per missing rate. Strategies are sorted by their mean regret over metrics and rates, with each regret
        divided by the largest one of the metric.
    """
    names = Legend(legend)
    leading = [metric for metric in regret["metric"].unique() if names.leads(metric)] if len(regret) else []
    shown = regret[regret["metric"].isin(leading)]
    if shown.empty:
        return empty_figure()
    strategies, rates = _by_regret(shown), sorted(shown["missing_rate"].unique())
    size = (0.9 + 2.6 * len(leading), 0.9 + _ROW * len(strategies) * len(rates) ** 0.5)
    figure, panels = new_figure(*size, 1, len(leading), sharey=True)
    for axes, metric in zip(panels[0], leading, strict=True):
        _draw(axes, shown[shown["metric"] == metric], strategies, rates)
        axes.set_xlabel(f"regret, {names.text(metric)}")
    name_rows(axes, strategies, 0.6)
    look = {"linewidth": 1, "markersize": 4}
    handles = [legend_line(f"{rate} % hidden", **style_of(n), **look) for n, rate in enumerate(rates)]
    add_legend(figure, handles, min(4, len(rates)))
    return figure


def _by_regret(regret: pd.DataFrame) -> list[str]:
    share = regret["regret"] / regret.groupby("metric")["regret"].transform("max")
    return list(share.groupby(regret["strategy"], sort=False).mean().sort_values(kind="stable").index)


def _draw(axes: Axes, regret: pd.DataFrame, strategies: list[str], rates: list[int]) -> None:
    for n, (rate, shift) in enumerate(zip(rates, side_by_side(len(rates), 0.54), strict=True)):
        part = regret[regret["missing_rate"] == rate].set_index("strategy").reindex(strategies)
        positions = np.arange(len(strategies)) + shift
        names = [f"{strategy}, {rate} % hidden" for strategy in strategies]
        look = {"linestyle": "", "markersize": 3.5, "clip_on": False, **style_of(n)}
        plot_intervals(axes, positions, part[["regret", "low", "high"]], names, **look)
    axes.set_xlim(left=0)
    axes.locator_params("x", nbins=4, steps=None)
    axes.grid(visible=False, axis="y")
