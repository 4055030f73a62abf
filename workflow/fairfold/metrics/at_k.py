"""Scores for data with many labels: scores at k and scores by label frequency.

Applications with thousands of labels use the first few labels of each sample and need to know whether these include
rare labels. Precision, recall, nDCG and coverage at k follow the definitions of extreme classification.
Propensity-scored precision (Jain et al. 2016) gives rare labels more weight, because more of their positives are likely
to be missing. Scores are identical to those of napkinXC, except for the differences below.

All functions accept dense and CSR matrices and keep sparse input sparse. In CSR matrices, an entry that is not stored
has probability 0. Labels with equal probabilities are ordered by their column. Dense and CSR input therefore give the
same scores. napkinXC breaks ties at random, and it leaves ranks empty if a CSR row stores too few labels.
``top_labels(P, k, zeros=False)`` reproduces the latter.

Unmeasured labels are skipped in the ranking and ignored by all scores. Samples without a measured label are ignored.

A sample without a positive has recall 0 and nDCG 0, as in napkinXC. A score is NaN if every prediction would get the
same score, as described in each *Returns* section. Recall, coverage and propensity-scored precision at k exclude
samples with at most k measured labels, because all their labels are among the first k.

References
----------
Jain, Prabhu & Varma (2016), Extreme multi-label loss functions for recommendation, tagging, ranking & other
missing label applications, KDD.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, positives_by_label, quotient, with_data, with_sparsity
from fairfold.core.validation import UNMEASURED, check_label_matrix, check_weights, with_nan
from fairfold.errors import DataError
from fairfold.metrics.plain_scores import check_pair

Weights: TypeAlias = np.ndarray | None  # weight of each sample


class TopLabels(NamedTuple):
    """The k most probable labels of each sample, in descending order of probability.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, k)
        Columns of the labels, the most probable label first. -1 marks an empty rank.
    """

    labels: np.ndarray


def top_labels(P: Matrix, k: int = 5, *, unmeasured: Matrix | None = None, zeros: bool = True) -> TopLabels:
    """Find the k most probable labels of each sample.

    Parameters
    ----------
    P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Finite probabilities. Dense input may contain other scores. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1.
    unmeasured : {ndarray, sparse matrix} of bool of shape (n_samples, n_labels) or None, default=None
        Labels to skip. If None, no label is skipped.
    zeros : bool, default=True
        Whether labels of probability 0 fill the ranks for which no other label remains.

    Returns
    -------
    TopLabels
        First labels of each sample. Labels with equal probabilities are ordered by their column.

    Raises
    ------
    DataError
        If `unmeasured` has another shape, a sparse `P` contains negative numbers, or `k` is not a positive integer.

    Notes
    -----
    Time and memory grow with the number of entries of a dense `P`, or of stored entries of a sparse `P`.

    Examples
    --------
    >>> import numpy as np
    >>> top_labels(np.array([[0.1, 0.7, 0.2], [0.5, 0.0, 0.5]]), k=2).labels
    array([[1, 2],
           [0, 2]])
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise DataError(f"k: expected a positive integer, found {k!r}.")
    if unmeasured is not None and unmeasured.shape != P.shape:
        raise DataError(f"unmeasured: expected the shape of the probabilities, {P.shape}, found {unmeasured.shape}.")
    if sparse.issparse(P):
        return TopLabels(_top_of_sparse(canonical(P), k, unmeasured, zeros))
    scores = P
    if unmeasured is not None:
        scores = np.where(with_sparsity(unmeasured, False), -np.inf, P)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(scores, top, axis=1)
    top = np.where((found > -np.inf) & (zeros | (found != 0)), top, -1)
    return TopLabels(np.pad(top, ((0, 0), (0, k - top.shape[1])), constant_values=-1))


def _top_of_sparse(P: sparse.csr_array, k: int, unmeasured: Matrix | None, zeros: bool) -> np.ndarray:
    if (P.data < 0).any():
        raise DataError("P: found a negative number in sparse probabilities. Use numbers of at least 0.")
    if unmeasured is not None:
        unmeasured = canonical(unmeasured)
        P = canonical(P - P.multiply(unmeasured))
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    order = np.lexsort((-P.data, rows))  # The sort is stable: labels with equal values ascend.
    place = np.arange(P.nnz) - P.indptr[rows]
    top = np.full((P.shape[0], k), -1, dtype=np.int64)
    top[rows[place < k], place[place < k]] = P.indices[order][place < k]
    for row in np.flatnonzero(top[:, -1] < 0) if zeros else ():
        taken = top[row, top[row] >= 0]
        others = taken if unmeasured is None else np.append(taken, unmeasured[[row]].indices)
        free = np.setdiff1d(np.arange(min(P.shape[1], k + len(others))), others)[: k - len(taken)]
        top[row, len(taken) : len(taken) + len(free)] = free
    return top


