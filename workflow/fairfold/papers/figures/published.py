"""Figure of the distances between our numbers and the published ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.points import plot_points, significant
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, name_of, name_rows, new_figure, style_of

# Column of the table -> label of the axis, negligible distance, and start of the logarithmic scale
_PANELS = {
    "difference_in_se": ("distance, standard errors", 2.0, 2.0),
    "difference_in_digits": ("distance, units of the last printed digit", 0.5, 1.0),
}
_ROW, _HALF = 0.24, 0.3  # height of a row in inches; largest vertical offset of dots


@FigureSpec(
    "published",
    section="published",
    title="Distances from the published numbers",
    reads=["tables/published.csv"],
    alt="distances of our numbers from the published ones, a row of dots for each printed table and figure",
    finding=findings.share_within_error,
)
def plot_published(comparison: pd.DataFrame) -> Figure:
    """Draw the distances between published numbers and ours, with a row per published table or figure.

    Parameters
    ----------
    comparison : DataFrame
        Columns ``paper, place, what, published, ours, difference_in_se, difference_in_digits``, as returned by
        :func:`fairfold.papers.published.comparison.compare_published`.

    Returns
    -------
    Figure
        One dot per number with a counterpart, colored by paper. The first panel has the numbers with scatter, in
        standard errors, with a line at 2. The second panel has the others, in units of the last printed digit, with a
        line at a half (rounding). The scales are linear up to 2 and 1, then logarithmic. The text at the end of each
        row is the number of dots out of all published numbers.
    """
    computed = comparison[comparison["ours"].notna()]
    if computed.empty:
        return empty_figure("no published number has a counterpart")
    shown = [column for column in _PANELS if computed[column].notna().any()]
    places = computed[["paper", "place"]].drop_duplicates().sort_values(["paper", "place"])
    looks = {paper: style_of(n) for n, paper in enumerate(places["paper"].unique())}
    size = (2.6 + 2.4 * len(shown), 0.9 + _ROW * len(places) + 0.17 * len(looks))
    figure, ((*panels,),) = new_figure(*size, 1, len(shown), sharey=True)
    for axes, column in zip(panels, shown, strict=True):
        _draw(axes, computed, column, places, looks)
    name_rows(panels[0], list(map(name_of, places["place"])))
    _write_counts(panels[-1], comparison, places)
    handles = [legend_line(paper, linestyle="", markersize=4, **look) for paper, look in looks.items()]
    add_legend(figure, handles, 1, "upper left")
    return figure


def _draw(axes: Axes, computed: pd.DataFrame, column: str, places: pd.DataFrame, looks: dict[str, dict]) -> None:
    label, line, linear = _PANELS[column]
    for row, (paper, place) in enumerate(places.itertuples(index=False)):
        part = computed[(computed["paper"] == paper) & (computed["place"] == place)]
        part = part.assign(size=part[column].abs()).dropna(subset="size").sort_values("size", kind="stable")
        if part.empty:
            continue  # an empty line without clipping breaks the layout
        aside = _HALF * _spread(len(part))
        style = {"linestyle": "", "markersize": 3, "alpha": 0.6, "markeredgewidth": 0, "clip_on": False}
        rows = zip(part["what"], part["published"], part["ours"], strict=True)
        texts = [f"{what}: {significant(a, 6)} published, {significant(b, 4)} here" for what, a, b in rows]
        plot_points(axes, part["size"], row + aside, texts, **style, **looks[paper])
    axes.axvline(line, color="black", linewidth=0.6, linestyle="--", zorder=0.9)
    axes.set_xscale("symlog", linthresh=linear, linscale=1.0)
    axes.set_xticks([], minor=True)
    largest = max(computed[column].abs().max(), 2 * linear)
    axes.set_xlim(0, largest * 1.15)
    ticks = [tick for tick in (0, line, *(10.0**power for power in range(1, 7))) if tick <= largest * 1.15]
    axes.set(xticks=ticks, xticklabels=[f"{tick:g}" for tick in ticks], xlabel=label)
    axes.grid(visible=False, axis="y")


def _spread(n: int) -> np.ndarray:
    """Return evenly spread numbers between -1 and 1 in mixed order, so dots of similar values stay apart."""
    golden = (np.sqrt(5) - 1) / 2
    return 2 * ((np.arange(n) * golden + 0.5) % 1) - 1


def _write_counts(axes: Axes, comparison: pd.DataFrame, places: pd.DataFrame) -> None:
    """Write the number of values with a counterpart, out of all published ones, at the right end of each row."""
    counts = comparison.groupby(["paper", "place"])["ours"].agg(["count", "size"])
    where: dict = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    for row, key in enumerate(places.itertuples(index=False, name=None)):
        count, size = counts.loc[key]
        axes.annotate(f"{count:,} of {size:,}", (1, row), xytext=(8, 0), va="center", **where)
