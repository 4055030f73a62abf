"""Figure of scores by number of training samples, measured and extrapolated."""

from __future__ import annotations

import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, new_figure, panels_of, style_of

_LINE = {"markersize": 3.4, "linewidth": 0.9, "markeredgewidth": 0.8}


@FigureSpec(
    "sample_curves",
    section="weak-labels",
    title="Expected scores with more samples",
    reads=["tables/sample_curves.csv", "legend.csv"],
    alt="scores of the models by number of training samples, and extrapolated to more",
    when="weak_labels.sample_curves.datasets",
    finding=findings.gain_of_samples,
)
def plot_sample_curves(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw scores by number of training samples: a row per leading metric, a column per dataset, a line per model.

    Parameters
    ----------
    curves : DataFrame
        Table of :func:`fairfold.recommendation.sample_curves.sample_curves`.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`. Only leading metrics are drawn.

    Returns
    -------
    Figure
        Filled marks are measured. Hollow marks on dashed lines are extrapolated. Bars are 95 % confidence intervals.
    """
    names = Legend(legend)
    curves = curves[curves["metric"].map(names.leads).astype(bool)]
    if curves.empty:
        return empty_figure()
    metrics, datasets, models = (curves[column].unique() for column in ("metric", "dataset", "model"))
    looks = [{**style_of(number), **_LINE} for number in range(len(models))]
    size = (0.6 + 2.5 * len(datasets), 0.9 + 2.1 * len(metrics))
    figure, axes = new_figure(*size, len(metrics), len(datasets), sharex="col")
    for panel, _, dataset, part in panels_of(axes, curves, "metric", "dataset"):
        for number, (model, look) in enumerate(zip(models, looks, strict=True)):
            # Shift the bars of models to avoid overlaps.
            _draw(panel, part[part["model"] == model], look, shift=1.03**number)
        panel.set_title(dataset, loc="left")
        panel.set_xscale("log")
        ticks = sorted(part["n_train"].round().unique())
        panel.set_xticks(ticks[:: -(-len(ticks) // 4)], minor=False)
        panel.xaxis.set_major_formatter("{x:.0f}")
        panel.xaxis.set_minor_formatter("")
    for panel, metric in zip(axes[:, 0], metrics, strict=True):
        panel.set_ylabel(names.text(metric))
    for panel in axes[-1]:
        panel.set_xlabel("training samples")
    handles = [legend_line(model, **look) for model, look in zip(models, looks, strict=True)]
    add_legend(figure, handles, 4, "upper left", columnspacing=1.2)
    return figure


def _draw(axes: Axes, numbers: pd.DataFrame, look: dict, shift: float) -> None:
    is_measured = numbers["kind"] == "measured"
    known, ahead = numbers[is_measured], numbers[~is_measured]
    axes.vlines(numbers["n_train"] * shift, numbers["low"], numbers["high"], color=look["color"], linewidth=0.7)
    texts = texts_of(known, "{model}, {n_train:,.0f} samples: {score:.3f}")
    plot_points(axes, known["n_train"] * shift, known["score"], texts, **look)
    if len(ahead):
        dashed = pd.concat([known.tail(1), ahead])
        axes.plot(dashed["n_train"] * shift, dashed["score"], color=look["color"], linestyle="--", linewidth=0.8)
        axes.plot(ahead["n_train"] * shift, ahead["score"], **{**look, "linestyle": "none", "markerfacecolor": "white"})