BANDS = (5, 20, 100)
"""Largest number of training positives in each band except the last: 1-5, 6-20, 21-100 and more."""


class Terms(NamedTuple):
    """Terms of each sample whose weighted sums have the scores at 1, 2, ..., k as their ratio.

    Attributes
    ----------
    above, below : ndarray of shape (n_samples, k)
        Terms of the numerators and the denominators.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    is_defined : ndarray of bool of shape (k,)
        Whether the labels define the scores.
    """

    above: np.ndarray
    below: np.ndarray
    weights: np.ndarray
    is_defined: np.ndarray

    def ratios(self) -> np.ndarray:
        """Return the scores.

        Returns
        -------
        ndarray of shape (k,)
            Scores, with NaN where they are undefined.
        """
        weights = self.weights[:, np.newaxis]
        above, below = (_sum(each * weights) for each in self[:2])
        return np.where(self.is_defined, quotient(above, below), np.nan)


class _Hits(NamedTuple):
    """Checked labels, the first labels of each sample, and which of these are positive.

    Attributes
    ----------
    positive : csr_array of shape (n_samples, n_labels)
        1 for each positive label. Other entries are not stored.
    top : ndarray of shape (n_samples, k)
        Most probable labels of each sample. -1 marks an empty rank.
    hit : ndarray of bool of shape (n_samples, k)
        Whether each of these labels is positive.
    weights : ndarray of shape (n_samples,)
        Weight of each sample.
    n_measured : ndarray of shape (n_samples,)
        Number of measured labels of each sample.
    """

    positive: sparse.csr_array
    top: np.ndarray
    hit: np.ndarray
    weights: np.ndarray
    n_measured: np.ndarray

    @property
    def n_positives(self) -> np.ndarray:
        """Number of positive labels of each sample, of shape (n_samples,)."""
        return np.diff(self.positive.indptr)

    @property
    def has_choice(self) -> np.ndarray:
        """Whether each sample has more than 1, 2, ..., k measured labels, of shape (n_samples, k)."""
        return self.n_measured[:, np.newaxis] > np.arange(1, self.top.shape[1] + 1)

    def mean(self, values: np.ndarray, counted: np.ndarray, defined_by: np.ndarray) -> Terms:
        """Return the terms of the mean of `values` of shape (n_samples, k) over the samples in `counted`.

        The mean is NaN if no counted sample is in `defined_by`.
        """
        return Terms(values * counted, counted, self.weights, (counted & defined_by).any(axis=0))


def precision_at_k(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: Weights = None) -> np.ndarray:
    """Compute the share of positives among the first k labels, averaged over samples.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels) or TopLabels
        Predicted probabilities, or the result of ``top_labels`` with at least `k` labels per sample. Passing the latter
        saves time if several scores are computed. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1. If a sample has fewer, the empty ranks count as wrong.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample. If None, all samples have weight 1.

    Returns
    -------
    ndarray of shape (k,)
        Scores at 1, 2, ..., k. NaN if all measured labels are positive or all are negative.

    Raises
    ------
    DataError
        If shapes differ, there are no samples, or labels, probabilities, weights or `k` are invalid.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> precision_at_k(Y, P, k=2)
    array([0.5 , 0.75])
    """
    return precision_terms(Y_true, P, k, sample_weight).ratios()


def precision_terms(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, sample_weight: Weights = None) -> Terms:
    """Return the terms of each sample in :func:`precision_at_k`.

    Parameters
    ----------
    Y_true, P, k, sample_weight
        As in :func:`precision_at_k`.

    Returns
    -------
    Terms
        Terms of the scores at 1, 2, ..., k.
    """
    hits = _hits(Y_true, P, k, sample_weight)
    counted = np.repeat(hits.n_measured[:, np.newaxis] > 0, k, axis=1)
    has_both = 0 < hits.n_positives.sum() < hits.n_measured.sum()
    return hits.mean(np.cumsum(hits.hit, axis=1) / np.arange(1, k + 1), counted, np.full_like(counted, has_both))


