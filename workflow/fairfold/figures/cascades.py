"""Figures of scores, imputation and label frequencies along a cascade.

The paper (Ilidio et al. 2024) has no such figures: it shows final scores only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, new_figure, panels_of, style_of

_SMALL_CHANGE = 0.05  # smaller changes of a score do not fill a panel

_Figure = partial(FigureSpec, section="weak-labels")
_Diagnosis = partial(_Figure, labels_of="weak_labels.datasets", when="weak_labels.missing_rates")


@_Figure(
    "learning_curves",
    title="Scores over cascade levels",
    reads=["tables/learning_curves.csv", "legend.csv"],
    alt="change of each model's scores from level 0 of the cascade, against the level",
    optional=True,
    finding=findings.largest_gain,
)
def plot_learning_curves(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw the change of each score along the cascade: a row per metric, a column per missing rate, a line per model.

    Parameters
    ----------
    curves : DataFrame
        Columns ``dataset, missing_rate, model, level, metric, mean``, as returned by
        ``fairfold.evaluation.score_tables``. Missing rates are in percent.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        Each line is the score at a level minus the score at level 0 (no cascade), averaged over datasets. Losses are
        negated, so higher is better in every panel. Each axis spans at least 0.1. Models without a cascade have no
        line. If a dataset has a shorter cascade, its last value is carried forward.
    """
    if not (curves["level"] > 0).any():
        return empty_figure("no model has a cascade")
    keys = ["dataset", "missing_rate", "model", "metric"]
    curves = curves.join(curves[curves["level"] == 0].set_index(keys)["mean"].rename("start"), on=keys)
    names = Legend(legend, curves["model"].unique())
    sign = np.where(curves["metric"].map(names.is_loss), -1, 1)
    curves["value"] = sign * (curves["mean"] - curves["start"])
    last_level = curves.groupby("model", sort=False)["level"].max()
    metrics = curves["metric"].unique()
    labels = [f"{'drop' if names.is_loss(metric) else 'gain'} of\n{names.label(metric)}" for metric in metrics]
    figure = _plot_levels(curves, labels, names, last_level.index[last_level > 0])
    for panel in figure.axes:
        panel.axhline(0, color="black", linewidth=0.6, zorder=0.9)
        low, high = panel.get_ylim()
        panel.set_ylim(min(low, -_SMALL_CHANGE), max(high, _SMALL_CHANGE))
    return figure


