"""Parts of figures that show win percentages against the number of draws."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fairfold.figures.points import interval, plot_points
from fairfold.figures.spec import Axes

BAND: dict[str, Any] = {"color": "#999999", "alpha": 0.35, "lw": 0}
DOTTED: dict[str, Any] = {"linestyle": ":", "linewidth": 0.7}


def draw_wins(axis: Axes, wins: pd.DataFrame, looks: dict[str, dict[str, Any]], who: str = "classifier") -> None:
    """Draw win percentages against the number of draws, with the results of equal classifiers and permuted labels.

    Parameters
    ----------
    axis : Axes
        Axes to change. The number of draws is on a logarithmic scale.
    wins : DataFrame
        Columns ``n_draws, win_percentage, null_lower, null_upper, permuted_lower, permuted_upper`` and the names. A
        classifier without win percentages has no line.
    looks : dict of str to dict
        Appearance of the line of each classifier.
    who : str, default="classifier"
        Column with the names of the classifiers.
    """
    wins = wins.sort_values("n_draws")
    null = wins.drop_duplicates("n_draws")
    axis.fill_between(null["n_draws"], 100 * null["null_lower"], 100 * null["null_upper"], **BAND, zorder=0.8)
    for name, curve in wins.groupby(who, sort=False):
        if curve["win_percentage"].notna().any():
            draw_curve(axis, name, curve, looks[name])
        permuted = 100 * curve[["permuted_lower", "permuted_upper"]]
        if permuted.notna().any(axis=None):
            axis.plot(curve["n_draws"], permuted, color=looks[name]["color"], zorder=1.5, **DOTTED)
    axis.set_xscale("log")
    draws_axis(axis, wins["n_draws"])


def draw_curve(axis: Axes, name: str, curve: pd.DataFrame, look: dict[str, Any]) -> None:
    """Draw the win percentages of one classifier; the texts of points include the limits if the table contains them.

    Parameters
    ----------
    axis : Axes
        Axes to change.
    name : str
        Name of the classifier.
    curve : DataFrame
        Columns ``n_draws, win_percentage`` and, if known, ``lower, upper``.
    look : dict
        Appearance of the line.
    """
    n_draws, wins = curve["n_draws"], 100 * curve["win_percentage"]
    points = zip(n_draws, wins, 100 * curve.reindex(columns=["lower", "upper"]).to_numpy(), strict=True)
    texts = [f"{name} wins {win:.1f} %{interval(low, high, '.1f')} at N = {n:,.0f}" for n, win, (low, high) in points]
    plot_points(axis, n_draws, wins, texts, **look)


def draws_axis(axis: Axes, n_draws: pd.Series) -> None:
    """Set the limits of axes with the number of draws.

    Parameters
    ----------
    axis : Axes
        Axes to change.
    n_draws : Series
        All numbers of draws.
    """
    axis.set_xlim(n_draws.min(), n_draws.max())
    axis.locator_params("x", numticks=6)
    axis.set_ylim(bottom=0)
