"""The illustrative example: three classifiers with normal performance, each of them the most likely winner of some N.

Each classifier is the best on a third of the feature sets, and its performance there is normal (Equation 1): c3 is
always good, c1 seldom excellent, c2 between them. The parameters are ours, not the paper's, which we do not have: the
roundest that we found for which the leader changes as the paper says. c3 leads up to N = 10, c2 for 10 < N < 26
and c1 from N = 27 on. N = 26 is a near tie, c1 0.2 % ahead of c2; N = 1 is a tie of all three.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from fairfold.seeds import seed_sequence
from fairfold.win_percentage.sampling import band, curve_table, rank_weights, sampled_win_percentages
from fairfold.win_percentage.win import checked_draws, theoretical_win_percentage

GAUSSIANS = {"c1": (0.60, 0.06), "c2": (0.63, 0.04), "c3": (0.66, 0.01)}  # mean, standard deviation
_RANGE = (0.45, 0.90)  # of performance; 0.6 % of the feature sets of c1 lie below, none of a million above


def exact_win_percentages(n_draws: Sequence[float]) -> np.ndarray:
    """Win percentages of c1, c2 and c3 at each N (Equations 6-7), shape (n_values, 3)."""
    gaussians = [stats.norm(*each) for each in GAUSSIANS.values()]
    return theoretical_win_percentage(gaussians, n_draws, weights=np.ones(len(gaussians)))


def joint_densities(n_draws: Sequence[float] = (1, 10, 26, 100), *, n_points: int = 451) -> pd.DataFrame:
    """Density of the best performance of N draws, split by the classifier that wins (Figure 2).

    With p(s, c) a third of the density of classifier c and F(s) the distribution of all, it is N F(s)^(N-1) p(s, c).

    Parameters
    ----------
    n_draws : numbers N of draws, at least 1.
    n_points : values of performance, from 0.45 to 0.90.

    Returns
    -------
    DataFrame with the columns ``n_draws, classifier, performance, density``
        The area under a curve is the win percentage.

    Raises
    ------
    ModelError
        When N is below 1.
    """
    performance = np.linspace(*_RANGE, n_points)
    means, deviations = np.transpose(list(GAUSSIANS.values()))
    density = stats.norm.pdf(performance[:, None], means, deviations) / len(GAUSSIANS)
    share = stats.norm.cdf(performance[:, None], means, deviations).mean(axis=1)
    tables = [
        pd.DataFrame(
            {"n_draws": n, "classifier": name, "performance": performance, "density": n * share ** (n - 1) * column}
        )
        for n in checked_draws(n_draws).tolist()
        for name, column in zip(GAUSSIANS, density.T, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def illustrative_curves(
    n_draws: Sequence[float] = tuple(range(1, 101)),
    *,
    n_sampled: int = 10_000,
    n_iterations: int = 100,
    coverage: float = 0.95,
    random_state: int = 0,
) -> pd.DataFrame:
    """Exact win percentages, and the band in which estimates from M feature sets lie (Figure 3).

    Parameters
    ----------
    n_draws : numbers N of draws, at least 1.
    n_sampled : M, feature sets of each estimate.
    n_iterations : number of estimates.
    coverage : share of the estimates inside the band.
    random_state : seed.

    Returns
    -------
    DataFrame with the columns ``n_draws, classifier, win_percentage, lower, upper``
        Fractions of 1.

    Raises
    ------
    ModelError
        When N is below 1 or the coverage is no fraction.
    """
    draws = checked_draws(n_draws)
    rng = np.random.default_rng(seed_sequence(random_state, "illustration", n_sampled))
    means, deviations = np.transpose(list(GAUSSIANS.values()))
    found = sampled_win_percentages(means, deviations, n_sampled, draws, n_trials=n_iterations, rng=rng)
    lower, upper = band(found, coverage)
    return curve_table(list(GAUSSIANS), draws, win_percentage=exact_win_percentages(draws), lower=lower, upper=upper)


def illustration_tables(random_state: int, n_sampled: Sequence[int]) -> dict[str, pd.DataFrame]:
    """Tables of the figures that need no data.

    Parameters
    ----------
    random_state : see :func:`illustrative_curves`.
    n_sampled : see :func:`~fairfold.win_percentage.sampling.rank_weights`.

    Returns
    -------
    dict with ``joint``, ``curves`` and ``weights``, how much each rank of a sample counts at 1, 10, 100 and 1,000 draws
    """
    return {
        "joint": joint_densities(),
        "curves": illustrative_curves(random_state=random_state),
        "weights": rank_weights(n_sampled, (1, 10, 100, 1000)),
    }
