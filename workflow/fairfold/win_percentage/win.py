"""Win percentage: the probability that a classifier wins a random search over N feature sets.

A random search draws N feature sets independently and keeps the set with the highest performance. The classifier that
reaches this performance wins. With few draws, a classifier with good typical performance wins. With many draws, a
classifier that is excellent on a few feature sets wins. The win percentage is therefore a function of N (Parry, Phan &
Wang 2012, BMC Bioinformatics 13 Suppl 3:S7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfold.errors import ModelError

MAX_CLASSIFIERS = 62  # The bits of one signed 64-bit integer represent a set of winners.
_STEP = 0.01  # Step of the quadrature in theoretical_win_percentage.
_GUMBEL_RANGE = (-4.0, 38.0)  # The Gumbel distribution has a mass of 1e-16 outside this range.
_PER_DECADE = 10  # Grid points per power of ten.


Distribution = Any
"""Continuous distribution with ``logpdf``, ``cdf``, ``sf``, ``ppf`` and ``isf``, such as those of ``scipy.stats``."""


@dataclass(frozen=True, eq=False)
class PerformanceHistogram:
    """Counts of feature sets by top performance and winning classifiers.

    Performance takes few distinct values, so a few thousand rows can represent hundreds of millions of feature sets.
    Counts are integers. Merging the histograms of chunks gives exactly the histogram of all feature sets. Create a
    histogram with :meth:`from_sets`, also from the three arrays of a saved histogram.

    Attributes
    ----------
    performance : ndarray of shape (n_rows,)
        Performance of each row, in ascending order.
    winners : ndarray of shape (n_rows, n_classifiers), dtype=bool
        Classifiers that reach this performance. Rows of equal performance have different winners. They are sorted by
        their winners, read as binary digits.
    counts : ndarray of shape (n_rows,), dtype=int64
        Number of feature sets in each row.

    See Also
    --------
    win_percentage : Compute win percentages directly from arrays.

    Examples
    --------
    >>> from fairfold.win_percentage import PerformanceHistogram
    >>> histogram = PerformanceHistogram.from_sets([0.7, 0.9, 0.7], [[1, 0], [0, 1], [1, 0]])
    >>> histogram.performance
    array([0.7, 0.9])
    >>> histogram.counts
    array([2, 1])
    >>> histogram.win_percentage([1, 5]).round(3)
    array([[0.667, 0.333],
           [0.132, 0.868]])
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
        performance : array-like of shape (n_sets,)
            Top performance of each feature set. Higher is better. Two values tie only if the floats are equal, so
            compute values that should tie in the same way.
        winners : array-like of shape (n_sets, n_classifiers)
            1 for each classifier that reaches the top performance, 0 for the others. Each row needs at least one 1.
        counts : array-like of shape (n_sets,), dtype=int64, default=None
            Number of occurrences of each feature set. None counts each set once.

        Returns
        -------
        PerformanceHistogram
            Histogram of the feature sets.

        Raises
        ------
        ModelError
            If an array is empty, has the wrong shape or is not finite, if a feature set has no winner, or if there are
            more than 62 classifiers.
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
        """Merge histograms of the same classifiers.

        The result equals the histogram of all their feature sets.

        Parameters
        ----------
        histograms : iterable of PerformanceHistogram
            Histograms with the same classifiers in the same order. This is not checked.

        Returns
        -------
        PerformanceHistogram
            Merged histogram.
        """
        columns = zip(*(vars(each).values() for each in histograms), strict=True)
        return cls.from_sets(*map(np.concatenate, columns))

    @property
    def n_sets(self) -> int:
        """Number of feature sets."""
        return int(self.counts.sum())

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return self.winners.shape[1]

    def sample(self, n_sets: int, *, random_state: int | np.random.Generator | None = None) -> PerformanceHistogram:
        """Draw feature sets at random, with replacement.

        Parameters
        ----------
        n_sets : int
            Number of feature sets to draw.
        random_state : int, Generator or None, default=None
            Seed or generator of the draws.

        Returns
        -------
        PerformanceHistogram
            Histogram of the drawn feature sets.
        """
        drawn = np.random.default_rng(random_state).multinomial(n_sets, self.counts / self.n_sets)
        kept = drawn > 0
        return PerformanceHistogram(self.performance[kept], self.winners[kept], drawn[kept])

    def win_percentage(self, n_draws: ArrayLike) -> np.ndarray:
        """Compute the probability that each classifier wins a search of N draws.

        Parameters
        ----------
        n_draws : array-like of any shape
            Numbers of draws N, at least 1.

        Returns
        -------
        ndarray of shape (..., n_classifiers)
            Win percentages as fractions of 1. The leading axes have the shape of `n_draws`.

        See Also
        --------
        win_percentage : Definition and an example.
        """
        start = np.flatnonzero(np.append(True, np.diff(self.performance) != 0))
        counts = np.add.reduceat(self.counts, start)
        weight = self.counts / np.repeat(counts, np.diff(np.append(start, self.counts.size)))
        shares = self.winners / self.winners.sum(axis=1, keepdims=True)
        by_value = np.add.reduceat(weight[:, None] * shares, start)  # P(classifier | best performance).
        return _over_draws(n_draws, lambda n: best_probability(counts, n) @ by_value)


