"""Significance of win percentages against the null hypothesis of equal classifiers.

The win percentage at N draws, estimated from M feature sets, is a weighted mean. If the sets are sorted by performance,
the set of rank r is the best of N draws with probability w_r. The win percentage of a classifier is the sum of w_r over
the sets where it is the best. Under the null hypothesis, all c classifiers are equal. Each set is then won by each
classifier with probability 1 / c at every rank, and the win percentage has

    mean 1 / c    and    variance (1 / c) (1 - 1 / c) / K,    K = 1 / (sum of w_r^2).

K is the number of equally weighted feature sets with the same variance. It is M for one draw and about 2 M / N for
large N below M. It approaches 1 when N far exceeds M, because the best set then decides alone. The null distribution is
the beta distribution with this mean and variance, with a + b = K - 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfold.core.rounding import ROUNDING
from fairfold.errors import ModelError
from fairfold.win_percentage.feature_sets import whole_number
from fairfold.win_percentage.win import (
    PerformanceHistogram,
    as_numbers,
    best_probability,
    check_all,
    checked_draws,
)

_SUMMED_SETS = 10_000  # Up to this number of sets, the weights are summed exactly.


def effective_sets(n_sets: int, n_draws: ArrayLike) -> np.ndarray:
    """Compute the number of equally weighted feature sets with the variance of M sets weighted by rank.

    Parameters
    ----------
    n_sets : int
        Number M of evaluated feature sets.
    n_draws : array-like of any shape
        Numbers of draws N, at least 1.

    Returns
    -------
    ndarray
        K = 1 / (sum of w_r^2) in the shape of `n_draws`, between 1 and M. Values are exact up to 10,000 feature sets.
        Above that, the relative error is at most 2e-5.

    Raises
    ------
    ModelError
        If `n_sets` is not a whole number of at least 1, or if N is below 1.

    Notes
    -----
    Above 10,000 feature sets, the sum of w_r^2 is approximated by tanh(N^2 / (M (2 N - 1))). This is close to
    N^2 / (M (2 N - 1)) when N is far below M, and to tanh(N / 2 M) when N is large.

    Examples
    --------
    >>> from fairfold.win_percentage import effective_sets
    >>> effective_sets(100, [1, 10, 1000]).round(1)
    array([100.,  19.,   1.])
    """
    whole_number("n_sets", n_sets, 1)
    draws = checked_draws(n_draws)
    if n_sets > _SUMMED_SETS:
        return 1 / np.tanh(draws / (2 - 1 / draws) / n_sets)
    ones = np.ones(n_sets, dtype=np.int64)
    squares = [np.sum(best_probability(ones, n) ** 2) for n in draws.ravel()]
    return np.reshape(1 / np.array(squares), draws.shape)


def null_interval(
    n_sets: int, n_draws: ArrayLike, n_classifiers: int, *, alpha: float = 0.05, n_independent: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the interval of the win percentage of one of c equal classifiers.

    Parameters
    ----------
    n_sets : int
        Number M of evaluated feature sets.
    n_draws : array-like of any shape
        Numbers of draws N, at least 1.
    n_classifiers : int
        Number c of classifiers, at least 2.
    alpha : float, default=0.05
        Probability that a win percentage is outside its interval, half on each side. It is divided by c - 1, as in the
        paper, because win percentages sum to 1. For six classifiers and alpha = 0.05, the critical values are at 0.5
        and 99.5 %.
    n_independent : int or None, default=None
        Number of independent observations among the feature sets, used instead of M. None means that all sets are
        independent. Feature sets that share features are not independent. All M = F (F - 1) / 2 pairs of F features
        contain only about F independent observations, so pass F for them.

    Returns
    -------
    low : ndarray
        Lower bounds in the shape of `n_draws`, included in the interval.
    high : ndarray
        Upper bounds in the shape of `n_draws`, included in the interval.

    Raises
    ------
    ModelError
        If a number is out of range.

    Notes
    -----
    The beta distribution is described in the module docstring (Equations 12-14 of Parry, Phan & Wang 2012, by moments).
    For very large N, one classifier may win everything by chance, and the interval is [0, 1]. Ties between classifiers
    reduce the variance of the estimate, so the interval is conservative if there are ties.

    Examples
    --------
    >>> from fairfold.win_percentage import null_interval
    >>> low, high = null_interval(1000, [1, 100], 6)
    >>> low.round(3), high.round(3)
    (array([0.138, 0.   ]), array([0.198, 0.434]))
    """
    tail = _tail(alpha, n_classifiers)
    n_equal, a, b = _beta(n_sets, n_draws, n_classifiers, n_independent)
    low, high = scipy.special.betaincinv(a, b, tail), scipy.special.betainccinv(a, b, tail)
    share = 1 / n_classifiers
    return np.where((1 - share) ** n_equal > tail, 0.0, low), np.where(share**n_equal > tail, 1.0, high)


