"""Influence of each sample on a score: the weight of the sample times the derivative of the score by this weight.

The influences of all samples sum to 0, because a score does not change if all weights are multiplied by a constant.
Their sum of squares estimates the variance of the score over random samples (infinitesimal jackknife, Efron 1982).

Scores of (sample, label) pairs are functions of sums over pairs. The derivative by the weight of a pair follows from
cumulative sums over the ranked pairs, in O(n log n) for n pairs. The influence of a sample is the sum over its pairs,
each times the weight of the sample. The weight s / c of an observed positive with label frequency c replaces a label
of 1, as in :mod:`fairfold.missing_labels.corrected`. The same functions therefore serve scores on observed labels, with
c = 1, and corrected scores.

Pairs that sparse matrices do not store are negatives with a probability of 0. Those of one group have the same
derivative, which is computed for one pair that represents them.

References
----------
B. Efron (1982), The jackknife, the bootstrap and other resampling plans, chapter 6.
E. LeDell, M. Petersen & M. van der Laan (2015), Computationally efficient confidence intervals for cross-validated
area under the ROC curve estimates, Electronic Journal of Statistics 9.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairfold.core.arrays import quotient
from fairfold.metrics.ranked_cells import Cells

_STEP = 1e-4  # Step of numeric derivatives of functions of counts, in mean sample weights.
_ROUNDING = 1e-9  # Relative rounding error of sums.


class Counted(NamedTuple):
    """Sums over the pairs of each group, as functions of counts take them.

    Attributes
    ----------
    true_positives, predicted, positives, whole : ndarray of shape (...)
        Weights of true positives, predicted labels, positives and all pairs.
    """

    true_positives: np.ndarray
    predicted: np.ndarray
    positives: np.ndarray
    whole: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """Weight of all pairs, by its name in ``plain_scores.Counts``."""
        return self.whole


class WeighedPairs:
    """Measured pairs of labels and probabilities, with the influence of samples on scores of these pairs.

    Parameters
    ----------
    cells : Cells
        All pairs. Their weights s / c are labels of 0 and 1 if the label frequency is 1.
    of_samples : ndarray of shape (n_samples,)
        Weight of each sample.
    by_label : bool
        Whether the pairs of each label are scored separately, and the score is the mean over labels. Otherwise all
        pairs form one binary problem.

    Examples
    --------
    >>> cells = Cells.of(np.array([[1], [0], [1]]), np.array([[0.9], [0.5], [0.2]]))
    >>> WeighedPairs(cells, np.ones(3), by_label=False).of_average_precision().round(3)
    array([ 0.139, -0.111, -0.028])
    """

    def __init__(self, cells: Cells, of_samples: np.ndarray, *, by_label: bool) -> None:
        self._cells, self._of_samples, self._by_label = cells, of_samples, by_label
        kept = cells.is_measured
        group = cells.labels if by_label else np.zeros(len(cells.rows), dtype=np.int64)
        self.n_groups = cells.n_labels if by_label else 1
        if by_label:
            of_stored = np.bincount(cells.labels, of_samples[cells.rows], minlength=cells.n_labels)
            is_absent = np.bincount(cells.labels, minlength=cells.n_labels) < len(of_samples)
            absent = np.where(is_absent, of_samples.sum() - of_stored, 0.0)
        else:
            absent = np.array([of_samples @ cells.n_absent])
        self._kept, none = kept, np.zeros(self.n_groups)
        self.group = np.append(group[kept], np.arange(self.n_groups))
        self.score = np.append(cells.P[kept], none)
        self.y = np.append(cells.w[kept], none)
        self.weight = np.append(of_samples[cells.rows[kept]], absent)

    def _of_each_sample(self, derivative: np.ndarray) -> np.ndarray:
        """Sum derivatives by the weight of each pair, given for stored pairs and then for absent ones."""
        cells, n_samples = self._cells, len(self._of_samples)
        stored, absent = derivative[: -self.n_groups], derivative[-self.n_groups :]
        found = np.bincount(cells.rows[self._kept], stored, minlength=n_samples)
        if not self._by_label:
            return self._of_samples * (found + cells.n_absent * absent[0])
        if cells.n_absent.any():
            found += absent.sum() - np.bincount(cells.rows, absent[cells.labels], minlength=n_samples)
        return self._of_samples * found

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.group, values, minlength=self.n_groups)

    @cached_property
    def _ranks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the order of pairs by group and descending score, and for each pair the limits of its ties.

        The last two arrays are the first position of each pair's group, and the end of it.
        """
        order = np.lexsort((-self.score, self.group))
        group, score = self.group[order], self.score[order]
        is_new = np.append(True, np.diff(group) != 0)
        starts = np.flatnonzero(is_new | np.append(True, np.diff(score) != 0))
        run = np.cumsum(is_new | np.append(True, np.diff(score) != 0)) - 1
        ends = np.append(starts[1:], len(order))
        of_group = np.append(np.flatnonzero(is_new), len(order))
        return order, starts[run], ends[run], of_group[np.cumsum(is_new) - 1]

    def _above_and_until(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sum values over the pairs of the group with a higher score, and with at least the score of each pair."""
        order, first, end, of_group = self._ranks
        sums = np.append(0.0, np.cumsum(values[order]))
        above, until = np.empty((2, len(order)))
        above[order], until[order] = sums[first] - sums[of_group], sums[end] - sums[of_group]
        return above, until

    def _mean_of_groups(self, derivative: np.ndarray, is_scored: np.ndarray) -> np.ndarray:
        """Return the influences on the mean score of groups. A group without a score has no influence."""
        n_scored = np.count_nonzero(is_scored)
        kept = np.where(is_scored[self.group], np.nan_to_num(derivative), 0.0)
        return self._of_each_sample(kept / max(n_scored, 1))

    def of_average_precision(self) -> np.ndarray:
        """Compute the influence of each sample on average precision.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influences. Groups without a positive or without a negative are ignored.
        """
        a, y, positive = self.weight, self.y, self.weight * self.y
        at_least, positive_at_least = self._above_and_until(a)[1], self._above_and_until(positive)[1]
        inverse = quotient(1.0, at_least, 0.0)
        hits = a + positive_at_least - positive  # The pair itself is known to be positive.
        terms = positive * hits * inverse
        positives, whole = self._sum(positive), self._sum(a)
        is_scored = (positives > 0) & (whole - positives > _ROUNDING * whole)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = self._sum(terms) / positives
            gained = self._below(positive * inverse)
            lost = self._below(terms * inverse)
            numerator = y * hits * inverse + positive * (1 - y) * inverse + y * gained - lost
            derivative = (numerator - score[self.group] * y) / positives[self.group]
        return self._mean_of_groups(derivative, is_scored)

    def _below(self, values: np.ndarray) -> np.ndarray:
        """Sum values over the pairs of the group with at most the score of each pair."""
        return self._sum(values)[self.group] - self._above_and_until(values)[0]

    def of_area(self) -> np.ndarray:
        """Compute the influence of each sample on the area under the ROC curve.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influences. Groups without a positive or without a negative are ignored.
        """
        a, y = self.weight, self.y
        positive, negative = a * y, a * (1 - y)
        positives, negatives, whole = self._sum(positive), self._sum(negative), self._sum(a)
        is_scored = (positives > 0) & (negatives > _ROUNDING * whole)
        (p_above, p_until), (n_above, n_until) = (self._above_and_until(each) for each in (positive, negative))
        # A pair of the same weight on both sides is no pair of a positive and a negative.
        n_below = negatives[self.group] - n_until + (n_until - n_above - negative) / 2
        p_over = p_above + (p_until - p_above - positive) / 2
        n_others, p_others = negatives[self.group] - negative, positives[self.group] - positive
        with np.errstate(divide="ignore", invalid="ignore"):
            total = self._sum(positive * n_others)
            score = self._sum(positive * n_below) / total
            numerator = y * n_below + (1 - y) * p_over
            denominator = y * n_others + (1 - y) * p_others
            derivative = (numerator - score[self.group] * denominator) / total[self.group]
        return self._mean_of_groups(derivative, is_scored)

    def of_counts(self, function: Callable[..., np.ndarray], threshold: float) -> np.ndarray:
        """Compute the influence of each sample on a function of counts.

        Parameters
        ----------
        function : callable
            Function of :class:`Counted`, for each group.
        threshold : float
            A label is predicted if its probability exceeds this threshold.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influences. Groups without a measured label are ignored. The derivative is a central difference.
        """
        predicted = (self.score > threshold).astype(np.float64)
        one = np.ones_like(predicted)
        added = (self.y * predicted, predicted, self.y, one)
        sums = [self._sum(self.weight * each) for each in added]
        step = _STEP * self._of_samples.mean()
        with np.errstate(divide="ignore", invalid="ignore"):
            above, below = (
                function(_possible(*(total[self.group] + sign * each for total, each in zip(sums, added, strict=True))))
                for sign in (step, -step)
            )
            is_scored = (sums[3] > 0) & ~np.isnan(function(_possible(*sums)))
        return self._mean_of_groups(np.where(self.weight > 0, (above - below) / (2 * step), 0.0), is_scored)

    def of_mean(self, values: np.ndarray) -> np.ndarray:
        """Compute the influence of each sample on the mean of values of the pairs.

        Parameters
        ----------
        values : ndarray of shape (n_pairs,)
            Value of each pair, in the order of ``score``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influences.
        """
        whole = self._sum(self.weight)
        mean = self._sum(self.weight * values) / whole
        return self._of_each_sample((values - mean[self.group]) / whole[self.group])


def _possible(true_positives: np.ndarray, predicted: np.ndarray, positives: np.ndarray, whole: np.ndarray) -> Counted:
    """Limit estimated counts as corrected scores do. Counts of labels are within the limits."""
    positives = np.minimum(positives, whole)
    return Counted(np.minimum(np.minimum(true_positives, predicted), positives), predicted, positives, whole)


def of_ratio(above: np.ndarray, below: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the influence of each sample on a ratio of weighted sums over samples, such as a mean.

    Parameters
    ----------
    above, below : ndarray of shape (n_samples,)
        Terms of the numerator and the denominator.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influences. 0 if the denominator is 0.

    Examples
    --------
    >>> of_ratio(np.array([1.0, 3.0]), np.ones(2), np.ones(2))
    array([-0.5,  0.5])
    """
    total = weights @ below
    if total <= 0:
        return np.zeros(len(weights))
    return weights * (above - (weights @ above) / total * below) / total