def win_percentage(performance: ArrayLike, winners: ArrayLike, n_draws: ArrayLike) -> np.ndarray:
    """Compute the probability that each classifier wins a random search of N feature sets.

    Ties are shared equally. If several drawn feature sets have the best performance, each of them is equally likely to
    be the best. If several classifiers reach this performance on the best set, each wins an equal share.

    Parameters
    ----------
    performance : array-like of shape (n_sets,)
        Top performance of each feature set. Higher is better.
    winners : array-like of shape (n_sets, n_classifiers)
        1 for each classifier that reaches the top performance, 0 for the others. Each row needs at least one 1.
    n_draws : array-like of any shape
        Numbers of draws N, at least 1. Feature sets are drawn with replacement, so N may exceed the number of sets.

    Returns
    -------
    ndarray of shape (..., n_classifiers)
        Win percentages as fractions of 1. The leading axes have the shape of `n_draws`. The fractions sum to 1 for each
        N.

    Raises
    ------
    ModelError
        If N is below 1 or not finite, if an array is empty, has the wrong shape or is not finite, or if a feature set
        has no winner.

    See Also
    --------
    theoretical_win_percentage : Win percentages of known performance distributions.
    null_interval : Interval of the win percentage of equal classifiers.

    Notes
    -----
    Equations 8-11 of Parry, Phan & Wang (2012). Let F(v) be the share of feature sets with performance at most v. The
    best of N independent draws has performance v with probability F(v)^N - F(v-)^N. Results keep nearly full
    floating-point precision up to N = 1e10.

    Examples
    --------
    The first classifier wins on two of three feature sets, the second on the best set.

    >>> from fairfold.win_percentage import win_percentage
    >>> win_percentage([0.6, 0.7, 0.9], [[1, 0], [1, 0], [0, 1]], [1, 10]).round(3)
    array([[0.667, 0.333],
           [0.017, 0.983]])
    """
    return PerformanceHistogram.from_sets(performance, winners).win_percentage(n_draws)


def best_probability(counts: ArrayLike, n_draws: float) -> np.ndarray:
    """Compute the probability that each distinct performance is the best of N independent draws.

    With counts of 1, the result contains the weights of the feature sets by rank, the worst set first.

    Parameters
    ----------
    counts : array-like of shape (n_values,)
        Number of feature sets with each performance, in ascending order of performance.
    n_draws : float
        Number of draws N, at least 1.

    Returns
    -------
    ndarray of shape (n_values,)
        Probabilities. Each one has full floating-point precision.

    Notes
    -----
    F(v)^N is computed as exp(N log F(v)). log F(v) uses the exact number of feature sets above v. The difference from
    the previous value uses a ratio of exact counts.

    Examples
    --------
    >>> from fairfold.win_percentage import best_probability
    >>> best_probability([1, 1, 2], 2).round(4)
    array([0.0625, 0.1875, 0.75  ])
    """
    counts = np.asarray(counts, dtype=np.int64)
    at_most = np.cumsum(counts)
    above = at_most[-1] - at_most
    with np.errstate(divide="ignore"):  # log 0 is expected: no feature set is below the lowest.
        log_share = np.where(above < at_most, np.log1p(-above / at_most[-1]), np.log(at_most / at_most[-1]))
        log_ratio = np.log1p(-counts / at_most)
    return np.exp(n_draws * log_share) * -np.expm1(n_draws * log_ratio)