def p_values(
    win_percentages: ArrayLike, n_sets: int, n_draws: ArrayLike, *, n_independent: int | None = None
) -> np.ndarray:
    """Compute adjusted two-sided p-values of win percentages under the null hypothesis of equal classifiers.

    Each p-value is multiplied by the number of classifiers minus one, as in :func:`null_interval`.

    Parameters
    ----------
    win_percentages : array-like of shape (..., n_classifiers)
        Win percentages as fractions of 1, estimated from `n_sets` feature sets. The leading axes have the shape of
        `n_draws`.
    n_sets : int
        Number M of evaluated feature sets.
    n_draws : array-like of any shape
        Numbers of draws N, at least 1.
    n_independent : int or None, default=None
        Number of independent observations among the feature sets, see :func:`null_interval`.

    Returns
    -------
    ndarray of shape (..., n_classifiers)
        p-values, at most 1. They are below ``alpha`` where :func:`null_interval` excludes the win percentage.

    Raises
    ------
    ModelError
        If a number is out of range, or if a shape does not fit.

    Notes
    -----
    A p-value is never based on a tail smaller than the probability that a classifier wins, or loses, all of K equally
    weighted feature sets. The tails of the beta distribution can be smaller than this probability.

    Examples
    --------
    >>> from fairfold.win_percentage import p_values
    >>> p_values([[0.7, 0.2, 0.1]], n_sets=100, n_draws=[10]).round(3)
    array([[0.003, 0.422, 0.019]])
    """
    observed, draws = _checked_wins(win_percentages), checked_draws(n_draws)
    if observed.shape[:-1] != draws.shape:
        expected = f"(*{draws.shape}, n_classifiers), one row for each N"
        raise ModelError(f"win percentages: found shape {observed.shape}. The shape must be {expected}.")
    n_classifiers = observed.shape[-1]
    n_equal, a, b = (part[..., None] for part in _beta(n_sets, draws, n_classifiers, n_independent))
    share = 1 / n_classifiers
    upper = np.maximum(scipy.special.betaincc(a, b, observed), share**n_equal)
    lower = np.maximum(scipy.special.betainc(a, b, observed), (1 - share) ** n_equal)
    return _two_sided(lower, upper, n_classifiers)


