"""Figure of label scores by number of training positives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_points
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, new_figure, side_by_side

METRICS = ("average_precision", "recall")
_LINE = {"markersize": 3.4, "linewidth": 0.9, "markeredgewidth": 0.8}
_SPREAD = 0.3  # width of the marks of a band, as a share of the band


@FigureSpec(
    "scores_by_frequency",
    section="weak-labels",
    title="Scores by number of positives",
    reads=["tables/scores_by_frequency_summary.csv", "legend.csv"],
    alt="scores of labels by the number of their training positives, a line for each model",
)
def plot_scores_by_frequency(scores: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw scores by number of training positives, with a row per dataset and metric and a column per missing rate.

    Parameters
    ----------
    scores : DataFrame
        Table ``by_frequency`` of :func:`fairfold.evaluation.score_tables.summarize_many_labels`. Only the metrics in
        ``METRICS`` are drawn.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        One line per model. The ticks are bands of labels with their number of labels. Bars are standard deviations over
        folds.
    """
    shown = scores[scores["metric"].isin(METRICS)].dropna(subset="mean")
    if shown.empty:
        return empty_figure()
    names = Legend(legend, list(shown["model"].unique()))
    models = [model for model in names.models if model in set(shown["model"])]
    looks = {model: {**names.line(model), **_LINE} for model in models}
    rates, there = sorted(shown["missing_rate"].unique()), set(zip(shown["dataset"], shown["metric"], strict=True))
    rows = [row for row in product(shown["dataset"].unique(), METRICS) if row in there]
    bands = list(shown.sort_values("least")["band"].unique())
    size = (1 + len(rates) * max(2.4, 0.6 * len(bands)), 0.6 + 1.9 * len(rows))
    figure, axes = new_figure(*size, len(rows), len(rates), sharey="row")
    for panels, (dataset, metric) in zip(axes, rows, strict=True):
        of_row = shown[(shown["dataset"] == dataset) & (shown["metric"] == metric)]
        for panel, rate in zip(panels, rates, strict=True):
            _draw(panel, of_row[of_row["missing_rate"] == rate], bands, looks)
            panel.set_title(f"{dataset}, {rate} % hidden", loc="left")
        k = shown.loc[shown["metric"] == metric, "k"].iloc[0]
        panels[0].set(ylabel=f"{names.text(metric)} at {k}" if k else names.text(metric), ylim=(0, None))
    for panel in axes[-1]:
        panel.set_xlabel("training positives of a label\n(number of labels)")
    add_legend(figure, [legend_line(model, **look) for model, look in looks.items()], place="upper left")
    return figure


def _draw(axes: Axes, panel: pd.DataFrame, bands: list[str], looks: dict[str, dict]) -> None:
    for (model, look), shift in zip(looks.items(), side_by_side(len(looks), _SPREAD), strict=True):
        numbers = panel[panel["model"] == model].set_index("band").reindex(bands)
        place, mean, half = np.arange(len(bands)) + shift, numbers["mean"], numbers["sd"].fillna(0)
        axes.vlines(place, mean - half, mean + half, color=look["color"], linewidth=0.7)
        is_there = mean.notna().to_numpy()
        rows = zip(numbers.index[is_there], mean[is_there], numbers.loc[is_there, "sd"], strict=True)
        texts = [
            f"{model}, {band} positives: {value:.3f}" + (f" ± {sd:.3f}" if sd >= 0 else "") for band, value, sd in rows
        ]
        plot_points(axes, place[is_there], mean[is_there], texts, **look)
    n_labels = panel.groupby("band")["n_labels"].first().reindex(bands)
    counts = ["–" if np.isnan(n) else f"{n:.0f}" if n >= 1 else f"{n:.1f}" for n in n_labels]
    axes.set_xticks(np.arange(len(bands)), [f"{band}\n({n})" for band, n in zip(bands, counts, strict=True)])
    axes.set_xlim(-0.5, len(bands) - 0.5)
    axes.grid(visible=False, axis="x")