def theoretical_win_percentage(
    distributions: Sequence[Distribution], n_draws: ArrayLike, *, weights: ArrayLike | None = None
) -> np.ndarray:
    """Compute win percentages of classifiers with known continuous performance distributions.

    Parameters
    ----------
    distributions : sequence of distributions
        One distribution for each classifier: frozen distributions of ``scipy.stats``, or objects with the methods
        ``logpdf``, ``cdf``, ``sf``, ``ppf`` and ``isf``. `weights` determines their meaning.
    n_draws : array-like of any shape
        Numbers of draws N, at least 1.
    weights : array-like of shape (n_classifiers,), default=None
        Probability that each classifier is the best on a random feature set, up to a common factor. All must be
        positive. Each distribution then describes the performance of a classifier on the sets where it is the best,
        and the joint density is p(s, c) = weights_c f_c(s). If None, each distribution describes the performance of a
        classifier on any random feature set, independent of the others. The joint density p(s, c) is then f_c(s) times
        the product of F_k(s) over the other classifiers.

    Returns
    -------
    ndarray of shape (..., n_classifiers)
        Win percentages as fractions of 1. The leading axes have the shape of `n_draws`. The fractions sum to 1 for each
        N.

    Raises
    ------
    ModelError
        If N is below 1, if no distribution is continuous, or if the weights are not one positive number per
        distribution.

    See Also
    --------
    win_percentage : Win percentages of evaluated feature sets.

    Notes
    -----
    Equations 6-7 of Parry, Phan & Wang (2012). Let p(s, c) be the joint density of the top performance s of a random
    feature set and the classifier c that reaches it. Let F(s) be the distribution function of s. Classifier c wins with
    probability ∫ N F(s)^(N-1) p(s, c) ds.

    On the scale y = -log(-log F(s)), the best of N draws has a Gumbel distribution shifted by log N. The share of each
    classifier, p(s, c) / Σ_k p(s, k), is therefore computed once on an equidistant grid of y. The trapezoidal rule then
    averages it for each N. For smooth densities, the error decreases exponentially with the grid resolution. If a
    density has a jump, the error is on the order of the step times the jump, below 0.005.

    Examples
    --------
    The first classifier is better on average. The second varies more and wins long searches.

    >>> from scipy.stats import norm
    >>> from fairfold.win_percentage import theoretical_win_percentage
    >>> theoretical_win_percentage([norm(0.70, 0.05), norm(0.65, 0.10)], [1, 100]).round(2)
    array([[0.67, 0.33],
           [0.04, 0.96]])
    """
    distributions = _checked_distributions(distributions)
    if weights is not None:
        weights = _checked_weights(weights, len(distributions))
    draws = checked_draws(n_draws)
    log_draws = np.log(draws)
    first, last = _GUMBEL_RANGE[0] + log_draws.min(), _GUMBEL_RANGE[1] + log_draws.max()
    y = first + _STEP * np.arange(np.ceil((last - first) / _STEP) + 1)
    performance = _performance_at(y, distributions, weights)
    part = _shares(performance, distributions, weights)
    return _over_draws(draws, lambda n: _STEP * _gumbel_density(y - np.log(n)) @ part)


def draws_needed(epsilon: ArrayLike, p: ArrayLike) -> np.ndarray | int:
    """Compute the number of random draws needed to find a good feature set with a given probability.

    Parameters
    ----------
    epsilon : float or array-like
        Share of feature sets that are good enough, above 0 and below 1. For example, 0.01 means the best 1 %.
    p : float or array-like
        Probability of drawing at least one good feature set, at least 0 and below 1. Arrays are broadcast.

    Returns
    -------
    int or ndarray of int64
        Number of draws N, an array if an argument is an array.

    Raises
    ------
    ModelError
        If `epsilon` or `p` is out of range, or if the number of draws does not fit in 64 bits.

    Notes
    -----
    All N draws miss the good feature sets with probability (1 - epsilon)^N. N is therefore
    log(1 - p) / log(1 - epsilon), rounded up (Equations 3-5 and Table 2 of Parry, Phan & Wang 2012).

    Examples
    --------
    >>> from fairfold.win_percentage import draws_needed
    >>> draws_needed(0.01, 0.95)
    299
    """
    epsilon, p = as_numbers(epsilon, "epsilon"), as_numbers(p, "p")
    check_all(epsilon, (epsilon > 0) & (epsilon < 1), "epsilon", "above 0 and below 1")
    check_all(p, (p >= 0) & (p < 1), "p", "at least 0 and below 1")
    exact = np.log1p(-p) / np.log1p(-epsilon)
    check_all(exact, exact < 2.0**63, "number of draws", "below 2^63. Increase epsilon")
    # The quotient of two rounded logarithms may miss a whole number by a few units in the last place.
    nearest = np.rint(exact)
    draws = np.where(np.abs(exact - nearest) <= 4 * np.spacing(exact), nearest, np.ceil(exact))
    draws = np.maximum(draws, 1).astype(np.int64)
    return draws if draws.ndim else int(draws)


