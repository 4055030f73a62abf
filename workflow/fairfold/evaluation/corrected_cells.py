"""Pairs of a sample and a label, and their ranking, as :mod:`fairfold.evaluation.corrected` sums over them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, stored_cells
from fairfold.core.validation import UNMEASURED
from fairfold.errors import DataError
from fairfold.evaluation.plain_scores import check_pair


class Cells(NamedTuple):
    """Pairs that are looked at one by one; others are negatives of probability 0, of which there are many in CSR.

    Attributes
    ----------
    rows, labels, P : (k,) of each pair, row by row.
    is_measured : (k,); what is not takes no part.
    w : (k,) s / c, an observed label by the label frequency; 0 of all others.
    n_absent : (n_samples,) labels of each sample that are in no pair.
    n_labels : of each sample.
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
        """All pairs, or of sparse probabilities those that are stored in either matrix; with a label frequency of 1.

        ``name`` is what messages call the labels.

        Raises
        ------
        DataError
            When shapes differ, labels are none, or probabilities are not finite.
        """
        Y, P = check_pair(Y, P, name)
        if sparse.issparse(P):
            rows, labels, truth, values = stored_cells(Y, P.astype(np.float64, copy=False))
        else:
            rows, labels = (each.ravel() for each in np.indices(P.shape))
            truth, values = Y.ravel(), P.ravel()
        n_absent = P.shape[1] - np.bincount(rows, minlength=P.shape[0])
        return cls(rows, labels, values, truth != UNMEASURED, (truth == 1).astype(np.float64), n_absent, P.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.n_absent), self.n_labels

    def divided_by(self, frequency: np.ndarray) -> Cells:
        """With label frequencies that come on top: one, (n_labels,), or (n_samples, n_labels)."""
        if frequency.ndim:
            frequency = np.broadcast_to(frequency, self.shape)[self.rows, self.labels]
        return self._replace(w=self.w / frequency)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """(n_samples,) sums of what each pair has."""
        return np.bincount(self.rows, values, minlength=len(self.n_absent))

    def by_label(self) -> list[np.ndarray]:
        """Numbers of the pairs of each label that has an observed one."""
        order = np.argsort(self.labels, kind="stable")
        ends = np.cumsum(np.bincount(self.labels, minlength=self.n_labels))
        return [members for members in np.split(order, ends[:-1]) if self.w[members].any()]


class Ranking:
    """Some pairs from the highest probability on, and where the observed ones stand among them.

    Parameters
    ----------
    cells : all.
    members : numbers of those that are ranked: all, with those that are absent, or one label's.
    """

    def __init__(self, cells: Cells, members: np.ndarray | None = None) -> None:
        n_labels = cells.n_labels if members is None else 1
        members = np.arange(len(cells.rows)) if members is None else members
        order = members[np.argsort(-cells.P[members], kind="stable")]
        P = cells.P[order]
        self.P, self._rows, self._is_measured = P, cells.rows[order], cells.is_measured[order]
        self._n_absent = n_labels - np.bincount(self._rows, minlength=len(cells.n_absent))
        self._at = np.flatnonzero(cells.w[order] > 0)
        self._observed = order[self._at]
        ends = np.append(np.flatnonzero(P[1:] != P[:-1]), len(P) - 1)  # the last place of each rank
        rank = np.searchsorted(ends, self._at)
        self._last, self._first = ends[rank], np.append(0, ends + 1)[rank]
        self._ties_with_absent = P[self._at] == 0
        self._n_before = np.searchsorted(self._at, self._first)
        self._n_until = np.searchsorted(self._at, self._last, side="right")

    def weigh(self, w: np.ndarray, weights: np.ndarray) -> Weighed:
        """With (..., k) s / c of all pairs, and (..., n_samples) weights; results begin with the same axes."""
        of_cells = self._is_measured * np.take(weights, self._rows, axis=-1)
        absent = np.asarray(weights @ self._n_absent)
        weight = np.take(of_cells, self._at, axis=-1)
        positive = weight * np.take(w, self._observed, axis=-1)
        until, positives_until = _sums_until(of_cells), _sums_until(positive)
        return Weighed(
            self._at,
            weight,
            positive,
            at_least=np.take(until, self._last + 1, axis=-1) + absent[..., np.newaxis] * self._ties_with_absent,
            above=np.take(until, self._first, axis=-1),
            positive_at_least=np.take(positives_until, self._n_until, axis=-1),
            positive_above=np.take(positives_until, self._n_before, axis=-1),
            whole=until[..., -1] + absent,
            positives=positives_until[..., -1],
            until=until,
            absent=absent,
        )


