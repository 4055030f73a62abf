"""Cross-testing on weak labels: scores, significant tests and choices of three procedures, an experiment of our own."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from fairfold.figures import STYLE, interval, nothing_to_draw, tell, tell_at
from fairfold.figures.legend import Legend

PROCEDURES = {"nested_cv": "nested CV", "cv_cross_testing": "CV + cross-testing", "cv_testing": "CV + testing"}
# Metric -> name, place beside the procedure's line, colour, face of the marker. Colours stand for candidates.
LABELS = {
    "score": ("labels as they are", -0.14, "black", "black"),
    "observed_score": ("labels left after hiding", 0.14, "#777777", "white"),
}


def plot_cross_testing_models(
    points: pd.DataFrame, repetitions: pd.DataFrame, legend: pd.DataFrame | None = None, *, alpha: float = 0.05
) -> Figure:
    """A row of three panels per dataset: scores, share of significant tests, and what was chosen.

    Parameters
    ----------
    points : what :func:`fairfold.cross_testing.models_summary.summarise_models` gives.
    repetitions : the table that ``points`` summarise, for a dot per repetition.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.
    alpha : proportion of significant tests where there is nothing to find, drawn as a dashed line.

    Returns
    -------
    Figure
        Bars are 95 % intervals; an interval that is wider than the panel, as that of two repetitions, is cut off.
    """
    if repetitions["score"].isna().all():
        return nothing_to_draw()
    units = list(points[["dataset", "missing_rate"]].drop_duplicates().itertuples(index=False, name=None))
    candidates = list(points["candidate"].dropna().unique())
    names = Legend(legend, candidates)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 0.75 + 1.4 * len(units)), layout="constrained")
        axes = figure.subplots(len(units), 3, squeeze=False, sharey="row", width_ratios=(1.5, 1, 1.2))
        for (dataset, rate), panels in zip(units, axes, strict=True):
            part = points[(points["dataset"] == dataset) & (points["missing_rate"] == rate)].set_index("procedure")
            runs = repetitions[(repetitions["dataset"] == dataset) & (repetitions["missing_rate"] == rate)]
            _draw_scores(panels[0], part, runs)
            _draw_significance(panels[1], part, alpha)
            _draw_choices(panels[2], part, _looks(names, candidates))
            panels[0].set_title(f"{dataset}, {rate} % of the positives hidden", loc="left")
            _name_procedures(panels[0], part)
        axes[-1, 0].set_xlabel(names.text(points["scoring"].iloc[0]))
        axes[-1, 1].set_xlabel("proportion significant")
        axes[-1, 2].set_xlabel("share of choices")
        figure.legend(
            handles=_legend_handles(_looks(names, candidates)),
            loc="outside upper center",
            ncols=min(4, len(candidates) + 2),
            frameon=False,
        )
    return figure


def _name_procedures(axes: Axes, part: pd.DataFrame) -> None:
    """Procedures from the top, each with its cost."""
    fits = part.loc[part["metric"] == "n_fits", "value"]
    names = [
        name if np.isnan(n := fits.get(procedure, np.nan)) else f"{name}\n{n:.0f} fits"
        for procedure, name in PROCEDURES.items()
    ]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def _draw_scores(axes: Axes, part: pd.DataFrame, runs: pd.DataFrame) -> None:
    for metric, (name, shift, colour, face) in LABELS.items():
        means = part[part["metric"] == metric].reindex(PROCEDURES)
        positions = np.arange(len(means)) + shift
        axes.hlines(positions, means["low"], means["high"], color=colour, linewidth=1.2)
        look = {"color": colour, "markerfacecolor": face, "markersize": 5, "zorder": 3}
        (line,) = axes.plot(means["value"], positions, "o", **look)
        rows = zip(PROCEDURES.values(), means["value"], map(interval, means["low"], means["high"]), strict=True)
        tell(line, [f"{procedure}, {name}: {value:.3f}{limits}" for procedure, value, limits in rows])
        for position, procedure in zip(positions, PROCEDURES, strict=True):
            dots = runs.loc[runs["procedure"] == procedure, metric]
            aside = position + np.sign(shift) * 0.16  # intervals and dots do not cover each other
            look = {"color": colour, "markersize": 2, "markeredgewidth": 0, "alpha": 0.6}
            (line,) = axes.plot(dots, np.full(len(dots), aside), "o", **look)
            tell(line, [f"{PROCEDURES[procedure]}, {name}, one repetition: {value:.3f}" for value in dots])
    shown = runs[list(LABELS)].melt()["value"].dropna()
    if len(shown):
        room = 0.15 * (shown.max() - shown.min()) or 0.01
        axes.set_xlim(shown.min() - room, shown.max() + room)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))


def _draw_significance(axes: Axes, part: pd.DataFrame, alpha: float) -> None:
    shares = part[part["metric"] == "significant_fraction"].reindex(PROCEDURES)
    positions = np.arange(len(shares))
    axes.hlines(positions, shares["low"], shares["high"], color="black", linewidth=1.2)
    (line,) = axes.plot(shares["value"], positions, "o", color="black", markersize=5, clip_on=False)
    rows = zip(PROCEDURES.values(), shares[["value", "low", "high"]].itertuples(index=False), strict=True)
    tell(line, [f"{name}: {row.value:.0%} significant{interval(row.low, row.high, '.0%')}" for name, row in rows])
    axes.axvline(alpha, color="black", linewidth=0.6, linestyle="--", zorder=0.9)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(visible=False, axis="y")


def _draw_choices(axes: Axes, part: pd.DataFrame, looks: dict[str, dict]) -> None:
    chosen = part[part["metric"] == "chosen"]
    left = np.zeros(len(PROCEDURES))
    for candidate, look in looks.items():
        widths = chosen.loc[chosen["candidate"] == candidate, "value"].reindex(PROCEDURES).fillna(0).to_numpy()
        axes.barh(range(len(widths)), widths, left=left, height=0.55, **look)
        bars = zip(left + widths / 2, range(len(widths)), PROCEDURES.values(), widths, strict=True)
        for middle, place, procedure, width in bars:
            if width:
                tell_at(axes, [middle], [place], [f"{procedure}: {candidate} in {width:.0%} of choices"])
        left += widths
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.grid(visible=False)


def _looks(names: Legend, candidates: list[str]) -> dict[str, dict[str, object]]:
    """Colour of each candidate's bars, hatched where it varies another model."""
    edge = {"edgecolor": "white", "linewidth": 0.6}
    return {
        name: {"facecolor": names.colour(name), "hatch": "////" if names.is_variation(name) else "", **edge}
        for name in candidates
    }


def _legend_handles(looks: dict[str, dict]) -> list[Line2D | Patch]:
    scores = [
        Line2D([], [], color=colour, marker="o", markerfacecolor=face, markersize=5, linewidth=1.2, label=name)
        for name, _, colour, face in LABELS.values()
    ]
    return scores + [Patch(label=name, **look) for name, look in looks.items()]
