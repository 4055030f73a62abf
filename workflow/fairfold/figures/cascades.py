"""What happens along a cascade: scores and imputation level by level, and the label frequencies behind the imputation.

The paper (Ilidio et al. 2024) has none of these figures: it hid labels, too, but shows final scores only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fairfold.figures import PALETTE, STYLE, nothing_to_draw, tell
from fairfold.figures.legend import MARKERS, Legend


def plot_learning_curves(curves: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Change of each score along the cascade: a row per metric, a column per missing rate, a line per model.

    Parameters
    ----------
    curves : columns ``dataset, missing_rate, model, level, metric, mean``, as
        ``fairfold.evaluation.score_tables`` gives them; missing rates in percent.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        The score at a level less that at level 0, where there is no cascade yet, mean over datasets; the other way
        round for losses, so that up is better in every panel. Models without cascade have no line. A dataset whose
        cascade is shorter than another's keeps its last value.
    """
    if curves.empty:
        return nothing_to_draw()
    keys = ["dataset", "missing_rate", "model", "metric"]
    start = curves[curves["level"] == 0].set_index(keys)["mean"].rename("start")
    curves = curves.join(start, on=keys)
    names = Legend(legend, curves["model"].unique())
    sign = np.where(curves["metric"].map(names.is_loss), -1, 1)
    curves["gain"] = sign * (curves["mean"] - curves["start"])
    metrics, rates, models = (list(curves[column].unique()) for column in ("metric", "missing_rate", "model"))
    cascades = [model for model in models if curves.loc[curves["model"] == model, "level"].max() > 0]
    labels = [f"{'drop' if names.is_loss(metric) else 'gain'} of\n{names.label(metric)}" for metric in metrics]

    def draw(axes: Axes, row: int, rate: int, model: str, line: dict) -> None:
        part = curves[(curves["metric"] == metrics[row]) & (curves["missing_rate"] == rate)]
        axes.axhline(0, color="black", linewidth=0.6, zorder=0.9)
        _draw_mean(axes, part[part["model"] == model], "gain", line)

    return _grid(labels, rates, _lines_of(names, cascades), draw)


