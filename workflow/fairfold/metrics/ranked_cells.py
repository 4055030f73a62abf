"""(Sample, label) pairs and their ranking, the basis of the sums in :mod:`fairfold.missing_labels.corrected`."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix, quotient
from fairfold.core.validation import UNMEASURED
from fairfold.errors import DataError
from fairfold.metrics.plain_scores import cells_of, check_pair


class Cells(NamedTuple):
    """Probability and observed label of each (sample, label) pair.

    Sparse input may leave out pairs. These are negatives with probability 0, and only their number is stored.

    Attributes
    ----------
    rows, labels : ndarray of int of shape (n_pairs,)
        Sample and label of each pair, ordered by sample.
    P : ndarray of shape (n_pairs,)
        Probability of each pair.
    is_measured : ndarray of bool of shape (n_pairs,)
        Whether the label is measured. Unmeasured labels are ignored.
    w : ndarray of shape (n_pairs,)
        Observed label divided by the label frequency, s / c. 0 for pairs without an observed positive.
    n_absent : ndarray of int of shape (n_samples,)
        Number of labels of each sample that are not stored as pairs.
    n_labels : int
        Number of labels of each sample.
    """

    rows: np.ndarray
    labels: np.ndarray
    P: np.ndarray
    is_measured: np.ndarray
    w: np.ndarray
    n_absent: np.ndarray
    n_labels: int

    @classmethod
    def of(cls, Y: Matrix, P: Matrix, name: str = "Y_observed") -> Cells:
        """Return the pairs of labels and probabilities, with a label frequency of 1.

        For sparse probabilities, these are the pairs that either matrix stores.

        Parameters
        ----------
        Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Labels, 0 or 1, with NaN for unmeasured labels.
        P : {array-like, sparse matrix} of shape (n_samples, n_labels)
            Finite probabilities.
        name : str, default="Y_observed"
            Name of the labels in error messages.

        Returns
        -------
        Cells
            The pairs.

        Raises
        ------
        DataError
            If shapes differ, labels are invalid, or probabilities are not finite.

        Examples
        --------
        >>> import numpy as np
        >>> cells = Cells.of(np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.2], [0.4, 0.7]]))
        >>> cells.labels.tolist(), cells.w.tolist()
        ([0, 1, 0, 1], [1.0, 0.0, 0.0, 1.0])
        """
        return cls.of_checked(*check_pair(Y, P, name))

    @classmethod
    def of_checked(cls, Y: Matrix, P: Matrix) -> Cells:
        """Return the pairs of labels and probabilities that have been checked, with a label frequency of 1.

        Parameters
        ----------
        Y, P : ndarray or csr_array of shape (n_samples, n_labels)
            Labels (0, 1 or ``UNMEASURED``) and probabilities. Both are CSR, or neither is.

        Returns
        -------
        Cells
            The pairs.
        """
        rows, labels, truth, values, n_absent = cells_of(Y, P.astype(np.float64, copy=False))
        return cls(rows, labels, values, truth != UNMEASURED, (truth == 1).astype(np.float64), n_absent, P.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and labels."""
        return len(self.n_absent), self.n_labels

    def divided_by(self, frequency: np.ndarray) -> Cells:
        """Divide the weights of observed labels by label frequencies.

        Parameters
        ----------
        frequency : ndarray of shape (), (n_labels,) or (n_samples, n_labels)
            Label frequencies.

        Returns
        -------
        Cells
            The pairs with the new weights.
        """
        if frequency.ndim:
            frequency = np.broadcast_to(frequency, self.shape)[self.rows, self.labels]
        return self._replace(w=self.w / frequency)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum a value of each pair over the pairs of each sample.

        Parameters
        ----------
        values : ndarray of shape (n_pairs,)
            Value of each pair.

        Returns
        -------
        ndarray of shape (n_samples,)
            Sum of each sample.
        """
        return np.bincount(self.rows, values, minlength=len(self.n_absent))

    def by_label(self) -> list[np.ndarray]:
        """Return the indices of the pairs of each label with an observed positive.

        Returns
        -------
        list of ndarray of int
            Indices of the pairs, one array per label.
        """
        order = np.argsort(self.labels, kind="stable")
        ends = np.cumsum(np.bincount(self.labels, minlength=self.n_labels))
        return [members for members in np.split(order, ends[:-1]) if self.w[members].any()]


class Ranking:
    """Ranking of pairs by descending probability, with the positions of the observed positives.

    Parameters
    ----------
    cells : Cells
        All pairs.
    members : ndarray of int or None, default=None
        Indices of the pairs of one label. If None, all pairs are ranked, including pairs that are not stored.

    Attributes
    ----------
    P : ndarray of shape (n_pairs,)
        Probabilities in descending order.
    places : ndarray of int of shape (n_observed,)
        Position of each observed positive in the ranking.
    first, last : ndarray of int of shape (n_observed,)
        First and last position of the pairs with its probability.
    n_before, n_until : ndarray of int of shape (n_observed,)
        Number of observed positives with a higher probability, and with at least its probability.
    ties_with_absent : ndarray of bool of shape (n_observed,)
        Whether its probability is that of pairs that are not stored.
    """

    def __init__(self, cells: Cells, members: np.ndarray | None = None) -> None:
        n_labels = cells.n_labels if members is None else 1
        members = np.arange(len(cells.rows)) if members is None else members
        order = members[np.argsort(-cells.P[members], kind="stable")]
        P = cells.P[order]
        self.P, self._rows, self._is_measured = P, cells.rows[order], cells.is_measured[order]
        self._n_absent = n_labels - np.bincount(self._rows, minlength=len(cells.n_absent))
        self.places = np.flatnonzero(cells.w[order] > 0)
        self._observed = order[self.places]
        ends = np.append(np.flatnonzero(P[1:] != P[:-1]), len(P) - 1)  # Last index of each run of equal probabilities.
        rank = np.searchsorted(ends, self.places)
        self.last, self.first = ends[rank], np.append(0, ends + 1)[rank]
        self.ties_with_absent = P[self.places] == 0
        self.n_before = np.searchsorted(self.places, self.first)
        self.n_until = np.searchsorted(self.places, self.last, side="right")

    def weigh(self, w: np.ndarray, weights: np.ndarray) -> WeightedCells:
        """Compute the weighted sums of the ranking.

        Parameters
        ----------
        w : ndarray of shape (..., n_pairs)
            Observed label divided by label frequency, s / c, of all pairs.
        weights : ndarray of shape (..., n_samples)
            Weight of each sample.

        Returns
        -------
        WeightedCells
            Sums with the same leading axes.
        """
        of_cells = self._is_measured * np.take(weights, self._rows, axis=-1)
        absent = np.asarray(weights @ self._n_absent)
        weight = np.take(of_cells, self.places, axis=-1)
        positive = weight * np.take(w, self._observed, axis=-1)
        return WeightedCells(self, weight, positive, _sums_until(of_cells), _sums_until(positive), absent)


def _sums_until(values: np.ndarray) -> np.ndarray:
    """Compute cumulative sums along the last axis, starting with an empty sum."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


