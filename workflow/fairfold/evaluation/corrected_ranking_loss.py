"""Ranking loss on complete labels, estimated from observed ones; see :mod:`fairfold.evaluation.corrected`."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import scipy

from fairfold.evaluation.corrected_cells import Cells

_STEPS = 20  # of expectation maximisation
_LEAST_SHARE = 1e-6  # of samples by their positives, so that what is seen is possible
_LEAST_SPREAD = 1e-12  # variance of expected positives; what is less is rounding


class Positives(NamedTuple):
    """What observed labels say of how many positives samples have.

    Attributes
    ----------
    m : (k,) possible numbers of positives.
    shares : (k,) shares of samples by these.
    chances : (most that are observed + 1, k) chances of each by the number that is observed.
    """

    m: np.ndarray
    shares: np.ndarray
    chances: np.ndarray

    @classmethod
    def of(cls, n_observed: np.ndarray, n_labels: np.ndarray, frequency: float, weights: np.ndarray) -> Positives:
        """Of samples with (n,) observed positives of so many labels; those without weight are left out."""
        drawn = weights > 0
        n_observed, n_labels, weights = n_observed[drawn], n_labels[drawn], weights[drawn]
        most = n_observed.max() if frequency == 1 else int(2 * n_observed.max() / frequency) + 5
        m = np.arange(min(n_labels.max(), most) + 1)
        shares, chances = _thinned(n_observed, m, frequency, weights)
        return cls(m, shares, chances[: n_observed.max() + 1])


class SharedPositives:
    """The same, found once for all who ask with the same numbers, as models do that predict the same samples."""

    def __init__(self) -> None:
        self._known: dict[tuple[float, bytes], Positives] = {}

    def of(self, n_observed: np.ndarray, n_labels: np.ndarray, frequency: float, weights: np.ndarray) -> Positives:
        """As :meth:`Positives.of`."""
        given = b"".join(map(np.ndarray.tobytes, (n_observed, n_labels, weights)))
        key = frequency, hashlib.blake2b(given).digest()
        if key not in self._known:
            self._known[key] = Positives.of(n_observed, n_labels, frequency, weights)
        return self._known[key]


class RankingLoss:
    """Mean over samples of the share of wrongly ordered (positive, negative) pairs; ties are wrong, no pairs count 0.

    A sample of q labels, m of them positive, has the loss (A - (m - 1) (1 + t) / 2) / (q - m): A is the mean over its
    positives of the number of other labels that are not ranked below, from which those are taken that are positive,
    half of the others and those that tie (t is the share of other positives that do). Of k ≥ 1 observed positives, each
    is as likely any of the m, so that their mean, by 1/c, estimates A.

    Only m is unknown. Numbers of observed positives are thinned ones, k ~ Bin(m, c), and the shares π of samples by m
    follow from those by k (:func:`_thinned`), the chances of m given k by Bayes' rule. As A changes with m among
    samples of one k, it is moved by the slope of A on E[m | k]: what is exact with labels that are complete, or equally
    many in all samples, or where the mean of A is linear in m. Samples without observed positives are like others of
    their m. Where frequencies differ, c is their mean over positives.

    The loss is linear in A and t, so that of samples of one k and q only the sums count, for any weights.

    Parameters
    ----------
    cells : of the samples.
    shared : what finds the chances of m, perhaps once for several models.
    """

    def __init__(self, cells: Cells, shared: SharedPositives | type[Positives] = Positives) -> None:
        self._shared = shared
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
        m, shares, chances = self._shared.of(self._n_observed, self._n_labels, c, weights)
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


def _thinned(
    n_observed: np.ndarray, m: np.ndarray, frequency: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of samples by their positives ``m``, and chances (len(m), len(m)) of m by what is seen.

    The shares of least chi-square, and from there steps of expectation maximisation, which alone would take thousands.
    That no sample shows more than some number of positives tells as much as what is seen.
    """
    seen = np.bincount(n_observed, weights, minlength=len(m))
    k = np.arange(len(seen))[:, np.newaxis]
    ways = scipy.special.gammaln(m + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(np.maximum(m - k, 0) + 1)
    likelihood = np.where(
        m >= k,
        np.exp(ways + scipy.special.xlogy(k, frequency) + scipy.special.xlog1py(np.maximum(m - k, 0), -frequency)),
        0.0,
    )
    found = seen / seen.sum()
    scale = 1 / np.sqrt(np.maximum(found, 1 / len(n_observed)))[:, np.newaxis]
    shares = scipy.optimize.nnls(scale * likelihood, scale[:, 0] * found)[0]
    shares = (shares + _LEAST_SHARE) / (shares + _LEAST_SHARE).sum()
    for _ in range(_STEPS):
        joint = likelihood * shares
        chances = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        shares = found @ chances
    return shares, chances
