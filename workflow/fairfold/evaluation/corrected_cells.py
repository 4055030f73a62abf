"""Pairs of a sample and a label, and their ranking, as :mod:`fairfold.evaluation.corrected` sums over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, stored_cells
from fairfold.core.validation import UNMEASURED, check_binary, check_dense_binary
from fairfold.errors import DataError


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
    def of(cls, Y: Matrix, P: Matrix) -> Cells:
        """All pairs, or of sparse probabilities those that are stored in either matrix; with a label frequency of 1.

        Raises
        ------
        DataError
            When shapes differ, labels are none, or probabilities are not finite.
        """
        check = check_binary if sparse.issparse(P) else check_dense_binary
        Y = check(Y, "Y_observed", DataError, unmeasured=True)
        P = canonical(P).astype(np.float64, copy=False) if sparse.issparse(P) else np.asarray(P, dtype=np.float64)
        if Y.ndim != 2 or Y.shape != P.shape or 0 in Y.shape:
            raise DataError(
                f"labels have shape {Y.shape} and probabilities {P.shape}; both must be (n_samples, n_labels)."
            )
        values = P.data if sparse.issparse(P) else P
        if not np.isfinite(values).all():
            raise DataError(
                f"{np.count_nonzero(~np.isfinite(values))} of {values.size} predicted probabilities are not finite."
            )
        if sparse.issparse(P):
            rows, labels, truth, values = stored_cells(sparse.csr_array(Y), P)
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
        self._of_all = members is None
        members = np.arange(len(cells.rows)) if members is None else members
        order = members[np.argsort(-cells.P[members], kind="stable")]
        P = cells.P[order]
        self.P, self._rows, self._is_measured = P, cells.rows[order], cells.is_measured[order]
        self._n_absent, self._some_absent = cells.n_absent, len(members) < len(cells.n_absent) or self._of_all
        self._at = np.flatnonzero(cells.w[order] > 0)
        self._observed = order[self._at]
        ends = np.append(np.flatnonzero(P[1:] != P[:-1]), len(P) - 1)  # the last place of each rank
        rank = np.searchsorted(ends, self._at)
        self._last, self._first = ends[rank], np.append(0, ends + 1)[rank]
        self._ties_with_absent = P[self._at] == 0
        self._n_before, self._n_until = (
            np.searchsorted(self._at, self._first),
            np.searchsorted(self._at, self._last, side="right"),
        )

    def weigh(self, w: np.ndarray, weights: np.ndarray) -> Weighed:
        """With (..., k) s / c of all pairs, and (..., n_samples) weights; results begin with the same axes."""
        of_cells = self._is_measured * np.take(weights, self._rows, axis=-1)
        absent = self._weight_of_absent(weights)
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

    def _weight_of_absent(self, weights: np.ndarray) -> np.ndarray:
        if self._of_all:
            return np.asarray(weights @ self._n_absent)
        if not self._some_absent:
            return np.zeros(weights.shape[:-1])
        return weights.sum(axis=-1) - np.take(weights, self._rows, axis=-1).sum(axis=-1)


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
