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
from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical, with_data
from fairfold.core.validation import UNMEASURED, check_label_matrix, check_weights, with_nan
from fairfold.errors import DataError
from fairfold.evaluation.plain_scores import check_pair, quotient


class TopLabels(NamedTuple):
    """The labels that come first in each sample.

    labels : (n_samples, k) their numbers, the most probable first; -1 where a sample has no more.
    """

    labels: np.ndarray


def top_labels(P: Matrix, k: int = 5, *, unmeasured: Matrix | None = None, zeros: bool = True) -> TopLabels:
    """Find the k labels of highest probability in each sample; labels of equal probability stay in order.

    Parameters
    ----------
    P : (n_samples, n_labels) probabilities, or other scores if dense; finite. In CSR an absent one is 0.
    k : how many, at least 1.
    unmeasured : (n_samples, n_labels) of bool, labels that take no place; None for none.
    zeros : whether labels of probability 0 take the places that are left when there are fewer than k others.

    Returns
    -------
    TopLabels
        Time and memory grow with the cells of a dense P, and with the stored ones of a sparse P.

    Raises
    ------
    DataError
        When `unmeasured` has another shape, a sparse P holds negative numbers, or k is no whole number from 1.
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise DataError(f"k is {k!r}; it must be a whole number from 1.")
    if unmeasured is not None and unmeasured.shape != P.shape:
        raise DataError(f"probabilities have shape {P.shape} and what is unmeasured {unmeasured.shape}.")
    if sparse.issparse(P):
        return TopLabels(_top_of_sparse(canonical(P), k, unmeasured, zeros))
    scores = P
    if unmeasured is not None:
        scores = np.where(unmeasured.toarray() if sparse.issparse(unmeasured) else unmeasured, -np.inf, P)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(scores, top, axis=1)
    top = np.where((found > -np.inf) & (zeros | (found != 0)), top, -1)
    return TopLabels(np.pad(top, ((0, 0), (0, k - top.shape[1])), constant_values=-1))


def _top_of_sparse(P: sparse.csr_array, k: int, unmeasured: Matrix | None, zeros: bool) -> np.ndarray:
    if (P.data < 0).any():
        raise DataError("sparse probabilities hold a negative number, which is below those that are absent; give none.")
    if unmeasured is not None:
        unmeasured = canonical(unmeasured)
        P = canonical(P - P.multiply(unmeasured))
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    order = np.lexsort((-P.data, rows))  # stable, so that labels ascend where values are equal
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
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Precision in which each positive counts by its inverse propensity, divided by the best that there could be.

    Parameters
    ----------
    Y_true, P, k, sample_weight : as of :func:`precision_at_k`.
    inverse_propensity : (n_labels,) above 0; see :func:`inverse_propensities`.
    Returns
    -------
    (k,) values at 1, 2, ..., k, of samples with a negative; NaN where none of these has a positive and
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
    first = top_labels(with_data(of.positive, inverse[of.positive.indices]), k, zeros=False).labels
    best = np.cumsum(np.where(first >= 0, inverse[first], 0.0), axis=1) / places
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
        of_label = state[P.indices[predicted]], P.data[predicted]
        found[label] = _average_precision(*of_label, n_positives[label], n_measured[label])
    return found


def _average_precision(state: np.ndarray, values: np.ndarray, n_positives: int, n_measured: int) -> float:
    """Average precision of a label, where all samples that are not given come last and tie."""
    state, values = state[state != UNMEASURED], values[state != UNMEASURED]
    order = np.argsort(-values, kind="stable")
    last = np.flatnonzero(np.diff(values[order], append=np.nan))  # of runs of equal probability
    true = np.cumsum(state[order])[last]
    terms = np.append(np.diff(true, prepend=0) * (true / (last + 1)), 0.0)
    n_left = n_positives - true[-1] if len(true) else n_positives
    return (_sum(terms) + n_left * (n_positives / n_measured)) / n_positives


def scores_by_frequency_band(
    Y_true: Matrix, P: Matrix, n_train_positives: np.ndarray, *, bands: Sequence[int] = BANDS, k: int = 5
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
    n_labels = check_pair(Y_true, P)[0].shape[1]
    if counts.shape != (n_labels,) or counts.dtype.kind not in "iu" or counts.min(initial=0) < 0:
        raise DataError(f"n_train_positives must be one count from 0 for each of the {n_labels} labels.")
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
    Y = canonical(check_label_matrix(Y, "Y", DataError))
    return np.bincount(Y.indices[Y.data == 1], minlength=Y.shape[1])


def _check_bands(bands: Sequence[int]) -> tuple[list[str], list[int], list[float]]:
    """Names, and the fewest and the most training positives."""
    ends = list(bands)
    if not ends or not all(isinstance(end, Integral) for end in ends) or sorted({0, *ends}) != [0, *ends]:
        raise DataError(f"bands are {bands!r}; they must be whole numbers from 1 that ascend, such as {BANDS}.")
    lowest = [0, 1, *[int(end) + 1 for end in ends]]
    highest = [0, *map(int, ends), np.inf]
    names = [str(low) if low == high else f"{low}-{high}" for low, high in zip(lowest, highest[:-1], strict=False)]
    return [*names, f">{ends[-1]}"], lowest, highest


def _hits(Y_true: Matrix, P: Matrix | TopLabels, k: int, sample_weight: np.ndarray | None) -> _Hits:
    if isinstance(P, TopLabels):
        Y, top = canonical(check_label_matrix(Y_true, "Y_true", DataError)), P.labels
        if len(top) != Y.shape[0] or top.shape[1] < k:
            raise DataError(f"the first labels have shape {top.shape}; expected ({Y.shape[0]}, {k}) or more columns.")
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


def _counts(labels: np.ndarray, of: _Hits) -> np.ndarray:
    return np.bincount(labels, minlength=of.positive.shape[1])


def _sum(values: np.ndarray) -> np.ndarray:
    """Sum over samples, one after the other: NumPy's own order depends on k, and so does then the last bit."""
    return np.cumsum(values, axis=0)[-1]
