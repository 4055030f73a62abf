"""Figures of cross-validated predictions of error-correcting output codes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.points import add_tooltips_at, plot_points, texts_of
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import PALETTE, add_legend, legend_line, name_of, name_rows, new_figure, style_of

QUANTITIES = {"error": "error (%)", "log_loss": "log-loss"}
_BINS = np.linspace(0, 1, 21)

_Example = partial(FigureSpec, section="ecoc", when="ecoc.examples", each="ecoc.examples")


@_Example(
    "ecoc_confusion_*",
    title="Confusion matrices",
    reads=["ecoc/*/predictions.csv"],
    alt="true against predicted classes",
    finding=findings.share_of_errors,
    style={"axes.grid": False},
)
def plot_confusion(predictions: pd.DataFrame) -> Figure:
    """Draw the confusion matrix of cross-validated predictions.

    Parameters
    ----------
    predictions : DataFrame
        Columns ``class, predicted``, with one row per sample.

    Returns
    -------
    Figure
        Numbers of samples, with true classes as rows. Shades are shares of the true class.

    Examples
    --------
    >>> figure = plot_confusion(pd.DataFrame({"class": ["a", "a", "b"], "predicted": ["a", "b", "b"]}))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1', '1', '0', '1']
    """
    names = list(dict.fromkeys(predictions["class"].sort_values()))
    counts = pd.crosstab(predictions["class"], predictions["predicted"])
    counts = counts.reindex(index=names, columns=names, fill_value=0)
    share = counts.div(counts.sum(axis=1), axis=0).to_numpy()
    side = 1.2 + 0.55 * len(names)
    figure, ((axis,),) = new_figure(side + 0.3, side)
    axis.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for (row, column), count in np.ndenumerate(counts.to_numpy()):
        color = "white" if share[row, column] > 0.5 else "black"
        axis.text(column, row, f"{count:,}", ha="center", va="center", color=color)
        text = f"{count:,} of {names[row]} predicted as {names[column]}, {share[row, column]:.0%}"
        add_tooltips_at(axis, [column], [row], [text])
    shown = list(map(name_of, names))
    axis.set_xticks(range(len(names)), shown, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(names)), shown)
    axis.set(xlabel="predicted class", ylabel="true class")
    axis.tick_params(length=0)
    return figure


@_Example(
    "ecoc_regions_*",
    title="Posterior regions",
    reads=["ecoc/*/map.csv", "ecoc/*/samples.csv"],
    alt="probability of the most probable class over petal length and width, with the samples",
    finding=findings.share_of_certain_points,
    only=["posterior"],
    style={"axes.grid": False},
)
def plot_posterior_regions(maps: pd.DataFrame, samples: pd.DataFrame) -> Figure:
    """Draw the regions of the most probable class over two features; darker means more probable.

    Parameters
    ----------
    maps : DataFrame
        Columns ``feature_1, feature_2, x, y, class, posterior`` on an even grid, with one row per point and class.
    samples : DataFrame
        Columns ``x, y, class``.

    Returns
    -------
    Figure
        The regions and the samples.
    """
    from matplotlib.colors import LinearSegmentedColormap

    names = list(maps["class"].unique())
    grids = [part.pivot(index="y", columns="x", values="posterior") for _, part in maps.groupby("class", sort=False)]
    y, x = grids[0].axes
    posterior = np.stack([grid.to_numpy() for grid in grids])
    best, highest = posterior.argmax(axis=0), posterior.max(axis=0)
    figure, ((axis,),) = new_figure(3.6, 3.3)
    handles = []
    for k, name in enumerate(names):
        look = style_of(k) | {"linestyle": "", "markersize": 4, "markeredgecolor": "black", "markeredgewidth": 0.4}
        tint = LinearSegmentedColormap.from_list(str(name), ["white", look["color"]])
        axis.pcolormesh(x, y, np.where(best == k, posterior[k], np.nan), cmap=tint, vmin=0.2, vmax=1.6, rasterized=True)
        part = samples[samples["class"] == name]
        nearest = (_nearest(y, part["y"]), _nearest(x, part["x"]))
        found = zip(best[nearest], highest[nearest], strict=True)
        texts = [f"sample of {name}: most probable is {names[likeliest]} ({chance:.0%})" for likeliest, chance in found]
        plot_points(axis, part["x"], part["y"], texts, **look)
        handles.append(legend_line(name_of(name), **look))
    axis.contour(x, y, highest, levels=[0.5, 0.7, 0.9], colors="#555555", linewidths=0.6)
    axis.set(xlabel=name_of(maps["feature_1"].iloc[0]), ylabel=name_of(maps["feature_2"].iloc[0]))
    add_legend(figure, handles, 3)
    return figure


def _nearest(grid: pd.Index, values: pd.Series) -> np.ndarray:
    """Return the positions of the grid points that are nearest to the values."""
    return abs(np.subtract.outer(values.to_numpy(), grid)).argmin(axis=1)


@_Example(
    "ecoc_posterior_*",
    title="Posterior probabilities",
    reads=["ecoc/*/posteriors.csv"],
    alt="histogram of posterior probabilities",
    finding=findings.median_posteriors,
    only=["arrhythmia"],
    options={"candidate": "1", "title": "P(no arrhythmia)"},
    style={"axes.grid.axis": "y"},
)
def plot_posterior_histogram(posteriors: pd.DataFrame, *, candidate: str, title: str) -> Figure:
    """Draw the posterior probability of one class, for samples of this class and of other classes.

    Parameters
    ----------
    posteriors : DataFrame
        Columns ``class, candidate, posterior``, with one row per sample and candidate class.
    candidate : str
        Class to show.
    title : str
        Label of the horizontal axis.

    Returns
    -------
    Figure
        Two histograms.
    """
    part = posteriors[posteriors["candidate"].astype(str) == candidate]
    is_of_class = part["class"].astype(str) == candidate
    figure, ((axis,),) = new_figure(3.4, 2.6)
    for mask, name, color in (is_of_class, "this class", PALETTE[0]), (~is_of_class, "other classes", PALETTE[3]):
        look = {"color": color, "alpha": 0.55, "label": f"{name} ({mask.sum()})"}
        heights, *_ = axis.hist(part.loc[mask, "posterior"], _BINS, **look)
        for low, high, height in zip(_BINS[:-1], _BINS[1:], heights, strict=True):
            if height:
                add_tooltips_at(axis, [(low + high) / 2], [height], [f"{name}, {low:.2f} to {high:.2f}: {height:.0f}"])
    axis.set(xlabel=title, ylabel="samples", xlim=(0, 1))
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


@FigureSpec(
    "ecoc_comparison",
    section="ecoc",
    title="Codes, losses and decodings",
    reads=["tables/ecoc/comparison.csv"],
    alt="error and log-loss of each coding design, binary loss and decoding",
    finding=findings.lowest_error,
    when="ecoc.comparison.datasets",
    style={"axes.grid.axis": "x"},
)
def plot_code_comparison(comparison: pd.DataFrame) -> Figure:
    """Draw error and log-loss of codes by binary loss and decoding, with scikit-learn's classifiers.

    Parameters
    ----------
    comparison : DataFrame
        Columns ``dataset, coding, binary_loss, decoding, error, log_loss``. Rows without a binary loss are
        scikit-learn's classifiers, with their name as coding.

    Returns
    -------
    Figure
        One mark per value. Missing values have no mark.
    """
    comparison = comparison.assign(error=100 * comparison["error"])
    datasets, codings = list(comparison["dataset"].unique()), list(comparison["coding"].unique())
    losses = {loss: style_of(n) for n, loss in enumerate(comparison["binary_loss"].dropna().unique())}
    height = 0.9 + 0.24 * len(codings) * len(datasets) + 0.5 * len(datasets)
    figure, panels = new_figure(7.0, height, len(datasets), 2, sharey=True)
    for row, dataset in zip(panels, datasets, strict=True):
        of_dataset = comparison[comparison["dataset"] == dataset]
        for axis, quantity in zip(row, QUANTITIES, strict=True):
            _draw_comparison(axis, of_dataset, quantity, codings, losses)
        row[0].set_title(dataset, loc="left")
    add_legend(figure, _comparison_handles(losses), 5)
    return figure


def _draw_comparison(
    axis: Axes, table: pd.DataFrame, quantity: str, codings: list[str], losses: dict[str, dict]
) -> None:
    table = table.assign(height=table["coding"].map(codings.index))
    value = f"{{{quantity}:.3g}}" + (" %" if quantity == "error" else "")
    peers = table[table["binary_loss"].isna()]
    texts = texts_of(peers, "{coding}: " + value)
    plot_points(axis, peers[quantity], peers["height"], texts, marker="|", linestyle="", color="black", markersize=9)
    for position, (loss, look) in enumerate(losses.items()):
        for decoding, face in (("lossweighted", {}), ("lossbased", {"markerfacecolor": "none"})):
            part = table[(table["binary_loss"] == loss) & (table["decoding"] == decoding)]
            height = part["height"] + 0.5 * ((position + 0.5) / len(losses) - 0.5)
            style = {"linestyle": "", "markersize": 3.5, "markeredgewidth": 0.8, **look, **face}
            texts = texts_of(part, "{coding}, {binary_loss}, {decoding}: " + value)
            plot_points(axis, part[quantity], height, texts, **style)
    axis.set_xlabel(QUANTITIES[quantity])
    name_rows(axis, codings)


def _comparison_handles(losses: dict[str, dict]) -> list:
    common = {"linestyle": "", "markersize": 4}
    gray = {**common, "color": "#555555", "marker": "o"}
    return [
        *(legend_line(loss, **common, **look) for loss, look in losses.items()),
        legend_line("loss-weighted", **gray),
        legend_line("loss-based", **gray, markerfacecolor="none"),
        legend_line("scikit-learn", linestyle="", color="black", marker="|", markersize=8),
    ]
