"""Is a classifier's win percentage more than chance among equal classifiers?

The win percentage at N draws, estimated from M feature sets, is a weighted mean: with the sets sorted by performance,
the best of N draws is the one of rank r with probability w_r, and a classifier's win percentage is the sum of w_r over
the sets where it is the best. Under the null hypothesis all c classifiers are equal, each set goes to a classifier with
probability 1 / c whatever its rank, and the win percentage has

    mean 1 / c    and    variance (1 / c) (1 - 1 / c) / K,    K = 1 / (sum of w_r^2).

K is the number of equally weighted feature sets that would scatter as much: M for one draw, about 2 M / N when N is
large and M larger, and 1 when N exceeds M by far, as then the best set decides alone. The null distribution is the beta
distribution of this mean and variance, with a + b = K - 1.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfold.core.ties import ROUNDING
from fairfold.errors import ModelError
from fairfold.win_percentage.win import as_numbers, best_probability, check_all, checked_draws

_SUMMED_SETS = 10_000  # up to here the weights are summed one by one


def effective_sets(n_sets: int, n_draws: ArrayLike) -> np.ndarray:
    """Number K of equally weighted feature sets that scatter as much as M weighted by rank, 1 / (sum of w_r^2).

    Parameters
    ----------
    n_sets : M, feature sets that were evaluated.
    n_draws : N, numbers of at least 1, of any shape.

    Returns
    -------
    K in the shape of ``n_draws``, between 1 and M. Exact up to 10,000 feature sets, from there on right to 2e-5 of
    its value: the sum of w_r^2 is N^2 / (M (2 N - 1)) when N is far below M, and tanh(N / 2 M) when N is large.

    Raises
    ------
    ModelError
        When ``n_sets`` is not a whole number of at least 1, or N is below 1.
    """
    _check_whole("n_sets", n_sets, 1)
    draws = checked_draws(n_draws)
    if n_sets > _SUMMED_SETS:
        return 1 / np.tanh(draws / (2 - 1 / draws) / n_sets)
    ones = np.ones(n_sets, dtype=np.int64)
    squares = [np.sum(best_probability(ones, n) ** 2) for n in draws.ravel()]
    return np.reshape(1 / np.array(squares), draws.shape)


def null_interval(
    n_sets: int,
    n_draws: ArrayLike,
    n_classifiers: int,
    *,
    alpha: float = 0.05,
    bonferroni: bool = True,
    n_independent: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Interval in which the win percentage of one of c equal classifiers lies with probability 1 - alpha.

    Parameters
    ----------
    n_sets : M, feature sets that were evaluated.
    n_draws : N, numbers of at least 1, of any shape.
    n_classifiers : c, at least 2.
    alpha : chance to fall outside, half on each side.
    bonferroni : divide ``alpha`` by c - 1, as the paper does: win percentages sum to one, so that c of them have c - 1
        degrees of freedom. Six classifiers at 0.05 have the critical values at 0.5 and 99.5 %.
    n_independent : number of independent observations among the feature sets; None when all are. Feature sets that
        share features are not: among all M = F (F - 1) / 2 pairs of F features there are only about F independent
        observations, so give F. It takes the place of M.

    Returns
    -------
    (low, high) in the shape of ``n_draws``, closed. It is [0, 1] where N is so large that chance alone may let one
    classifier win everything. See the module for the beta distribution (Equations 12-14 of the paper, by moments).
    Feature sets on which classifiers tie make the estimate less variable than this, so the interval is then wider than
    it need be.

    Raises
    ------
    ModelError
        When a number is outside its range.
    """
    tail = _tail(alpha, n_classifiers, bonferroni)
    n_equal, a, b = _beta(n_sets, n_draws, n_classifiers, n_independent)
    low, high = scipy.special.betaincinv(a, b, tail), scipy.special.betainccinv(a, b, tail)
    share = 1 / n_classifiers
    return np.where((1 - share) ** n_equal > tail, 0.0, low), np.where(share**n_equal > tail, 1.0, high)


def p_values(
    win_percentages: ArrayLike, n_sets: int, n_draws: ArrayLike, *, n_independent: int | None = None
) -> np.ndarray:
    """Two-sided probability of win percentages as extreme as these when all classifiers are equal, adjusted.

    It is multiplied by the number of classifiers less one, their degrees of freedom, as in :func:`null_interval`.

    Parameters
    ----------
    win_percentages : (\\*shape of ``n_draws``, n_classifiers) fractions of 1, estimated from ``n_sets`` feature sets.
    n_sets, n_draws, n_independent : as for :func:`null_interval`.

    Returns
    -------
    p-values in the shape of ``win_percentages``, at most 1. They are below ``alpha`` where
    :func:`null_interval` does not hold the win percentage. No p-value is smaller than the chance to win, or to lose,
    K feature sets of equal weight: the tails of the beta distribution end where this chance does not.

    Raises
    ------
    ModelError
        When a number is outside its range, or a shape does not fit.
    """
    observed, draws = _checked_wins(win_percentages), checked_draws(n_draws)
    if observed.shape[:-1] != draws.shape:
        raise ModelError(
            f"win percentages have shape {observed.shape}; they must be a row of classifiers for each N, whose shape "
            f"is {draws.shape}."
        )
    n_classifiers = observed.shape[-1]
    n_equal, a, b = (part[..., None] for part in _beta(n_sets, draws, n_classifiers, n_independent))
    share = 1 / n_classifiers
    upper = np.maximum(scipy.special.betaincc(a, b, observed), share**n_equal)
    lower = np.maximum(scipy.special.betainc(a, b, observed), (1 - share) ** n_equal)
    return _two_sided(lower, upper, n_classifiers)


