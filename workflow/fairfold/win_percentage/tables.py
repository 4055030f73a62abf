"""Tables of win percentages with null intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairfold.win_percentage.significance import (
    independent_sets,
    null_interval,
    p_values,
    permutation_interval,
    permutation_p_values,
)
from fairfold.win_percentage.win import PerformanceHistogram, checked_draws


def win_table(
    histogram: PerformanceHistogram,
    classifiers: Sequence[str],
    n_draws: Sequence[float],
    *,
    dataset: str,
    alpha: float = 0.05,
    n_independent: int | None = None,
    permuted: Sequence[PerformanceHistogram] = (),
) -> pd.DataFrame:
    """Build a table of win percentages with null intervals and p-values.

    The table contains the interval of the beta distribution and that of permuted class labels (Figure 5 of Parry, Phan
    & Wang 2012).

    Parameters
    ----------
    histogram : PerformanceHistogram
        All evaluated feature sets.
    classifiers : sequence of str
        Names of the classifiers, in the order of the histogram's winners.
    n_draws : sequence of float
        Numbers of draws N, at least 1.
    dataset : str
        Name of the dataset.
    alpha : float, default=0.05
        Level of both intervals, see :func:`~fairfold.win_percentage.null_interval`.
    n_independent : int or None, default=None
        Number of independent observations, see :func:`~fairfold.win_percentage.null_interval`.
    permuted : sequence of PerformanceHistogram, default=()
        Histograms of the same evaluation with permuted class labels. Six classifiers at a level of 0.05 need at least
        199. If empty, the columns of the permutations are NaN.

    Returns
    -------
    DataFrame
        Columns ``dataset, n_draws, classifier, win_percentage, null_lower, null_upper, p_value, permuted_lower,
        permuted_upper, permuted_p_value``. Win percentages and bounds are fractions of 1. p-values are two-sided.

    Raises
    ------
    ModelError
        If a number is out of range, or if there are too few permutations.

    Examples
    --------
    >>> from fairfold.win_percentage import PerformanceHistogram
    >>> histogram = PerformanceHistogram.from_sets([0.6, 0.7, 0.9], [[1, 0], [1, 0], [0, 1]])
    >>> table = win_table(histogram, ["LDA", "QDA"], [1, 10], dataset="example")
    >>> table[["n_draws", "classifier", "win_percentage"]].round(3)
       n_draws classifier  win_percentage
    0      1.0        LDA           0.667
    1      1.0        QDA           0.333
    2     10.0        LDA           0.017
    3     10.0        QDA           0.983
    """
    draws = checked_draws(n_draws)
    wins = histogram.win_percentage(draws)
    low, high = null_interval(histogram.n_sets, draws, len(classifiers), alpha=alpha, n_independent=n_independent)
    columns = {
        "win_percentage": wins,
        "null_lower": np.broadcast_to(low[:, None], wins.shape),
        "null_upper": np.broadcast_to(high[:, None], wins.shape),
        "p_value": p_values(wins, histogram.n_sets, draws, n_independent=n_independent),
    }
    names = ("permuted_lower", "permuted_upper", "permuted_p_value")
    columns |= dict.fromkeys(names, np.full(wins.shape, np.nan))
    if permuted:
        chance = np.stack([each.win_percentage(draws) for each in permuted])
        values = (*permutation_interval(chance, alpha=alpha), permutation_p_values(wins, chance))
        columns |= dict(zip(names, values, strict=True))
    table = curve_table(classifiers, draws, **columns)
    table.insert(0, "dataset", dataset)
    return table


def random_label_table(
    permuted: Sequence[PerformanceHistogram],
    n_draws: Sequence[float],
    *,
    n_features: int,
    dataset: str,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Count how often win percentages of random labels are significant, for each null distribution.

    Each permutation of the class labels is tested as if it were the data.

    Parameters
    ----------
    permuted : sequence of PerformanceHistogram
        Histograms of the same evaluation with permuted class labels, at least two.
    n_draws : sequence of float
        Numbers of draws N, at least 1.
    n_features : int
        Number of features F.
    dataset : str
        Name of the dataset.
    alpha : float, default=0.05
        Level of the intervals.

    Returns
    -------
    DataFrame
        One row per null distribution, with the columns ``dataset, n_labelings, null, n_independent, share_of_cells,
        share_at_one_draw, share_at_any``:

        - ``null`` : ``pairs``, ``features`` and ``estimated`` take the number of sets M, the number of features F and
          the estimate of :func:`~fairfold.win_percentage.independent_sets` as the number of independent sets.
          ``permutations`` compares each permutation with all others, if there are enough for `alpha`.
        - ``share_of_cells`` : share of significant win percentages over labelings, N and classifiers
        - ``share_at_one_draw``, ``share_at_any`` : share of labelings with a significant classifier at N = 1, or at any
          N
    """
    draws, n_sets = checked_draws(n_draws), permuted[0].n_sets
    wins = np.stack([each.win_percentage(draws) for each in permuted])
    n_labelings, _, n_classifiers = wins.shape
    units = {"pairs": n_sets, "features": min(n_features, n_sets), "estimated": round(independent_sets(permuted))}
    limits = {}
    for null, number in units.items():
        interval = null_interval(n_sets, draws, n_classifiers, alpha=alpha, n_independent=number)
        limits[null] = [bound[:, None] for bound in interval]
    if n_labelings * alpha >= 2 * (n_classifiers - 1):
        others = [np.delete(wins, each, axis=0) for each in range(n_labelings)]
        intervals = [permutation_interval(other, alpha=alpha) for other in others]
        limits["permutations"] = [np.stack(bounds) for bounds in zip(*intervals, strict=True)]
    rows = []
    for null, (low, high) in limits.items():
        outside = np.logical_or(np.less(wins, low), np.greater(wins, high))
        by_labeling = outside.any(axis=2)
        shares = outside.mean(), by_labeling[:, 0].mean(), by_labeling.any(axis=1).mean()
        rows.append((dataset, n_labelings, null, units.get(null, np.nan), *shares))
    columns = ["dataset", "n_labelings", "null", "n_independent", "share_of_cells", "share_at_one_draw", "share_at_any"]
    return pd.DataFrame(rows, columns=columns)


def curve_table(classifiers: Sequence[str], draws: np.ndarray, **columns: np.ndarray) -> pd.DataFrame:
    """Convert arrays of win percentages to a table in long format.

    Parameters
    ----------
    classifiers : sequence of str
        Names of the classifiers.
    draws : ndarray of shape (n_values,)
        Numbers of draws N.
    **columns : ndarray of shape (n_values, n_classifiers)
        Arrays by column name.

    Returns
    -------
    DataFrame
        Columns ``n_draws`` and ``classifier``, and one column for each array.
    """
    n_draws, classifier = np.repeat(draws, len(classifiers)), np.tile(list(classifiers), draws.size)
    numbers = {name: values.ravel() for name, values in columns.items()}
    return pd.DataFrame({"n_draws": n_draws, "classifier": classifier, **numbers})
