"""Figures of win percentages (Parry, Phan & Wang 2012, Figures 1 to 8)."""

from __future__ import annotations

from functools import partial
from itertools import count
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from fairfold.errors import DataError
from fairfold.figures import findings
from fairfold.figures.points import plot_points, significant, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, legend_line, legend_patch, name_of, new_figure, style_of
from fairfold.figures.wins import BAND, DOTTED, draw_curve, draw_wins, draws_axis

PUBLISHED_LAW = (0.24, 0.48)  # factor and exponent of Equation 2

# One look per classifier in all figures; unpooled covariances are dashed.
LOOKS = {
    "NC": (PALETTE[0], "-"),
    "DLDA": (PALETTE[2], "-"),
    "LDA": (PALETTE[3], "-"),
    "SDA": (PALETTE[4], "--"),
    "UDA": (PALETTE[5], "--"),
    "QDA": (PALETTE[1], "--"),
}
CLASS_MARKS = ((PALETTE[0], "o"), (PALETTE[3], "^"))  # first and second class
_NORMAL_95 = 1.96
_BINS_PER_DECADE = 3  # boxes per power of ten of N / M
_TAIL = 0.01  # share of the pairs in the right panels of Figure 4

_Figure = partial(FigureSpec, section="win-percentage", when="win_percentage.datasets")