def _sums_until(values: np.ndarray) -> np.ndarray:
    """Of the first values along the last axis, from none on."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


class Weighed(NamedTuple):
    """A ranking with weights of samples: of each observed pair, and sums over others by where they stand to it.

    Weights may be those of several draws, whose axes come first in all but ``places``.

    Attributes
    ----------
    places : (m,) of the pair among those that are ranked.
    weight, positive : (..., m) of the pair itself, and this times s / c.
    at_least, above : (..., m) weight of all pairs with at least its probability, and with more.
    positive_at_least, positive_above : (..., m) the same of s / c times weight.
    whole, positives : weight of all pairs, and s / c times weight.
    until : (..., k + 1) weight of the first ones of all pairs, from none on, in the order of their rank.
    absent : weight of the pairs that are no cells.
    """

    places: np.ndarray
    weight: np.ndarray
    positive: np.ndarray
    at_least: np.ndarray
    above: np.ndarray
    positive_at_least: np.ndarray
    positive_above: np.ndarray
    whole: np.ndarray
    positives: np.ndarray
    until: np.ndarray
    absent: np.ndarray

    def precision_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Above and below of average precision; pairs that weigh nothing add nothing."""
        hits = self.weight + self.positive_at_least - self.positive  # it is one for sure among those of its own rank
        terms = np.divide(
            self.positive * hits, self.at_least, out=np.zeros_like(self.positive), where=self.at_least > 0
        )
        return terms.sum(axis=-1), self.positives

    def order_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Above and below of the area under the ROC curve."""
        own = self.weight - self.positive
        negatives = (self.whole - self.positives)[..., np.newaxis]
        at_least, above = self.at_least - self.positive_at_least, self.above - self.positive_above
        below, tied = negatives - at_least, at_least - above - own
        return tuple((self.positive * each).sum(axis=-1) for each in (below + tied / 2, negatives - own))


def check_frequency(label_frequency: ArrayLike, shape: tuple[int, int]) -> np.ndarray:
    """Label frequencies as an array that labels of this shape can be divided by.

    Raises
    ------
    DataError
        When they are no numbers above 0 and at most 1, or of another shape.
    """
    try:
        frequency = np.asarray(label_frequency, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("label_frequency holds what is no number; give one above 0 and at most 1.") from None
    if frequency.shape not in ((), shape[1:], shape):
        raise DataError(
            f"label_frequency has shape {frequency.shape}; give one number, {shape[1]} of the labels, or {shape} of "
            "all cells."
        )
    wrong = frequency[~((frequency > 0) & (frequency <= 1))]
    if wrong.size:
        raise DataError(
            f"label_frequency holds {wrong[0]:g}; the share of positives that are observed is above 0 and at most 1."
        )
    return frequency


_STEPS = 20  # of expectation maximisation
_LEAST_SHARE = 1e-6  # of samples by their positives, so that what is seen is possible
_LEAST_SPREAD = 1e-12  # variance of expected positives; what is less is rounding


@lru_cache(maxsize=1 << 14)  # for all models that predict the same samples
def chances_of_positives(
    seen: tuple[float, ...], n_samples: int, n_labels: int, frequency: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate from observed labels how many positives samples have.

    The shares of least chi-square, and from there steps of expectation maximization, which alone would take thousands.
    That no sample shows more than some number of positives tells as much as what is seen.

    Parameters
    ----------
    seen : tuple of float
        Weight of the samples with 0, 1, 2, ... observed positives.
    n_samples : int
        Number of these samples.
    n_labels : int
        Largest number of labels that a sample has.
    frequency : float
        Label frequency.

    Returns
    -------
    m : ndarray of shape (k,)
        Possible numbers of positives.
    shares : ndarray of shape (k,)
        Shares of samples by these.
    chances : ndarray of shape (len(seen), k)
        Probability of each by the number that is observed.
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
    """Mean over samples of the share of wrongly ordered (positive, negative) pairs; ties are wrong, no pairs count 0.

    A sample of q labels, m of them positive, has the loss (A - (m - 1) (1 + t) / 2) / (q - m): A is the mean over its
    positives of the number of other labels that are not ranked below, from which those are taken that are positive,
    half of the others and those that tie (t is the share of other positives that do). Of k ≥ 1 observed positives, each
    is as likely any of the m, so that their mean, by 1/c, estimates A.

    Only m is unknown. Numbers of observed positives are thinned ones, k ~ Bin(m, c), and the shares π of samples by m
    follow from those by k (:func:`chances_of_positives`), the chances of m given k by Bayes' rule. As A changes with m
    among samples of one k, it is moved by the slope of A on E[m | k]: what is exact with labels that are complete, or
    equally many in all samples, or where the mean of A is linear in m. Samples without observed positives are like
    others of their m. Where frequencies differ, c is their mean over positives.

    The loss is linear in A and t, so that of samples of one k and q only the sums count, for any weights.

    Parameters
    ----------
    cells : of the samples.
    """

    def __init__(self, cells: Cells) -> None:
        self._n_observed = cells.sums(cells.w > 0).astype(np.int64)
        self._n_labels = cells.sums(cells.is_measured).astype(np.int64) + cells.n_absent
        self._w = cells.sums(cells.w)
        self._known = np.flatnonzero(self._n_observed)
        self._above, tied = ranks_of_observed(cells)[self._known].T
        self._is_alone, self._tied = np.isnan(tied), np.nan_to_num(tied)
        numbers = np.column_stack([self._n_observed, self._n_labels])[self._known]
        kinds, kind = np.unique(numbers, axis=0, return_inverse=True)
        self._kind = kind.ravel()  # of two axes in NumPy 2.0.0
        self._k, self._q = kinds.T

    def of(self, weights: np.ndarray, frequency: float = 1.0) -> float:
        """Estimate the loss with these weights of the samples, and a label frequency that comes on top.

        NaN where no positive is observed, or no sample can have a positive and a negative label.
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
        seen = weight > 0
        weight, above, tied, q = weight[seen], above[seen], tied[seen], self._q[seen, np.newaxis]
        chances = chances[self._k[seen]]
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
        of_m = np.divide((chances * losses).sum(axis=0), votes, out=np.zeros(len(m)), where=votes > 0)
        return float(shares @ of_m)

    def _sums(self, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of each kind of samples: weights, and A and t times these; one of a single positive ties as others do."""
        alone = weights * self._is_alone
        parts = (weights, weights * self._above, weights * self._tied, alone)
        weight, above, tied, alone = (np.bincount(self._kind, part, minlength=len(self._k)) for part in parts)
        of_several = weight.sum() - alone.sum()
        return weight, above, tied + alone * (tied.sum() / of_several if of_several > 0 else 0.0)


def _slope(expected: np.ndarray, above: np.ndarray, weight: np.ndarray) -> float:
    """Of A on the expected number of positives, from sums over kinds of samples; 0 where all expect as many."""
    centred = expected - weight @ expected / weight.sum()
    spread = weight @ centred**2
    return centred @ above / spread if spread > _LEAST_SPREAD * weight.sum() else 0.0


def ranks_of_observed(cells: Cells) -> np.ndarray:
    """(n, 2) how many other labels an observed positive is not above, and which share of other positives it ties.

    Others are observed positives, too. Means over the sample's; NaN where it has none, and no other.
    """
    ranks = np.full((cells.shape[0], 2), np.nan)
    starts = np.searchsorted(cells.rows, np.arange(cells.shape[0] + 1))
    for row in np.unique(cells.rows[cells.w > 0]):
        own = slice(starts[row], starts[row + 1])
        P, w = cells.P[own], cells.w[own]
        mine, weights = P[w > 0], w[w > 0]
        n_at_least = (P[cells.is_measured[own]] >= mine[:, np.newaxis]).sum(axis=1) + cells.n_absent[row] * (mine <= 0)
        ranks[row, 0] = np.average(n_at_least - 1, weights=weights)
        if len(mine) > 1:
            ties = ((mine == mine[:, np.newaxis]).sum(axis=1) - 1) / (len(mine) - 1)
            ranks[row, 1] = np.average(ties, weights=weights)
    return ranks
