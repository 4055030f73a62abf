"""Estimates that suppose labels missing at random, where they are and where they are not."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from fairfold.figures import STYLE, interval, nothing_to_draw, tell
from fairfold.figures.legend import Legend

RATE = "missing rate (%)"


def plot_mechanisms(mechanisms: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """A row of panels for each dataset: one for each metric that leads, and one of missing rates.

    Parameters
    ----------
    mechanisms : columns ``dataset, mechanism, wrong_positives, model, metric, complete, corrected, low, high,
        hidden_share, estimated_rate, rate_low, rate_high``, as
        :func:`fairfold.recommendation.mechanisms.scores_under_mechanism` gives them for each unit.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it; metrics that do not lead are left out.

    Returns
    -------
    Figure
        A line for each mechanism; filled marks with bars are estimates, upright lines what is true.
    """
    table = mechanisms[mechanisms["complete"].notna()]
    if table.empty:
        return nothing_to_draw()
    models = list(table["model"].unique())
    names = Legend(legend, models)
    metrics = [metric for metric in table["metric"].unique() if names.leads(metric)]
    table = table.assign(way=_ways(table))
    ways, datasets = list(table["way"].unique()), list(table["dataset"].unique())
    with mpl.rc_context(STYLE):
        panel_height = 0.45 + len(ways) * (0.12 + 0.07 * len(models))
        size = (1.5 + 2.3 * (len(metrics) + 1), 0.9 + panel_height * len(datasets))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(datasets), len(metrics) + 1, squeeze=False, sharey=True)
        for row, dataset in enumerate(datasets):
            of_dataset = table[table["dataset"] == dataset]
            for column, metric in enumerate(metrics):
                axes[row, column].set_title(dataset, loc="left")
                axes[row, column].set_xlabel(names.label(metric))
                _draw_scores(axes[row, column], of_dataset[of_dataset["metric"] == metric], ways, models, names)
            axes[row, -1].set_title(dataset, loc="left")
            axes[row, -1].set_xlabel(RATE)
            _draw_rates(axes[row, -1], of_dataset.drop_duplicates("way").set_index("way").reindex(ways))
        axes[0, 0].set_yticks(np.arange(len(ways)), ways)
        axes[0, 0].set_ylim(len(ways) - 0.5, -0.5)
        figure.legend(handles=_handles(models, names), loc="outside upper left", ncols=4, frameon=False)
    return figure


def _ways(table: pd.DataFrame) -> pd.Series:
    share = table["wrong_positives"].astype(int)
    wrong = ", " + share.astype(str) + " % wrong"
    return table["mechanism"] + wrong.where(share > 0, "")


def _draw_scores(axes: Axes, panel: pd.DataFrame, ways: list[str], models: list[str], names: Legend) -> None:
    shifts = np.linspace(-0.3, 0.3, len(models)) if len(models) > 1 else [0]
    for model, shift in zip(models, shifts, strict=True):
        of_model = panel[panel["model"] == model].set_index("way").reindex(ways)
        _draw(axes, np.arange(len(ways)) + shift, of_model, ("low", "corrected", "high", "complete"), names, model)


def _draw_rates(axes: Axes, rates: pd.DataFrame) -> None:
    _draw(axes, np.arange(len(rates)), rates, ("rate_low", "estimated_rate", "rate_high", "hidden_share"))
    axes.set_xlim(-3, 103)


def _draw(
    axes: Axes,
    positions: np.ndarray,
    table: pd.DataFrame,
    columns: tuple[str, str, str, str],
    names: Legend | None = None,
    model: str = "",
) -> None:
    low, middle, high, truth = (table[column] for column in columns)
    look = _look(names, model)
    axes.hlines(positions, low, high, color=look["color"], linewidth=0.9)
    (estimates,) = axes.plot(middle, positions, **look)
    (lines,) = axes.plot(truth, positions, **{**look, "marker": "|", "markersize": 7, "markeredgewidth": 1.4})
    what, digits = (model, ".3f") if model else ("missing rate", ".1f")
    rows = [(f"{way}, {what}", *numbers) for way, *numbers in table[list(columns)].itertuples(name=None)]
    said = [
        f"{name}: estimated {value:{digits}}{interval(least, most, digits)}" for name, least, value, most, _ in rows
    ]
    tell(estimates, said)
    tell(lines, [f"{name}: {value:{digits}} by all labels" for name, *_, value in rows])
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def _look(names: Legend | None, model: str) -> dict:
    look = {"linestyle": "none", "markersize": 3.6, "markeredgewidth": 0.9}
    if names is None:
        return {**look, "color": "black", "marker": "D"}
    hollow = {"markerfacecolor": "white"} if names.is_variation(model) else {}
    return {**look, "color": names.colour(model), "marker": names.marker(model), **hollow}


def _handles(models: list[str], names: Legend) -> list[Line2D]:
    of_models = [Line2D([], [], **_look(names, model), label=model) for model in models]
    truth = {**_look(None, ""), "color": "#555555", "marker": "|", "markersize": 7, "markeredgewidth": 1.4}
    return [*of_models, Line2D([], [], **truth, label="by all labels")]
