"""Estimate the label frequency c_j = P(observed | positive) of each label.

:func:`label_frequency` uses a model: a high percentile of the probabilities of the observed positives (Ilidio et al.
2024). :func:`tice` uses the features: the share of observed positives in any part of the feature space is a lower bound
of c_j (Bekker & Davis 2018).

Bounds of TIcE
--------------
Positives are observed at random, so c · P(positive | S) = P(observed | S) for any set S of samples. The observed share
of S is therefore at most c. If T samples of S contain L observed ones, the one-sided Chebyshev inequality gives

    c >= L / T - sqrt(c (1 - c) (1 - delta) / (delta T))    with probability 1 - delta.
"""

from __future__ import annotations

import heapq
import math
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.sparsefuncs import min_max_axis

from fairfold.core.arrays import Matrix, stored_cells
from fairfold.core.compiled import njit
from fairfold.core.defaults import PERCENTILE
from fairfold.core.validation import check_binary, check_dense_binary
from fairfold.errors import ModelError, check_name, first_sentence
from fairfold.weak_labels.rankings import check_shapes

VARIANTS = ("text", "authors-code")
QUARTERS = 4


def label_frequency(observed: Matrix, probabilities: Matrix, *, percentile: float = PERCENTILE) -> np.ndarray:
    """Estimate each label's frequency by a high percentile of the probabilities of its observed positives.

    A classifier that is trained on observed labels estimates P(observed | x) = c_j · P(positive | x) (Elkan & Noto
    2008). This equals c_j for samples that are certainly positive. The percentile replaces the maximum, which depends
    on a single sample (Ilidio et al. 2024, Equations 4-7).

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    probabilities : {ndarray, csr_array} of shape (n_samples, n_labels)
        Out-of-bag probabilities of these labels.
    percentile : float, default=0.95
        Quantile between 0 and 1.

    Returns
    -------
    ndarray of shape (n_labels,)
        Label frequencies in (0, 1]. Labels without observed positives get 1 (nothing is missing), and so do labels
        whose observed positives all have probability 0. Nothing is imputed for them.

    Raises
    ------
    ModelError
        If labels are not 0/1, shapes differ, or the percentile is not between 0 and 1.

    See Also
    --------
    tice : Estimate label frequencies from features.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.weak_labels import label_frequency
    >>> observed = np.array([[1], [1], [0], [0]])
    >>> probabilities = np.array([[0.9], [0.7], [0.8], [0.1]])
    >>> label_frequency(observed, probabilities, percentile=0.5)
    array([0.8])
    """
    observed = check_binary(observed, "observed", ModelError)
    if not 0 <= percentile <= 1:
        raise ModelError(f"percentile: found {percentile}. Give a number from 0 to 1.")
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
    """Estimate label frequencies by tree induction for c estimation, TIcE (Bekker & Davis 2018, AAAI).

    A tree on one fold searches for sets that are rich in observed positives. The bounds in the module docstring are
    computed on the samples outside the fold. The estimate of a fold is its largest bound, and c is the mean over the
    folds.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite features. All labels share a copy with one byte per sample and feature, also for a sparse ``X``.
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1.
    n_folds : int, default=5
        Number of random folds of equal size. All labels use the same folds.
    n_iterations : int, default=2
        Number of successive estimates. Each inserts the previous estimate as c in the square root of the bound. The
        first inserts 0.5.
    delta : float or None, default=None
        Probability that a bound is too high. None uses max(0.025, 1 / (1 + 0.004 T)) for T samples outside the fold.
    max_splits : int, default=500
        Maximum number of nodes that a tree tries to split.
    min_set_size : int, default=10
        Minimum size of a set whose bound counts. Only larger sets are split. Ilidio et al. (2024) use 5.
    smoothing : float, default=5.0
        Pseudo-count k of the splitting criterion max-bepp.
    variant : {"text", "authors-code"}, default="text"
        Whether to follow the paper or the code that Ilidio et al. (2024) ran. See Notes.
    random_state : int, SeedSequence, Generator or None, default=None
        Source of random numbers for the folds.

    Returns
    -------
    ndarray of shape (n_labels,)
        Label frequencies in (0, 1], 1 (nothing is missing) for labels without observed positives.

    Raises
    ------
    ModelError
        If ``X`` is not finite, labels are not 0/1 or do not match ``X``, or ``n_folds`` or ``variant`` is not allowed.

    See Also
    --------
    label_frequency : Estimate label frequencies from probabilities.

    Notes
    -----
    Features are scaled to [0, 1] and cut into quarters. A node is split by the feature whose best quarter has the
    largest L / (T + smoothing), called max-bepp. A path uses each feature once. The node with the highest bound is
    split first. Time grows with samples · features · tree depth, for each label.

    ``"authors-code"`` returns the mean of each label. In the published runs TIcE is reduced to this value: under Python
    3 the code reads iterators twice, so it never finds a split and only the share of the whole set remains. The
    published values differ slightly from the mean, because their folds are random and of unequal size.

    Public code of TIcE differs from this function in two places. Below the root, it measures a set on the samples of
    the tree's fold. It also treats a set as pure if its size equals the number of observed positives of its parent.
    """
    check_name("variant of TIcE", variant, VARIANTS, ModelError)
    X, observed = _checked(X, observed)
    if not 2 <= n_folds <= len(observed):
        raise ModelError(f"n_folds: found {n_folds}. Give a whole number from 2 to {len(observed)}, the samples.")
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
    """Parameters of the trees. See :func:`tice`."""

    max_splits: int
    min_set_size: int
    smoothing: float