@_Figure(
    "win_percentage_fig1_*",
    title="Best pairs of features",
    reads=["win_percentage/*/decision_maps.csv", "win_percentage/*/samples.csv"],
    alt="scatter plots of two features with the decision boundary of each classifier",
    finding=findings.most_stable_decisions,
    each="win_percentage.datasets",
    style={"axes.grid": False},
)
def plot_decision_maps(maps: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """Draw Figure 1: decisions of the models of repeated cross-validation on the pairs where a classifier is the best.

    Parameters
    ----------
    maps : DataFrame
        Columns ``dataset, classifier, feature_1, feature_2, x, y, share``: a grid per panel, with features by name.
    points : DataFrame
        Columns ``dataset, classifier, feature_1, feature_2, x, y, class`` of the samples.

    Returns
    -------
    Figure
        White areas mean agreement of all models; darker areas mean more disagreement. The line is where half of the
        models predict each class. Crosses are the means of the classes, with ellipses at one standard deviation.

    Raises
    ------
    DataError
        If the samples of a panel are missing or do not have two classes.
    """
    keys = ["dataset", "classifier", "feature_1", "feature_2"]
    samples = dict(list(points.groupby(keys, sort=False)))
    figure, panels = _panels(maps, keys, width=2.3, height=2.2)
    for axis, key, grid in panels:
        if key not in samples or samples[key]["class"].nunique() != 2:
            raise DataError(f"panel {key}: expected samples of two classes. Create both tables from the same data.")
        _draw_map(axis, grid)
        _draw_samples(axis, samples[key])
        dataset, classifier, first, second = key
        prefix = "" if maps["dataset"].nunique() == 1 else f"{dataset}, "
        axis.set(title=f"{prefix}{classifier}", xlabel=name_of(first), ylabel=name_of(second))
    marks = zip(sorted(points["class"].unique()), CLASS_MARKS, strict=False)
    look = {"markersize": 3.5, "linewidth": 1}
    handles = [legend_line(name_of(name), color=color, marker=marker, **look) for name, (color, marker) in marks]
    handles.append(legend_line("average boundary", color="black", linewidth=1))
    handles.append(legend_patch("models differ", facecolor="#bbbbbb", lw=0))
    add_legend(figure, handles)
    return figure


@_Figure(
    "win_percentage_fig2",
    title="Illustrative example",
    reads=["tables/win_percentage/joint_densities.csv"],
    alt="joint density of performance and best classifier, a line for each of three classifiers",
    finding=findings.best_at_high_performance,
)
def plot_joint_densities(densities: pd.DataFrame) -> Figure:
    """Draw Figure 2: joint density p(x, c) of performance and best classifier in the illustrative example.

    Parameters
    ----------
    densities : DataFrame
        Columns ``classifier, performance, density``.

    Returns
    -------
    Figure
        One curve per classifier.
    """
    looks = _looks(densities)
    figure, ((axis,),) = new_figure(3.4, 2.3)
    for name, curve in densities.groupby("classifier", sort=False):
        axis.plot(curve["performance"], curve["density"], **looks[name])
    axis.set(xlabel="performance x", ylabel="joint density p(x, c)", ylim=(0, None))
    axis.margins(x=0)
    add_legend(figure, _handles(looks))
    return figure


@_Figure(
    "win_percentage_fig3",
    title="Win percentages of the illustrative example",
    reads=["tables/win_percentage/illustration.csv"],
    alt="win percentages of the three classifiers of the example against N",
    finding=findings.winner,
)
def plot_illustration(curves: pd.DataFrame) -> Figure:
    """Draw Figure 3: exact win percentages of the illustrative example (dashed) and the limits of estimates (solid).

    Parameters
    ----------
    curves : DataFrame
        Columns ``n_draws, classifier, win_percentage, lower, upper``.

    Returns
    -------
    Figure
        Three curves per classifier.
    """
    looks, limit = _looks(curves), {"linestyle": "-", "linewidth": 0.7}
    figure, ((axis,),) = new_figure(3.4, 2.6)
    for name, curve in curves.groupby("classifier", sort=False):
        curve = curve.sort_values("n_draws")
        draw_curve(axis, name, curve, looks[name] | {"linestyle": "--"})
        axis.plot(curve["n_draws"], 100 * curve[["lower", "upper"]], color=looks[name]["color"], **limit)
    axis.set(xlabel="draws N", ylabel="win percentage (%)", xlim=(curves["n_draws"].min(), curves["n_draws"].max()))
    axis.set_ylim(bottom=0)
    exact = legend_line("exact", color="#555555", linestyle="--", linewidth=1.2)
    add_legend(figure, [*_handles(looks), exact, legend_line("2.5 and 97.5 % of estimates", color="#555555", **limit)])
    return figure


@_Figure(
    "win_percentage_fig4",
    title="Performance over all pairs",
    reads=["tables/win_percentage/performance_densities.csv"],
    alt="joint densities of the best performance on a pair of features and its classifier, a line for each classifier",
    finding=findings.best_of_most_pairs,
    style={"axes.grid.axis": "y"},
)
def plot_performance_densities(densities: pd.DataFrame) -> Figure:
    """Draw Figure 4: smoothed joint density p(x, c) of a pair's best performance and best classifier, by dataset.

    Parameters
    ----------
    densities : DataFrame
        Columns ``dataset, classifier, performance, pairs, density``.

    Returns
    -------
    Figure
        Two panels per dataset: all pairs, and the highest hundredth of all pairs.
    """
    looks, datasets = _looks(densities), densities.groupby("dataset")
    size = (6.4, 2.1 * len(datasets) + 0.1)
    figure, axes = new_figure(*size, len(datasets), 2, width_ratios=(1.5, 1))
    for position, ((axis, top), (dataset, part)) in enumerate(zip(axes, datasets, strict=True)):
        for name, curve in part.groupby("classifier", sort=False):
            axis.plot(curve["performance"], curve["density"], **looks[name])
        shown = part.loc[part["density"] > 1e-3 * part["density"].max(), "performance"]
        axis.set(title=dataset, xlabel="performance x", ylabel="joint density p(x, c)")
        axis.set(xlim=(shown.min(), min(shown.max() + 0.02, 1)), ylim=(0, None))
        _letter(axis, position)
        _draw_tail(top, part, looks)
    add_legend(figure, _handles(looks))
    return figure


@_Figure(
    "win_percentage_fig5",
    title="Win percentages",
    reads=["tables/win_percentage/win_percentages.csv"],
    alt="win percentage of six classifiers against N, with the bands of equal classifiers and of permuted labels",
    finding=findings.winner,
)
def plot_win_percentages(wins: pd.DataFrame) -> Figure:
    """Draw Figure 5: win percentage against the number of draws, with a panel per dataset.

    Parameters
    ----------
    wins : DataFrame
        Columns ``dataset, n_draws, classifier, win_percentage, null_lower, null_upper, permuted_lower,
        permuted_upper``. The last two may be NaN.

    Returns
    -------
    Figure
        The gray band is the interval for equal classifiers. Dotted lines are the results with permuted class labels.
    """
    looks, has_permuted = _looks(wins), wins["permuted_lower"].notna().any()
    figure, panels = _panels(wins, "dataset", width=2.5, height=2.1)
    for axis, dataset, part in panels:
        draw_wins(axis, part, looks)
        axis.set(title=dataset, xlabel="draws N", ylabel="win percentage (%)")
        axis.set_ylim(0, 102)
    handles = [*_handles(looks), legend_patch("equal classifiers", **BAND)]
    if has_permuted:
        handles.append(legend_line("permuted labels", color="#555555", **DOTTED))
    add_legend(figure, handles)
    return figure


@_Figure(
    "win_percentage_fig6",
    title="Win percentages from large samples",
    reads=["tables/win_percentage/sampling_example.csv"],
    alt="win percentages of one dataset with the band of large samples",
    finding=findings.winner,
)
def plot_sampling_example(example: pd.DataFrame) -> Figure:
    """Draw Figure 6: win percentages of one dataset from all feature sets and from large samples.

    Parameters
    ----------
    example : DataFrame
        Columns ``dataset, n_sampled, n_draws, classifier, win_percentage, lower, upper, mean, standard_error,
        requested_dataset``. The last column is empty, or the requested dataset that this one replaces.

    Returns
    -------
    Figure
        Bands contain 95 % of the samples. Dotted lines are the 95 % confidence interval of their mean.
    """
    looks, first = _looks(example), example.iloc[0]
    figure, ((axis,),) = new_figure(5, 3.2)
    _draw_bands(axis, example, looks)
    for name, curve in example.groupby("classifier", sort=False):
        for side in (-_NORMAL_95, _NORMAL_95):
            limit = 100 * (curve["mean"] + side * curve["standard_error"])
            axis.plot(curve["n_draws"], limit, color=looks[name]["color"], **DOTTED)
    title = f"{first['dataset']}, M = {first['n_sampled']:,}"
    if pd.notna(first["requested_dataset"]):
        title += f"\n(instead of {first['requested_dataset']}, which is missing)"
    axis.set(title=title, xlabel="draws N", ylabel="win percentage (%)", xscale="log")
    draws_axis(axis, example["n_draws"])
    kinds = [legend_patch("95 % of samples", **BAND), legend_line("95 %, their mean", color="#555555", **DOTTED)]
    add_legend(figure, [*_handles(looks), *kinds])
    return figure


@_Figure(
    "win_percentage_fig7",
    title="Error of win percentages from samples",
    reads=["tables/win_percentage/sampling_errors.csv", "tables/win_percentage/sampling_law.csv"],
    alt="box plots of the error of sampled win percentages by N/M, with the fitted power law",
    finding=findings.law_of_error,
)
def plot_sampling_error(errors: pd.DataFrame, laws: pd.DataFrame) -> Figure:
    """Draw Figure 7: error of win percentages from samples against N / M, with the fitted and the published law.

    Parameters
    ----------
    errors : DataFrame
        Columns ``source, n_sampled, n_draws, rmse``.
    laws : DataFrame
        Columns ``source, factor, exponent`` of rmse = factor (N / M)^exponent. Only the source ``all`` is drawn.

    Returns
    -------
    Figure
        One dot per error, colored by source, with a marker per number of feature sets.
    """
    sources, sizes = list(errors["source"].unique()), sorted(errors["n_sampled"].unique())
    colors = {source: style_of(number)["color"] for number, source in enumerate(sources)}
    markers = {n_sampled: style_of(number)["marker"] for number, n_sampled in enumerate(sizes)}
    errors = errors.assign(ratio=errors["n_draws"] / errors["n_sampled"], error=100 * errors["rmse"])
    figure, ((axis,),) = new_figure(3.4, 2.7)
    for (source, n_sampled), part in errors.groupby(["source", "n_sampled"], sort=False):
        look = {"color": colors[source], "marker": markers[n_sampled], "linestyle": "", "alpha": 0.6}
        shown = part.assign(error=[significant(error, 2) for error in part["error"]])
        texts = texts_of(shown, "{source}, M = {n_sampled:,}, N = {n_draws:,.0f}: {error} %")
        plot_points(axis, part["ratio"], part["error"], texts, markersize=2.5, markeredgewidth=0, **look)
    _draw_boxes(axis, errors["ratio"], errors["error"])
    axis.set(xscale="log", yscale="log", xlabel="draws per feature set N / M", ylabel="RMSE of win percentage (%)")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter("")
    dot = {"linestyle": "", "markersize": 4}
    add_legend(figure, [legend_line(source, color=color, marker="o", **dot) for source, color in colors.items()])
    marks = [legend_line(f"M = {n:,}", color="#555555", marker=marker, **dot) for n, marker in markers.items()]
    ends = errors["ratio"].agg(["min", "max"]).clip(upper=1).to_numpy()
    fitted = laws.set_index("source").loc["all", ["factor", "exponent"]]
    for (factor, exponent), law_of, style in ((fitted, "fitted", "-"), (PUBLISHED_LAW, "Equation 2", "--")):
        law = f"{factor:.2f} (N / M)$^{{{exponent:.2f}}}$, {law_of}"
        look = {"color": "black", "linestyle": style, "linewidth": 1, "label": law}
        marks += axis.plot(ends, 100 * factor * ends**exponent, **look)
    axis.legend(handles=marks, loc="lower right", fontsize=7, framealpha=0.9, edgecolor="none")
    return figure


@_Figure(
    "win_percentage_fig8",
    title="Weights of ranks",
    reads=["tables/win_percentage/rank_weights.csv"],
    alt="weight of each rank of a sample, for several N",
    finding=findings.share_of_first_rank,
)
def plot_rank_weights(weights: pd.DataFrame) -> Figure:
    """Draw Figure 8: probability that the feature set of each rank is the best of N draws, with a panel per M.

    Parameters
    ----------
    weights : DataFrame
        Columns ``n_sampled, n_draws, rank, weight``.

    Returns
    -------
    Figure
        One curve per N.
    """
    draws = sorted(weights["n_draws"].unique())
    figure, panels = _panels(weights, "n_sampled", width=3.0, height=2.3, columns=2)
    for axis, n_sampled, part in panels:
        for n_draws, curve in part.groupby("n_draws"):
            number = draws.index(n_draws)
            look = {"linestyle": ("-", "--", "-.", ":")[number % 4], "color": style_of(number)["color"]}
            values = zip(curve["rank"], curve["weight"], strict=True)
            texts = [f"rank {rank:,.0f} is the best of {n_draws:,.0f}: {significant(w, 2)}" for rank, w in values]
            plot_points(axis, curve["rank"], curve["weight"], texts, label=f"N = {n_draws:,.0f}", linewidth=1.2, **look)
        axis.set(title=f"M = {n_sampled:,}", xlabel="rank of the feature set", ylabel="probability to be the best")
        axis.set(xscale="log", yscale="log")
        largest = part["weight"].max()
        axis.set_ylim(max(part["weight"].min(), 1e-6 * largest) / 2, 2 * largest)
    add_legend(figure, panels[0][0].get_legend_handles_labels()[0])
    return figure


def _panels(
    table: pd.DataFrame, by: str | list[str], *, width: float, height: float, columns: int = 3
) -> tuple[Figure, list[tuple[Axes, Any, pd.DataFrame]]]:
    """Create a figure with a lettered panel per group of a table; also return axes, name and rows of each group."""
    groups = list(table.groupby(by, sort=by == "n_sampled"))
    n_columns = min(columns, len(groups))
    n_rows = -(-len(groups) // n_columns)
    figure, axes = new_figure(max(width * n_columns, 3.4), height * n_rows + 0.1, n_rows, n_columns)
    for position, axis in enumerate(axes.flat):
        _letter(axis, position)
        axis.set_visible(position < len(groups))
    return figure, [(axis, *group) for axis, group in zip(axes.flat, groups, strict=False)]


def _looks(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the line style of each classifier; names other than the six classifiers get colors in their order."""
    names, others = table["classifier"].unique(), (style_of(number)["color"] for number in count())
    looks = {name: LOOKS.get(name) or (next(others), "-") for name in names}
    return {
        name: {"color": color, "linestyle": style, "linewidth": 1.2, "label": name}
        for name, (color, style) in looks.items()
    }


def _handles(looks: dict[str, dict[str, Any]]) -> list:
    return [legend_line(**look) for look in looks.values()]


def _letter(axis: Axes, position: int) -> None:
    letter = ascii_lowercase[position % 26] * (1 + position // 26)
    axis.set_title(letter, loc="left", fontweight="bold")


def _draw_bands(axis: Axes, part: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    for name, curve in part.sort_values("n_draws").groupby("classifier", sort=False):
        sides = 100 * curve[["lower", "upper"]].T.to_numpy()
        axis.fill_between(curve["n_draws"], *sides, color=looks[name]["color"], alpha=0.25, lw=0)
        draw_curve(axis, name, curve, looks[name])
    axis.set_ylim(bottom=0)


def _draw_boxes(axis: Axes, ratio: pd.Series, error: pd.Series) -> None:
    """Draw a box for each third of a power of ten; errors of 0 are omitted on the logarithmic axis."""
    bins = np.floor(_BINS_PER_DECADE * np.log10(ratio.to_numpy()) + 1e-9)
    shown = pd.Series(error.to_numpy()).groupby(np.where(error > 0, bins, np.nan))
    parts = {number: part.to_numpy() for number, part in shown}
    edges = 10 ** (np.array([[number, number + 1] for number in parts]) / _BINS_PER_DECADE)
    look = {"color": "#333333", "linewidth": 0.8}
    looks: dict = {"boxprops": look, "whiskerprops": look, "capprops": look, "medianprops": {**look, "linewidth": 1.6}}
    places: dict = {"positions": np.sqrt(edges.prod(axis=1)), "widths": 0.5 * np.diff(edges).ravel()}
    # The dots show outliers already.
    axis.boxplot(list(parts.values()), **places, **looks, showfliers=False, manage_ticks=False)


def _draw_map(axis: Axes, grid: pd.DataFrame) -> None:
    table = grid.pivot(index="y", columns="x", values="share")
    share = table.to_numpy()
    # The disagreement is 0 if all models agree, and 1 if half of them predict each class.
    differing = 4 * share * (1 - share)
    look: dict = {"cmap": "Greys", "vmin": 0, "vmax": 2, "shading": "nearest", "rasterized": True}
    axis.pcolormesh(table.columns, table.index, differing, **look)
    if share.min() < 0.5 < share.max():
        axis.contour(table.columns, table.index, share, levels=[0.5], colors="black", linewidths=1)
    axis.set(xlim=(table.columns.min(), table.columns.max()), ylim=(table.index.min(), table.index.max()))


def _draw_samples(axis: Axes, samples: pd.DataFrame) -> None:
    from matplotlib.patches import Ellipse

    for (name, part), (color, marker) in zip(samples.groupby("class"), CLASS_MARKS, strict=True):
        positions = part[["x", "y"]].to_numpy()
        axis.plot(*positions.T, marker, color=color, markersize=2.6, markeredgewidth=0, alpha=0.7, label=name)
        mean = positions.mean(axis=0)
        axis.plot(*mean, "X", color=color, markersize=6, markeredgecolor="white", markeredgewidth=0.8, zorder=3)
        variances, directions = np.linalg.eigh(np.cov(positions.T))
        angle = np.degrees(np.arctan2(directions[1, 0], directions[0, 0]))
        diameters = 2 * np.sqrt(np.maximum(variances, 0))
        axis.add_patch(Ellipse(mean, *diameters, angle=angle, facecolor="none", edgecolor=color, linewidth=1))


def _draw_tail(axis: Axes, part: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> None:
    """Draw the densities above the performance that a small share of all pairs exceeds."""
    table = part.pivot(index="performance", columns="classifier", values=["pairs", "density"]).sort_index()
    left = table["pairs"].sum(axis=1)[::-1].cumsum()[::-1]
    tail = table["density"][left <= _TAIL * left.iloc[0]]
    if tail.empty:  # all pairs are in the highest bin
        tail = table["density"].iloc[-1:]
    seen = tail.to_numpy().max(axis=1) > 1e-3 * max(tail.to_numpy().max(), 1e-12)
    for name in filter(tail.columns.__contains__, looks):
        axis.plot(tail.index, tail[name], **looks[name])
    axis.locator_params("x", nbins=4)
    if seen[1:].any():
        axis.set_xlim(tail.index[0], tail.index[seen][-1])
    axis.set(title=f"highest {_TAIL:.0%} of the pairs".replace("%", " %"), xlabel="performance x", ylim=(0, None))
