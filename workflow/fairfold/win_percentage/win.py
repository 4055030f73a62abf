"""Win percentage: how likely a classifier is to come out best of a random search of N feature sets.

A random search draws N feature sets independently and keeps the one with the highest performance; the classifier that
reached this performance wins. On few draws the classifier wins that is often good, on many the one that is excellent on
some feature sets, so the win percentage is a function of N (Parry, Phan & Wang 2012, BMC Bioinformatics 13 Suppl 3:S7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfold.errors import ModelError

MAX_CLASSIFIERS = 62  # a set of winners is the bits of one signed 64-bit integer
_STEP = 0.01  # of the quadrature, see theoretical_win_percentage
_GUMBEL_RANGE = (-4.0, 38.0)  # all of the Gumbel distribution but 1e-16
_PER_DECADE = 10  # numbers of draws of a grid


Distribution = Any
"""Continuous distribution with ``logpdf``, ``cdf``, ``sf``, ``ppf`` and ``isf``, as those frozen by ``scipy.stats``."""


@dataclass(frozen=True, eq=False)
class PerformanceHistogram:
    """Feature sets counted by their top performance and by the classifiers that reach it.

    Performance takes few distinct values, so hundreds of millions of feature sets become a few thousand rows. Counts
    are whole numbers and nothing is lost: the histogram of chunks that are merged is that of the whole. Make one with
    :meth:`from_sets`, also from the three arrays of a saved one.

    Attributes
    ----------
    performance : (n_rows,) floats, ascending.
    winners : (n_rows, n_classifiers) bool, the classifiers that reach this performance. Rows of equal performance
        differ in their winners and are in the order of these, read as binary digits.
    counts : (n_rows,) int64, the feature sets of each row.
    """

    performance: np.ndarray
    winners: np.ndarray
    counts: np.ndarray

    @classmethod
    def from_sets(
        cls, performance: ArrayLike, winners: ArrayLike, counts: ArrayLike | None = None
    ) -> PerformanceHistogram:
        """Count feature sets.

        Parameters
        ----------
        performance : (n_sets,) top performance of each feature set, higher is better. Only equal floats are a tie, so
            values that are equal by intent must be computed alike.
        winners : (n_sets, n_classifiers) of 0/1, the classifiers that reach it; at least one in each row.
        counts : (n_sets,) int64, how often each feature set occurs; None is once.

        Raises
        ------
        ModelError
            When an array is empty, of the wrong shape or not finite, a feature set has no winner, or there are more
            than 62 classifiers.
        """
        performance, winners = _checked_sets(performance, winners)
        counts = np.ones(performance.size, dtype=np.int64) if counts is None else np.asarray(counts)
        mask = winners @ (1 << np.arange(winners.shape[1], dtype=np.int64)[::-1])
        order = np.lexsort((mask, performance))
        performance, mask = performance[order], mask[order]
        is_new = np.append(True, (np.diff(performance) != 0) | (np.diff(mask) != 0))
        start = np.flatnonzero(is_new)
        return cls(performance[start], winners[order[start]], np.add.reduceat(counts[order], start))

    @classmethod
    def merged(cls, histograms: Iterable[PerformanceHistogram]) -> PerformanceHistogram:
        """Merge histograms of the same classifiers, as if their feature sets had been counted at once."""
        histograms = list(histograms)
        return cls.from_sets(
            *(np.concatenate([getattr(h, name) for h in histograms]) for name in ("performance", "winners", "counts"))
        )

    @property
    def n_sets(self) -> int:
        """Feature sets that were counted."""
        return int(self.counts.sum())

    @property
    def n_classifiers(self) -> int:
        """Classifiers that were compared."""
        return self.winners.shape[1]

    def sample(self, n_sets: int, *, random_state: int | np.random.Generator | None = None) -> PerformanceHistogram:
        """Draw a histogram of ``n_sets`` feature sets from these at random, with replacement."""
        drawn = np.random.default_rng(random_state).multinomial(n_sets, self.counts / self.n_sets)
        kept = drawn > 0
        return PerformanceHistogram(self.performance[kept], self.winners[kept], drawn[kept])

    def win_percentage(self, n_draws: ArrayLike) -> np.ndarray:
        """Probability of each classifier to win a search of N draws; see :func:`win_percentage`."""
        start = np.flatnonzero(np.append(True, np.diff(self.performance) != 0))
        counts = np.add.reduceat(self.counts, start)
        weight = self.counts / np.repeat(counts, np.diff(np.append(start, self.counts.size)))
        shares = self.winners / self.winners.sum(axis=1, keepdims=True)
        by_value = np.add.reduceat(weight[:, None] * shares, start)  # P(classifier | best performance)
        return _over_draws(n_draws, lambda n: best_probability(counts, n) @ by_value)


def win_percentage(performance: ArrayLike, winners: ArrayLike, n_draws: ArrayLike) -> np.ndarray:
    """Probability of each classifier to win a random search of N feature sets (the paper's Equations 8-11).

    With F(v) the share of feature sets of performance at most v, the best of N independent draws is v with probability
    F(v)^N - F(v-)^N. Ties are shared without preference: a tie between drawn feature sets is broken at random, so that
    the best is each feature set of performance v with the same probability; classifiers that tie on it win an equal
    part each.

    Parameters
    ----------
    performance : (n_sets,) top performance of each feature set, higher is better.
    winners : (n_sets, n_classifiers) of 0/1, the classifiers that reach it; at least one in each row.
    n_draws : N, numbers of at least 1, of any shape.

    Returns
    -------
    (\\*shape of ``n_draws``, n_classifiers) fractions of 1, which is their sum at each N. Drawing is with replacement,
    so N may exceed the number of feature sets; up to N = 1e10 nothing is lost to rounding but the last few digits.

    Raises
    ------
    ModelError
        When N is below 1 or not finite, an array is empty, of the wrong shape or not finite, or a set has no winner.
    """
    return PerformanceHistogram.from_sets(performance, winners).win_percentage(n_draws)


def best_probability(counts: ArrayLike, n_draws: float) -> np.ndarray:
    """Probability of each distinct performance to be the best of N independent draws.

    For ``counts`` of ones these are the weights that a search of N draws gives to feature sets by rank, the worst
    first.

    Parameters
    ----------
    counts : (n_values,) feature sets of each performance, in ascending order of performance.
    n_draws : N, at least 1.

    Returns
    -------
    (n_values,) probabilities. Each has its own full precision: F(v)^N is exp(N log F(v)), with log F(v) from the exact
    number of feature sets above v, and the difference to the value before comes from a ratio of exact counts.
    """
    counts = np.asarray(counts, dtype=np.int64)
    at_most = np.cumsum(counts)
    above = at_most[-1] - at_most
    with np.errstate(divide="ignore"):  # no feature set is below the lowest: log 0
        log_share = np.where(above < at_most, np.log1p(-above / at_most[-1]), np.log(at_most / at_most[-1]))
        log_ratio = np.log1p(-counts / at_most)
    return np.exp(n_draws * log_share) * -np.expm1(n_draws * log_ratio)


def theoretical_win_percentage(
    distributions: Sequence[Distribution], n_draws: ArrayLike, *, weights: ArrayLike | None = None
) -> np.ndarray:
    """Win percentage of classifiers whose performance has a known continuous distribution (Equations 6-7).

    With p(s, c) the joint density of the top performance s of a random feature set and the classifier c that reaches
    it, and F(s) the distribution of s, classifier c wins with probability

        integral of N F(s)^(N-1) p(s, c) ds.

    Parameters
    ----------
    distributions : one for each classifier, frozen distributions of ``scipy.stats`` or the like.
    n_draws : N, numbers of at least 1, of any shape.
    weights : None when the distributions are of each classifier's own performance on a random feature set, independent
        of the others: p(s, c) = f_c(s) times the product of F_k(s) over the others. Otherwise (n_classifiers,) the
        positive probabilities, up to a factor, to be the best on a feature set, when the distributions are of the
        performance of a classifier where it is the best: p(s, c) = weights_c f_c(s).

    Returns
    -------
    (\\*shape of ``n_draws``, n_classifiers) fractions of 1, which is their sum at each N.

    Raises
    ------
    ModelError
        When N is below 1, there is no continuous distribution, or weights are not one positive number for each.

    Notes
    -----
    In y = -log(-log F(s)) the best of N draws has a Gumbel distribution that N only shifts, by log N. So the part of
    each classifier, p(s, c) / sum over k of p(s, k), is found once on an equidistant grid of y and then averaged for
    each N by the trapezoidal rule, whose error falls exponentially for smooth densities. Where a density jumps it is
    of the order of the step times the jump, below 0.005.
    """
    distributions = _checked_distributions(distributions)
    if weights is not None:
        weights = _checked_weights(weights, len(distributions))
    draws = checked_draws(n_draws)
    log_draws = np.log(draws)
    first, last = _GUMBEL_RANGE[0] + log_draws.min(), _GUMBEL_RANGE[1] + log_draws.max()
    y = first + _STEP * np.arange(np.ceil((last - first) / _STEP) + 1)
    performance = _performance_at(y, distributions, weights)
    part = _part_of_each(performance, distributions, weights)
    return _over_draws(draws, lambda n: _STEP * _gumbel_density(y - np.log(n)) @ part)


def draws_needed(epsilon: ArrayLike, p: ArrayLike) -> np.ndarray | int:
    """Random draws after which one of the best ``epsilon`` of all feature sets was seen with probability ``p``.

    All N draws miss the best part with probability (1 - epsilon)^N, so N is log(1 - p) / log(1 - epsilon), rounded up
    (Equations 3-5, Table 2).

    Parameters
    ----------
    epsilon : share of feature sets that are good enough, between 0 and 1 (both excluded); 0.01 is the best 1 %.
    p : probability, at least 0 and below 1. Both may be arrays, which are broadcast.

    Returns
    -------
    int, or an array of int64 for arrays.

    Raises
    ------
    ModelError
        When ``epsilon`` or ``p`` is outside its range, or more draws are needed than fit in 64 bits.
    """
    epsilon, p = as_numbers(epsilon, "epsilon"), as_numbers(p, "p")
    check_all(epsilon, (epsilon > 0) & (epsilon < 1), "epsilon", "above 0 and below 1")
    check_all(p, (p >= 0) & (p < 1), "p", "at least 0 and below 1")
    exact = np.log1p(-p) / np.log1p(-epsilon)
    check_all(exact, exact < 2.0**63, "the number of draws needed", "below 2^63; take a larger epsilon")
    # The quotient of two rounded logarithms may miss a whole number by a few units in the last place.
    nearest = np.rint(exact)
    draws = np.where(np.abs(exact - nearest) <= 4 * np.spacing(exact), nearest, np.ceil(exact))
    draws = np.maximum(draws, 1).astype(np.int64)
    return draws if draws.ndim else int(draws)


def _part_of_each(
    performance: np.ndarray, distributions: Sequence[Distribution], weights: np.ndarray | None
) -> np.ndarray:
    """(n_nodes, n_classifiers) probability that each classifier reached the performance, p(c | s)."""
    with np.errstate(invalid="ignore"):  # at the very end of a support: no density, or an infinite one
        log_part = np.stack([distribution.logpdf(performance) for distribution in distributions], axis=1)
        if weights is None:
            log_part += np.stack([_minus_log_cdf(distribution, performance) for distribution in distributions], axis=1)
        else:
            log_part += np.log(weights)
    good = np.flatnonzero(np.isfinite(log_part.max(axis=1)))
    if not good.size:
        raise ModelError("no distribution has a finite density; give continuous distributions with finite parameters.")
    # Where the end of a support is too near to be told from it, the next node inside says what the limit is.
    node = good[np.minimum(np.searchsorted(good, np.arange(performance.size)), good.size - 1)]
    return scipy.special.softmax(log_part[node], axis=1)


def _performance_at(y: np.ndarray, distributions: Sequence[Distribution], weights: np.ndarray | None) -> np.ndarray:
    """Performance s at which -log(-log F(s)) is y, for F the distribution of the top performance."""
    from scipy.optimize import elementwise  # here, as most who count wins need no root

    wanted = np.exp(-y)  # -log F(s)

    def minus_log_cdf(s: np.ndarray) -> np.ndarray:
        if weights is None:
            return sum(_minus_log_cdf(distribution, s) for distribution in distributions)
        weighted = list(zip(weights, distributions, strict=True))
        return _minus_log(sum(w * each.cdf(s) for w, each in weighted), sum(w * each.sf(s) for w, each in weighted))

    def excess(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -np.log(np.maximum(minus_log_cdf(s), 1e-300)) - y

    # A product of F_k is at most each of them, and at least as large as its smallest factor to the power of their
    # number; a mean of F_k lies between the smallest and the largest.
    n_factors = len(distributions) if weights is None else 1
    lowest = np.max if weights is None else np.min
    low = lowest([_quantile(distribution, wanted * 1.01) for distribution in distributions], axis=0)
    high = np.max([_quantile(distribution, wanted / 1.01 / n_factors) for distribution in distributions], axis=0)
    # Too near to the end of a support both may round to one number; it is the answer.
    high = np.maximum(high, np.nextafter(low, np.inf))
    found = elementwise.find_root(excess, (low, high), args=(y,))
    return np.where(found.success, found.x, high)


def _quantile(distribution: Distribution, minus_log: np.ndarray) -> np.ndarray:
    """Performance at which -log of the distribution is ``minus_log``, precise in both tails."""
    return np.where(
        minus_log > 1, distribution.ppf(np.exp(-minus_log)), distribution.isf(-np.expm1(-np.minimum(minus_log, 1)))
    )


def _minus_log_cdf(distribution: Distribution, s: np.ndarray) -> np.ndarray:
    return _minus_log(distribution.cdf(s), distribution.sf(s))


def _minus_log(cdf: np.ndarray, sf: np.ndarray) -> np.ndarray:
    """-log(cdf), from 1 - cdf where this is small."""
    with np.errstate(divide="ignore"):
        return np.where(sf < 0.5, -np.log1p(-np.minimum(sf, 0.5)), -np.log(cdf))


def _gumbel_density(x: np.ndarray) -> np.ndarray:
    return np.exp(-x - np.exp(-x))


def _over_draws(n_draws: ArrayLike, of_one: Callable[[float], np.ndarray]) -> np.ndarray:
    """Stack ``of_one(N)`` for each N, in the shape of ``n_draws``."""
    draws = checked_draws(n_draws)
    rows = np.stack([of_one(n) for n in draws.ravel()])
    return rows.reshape(*draws.shape, rows.shape[1])


def draws_grid(most: float) -> np.ndarray:
    """Numbers of draws from 1 to ``most``, ten to each power of ten, whole."""
    n_steps = round(_PER_DECADE * np.log10(most))
    return np.unique(np.round(np.append(10 ** (np.arange(n_steps) / _PER_DECADE), most)))


def checked_draws(n_draws: ArrayLike) -> np.ndarray:
    """N as floats; a ModelError unless there is one and each is finite and at least 1."""
    draws = as_numbers(n_draws, "n_draws").astype(float)
    if not draws.size:
        raise ModelError("n_draws is empty; give at least one number of draws.")
    check_all(draws, (draws >= 1) & np.isfinite(draws), "n_draws", "finite and at least 1")
    return draws


def as_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Values as an array; a ModelError when they are not real numbers or no array at all."""
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise ModelError(f"{name} is no array: its rows differ in length; give rows of equal length.") from None
    if numbers.dtype.kind not in "biuf":
        raise ModelError(f"{name} holds values of type {numbers.dtype}; they must be real numbers.")
    return numbers


def check_all(values: np.ndarray, is_good: np.ndarray, name: str, allowed: str) -> None:
    """A ModelError with the first of ``values`` that is not good."""
    if not np.all(is_good):
        raise ModelError(f"{name} holds {values[~is_good][0]:g}; it must be {allowed}.")


def _checked_sets(performance: ArrayLike, winners: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Performance as floats and winners as booleans."""
    performance, winners = as_numbers(performance, "performance"), as_numbers(winners, "winners")
    if performance.ndim != 1 or not performance.size:
        raise ModelError(f"performance: found shape {performance.shape}, expected (n_sets,). Give one or more sets.")
    check_all(performance, np.isfinite(performance), "performance", "finite; leave out sets that were not evaluated")
    if winners.ndim != 2 or len(winners) != performance.size or not 0 < winners.shape[1] <= MAX_CLASSIFIERS:
        raise ModelError(
            f"winners: found shape {winners.shape}, expected ({performance.size}, n_classifiers). Give a row per "
            f"feature set and 1 to {MAX_CLASSIFIERS} classifiers."
        )
    if not np.isin(winners, (0, 1)).all():
        raise ModelError("winners: found values other than 0 and 1. Mark the best classifiers of each set by 1.")
    without = np.flatnonzero(~winners.any(axis=1))
    if without.size:
        raise ModelError(f"winners, row {without[0]}: no classifier wins. Mark the best classifiers of each set by 1.")
    return performance.astype(np.float64), winners.astype(bool)


def _checked_distributions(distributions: Sequence[Distribution]) -> list[Distribution]:
    methods = ("logpdf", "cdf", "sf", "ppf", "isf")
    if not distributions or not all(hasattr(each, name) for each in distributions for name in methods):
        raise ModelError(
            "distributions: expected continuous distributions, one for each classifier. Give frozen distributions of "
            f"scipy.stats, or objects with {', '.join(methods)}."
        )
    return list(distributions)


def _checked_weights(weights: ArrayLike, n_classifiers: int) -> np.ndarray:
    weights = as_numbers(weights, "weights")
    if weights.shape != (n_classifiers,):
        raise ModelError(f"weights have shape {weights.shape}; they must be ({n_classifiers},), one per distribution.")
    check_all(weights, (weights > 0) & np.isfinite(weights), "weights", "finite and above 0")
    return weights / weights.sum()
