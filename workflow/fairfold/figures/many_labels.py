"""Scores of labels by their number of training positives."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfold.figures import STYLE, nothing_to_draw, tell
from fairfold.figures.legend import Legend

_SPREAD = 0.3  # of the marks of a band, in bands
_ENTRY = 1.5  # inches of a model in the legend


def plot_scores_by_frequency(
    scores: pd.DataFrame,
    legend: pd.DataFrame | None = None,
    *,
    metrics: Sequence[str] = ("average_precision", "recall"),
) -> Figure:
    """A row of panels for each dataset and metric, a panel for each missing rate, a line for each model.

    Parameters
    ----------
    scores : table ``by_frequency`` of :func:`fairfold.evaluation.many_labels.summarise_many_labels`.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.
    metrics : those that are drawn, of the table's.

    Returns
    -------
    Figure
        From left to right the bands of labels, below which stands how many labels they have; bars are standard
        deviations over folds.
    """
    shown = scores[scores["metric"].isin(metrics)].dropna(subset="mean")
    if shown.empty:
        return nothing_to_draw()
    names = Legend(legend, list(shown["model"].unique()))
    models = [model for model in names.models if model in set(shown["model"])]
    rates, rows = sorted(shown["missing_rate"].unique()), _rows(shown, metrics)
    bands = list(shown.sort_values("least")["band"].unique())
    with mpl.rc_context(STYLE):
        width = 1 + len(rates) * max(2.4, 0.6 * len(bands))
        n_beside = max(int(width / _ENTRY), 1)
        height = 0.6 + 1.9 * len(rows) + 0.2 * -(-len(models) // n_beside)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(rows), len(rates), squeeze=False, sharey="row")
        for panels, (dataset, metric) in zip(axes, rows, strict=True):
            for panel, rate in zip(panels, rates, strict=True):
                of_panel = (shown["dataset"] == dataset) & (shown["metric"] == metric) & (shown["missing_rate"] == rate)
                _draw(panel, shown[of_panel], bands, models, names)
                panel.set_title(f"{dataset}, {rate} % hidden", loc="left")
            panels[0].set_ylabel(_name(shown[shown["metric"] == metric], names))
            panels[0].set_ylim(bottom=0)
        for panel in axes[-1]:
            panel.set_xlabel("training positives of a label\n(number of labels)")
        handles = [Line2D([], [], **_look(model, names), label=model) for model in models]
        figure.legend(handles=handles, loc="outside upper left", ncols=n_beside, frameon=False, columnspacing=1.2)
    return figure


def _rows(shown: pd.DataFrame, metrics: Sequence[str]) -> list[tuple[str, str]]:
    there = set(zip(shown["dataset"], shown["metric"], strict=True))
    return [
        (dataset, metric) for dataset in shown["dataset"].unique() for metric in metrics if (dataset, metric) in there
    ]


def _draw(axes: Axes, panel: pd.DataFrame, bands: list[str], models: list[str], names: Legend) -> None:
    shifts = np.linspace(-_SPREAD / 2, _SPREAD / 2, len(models)) if len(models) > 1 else [0.0]
    for model, shift in zip(models, shifts, strict=True):
        numbers = panel[panel["model"] == model].set_index("band").reindex(bands)
        place, mean, sd = np.arange(len(bands)) + shift, numbers["mean"], numbers["sd"].fillna(0)
        look = _look(model, names)
        axes.vlines(place, mean - sd, mean + sd, color=look["color"], linewidth=0.7)
        is_there = mean.notna().to_numpy()
        (line,) = axes.plot(place[is_there], mean[is_there], **look)
        rows = numbers.loc[is_there, ["mean", "sd"]].itertuples(name=None)
        tell(line, [f"{model}, {band} positives: {value:.3f}{_spread(sd)}" for band, value, sd in rows])
    n_labels = panel.groupby("band")["n_labels"].first().reindex(bands)
    counts = ["–" if np.isnan(n) else f"{n:.0f}" if n >= 1 else f"{n:.1f}" for n in n_labels]
    axes.set_xticks(np.arange(len(bands)), [f"{band}\n({n})" for band, n in zip(bands, counts, strict=True)])
    axes.set_xlim(-0.5, len(bands) - 0.5)
    axes.grid(visible=False, axis="x")


def _spread(sd: float) -> str:
    return "" if np.isnan(sd) else f" ± {sd:.3f}"


def _name(of_metric: pd.DataFrame, names: Legend) -> str:
    """What the axis calls a metric, which may be one at k."""
    name, k = names.text(of_metric["metric"].iloc[0]), of_metric["k"].iloc[0]
    return f"{name} at {k}" if k else name


def _look(model: str, names: Legend) -> dict:
    return {
        **{"color": names.colour(model), "marker": names.marker(model), "markersize": 3.4, "linewidth": 0.9},
        **{"linestyle": "--" if names.is_variation(model) else "-", "markeredgewidth": 0.8},
    }