def _deltas(fold_of: np.ndarray, n_folds: int, delta: float | None) -> np.ndarray:
    """Return the probability of each fold that a bound is too high."""
    n_outside = len(fold_of) - np.bincount(fold_of, minlength=n_folds)
    return np.full(n_folds, delta) if delta else np.maximum(0.025, 1 / (1 + 0.004 * n_outside))


def _checked(X: Matrix, observed: np.ndarray) -> tuple[Matrix, np.ndarray]:
    """Return the features as floats and the labels as booleans."""
    try:
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
    except ValueError as error:
        # The message of scikit-learn starts with the cause. General advice follows.
        raise ModelError(f"X: {first_sentence(error)}. Give a matrix of finite numbers.") from None
    observed = check_dense_binary(observed, "observed", ModelError)
    if observed.ndim != 2 or len(observed) != X.shape[0]:
        raise ModelError(f"observed: found shape {observed.shape}. Give ({X.shape[0]}, n_labels), one row per sample.")
    return X, observed.astype(bool)


def _quarters(X: Matrix) -> np.ndarray:
    """Return the quarter (0 to 3) of each feature's range that contains each value, as uint8.

    A value on a border belongs to the quarter above. Constant features are 0.
    """
    if not sparse.issparse(X):
        return _quarter_of(X, X.min(axis=0), X.max(axis=0))
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
    """Estimate the frequency of each label, a row of ``labels``."""
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
    """Nodes of a tree.

    Each row of ``stretch`` contains the start and end of the rows inside the fold and of those outside. ``parent`` is
    the parent of each node, and ``split_by`` the feature that splits it.
    """

    stretch: np.ndarray
    parent: np.ndarray
    split_by: np.ndarray


@njit(cache=True, nogil=True)
def _largest_bound(quarters, observed, inside, outside, prior, delta, rules):  # noqa: ANN001, ANN202
    """Compute the largest lower bound of c over the sets of ``outside`` that a tree on ``inside`` defines.

    A node is a slice of both arrays of rows, which splits reorder. Open nodes are in a heap: the highest bound on the
    tree's samples comes first, then more observed positives, then the older node.
    """
    max_splits = min(rules.max_splits, inside.size)  # Each split separates at least one sample.
    most = 1 + QUARTERS * max_splits
    nodes = _Nodes(np.zeros((most, 4), dtype=np.int64), np.full(most, -1), np.full(most, -1))
    nodes.stretch[0] = 0, inside.size, 0, outside.size
    counts = np.empty((quarters.shape[1], QUARTERS, 3), dtype=np.int64)
    best = np.count_nonzero(observed[outside]) / outside.size  # The observed share of all samples outside.
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
        # The branch ends if no feature is promising, or if the best one keeps all samples of the tree together.
        if feature < 0 or counts[feature, :, 0].max() == b - a:
            continue
        _split(nodes, node, n_nodes, quarters, feature, inside, outside)
        first, n_nodes = n_nodes, n_nodes + QUARTERS
        for quarter in range(QUARTERS):
            n_outside = nodes.stretch[first + quarter, 3] - nodes.stretch[first + quarter, 2]
            if n_outside >= rules.min_set_size:
                best = max(best, _bound(n_outside, counts[feature, quarter, 2], prior, delta))
        # The best subset of a set with L observed positives contains just these. It cannot raise the bound if L is
        # smaller than this.
        needed = prior * (1 - prior) * (1 - delta) / (delta * (1 - best) ** 2) if best < 1 else np.inf
        for quarter in range(QUARTERS):
            n_inside, n_observed, n_observed_outside = counts[feature, quarter]
            if n_observed_outside > needed and n_inside > rules.min_set_size and 0 < n_observed < n_inside:
                heapq.heappush(heap, (-_bound(n_inside, n_observed, prior, delta), -n_observed, first + quarter))
    return best


@njit(cache=True, nogil=True)
def _forget_features_above(nodes: _Nodes, node: int, counts: np.ndarray) -> None:
    """Clear the counts of features that split an ancestor, because a path uses each feature once."""
    while nodes.split_by[node] >= 0:
        counts[nodes.split_by[node]] = 0
        node = nodes.parent[node]


@njit(cache=True, nogil=True)
def _split(nodes, node, first, quarters, feature, inside, outside):  # noqa: ANN001, ANN202
    """Sort a node's rows by the quarters of a feature and store the child nodes from ``first`` on."""
    a, b, c, d = nodes.stretch[node]
    start_inside = a + _sort(inside[a:b], quarters, feature)
    start_outside = c + _sort(outside[c:d], quarters, feature)
    for quarter in range(QUARTERS):
        nodes.stretch[first + quarter, :2] = start_inside[quarter : quarter + 2]
        nodes.stretch[first + quarter, 2:] = start_outside[quarter : quarter + 2]
        nodes.parent[first + quarter], nodes.split_by[first + quarter] = node, feature


@njit(cache=True, nogil=True)
def _bound(n: int, n_observed: int, prior: float, delta: float) -> float:
    """Compute the lower bound of c for a set of n samples with n_observed observed positives."""
    return n_observed / n - math.sqrt(prior * (1 - prior) * (1 - delta) / (delta * n))


@njit(cache=True, nogil=True)
def _count(quarters, observed, inside, outside, counts):  # noqa: ANN001, ANN202
    """Count samples per feature and quarter: inside, inside and observed, outside and observed."""
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
    """Return the feature whose best quarter has the largest smoothed share of observed positives, or -1.

    Only features with a quarter that can still raise the bound are considered. The first of equal features wins.
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
    """Sort rows by the quarters of a feature in place, and return the start of each quarter and the end of the last."""
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
