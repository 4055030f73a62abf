"""Tables of win percentages, with the intervals that chance gives."""

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
    """Win percentages with what chance gives: the beta distribution's interval and that of permuted labels (Figure 5).

    Parameters
    ----------
    histogram : all evaluated feature sets.
    classifiers : names, in the order of its winners.
    n_draws : numbers N of draws, at least 1.
    dataset : name.
    alpha, n_independent : as for :func:`null_interval`; the first serves the permutations too.
    permuted : histograms of the same evaluation with permuted class labels, 199 or more for six classifiers at 0.05.
        Without any, the columns of permutations are NaN.

    Returns
    -------
    DataFrame with the columns ``dataset, n_draws, classifier, win_percentage, null_lower, null_upper, p_value,
    permuted_lower, permuted_upper, permuted_p_value``
        Fractions of 1; p-values are two-sided.

    Raises
    ------
    ModelError
        When a number is outside its range, or the permutations are too few.
    """
    draws = checked_draws(n_draws)
    wins = histogram.win_percentage(draws)
    null = {"n_independent": n_independent}
    low, high = null_interval(histogram.n_sets, draws, len(classifiers), alpha=alpha, **null)
    columns = {
        "win_percentage": wins,
        "null_lower": np.broadcast_to(low[:, None], wins.shape),
        "null_upper": np.broadcast_to(high[:, None], wins.shape),
        "p_value": p_values(wins, histogram.n_sets, draws, **null),
    }
    names = ("permuted_lower", "permuted_upper", "permuted_p_value")
    if permuted:
        chance = np.stack([each.win_percentage(draws) for each in permuted])
        values = (*permutation_interval(chance, alpha=alpha), permutation_p_values(wins, chance))
    else:
        values = (np.full(wins.shape, np.nan),) * len(names)
    table = curve_table(classifiers, draws, **columns, **dict(zip(names, values, strict=True)))
    table.insert(0, "dataset", dataset)
    return table


def curve_table(classifiers: Sequence[str], draws: np.ndarray, **columns: np.ndarray) -> pd.DataFrame:
    """Tidy table of arrays (n_values, n_classifiers): ``n_draws, classifier`` and a column for each array."""
    n_draws, classifier = np.repeat(draws, len(classifiers)), np.tile(list(classifiers), draws.size)
    numbers = {name: values.ravel() for name, values in columns.items()}
    return pd.DataFrame({"n_draws": n_draws, "classifier": classifier, **numbers})
