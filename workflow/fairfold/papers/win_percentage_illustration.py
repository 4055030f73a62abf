"""The illustrative example of the paper: three classifiers with normal performance.

Each classifier is the best on a third of the feature sets, and its performance there is normal (Equation 1): c3 is
always good, c1 is rarely excellent, and c2 is in between. All are equal at N = 1. Then c3 leads, and c1 leads from
N = 27 on, as printed. According to the paper, c2 leads for 10 < N < 26. By the exact win percentages, c2 leads for
12 <= N <= 26; at N = 11, c3 is ahead by less than the line width of the figure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from fairfold.core.seeds import seed_sequence
from fairfold.papers.win_percentage_sampling import band, rank_weights, sampled_win_percentages
from fairfold.win_percentage.tables import curve_table
from fairfold.win_percentage.win import checked_draws, theoretical_win_percentage

GAUSSIANS = {"c1": (0.50, 0.20), "c2": (0.70, 0.07), "c3": (0.75, 0.02)}  # mean, standard deviation (Equation 1)
RANKED_SETS = 100  # M of Figure 8
# Range of the performance. It excludes 0.6 % of the feature sets of c1 on each side.
_RANGE = (0.0, 1.0)


def exact_win_percentages(n_draws: ArrayLike) -> np.ndarray:
    """Compute the exact win percentages of c1, c2 and c3 at each N (Equations 6-7).

    Parameters
    ----------
    n_draws : array-like of shape (n_values,)
        Numbers N of draws.

    Returns
    -------
    ndarray of shape (n_values, 3)
        Fractions of 1.

    Examples
    --------
    >>> exact_win_percentages([1, 5, 100]).round(2)
    array([[0.33, 0.33, 0.33],
           [0.15, 0.32, 0.52],
           [0.74, 0.25, 0.01]])
    """
    gaussians = [stats.norm(*each) for each in GAUSSIANS.values()]
    return theoretical_win_percentage(gaussians, n_draws, weights=np.ones(len(gaussians)))


def joint_densities(*, n_points: int = 501) -> pd.DataFrame:
    """Compute the joint density p(x, c) of performance and best classifier (Equation 1, Figure 2).

    It is a third of the density of each classifier.

    Parameters
    ----------
    n_points : int, default=501
        Number of performance values from 0 to 1.

    Returns
    -------
    DataFrame
        Columns ``classifier, performance, density``. The area under each curve is a third, except for the part outside
        0 and 1.
    """
    performance = np.linspace(*_RANGE, n_points)
    densities = {name: stats.norm.pdf(performance, *each) / len(GAUSSIANS) for name, each in GAUSSIANS.items()}
    table = pd.DataFrame({"performance": performance, **densities})
    table = table.melt("performance", var_name="classifier", value_name="density")
    return table[["classifier", "performance", "density"]]


def illustrative_curves(
    n_draws: Sequence[float] = range(1, 101), *, n_sampled: int = 10_000, n_iterations: int = 100, random_state: int = 0
) -> pd.DataFrame:
    """Compute exact win percentages, and the band of 95 % of the estimates from M feature sets (Figure 3).

    Parameters
    ----------
    n_draws : sequence of float, default=range(1, 101)
        Numbers N of draws, at least 1.
    n_sampled : int, default=10_000
        Number M of feature sets in each estimate.
    n_iterations : int, default=100
        Number of estimates.
    random_state : int, default=0
        Seed.

    Returns
    -------
    DataFrame
        Columns ``n_draws, classifier, win_percentage, lower, upper``, as fractions of 1.

    Raises
    ------
    ModelError
        If N is below 1.
    """
    draws = checked_draws(n_draws)
    rng = np.random.default_rng(seed_sequence(random_state, "illustration", n_sampled))
    means, deviations = np.transpose(list(GAUSSIANS.values()))
    found = sampled_win_percentages(means, deviations, n_sampled, draws, n_trials=n_iterations, rng=rng)
    return curve_table(list(GAUSSIANS), draws, win_percentage=exact_win_percentages(draws), **band(found))


def illustration_tables(random_state: int) -> dict[str, pd.DataFrame]:
    """Compute the tables of the figures that need no data.

    Parameters
    ----------
    random_state : int
        Seed of :func:`illustrative_curves`.

    Returns
    -------
    dict of str to DataFrame
        ``joint_densities``, ``illustration`` and ``rank_weights``. The last one contains the weight of each rank of 100
        feature sets at 1, 10, 100 and 1,000 draws (Figure 8).
    """
    return {
        "joint_densities": joint_densities(),
        "illustration": illustrative_curves(random_state=random_state),
        "rank_weights": rank_weights((RANKED_SETS,), (1, 10, 100, 1000)),
    }