@_Diagnosis(
    "imputation",
    title="Imputed labels",
    reads=["tables/imputation.csv", "legend.csv"],
    alt="precision and recall of the imputed labels of each model against the cascade level",
)
def plot_imputation(imputation: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw precision and recall of imputed labels along the cascade: a column per missing rate, a line per model.

    Parameters
    ----------
    imputation : DataFrame
        Columns ``dataset, missing_rate, model, level, precision, recall``, as returned by
        :func:`~fairfold.forests.diagnostics.imputation_tables`. Missing rates are in percent.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        Means over datasets. If a dataset has a shorter cascade, its last value is carried forward. A missing rate of 0
        has no column, because precision is 0 and recall is undefined without hidden labels.
    """
    imputation = imputation[imputation["missing_rate"] > 0]
    if imputation.empty:
        return empty_figure()
    models = imputation["model"].unique()
    table = imputation.melt(["dataset", "missing_rate", "model", "level"], ["precision", "recall"], "metric")
    labels = ["precision of\nimputed labels", "recall of\nimputed labels"]
    figure = _plot_levels(table, labels, Legend(legend, models), models)
    for panel in figure.axes:
        panel.set_ylim(-0.03, 1.03)
    return figure


@_Diagnosis(
    "label_frequencies",
    title="Label frequencies",
    reads=["tables/label_frequencies.csv", "tables/label_frequency_errors.csv"],
    alt="estimated label frequency of each model against the share of positives kept",
)
def plot_label_frequencies(frequencies: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """Draw the estimated label frequency against the true one, with a panel per model.

    Parameters
    ----------
    frequencies : DataFrame
        Columns ``dataset, missing_rate, model, fold, label, estimated, kept``, as returned by
        :func:`~fairfold.forests.diagnostics.imputation_tables`. Missing rates are in percent.
    summary : DataFrame
        Columns ``missing_rate, model, bias, mean_absolute_error``: the table ``errors`` of the same function.

    Returns
    -------
    Figure
        Each dot is the mean over folds for one label of a dataset. Estimates on the gray line are exact. The text above
        each missing rate contains bias and mean absolute error over folds, labels and datasets.
    """
    if frequencies.empty:
        return empty_figure()
    rates, models = (list(frequencies[column].unique()) for column in ("missing_rate", "model"))
    dots = (
        frequencies.groupby(["dataset", "missing_rate", "model", "label"])[["kept", "estimated"]].mean().reset_index()
    )
    margin = max(0.05, 0.2 * (dots["kept"].max() - dots["kept"].min()))
    n_columns = min(5, len(models))
    n_rows = -(-len(models) // n_columns)
    figure, axes = new_figure(1.1 + 1.75 * n_columns, 0.8 + 2.1 * n_rows, n_rows, n_columns, sharex=True, sharey=True)
    limits = {"xlim": (dots["kept"].min() - margin, dots["kept"].max() + margin), "ylim": (-0.03, 1.3)}
    axes[0, 0].set(**limits, yticks=[0, 0.25, 0.5, 0.75, 1])
    for panel in axes.flat[len(models) :]:
        panel.remove()
    for position, (panel, model) in enumerate(zip(axes.flat, models, strict=False)):
        panel.set_title(model)
        panel.plot([0, 1], [0, 1], color="0.5", linewidth=0.8, gid="identity", zorder=0.9)
        panel.tick_params(labelbottom=position + n_columns >= len(models))
        for number, rate in enumerate(rates):
            here = f"model == {model!r} and missing_rate == {rate}"
            look = {**style_of(number), "label": f"{rate} % hidden"}
            _draw_frequencies(panel, dots.query(here), summary.query(here), look)
    for row in axes:
        note = {"transform": row[0].get_yaxis_transform(), "ha": "right", "va": "center", "fontsize": 6.5}
        row[0].text(-0.04, 1.18, "bias\nMAE", **note)
    figure.supxlabel("share of positives kept")
    figure.supylabel("estimated label frequency")
    add_legend(figure, axes[0, 0].get_legend_handles_labels()[0], len(rates))
    return figure


def _draw_frequencies(axes: Axes, dots: pd.DataFrame, errors: pd.DataFrame, look: dict) -> None:
    style = {"linestyle": "", "markersize": 3, "markeredgewidth": 0, "alpha": 0.5}
    text = "label {label} of {dataset}: estimated {estimated:.2f}, kept {kept:.2f}"
    plot_points(axes, dots["kept"], dots["estimated"], texts_of(dots, text), **style, **look)
    for row in errors.itertuples():
        text = f"{row.bias:+.2f}\n{row.mean_absolute_error:.2f}".replace("-", "−")
        axes.text(dots["kept"].mean(), 1.18, text, ha="center", va="center", fontsize=6.5)


def _plot_levels(table: pd.DataFrame, labels: Sequence[str], names: Legend, models: Sequence[str]) -> Figure:
    """Draw means over datasets against the level: a row per metric, a column per missing rate, a line per model."""
    from matplotlib.ticker import MaxNLocator

    rates = table["missing_rate"].unique()
    size = (max(4.3, 1.2 + 1.55 * len(rates)), 0.7 + 1.25 * len(labels))
    figure, axes = new_figure(*size, len(labels), len(rates), sharex=True, sharey="row")
    for panel, _, _, part in panels_of(axes, table, "metric", "missing_rate"):
        for model in models:
            _draw_mean(panel, part[part["model"] == model], {**names.line(model), "label": model})
        panel.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    for panel, label in zip(axes[:, 0], labels, strict=True):
        panel.set_ylabel(label)
    for panel, rate in zip(axes[0], rates, strict=True):
        panel.set_title(f"{rate} % hidden")
    figure.supxlabel("cascade level")
    add_legend(figure, axes[0, 0].get_legend_handles_labels()[0])
    return figure


def _draw_mean(axes: Axes, part: pd.DataFrame, look: dict) -> None:
    # Infinity marks undefined values, because only missing levels are carried forward.
    wide = part.assign(value=part["value"].fillna(np.inf)).pivot(index="dataset", columns="level", values="value")
    means = wide.ffill(axis=1).replace(np.inf, np.nan).mean()
    style = {"markeredgecolor": "black", "markeredgewidth": 0.3, "linewidth": 1, "markersize": 3.2}
    texts = [f"{look['label']}, level {level}: {mean:.3f}" for level, mean in means.items()]
    plot_points(axes, means.index, means, texts, **look, **style)
