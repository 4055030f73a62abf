"""Win percentages of the models on random feature sets."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import LogLocator, NullFormatter

from fairfold.figures import STYLE, tell
from fairfold.figures.legend import Legend

_BAND = {"color": "#999999", "alpha": 0.3, "lw": 0}
_PERMUTED = {"linestyle": ":", "linewidth": 0.8}
_TOO_LIGHT = "#F0E442"  # yellow, for a line on white


def plot_model_win_percentages(wins: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Win percentage against the number of draws: a row per metric, a column per dataset, a line per model.

    Parameters
    ----------
    wins : columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, null_lower, null_upper,
        permuted_lower, permuted_upper, n_sets``; the permuted ones may be NaN. One missing rate, in percent.
    legend : as :class:`~fairfold.figures.legend.Legend` takes it.

    Returns
    -------
    Figure
        The grey band is where equal models stay; dotted lines are what permuted labels give each model. A
        variation of a model, such as one with a "+", has its colour, and is dashed.
    """
    metrics, datasets, models = (list(wins[column].unique()) for column in ("metric", "dataset", "model"))
    names = Legend(legend, models)
    looks = {model: _look(names, model) for model in models}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(max(3.4, 0.5 + 2.0 * len(datasets)), 1.7 * len(metrics) + 0.4), layout="constrained")
        axes = figure.subplots(len(metrics), len(datasets), sharex="col", sharey="row", squeeze=False)
        for row, metric in enumerate(metrics):
            for column, dataset in enumerate(datasets):
                panel = wins[(wins["metric"] == metric) & (wins["dataset"] == dataset)]
                _draw_panel(axes[row, column], panel, looks)
            axes[row, 0].set_ylabel(f"{names.label(metric)}:\nwin percentage (%)")
        for column, dataset in enumerate(datasets):
            first = wins[wins["dataset"] == dataset].iloc[0]
            axes[0, column].set_title(f"{dataset}, {first['missing_rate']} % hidden\n{first['n_sets']:,} feature sets")
            axes[-1, column].set_xlabel("draws N")
        _add_legend(figure, looks, has_permuted=wins["permuted_lower"].notna().any())
    return figure


def _draw_panel(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    null = panel.drop_duplicates("n_draws").sort_values("n_draws")
    axes.fill_between(null["n_draws"], 100 * null["null_lower"], 100 * null["null_upper"], **_BAND, zorder=0.8)
    for model, curve in panel.sort_values("n_draws").groupby("model", sort=False):
        (line,) = axes.plot(curve["n_draws"], 100 * curve["win_percentage"], **looks[model])
        wins = zip(curve["win_percentage"], curve["n_draws"], strict=True)
        tell(line, [f"{model} wins {win:.1%} of {n:,.0f} draws" for win, n in wins])
        for side in ("permuted_lower", "permuted_upper"):
            if curve[side].notna().any():
                axes.plot(curve["n_draws"], 100 * curve[side], color=looks[model]["color"], **_PERMUTED, zorder=1.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(panel["n_draws"].min(), max(panel["n_draws"].max(), 2))
    axes.set_ylim(-3, 103)  # shows the lines of models that never or always win


def _look(names: Legend, model: str) -> dict:
    colour = names.colour(model)
    look = {"color": colour, "linestyle": "--" if names.is_variation(model) else "-", "linewidth": 1.3}
    if colour == _TOO_LIGHT:
        look["path_effects"] = [Stroke(linewidth=2.1, foreground="#555555"), Normal()]
    return look


def _add_legend(figure: Figure, looks: dict[str, dict], *, has_permuted: bool) -> None:
    handles = [Line2D([], [], label=model, **look) for model, look in looks.items()]
    handles.append(Patch(label="equal models", **_BAND))
    if has_permuted:
        handles.append(Line2D([], [], color="#555555", label="permuted labels", **_PERMUTED))
    width, height = figure.get_size_inches()
    n_columns = max(min(len(handles), int(width / 1.15)), 1)  # inches of an entry
    figure.set_size_inches(width, height + 0.17 * -(-len(handles) // n_columns))
    figure.legend(handles=handles, loc="outside upper center", ncols=n_columns, frameon=False, columnspacing=1.2)