def plot_imputation(imputation: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Precision and recall of the imputed labels along the cascade: a column per missing rate, a line per model.

    Parameters
    ----------
    imputation : columns ``dataset, missing_rate, model, level, precision, recall``, as
        :func:`~fairfold.forests.diagnostics.imputation_tables` gives them; missing rates in percent.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        Means over datasets; one whose cascade is shorter than another's keeps its last value. A missing rate of 0 has
        no column: nothing is hidden there, so precision is 0 and recall undefined.
    """
    imputation = imputation[imputation["missing_rate"] > 0]
    if imputation.empty:
        return nothing_to_draw()
    rates, shown = (list(imputation[column].unique()) for column in ("missing_rate", "model"))
    quantities = ["precision", "recall"]

    def draw(axes: Axes, row: int, rate: int, model: str, line: dict) -> None:
        part = imputation[(imputation["missing_rate"] == rate) & (imputation["model"] == model)]
        _draw_mean(axes, part, quantities[row], line)
        axes.set_ylim(-0.03, 1.03)

    labels = [f"{quantity} of\nimputed labels" for quantity in quantities]
    return _grid(labels, rates, _lines_of(Legend(legend, shown), shown), draw)


def plot_label_frequencies(frequencies: pd.DataFrame, summary: pd.DataFrame) -> Figure:
    """Estimated label frequency against the share of positives kept: a panel per model, a dot per dataset and label.

    Parameters
    ----------
    frequencies : columns ``dataset, missing_rate, model, fold, label, estimated, kept``, as
        :func:`~fairfold.forests.diagnostics.imputation_tables` gives them; missing rates in percent.
    summary : columns ``missing_rate, model, bias, mean_absolute_error``, as
        :func:`~fairfold.forests.diagnostics.imputation_tables` gives them, as ``errors``.

    Returns
    -------
    Figure
        Dots are means over folds. The grey line is where estimates are right; above each missing rate stand bias and
        mean absolute error over folds, labels and datasets.
    """
    if frequencies.empty:
        return nothing_to_draw()
    rates, models = (list(frequencies[column].unique()) for column in ("missing_rate", "model"))
    dots = (
        frequencies.groupby(["dataset", "missing_rate", "model", "label"])[["kept", "estimated"]].mean().reset_index()
    )
    margin = max(0.05, 0.2 * (dots["kept"].max() - dots["kept"].min()))
    n_columns = min(5, len(models))
    n_rows = -(-len(models) // n_columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(1.1 + 1.75 * n_columns, 0.8 + 2.1 * n_rows), layout="constrained")
        axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
        axes[0, 0].set_xlim(dots["kept"].min() - margin, dots["kept"].max() + margin)
        axes[0, 0].set_ylim(-0.03, 1.3)
        axes[0, 0].set_yticks([0, 0.25, 0.5, 0.75, 1])
        for panel in axes.flat[len(models) :]:
            panel.remove()
        for position, (panel, model) in enumerate(zip(axes.flat, models, strict=False)):
            panel.set_title(model)
            panel.plot([0, 1], [0, 1], color="0.5", linewidth=0.8, gid="identity", zorder=0.9)
            panel.tick_params(labelbottom=position + n_columns >= len(models))
            for rate, colour, marker in zip(rates, _cycle(PALETTE, rates), _cycle(MARKERS, rates), strict=True):
                part = dots[(dots["model"] == model) & (dots["missing_rate"] == rate)]
                style = {"markersize": 3, "markeredgewidth": 0, "alpha": 0.5, "color": colour}
                (line,) = panel.plot(part["kept"], part["estimated"], marker, **style, label=f"{rate} % hidden")
                rows = part[["label", "dataset", "estimated", "kept"]].itertuples(index=False, name=None)
                tell(line, ["label {} of {}: estimated {:.2f}, kept {:.2f}".format(*row) for row in rows])
                row = summary[(summary["model"] == model) & (summary["missing_rate"] == rate)]
                _write_errors(panel, part["kept"].mean(), row)
        for row in axes:
            note = {"transform": row[0].get_yaxis_transform(), "ha": "right", "va": "center", "fontsize": 6.5}
            row[0].text(-0.04, 1.18, "bias\nMAE", **note)
        figure.supxlabel("share of positives kept", fontsize=STYLE["axes.labelsize"])
        figure.supylabel("estimated label frequency", fontsize=STYLE["axes.labelsize"])
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def _grid(
    labels: Sequence[str],
    rates: Sequence[int],
    lines: dict[str, dict],
    draw: Callable[[Axes, int, int, str, dict], None],
) -> Figure:
    """Panels over cascade levels: a row per label, a column per missing rate, and ``draw`` for each line in each."""
    width = max(4.3, 1.2 + 1.55 * len(rates))
    n_columns = int(width / 1.3)  # of the legend
    with mpl.rc_context(STYLE):
        height = 0.7 + 1.25 * len(labels) + 0.17 * -(-len(lines) // n_columns)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(labels), len(rates), sharex=True, sharey="row", squeeze=False)
        for row, label in enumerate(labels):
            for column, rate in enumerate(rates):
                for model, line in lines.items():
                    draw(axes[row, column], row, rate, model, line)
                axes[row, column].xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
            axes[row, 0].set_ylabel(label)
        for column, rate in enumerate(rates):
            axes[0, column].set_title(f"{rate} % hidden")
        figure.supxlabel("cascade level", fontsize=STYLE["axes.labelsize"])
        handles, names = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=n_columns, frameon=False)
    return figure


def _lines_of(names: Legend, shown: Sequence[str]) -> dict[str, dict]:
    """Look of each model's line: its colour and marker in all figures; dashed where it varies another."""
    return {
        model: {
            "color": names.colour(model),
            "marker": names.marker(model),
            "linestyle": "--" if names.is_variation(model) else "-",
            "label": model,
        }
        for model in shown
    }


def _draw_mean(axes: Axes, part: pd.DataFrame, value: str, line: dict) -> None:
    # infinity stands for what is undefined, so that only what is not there is carried forward
    wide = part.assign(value=part[value].fillna(np.inf)).pivot(index="dataset", columns="level", values="value")
    means = wide.ffill(axis=1).replace(np.inf, np.nan).mean()
    edge = {"markeredgecolor": "black", "markeredgewidth": 0.3}
    (drawn,) = axes.plot(means.index, means, **line, **edge, linewidth=1, markersize=3.2)
    tell(drawn, [f"{line['label']}, level {level}: {value} {mean:.3f}" for level, mean in means.items()])


def _write_errors(axes: Axes, position: float, summary: pd.DataFrame) -> None:
    for row in summary.itertuples():
        text = f"{row.bias:+.2f}\n{row.mean_absolute_error:.2f}".replace("-", "−")
        axes.text(position, 1.18, text, ha="center", va="center", fontsize=6.5)


def _cycle(choices: Sequence[str], items: Sequence[object]) -> list[str]:
    return [choices[position % len(choices)] for position in range(len(items))]
