"""Percentile ranks of methods (Ilidio et al. 2024, Figure 1)."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairfold.figures import STYLE, tell
from fairfold.figures.legend import Legend

BAR_STEP = 0.07  # between crossbars above each other, in ranks
FIRST_BAR = 1.22


def plot_percentile_ranks(
    ranks: pd.DataFrame, comparisons: pd.DataFrame, cliques: pd.DataFrame, legend: pd.DataFrame | None = None
) -> Figure:
    """Box plots of percentile ranks: a row per metric, a column per missing rate, a box per model, a dot per dataset.

    Parameters
    ----------
    ranks : columns ``dataset, missing_rate, metric, model, percentile_rank``, as
        :func:`fairfold.evaluation.ranking.percentile_ranks` gives them; missing rates in percent.
    comparisons, cliques : as :func:`fairfold.evaluation.ranking.compare_ranks` gives them.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        The mean of each box stands in a white field above it; a rank of 1 is best. A variation of a model, such as one
        with a "+", has its colour, and is hatched. Above the means, a bar joins the models of a clique, which have dots
        on it; a model may be on several. Cliques of one model have no bar. Above each panel is the p-value of
        Friedman's test.
    """
    metrics, rates, models = (list(ranks[column].unique()) for column in ("metric", "missing_rate", "model"))
    looks = Legend(legend, models)
    panels = dict(list(ranks.groupby(["metric", "missing_rate"])))
    bars = {panel: _stack(part, models) for panel, part in cliques.groupby(["metric", "missing_rate"])}
    friedman = comparisons.set_index(["metric", "missing_rate"])["friedman_p"]
    n_bars = {
        metric: max((height + 1 for rate in rates for height, _ in bars.get((metric, rate), [])), default=0)
        for metric in metrics
    }
    tops = [FIRST_BAR - 0.05 + BAR_STEP * n_bars[metric] for metric in metrics]
    with mpl.rc_context(STYLE):
        size = (1.2 + len(rates) * max(1.3, 0.28 * len(models)), 1.1 * sum(tops) + 0.3 * len(metrics) + 1.1)
        figure = Figure(figsize=size, layout="constrained")  # keeps the outer label off the inner ones at any width
        grid = {"squeeze": False, "height_ratios": tops}
        axes = figure.subplots(len(metrics), len(rates), sharex=True, sharey="row", **grid)
        for row, (metric, top) in enumerate(zip(metrics, tops, strict=True)):
            for column, rate in enumerate(rates):
                panel = axes[row, column]
                _draw_panel(panel, panels[metric, rate], models, looks)
                for height, positions in bars.get((metric, rate), []):
                    _draw_bar(panel, FIRST_BAR + BAR_STEP * height, positions)
                heading = f"{rate} % hidden\n" if row == 0 else ""
                panel.set_title(heading + _friedman_text(friedman[metric, rate]), fontsize=STYLE["font.size"] - 1)
            axes[row, 0].set_ylim(0, top)
            axes[row, 0].set_ylabel(looks.label(metric), y=0.5 / top)
        figure.supylabel("percentile rank (1 is best)", fontsize=STYLE["axes.labelsize"])
    return figure


def _stack(cliques: pd.DataFrame, models: list[str]) -> list[tuple[int, list[int]]]:
    """Height, from 0, and members' places of each clique's bar; those at one height do not touch."""
    ends: list[int] = []  # last place that is taken, by height
    bars = []
    members = cliques.groupby("clique")["model"].agg(lambda names: sorted(map(models.index, names)))
    for positions in sorted((each for each in members if len(each) > 1), key=lambda each: (each[0], -each[-1])):
        height = next((height for height, end in enumerate(ends) if end < positions[0]), len(ends))
        ends[height : height + 1] = [positions[-1]]
        bars.append((height, positions))
    return bars


def _draw_bar(axes: Axes, height: float, positions: list[int]) -> None:
    axes.plot([positions[0], positions[-1]], [height, height], color="0.4", linewidth=0.8, gid="crossbar")
    axes.plot(positions, [height] * len(positions), ".", color="black", markersize=6, markeredgewidth=0, gid="members")


def _friedman_text(p: float) -> str:
    if np.isnan(p):
        return "Friedman p: –"
    return "Friedman p < 0.0001" if p < 0.0001 else f"Friedman p = {p:.2g}"


def _draw_panel(axes: Axes, panel: pd.DataFrame, models: list[str], looks: Legend) -> None:
    ranked = panel.dropna(subset="percentile_rank")
    of_models = [ranked[ranked["model"] == model] for model in models]
    values = [part["percentile_rank"].to_numpy() for part in of_models]
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
    for box, model in zip(boxes["boxes"], models, strict=True):
        hatch = "////" if looks.is_variation(model) else None
        box.set(
            facecolor=looks.colour(model),
            alpha=0.55,
            edgecolor="black",
            linewidth=0.7,
            hatch=hatch,
            hatch_linewidth=0.4,
        )
    for position, part, dots in zip(positions, of_models, values, strict=True):
        # spread sideways in data order, so that equal ranks stay apart and the picture is the same every time
        spread = (np.arange(dots.size) - (dots.size - 1) / 2) * min(0.12, 0.45 / max(dots.size, 1))
        (line,) = axes.plot(position + spread, dots, "o", markersize=3, color="black", alpha=0.8, markeredgewidth=0)
        ranks = part[["dataset", "percentile_rank"]].itertuples(index=False, name=None)
        tell(line, [f"{models[position]} on {dataset}: rank {rank:.2f}" for dataset, rank in ranks])
        if dots.size:
            _write_mean(axes, position, dots.mean())
    if ranked.empty:
        axes.text(0.5, 0.5, "no ranks", transform=axes.transAxes, ha="center", va="center", color="#777777")
    axes.set_xticks(positions, models, rotation=90)
    axes.set_xlim(-0.6, len(models) - 0.4)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.spines["left"].set_bounds(0, 1)  # above are texts and bars
    axes.grid(visible=False, axis="x")


def _write_mean(axes: Axes, position: float, mean: float) -> None:
    field = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    axes.text(position, 1.1, f"{mean:.2f}", ha="center", va="center", fontsize=6.5, bbox=field)
