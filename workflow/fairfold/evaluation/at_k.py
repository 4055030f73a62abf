"""Scores where labels are many: of the k labels that come first in each sample, and of labels by how frequent they are.

Who has thousands of labels looks at the first few of a sample, and asks whether rare labels are among them. Precision,
recall, nDCG and coverage at k are as defined for extreme classification, and so is propensity-scored precision (Jain,
Prabhu & Varma 2016, "Extreme multi-label loss functions for recommendation, tagging, ranking & other missing label
applications", KDD), in which a label counts more the rarer it is, as more of its positives are likely to be missing.
On the same predictions these equal napkinXC's, to the last bit.

All take labels and probabilities dense or CSR and make nothing dense that is sparse. In CSR an absent probability is 0.
Labels of equal probability come in the order of their numbers; so those of probability 0 come last, the first label
first, and dense and CSR give the same scores. (napkinXC leaves a place empty where a CSR row stores nothing more, and
breaks ties by chance. ``top_labels(P, k, zeros=False)`` gives what the former does.)

Unmeasured labels take no part: they hold no place, and count in no label's scores. Samples without a measured label
count in no score.

A sample without a positive counts as 0 in recall and nDCG, as in napkinXC. A score is NaN where any prediction would
have it: see the *Returns* sections. Samples of k labels or fewer are left out of recall, coverage and propensity-scored
precision at k, because their labels are all among the first k.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.validation import UNMEASURED, check_binary, check_weights, with_nan
from fairfold.errors import DataError
from fairfold.evaluation.plain_scores import quotient

BLOCK = 2**22
"""Cells, or stored probabilities, that are looked at together: with sorting, up to 340 MB of memory."""


class TopLabels(NamedTuple):
    """The labels that come first in each sample.

    labels : (n_samples, k) their numbers, the most probable first; -1 where a sample has no more.
    """

    labels: np.ndarray


def top_labels(P: Matrix, k: int = 5, *, unmeasured: Matrix | None = None, zeros: bool = True) -> TopLabels:
    """The k labels of highest probability in each sample, those of equal probability in the order of their numbers.

    Parameters
    ----------
    P : (n_samples, n_labels) probabilities, or other scores if dense; finite. In CSR an absent one is 0.
    k : how many, at least 1.
    unmeasured : (n_samples, n_labels) of bool, labels that take no place; None for none.
    zeros : whether labels of probability 0 take the places that are left when there are fewer than k others.

    Returns
    -------
    TopLabels
        Time grows with the cells of a dense P, and with the stored ones of a sparse P, of which s take s·log(s); memory
        beyond the result is that of a block of samples.

    Raises
    ------
    DataError
        When P is no such matrix, holds numbers that are not finite, or, sparse, negative ones; or k is no such number.
    """
    check_k(k)
    P = check_probabilities(P)
    if unmeasured is not None:
        unmeasured = sparse.csr_array(unmeasured, dtype=bool, copy=True)  # which is changed below
        if unmeasured.shape != P.shape:
            raise DataError(f"probabilities have shape {P.shape} and what is unmeasured {unmeasured.shape}.")
        unmeasured.sum_duplicates()
        unmeasured.eliminate_zeros()
    if sparse.issparse(P):
        return TopLabels(_top_of_sparse(P, k, unmeasured, zeros))
    return TopLabels(_top_of_dense(P, k, unmeasured, zeros))


def _top_of_dense(P: np.ndarray, k: int, unmeasured: sparse.csr_array | None, zeros: bool) -> np.ndarray:
    top = np.full((len(P), k), -1, dtype=np.int64)
    n_labels = P.shape[1]
    for start, stop in blocks(len(P), n_labels):
        block = P[start:stop]
        if unmeasured is not None:
            block = block.copy()
            block[unmeasured[start:stop].nonzero()] = -np.inf
        is_candidate = np.isfinite(block) if zeros else np.isfinite(block) & (block != 0)
        if k < n_labels:
            is_candidate &= block >= np.partition(block, n_labels - k, axis=1)[:, n_labels - k, np.newaxis]
        rows, labels = np.nonzero(is_candidate)
        top[start:stop] = first_of_rows(rows, labels, block[rows, labels], stop - start, k)
    return top


def _top_of_sparse(P: sparse.csr_array, k: int, unmeasured: sparse.csr_array | None, zeros: bool) -> np.ndarray:
    top = np.full((P.shape[0], k), -1, dtype=np.int64)
    if unmeasured is not None:
        P = sparse.csr_array(P - P.multiply(unmeasured))
    n_unmeasured = 0 if unmeasured is None else int(np.diff(unmeasured.indptr).max(initial=0))
    # The first free labels are among so many: fewer than k are positive, and k are to be free.
    n_looked_at = min(P.shape[1], 2 * k - 1 + n_unmeasured)
    for start, stop in _blocks_of_rows(P, max(n_looked_at, 1)):
        block, of_block = P[start:stop], top[start:stop]
        is_positive = block.data > 0
        rows = np.repeat(np.arange(stop - start), np.diff(block.indptr))[is_positive]
        labels = block.indices[is_positive].astype(np.int64)
        of_block[:] = first_of_rows(rows, labels, block.data[is_positive], stop - start, k)
        if zeros and (short := np.flatnonzero(of_block[:, -1] < 0)).size:
            taken = None if unmeasured is None else unmeasured[start:stop][short]
            of_block[short] = _with_zeros(of_block[short], n_looked_at, taken)
    return top


def first_of_rows(rows: np.ndarray, labels: np.ndarray, values: np.ndarray, n_rows: int, k: int) -> np.ndarray:
    """(n_rows, k) labels of the highest values of each row, -1 where there are no more; rows and labels ascend."""
    top = np.full((n_rows, k), -1, dtype=np.int64)
    order = np.lexsort((-values, rows))  # stable, so that labels ascend where values are equal
    rows = rows[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, np.arange(n_rows))[rows]
    is_first = place < k
    top[rows[is_first], place[is_first]] = labels[order][is_first]
    return top


def _with_zeros(top: np.ndarray, n_looked_at: int, unmeasured: sparse.csr_array | None) -> np.ndarray:
    """The same with the first labels that have no place yet in those that are left."""
    k = top.shape[1]
    is_free = np.full((len(top), n_looked_at), True)
    rows, places = np.nonzero((top >= 0) & (top < n_looked_at))
    is_free[rows, top[rows, places]] = False
    if unmeasured is not None:
        is_free[unmeasured[:, :n_looked_at].nonzero()] = False
    rows, labels = np.nonzero(is_free)
    n_taken = np.count_nonzero(top >= 0, axis=1)
    place = n_taken[rows] + np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(top)))[rows]
    is_first = place < k
    top[rows[is_first], place[is_first]] = labels[is_first]
    return top


def check_k(k: int) -> None:
    """Raise :class:`DataError` where k is no whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise DataError(f"k is {k!r}; it must be a whole number from 1.")