def permutation_interval(permuted: ArrayLike, *, alpha: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Null interval from win percentages of permuted class labels.

    Permuted labels have no pattern to find, but keep the dependence between feature sets that share features, and what
    favours a classifier on any data; the beta distribution knows of neither.

    Parameters
    ----------
    permuted : (n_permutations, \\*shape of ``n_draws``, n_classifiers) win percentages, each from the whole procedure
        with the class labels in another random order.
    alpha : as for :func:`null_interval`, divided by the number of classifiers less one, too.

    Returns
    -------
    (low, high), each (\\*shape of ``n_draws``, n_classifiers), closed: order statistics such that a value outside has
    a two-sided :func:`permutation_p_values` of at most ``alpha``.

    Raises
    ------
    ModelError
        When a number is outside its range, or the permutations are too few for ``alpha``.
    """
    permuted = _checked_permutations(permuted)
    tail = _tail(alpha, permuted.shape[-1])
    n_outside = int(tail * (len(permuted) + 1) * (1 + 1e-12))  # a product that is whole but for rounding counts as such
    if n_outside < 1:
        raise ModelError(
            f"{len(permuted)} permutations cannot tell a chance of {tail:g} on each side; make at least "
            f"{int(np.ceil(1 / tail - 1e-9)) - 1}, or raise alpha."
        )
    ordered = np.sort(permuted, axis=0)
    return ordered[n_outside - 1], ordered[-n_outside]


def permutation_p_values(win_percentages: ArrayLike, permuted: ArrayLike) -> np.ndarray:
    """Share of permutations, the observed order among them, whose win percentage is as extreme as the observed one.

    Parameters
    ----------
    win_percentages : (\\*shape of ``n_draws``, n_classifiers) observed win percentages.
    permuted : (n_permutations, \\*shape of ``n_draws``, n_classifiers), as for :func:`permutation_interval`.
        Differences up to ``ROUNDING`` are ties.

    Returns
    -------
    p-values in the shape of ``win_percentages``, at most 1 and never 0.

    Raises
    ------
    ModelError
        When shapes do not fit, or a value is not a fraction.
    """
    observed, permuted = _checked_wins(win_percentages), _checked_permutations(permuted)
    if observed.shape != permuted.shape[1:]:
        raise ModelError(
            f"win percentages have shape {observed.shape}, each permutation {permuted.shape[1:]}; they must agree."
        )
    upper = (1 + np.sum(permuted >= observed - ROUNDING, axis=0)) / (1 + len(permuted))
    lower = (1 + np.sum(permuted <= observed + ROUNDING, axis=0)) / (1 + len(permuted))
    return _two_sided(lower, upper, observed.shape[-1])


def _beta(
    n_sets: int, n_draws: ArrayLike, n_classifiers: int, n_independent: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K and the beta distribution's a and b, each in the shape of ``n_draws``."""
    _check_whole("n_sets", n_sets, 1)
    _check_whole("n_classifiers", n_classifiers, 2)
    if n_independent is not None:
        _check_whole("n_independent", n_independent, 1)
        if n_independent > n_sets:
            raise ModelError(f"n_independent is {n_independent}; it must be at most n_sets, {n_sets}.")
        n_sets = n_independent
    n_equal = effective_sets(n_sets, n_draws)
    # With K = 1 the win percentage is 0 or 1, which the beta distribution reaches as a and b vanish.
    size = np.maximum(n_equal - 1, 1e-9)
    return n_equal, size / n_classifiers, size * (1 - 1 / n_classifiers)


def _tail(alpha: float, n_classifiers: int, bonferroni: bool = True) -> float:
    """Chance on each side of an interval."""
    if not 0 < alpha < 1:
        raise ModelError(f"alpha: found {alpha!r}. Give a number above 0 and below 1.")
    _check_whole("n_classifiers", n_classifiers, 2)
    return alpha / 2 / (n_classifiers - 1 if bonferroni else 1)


def _two_sided(lower: np.ndarray, upper: np.ndarray, n_classifiers: int) -> np.ndarray:
    return np.minimum(2 * np.minimum(lower, upper) * (n_classifiers - 1), 1.0)


def _checked_wins(win_percentages: ArrayLike) -> np.ndarray:
    wins = as_numbers(win_percentages, "win percentages")
    if not wins.ndim or not wins.size or wins.shape[-1] < 2:
        raise ModelError(f"win percentages have shape {wins.shape}; the last axis must be 2 classifiers or more.")
    slack = 1e-9  # of sums that should be 1
    check_all(wins, (wins >= -slack) & (wins <= 1 + slack), "win percentages", "fractions between 0 and 1")
    return np.clip(wins, 0.0, 1.0)


def _checked_permutations(permuted: ArrayLike) -> np.ndarray:
    permuted = _checked_wins(permuted)
    if permuted.ndim < 2:
        raise ModelError(f"permuted has shape {permuted.shape}; it must be (n_permutations, ..., n_classifiers).")
    return permuted


def _check_whole(name: str, value: int, low: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
        raise ModelError(f"{name}: found {value!r}. Give a whole number of at least {low}.")