def recall_at_k(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: Weights = None) -> np.ndarray:
    """Compute the share of positives that are among the first k labels, averaged over samples.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels) or TopLabels
        Predicted probabilities, or the result of ``top_labels`` with at least `k` labels per sample. Passing the latter
        saves time if several scores are computed. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample. If None, all samples have weight 1.

    Returns
    -------
    ndarray of shape (k,)
        Scores at 1, 2, ..., k. A sample without a positive counts as 0. The score at j is NaN if no sample has both a
        positive and more than j measured labels.

    Raises
    ------
    DataError
        If shapes differ, there are no samples, or labels, probabilities, weights or `k` are invalid.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> recall_at_k(Y, P, k=2)
    array([0.25, 1.  ])
    """
    return recall_terms(Y_true, P, k, sample_weight).ratios()


def recall_terms(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, sample_weight: Weights = None) -> Terms:
    """Return the terms of each sample in :func:`recall_at_k`.

    Parameters
    ----------
    Y_true, P, k, sample_weight
        As in :func:`recall_at_k`.

    Returns
    -------
    Terms
        Terms of the scores at 1, 2, ..., k.
    """
    hits = _hits(Y_true, P, k, sample_weight)
    n_positives = hits.n_positives[:, np.newaxis]
    return hits.mean(np.cumsum(hits.hit, axis=1) / np.maximum(n_positives, 1), hits.has_choice, n_positives > 0)


def ndcg_at_k(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, *, sample_weight: Weights = None) -> np.ndarray:
    """Compute the normalized discounted cumulative gain at k, averaged over samples.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels) or TopLabels
        Predicted probabilities, or the result of ``top_labels`` with at least `k` labels per sample. Passing the latter
        saves time if several scores are computed. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample. If None, all samples have weight 1.

    Returns
    -------
    ndarray of shape (k,)
        Scores at 1, 2, ..., k. A sample without a positive counts as 0. Samples with only positives are excluded. NaN
        if no sample has both a positive and a negative label.

    Raises
    ------
    DataError
        If shapes differ, there are no samples, or labels, probabilities, weights or `k` are invalid.

    Notes
    -----
    A positive at rank i gains 1 / log2(i + 1). The sum of gains is divided by the largest possible sum, which is
    reached if the positives have the first ranks.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> ndcg_at_k(Y, P, k=2).round(2)
    array([0.5 , 0.82])
    """
    return ndcg_terms(Y_true, P, k, sample_weight).ratios()


def ndcg_terms(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5, sample_weight: Weights = None) -> Terms:
    """Return the terms of each sample in :func:`ndcg_at_k`.

    Parameters
    ----------
    Y_true, P, k, sample_weight
        As in :func:`ndcg_at_k`.

    Returns
    -------
    Terms
        Terms of the scores at 1, 2, ..., k.
    """
    hits = _hits(Y_true, P, k, sample_weight)
    gains = np.array([1 / math.log2(place + 1) for place in range(1, k + 1)])
    best = np.cumsum(gains)[np.minimum(np.arange(k), np.maximum(hits.n_positives, 1)[:, np.newaxis] - 1)]
    n_positives = hits.n_positives[:, np.newaxis]
    counted = np.repeat(n_positives < hits.n_measured[:, np.newaxis], k, axis=1)
    return hits.mean(np.cumsum(hits.hit * gains, axis=1) / best, counted, n_positives > 0)


