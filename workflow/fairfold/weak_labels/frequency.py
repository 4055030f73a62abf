"""Label frequency: how many of a label's true positives are observed, c_j = P(observed | positive).

Two estimates. :func:`label_frequency` asks a model: a high percentile of the probabilities of the observed positives
(Ilidio et al. 2024). :func:`tice` asks the features: where a part of the feature space holds many observed positives,
their share bounds c_j from below (Bekker & Davis 2018).

Bounds of TIcE
--------------
Positives are observed at random, so in any set S of samples c · P(positive | S) = P(observed | S), and the observed
share of S is at most c. With T samples of S, L of them observed, the one-sided Chebyshev inequality gives

    c >= L / T - sqrt(c (1 - c) (1 - delta) / (delta T))    with probability 1 - delta.
"""

from __future__ import annotations

import heapq
import math
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numba import njit
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.sparsefuncs import min_max_axis

from fairfold.core.arrays import Matrix, stored_cells
from fairfold.core.validation import check_binary, check_dense_binary
from fairfold.errors import ModelError, first_sentence, unknown_name
from fairfold.weak_labels.rankings import check_shapes

VARIANTS = ("text", "authors-code")
QUARTERS = 4


def label_frequency(observed: Matrix, probabilities: Matrix, *, percentile: float = 0.95) -> np.ndarray:
    """Label frequency c_j = P(observed | positive): a high percentile of the observed positives' probabilities.

    A classifier that is trained on observed labels estimates P(observed | x) = c_j · P(positive | x) (Elkan & Noto
    2008). For samples that are surely positive this is c_j itself; the percentile takes the place of the maximum, which
    a single lucky sample would decide (Ilidio et al. 2024, Equations 4-7).

    Parameters
    ----------
    observed : (n_samples, n_labels) of 0/1, the labels that were observed.
    probabilities : (n_samples, n_labels) out-of-bag probabilities of these labels, dense or CSR.
    percentile : quantile between 0 and 1.

    Returns
    -------
    (n_labels,) floats in (0, 1]. A label without observed positives, or whose positives all have probability zero, says
    nothing about its frequency; it gets 1 ("nothing is missing"), so that nothing is imputed.

    Raises
    ------
    ModelError
        When labels are not 0/1, shapes differ, or the percentile is not between 0 and 1.
    """
    observed = check_binary(observed, "observed", ModelError)
    if not 0 <= percentile <= 1:
        raise ModelError(f"percentile is {percentile}; it must be between 0 and 1.")
    check_shapes(observed, probabilities)
    _, labels, seen, p = stored_cells(observed, probabilities)
    labels, p = labels[seen != 0], p[seen != 0].astype(np.float64)
    frequency = np.ones(observed.shape[1])
    for label, positives in pd.Series(p).groupby(labels):
        frequency[label] = np.quantile(positives, percentile)
    return np.where(frequency > 0, np.minimum(frequency, 1.0), 1.0)


