"""Figure of the agreement of ranks between repetitions of a study, by splitting method."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import interval, plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, legend_line, name_rows, new_figure, panels_of, side_by_side, style_of

MEAN = "mean of datasets"
_MARK = {"linestyle": "none", "markersize": 3.6, "markeredgewidth": 0.9}
# Hollow marks are larger and behind, so a filled mark at the same place and its interval stay visible.
_HOLLOW = {"markerfacecolor": "white", "markersize": 6.2, "markeredgewidth": 0.8, "zorder": 0.95}


@FigureSpec(
    "rank_stability",
    section="weak-labels",
    title="Stability of ranks",
    reads=["tables/rank_stability.csv", "legend.csv"],
    alt="agreement of the models' ranks between repetitions, by splitting method",
    when="weak_labels.rank_stability.datasets",
    finding=findings.most_stable,
)
def plot_rank_stability(stability: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw Kendall's tau on different splits and on the same split, and the share of the split, with a row per metric.

    Parameters
    ----------
    stability : DataFrame
        Table of :func:`fairfold.recommendation.rank_stability.rank_stability`. Missing rates are in percent.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        A pair of panels per missing rate, with a mark per dataset. Filled marks are trainings on different splits, with
        95 % confidence intervals within the range of tau. Hollow marks are trainings on the same split. With several
        datasets, black marks are their means. The axis of tau includes 0.
    """
    metrics, rates, splitters = (list(stability[column].unique()) for column in ("metric", "missing_rate", "splitter"))
    names = Legend(legend)
    datasets = stability["dataset"].unique()
    looks = {dataset: style_of(n) | _MARK for n, dataset in enumerate(datasets)}
    if len(looks) > 1:
        looks[MEAN] = {"color": "black", "marker": "D", **_MARK}
    stability = pd.concat([stability, _means(stability)], ignore_index=True)
    limits = ["tau_low", "tau_high"]
    stability[limits] = stability[limits].clip(-1, 1)  # Jackknife intervals may exceed the range of tau.
    least = np.nanmin([0, *stability[["tau_low", "kendall_tau", "tau_same_folds"]].min()])
    panel_height = 0.25 + len(splitters) * (0.12 + 0.085 * len(looks))
    size = (1.1 + 2.9 * len(rates), 1.1 + panel_height * len(metrics))
    grid: dict = {"sharex": "col", "sharey": True, "width_ratios": [1.6, 1] * len(rates)}
    figure, axes = new_figure(*size, len(metrics), 2 * len(rates), **grid)
    panels = panels_of(axes[:, ::2], stability, "metric", "missing_rate")
    for share, (tau, metric, rate, part) in zip(axes[:, 1::2].flat, panels, strict=True):
        tau.set_title(f"{names.label(metric)}, {rate} % hidden", loc="left")
        _draw_pair(tau, share, part, looks, splitters)
    for tau, share in zip(axes[-1, ::2], axes[-1, 1::2], strict=True):
        tau.set(xlabel="Kendall's tau", xlim=(least - 0.05, 1.05))
        share.set_xlabel("split's share (%)")
    name_rows(axes[0, 0], splitters)
    add_legend(figure, _handles(looks), 3, "upper left", columnspacing=1.2)
    return figure


def _means(stability: pd.DataFrame) -> pd.DataFrame:
    """Average over datasets; the squared errors of independent datasets add up."""
    table = stability.assign(squared=(stability["tau_high"] - stability["kendall_tau"]) ** 2)
    groups = table.groupby(["missing_rate", "metric", "splitter"], sort=False)
    means = groups[["kendall_tau", "tau_same_folds", "share_split", "squared"]].mean().assign(dataset=MEAN)
    half = np.sqrt(means["squared"] / groups["squared"].count())
    return means.assign(tau_low=means["kendall_tau"] - half, tau_high=means["kendall_tau"] + half).reset_index()


def _draw_pair(tau: Axes, share: Axes, panel: pd.DataFrame, looks: dict[str, dict], splitters: list[str]) -> None:
    """Draw tau and the share of the split on two axes."""
    for (dataset, look), shift in zip(looks.items(), side_by_side(len(looks), 0.6), strict=True):
        numbers = panel[panel["dataset"] == dataset].set_index("splitter").reindex(splitters)
        positions = np.arange(len(splitters)) + shift
        ends = [numbers[name].clip(-1, 1) for name in ("tau_low", "tau_high")]  # tau cannot exceed this range
        tau.hlines(positions, *ends, color=look["color"], linewidth=0.9)
        numbers = numbers.assign(dataset=dataset, limits=list(map(interval, numbers["tau_low"], numbers["tau_high"])))
        for axes, column, text, style in (
            (tau, "tau_same_folds", "{splitter}, {dataset}, same folds: tau {tau_same_folds:.3f}", look | _HOLLOW),
            (tau, "kendall_tau", "{splitter}, {dataset}, new folds: tau {kendall_tau:.3f}{limits}", look),
            (share, "share_split", "{splitter}, {dataset}: the split's share is {share_split:.0%}", look),
        ):
            scale = 100 if axes is share else 1
            plot_points(axes, scale * numbers[column], positions, texts_of(numbers.reset_index(), text), **style)
    share.axvline(0, color="black", linewidth=0.6, zorder=0.8)
    for axes in (tau, share):
        axes.grid(visible=False, axis="y")
        axes.locator_params("x", nbins=4)


def _handles(looks: dict[str, dict]) -> list:
    """Create legend entries for the datasets, and for filled and hollow marks."""
    gray = {**next(iter(looks.values())), "color": "#555555"}
    named = [legend_line(dataset, **look) for dataset, look in looks.items()]
    return [*named, legend_line("new folds", **gray), legend_line("same folds", **gray | _HOLLOW)]