def inverse_propensities(Y_train: Matrix, *, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """Compute the inverse propensity of each label, a weight that is larger for rarer labels.

    Parameters
    ----------
    Y_train : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed training labels, 0 or 1, with NaN for unmeasured labels. At least 3 samples are required, because the
        formula gives propensities above 1 for fewer.
    A, B : float, default=0.55 and 1.5
        Positive parameters of the propensity model. Jain et al. use the defaults for all data except Wikipedia (0.5 and
        0.4) and Amazon (0.6 and 2.6).

    Returns
    -------
    ndarray of shape (n_labels,)
        Inverse propensities, above 1.

    Raises
    ------
    DataError
        If labels are not 0 or 1, there are fewer than 3 samples, or `A` or `B` is not positive.

    Notes
    -----
    The propensity of a label is the probability that one of its positives is observed. For label j with N_j positives
    among N training samples, its inverse is 1 + (ln N - 1) (B + 1)^A (N_j + B)^(-A) (Jain et al. 2016).

    Examples
    --------
    >>> import numpy as np
    >>> inverse_propensities(np.array([[1, 0], [1, 0], [1, 1], [0, 0]])).round(2)
    array([1.28, 1.39])
    """
    Y = check_label_matrix(Y_train, "Y_train", DataError)
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
    sample_weight: Weights = None,
) -> np.ndarray:
    """Compute precision at k with positives weighted by inverse propensity, relative to the best possible.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels) or TopLabels
        Predicted probabilities, or the result of ``top_labels`` with at least `k` labels per sample. Passing the latter
        saves time if several scores are computed. Entries that a sparse matrix does not store are 0.
    inverse_propensity : ndarray of shape (n_labels,)
        Positive weight of each label. See :func:`inverse_propensities`.
    k : int, default=5
        Number of labels per sample, at least 1.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample. If None, all samples have weight 1.

    Returns
    -------
    ndarray of shape (k,)
        Scores at 1, 2, ..., k. Samples without a negative label are excluded. The score at j is NaN if no other sample
        has both a positive and more than j measured labels.

    Raises
    ------
    DataError
        If inverse propensities are not positive or do not match the number of labels. Also raised for the reasons given
        in :func:`precision_at_k`.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> propensity_scored_precision_at_k(Y, P, np.array([1.0, 2.0, 4.0]), k=2).round(2)
    array([0.17, 1.  ])
    """
    return propensity_scored_precision_terms(Y_true, P, inverse_propensity, k, sample_weight).ratios()


def propensity_scored_precision_terms(
    Y_true: Matrix, P: Matrix | TopLabels, inverse_propensity: np.ndarray, k: int = 5, sample_weight: Weights = None
) -> Terms:
    """Return the terms of each sample in :func:`propensity_scored_precision_at_k`.

    Parameters
    ----------
    Y_true, P, inverse_propensity, k, sample_weight
        As in :func:`propensity_scored_precision_at_k`.

    Returns
    -------
    Terms
        Terms of the scores at 1, 2, ..., k.
    """
    hits = _hits(Y_true, P, k, sample_weight)
    inverse = np.asarray(inverse_propensity, dtype=np.float64)
    if inverse.shape != hits.positive.shape[1:] or not ((inverse > 0) & np.isfinite(inverse)).all():
        raise DataError(
            f"inverse_propensity: expected one number above 0 for each of the {hits.positive.shape[1]} labels, found "
            f"shape {inverse.shape}."
        )
    places = np.arange(1, k + 1)
    gained = np.cumsum(np.where(hits.hit, inverse[hits.top], 0.0), axis=1) / places
    first = top_labels(with_data(hits.positive, inverse[hits.positive.indices]), k, zeros=False).labels
    best = np.cumsum(np.where(first >= 0, inverse[first], 0.0), axis=1) / places
    has_negative = hits.n_positives < hits.n_measured  # Every order is perfect for other samples.
    counted = hits.has_choice & has_negative[:, np.newaxis]
    return Terms(gained * counted, best * counted, hits.weights, np.ones(k, dtype=bool))


def coverage_at_k(Y_true: Matrix, P: Matrix | TopLabels, k: int = 5) -> np.ndarray:
    """Compute coverage at k: the share of labels that a positive sample has among its k most probable labels.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels) or TopLabels
        Predicted probabilities, or the result of ``top_labels`` with at least `k` labels per sample. Passing the latter
        saves time if several scores are computed. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1.

    Returns
    -------
    ndarray of shape (k,)
        Scores at 1, 2, ..., k. Labels without a positive are excluded. The score at j is NaN if no sample has both a
        positive and more than j measured labels.

    Raises
    ------
    DataError
        If shapes differ, there are no samples, or labels, probabilities, weights or `k` are invalid.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> coverage_at_k(Y, P, k=2).round(2)
    array([0.33, 1.  ])
    """
    hits = _hits(Y_true, P, k, None)
    found, possible = np.zeros((2, k))
    for place, has_choice in enumerate(hits.has_choice.T):
        hit = hits.hit[:, : place + 1] & has_choice[:, np.newaxis]
        found[place] = np.count_nonzero(_counts(hits.top[:, : place + 1][hit], hits))
        possible[place] = np.count_nonzero(_counts(hits.positive[has_choice].indices, hits))
    return quotient(found, possible)