class WeightedCells(NamedTuple):
    """Weighted sums over the ranked pairs, computed by :meth:`Ranking.weigh`.

    s / c is the observed label divided by the label frequency. Arrays with leading axes contain the sums of several
    bootstrap samples.

    Attributes
    ----------
    ranking : Ranking
        Ranked pairs.
    weight : ndarray of shape (..., n_observed)
        Weight of each observed positive.
    positive : ndarray of shape (..., n_observed)
        Weight of each observed positive times s / c.
    until : ndarray of shape (..., n_pairs + 1)
        Cumulative weight of the ranked pairs, starting with 0.
    positives_until : ndarray of shape (..., n_observed + 1)
        Cumulative weight times s / c of the observed positives, starting with 0.
    absent : ndarray of shape (...)
        Weight of the pairs that are not stored.
    """

    ranking: Ranking
    weight: np.ndarray
    positive: np.ndarray
    until: np.ndarray
    positives_until: np.ndarray
    absent: np.ndarray

    @property
    def whole(self) -> np.ndarray:
        """Weight of all pairs, of shape (...)."""
        return self.until[..., -1] + self.absent

    @property
    def positives(self) -> np.ndarray:
        """Sum of weight times s / c over all pairs, of shape (...)."""
        return self.positives_until[..., -1]

    def _at_least(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weight, and weight times s / c, of the pairs with at least the probability of each positive."""
        absent = self.absent[..., np.newaxis] * self.ranking.ties_with_absent
        at_least = np.take(self.until, self.ranking.last + 1, axis=-1) + absent
        return at_least, np.take(self.positives_until, self.ranking.n_until, axis=-1)

    def precision_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute numerator and denominator of average precision.

        Returns
        -------
        numerator, denominator : ndarray of shape (...)
            Sums of each draw. Pairs of weight 0 add nothing.
        """
        at_least, positive_at_least = self._at_least()
        # The pair itself is known to be positive, which replaces its s / c by 1.
        hits = self.weight + positive_at_least - self.positive
        terms = quotient(self.positive * hits, at_least, 0.0)
        return terms.sum(axis=-1), self.positives

    def order_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute numerator and denominator of the area under the ROC curve.

        Returns
        -------
        numerator, denominator : ndarray of shape (...)
            Sums of each draw.
        """
        own = self.weight - self.positive
        negatives = (self.whole - self.positives)[..., np.newaxis]
        at_least = np.subtract(*self._at_least())
        above = np.take(self.until, self.ranking.first, axis=-1)
        above = above - np.take(self.positives_until, self.ranking.n_before, axis=-1)
        below, tied = negatives - at_least, at_least - above - own
        return (self.positive * (below + tied / 2)).sum(axis=-1), (self.positive * (negatives - own)).sum(axis=-1)


def check_frequency(label_frequency: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    """Convert label frequencies to an array and check them.

    Parameters
    ----------
    label_frequency : float or array-like of shape (n_labels,) or (n_samples, n_labels)
        Label frequencies.
    shape : tuple of int
        Numbers of samples and labels.

    Returns
    -------
    ndarray of shape (), (n_labels,) or (n_samples, n_labels)
        Label frequencies.

    Raises
    ------
    DataError
        If label frequencies are not numbers above 0 and at most 1, or have another shape.

    Examples
    --------
    >>> check_frequency([0.5, 1], (3, 2))
    array([0.5, 1. ])
    """
    try:
        frequency = np.asarray(label_frequency, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("label_frequency: expected numbers above 0 and at most 1, found other values.") from None
    if frequency.shape not in ((), shape[1:], shape):
        raise DataError(
            f"label_frequency: expected one number, {shape[1]} numbers (one per label) or shape {shape} (one per "
            f"cell), found shape {frequency.shape}."
        )
    wrong = frequency[~((frequency > 0) & (frequency <= 1))]
    if wrong.size:
        raise DataError(
            f"label_frequency: expected shares of observed positives above 0 and at most 1, found {wrong[0]:g}."
        )
    return frequency


_STEPS = 20  # Number of steps of expectation maximization.
_LEAST_SHARE = 1e-6  # Smallest share of samples. Keeps all observed numbers possible.
_LEAST_SPREAD = 1e-12  # A smaller variance of expected positives is due to rounding.


@lru_cache(maxsize=1 << 14)  # Shared by all models that predict the same samples.
def chances_of_positives(
    seen: tuple[float, ...], n_samples: int, n_labels: int, frequency: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate the distribution of the number of positives per sample from observed labels.

    The estimate starts from shares with the least chi-square and is refined by expectation maximization. Expectation
    maximization alone would take thousands of steps. The largest observed number of positives also limits the estimate.

    Parameters
    ----------
    seen : tuple of float
        Weight of the samples with 0, 1, 2, ... observed positives.
    n_samples : int
        Number of these samples.
    n_labels : int
        Largest number of labels of a sample.
    frequency : float
        Label frequency.

    Returns
    -------
    m : ndarray of shape (k,)
        Possible numbers of positives.
    shares : ndarray of shape (k,)
        Estimated share of samples with each number of positives.
    chances : ndarray of shape (len(seen), k)
        Probability of each number of positives, given the number of observed positives.

    Examples
    --------
    >>> m, shares, _ = chances_of_positives((1.0, 2.0, 1.0), n_samples=4, n_labels=5, frequency=1)
    >>> m.tolist(), shares.round(2).tolist()
    ([0, 1, 2], [0.25, 0.5, 0.25])
    """
    most_seen = len(seen) - 1
    m = np.arange(min(n_labels, most_seen if frequency == 1 else int(2 * most_seen / frequency) + 5) + 1)
    found = np.zeros(len(m))
    found[: len(seen)] = seen
    found /= found.sum()
    k = np.arange(len(m))[:, np.newaxis]
    ways = scipy.special.gammaln(m + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(np.maximum(m - k, 0) + 1)
    likelihood = np.where(
        m >= k,
        np.exp(ways + scipy.special.xlogy(k, frequency) + scipy.special.xlog1py(np.maximum(m - k, 0), -frequency)),
        0.0,
    )
    scale = 1 / np.sqrt(np.maximum(found, 1 / n_samples))[:, np.newaxis]
    shares = scipy.optimize.nnls(scale * likelihood, scale[:, 0] * found)[0]
    shares = (shares + _LEAST_SHARE) / (shares + _LEAST_SHARE).sum()
    for _ in range(_STEPS):
        joint = likelihood * shares
        chances = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        shares = found @ chances
    return m, shares, chances[: len(seen)].copy()


class RankingLoss:
    """Estimate of the ranking loss on complete labels.

    The ranking loss is the share of wrongly ordered (positive, negative) pairs of a sample, averaged over samples. Ties
    count as wrong. A sample without pairs has a loss of 0.

    Parameters
    ----------
    cells : Cells
        Pairs of the samples.

    Notes
    -----
    A sample with q labels, m of them positive, has the loss (A - (m - 1) (1 + t) / 2) / (q - m). A is the number of
    other labels that are not ranked below a positive, averaged over the positives of the sample. The second term
    subtracts the positives among them: half of the other positives, plus half of those that tie. The share of other
    positives that tie is t. Given k ≥ 1 observed positives, each is equally likely to be any of the m. Their mean,
    weighted by 1 / c, therefore estimates A.

    Only m is unknown. The number of observed positives follows a binomial distribution, k ~ Bin(m, c). The shares of
    samples by m follow from the shares by k, see :func:`chances_of_positives`, and the probabilities of m given k from
    the rule of Bayes. A may vary with m among samples with the same k. It is therefore shifted according to the slope
    of A on E[m | k]. The estimate is exact if labels are complete, all samples have the same number of positives, or
    the mean of A is linear in m. Samples without observed positives are treated like other samples with the same m. If
    label frequencies differ, c is their mean over positives.

    The loss is linear in A and t. Sums over samples with the same k and q are therefore sufficient, for any weights.
    """

    def __init__(self, cells: Cells) -> None:
        self._n_observed = cells.sums(cells.w > 0).astype(np.int64)
        self._n_labels = cells.sums(cells.is_measured).astype(np.int64) + cells.n_absent
        self._known = np.flatnonzero(self._n_observed)
        self._cells, self._ranks = cells, _ranks_of_positives(cells)
        self._weigh(cells.w)
        numbers = np.column_stack([self._n_observed, self._n_labels])[self._known]
        kinds, kind = np.unique(numbers, axis=0, return_inverse=True)
        self._kind = kind.ravel()  # NumPy 2.0.0 returns two axes.
        self._k, self._q = kinds.T

    def weighted(self, w: np.ndarray) -> RankingLoss:
        """Return the estimate with other weights of the pairs.

        Parameters
        ----------
        w : ndarray of shape (n_pairs,)
            Observed label divided by the label frequency.

        Returns
        -------
        RankingLoss
            New estimate, which shares the ranks.
        """
        estimate = copy(self)
        estimate._weigh(w)
        return estimate

    def _weigh(self, w: np.ndarray) -> None:
        self._w = self._cells.sums(w)
        self._above, tied = _means_of_ranks(self._cells._replace(w=w), self._ranks)[self._known].T
        self._is_alone, self._tied = np.isnan(tied), np.nan_to_num(tied)

    def of(self, weights: np.ndarray, frequency: float = 1.0) -> float:
        """Estimate the loss for given sample weights.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            Weight of each sample.
        frequency : float, default=1.0
            Label frequency, applied in addition to the weights of the pairs.

        Returns
        -------
        float
            Estimate of the loss. NaN if no positive is observed, or no sample can have both a positive and a negative
            label.
        """
        n_observed, n_positives = (float(each @ weights) for each in (self._n_observed, self._w))
        if n_observed == 0:
            return np.nan
        c = n_observed / (n_positives / frequency)
        drawn = weights > 0
        seen = np.bincount(self._n_observed[drawn], weights[drawn])
        most_labels = int(self._n_labels[drawn].max())
        m, shares, chances = chances_of_positives(tuple(seen), np.count_nonzero(drawn), most_labels, c)
        weight, above, tied = self._sums(weights[self._known])
        kept = weight > 0
        weight, above, tied, q = weight[kept], above[kept], tied[kept], self._q[kept, np.newaxis]
        chances = chances[self._k[kept]]
        expected = chances @ m
        slope = _slope(expected, above, weight) if c < 1 else 0.0
        weight, above, tied, expected = (each[:, np.newaxis] for each in (weight, above, tied, expected))
        moved = above + slope * (m - expected) * weight
        wrong = moved - (m - 1) * (weight + tied) / 2
        has_pairs = (q > m) & (m > 0)
        if not (has_pairs & (chances > 0)).any():
            return np.nan
        losses = np.where(has_pairs, wrong / np.maximum(q - m, 1), 0.0)
        votes = (weight * chances).sum(axis=0)
        of_m = quotient((chances * losses).sum(axis=0), votes, 0.0)
        return float(shares @ of_m)

    def _sums(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute weight, and weighted A and t, of each kind of sample.

        The t of a sample with a single observed positive is set to the mean of the other samples.
        """
        alone = weights * self._is_alone
        parts = (weights, weights * self._above, weights * self._tied, alone)
        weight, above, tied, alone = (np.bincount(self._kind, part, minlength=len(self._k)) for part in parts)
        of_several = weight.sum() - alone.sum()
        return weight, above, tied + alone * (tied.sum() / of_several if of_several > 0 else 0.0)


def _slope(expected: np.ndarray, above: np.ndarray, weight: np.ndarray) -> float:
    """Compute the slope of A on the expected number of positives, from sums over kinds of samples.

    The slope is 0 if all kinds have the same expected number.
    """
    centered = expected - weight @ expected / weight.sum()
    spread = weight @ centered**2
    return centered @ above / spread if spread > _LEAST_SPREAD * weight.sum() else 0.0


def _ranks_of_positives(cells: Cells) -> np.ndarray:
    """Compute the rank and the share of ties of each observed positive, in the order of the pairs.

    The rank is the number of other labels that are not ranked below the observed positive. The share of ties is that of
    the other observed positives of the sample, and NaN if there are none.
    """
    ranks = [np.empty((0, 2))]
    starts = np.searchsorted(cells.rows, np.arange(cells.shape[0] + 1))
    for row in np.unique(cells.rows[cells.w > 0]):
        own = slice(starts[row], starts[row + 1])
        P = cells.P[own]
        mine = P[cells.w[own] > 0]
        n_at_least = (P[cells.is_measured[own]] >= mine[:, np.newaxis]).sum(axis=1) + cells.n_absent[row] * (mine <= 0)
        n_tied = (mine == mine[:, np.newaxis]).sum(axis=1) - 1
        ranks.append(np.column_stack([n_at_least - 1, n_tied / (len(mine) - 1) if len(mine) > 1 else [np.nan]]))
    return np.concatenate(ranks)


def _means_of_ranks(cells: Cells, ranks: np.ndarray) -> np.ndarray:
    """Average the ranks of the observed positives of each sample, weighted by 1 / c."""
    means = np.full((cells.shape[0], 2), np.nan)
    is_positive = cells.w > 0
    rows, starts = np.unique(cells.rows[is_positive], return_index=True)
    if len(rows):
        weights = cells.w[is_positive, np.newaxis]
        means[rows] = np.add.reduceat(ranks * weights, starts) / np.add.reduceat(weights, starts)
    return means
