"""Win percentages (Parry, Phan & Wang 2012, Figures 1 to 8)."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse, Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from fairfold.errors import DataError
from fairfold.figures import PALETTE, STYLE, interval, name_of, tell

PUBLISHED_LAW = (0.24, 0.48)  # factor and exponent of Equation 2

# One look per classifier in all figures; unpooled covariances are dashed. Yellow is too light for lines on white.
LOOKS = {
    "NC": (PALETTE[0], "-"),
    "DLDA": (PALETTE[2], "-"),
    "LDA": (PALETTE[3], "-"),
    "SDA": (PALETTE[4], "--"),
    "UDA": (PALETTE[5], "--"),
    "QDA": (PALETTE[1], "--"),
}
_OTHERS = tuple(colour for colour in PALETTE if colour != "#F0E442")
CLASS_MARKS = ((PALETTE[0], "o"), (PALETTE[3], "^"))  # first and second class
_SHADES = LinearSegmentedColormap.from_list("disagreement", ["#ffffff", "#777777"])
_NORMAL_95 = 1.96
_BINS_PER_DECADE = 3  # of N / M, a box for each
_TAIL = 0.01  # share of the pairs that the inset shows
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


def plot_decision_maps(maps: pd.DataFrame, points: pd.DataFrame) -> Figure:
    """Figure 1: what the models of repeated cross-validation decide on the pairs where classifiers are the best.

    Parameters
    ----------
    maps : columns ``dataset, classifier, feature_1, feature_2, x, y, share``; a grid for each panel, features by name.
    points : columns ``dataset, classifier, feature_1, feature_2, x, y, class``; the samples.

    Returns
    -------
    Figure
        White where all models agree, the darker the less they do, darkest where half of them decide for either class,
        which is the line. Ellipses are at one standard deviation of each class, around its mean, a cross.

    Raises
    ------
    DataError
        When the samples of a panel are missing or not of two classes.
    """
    keys = ["dataset", "classifier", "feature_1", "feature_2"]
    panels = list(maps.groupby(keys, sort=False))
    samples = dict(list(points.groupby(keys, sort=False)))
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure, axes = _panels(len(panels), width=2.3, height=2.2)
        for position, (axis, (key, grid)) in enumerate(zip(axes, panels, strict=True)):
            if key not in samples or samples[key]["class"].nunique() != 2:
                raise DataError(f"panel {key} has no samples of two classes; make both tables from the same data.")
            _draw_map(axis, grid)
            _draw_samples(axis, samples[key])
            dataset, classifier, first, second = key
            of = "" if maps["dataset"].nunique() == 1 else f"{dataset}, "
            axis.set(title=f"{of}{classifier}", xlabel=name_of(first), ylabel=name_of(second))
            _letter(axis, position)
        names = sorted(points["class"].unique())
        _legend(figure, _map_handles(names))
    return figure


def plot_joint_densities(densities: pd.DataFrame) -> Figure:
    """Figure 2: joint density p(x, c) of performance and best classifier in the illustrative example.

    Parameters
    ----------
    densities : columns ``classifier, performance, density``.
    """
    names = list(densities["classifier"].unique())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.4, 2.3), layout="constrained")
        axis = figure.subplots()
        for name, curve in densities.groupby("classifier", sort=False):
            _line(axis, curve["performance"], curve["density"], name, names)
        axis.set(xlabel="performance x", ylabel="joint density p(x, c)")
        axis.set_ylim(bottom=0)
        axis.margins(x=0)
        _legend(figure, _handles(names))
    return figure


def plot_illustration(curves: pd.DataFrame) -> Figure:
    """Figure 3: exact win percentages of the illustrative example, dashed, and the limits of estimates, solid.

    Parameters
    ----------
    curves : columns ``n_draws, classifier, win_percentage, lower, upper``.
    """
    names = list(curves["classifier"].unique())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.4, 2.6), layout="constrained")
        axis = figure.subplots()
        for name in names:
            curve, colour = curves[curves["classifier"] == name].sort_values("n_draws"), _look(name, names)[0]
            for column, style in (("win_percentage", "--"), ("lower", "-"), ("upper", "-")):
                width = 1.2 if column == "win_percentage" else 0.7
                (line,) = axis.plot(curve["n_draws"], 100 * curve[column], style, color=colour, linewidth=width)
                if column == "win_percentage":
                    _tell_wins(line, name, curve)
        axis.set(xlabel="draws N", ylabel="win percentage (%)", xlim=(curves["n_draws"].min(), curves["n_draws"].max()))
        axis.set_ylim(bottom=0)
        kinds = (("exact", "--", 1.2), ("2.5 and 97.5 % of estimates", "-", 0.7))
        styles = [Line2D([], [], color="#555555", linestyle=s, linewidth=w, label=label) for label, s, w in kinds]
        _legend(figure, [*_handles(names), *styles])
    return figure


def plot_performance_densities(densities: pd.DataFrame) -> Figure:
    """Figure 4: kernel-smoothed joint density p(x, c) of the best performance on a pair and who reaches it, by dataset.

    Parameters
    ----------
    densities : columns ``dataset, classifier, performance, pairs, density``.

    Returns
    -------
    Figure
        The inset shows the same near the best performance, for the highest hundredth of all pairs.
    """
    names = list(densities["classifier"].unique())
    with mpl.rc_context({**STYLE, "axes.grid.axis": "y"}):
        panels = list(densities.groupby("dataset", sort=False))
        figure, axes = _panels(len(panels), width=3.1, height=2.7, columns=2)
        for position, (axis, (dataset, part)) in enumerate(zip(axes, panels, strict=True)):
            for name, curve in part.groupby("classifier", sort=False):
                _line(axis, curve["performance"], curve["density"], name, names)
            shown = part.loc[part["density"] > 1e-3 * part["density"].max(), "performance"]
            highest = part["density"].max()
            axis.set(title=dataset, xlabel="performance x", ylabel="joint density p(x, c)")
            axis.set_xlim(shown.min(), min(shown.max() + 0.02, 1))
            axis.set_yticks([tick for tick in MaxNLocator(4).tick_values(0, highest) if 0 <= tick <= 1.1 * highest])
            axis.set_ylim(0, 2.1 * highest)  # room for the inset above the curves
            _draw_tail(axis.inset_axes((0.19, 0.62, 0.78, 0.36)), part, names)
            _letter(axis, position)
        _legend(figure, _handles(names))
    return figure


def plot_win_percentages(wins: pd.DataFrame) -> Figure:
    """Figure 5: win percentage against the number of draws, a panel per dataset.

    Parameters
    ----------
    wins : table
        Columns ``dataset, n_draws, classifier, win_percentage, null_lower, null_upper, permuted_lower,
        permuted_upper``; the last two may be NaN.

    Returns
    -------
    Figure
        The grey band is where equal classifiers stay; dotted lines are what permuted class labels give each classifier.
    """
    names = list(wins["classifier"].unique())
    has_permuted = wins["permuted_lower"].notna().any()
    with mpl.rc_context(STYLE):
        panels = list(wins.groupby("dataset", sort=False))
        figure, axes = _panels(len(panels), width=2.5, height=2.1)
        for position, (axis, (dataset, part)) in enumerate(zip(axes, panels, strict=True)):
            null = part.drop_duplicates("n_draws").sort_values("n_draws")
            band = 100 * null[["null_lower", "null_upper"]].T.to_numpy()
            axis.fill_between(null["n_draws"], *band, color="#999999", alpha=0.35, lw=0, zorder=0.8)
            for name, curve in part.sort_values("n_draws").groupby("classifier", sort=False):
                _tell_wins(_line(axis, curve["n_draws"], 100 * curve["win_percentage"], name, names), name, curve)
                for side in ("permuted_lower", "permuted_upper") if has_permuted else ():
                    colour = _look(name, names)[0]
                    axis.plot(curve["n_draws"], 100 * curve[side], ":", color=colour, linewidth=0.7, zorder=1.5)
            axis.set(title=dataset, xlabel="draws N", ylabel="win percentage (%)", xscale="log")
            _draws_axis(axis, part["n_draws"])
            axis.set_ylim(0, 102)
            _letter(axis, position)
        handles = [*_handles(names), Patch(color="#999999", alpha=0.35, lw=0, label="equal classifiers")]
        if has_permuted:
            handles.append(Line2D([], [], color="#555555", linestyle=":", linewidth=0.7, label="permuted labels"))
        _legend(figure, handles)
    return figure


def plot_sampling_example(example: pd.DataFrame) -> Figure:
    """Figure 6: win percentages of one dataset, and what large samples of its feature sets give.

    Parameters
    ----------
    example : columns ``dataset, n_sampled, n_draws, classifier, win_percentage, lower, upper, mean, standard_error,
        in_place_of``; the last is empty, or the dataset for which this one stands in.

    Returns
    -------
    Figure
        Dotted lines are the 95 % interval of the samples' mean.
    """
    names, (first, *_) = list(example["classifier"].unique()), example.to_dict("records")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5, 3.2), layout="constrained")
        axis = figure.subplots()
        _draw_bands(axis, example, names)
        for name, curve in example.groupby("classifier", sort=False):
            for side in (-_NORMAL_95, _NORMAL_95):
                limit = 100 * (curve["mean"] + side * curve["standard_error"])
                axis.plot(curve["n_draws"], limit, ":", color=_look(name, names)[0], linewidth=0.7)
        title = f"{first['dataset']}, M = {first['n_sampled']:,}"
        if pd.notna(first["in_place_of"]):
            title += f"\n(in place of {first['in_place_of']}, which is not there)"
        axis.set(title=title, xlabel="draws N", ylabel="win percentage (%)", xscale="log")
        _draws_axis(axis, example["n_draws"])
        kinds = [
            Patch(color="#999999", alpha=0.35, lw=0, label="95 % of samples"),
            Line2D([], [], color="#555555", linestyle=":", linewidth=0.7, label="95 %, their mean"),
        ]
        _legend(figure, [*_handles(names), *kinds])
    return figure


def plot_sampling_bands(bands: pd.DataFrame) -> Figure:
    """Bands of win percentages from samples of M feature sets, a row per dataset and a column per M.

    Parameters
    ----------
    bands : columns ``dataset, n_sampled, n_draws, classifier, win_percentage, lower, upper``.
    """
    names, datasets = list(bands["classifier"].unique()), list(bands["dataset"].unique())
    sizes = sorted(bands["n_sampled"].unique())
    with mpl.rc_context(STYLE):
        size = (0.5 + 2.2 * max(len(sizes), 1.4), 0.4 + 1.8 * len(datasets))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(datasets), len(sizes), squeeze=False, sharey="row", sharex=True)
        panels = [(dataset, n_sampled) for dataset in datasets for n_sampled in sizes]
        for position, (axis, (dataset, n_sampled)) in enumerate(zip(axes.ravel(), panels, strict=True)):
            part = bands[(bands["dataset"] == dataset) & (bands["n_sampled"] == n_sampled)]
            _draw_bands(axis, part, names)
            axis.set(title=f"{dataset}, M = {n_sampled:,}", xscale="log")
            _draws_axis(axis, part["n_draws"])
            _letter(axis, position)
        for axis in axes[-1]:
            axis.set_xlabel("draws N")
        for axis in axes[:, 0]:
            axis.set_ylabel("win percentage (%)")
        _legend(figure, _handles(names))
    return figure


def plot_sampling_error(errors: pd.DataFrame, laws: pd.DataFrame) -> Figure:
    """Figure 7: box plots of the error of win percentages from samples by N / M, the law fitted and the published one.

    Parameters
    ----------
    errors : columns ``source, n_sampled, n_draws, rmse``; a colour per source, a marker per number of feature sets.
    laws : columns ``source, factor, exponent`` of rmse = factor (N / M)^exponent; that of the source "all" is drawn.
    """
    sources, sizes = list(errors["source"].unique()), sorted(errors["n_sampled"].unique())
    factor, exponent = laws.set_index("source").loc["all", ["factor", "exponent"]]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.4, 2.7), layout="constrained")
        axis = figure.subplots()
        for (source, n_sampled), part in errors.groupby(["source", "n_sampled"], sort=False):
            colour, marker = (
                _other(sources.index(source)),
                _MARKERS[sizes.index(n_sampled) % len(_MARKERS)],
            )
            ratio, error = part["n_draws"] / n_sampled, 100 * part["rmse"]
            (line,) = axis.plot(ratio, error, marker, color=colour, markersize=2.5, markeredgewidth=0, alpha=0.6)
            dots = zip(part["n_draws"], error, strict=True)
            tell(line, [f"{source}, M = {n_sampled:,}, N = {n:,.0f}: {value:.2g} %" for n, value in dots])
        _draw_boxes(axis, errors["n_draws"] / errors["n_sampled"], 100 * errors["rmse"])
        ends = (errors["n_draws"] / errors["n_sampled"]).agg(["min", "max"]).clip(upper=1).to_numpy()
        axis.plot(ends, 100 * factor * ends**exponent, color="black", linewidth=1)
        axis.set(xscale="log", yscale="log", xlabel="draws per feature set N / M", ylabel="RMSE of win percentage (%)")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
        dot = {"linestyle": "", "markersize": 4}
        drawn = [Line2D([], [], color=_other(k), marker="o", label=name, **dot) for k, name in enumerate(sources)]
        _legend(figure, drawn)
        marks = [
            Line2D([], [], color="#555555", marker=_MARKERS[k % len(_MARKERS)], label=f"M = {m:,}", **dot)
            for k, m in enumerate(sizes)
        ]
        axis.plot(ends, 100 * PUBLISHED_LAW[0] * ends ** PUBLISHED_LAW[1], color="black", linestyle="--", linewidth=1)
        lines = [
            Line2D([], [], color="black", linestyle=style, linewidth=1, label=f"{a:.2f} (N / M)$^{{{b:.2f}}}${of}")
            for a, b, style, of in ((factor, exponent, "-", ", fitted"), (*PUBLISHED_LAW, "--", ", Equation 2"))
        ]
        axis.legend(handles=[*marks, *lines], loc="lower right", fontsize=7, framealpha=0.9, edgecolor="none")
    return figure


def plot_rank_weights(weights: pd.DataFrame) -> Figure:
    """Figure 8: probability of the feature set of each rank to be the best of N draws, a panel per M.

    Parameters
    ----------
    weights : columns ``n_sampled, n_draws, rank, weight``.
    """
    draws = sorted(weights["n_draws"].unique())
    with mpl.rc_context(STYLE):
        panels = list(weights.groupby("n_sampled"))
        figure, axes = _panels(len(panels), width=3.0, height=2.3, columns=2)
        for position, (axis, (n_sampled, part)) in enumerate(zip(axes, panels, strict=True)):
            for n_draws, curve in part.groupby("n_draws"):
                number = draws.index(n_draws)
                style = ("-", "--", "-.", ":")[number % 4]
                (line,) = axis.plot(
                    curve["rank"],
                    curve["weight"],
                    linestyle=style,
                    color=_other(number),
                    linewidth=1.2,
                    label=f"N = {n_draws:,.0f}",
                )
                ranks = zip(curve["rank"], curve["weight"], strict=True)
                tell(line, [f"rank {rank:,.0f} is the best of {n_draws:,.0f}: {weight:.2g}" for rank, weight in ranks])
            axis.set(title=f"M = {n_sampled:,}", xlabel="rank of the feature set", ylabel="probability to be the best")
            axis.set(xscale="log", yscale="log")
            largest = part["weight"].max()
            axis.set_ylim(max(part["weight"].min(), 1e-6 * largest) / 2, 2 * largest)
            _letter(axis, position)
        _legend(figure, axes[0].get_legend_handles_labels()[0])
    return figure


def _panels(n_panels: int, *, width: float, height: float, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels of a size in inches."""
    n_columns = min(columns, n_panels)
    n_rows = -(-n_panels // n_columns)
    size = (max(width * n_columns, 3.4), height * n_rows + 0.1)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axis in axes[n_panels:]:
        axis.set_visible(False)
    return figure, list(axes[:n_panels])


def _look(name: str, names: list[str]) -> tuple[str, str]:
    """Colour and line of a classifier; those that are not of the six take colours in their order."""
    others = [other for other in names if other not in LOOKS]
    return LOOKS[name] if name in LOOKS else (_other(others.index(name)), "-")


def _other(position: int) -> str:
    return _OTHERS[position % len(_OTHERS)]


def _line(axis: Axes, x: pd.Series, y: pd.Series, name: str, names: list[str]) -> Line2D:
    colour, style = _look(name, names)
    return axis.plot(x, y, color=colour, linestyle=style, linewidth=1.2, label=name)[0]


def _tell_wins(line: Line2D, name: str, curve: pd.DataFrame) -> None:
    """Say the win percentage of each point, with its limits where the table has them."""
    limits = 100 * curve.reindex(columns=["lower", "upper"]).to_numpy()
    wins = zip(*line.get_data(), limits, strict=True)
    tell(line, [f"{name} wins {win:.1f} %{interval(*ends, '.1f')} at N = {n:,.0f}" for n, win, ends in wins])


def _handles(names: Iterable[str]) -> list[Line2D]:
    names = list(names)
    looks = [(name, *_look(name, names)) for name in names]
    return [Line2D([], [], color=colour, linestyle=style, linewidth=1.2, label=name) for name, colour, style in looks]


def _legend(figure: Figure, handles: list[Line2D | Patch]) -> None:
    """A legend above the panels, in as many columns as the width has room for; each row makes the figure higher."""
    width, height = figure.get_size_inches()
    longest = max(len(handle.get_label()) for handle in handles)
    n_fit = max(int(width / (0.5 + 0.06 * longest)), 1)  # inches of an entry: line and spaces, and each character
    n_rows = -(-len(handles) // n_fit)
    figure.set_size_inches(width, height + 0.17 * n_rows)
    n_columns = -(-len(handles) // n_rows)
    figure.legend(handles=handles, loc="outside upper center", ncols=n_columns, frameon=False, columnspacing=1.2)


def _letter(axis: Axes, position: int) -> None:
    letter = ascii_lowercase[position % 26] * (1 + position // 26)
    axis.set_title(letter, loc="left", fontweight="bold")


def _draw_bands(axis: Axes, part: pd.DataFrame, names: list[str]) -> None:
    for name, curve in part.sort_values("n_draws").groupby("classifier", sort=False):
        sides = 100 * curve[["lower", "upper"]].T.to_numpy()
        axis.fill_between(curve["n_draws"], *sides, color=_look(name, names)[0], alpha=0.25, lw=0)
        _tell_wins(_line(axis, curve["n_draws"], 100 * curve["win_percentage"], name, names), name, curve)
    axis.set_ylim(bottom=0)


def _draw_boxes(axis: Axes, ratio: pd.Series, error: pd.Series) -> None:
    """A box for each third of a power of ten; errors of 0 have no place on the axis."""
    bins = np.floor(_BINS_PER_DECADE * np.log10(ratio.to_numpy()) + 1e-9)
    shown = pd.Series(error.to_numpy()).groupby(np.where(error > 0, bins, np.nan))
    parts = {number: part.to_numpy() for number, part in shown}
    edges = 10 ** (np.array([[number, number + 1] for number in parts]) / _BINS_PER_DECADE)
    look = {"color": "#333333", "linewidth": 0.8}
    axis.boxplot(
        list(parts.values()),
        positions=np.sqrt(edges.prod(axis=1)),
        widths=0.5 * np.diff(edges).ravel(),
        showfliers=False,  # the dots are there
        manage_ticks=False,
        boxprops=look,
        whiskerprops=look,
        capprops=look,
        medianprops={"color": "#333333", "linewidth": 1.6},
    )


def _draws_axis(axis: Axes, n_draws: pd.Series) -> None:
    axis.set_xlim(n_draws.min(), n_draws.max())
    axis.xaxis.set_major_locator(LogLocator(numticks=6))
    axis.set_ylim(bottom=0)


def _draw_map(axis: Axes, grid: pd.DataFrame) -> None:
    table = grid.pivot(index="y", columns="x", values="share")
    share = table.to_numpy()
    differing = 4 * share * (1 - share)  # 0 where all models agree, 1 where half of them decide for either class
    look = {"cmap": _SHADES, "vmin": 0, "vmax": 1, "shading": "nearest", "rasterized": True}
    axis.pcolormesh(table.columns, table.index, differing, **look)
    if share.min() < 0.5 < share.max():
        axis.contour(table.columns, table.index, share, levels=[0.5], colors="black", linewidths=1)
    axis.set(xlim=(table.columns.min(), table.columns.max()), ylim=(table.index.min(), table.index.max()))


def _draw_samples(axis: Axes, samples: pd.DataFrame) -> None:
    for (name, part), (colour, marker) in zip(samples.groupby("class"), CLASS_MARKS, strict=True):
        positions = part[["x", "y"]].to_numpy()
        axis.plot(*positions.T, marker, color=colour, markersize=2.6, markeredgewidth=0, alpha=0.7, label=name)
        mean = positions.mean(axis=0)
        axis.plot(*mean, "X", color=colour, markersize=6, markeredgecolor="white", markeredgewidth=0.8, zorder=3)
        variances, directions = np.linalg.eigh(np.cov(positions.T))
        axis.add_patch(
            Ellipse(
                mean,
                *(2 * np.sqrt(np.maximum(variances, 0))),
                angle=np.degrees(np.arctan2(directions[1, 0], directions[0, 0])),
                facecolor="none",
                edgecolor=colour,
                linewidth=1,
            )
        )


def _map_handles(names: list[str]) -> list[Line2D | Patch]:
    marks = zip(names, CLASS_MARKS, strict=False)
    handles = [Line2D([], [], color=c, marker=m, markersize=3.5, linewidth=1, label=name_of(n)) for n, (c, m) in marks]
    boundary = Line2D([], [], color="black", linewidth=1, label="average boundary")
    return [*handles, boundary, Patch(facecolor=_SHADES(0.5), lw=0, label="models differ")]


def _draw_tail(axis: Axes, part: pd.DataFrame, names: list[str]) -> None:
    """Densities from where a share of all pairs is left."""
    table = part.pivot(index="performance", columns="classifier", values=["pairs", "density"]).sort_index()
    left = table["pairs"].sum(axis=1)[::-1].cumsum()[::-1]
    tail = table["density"][left <= _TAIL * left.iloc[0]]
    if tail.empty:  # all in the highest bin
        tail = table["density"].iloc[-1:]
    seen = tail.to_numpy().max(axis=1) > 1e-3 * max(tail.to_numpy().max(), 1e-12)
    for name in (name for name in names if name in tail):
        _line(axis, tail.index, tail[name], name, names)
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.yaxis.set_major_locator(MaxNLocator(3))
    if seen.any():
        axis.set_xlim(tail.index[0], tail.index[seen][-1])
    axis.set_ylim(0, None)
    axis.tick_params(labelsize=6)