def permutation_interval(permuted: ArrayLike, *, alpha: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Compute the null interval from win percentages of permuted class labels.

    Permuted labels contain no signal, but keep the dependence between feature sets that share features. They also keep
    advantages that a classifier has on any data. The beta distribution of :func:`null_interval` ignores both.

    Parameters
    ----------
    permuted : array-like of shape (n_permutations, ..., n_classifiers)
        Win percentages, each from the whole procedure with the class labels in another random order.
    alpha : float, default=0.05
        Probability that the win percentage is outside the interval, half on each side. It is divided by the number of
        classifiers minus one.

    Returns
    -------
    low : ndarray of shape (..., n_classifiers)
        Lower bounds, included in the interval.
    high : ndarray of shape (..., n_classifiers)
        Upper bounds, included in the interval.

    Raises
    ------
    ModelError
        If a number is out of range, or if there are too few permutations for `alpha`.

    See Also
    --------
    permutation_p_values : p-values from the same permutations.

    Notes
    -----
    The bounds are order statistics. For a value outside the interval, :func:`permutation_p_values` returns at most
    `alpha`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.win_percentage import permutation_interval
    >>> share = np.linspace(0.30, 0.70, 41)
    >>> low, high = permutation_interval(np.column_stack([share, 1 - share]), alpha=0.1)
    >>> low.round(2), high.round(2)
    (array([0.31, 0.31]), array([0.69, 0.69]))
    """
    permuted = _checked_permutations(permuted)
    tail = _tail(alpha, permuted.shape[-1])
    n_outside = int(tail * (len(permuted) + 1) * (1 + 1e-12))  # The factor absorbs rounding errors.
    if n_outside < 1:
        needed = int(np.ceil(1 / tail - 1e-9)) - 1
        found = f"{len(permuted)} permutations are too few for a probability of {tail:g} on each side"
        raise ModelError(f"permuted: {found}. Use at least {needed}, or increase alpha.")
    ordered = np.sort(permuted, axis=0)
    return ordered[n_outside - 1], ordered[-n_outside]


def permutation_p_values(win_percentages: ArrayLike, permuted: ArrayLike) -> np.ndarray:
    """Compute two-sided p-values of win percentages from permuted class labels.

    The p-value is based on the share of permutations with a win percentage at least as extreme as the observed one. The
    observed order counts as one permutation. The result is adjusted for the number of classifiers.

    Parameters
    ----------
    win_percentages : array-like of shape (..., n_classifiers)
        Observed win percentages as fractions of 1.
    permuted : array-like of shape (n_permutations, ..., n_classifiers)
        Win percentages of the permutations, as for :func:`permutation_interval`. Differences up to ``ROUNDING`` are
        ties.

    Returns
    -------
    ndarray of shape (..., n_classifiers)
        p-values, above 0 and at most 1.

    Raises
    ------
    ModelError
        If shapes do not fit, or if a value is not a fraction.

    See Also
    --------
    permutation_interval : Null interval from the same permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.win_percentage import permutation_p_values
    >>> share = np.linspace(0.31, 0.69, 39)
    >>> permutation_p_values([0.8, 0.2], np.column_stack([share, 1 - share])).round(3)
    array([0.05, 0.05])
    """
    observed, permuted = _checked_wins(win_percentages), _checked_permutations(permuted)
    if observed.shape != permuted.shape[1:]:
        raise ModelError(f"permuted: found shape {permuted.shape[1:]} in each permutation, expected {observed.shape}.")
    upper = (1 + np.sum(permuted >= observed - ROUNDING, axis=0)) / (1 + len(permuted))
    lower = (1 + np.sum(permuted <= observed + ROUNDING, axis=0)) / (1 + len(permuted))
    return _two_sided(lower, upper, observed.shape[-1])


def independent_sets(permuted: Sequence[PerformanceHistogram]) -> float:
    """Estimate the number of independent observations among feature sets that share features.

    Parameters
    ----------
    permuted : sequence of PerformanceHistogram
        Evaluations of the same feature sets with permuted class labels, at least two.

    Returns
    -------
    float
        Number of independent sets, from 1 to the number of sets. Its rounded value is the `n_independent` of
        :func:`null_interval`.

    Raises
    ------
    ModelError
        If there are fewer than two permutations.

    Notes
    -----
    The share of sets that a classifier wins is a mean over sets. If all M sets were independent, its variance over
    permutations would be that of one set, divided by M. The result is the variance of one set, divided by the variance
    over permutations, each summed over the classifiers.

    Examples
    --------
    Two permutations in which four equal sets have the same winner:

    >>> from fairfold.win_percentage import PerformanceHistogram
    >>> sets = [PerformanceHistogram.from_sets([0.5] * 4, [winner] * 4) for winner in ([1, 0], [0, 1])]
    >>> independent_sets(sets)
    1.0
    """
    if len(permuted) < 2:
        raise ModelError(f"permuted: found {len(permuted)} permutations. Give two or more.")
    shares = np.array([each.win_percentage(1) for each in permuted])
    squares = [each.counts @ (each.winners / each.winners.sum(axis=1, keepdims=True)) ** 2 for each in permuted]
    n_sets = permuted[0].n_sets
    of_one = np.mean(squares, axis=0) / n_sets - shares.mean(axis=0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):  # Without any variation, no set is more than the others.
        return float(np.clip(np.nan_to_num(of_one.sum() / shares.var(axis=0, ddof=1).sum(), nan=1.0), 1.0, n_sets))


def _beta(
    n_sets: int, n_draws: ArrayLike, n_classifiers: int, n_independent: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute K and the parameters a and b of the beta distribution, each in the shape of ``n_draws``."""
    whole_number("n_sets", n_sets, 1)
    whole_number("n_classifiers", n_classifiers, 2)
    if n_independent is not None:
        whole_number("n_independent", n_independent, 1)
        if n_independent > n_sets:
            raise ModelError(f"n_independent: found {n_independent}. Give at most n_sets, {n_sets}.")
        n_sets = n_independent
    n_equal = effective_sets(n_sets, n_draws)
    # With K = 1 the win percentage is 0 or 1. The beta distribution approaches this as a and b approach 0.
    size = np.maximum(n_equal - 1, 1e-9)
    return n_equal, size / n_classifiers, size * (1 - 1 / n_classifiers)


def _tail(alpha: float, n_classifiers: int) -> float:
    """Compute the probability on each side of an interval."""
    if not 0 < alpha < 1:
        raise ModelError(f"alpha: found {alpha!r}. Give a number above 0 and below 1.")
    whole_number("n_classifiers", n_classifiers, 2)
    return alpha / 2 / (n_classifiers - 1)


def _two_sided(lower: np.ndarray, upper: np.ndarray, n_classifiers: int) -> np.ndarray:
    return np.minimum(2 * np.minimum(lower, upper) * (n_classifiers - 1), 1.0)


def _checked_wins(win_percentages: ArrayLike) -> np.ndarray:
    wins = as_numbers(win_percentages, "win percentages")
    if not wins.ndim or not wins.size or wins.shape[-1] < 2:
        raise ModelError(f"win percentages: found shape {wins.shape}. The last axis needs 2 or more classifiers.")
    slack = 1e-9  # Allow rounding errors of sums.
    check_all(wins, (wins >= -slack) & (wins <= 1 + slack), "win percentages", "fractions between 0 and 1")
    return np.clip(wins, 0.0, 1.0)


def _checked_permutations(permuted: ArrayLike) -> np.ndarray:
    permuted = _checked_wins(permuted)
    if permuted.ndim < 2:
        raise ModelError(f"permuted: found shape {permuted.shape}, expected (n_permutations, ..., n_classifiers).")
    return permuted
