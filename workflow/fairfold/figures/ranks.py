"""Percentile ranks of methods (Ilidio et al. 2024, Figure 1)."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfold.figures import PALETTE, STYLE

METRIC_LABELS = {
    "roc_auc": "micro AUROC",
    "average_precision": "micro average precision",
    "hamming_loss": "Hamming loss",
    "ranking_loss": "ranking loss",
    "mcc": "micro MCC",
}


def plot_percentile_ranks(ranks: pd.DataFrame) -> Figure:
    """Box plots of percentile ranks: a row per metric, a column per missing rate, a box per model, a dot per dataset.

    Parameters
    ----------
    ranks : columns ``dataset, missing_rate, metric, model, percentile_rank``, as
        :func:`fairfold.evaluation.ranking.percentile_ranks` gives them; missing rates in percent.

    Returns
    -------
    Figure
        The mean of each box stands in a white field above it; a rank of 1 is best. A model with a "+" has the colour of
        the one without, and is hatched.
    """
    metrics, rates, models = (list(ranks[column].unique()) for column in ("metric", "missing_rate", "model"))
    with mpl.rc_context(STYLE):
        size = (1.2 + len(rates) * max(1.3, 0.28 * len(models)), 1.5 * len(metrics) + 1.1)
        figure = Figure(figsize=size, layout="constrained")  # keeps the outer label off the inner ones at any width
        axes = figure.subplots(len(metrics), len(rates), sharex=True, sharey=True, squeeze=False)
        for row, metric in enumerate(metrics):
            for column, rate in enumerate(rates):
                panel = ranks[(ranks["metric"] == metric) & (ranks["missing_rate"] == rate)]
                _draw_panel(axes[row, column], panel, models)
            axes[row, 0].set_ylabel(METRIC_LABELS.get(metric, metric))
        for column, rate in enumerate(rates):
            axes[0, column].set_title(f"{rate} % hidden")
        figure.supylabel("percentile rank (1 is best)", fontsize=STYLE["axes.labelsize"])
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, models: list[str]) -> None:
    values = [panel.loc[panel["model"] == model, "percentile_rank"].dropna().to_numpy() for model in models]
    positions = np.arange(len(models))
    boxes = axes.boxplot(
        values,
        positions=positions,
        widths=0.62,
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "black", "linewidth": 1},
        whiskerprops={"linewidth": 0.7},
        capprops={"linewidth": 0.7},
    )
    for box, model, colour in zip(boxes["boxes"], models, _colours(models), strict=True):
        hatch = "////" if model.endswith("+") else None
        box.set(facecolor=colour, alpha=0.55, edgecolor="black", linewidth=0.7, hatch=hatch, hatch_linewidth=0.4)
    for position, dots in zip(positions, values, strict=True):
        # spread sideways in data order, so that equal ranks stay apart and the picture is the same every time
        spread = (np.arange(dots.size) - (dots.size - 1) / 2) * min(0.12, 0.45 / max(dots.size, 1))
        axes.plot(position + spread, dots, "o", markersize=3, color="black", alpha=0.8, markeredgewidth=0)
        if dots.size:
            _write_mean(axes, position, dots.mean())
    axes.set_xticks(positions, models, rotation=90)
    axes.set_xlim(-0.6, len(models) - 0.4)
    axes.set_ylim(0, 1.18)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.grid(visible=False, axis="x")


def _write_mean(axes: Axes, position: float, mean: float) -> None:
    field = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    axes.text(position, 1.1, f"{mean:.2f}", ha="center", va="center", fontsize=6.5, bbox=field)


def _colours(models: list[str]) -> list[str]:
    families = list(dict.fromkeys(model.removesuffix("+") for model in models))
    return [PALETTE[families.index(model.removesuffix("+")) % len(PALETTE)] for model in models]