def label_average_precisions(Y_true: Matrix, P: Matrix) -> np.ndarray:
    """Compute the average precision of each label over the samples.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities. Entries that a sparse matrix does not store are 0.

    Returns
    -------
    ndarray of shape (n_labels,)
        Average precision of each label. Tied samples form one step, as in scikit-learn. NaN for labels without a
        positive or without a negative.

    Raises
    ------
    DataError
        If shapes differ, labels are not 0 or 1, or probabilities are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 0], [1, 0]])
    >>> P = np.array([[0.9, 0.2], [0.7, 0.6], [0.8, 0.1]])
    >>> label_average_precisions(Y, P)
    array([ 1., nan])
    """
    Y, P = check_pair(Y_true, P)
    Y = sparse.csc_array(canonical(Y))
    n_samples, n_labels = Y.shape
    of_label = np.repeat(np.arange(n_labels), np.diff(Y.indptr))
    n_positives = np.bincount(of_label[Y.data == 1], minlength=n_labels)
    n_measured = n_samples - np.bincount(of_label[Y.data == UNMEASURED], minlength=n_labels)
    P = sparse.csc_array(P)
    found = np.full(n_labels, np.nan)
    for label in np.flatnonzero((n_positives > 0) & (n_positives < n_measured)):
        labeled, predicted = (slice(*each.indptr[label : label + 2]) for each in (Y, P))
        state = np.zeros(n_samples, dtype=np.int8)
        state[Y.indices[labeled]] = Y.data[labeled]
        states = state[P.indices[predicted]]
        found[label] = _average_precision(states, P.data[predicted], n_positives[label], n_measured[label])
    return found


def _average_precision(state: np.ndarray, values: np.ndarray, n_positives: int, n_measured: int) -> float:
    """Compute the average precision of a label. Samples that are not given tie for the last rank."""
    state, values = state[state != UNMEASURED], values[state != UNMEASURED]
    order = np.argsort(-values, kind="stable")
    last = np.flatnonzero(np.diff(values[order], append=np.nan))  # Last index of each run of equal probabilities.
    true = np.cumsum(state[order])[last]
    terms = np.append(np.diff(true, prepend=0) * (true / (last + 1)), 0.0)
    n_left = n_positives - true[-1] if len(true) else n_positives
    return float(_sum(terms) + n_left * (n_positives / n_measured)) / n_positives


def scores_by_frequency_band(
    Y_true: Matrix, P: Matrix, n_train_positives: np.ndarray, *, bands: Sequence[int] = BANDS, k: int = 5
) -> pd.DataFrame:
    """Compute macro-averaged scores in bands of labels with similar numbers of training positives.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities. Entries that a sparse matrix does not store are 0.
    n_train_positives : ndarray of int of shape (n_labels,)
        Number of training positives of each label.
    bands : sequence of int, default=(5, 20, 100)
        Largest number of training positives in each band except the last, in ascending order. The default gives the
        bands 0, 1-5, 6-20, 21-100 and >100.
    k : int, default=5
        Number of labels per sample for the scores at k.

    Returns
    -------
    DataFrame
        Columns ``band, least, most, n_labels, n_scored, metric, k, value``, in the order of the bands. The metrics are
        ``average_precision`` (with ``k`` 0), and ``precision``, ``recall``, ``f1`` and ``coverage`` at k. Each value is
        a mean over the ``n_scored`` of ``n_labels`` labels with a defined score, or NaN if no score is defined.
        ``least`` and ``most`` are the limits of the band. ``most`` is infinite in the last band.

    Raises
    ------
    DataError
        If the counts are invalid or the bands do not ascend. Also raised for the reasons given in
        :func:`precision_at_k`.

    Notes
    -----
    Precision, recall and F1 of a label treat it as predicted for the samples that have it among their first k labels.
    Precision is 0 for a label that is never among them. Coverage is the share of labels that are found at least once.
    All samples have equal weight.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> table = scores_by_frequency_band(Y, P, np.array([9, 2, 0]), bands=[5], k=1)
    >>> table.loc[table["metric"] == "coverage", ["band", "n_labels", "value"]].values.tolist()
    [['0', 1, 0.0], ['1-5', 1, 0.0], ['>5', 1, 1.0]]
    """
    ends = [0, *bands, np.inf]
    if not bands or sorted({*ends}) != ends:
        raise DataError(f"bands: expected ascending integers from 1, such as {BANDS}, found {bands!r}.")
    counts = np.asarray(n_train_positives)
    n_labels = check_pair(Y_true, P)[0].shape[1]
    if counts.shape != (n_labels,) or counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
        raise DataError(f"n_train_positives: expected one count of at least 0 for each of the {n_labels} labels.")
    scores = label_scores(Y_true, P, k)
    band_of = np.searchsorted(ends, counts)
    rows = []
    for band, (least, most) in enumerate(zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True)):
        name = f">{bands[-1]}" if most == np.inf else str(most) if least == most else f"{least}-{most}"
        of_band = band_of == band
        for metric, values in scores.items():
            chosen = of_band & ~np.isnan(values)
            mean = values[chosen].mean() if chosen.any() else np.nan
            k_of_metric = 0 if metric == "average_precision" else k
            rows.append((name, least, most, of_band.sum(), chosen.sum(), metric, k_of_metric, mean))
    columns = ["band", "least", "most", "n_labels", "n_scored", "metric", "k", "value"]
    return pd.DataFrame(rows, columns=columns)


