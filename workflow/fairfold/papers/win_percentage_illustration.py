"""The illustrative example: three classifiers with normal performance, each of them the most likely winner of some N.

Each classifier is the best on a third of the feature sets, and its performance there is normal (Equation 1): c3 is
always good, c1 seldom excellent, c2 between them. All three are equal at N = 1; then c3 leads, and c1 from N = 27 on,
as printed. The paper says that c2 leads for 10 < N < 26. The exact win percentages of its normal distributions give c2
the lead for 12 <= N <= 26: at N = 11 c3 is still 0.2 % ahead, less than the width of the lines.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from fairfold.core.seeds import seed_sequence
from fairfold.papers.win_percentage_sampling import band, rank_weights, sampled_win_percentages
from fairfold.win_percentage.tables import curve_table
from fairfold.win_percentage.win import checked_draws, theoretical_win_percentage

GAUSSIANS = {"c1": (0.50, 0.20), "c2": (0.70, 0.07), "c3": (0.75, 0.02)}  # mean, standard deviation (Equation 1)
RANKED_SETS = 100  # M of Figure 8
_RANGE = (0.0, 1.0)  # of performance; 0.6 % of the feature sets of c1 lie on each side


def exact_win_percentages(n_draws: Sequence[float]) -> np.ndarray:
    """Win percentages of c1, c2 and c3 at each N (Equations 6-7), shape (n_values, 3)."""
    gaussians = [stats.norm(*each) for each in GAUSSIANS.values()]
    return theoretical_win_percentage(gaussians, n_draws, weights=np.ones(len(gaussians)))


def joint_densities(*, n_points: int = 501) -> pd.DataFrame:
    """Joint density p(x, c) of performance and best classifier, a third of the density of each (Equation 1, Figure 2).

    Parameters
    ----------
    n_points : values of performance, from 0 to 1.

    Returns
    -------
    DataFrame with the columns ``classifier, performance, density``
        The area under a curve is a third, but for what lies beyond 0 and 1.
    """
    performance = np.linspace(*_RANGE, n_points)
    densities = {name: stats.norm.pdf(performance, *each) / len(GAUSSIANS) for name, each in GAUSSIANS.items()}
    table = pd.DataFrame({"performance": performance, **densities})
    table = table.melt("performance", var_name="classifier", value_name="density")
    return table[["classifier", "performance", "density"]]


def illustrative_curves(
    n_draws: Sequence[float] = range(1, 101), *, n_sampled: int = 10_000, n_iterations: int = 100, random_state: int = 0
) -> pd.DataFrame:
    """Exact win percentages, and the band in which 95 % of the estimates from M feature sets lie (Figure 3).

    Parameters
    ----------
    n_draws : numbers N of draws, at least 1.
    n_sampled : M, feature sets of each estimate.
    n_iterations : number of estimates.
    random_state : seed.

    Returns
    -------
    DataFrame with the columns ``n_draws, classifier, win_percentage, lower, upper``
        Fractions of 1.

    Raises
    ------
    ModelError
        When N is below 1.
    """
    draws = checked_draws(n_draws)
    rng = np.random.default_rng(seed_sequence(random_state, "illustration", n_sampled))
    means, deviations = np.transpose(list(GAUSSIANS.values()))
    found = sampled_win_percentages(means, deviations, n_sampled, draws, n_trials=n_iterations, rng=rng)
    lower, upper = band(found)
    return curve_table(list(GAUSSIANS), draws, win_percentage=exact_win_percentages(draws), lower=lower, upper=upper)


def illustration_tables(random_state: int) -> dict[str, pd.DataFrame]:
    """Tables of the figures that need no data.

    Parameters
    ----------
    random_state : see :func:`illustrative_curves`.

    Returns
    -------
    dict with ``joint``, ``curves`` and ``weights``, how much each rank of 100
        feature sets counts at 1, 10, 100 and 1,000 draws (Figure 8)
    """
    return {
        "joint": joint_densities(),
        "curves": illustrative_curves(random_state=random_state),
        "weights": rank_weights((RANKED_SETS,), (1, 10, 100, 1000)),
    }
