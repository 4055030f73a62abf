"""Figure of spread and bias of cross-validated scores, by splitting method."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_intervals
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, name_rows, new_figure

MARKS = {"micro": (PALETTE[0], "o"), "macro": (PALETTE[3], "s")}
QUANTITIES = {"sd": "spread (sd)", "bias": "bias"}
BASELINE = "random"  # method with dashed lines in each panel
_CUT = 5  # end of the axis of spread, as a multiple of the largest spread, for wide intervals of few halvings


@FigureSpec(
    "fold_effect",
    section="splitting",
    title="Effect of folds on scores",
    reads=["tables/fold_effect.csv", "legend.csv"],
    alt="spread and bias of cross-validated scores with 95 % intervals, one line per splitting method",
    when="splitting.fold_effect.datasets",
    settings={"n_halvings": "splitting.fold_effect.n_halvings"},
    finding=findings.smallest_spread,
)
def plot_fold_effect(summary: pd.DataFrame, legend: pd.DataFrame | None = None, *, n_halvings: int) -> Figure:
    """Draw spread and bias of estimated scores: a column per dataset, and rows for spread and bias of each metric.

    With one dataset, spread and bias have a column each.

    Parameters
    ----------
    summary : DataFrame
        Table of :func:`fairfold.splitting.fold_effect.summarize`, with a column ``dataset``.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.
    n_halvings : int
        Number of halvings behind the standard errors.

    Returns
    -------
    Figure
        Scores per fold, with 95 % confidence intervals. For the bias, the thick part is the interval of the difference
        from the baseline. It is shorter than the thin interval of the bias, because both methods split the same pools.
    """
    from scipy import stats

    summary = summary[summary["aggregation"] == "per-fold"]
    datasets, metrics, methods = (list(summary[column].unique()) for column in ("dataset", "metric", "method"))
    quantile, names = stats.t.ppf(0.975, n_halvings - 1), Legend(legend)
    texts = {metric: "F1" if metric == "f1" else names.text(metric) for metric in metrics}  # F1 is micro and macro
    rows: dict[str, dict[str, str]]
    columns: dict[str, dict[str, str]]
    if len(datasets) == 1:  # spread and bias next to each other
        rows = {text: {"metric": metric} for metric, text in texts.items()}
        columns = {text: {"quantity": quantity, "dataset": datasets[0]} for quantity, text in QUANTITIES.items()}
    else:
        pairs = [(quantity, metric) for quantity in QUANTITIES for metric in metrics]
        rows = {f"{texts[m]}\n{QUANTITIES[quantity]}": {"quantity": quantity, "metric": m} for quantity, m in pairs}
        columns = {dataset: {"dataset": dataset} for dataset in datasets}
    width = 2.3 if len(datasets) == 1 else 1.75
    size = (1.4 + width * len(columns), 0.8 + len(rows) * (0.3 + 0.13 * len(methods)))
    figure, axes = new_figure(*size, len(rows), len(columns), sharey=True)
    for panels, (label, of_row) in zip(axes, rows.items(), strict=True):
        for axis, of_column in zip(panels, columns.values(), strict=True):
            cell = {**of_row, **of_column}
            panel = summary[(summary["metric"] == cell["metric"]) & (summary["dataset"] == cell["dataset"])]
            _draw_panel(axis, panel, cell["quantity"], methods, quantile)
        panels[0].set_ylabel(label)
    name_rows(axes[0, 0], methods, 0.6)
    for axis, title in zip(axes[0], columns, strict=True):
        axis.set_title(title)
    figure.supxlabel(f"thousandths of a score{f' on {datasets[0]}' if len(datasets) == 1 else ''}")
    add_legend(figure, axes[0, 0].get_legend_handles_labels()[0], len(MARKS), "upper right")
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, quantity: str, methods: list[str], quantile: float) -> None:
    for shift, (average, (color, marker)) in zip((-0.17, 0.17), MARKS.items(), strict=True):
        numbers = panel[panel["average"] == average].set_index("method").reindex(methods)
        rows = 1000 * numbers[[quantity, "sd_low", "sd_high", "bias_se", "bias_difference_se"]]
        positions, values = np.arange(len(methods)) + shift, rows[quantity]
        if quantity == "sd":
            limits = rows[["sd", "sd_low", "sd_high"]]
        else:
            thin, thick = quantile * rows["bias_se"], quantile * rows["bias_difference_se"]
            limits = pd.DataFrame({"bias": values, "low": values - thin, "high": values + thin})
            axes.hlines(positions, values - thick, values + thick, color=color, linewidth=2.5)
        look: dict = {"color": color, "marker": marker, "linestyle": "", "markersize": 3.2, "markeredgewidth": 0}
        names = [f"{method}, {average}-averaged {quantity} in thousandths" for method in methods]
        plot_intervals(axes, positions, limits, names, ",.1f", label=f"{average}-averaged", **look)
        axes.axvline(rows.loc[BASELINE, quantity], color=color, linewidth=0.6, linestyle="--", alpha=0.7, zorder=0.9)
    if quantity == "sd":
        axes.set_xlim(0, min(axes.get_xlim()[1], _CUT * 1000 * panel["sd"].max()))
    else:
        axes.axvline(0, color="black", linewidth=0.6, zorder=0.8)
    axes.locator_params("x", nbins=4)
    axes.grid(visible=False, axis="y")
