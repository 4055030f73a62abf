"""Cross-validated predictions of error-correcting output codes."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairfold.figures import PALETTE, STYLE, name_of, tell, tell_at

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
_BINS = np.linspace(0, 1, 21)


def plot_confusion(predictions: pd.DataFrame) -> Figure:
    """Confusion matrix of cross-validated predictions.

    Parameters
    ----------
    predictions : columns ``class, predicted``, a row per sample.

    Returns
    -------
    Figure
        Numbers of samples; rows are true classes. Shades are shares of the true class.
    """
    names = list(dict.fromkeys(predictions["class"].sort_values()))
    counts = pd.crosstab(predictions["class"], predictions["predicted"]).reindex(
        index=names, columns=names, fill_value=0
    )
    share = counts.div(counts.sum(axis=1), axis=0).to_numpy()
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        side = 1.2 + 0.55 * len(names)
        figure = Figure(figsize=(side + 0.3, side), layout="constrained")
        axis = figure.subplots()
        axis.imshow(share, cmap="Blues", vmin=0, vmax=1)
        for (row, column), count in np.ndenumerate(counts.to_numpy()):
            colour = "white" if share[row, column] > 0.5 else "black"
            axis.text(column, row, f"{count:,}", ha="center", va="center", color=colour)
            said = f"{count:,} of {names[row]} predicted as {names[column]}, {share[row, column]:.0%}"
            tell_at(axis, [column], [row], [said])
        shown = list(map(name_of, names))
        axis.set_xticks(range(len(names)), shown, rotation=45, ha="right", rotation_mode="anchor")
        axis.set_yticks(range(len(names)), shown)
        axis.set(xlabel="predicted class", ylabel="true class")
        axis.tick_params(length=0)
    return figure


def plot_posterior_regions(maps: pd.DataFrame, samples: pd.DataFrame) -> Figure:
    """Regions of the most probable class over two features, the darker the more probable.

    Parameters
    ----------
    maps : columns ``feature_1, feature_2, x, y, class, posterior``; an even grid, a row for each point and class.
    samples : columns ``x, y, class``.

    Returns
    -------
    Figure
    """
    names = list(maps["class"].unique())
    grids = [part.pivot(index="y", columns="x", values="posterior") for _, part in maps.groupby("class", sort=False)]
    posterior = np.stack([grid.to_numpy() for grid in grids])
    best = posterior.argmax(axis=0)
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure = Figure(figsize=(3.6, 3.3), layout="constrained")
        axis = figure.subplots()
        handles = []
        for k, name in enumerate(names):
            colour, marker = PALETTE[k % len(PALETTE)], MARKERS[k % len(MARKERS)]
            shown = np.where(best == k, posterior[k], np.nan)
            tint = LinearSegmentedColormap.from_list(str(name), ["white", colour])
            axis.pcolormesh(grids[k].columns, grids[k].index, shown, cmap=tint, vmin=0.2, vmax=1.6, rasterized=True)
            part = samples[samples["class"] == name]
            style = {"color": colour, "marker": marker, "linestyle": "", "markersize": 4, "markeredgecolor": "black"}
            (line,) = axis.plot(part["x"], part["y"], **style, markeredgewidth=0.4)
            nearest = [
                abs(np.subtract.outer(part[at].to_numpy(), grids[k].axes[at == "x"])).argmin(axis=1) for at in "yx"
            ]
            found = zip(best[*nearest], posterior.max(axis=0)[*nearest], strict=True)
            tell(line, [f"a sample of {name}: here {names[likeliest]} has {chance:.0%}" for likeliest, chance in found])
            handles.append(Line2D([], [], **style, markeredgewidth=0.4, label=name_of(name)))
        axis.contour(
            grids[0].columns,
            grids[0].index,
            posterior.max(axis=0),
            levels=[0.5, 0.7, 0.9],
            colors="#555555",
            linewidths=0.6,
        )
        axis.set(xlabel=name_of(maps["feature_1"].iloc[0]), ylabel=name_of(maps["feature_2"].iloc[0]))
        figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)
    return figure


def plot_posterior_histogram(posteriors: pd.DataFrame, *, candidate: str, title: str) -> Figure:
    """Posterior probability of one class, for samples that are of it and samples that are not.

    Parameters
    ----------
    posteriors : columns ``class, candidate, posterior``; a row for each sample and candidate class.
    candidate : the class whose probability is shown.
    title : what the horizontal axis says.
    """
    part = posteriors[posteriors["candidate"].astype(str) == candidate]
    is_of_class = part["class"].astype(str) == candidate
    with mpl.rc_context({**STYLE, "axes.grid.axis": "y"}):
        figure = Figure(figsize=(3.4, 2.6), layout="constrained")
        axis = figure.subplots()
        for mask, name, colour in (
            (is_of_class, "of this class", PALETTE[0]),
            (~is_of_class, "of another", PALETTE[3]),
        ):
            look = {"color": colour, "alpha": 0.55, "label": f"{name} ({mask.sum()})"}
            heights, *_ = axis.hist(part.loc[mask, "posterior"], _BINS, **look)
            bars = [bar for bar in zip(_BINS[:-1], _BINS[1:], heights, strict=True) if bar[-1]]
            said = [f"{name}, {low:.2f} to {high:.2f}: {height:.0f}" for low, high, height in bars]
            tell_at(axis, [(low + high) / 2 for low, high, _ in bars], heights[heights > 0], said)
        axis.set(xlabel=title, ylabel="samples", xlim=(0, 1))
        figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


def plot_code_comparison(comparison: pd.DataFrame) -> Figure:
    """Error and log-loss of codes, by binary loss and decoding, with scikit-learn's classifiers.

    Parameters
    ----------
    comparison : columns ``dataset, coding, binary_loss, decoding, error, log_loss``; scikit-learn's classifiers are
        the rows without a binary loss, their name stands as coding. Without a log-loss, or a value, there is no mark.
    """
    datasets, quantities = list(comparison["dataset"].unique()), {"error": "error (%)", "log_loss": "log-loss"}
    codings = list(comparison["coding"].unique())
    losses = list(comparison["binary_loss"].dropna().unique())
    with mpl.rc_context({**STYLE, "axes.grid.axis": "x"}):
        size = (7.0, 0.9 + 0.24 * len(codings) * len(datasets) + 0.5 * len(datasets))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(datasets), 2, squeeze=False, sharey=True)
        for row, dataset in zip(panels, datasets, strict=True):
            of_dataset = comparison[comparison["dataset"] == dataset]
            for axis, (quantity, label) in zip(row, quantities.items(), strict=True):
                _draw_comparison(axis, of_dataset, quantity, codings, losses)
                axis.set_xlabel(label)
            row[0].set_title(dataset, loc="left")
        figure.legend(handles=_comparison_handles(losses), loc="outside upper center", ncols=5, frameon=False)
    return figure


def _look(position: int) -> dict[str, str]:
    colours = [colour for colour in PALETTE if colour != "#F0E442"]
    return {"color": colours[position % len(colours)], "marker": MARKERS[position % len(MARKERS)]}


def _draw_comparison(axis: Axes, table: pd.DataFrame, quantity: str, codings: list[str], losses: list[str]) -> None:
    factor = 100 if quantity == "error" else 1
    peers = table[table["binary_loss"].isna()]
    places = peers["coding"].map(codings.index)
    (line,) = axis.plot(factor * peers[quantity], places, "|", color="black", markersize=9)
    unit = " %" if quantity == "error" else ""
    tell(line, [f"{name}: {value:.3g}{unit}" for name, value in zip(peers["coding"], line.get_xdata(), strict=True)])
    for position, loss in enumerate(losses):
        for decoding, face in (("lossweighted", None), ("lossbased", "none")):
            part = table[(table["binary_loss"] == loss) & (table["decoding"] == decoding)]
            height = part["coding"].map(codings.index) + 0.5 * ((position + 0.5) / len(losses) - 0.5)
            style = {"linestyle": "", "markersize": 3.5, "markeredgewidth": 0.8, **_look(position)}
            (line,) = axis.plot(factor * part[quantity], height, **style, **({"markerfacecolor": face} if face else {}))
            values = zip(part["coding"], line.get_xdata(), strict=True)
            tell(line, [f"{coding}, {loss}, {decoding}: {value:.3g}{unit}" for coding, value in values])
    axis.set_yticks(range(len(codings)), codings)
    axis.set_ylim(len(codings) - 0.5, -0.5)


def _comparison_handles(losses: list[str]) -> list[Line2D]:
    common = {"linestyle": "", "markersize": 4}
    handles = [Line2D([], [], **common, **_look(position), label=loss) for position, loss in enumerate(losses)]
    grey = {"color": "#555555", "marker": "o"}
    return [
        *handles,
        Line2D([], [], **common, **grey, label="loss-weighted"),
        Line2D([], [], **common, **grey, markerfacecolor="none", label="loss-based"),
        Line2D([], [], linestyle="", color="black", marker="|", markersize=8, label="scikit-learn"),
    ]
