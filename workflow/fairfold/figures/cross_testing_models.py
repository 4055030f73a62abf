"""Figure of cross-testing on weak labels: scores, significant tests and choices of three procedures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.points import add_tooltips_at, plot_intervals, plot_points
from fairfold.figures.spec import Axes, Figure, FigureSpec
from fairfold.figures.style import add_legend, empty_figure, legend_line, legend_patch, name_rows, new_figure

PROCEDURES = {"nested_cv": "nested CV", "cv_cross_testing": "CV + cross-testing", "cv_testing": "CV + testing"}
# Metric -> name, offset from the line of the procedure, color, marker face. Other colors stand for candidates.
LABELS = {
    "score": ("complete labels", -0.14, "black", "black"),
    "observed_score": ("observed labels", 0.14, "#777777", "white"),
}


@FigureSpec(
    "cross_testing_models",
    section="cross-testing",
    title="Cross-testing on weak labels",
    reads=["tables/cross_testing_models.csv", "cross_testing/models.csv", "legend.csv"],
    alt="scores of three procedures on complete and on observed labels, their significant tests and their choices",
    labels_of="cross_testing.models.datasets",
    when="cross_testing.models.datasets",
    settings={"alpha": "cross_testing.alpha"},
    finding=findings.bias_of_observed_scores,
)
def plot_cross_testing_models(
    points: pd.DataFrame, repetitions: pd.DataFrame, legend: pd.DataFrame | None = None, *, alpha: float = 0.05
) -> Figure:
    """Draw a row of three panels per dataset: scores, share of significant tests, and choices.

    Parameters
    ----------
    points : DataFrame
        Table of :func:`fairfold.cross_testing.models_summary.summarize_models`.
    repetitions : DataFrame
        Repetitions that ``points`` summarizes, for a dot per repetition.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.
    alpha : float, default=0.05
        Expected proportion of significant tests without an effect, drawn as a dashed line.

    Returns
    -------
    Figure
        Bars are 95 % confidence intervals. Intervals wider than the panel are cut off, such as those of two
        repetitions.
    """
    if repetitions["score"].isna().all():
        return empty_figure()
    units = points.groupby(["dataset", "missing_rate"], sort=False)
    candidates = list(points["candidate"].dropna().unique())
    names = Legend(legend, candidates)
    looks = {name: _bar(names, name) for name in candidates}
    figure, axes = new_figure(7, 0.75 + 1.4 * len(units), len(units), 3, sharey="row", width_ratios=(1.5, 1, 1.2))
    for ((dataset, rate), rows), (scores, shares, choices) in zip(units, axes, strict=True):
        part = rows.set_index("procedure")
        _draw_scores(scores, part, repetitions.query(f"dataset == {dataset!r} and missing_rate == {rate}"))
        _draw_significance(shares, part, alpha)
        _draw_choices(choices, part, looks)
        scores.set_title(f"{dataset}, {rate} % of the positives hidden", loc="left")
        _name_procedures(scores, part)
    axes[-1, 0].set_xlabel(names.text(points["scoring"].iloc[0]))
    axes[-1, 1].set_xlabel("proportion significant")
    axes[-1, 2].set_xlabel("share of choices")
    mark = {"marker": "o", "markersize": 5, "linewidth": 1.2}
    handles = [legend_line(name, color=color, markerfacecolor=face, **mark) for name, _, color, face in LABELS.values()]
    handles += [legend_patch(name, **look) for name, look in looks.items()]
    add_legend(figure, handles, min(4, len(handles)))
    return figure


def _name_procedures(axes: Axes, part: pd.DataFrame) -> None:
    """Label the procedures from top to bottom, each with its cost."""
    fits = part.loc[part["metric"] == "n_fits", "value"]
    names = [
        f"{name}\n{fits[procedure]:.0f} fits" if pd.notna(fits.get(procedure)) else name
        for procedure, name in PROCEDURES.items()
    ]
    name_rows(axes, names)
    axes.grid(visible=False, axis="y")


def _draw_scores(axes: Axes, part: pd.DataFrame, runs: pd.DataFrame) -> None:
    for metric, (name, shift, color, face) in LABELS.items():
        means = part[part["metric"] == metric].reindex(PROCEDURES)
        positions = np.arange(len(means)) + shift
        look: dict = {"color": color, "marker": "o", "linestyle": "", "markerfacecolor": face, "markersize": 5}
        names = [f"{procedure}, {name}" for procedure in PROCEDURES.values()]
        plot_intervals(axes, positions, means[["value", "low", "high"]], names, zorder=3, **look)
        for position, procedure in zip(positions, PROCEDURES, strict=True):
            dots = runs.loc[runs["procedure"] == procedure, metric]
            aside = position + np.sign(shift) * 0.16  # avoid overlaps of intervals and dots
            small = {"markerfacecolor": color, "markersize": 2, "markeredgewidth": 0, "alpha": 0.6, "zorder": 2}
            texts = [f"{PROCEDURES[procedure]}, {name}, one repetition: {value:.3f}" for value in dots]
            plot_points(axes, dots, np.full(len(dots), aside), texts, **{**look, **small})
    shown = runs[list(LABELS)].melt()["value"].dropna()
    if len(shown):
        room = 0.15 * (shown.max() - shown.min()) or 0.01
        axes.set_xlim(shown.min() - room, shown.max() + room)
    axes.locator_params("x", nbins=5)


def _draw_significance(axes: Axes, part: pd.DataFrame, alpha: float) -> None:
    shares = part.loc[part["metric"] == "significant_fraction", ["value", "low", "high"]].reindex(PROCEDURES)
    names = [f"{procedure}, significant" for procedure in PROCEDURES.values()]
    look: dict = {"color": "black", "marker": "o", "linestyle": "", "markersize": 5, "clip_on": False}
    plot_intervals(axes, np.arange(len(shares)), shares, names, ".0%", **look)
    axes.axvline(alpha, color="black", linewidth=0.6, linestyle="--", zorder=0.9)
    axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", "0.5", "1"])
    axes.grid(visible=False, axis="y")


def _draw_choices(axes: Axes, part: pd.DataFrame, looks: dict[str, dict]) -> None:
    chosen = part[part["metric"] == "chosen"]
    left = np.zeros(len(PROCEDURES))
    for candidate, look in looks.items():
        widths = chosen.loc[chosen["candidate"] == candidate, "value"].reindex(PROCEDURES).fillna(0).to_numpy()
        axes.barh(range(len(widths)), widths, left=left, height=0.55, **look)
        for place, (procedure, width) in enumerate(zip(PROCEDURES.values(), widths, strict=True)):
            if width:
                text = f"{procedure}: {candidate} in {width:.0%} of choices"
                add_tooltips_at(axes, [left[place] + width / 2], [place], [text])
        left += widths
    axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], xticklabels=["0", "0.5", "1"])
    axes.grid(visible=False)


def _bar(names: Legend, candidate: str) -> dict:
    """Return the color of a candidate's bars, hatched for variations of another model."""
    hatch = "////" if names.is_variation(candidate) else ""
    return {"facecolor": names.color(candidate), "hatch": hatch, "edgecolor": "white", "linewidth": 0.6}