def label_scores(Y_true: Matrix, P: Matrix, k: int = 5) -> dict[str, np.ndarray]:
    """Compute average precision, and precision, recall, F1 and coverage at k, of each label.

    Parameters
    ----------
    Y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        True labels, 0 or 1. NaN marks an unmeasured label, which is ignored.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities. Entries that a sparse matrix does not store are 0.
    k : int, default=5
        Number of labels per sample, at least 1.

    Returns
    -------
    dict of str to ndarray of shape (n_labels,)
        Scores named ``average_precision``, ``precision``, ``recall``, ``f1`` and ``coverage``. Average precision is NaN
        for a label without a positive or without a negative. The others use the samples with more than k measured
        labels and are NaN for a label without a positive in these samples.

    Raises
    ------
    DataError
        For the reasons given in :func:`precision_at_k`.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0, 1], [0, 1, 0]])
    >>> P = np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> label_scores(Y, P, k=2)["precision"]
    array([0.5, 1. , 1. ])
    """
    hits = _hits(Y_true, P, k, None)
    has_choice = hits.has_choice[:, -1:]
    n_found, n_predicted = (
        _counts(hits.top[hits.hit & has_choice], hits),
        _counts(hits.top[(hits.top >= 0) & has_choice], hits),
    )
    n_positive = _counts(hits.positive[has_choice[:, 0]].indices, hits)
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
    """Count the positives of each label.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1, with NaN for unmeasured labels.

    Returns
    -------
    ndarray of int of shape (n_labels,)
        Number of positives of each label.

    Raises
    ------
    DataError
        If labels are not 0, 1 or NaN, or not a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> count_positives(np.array([[1, 0], [1, np.nan]]))
    array([2, 0])
    """
    return positives_by_label(check_label_matrix(Y, "Y", DataError))


def _hits(Y_true: Matrix, P: Matrix | TopLabels, k: int, sample_weight: Weights) -> _Hits:
    if isinstance(P, TopLabels):
        Y, top = canonical(check_label_matrix(Y_true, "Y_true", DataError)), P.labels
        if len(top) != Y.shape[0] or top.shape[1] < k:
            raise DataError(f"first labels: expected shape ({Y.shape[0]}, {k}) or more columns, found {top.shape}.")
        top = top[:, :k]
    else:
        Y, P = check_pair(Y_true, P)
        Y = canonical(Y)
        top = top_labels(P, k, unmeasured=with_data(Y, Y.data == UNMEASURED)).labels
    n_samples, n_labels = Y.shape
    positive = canonical(with_data(Y, (Y.data == 1).astype(np.int8)))
    hit = positive[np.arange(n_samples)[:, np.newaxis], top].toarray() * (top >= 0)
    weights = check_weights(sample_weight, n_samples, DataError)
    n_measured = n_labels - with_data(Y, Y.data == UNMEASURED).sum(axis=1)
    return _Hits(positive, top, hit > 0, np.ones(n_samples) if weights is None else weights, n_measured)


def _counts(labels: np.ndarray, hits: _Hits) -> np.ndarray:
    return np.bincount(labels, minlength=hits.positive.shape[1])


def _sum(values: np.ndarray) -> np.ndarray:
    """Sum over samples sequentially.

    The summation order of ``np.sum``, and therefore the last bit of its result, depends on k.
    """
    return np.cumsum(values, axis=0)[-1]
