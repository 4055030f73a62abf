"""Tables of win percentages with null intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fairfold.win_percentage.significance import null_interval, p_values, permutation_interval, permutation_p_values
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
