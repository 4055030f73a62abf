"""Figure of win percentages of the models on random feature sets."""

from __future__ import annotations

import textwrap

import pandas as pd

from fairfold.figures import findings
from fairfold.figures.legend import Legend
from fairfold.figures.spec import Figure, FigureSpec
from fairfold.figures.style import LINE_COLORS, add_legend, legend_line, legend_patch, new_figure, panels_of
from fairfold.figures.wins import BAND, DOTTED, draw_wins

_LEAST = 0.005  # models that win less often have no line


@FigureSpec(
    "win_percentage_models",
    section="win-percentage",
    title="Win percentage of the models",
    reads=["tables/win_percentage/models.csv", "legend.csv"],
    alt="win percentage of each model against the number of feature sets tried",
    labels_of="win_percentage.models.datasets",
    when="win_percentage.models.datasets",
    finding=findings.winner,
)
def plot_model_win_percentages(wins: pd.DataFrame, legend: pd.DataFrame | None = None) -> Figure:
    """Draw win percentages against the number of draws: a row per metric, a column per dataset, a line per model.

    Parameters
    ----------
    wins : DataFrame
        Columns ``dataset, metric, missing_rate, n_draws, model, win_percentage, null_lower, null_upper, permuted_lower,
        permuted_upper, n_sets``. The permuted limits may be NaN. There is one missing rate, in percent.
    legend : DataFrame, default=None
        Table for :class:`~fairfold.figures.legend.Legend`.

    Returns
    -------
    Figure
        The gray band is the interval for equal models. Dotted lines are the results with permuted labels. A variation
        of a model, such as one with a "+", has the same color and a dashed line. Models that win less than 0.5 % of all
        draws have no line in a panel; its title lists them.
    """
    metrics, datasets, models = (list(wins[column].unique()) for column in ("metric", "dataset", "model"))
    names, has_permuted = Legend(legend, models), wins["permuted_lower"].notna().any()
    looks = {model: _look(names, model) for model in models}
    for position, look in enumerate(looks.values()):
        look["markevery"] = (0.5 * position / len(models), 0.5)  # The markers of equal lines are at different places.
    best = wins.groupby(["metric", "dataset", "model"], sort=False)["win_percentage"].transform("max")
    rare = wins[best < _LEAST].drop_duplicates(["metric", "dataset", "model"])
    titles = rare.groupby(["metric", "dataset"], sort=False)["model"].agg(_list_rare)
    n_lines = titles.str.count("\n").groupby("metric").max().add(1).sum() + 2
    shown = wins.assign(win_percentage=wins["win_percentage"].where(best >= _LEAST))
    size = (max(3.4, 0.5 + 2.2 * len(datasets)), 1.5 * len(metrics) + 0.4 + 0.13 * n_lines)
    figure, axes = new_figure(*size, len(metrics), len(datasets), sharex="col", sharey="row")
    for panel, metric, dataset, part in panels_of(axes, shown, "metric", "dataset"):
        draw_wins(panel, part, looks, "model")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter("")
        panel.set(xlim=(part["n_draws"].min(), max(part["n_draws"].max(), 2)), ylim=(-3, 103))
        first, title = part.iloc[0], titles.get((metric, dataset), "")
        if metric == metrics[0]:
            title = f"{dataset}, {first['missing_rate']} % hidden\n{first['n_sets']:,} feature sets\n{title}"
        panel.set_title(title.strip())
    for panel, metric in zip(axes[:, 0], metrics, strict=True):
        panel.set_ylabel(f"{names.label(metric)}:\nwin percentage (%)")
    for panel in axes[-1]:
        panel.set_xlabel("draws N")
    drawn = set(wins["model"] if has_permuted else shown.dropna(subset="win_percentage")["model"])
    handles = [legend_line(model, **look) for model, look in looks.items() if model in drawn]
    handles.append(legend_patch("equal models", **BAND))
    if has_permuted:
        handles.append(legend_line("permuted labels", color="#555555", **DOTTED))
    add_legend(figure, handles)
    return figure


def _list_rare(models: pd.Series) -> str:
    """List the models without a line."""
    text = f"below {100 * _LEAST:g} % at every N: {', '.join(models)}"
    return textwrap.fill(text, 30, break_on_hyphens=False)


def _look(names: Legend, model: str) -> dict:
    look = {**names.line(model), "markersize": 3, "linewidth": 1.3}
    if look["color"] not in LINE_COLORS:
        from matplotlib.patheffects import Normal, Stroke

        look["path_effects"] = [Stroke(linewidth=2.1, foreground="#555555"), Normal()]
    return look
