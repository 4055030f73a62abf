"""Figure of percentile ranks of models (Ilidio et al. 2024, Figure 1)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import STYLE, new_figure, panels_of

BAR_STEP = 0.07  # vertical distance of crossbars, in ranks
FIRST_BAR = 1.22


_Figure = partial(
    FigureSpec,
    section="weak-labels",
    alt="box plots of the percentile ranks of each model, a panel for each metric and missing rate",
    several="weak_labels.datasets",
)
_TABLES = ("percentile_ranks", "comparisons", "cliques")


@_Figure(
    "percentile_ranks_published",
    title="Percentile ranks among the nine models of the paper",
    reads=[*(f"tables/{name}_published.csv" for name in _TABLES), "legend.csv"],
    caption="Figure 1 of Ilidio et al. (2024). A percentile rank depends on the models that are compared.",
)
@_Figure(
    "percentile_ranks",
    title="Percentile ranks",
    reads=[*(f"tables/{name}.csv" for name in _TABLES), "legend.csv"],
    open=True,
    finding=findings.best_rank,
)
def plot_percentile_ranks(
    ranks: pd.DataFrame, comparisons: pd.DataFrame, cliques: pd.DataFrame, legend: pd.DataFrame | None = None
) -> Figure:
    """Draw box plots of percentile ranks: a row per metric, a column per missing rate, a box per model.

    Parameters
    ----------
    ranks : DataFrame
        Columns ``dataset, missing_rate, metric, model, percentile_rank``, as returned by
        :func:`fairfold.evaluation.percentile_ranks`. Missing rates are in percent.
    comparisons, cliques : DataFrame
        Tables of :func:`fairfold.evaluation.compare_ranks`.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        One dot per dataset. A rank of 1 is best, and the number above each box is its mean. A variation of a model,
        such as one with a "+", has the same color and is hatched. A bar above the means joins the models of a clique,
        marked with dots; a model can be in several cliques. Cliques of one model have no bar. Each panel has the
        p-value of the Friedman test as its title.
    """
    metrics, rates, models = (list(ranks[column].unique()) for column in ("metric", "missing_rate", "model"))
    looks = Legend(legend, models)
    bars = {panel: _stack(part, models) for panel, part in cliques.groupby(["metric", "missing_rate"])}
    friedman = comparisons.set_index(["metric", "missing_rate"])["friedman_p"]
    heights = {metric: [height for rate in rates for height, _ in bars.get((metric, rate), [])] for metric in metrics}
    tops = [FIRST_BAR - 0.05 + BAR_STEP * (max(heights[metric], default=-1) + 1) for metric in metrics]
    size = (1.2 + len(rates) * max(1.3, 0.28 * len(models)), 1.1 * sum(tops) + 0.3 * len(metrics) + 1.1)
    figure, axes = new_figure(*size, len(metrics), len(rates), sharex=True, sharey="row", height_ratios=tops)
    for panel, metric, rate, part in panels_of(axes, ranks, "metric", "missing_rate"):
        _draw_panel(panel, part, models, looks)
        for height, positions in bars.get((metric, rate), []):
            _draw_bar(panel, FIRST_BAR + BAR_STEP * height, positions)
        heading = f"{rate} % hidden\n" if metric == metrics[0] else ""
        panel.set_title(heading + _friedman_text(friedman[metric, rate]), fontsize=STYLE["font.size"] - 1)
    for panel, metric, top in zip(axes[:, 0], metrics, tops, strict=True):
        panel.set_ylim(0, top)
        panel.set_ylabel(looks.label(metric), y=0.5 / top)
    figure.supylabel("percentile rank (1 is best)")
    return figure


def _stack(cliques: pd.DataFrame, models: list[str]) -> list[tuple[int, list[int]]]:
    """Compute the height and the positions of each clique's bar, without overlaps at the same height."""
    ends: list[int] = []  # last position in use at each height
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
        return "Friedman p: not tested"
    return "Friedman p < 0.0001" if p < 0.0001 else f"Friedman p = {p:.2g}"


def _draw_panel(axes: Axes, panel: pd.DataFrame, models: list[str], looks: Legend) -> None:
    ranked = panel.dropna(subset="percentile_rank")
    of_models = [ranked[ranked["model"] == model] for model in models]
    positions = np.arange(len(models))
    shown: dict = {"positions": positions, "widths": 0.62, "showfliers": False, "patch_artist": True}
    thin = {"linewidth": 0.7}
    lines: dict = {"whiskerprops": thin, "capprops": thin, "medianprops": {"color": "black"}}
    field = {"alpha": 0.55, "linewidth": 0.7, "hatch_linewidth": 0.4}
    boxes = axes.boxplot([part["percentile_rank"] for part in of_models], **shown, **lines, boxprops=field)
    for box, model in zip(boxes["boxes"], models, strict=True):
        box.set(facecolor=looks.color(model), edgecolor="black", hatch="////" if looks.is_variation(model) else None)
    for position, part in enumerate(of_models):
        _draw_dots(axes, position, part)
    if ranked.empty:
        axes.text(0.5, 0.5, "no ranks", transform=axes.transAxes, ha="center", va="center", color="#777777")
    axes.set_xticks(positions, models, rotation=90)
    axes.set(xlim=(-0.6, len(models) - 0.4), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.spines["left"].set_bounds(0, 1)  # texts and bars are above
    axes.grid(visible=False, axis="x")


def _draw_dots(axes: Axes, position: float, part: pd.DataFrame) -> None:
    """Draw a dot per dataset, spread sideways so equal ranks stay apart, and the mean of a model."""
    dots = part["percentile_rank"].to_numpy()
    spread = (np.arange(dots.size) - (dots.size - 1) / 2) * min(0.12, 0.45 / max(dots.size, 1))
    look = {"marker": "o", "linestyle": "", "markersize": 3, "color": "black", "alpha": 0.8, "markeredgewidth": 0}
    texts = texts_of(part, "{model} on {dataset}: rank {percentile_rank:.2f}")
    plot_points(axes, position + spread, dots, texts, **look)
    if dots.size:
        field = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none"}
        axes.text(position, 1.1, f"{dots.mean():.2f}", ha="center", va="center", fontsize=6.5, bbox=field)