def tice(
    X: Matrix,
    observed: np.ndarray,
    *,
    n_folds: int = 5,
    n_iterations: int = 2,
    delta: float | None = None,
    max_splits: int = 500,
    min_set_size: int = 10,
    smoothing: float = 5.0,
    variant: Literal["text", "authors-code"] = "text",
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> np.ndarray:
    """Label frequencies by tree induction for c estimation, TIcE (Bekker & Davis 2018, AAAI).

    Sets that are rich in observed positives are found by a tree on one fold and measured on the samples outside it; the
    estimate of a fold is the largest bound at the head of this module, and c is their mean. The c under the root is 0.5
    at first, then the estimate so far. Features are scaled to [0, 1] and cut into quarters; a node is split by the
    feature whose best quarter has the largest L / (T + smoothing) ("max-bepp"), each feature once on a path, the node
    with the highest bound first.

    Parameters
    ----------
    X : (n_samples, n_features), dense or CSR, finite. Held as one byte per sample and feature, sparse or not; shared by
        all labels.
    observed : (n_samples, n_labels) of 0/1, the labels that were observed.
    n_folds : parts of the samples; drawn at random, of equal size, the same for all labels.
    n_iterations : times to estimate, each with the last estimate under the root.
    delta : chance that one bound is too high; None is max(0.025, 1 / (1 + 0.004 T)), T samples outside the fold.
    max_splits : most nodes that one tree takes up to split them.
    min_set_size : smallest set whose bound counts; only larger ones are split. Ilidio et al. (2024) set 5.
    smoothing : pseudo-count k of max-bepp.
    variant : ``"authors-code"`` returns each label's mean, to which TIcE came down in that study: under Python 3 the
        code reads iterators a second time when they are spent, so no split is ever seen and the share of the whole set
        remains. (Theirs scatters by about 0.5 % around the mean: its folds are random and of unequal size.)
    random_state : seed, seed sequence or generator of the folds.

    Returns
    -------
    (n_labels,) floats in (0, 1]; 1 ("nothing is missing") for a label without observed positives. Time grows with
    samples times features times the depth of the trees, for each label.

    Raises
    ------
    ModelError
        When X is not finite, the labels are not 0/1 or do not match it, or n_folds is out of range.

    Notes
    -----
    The code of TIcE that circulates departs from this in two places: below the root it measures a set by the samples of
    the tree's own fold, and it calls a set pure when its size equals the observed positives of its parent.
    """
    if variant not in VARIANTS:
        raise ModelError(unknown_name("variant of TIcE", variant, VARIANTS))
    X, observed = _checked(X, observed)
    if not 2 <= n_folds <= len(observed):
        raise ModelError(f"n_folds is {n_folds}; it must be from 2 to the number of samples, {len(observed)}.")
    has_positives = observed.any(axis=0)
    if variant == "authors-code":
        return np.where(has_positives, observed.mean(axis=0), 1.0)
    fold_of = np.random.default_rng(random_state).permutation(len(observed)) % n_folds
    frequency = np.ones(observed.shape[1])
    frequency[has_positives] = _frequencies(
        np.ascontiguousarray(_quarters(X)),
        np.ascontiguousarray(observed.T[has_positives]),
        fold_of,
        _deltas(fold_of, n_folds, delta),
        n_iterations,
        _TreeRules(max_splits, min_set_size, float(smoothing)),
    )
    return frequency


class _TreeRules(NamedTuple):
    """How a tree makes sets; see :func:`tice`."""

    max_splits: int
    min_set_size: int
    smoothing: float


def _deltas(fold_of: np.ndarray, n_folds: int, delta: float | None) -> np.ndarray:
    """(n_folds,) chance that a bound is too high, the paper's formula where none is given."""
    n_outside = len(fold_of) - np.bincount(fold_of, minlength=n_folds)
    return np.full(n_folds, delta) if delta else np.maximum(0.025, 1 / (1 + 0.004 * n_outside))


def _checked(X: Matrix, observed: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Features as floats and labels as booleans."""
    try:
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
    except ValueError as error:
        # scikit-learn's sentence comes first, its general advice after it
        raise ModelError(f"{first_sentence(error)}. Features must be finite numbers, in columns.") from None
    observed = check_dense_binary(observed, "observed", ModelError)
    if observed.ndim != 2 or len(observed) != X.shape[0]:
        raise ModelError(
            f"labels have shape {observed.shape}; they must be ({X.shape[0]}, n_labels), a row per sample."
        )
    return X, observed.astype(bool)


def _quarters(X: Matrix) -> np.ndarray:
    """(n_samples, n_features) uint8: the quarter of its feature's range in which a value lies, 0 to 3.

    A value on a border belongs to the quarter above; a constant feature is all 0.
    """
    if not sparse.issparse(X):
        low, high = X.min(axis=0), X.max(axis=0)
        return _quarter_of(X, low, high)
    entries = sparse.csc_array(X)
    entries.sum_duplicates()
    low, high = min_max_axis(entries, axis=0)
    quarters = np.tile(_quarter_of(0.0, low, high), (X.shape[0], 1))
    column = np.repeat(np.arange(X.shape[1]), np.diff(entries.indptr))
    quarters[entries.indices, column] = _quarter_of(entries.data, low[column], high[column])
    return quarters


def _quarter_of(value: np.ndarray | float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    width = np.where(high > low, high - low, 1.0)
    return np.minimum((value - low) / width * QUARTERS, QUARTERS - 1).astype(np.uint8)


@njit(cache=True, nogil=True)
def _frequencies(quarters, labels, fold_of, deltas, n_iterations, rules):  # noqa: ANN001, ANN202
    """Estimate of each label, a row of ``labels``."""
    n_folds = deltas.size
    frequency = np.empty(len(labels))
    for label in range(len(labels)):
        prior = 0.5
        for _ in range(n_iterations):
            total = 0.0
            for fold in range(n_folds):
                inside, outside = np.flatnonzero(fold_of == fold), np.flatnonzero(fold_of != fold)
                total += _largest_bound(quarters, labels[label], inside, outside, prior, deltas[fold], rules)
            prior = total / n_folds
        frequency[label] = prior
    return frequency


class _Nodes(NamedTuple):
    """Nodes of a tree: the ``stretch`` of rows, inside from, to, outside from, to; the parent; the feature split by."""

    stretch: np.ndarray
    parent: np.ndarray
    split_by: np.ndarray


@njit(cache=True, nogil=True)
def _largest_bound(quarters, observed, inside, outside, prior, delta, rules):  # noqa: ANN001, ANN202
    """Largest lower bound of c over the sets that a tree on ``inside`` makes of ``outside``.

    A node is a stretch of both arrays of rows, which a split reorders. Open nodes wait in a heap: on top the one with
    the highest bound on its tree samples, then with more observed positives, then the older one.
    """
    max_splits = min(rules.max_splits, inside.size)  # each split parts at least one sample from the others
    most = 1 + QUARTERS * max_splits
    nodes = _Nodes(np.zeros((most, 4), dtype=np.int64), np.full(most, -1), np.full(most, -1))
    nodes.stretch[0] = 0, inside.size, 0, outside.size
    counts = np.empty((quarters.shape[1], QUARTERS, 3), dtype=np.int64)
    best = np.count_nonzero(observed[outside]) / outside.size  # the share among all samples outside, as it is
    n_nodes, needed = 1, 1.0
    heap = [(0.0, 0, 0)]
    for _ in range(max_splits):
        if len(heap) == 0:
            break
        node = heapq.heappop(heap)[2]
        a, b, c, d = nodes.stretch[node]
        _count(quarters, observed, inside[a:b], outside[c:d], counts)
        _forget_features_above(nodes, node, counts)
        feature = _most_promising(counts, needed, rules.smoothing)
        # when nothing is better than keeping the tree's samples together, the branch ends
        if feature < 0 or counts[feature, :, 0].max() == b - a:
            continue
        _split(nodes, node, n_nodes, quarters, feature, inside, outside)
        first, n_nodes = n_nodes, n_nodes + QUARTERS
        for quarter in range(QUARTERS):
            n_outside = nodes.stretch[first + quarter, 3] - nodes.stretch[first + quarter, 2]
            if n_outside >= rules.min_set_size:
                best = max(best, _bound(n_outside, counts[feature, quarter, 2], prior, delta))
        # The best subset of a set with L observed positives is those L alone; with fewer than this it is no better.
        needed = prior * (1 - prior) * (1 - delta) / (delta * (1 - best) ** 2) if best < 1 else np.inf
        for quarter in range(QUARTERS):
            n_inside, n_observed, n_observed_outside = counts[feature, quarter]
            if n_observed_outside > needed and n_inside > rules.min_set_size and 0 < n_observed < n_inside:
                heapq.heappush(heap, (-_bound(n_inside, n_observed, prior, delta), -n_observed, first + quarter))
    return best


@njit(cache=True, nogil=True)
def _forget_features_above(nodes: _Nodes, node: int, counts: np.ndarray) -> None:
    """Clear the counts of features that were split by on the way to a node: each once on a path."""
    while nodes.split_by[node] >= 0:
        counts[nodes.split_by[node]] = 0
        node = nodes.parent[node]


@njit(cache=True, nogil=True)
def _split(nodes, node, first, quarters, feature, inside, outside):  # noqa: ANN001, ANN202
    """Sort a node's rows by the quarters of a feature, and make them the nodes from ``first`` on."""
    a, b, c, d = nodes.stretch[node]
    start_inside = a + _sort(inside[a:b], quarters, feature)
    start_outside = c + _sort(outside[c:d], quarters, feature)
    for quarter in range(QUARTERS):
        nodes.stretch[first + quarter, :2] = start_inside[quarter : quarter + 2]
        nodes.stretch[first + quarter, 2:] = start_outside[quarter : quarter + 2]
        nodes.parent[first + quarter], nodes.split_by[first + quarter] = node, feature


@njit(cache=True, nogil=True)
def _bound(n: int, n_observed: int, prior: float, delta: float) -> float:
    """Lower bound of c from a set of n samples, n_observed of them observed positives."""
    return n_observed / n - math.sqrt(prior * (1 - prior) * (1 - delta) / (delta * n))


@njit(cache=True, nogil=True)
def _count(quarters, observed, inside, outside, counts):  # noqa: ANN001, ANN202
    """Samples per feature and quarter: of the tree; of the tree and observed; outside the tree and observed."""
    counts[:] = 0
    for row in inside:
        is_positive = observed[row]
        for feature in range(quarters.shape[1]):
            quarter = quarters[row, feature]
            counts[feature, quarter, 0] += 1
            counts[feature, quarter, 1] += is_positive
    for row in outside:
        if observed[row]:
            for feature in range(quarters.shape[1]):
                counts[feature, quarters[row, feature], 2] += 1


@njit(cache=True, nogil=True)
def _most_promising(counts: np.ndarray, needed: float, smoothing: float) -> int:
    """Feature whose best quarter has the largest smoothed share of observed positives; -1 when none has any.

    Only features with a quarter that can still raise the bound are asked; of equals the first is taken.
    """
    best, feature = 0.0, -1
    for candidate in range(len(counts)):
        enough, score = False, 0.0
        for quarter in range(QUARTERS):
            n, n_observed, n_observed_outside = counts[candidate, quarter]
            enough |= n_observed_outside >= needed
            if n > 0:
                score = max(score, n_observed / (n + smoothing))
        if enough and score > best:
            best, feature = score, candidate
    return feature


@njit(cache=True, nogil=True)
def _sort(rows: np.ndarray, quarters: np.ndarray, feature: int) -> np.ndarray:
    """Put rows in the order of a feature's quarters; (5,) where each quarter starts, and where the last one ends."""
    start = np.zeros(QUARTERS + 1, dtype=np.int64)
    for row in rows:
        start[quarters[row, feature] + 1] += 1
    for quarter in range(QUARTERS):
        start[quarter + 1] += start[quarter]
    position = start.copy()
    for row in rows.copy():
        quarter = quarters[row, feature]
        rows[position[quarter]] = row
        position[quarter] += 1
    return start
