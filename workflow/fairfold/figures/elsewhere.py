"""Figure of scores on samples that are unlike the training samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import interval, plot_points
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, new_figure, panels_of, side_by_side, style_of

_LINE = {"markersize": 4, "linewidth": 0.9}
_GUESSES = {"color": "#777777", "marker": "_", "linestyle": ":"}


@FigureSpec(
    "elsewhere",
    section="elsewhere",
    title="Scores on samples unlike the training samples",
    reads=["tables/elsewhere.csv", "legend.csv"],
    alt="scores of the best models on the folds of the study and on folds of clusters, with intervals",
    open=True,
    optional=True,
    finding=findings.loss_elsewhere,
)
def plot_elsewhere(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw a panel per dataset and a line per model, from the folds of the study to those of large clusters.

    Parameters
    ----------
    scores : DataFrame
        Table of :func:`fairfold.recommendation.elsewhere.score_elsewhere`.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        Bars are 95 % confidence intervals. Ticks contain the median distance to the nearest training sample, relative
        to the folds of the study.
    """
    scores = scores[scores["score"].notna().groupby([scores["dataset"], scores["step"]]).transform("any")]
    scores = scores[scores["step"].groupby(scores["dataset"]).transform("max") > 0]
    if scores.empty:
        return empty_figure("no folds of clusters were made")
    names, metrics, datasets = Legend(legend), scores["metric"].unique(), scores["dataset"].unique()
    size = (0.6 + 0.95 * scores["step"].nunique() * len(datasets), 1.1 + 2.4 * len(metrics))
    figure, axes = new_figure(*size, len(metrics), len(datasets))
    models = [model for model in scores["model"].unique() if model != "guessing"]
    looks = {model: {**style_of(number), **_LINE} for number, model in enumerate(models)}
    looks["guessing"] = {**_GUESSES, **_LINE}
    for panel, metric, dataset, part in panels_of(axes, scores, "metric", "dataset"):
        if part.empty:
            panel.set_visible(False)
            continue
        shifts = side_by_side(len(looks), 0.2)
        for shift, (model, look) in zip(shifts, looks.items(), strict=True):
            _draw(panel, part[part["model"] == model], look, shift)
        steps = part.drop_duplicates("step")
        panel.set_xticks(steps["step"], [_tick(row) for row in steps.itertuples()])
        panel.set_title(dataset, loc="left")
        panel.set_ylabel(names.text(metric))
    add_legend(figure, [legend_line(model, **look) for model, look in looks.items()], 4, "upper left")
    return figure


def _draw(axes: Axes, rows: pd.DataFrame, look: dict, shift: float) -> None:
    places = rows["step"] + shift
    axes.vlines(places, rows["low"], rows["high"], color=look["color"], linewidth=0.7)
    texts = [f"{row.model}: {row.score:.3f}{interval(row.low, row.high)}" for row in rows.itertuples()]
    plot_points(axes, places, rows["score"], texts, **look)


def _tick(row: Any) -> str:
    folds = f"clusters\nup to {100 * row.size:.2g} %" if row.step else "folds of\nthe study"
    if isinstance(row.new_table, str):
        folds = "like the\nnew table"
    return f"{folds}\ndistance × {row.distance:.1f}" if np.isfinite(row.distance) else folds