def _shares(performance: np.ndarray, distributions: Sequence[Distribution], weights: np.ndarray | None) -> np.ndarray:
    """Compute (n_nodes, n_classifiers) probabilities p(c | s) that each classifier reaches the performance."""
    with np.errstate(invalid="ignore"):  # At the end of a support, the density may be 0 or infinite.
        log_part = np.stack([distribution.logpdf(performance) for distribution in distributions], axis=1)
        if weights is None:
            log_part += np.stack([_minus_log_cdf(distribution, performance) for distribution in distributions], axis=1)
        else:
            log_part += np.log(weights)
    good = np.flatnonzero(np.isfinite(log_part.max(axis=1)))
    if not good.size:
        raise ModelError("distributions: no density is finite. Give continuous distributions with finite parameters.")
    # At the end of a support, the nearest inner node with a finite density approximates the limit.
    node = good[np.minimum(np.searchsorted(good, np.arange(performance.size)), good.size - 1)]
    return scipy.special.softmax(log_part[node], axis=1)


def _performance_at(y: np.ndarray, distributions: Sequence[Distribution], weights: np.ndarray | None) -> np.ndarray:
    """Solve -log(-log F(s)) = y for s, where F is the distribution function of the top performance."""
    from scipy.optimize import elementwise  # Imported here because few callers need root finding.

    wanted = np.exp(-y)  # -log F(s).

    def minus_log_cdf(s: np.ndarray) -> np.ndarray:
        if weights is None:
            return np.sum([_minus_log_cdf(distribution, s) for distribution in distributions], axis=0)
        weighted = list(zip(weights, distributions, strict=True))
        return _minus_log(sum(w * each.cdf(s) for w, each in weighted), sum(w * each.sf(s) for w, each in weighted))

    def excess(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -np.log(np.maximum(minus_log_cdf(s), 1e-300)) - y

    # The product of the F_k is at most the smallest factor, and at least that factor to the power of the number of
    # factors. A weighted mean of the F_k is between the smallest and the largest.
    n_factors = len(distributions) if weights is None else 1
    lowest = np.max if weights is None else np.min
    low = lowest([_quantile(distribution, wanted * 1.01) for distribution in distributions], axis=0)
    high = np.max([_quantile(distribution, wanted / 1.01 / n_factors) for distribution in distributions], axis=0)
    # Near the end of a support, both bounds may round to the same number, which is then the root.
    high = np.maximum(high, np.nextafter(low, np.inf))
    found = elementwise.find_root(excess, (low, high), args=(y,))
    return np.where(found.success, found.x, high)


def _quantile(distribution: Distribution, minus_log: np.ndarray) -> np.ndarray:
    """Invert -log of the distribution function with full precision in both tails."""
    return np.where(
        minus_log > 1, distribution.ppf(np.exp(-minus_log)), distribution.isf(-np.expm1(-np.minimum(minus_log, 1)))
    )


def _minus_log_cdf(distribution: Distribution, s: np.ndarray) -> np.ndarray:
    return _minus_log(distribution.cdf(s), distribution.sf(s))


def _minus_log(cdf: np.ndarray, sf: np.ndarray) -> np.ndarray:
    """Compute -log(cdf), from the survival function where the latter is small."""
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
    """Compute a logarithmic grid of whole numbers of draws, ten per power of ten.

    Parameters
    ----------
    most : float
        Largest number of draws.

    Returns
    -------
    ndarray of shape (n_values,)
        Numbers of draws from 1 to `most`, in ascending order, without duplicates.

    Examples
    --------
    >>> draws_grid(10)
    array([ 1.,  2.,  3.,  4.,  5.,  6.,  8., 10.])
    """
    n_steps = round(_PER_DECADE * np.log10(most))
    return np.unique(np.round(np.append(10 ** (np.arange(n_steps) / _PER_DECADE), most)))


def checked_draws(n_draws: ArrayLike) -> np.ndarray:
    """Check numbers of drawn feature sets and convert them to floats.

    Parameters
    ----------
    n_draws : array-like of any shape
        Numbers of feature sets that are drawn at random.

    Returns
    -------
    ndarray
        Numbers of draws as floats, in the same shape.

    Raises
    ------
    ModelError
        If there is no number, or if a number is not finite or is below 1.
    """
    draws = as_numbers(n_draws, "n_draws").astype(float)
    if not draws.size:
        raise ModelError("n_draws: the list is empty. Give at least one number of draws.")
    check_all(draws, (draws >= 1) & np.isfinite(draws), "n_draws", "finite and at least 1")
    return draws


def as_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Convert values to an array of real numbers.

    Parameters
    ----------
    values : array-like
        Values to convert.
    name : str
        Name of the values for error messages.

    Returns
    -------
    ndarray
        The values.

    Raises
    ------
    ModelError
        If the values are not real numbers, or if rows differ in length.
    """
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise ModelError(f"{name}: rows differ in length. Give rows of equal length.") from None
    if numbers.dtype.kind not in "biuf":
        raise ModelError(f"{name}: found values of type {numbers.dtype}. The values must be real numbers.")
    return numbers


def check_all(values: np.ndarray, is_good: np.ndarray, name: str, allowed: str) -> None:
    """Raise an error that shows the first value that does not meet a condition.

    Parameters
    ----------
    values : ndarray
        Values to check.
    is_good : ndarray of bool
        Whether each value meets the condition.
    name : str
        Name of the values for the error message.
    allowed : str
        Description of allowed values for the error message.

    Raises
    ------
    ModelError
        If a value does not meet the condition.
    """
    if not np.all(is_good):
        raise ModelError(f"{name}: found {values[~is_good][0]:g}. The value must be {allowed}.")


def _checked_sets(performance: ArrayLike, winners: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Check performance and winners and convert them to floats and booleans."""
    performance, winners = as_numbers(performance, "performance"), as_numbers(winners, "winners")
    if performance.ndim != 1 or not performance.size:
        raise ModelError(f"performance: found shape {performance.shape}, expected (n_sets,). Give one or more sets.")
    check_all(performance, np.isfinite(performance), "performance", "finite. Leave out sets that were not evaluated")
    if winners.ndim != 2 or len(winners) != performance.size or not 0 < winners.shape[1] <= MAX_CLASSIFIERS:
        expected = f"({performance.size}, n_classifiers) for 1 to {MAX_CLASSIFIERS} classifiers"
        raise ModelError(f"winners: found shape {winners.shape}, expected {expected}. Give a row per feature set.")
    if not np.isin(winners, (0, 1)).all():
        raise ModelError("winners: found values other than 0 and 1. Mark the best classifiers of each set by 1.")
    if len(without := np.flatnonzero(~winners.any(axis=1))):
        raise ModelError(f"winners, row {without[0]}: no classifier wins. Mark the best classifiers of each set by 1.")
    return performance.astype(np.float64), winners.astype(bool)


def _checked_distributions(distributions: Sequence[Distribution]) -> list[Distribution]:
    methods = ("logpdf", "cdf", "sf", "ppf", "isf")
    if not distributions or not all(hasattr(each, name) for each in distributions for name in methods):
        needed = f"Give frozen distributions of scipy.stats, or objects with {', '.join(methods)}"
        raise ModelError(f"distributions: expected continuous distributions, one for each classifier. {needed}.")
    return list(distributions)


def _checked_weights(weights: ArrayLike, n_classifiers: int) -> np.ndarray:
    weights = as_numbers(weights, "weights")
    if weights.shape != (n_classifiers,):
        raise ModelError(f"weights: found shape {weights.shape}. Give {n_classifiers} weights, one per distribution.")
    check_all(weights, (weights > 0) & np.isfinite(weights), "weights", "finite and above 0")
    return weights / weights.sum()