def check_probabilities(P: Matrix) -> Matrix:
    """As an array of floats, or a canonical CSR array; raises as :func:`top_labels`. The caller's are not changed."""
    if sparse.issparse(P):
        if P.ndim != 2:
            raise DataError(f"probabilities have {P.ndim} dimension(s); they must be (n_samples, n_labels).")
        matrix = sparse.csr_array(P)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # the caller's stays as it is
            matrix.sum_duplicates()
        values = matrix.data
    else:
        matrix = values = np.asarray(P)
    if values.dtype.kind not in "fiub":
        raise DataError(f"probabilities are of type {values.dtype}; they must be numbers.")
    if values.dtype.kind != "f":
        matrix, values = matrix.astype(np.float64), values.astype(np.float64)
    if matrix.ndim != 2:
        raise DataError(f"probabilities have shape {matrix.shape}; they must be (n_samples, n_labels).")
    if not np.isfinite(values).all():
        raise DataError(f"{np.count_nonzero(~np.isfinite(values))} predicted probabilities are not finite.")
    if sparse.issparse(matrix) and (values < 0).any():
        raise DataError("sparse probabilities hold a negative number, which is below those that are absent; give none.")
    return matrix


def blocks(n_rows: int, n_cells: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of so many cells each."""
    step = max(1, BLOCK // max(n_cells, 1))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)


def _blocks_of_rows(P: sparse.csr_array, n_cells: int) -> Iterator[tuple[int, int]]:
    """Runs of rows of about ``BLOCK`` stored numbers at most, and of so many cells besides."""
    yield from runs(np.cumsum(np.maximum(np.diff(P.indptr), n_cells)))


def runs(costs: np.ndarray) -> Iterator[tuple[int, int]]:
    """Runs of about ``BLOCK`` by running totals, or of one that is more."""
    start = 0
    while start < len(costs):
        spent = costs[start - 1] if start else 0
        stop = max(int(np.searchsorted(costs, spent + BLOCK, side="right")), start + 1)
        yield start, stop
        start = stop


BANDS = (5, 20, 100)
"""Most training positives of the labels of each band but the last: 1-5, 6-20, 21-100, and more."""


class _Hits(NamedTuple):
    """Checked labels, and what comes first.

    positive : (n_samples, n_labels) CSR, 1 where a label is positive and nothing elsewhere.
    top : (n_samples, k) labels, -1 for none.
    hit : (n_samples, k) whether they are positive.
    weights : (n_samples,) of mean 1.
    n_measured : (n_samples,) measured labels.
    """

    positive: sparse.csr_array
    top: np.ndarray
    hit: np.ndarray
    weights: np.ndarray
    n_measured: np.ndarray

    @property
    def n_positives(self) -> np.ndarray:
        """(n_samples,)"""
        return np.diff(self.positive.indptr)

    @property
    def has_choice(self) -> np.ndarray:
        """(n_samples, k) whether a sample has more measured labels than places."""
        return self.n_measured[:, np.newaxis] > np.arange(1, self.top.shape[1] + 1)

    def mean(self, values: np.ndarray, counted: np.ndarray, defined_by: np.ndarray) -> np.ndarray:
        """Weighted mean over samples of (n_samples, k) values.

        ``counted`` : the samples that count. ``defined_by`` : those of which one must count, else the mean is NaN.
        """
        weights = self.weights[:, np.newaxis] * counted
        return np.where((counted & defined_by).any(axis=0), quotient(_sum(values * weights), _sum(weights)), np.nan)


def precision_at_k(
    Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Share of positives among the first labels, mean over samples.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1, NaN where a label is unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities, dense or CSR, or the labels that come first by them, at least k of each
        sample, as ``fairfold.evaluation.at_k`` finds them. Who wants several scores spares time by the latter.
    k : last place, at least 1. Places without a label, where a sample has no more, count as wrong.
    sample_weight : (n_samples,) above 0, how much a sample counts; None for 1.

    Returns
    -------
    (k,) values at 1, 2, ..., k; NaN where all measured labels are positive or all are negative.

    Raises
    ------
    DataError
        When shapes differ, there is no sample, labels are not 0/1, weights not above 0, k is none, or probabilities are
        missing or infinite.
    """
    of = _hits(Y_true, P, k, sample_weight)
    counted = np.repeat(of.n_measured[:, np.newaxis] > 0, k, axis=1)
    has_both = 0 < of.n_positives.sum() < of.n_measured.sum()
    return of.mean(np.cumsum(of.hit, axis=1) / np.arange(1, k + 1), counted, np.full_like(counted, has_both))


def recall_at_k(
    Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Share of a sample's positives that are among the first labels, mean over samples; 0 for one without a positive.

    Parameters
    ----------
    Y_true, P, k, sample_weight : as of :func:`precision_at_k`, whose errors are raised.

    Returns
    -------
    (k,) values at 1, 2, ..., k; NaN where no sample has a positive and more measured labels than places.
    """
    of = _hits(Y_true, P, k, sample_weight)
    n_positives = of.n_positives[:, np.newaxis]
    return of.mean(np.cumsum(of.hit, axis=1) / np.maximum(n_positives, 1), of.has_choice, n_positives > 0)


def ndcg_at_k(
    Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Normalised discounted cumulative gain, mean over samples; 0 for one without a positive.

    A positive at place i gains 1 / log2(i + 1); the sum is divided by what it is where all positives, or k of them,
    come first.

    Parameters
    ----------
    Y_true, P, k, sample_weight : as of :func:`precision_at_k`, whose errors are raised.

    Returns
    -------
    (k,) values at 1, 2, ..., k; NaN where no sample has both a positive and a negative. Samples of positives alone are
    left out.
    """
    of = _hits(Y_true, P, k, sample_weight)
    gains = np.array([1 / math.log2(place + 1) for place in range(1, k + 1)])
    best = np.cumsum(gains)[np.minimum(np.arange(k), np.maximum(of.n_positives, 1)[:, np.newaxis] - 1)]
    n_positives = of.n_positives[:, np.newaxis]
    counted = np.repeat(n_positives < of.n_measured[:, np.newaxis], k, axis=1)
    return of.mean(np.cumsum(of.hit * gains, axis=1) / best, counted, n_positives > 0)


def inverse_propensities(Y_train: Matrix, *, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """How much a positive label counts for those that are missing: more, the fewer positives training has.

    1 + (ln N - 1) (B + 1)^A (N_j + B)^(-A) for label j with N_j positives of N training samples; its inverse is the
    probability, or propensity, that a positive is observed (Jain et al. 2016).

    Parameters
    ----------
    Y_train : (n_samples, n_labels) array or CSR matrix of the 0/1 that training sees, NaN where unmeasured; from 3
        samples on, as the formula gives propensities above 1 for fewer.
    A, B : above 0, parameters of the kind of data. The defaults, .55 and 1.5, are those of Jain et al. for all but
        Wikipedia's (.5, .4) and Amazon's (.6, 2.6).

    Returns
    -------
    (n_labels,) above 1.

    Raises
    ------
    DataError
        When labels are not 0/1, samples fewer than 3, or A or B not above 0.
    """
    Y = _check_labels(Y_train, "Y_train")
    if Y.shape[0] < 3:
        raise DataError(f"Y_train has {Y.shape[0]} samples; propensities need 3 or more.")
    if not (0 < A < np.inf and 0 < B < np.inf):
        raise DataError(f"A is {A!r} and B {B!r}; both must be numbers above 0.")
    scale = (math.log(Y.shape[0]) - 1) * (B + 1) ** A
    return 1 + scale * (count_positives(with_nan(Y)) + B) ** -A


def propensity_scored_precision_at_k(
    Y_true: Matrix,
    P: Matrix | TopLabels,
    inverse_propensity: np.ndarray,
    k: int = 5,
    *,
    normalize: bool = True,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Precision in which each positive counts by its inverse propensity.

    Parameters
    ----------
    Y_true, P, k, sample_weight : as of :func:`precision_at_k`.
    inverse_propensity : (n_labels,) above 0; see :func:`inverse_propensities`.
    normalize : whether to divide by the best that any prediction could have, as results are printed; without it, the
        mean over samples is an unbiased estimate of precision by complete labels where the propensities are right, and
        may be above 1.

    Returns
    -------
    (k,) values at 1, 2, ..., k; normalised, of samples with a negative, and NaN where none of these has a positive and
    more measured labels than places.

    Raises
    ------
    DataError
        As :func:`precision_at_k`; also when inverse propensities are not above 0, or of another number of labels.
    """
    of = _hits(Y_true, P, k, sample_weight)
    inverse = np.asarray(inverse_propensity, dtype=np.float64)
    if inverse.shape != of.positive.shape[1:] or not ((inverse > 0) & np.isfinite(inverse)).all():
        raise DataError(
            f"inverse_propensity has shape {inverse.shape}; it must be one number above 0 for each of the "
            f"{of.positive.shape[1]} labels."
        )
    places = np.arange(1, k + 1)
    gained = np.cumsum(np.where(of.hit, inverse[of.top], 0.0), axis=1) / places
    if not normalize:
        counted = np.repeat(of.n_measured[:, np.newaxis] > 0, k, axis=1)
        return of.mean(gained, counted, counted)
    best = np.cumsum(_highest_of_rows(of.positive, inverse, k), axis=1) / places
    has_negative = of.n_positives < of.n_measured  # other samples are predicted perfectly, whatever comes first
    weights = of.weights[:, np.newaxis] * (of.has_choice & has_negative[:, np.newaxis])
    return quotient(*(_sum(part * weights) for part in (gained, best)))


def coverage_at_k(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5) -> np.ndarray:
    """Share of the labels with a positive that are found: that are among the first labels of one of their samples.

    Parameters
    ----------
    Y_true, P, k : as of :func:`precision_at_k`, whose errors are raised; samples have no weights.

    Returns
    -------
    (k,) values at 1, 2, ..., k; NaN where no sample has a positive and more measured labels than places.
    """
    of = _hits(Y_true, P, k, None)
    found, possible = np.zeros((2, k))
    for place, has_choice in enumerate(of.has_choice.T):
        hit = of.hit[:, : place + 1] & has_choice[:, np.newaxis]
        found[place] = np.count_nonzero(_counts(of.top[:, : place + 1][hit], of))
        possible[place] = np.count_nonzero(_counts(of.positive[has_choice].indices, of))
    return quotient(found, possible)


def label_average_precisions(Y_true: Matrix, P: Matrix) -> np.ndarray:
    """Compute the average precision of each label over the samples; ties are one step, as in scikit-learn.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1, NaN where a label is unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities, dense or CSR.

    Returns
    -------
    (n_labels,) NaN for a label without a positive or without a negative.

    Raises
    ------
    DataError
        When shapes differ, labels are not 0/1, or probabilities are as :func:`top_labels` does not take them.
    """
    Y, P = _check_pair(Y_true, P)
    by_label = sparse.csc_array(Y)
    by_label.sort_indices()
    P = sparse.csc_array(P) if sparse.issparse(P) else P
    found = np.full(Y.shape[1], np.nan)
    for start, stop in _blocks_of_columns(P):
        found[start:stop] = _average_precisions(by_label[:, start:stop], P[:, start:stop])
    return found


def _average_precisions(Y: sparse.csc_array, P: np.ndarray | sparse.csc_array) -> np.ndarray:
    """Of a block of labels, NaN where there is no positive or no negative."""
    n_samples, n_labels = Y.shape
    of_label = np.repeat(np.arange(n_labels), np.diff(Y.indptr))
    labels, values, state = _ranked(P, of_label * n_samples + Y.indices, Y.data)
    n_positives, n_unmeasured = (np.bincount(of_label[Y.data == kind], minlength=n_labels) for kind in (1, UNMEASURED))
    starts = np.searchsorted(labels, np.arange(n_labels + 1))
    before = np.append(0, np.cumsum(state == 1))
    goes_on = (np.diff(labels) == 0) & (np.diff(values) == 0)
    ends = np.flatnonzero(np.append(~goes_on, np.full(min(len(labels), 1), True)))  # of runs of equal probability
    of_end = labels[ends]
    true = before[ends + 1] - before[starts[of_end]]
    is_first = np.diff(of_end, prepend=-1) != 0
    gained = np.where(is_first, true, np.diff(true, prepend=0))
    sums = np.bincount(of_end, gained * (true / (ends + 1 - starts[of_end])), minlength=n_labels)
    # What is absent comes last, as one run, at which all samples are predicted.
    n_left = n_positives - (before[starts[1:]] - before[starts[:-1]])
    sums = sums + n_left * (n_positives / np.maximum(n_samples - n_unmeasured, 1))
    has_both = (n_positives > 0) & (n_positives < n_samples - n_unmeasured)
    return np.where(has_both, sums / np.maximum(n_positives, 1), np.nan)


def _ranked(
    P: np.ndarray | sparse.csc_array, cells: np.ndarray, stored: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, probabilities and states of all measured samples, label by label, the most probable first.

    Those without a probability in a sparse P are left out. States are ``stored``, of some cells by label, and 0.
    """
    n_samples, n_labels = P.shape
    if sparse.issparse(P):
        labels, values = np.repeat(np.arange(n_labels), np.diff(P.indptr)), P.data
        places, is_stored = _places(cells, labels * n_samples + P.indices)
        state = np.zeros(len(values), dtype=np.int8)
        state[is_stored] = stored[places[is_stored]]
        order = np.lexsort((-values, labels))
        counted = (state != UNMEASURED) & (values > 0)
    else:
        labels, values = np.repeat(np.arange(n_labels), n_samples), P.T.ravel()
        state = np.zeros(len(values), dtype=np.int8)
        state[cells] = stored
        order = np.argsort(-P.T, axis=1, kind="stable")
        order = (order + n_samples * np.arange(n_labels)[:, np.newaxis]).ravel()
        counted = state != UNMEASURED
    order = order[counted[order]]
    return labels[order], values[order], state[order]


def scores_by_frequency_band(
    Y_true: Matrix,
    P: Matrix,
    n_train_positives: np.ndarray,
    *,
    bands: Sequence[int] = BANDS,
    k: int = 5,
) -> pd.DataFrame:
    """Macro scores of the labels of each band, which are those with about as many training positives.

    Parameters
    ----------
    Y_true : (n_samples, n_labels) array or CSR matrix of 0/1, NaN where a label is unmeasured, which takes no part.
    P : (n_samples, n_labels) probabilities, dense or CSR.
    n_train_positives : (n_labels,) positives that training saw of each label.
    bands : the most training positives of each band but the last, ascending from 1 or more. A band is from one above
        the one before; labels without any are one of their own.
    k : of the scores at k.

    Returns
    -------
    DataFrame with the columns ``band, least, most, n_labels, n_scored, metric, k, value``
        In the order of bands; ``most`` is infinite in the last. ``average_precision``
        (``k`` is 0), ``precision``, ``recall`` and ``f1``, of the samples that have the label among their first k, are
        means over the ``n_scored`` of its ``n_labels`` labels for which ``label_scores`` defines the score; NaN
        where there is none. Precision is 0 for a label that is never among the first. ``coverage`` is the share of
        these labels that are found at least once. All samples count alike.

    Raises
    ------
    DataError
        As :func:`precision_at_k`; also when counts are none, or bands do not ascend.
    """
    names, lowest, highest = _check_bands(bands)
    counts = np.asarray(n_train_positives)
    Y, P = _check_pair(Y_true, P)
    if counts.shape != (Y.shape[1],) or counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
        raise DataError(f"n_train_positives must be one count from 0 for each of the {Y.shape[1]} labels.")
    scores = label_scores(Y_true, P, k)
    band_of = np.searchsorted(highest, counts)
    rows = []
    for band, (name, least, most) in enumerate(zip(names, lowest, highest, strict=True)):
        of_band = band_of == band
        for metric, values in scores.items():
            chosen = of_band & ~np.isnan(values)
            mean = values[chosen].mean() if chosen.any() else np.nan
            at = 0 if metric == "average_precision" else k
            rows.append((name, least, most, of_band.sum(), chosen.sum(), metric, at, mean))
    columns = ["band", "least", "most", "n_labels", "n_scored", "metric", "k", "value"]
    return pd.DataFrame(rows, columns=columns)


def label_scores(Y_true: Matrix, P: Matrix, k: int = 5) -> dict[str, np.ndarray]:
    """Compute scores of each label: average precision; precision, recall and F1 at k; and whether it is found at all.

    Parameters
    ----------
    Y_true, P, k : as of :func:`scores_by_frequency_band`.

    Returns
    -------
    dict from ``average_precision, precision, recall, f1, coverage`` to (n_labels,)
        The average precision is NaN for a label without a positive or without a negative. The others are of the samples
        with more than k measured labels, and NaN for a label without a positive among these.
    """
    of = _hits(Y_true, P, k, None)
    has_choice = of.has_choice[:, -1:]
    n_found, n_predicted = _counts(of.top[of.hit & has_choice], of), _counts(of.top[(of.top >= 0) & has_choice], of)
    n_positive = _counts(of.positive[has_choice[:, 0]].indices, of)
    has_positive = n_positive > 0
    ratios = {
        "precision": n_found / np.maximum(n_predicted, 1),
        "recall": n_found / np.maximum(n_positive, 1),
        "f1": 2 * n_found / np.maximum(n_predicted + n_positive, 1),
        "coverage": n_found > 0,
    }
    return {
        "average_precision": label_average_precisions(Y_true, P),
        **{name: np.where(has_positive, values, np.nan) for name, values in ratios.items()},
    }


def count_positives(Y: Matrix) -> np.ndarray:
    """Count the positives of each label, (n_labels,), of (n_samples, n_labels) labels of 0/1, NaN where unmeasured."""
    Y = _check_labels(Y, "Y")
    if sparse.issparse(Y):
        return np.bincount(Y.indices[Y.data == 1], minlength=Y.shape[1])
    return np.count_nonzero(Y == 1, axis=0)


def _check_bands(bands: Sequence[int]) -> tuple[list[str], list[int], list[float]]:
    """Names, and the fewest and the most training positives."""
    ends = list(bands)
    is_rising = all(isinstance(end, Integral) for end in ends) and all(
        low < high for low, high in zip([0, *ends], ends, strict=False)
    )
    if not ends or not is_rising:
        raise DataError(f"bands are {bands!r}; they must be whole numbers from 1 that ascend, such as {BANDS}.")
    lowest = [0, 1, *[int(end) + 1 for end in ends]]
    highest = [0, *map(int, ends), np.inf]
    names = [str(low) if low == high else f"{low}-{high}" for low, high in zip(lowest, highest[:-1], strict=False)]
    return [*names, f">{ends[-1]}"], lowest, highest


def _check_labels(Y: Matrix, name: str) -> Matrix:
    """Labels of 0/1 as a matrix, with ``UNMEASURED``."""
    Y = check_binary(Y, name, DataError, unmeasured=True)
    if Y.ndim != 2:
        raise DataError(f"{name} has shape {Y.shape}; it must be (n_samples, n_labels).")
    return Y


def _check_pair(Y_true: Matrix, P: Matrix) -> tuple[sparse.csr_array, Matrix]:
    """Labels as CSR, with ``UNMEASURED``, and probabilities of the same shape."""
    Y, P = _check_labels(Y_true, "Y_true"), check_probabilities(P)
    _check_shapes(Y.shape, P.shape)
    return _canonical(Y), P


def _canonical(Y: Matrix) -> sparse.csr_array:
    """CSR with sorted indices and no stored 0."""
    Y = sparse.csr_array(Y) if not sparse.issparse(Y) else Y
    if Y.dtype.kind != "i" or (Y.data == 0).any():
        Y = Y.astype(np.int8)
        Y.eliminate_zeros()
    return Y


def _check_shapes(of_labels: tuple[int, ...], of_predictions: tuple[int, ...]) -> None:
    if of_labels != of_predictions or 0 in of_labels:
        raise DataError(
            f"labels have shape {of_labels} and probabilities {of_predictions}; both must be (n_samples, n_labels)."
        )


def _hits(Y_true: Matrix, P: Matrix | TopLabels, k: int, sample_weight: np.ndarray | None) -> _Hits:
    check_k(k)
    Y = _canonical(_check_labels(Y_true, "Y_true"))
    if isinstance(P, TopLabels):
        top = P.labels
        if top.ndim != 2 or len(top) != Y.shape[0] or top.shape[1] < k or 0 in Y.shape:
            raise DataError(
                f"the first labels have shape {top.shape}; there must be {k} or more of each of the {Y.shape[0]} "
                "samples, of which there must be one."
            )
        if not -1 <= top.min() <= top.max() < Y.shape[1]:
            raise DataError(f"the first labels are from {top.min()} to {top.max()}, but there are {Y.shape[1]} labels.")
        top = top[:, :k]
    else:
        P = check_probabilities(P)
        _check_shapes(Y.shape, P.shape)
        unmeasured = Y == UNMEASURED if (Y.data == UNMEASURED).any() else None
        top = top_labels(P, k, unmeasured=unmeasured).labels
    positive = Y if (Y.data == 1).all() else _canonical(Y == 1)
    n_samples, n_labels = Y.shape
    cells = np.repeat(np.arange(n_samples), np.diff(positive.indptr)) * n_labels + positive.indices
    hit = _places(cells, np.arange(n_samples)[:, np.newaxis] * n_labels + top)[1] & (top >= 0)
    weights = check_weights(sample_weight, n_samples, DataError)
    n_unmeasured = np.bincount(
        np.repeat(np.arange(n_samples), np.diff(Y.indptr))[Y.data == UNMEASURED], minlength=n_samples
    )
    return _Hits(positive, top, hit, np.ones(n_samples) if weights is None else weights, n_labels - n_unmeasured)


def _places(of: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each wanted number is among ascending ones, and whether it is there."""
    if not len(of):
        return np.zeros(wanted.shape, dtype=np.int64), np.zeros(wanted.shape, dtype=bool)
    places = np.minimum(np.searchsorted(of, wanted), len(of) - 1)
    return places, of[places] == wanted


def _highest_of_rows(positive: sparse.csr_array, weights: np.ndarray, k: int) -> np.ndarray:
    """(n_samples, k) highest weights of a sample's positives, descending; 0 where there are no more."""
    rows = np.repeat(np.arange(positive.shape[0]), np.diff(positive.indptr))
    best = first_of_rows(rows, positive.indices, weights[positive.indices], positive.shape[0], k)
    return np.where(best >= 0, weights[best], 0.0)


def _counts(labels: np.ndarray, of: _Hits) -> np.ndarray:
    return np.bincount(labels, minlength=of.positive.shape[1])


def _sum(values: np.ndarray) -> np.ndarray:
    """Sum over samples, one after the other: NumPy's own order depends on k, and so does then the last bit."""
    return np.cumsum(values, axis=0)[-1]


def _blocks_of_columns(P: np.ndarray | sparse.csc_array) -> Iterator[tuple[int, int]]:
    if sparse.issparse(P):
        yield from runs(np.cumsum(np.maximum(np.diff(P.indptr), 1)))
    else:
        yield from blocks(P.shape[1], P.shape[0])
