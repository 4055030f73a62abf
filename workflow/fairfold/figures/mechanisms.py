"""Figure of estimates for labels that are missing at random, and for labels that are not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_intervals, plot_points
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, name_rows, new_figure, side_by_side

RATE = "missing rate (%)"
_RATES = ["estimated_rate", "rate_low", "rate_high", "hidden_share"]
_MARK: dict = {"linestyle": "none", "markersize": 3.6, "markeredgewidth": 0.9}
_TRUTH: dict = {"marker": "|", "markersize": 7, "markeredgewidth": 1.4}


@FigureSpec(
    "mechanisms",
    section="weak-labels",
    title="Labels that are not missing at random",
    reads=["tables/mechanisms.csv", "legend.csv"],
    alt="estimated and true scores of each model and missing rates, by mechanism of missing labels",
    when="weak_labels.mechanisms.datasets",
)
def plot_mechanisms(mechanisms: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw estimated and true scores and missing rates by mechanism, with a row of panels per dataset.

    Parameters
    ----------
    mechanisms : DataFrame
        Columns ``dataset, mechanism, wrong_positives, model, metric, complete, corrected, low, high, hidden_share,
        estimated_rate, rate_low, rate_high``, as returned by
        :func:`fairfold.recommendation.mechanisms.scores_under_mechanism` for each unit.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`. Only leading metrics are drawn.

    Returns
    -------
    Figure
        One panel per leading metric and one for missing rates, with a row of marks per mechanism. Filled marks with
        bars are estimates, and vertical lines are true values.
    """
    table = mechanisms[mechanisms["complete"].notna()]
    if table.empty:
        return empty_figure()
    models = list(table["model"].unique())
    names = Legend(legend, models)
    looks = {model: _look(names, model) for model in models}
    metrics = [metric for metric in table["metric"].unique() if names.leads(metric)]
    wrong = table["wrong_positives"].astype(int)
    table = table.assign(way=table["mechanism"] + (", " + wrong.astype(str) + " % wrong").where(wrong > 0, ""))
    ways, datasets = list(table["way"].unique()), list(table["dataset"].unique())
    panel_height = 0.45 + len(ways) * (0.12 + 0.07 * len(models))
    size = (1.5 + 2.3 * (len(metrics) + 1), 0.9 + panel_height * len(datasets))
    figure, axes = new_figure(*size, len(datasets), len(metrics) + 1, sharey=True)
    for panels, dataset in zip(axes, datasets, strict=True):
        of_dataset = table[table["dataset"] == dataset]
        for panel, metric in zip(panels, metrics, strict=False):
            panel.set_xlabel(names.label(metric))
            _draw_scores(panel, of_dataset[of_dataset["metric"] == metric], ways, looks)
        panels[-1].set_xlabel(RATE)
        panels[-1].set_xlim(-3, 103)
        rates = of_dataset.drop_duplicates("way").set_index("way").reindex(ways)[_RATES]
        look = {**_MARK, "color": "black", "marker": "D"}
        _draw(panels[-1], np.arange(len(ways)), rates, look, "missing rate", ".1f")
        for panel in panels:
            panel.set_title(dataset, loc="left")
    name_rows(axes[0, 0], ways)
    handles = [legend_line(model, **look) for model, look in looks.items()]
    handles.append(legend_line("from complete labels", **{**_MARK, **_TRUTH, "color": "#555555"}))
    add_legend(figure, handles, 4, "upper left")
    return figure


def _look(names: Legend, model: str) -> dict:
    hollow = {"markerfacecolor": "white"} if names.is_variation(model) else {}
    return {**_MARK, "color": names.color(model), "marker": names.marker(model), **hollow}


def _draw_scores(axes: Axes, panel: pd.DataFrame, ways: list[str], looks: dict[str, dict]) -> None:
    for (model, look), shift in zip(looks.items(), side_by_side(len(looks), 0.6), strict=True):
        of_model = panel[panel["model"] == model].set_index("way").reindex(ways)
        columns = of_model[["corrected", "low", "high", "complete"]]
        _draw(axes, np.arange(len(ways)) + shift, columns, look, model, ".3f")


def _draw(axes: Axes, positions: np.ndarray, table: pd.DataFrame, look: dict, what: str, digits: str) -> None:
    """Draw the columns of a table: estimate, lower limit, upper limit and true value."""
    plot_intervals(axes, positions, table.iloc[:, :3], table.index + f", {what}, estimated", digits, **look)
    texts = [f"{way}, {what}: {value:{digits}} from complete labels" for way, value in table.iloc[:, 3].items()]
    plot_points(axes, table.iloc[:, 3], positions, texts, **{**look, **_TRUTH})
    axes.grid(visible=False, axis="y")
    axes.locator_params("x", nbins=5)
