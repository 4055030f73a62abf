"""Compiled kernels that grow symmetric trees, in which all nodes of a level have the same split.

A split that only helps together with another one has no gain of its own at the root. In an ordinary tree, each node
searches for the second split alone, with few samples and many candidates. In a symmetric (oblivious) tree, the gains of
all nodes and labels are summed, and so the second split is found more reliably. Prokhorenkova et al. (2018, "CatBoost")
use such trees for boosting.

The number of levels is drawn for each tree. Few levels suit additive labels, and many suit interactions. Sums are in
single precision and have a fixed order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfold.core.compiled import njit
from fairfold.forests.growth import random_integer
from fairfold.forests.simd import LANES, add_row, add_squares, lane_sum, no_rows, store, subtract_row


class SymmetricRules(NamedTuple):
    """Rules for growing a symmetric tree.

    Attributes
    ----------
    n_draws : int
        Maximum number of samples that choose the splits. They are drawn without replacement.
    max_features : int
        Maximum number of features considered per level.
    max_levels : int
        Maximum number of levels with splits. The number is drawn from 1 to this one.
    smoothing : float
        Weight added to each node in the gain of splits, which lowers the gain of small nodes.
    """

    n_draws: int
    max_features: int
    max_levels: int
    smoothing: float


class Residuals(NamedTuple):
    """Residuals ``(labels - proba) * scale``, which are computed where they are needed.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, n_labels)
        Labels of 0/1. Unmeasured labels are 0, and so is their probability.
    proba : ndarray of shape (n_samples, n_labels)
        Probabilities of the labels.
    scale : ndarray of shape (n_labels,)
        Factor of each label.
    """

    labels: np.ndarray
    proba: np.ndarray
    scale: np.ndarray


class _Level(NamedTuple):
    """Drawn samples ordered by node, their weighted residuals, and the sums of each node.

    ``starts`` contains the first sample of each node. ``listed`` and ``listed_weights`` contain weighted residuals and
    weights in the order of the draws. For sparse features, ``place_of`` contains the place of each sample in this
    order, or -1. ``ones`` is a buffer.
    """

    order: np.ndarray
    starts: np.ndarray
    residuals: np.ndarray
    weights: np.ndarray
    totals: np.ndarray
    wholes: np.ndarray
    listed: np.ndarray
    listed_weights: np.ndarray
    place_of: np.ndarray
    ones: np.ndarray


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def grow_symmetric_tree(table, residuals, weights, rules, pool, seed):  # noqa: ANN001, ANN201
    """Grow one symmetric tree and find the leaves of all samples.

    Parameters
    ----------
    table : CodeTable
        Features.
    residuals : Residuals
        Residuals of the labels.
    weights : ndarray of float64 of shape (n_samples,)
        Sample weights.
    rules : SymmetricRules
        Rules for growing the tree.
    pool : Pool
        Samples that the tree can draw.
    seed : uint64
        Seed of the tree's random stream.

    Returns
    -------
    shape : tuple of ndarray of shape (n_nodes,)
        Feature, threshold, left child and right child of each node in depth-first order, root first. Missing entries
        are -1, or NaN for thresholds. Leaves can be without samples.
    weight : ndarray of int32 of shape (n_nodes,)
        Number of drawn samples in each node.
    leaf_of : ndarray of int32 of shape (n_samples,)
        Leaf of every sample, drawn or not.
    """
    state = np.array([seed], dtype=np.uint64)
    features = np.flatnonzero(table.starts[1:] - table.starts[:-1] > 1)  # Numba's np.diff compiles for seconds.
    n_levels = 0 if len(features) == 0 else 1 + random_integer(state, rules.max_levels)
    rows = _draw(pool.samples, rules.n_draws, state)
    level = _first_level(table, residuals, weights, rows, n_levels)
    sums, counts, scores = _workspace(table, n_levels, len(level.listed) // len(rows))
    chosen, thresholds = np.empty(n_levels, dtype=np.int32), np.empty(n_levels)
    node_of = np.zeros(len(weights), dtype=np.int32)
    for number in range(n_levels):
        n_considered = min(rules.max_features, len(features))
        if n_considered < len(features):
            _draw_to_front(features, n_considered, state)
        _order_by_node(rows, node_of, 2**number, level)
        considered = features[:n_considered]
        feature, cut = _best_split(
            table, considered, node_of, 2**number, level, np.float32(rules.smoothing), sums, counts, scores
        )
        code = table.starts[feature] + cut
        chosen[number], thresholds[number] = feature, table.highest[code] / 2.0 + table.lowest[code + 1] / 2.0
        _descend(table, feature, cut, node_of)
    return _as_nodes(chosen, thresholds, node_of, rows)


@njit(cache=True, nogil=True, boundscheck=False)
def _draw(samples, n_draws, state):  # noqa: ANN001, ANN202
    """Draw samples without replacement and sort them."""
    drawn = samples.copy()
    if n_draws < len(drawn):
        _draw_to_front(drawn, n_draws, state)
        drawn = drawn[:n_draws].copy()
        drawn.sort()
    return drawn


@njit(cache=True, nogil=True, boundscheck=False)
def _draw_to_front(values, n_drawn, state):  # noqa: ANN001, ANN202
    """Move randomly drawn values to the front."""
    for position in range(n_drawn):
        other = position + random_integer(state, len(values) - position)
        values[position], values[other] = values[other], values[position]


@njit(cache=True, nogil=True, boundscheck=False)
def _first_level(table, residuals, weights, rows, n_levels):  # noqa: ANN001, ANN202
    """List the residuals of the drawn samples, padded with zeros to whole blocks of ``LANES`` labels."""
    labels, proba, scale = residuals
    width = (labels.shape[1] + LANES - 1) // LANES * LANES
    listed, listed_weights = np.zeros(len(rows) * width, dtype=np.float32), np.empty(len(rows), dtype=np.float32)
    place_of = np.full(len(weights) if len(table.sparse.starts) > 1 else 0, -1, dtype=np.int32)
    for place, row in enumerate(rows):
        listed_weights[place] = weights[row]
        for label in range(labels.shape[1]):
            residual = np.float32((labels[row, label] - proba[row, label]) * scale[label])
            listed[place * width + label] = listed_weights[place] * residual
        if len(place_of) > 0:
            place_of[row] = place
    most_nodes = 2 ** max(n_levels - 1, 0)
    return _Level(
        np.empty_like(rows),
        np.empty(most_nodes + 1, dtype=np.int64),
        np.empty(len(rows) * width, dtype=np.float32),
        np.empty(len(rows), dtype=np.float32),
        np.empty(most_nodes * width, dtype=np.float32),
        np.empty(most_nodes, dtype=np.float32),
        listed,
        listed_weights,
        place_of,
        np.empty(len(rows) + 1, dtype=np.int64),
    )


@njit(cache=True, nogil=True, boundscheck=False)
def _workspace(table, n_levels, width):  # noqa: ANN001, ANN202
    """Allocate sums and weights of each code, and scores of each cut. Sparse features need them for all nodes."""
    most, size = 2, 2
    for feature in range(len(table.starts) - 1):
        n_codes = table.starts[feature + 1] - table.starts[feature]
        most = max(most, n_codes)
        size = max(size, n_codes if table.sparse.place[feature] < 0 else n_codes * 2 ** max(n_levels - 1, 0))
    sums, counts = np.empty(size * width, dtype=np.float32), np.empty(size, dtype=np.float32)
    return sums, counts, np.empty(most * LANES, dtype=np.float32)


@njit(cache=True, nogil=True, boundscheck=False)
def _order_by_node(rows, node_of, n_nodes, level):  # noqa: ANN001, ANN202
    """Order the drawn samples by node, keeping their order within nodes, and add up the nodes."""
    order, starts, residuals, weights, totals, wholes, listed, listed_weights, _, _ = level
    width = len(listed) // len(listed_weights)
    starts[: n_nodes + 1] = 0
    totals[: n_nodes * width] = 0
    wholes[:n_nodes] = 0
    for row in rows:
        starts[node_of[row] + 1] += 1
    for node in range(n_nodes):
        starts[node + 1] += starts[node]
    next_place = starts[:n_nodes].copy()
    for draw, row in enumerate(rows):
        node = node_of[row]
        place = next_place[node]
        next_place[node] += 1
        order[place], weights[place] = row, listed_weights[draw]
        wholes[node] += listed_weights[draw]
        for block in range(0, width, LANES):
            lanes = add_row(no_rows(listed), listed, draw * width + block)  # type: ignore[call-arg, var-annotated]
            store(lanes, residuals, place * width + block)
            store(add_row(lanes, totals, node * width + block), totals, node * width + block)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _best_split(table, features, node_of, n_nodes, level, smoothing, sums, counts, scores):  # noqa: ANN001, ANN202
    """Return the feature and the last code on the left side with the largest gain over all nodes and labels."""
    best_score, best_feature, best_cut = np.float32(-1), features[0], 0
    for feature in features:
        n_codes = table.starts[feature + 1] - table.starts[feature]
        scores[: (n_codes - 1) * LANES] = 0
        place = table.sparse.place[feature]
        if place < 0:
            _score_dense(table.codes[-1 - place], n_codes, n_nodes, level, smoothing, sums, counts, scores)
        else:
            _score_sparse(table.sparse, place, n_codes, node_of, n_nodes, level, smoothing, sums, counts, scores)
        for cut in range(n_codes - 1):
            block = add_row(no_rows(scores), scores, cut * LANES)  # type: ignore[call-arg, var-annotated]
            score = lane_sum(block)
            if score > best_score:
                best_score, best_feature, best_cut = score, feature, cut
    return best_feature, best_cut


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _score_dense(codes, n_codes, n_nodes, level, smoothing, sums, counts, scores):  # noqa: ANN001, ANN202
    """Add the gains of all cuts of a dense feature to the scores, node by node."""
    width = len(level.listed) // len(level.listed_weights)
    order, starts, residuals, weights = level.order, level.starts, level.residuals, level.weights
    for node in range(n_nodes):
        first, end = starts[node], starts[node + 1]
        if first == end:
            continue
        if n_codes == 2:
            _add_up_binary(codes, node, level, sums, counts)
            _add_gains(node, 0, n_codes, level, smoothing, sums, counts, scores)
            continue
        counts[:n_codes] = 0
        sums[: n_codes * width] = 0
        for place in range(first, end):
            code = np.int64(codes[order[place]])
            counts[code] += weights[place]
            for block in range(0, width, LANES):
                offset = code * width + block
                lanes = add_row(no_rows(sums), sums, offset)  # type: ignore[call-arg, var-annotated]
                store(add_row(lanes, residuals, place * width + block), sums, offset)
        _add_gains(node, 0, n_codes, level, smoothing, sums, counts, scores)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _add_up_binary(codes, node, level, sums, counts):  # noqa: ANN001, ANN202
    """Write the sums and weights of both codes of a feature in a node. Ones are often rare, and zeros are the rest."""
    width, first, end = len(level.listed) // len(level.listed_weights), level.starts[node], level.starts[node + 1]
    order, residuals, ones = level.order, level.residuals, level.ones
    n_ones = 0
    for place in range(first, end):
        ones[n_ones] = place
        n_ones += codes[order[place]] > 0
    weight = np.float32(0)
    for place in ones[:n_ones]:
        weight += level.weights[place]
    counts[0], counts[1] = level.wholes[node] - weight, weight
    for block in range(0, width, LANES):
        lanes = no_rows(residuals)  # type: ignore[call-arg, var-annotated]
        for place in ones[:n_ones]:
            lanes = add_row(lanes, residuals, place * width + block)
        store(lanes, sums, width + block)
        total = add_row(no_rows(residuals), level.totals, node * width + block)
        store(subtract_row(total, sums, width + block), sums, block)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _score_sparse(sparse, place, n_codes, node_of, n_nodes, level, smoothing, sums, counts, scores):  # noqa: ANN001, ANN202
    """Add the gains of all cuts of a sparse feature to the scores, from the list of its uncommon codes."""
    width, listed, listed_weights = len(level.listed) // len(level.listed_weights), level.listed, level.listed_weights
    counts[: n_nodes * n_codes] = 0
    sums[: n_nodes * n_codes * width] = 0
    for entry in range(sparse.starts[place], sparse.starts[place + 1]):
        row = np.int64(sparse.rows[entry])
        draw = np.int64(level.place_of[row])
        if draw >= 0:
            code = node_of[row] * n_codes + np.int64(sparse.codes[entry])
            counts[code] += listed_weights[draw]
            for block in range(0, width, LANES):
                offset = code * width + block
                lanes = add_row(no_rows(sums), sums, offset)  # type: ignore[call-arg, var-annotated]
                store(add_row(lanes, listed, draw * width + block), sums, offset)
    for node in range(n_nodes):
        first, common = node * n_codes, node * n_codes + np.int64(sparse.common[place])
        rest = level.wholes[node]
        for code in range(first, first + n_codes):
            rest -= counts[code]
        for block in range(0, width, LANES):
            lanes = add_row(no_rows(sums), level.totals, node * width + block)  # type: ignore[call-arg]
            for code in range(first, first + n_codes):
                lanes = subtract_row(lanes, sums, code * width + block)
            store(lanes, sums, common * width + block)
        counts[common] = rest
        _add_gains(node, first, n_codes, level, smoothing, sums, counts, scores)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _add_gains(node, first, n_codes, level, smoothing, sums, counts, scores):  # noqa: ANN001, ANN202
    """Add the gain of each cut in a node to its scores. Sums and weights of the codes start at code ``first``."""
    totals, whole, width = level.totals, level.wholes[node], len(level.listed) // len(level.listed_weights)
    one = np.float32(1)
    for block in range(0, width, LANES):
        left, part = no_rows(sums), np.float32(0)  # type: ignore[call-arg, var-annotated]
        for cut in range(n_codes - 1):
            part += counts[first + cut]
            left = add_row(left, sums, (first + cut) * width + block)
            of_sides = one / (part + smoothing), one / (whole - part + smoothing)
            score = add_row(no_rows(scores), scores, cut * LANES)
            store(add_squares(score, left, totals, node * width + block, *of_sides), scores, cut * LANES)


@njit(cache=True, nogil=True, boundscheck=False)
def _descend(table, feature, cut, node_of):  # noqa: ANN001, ANN202
    """Move every sample to its node of the next level."""
    place = table.sparse.place[feature]
    if place < 0:
        codes = table.codes[-1 - place]
        for row in range(len(node_of)):
            node_of[row] = 2 * node_of[row] + (codes[row] > cut)
        return
    sparse = table.sparse
    common = sparse.common[place] > cut
    for row in range(len(node_of)):
        node_of[row] = 2 * node_of[row] + common
    for entry in range(sparse.starts[place], sparse.starts[place + 1]):
        row = sparse.rows[entry]
        node_of[row] = node_of[row] // 2 * 2 + (sparse.codes[entry] > cut)


@njit(cache=True, nogil=True, boundscheck=False)
def _as_nodes(chosen, thresholds, node_of, rows):  # noqa: ANN001, ANN202
    """Write a complete tree as nodes in depth-first order."""
    n_levels = len(chosen)
    n_nodes = 2 ** (n_levels + 1) - 1
    feature, threshold = np.full(n_nodes, -1, dtype=np.int32), np.full(n_nodes, np.nan)
    left, right = np.full(n_nodes, -1, dtype=np.int32), np.full(n_nodes, -1, dtype=np.int32)
    numbers = np.zeros(1, dtype=np.int32)
    for level in range(n_levels):
        n_below = 2 ** (n_levels - level) - 1
        below = np.empty(2 * len(numbers), dtype=np.int32)
        for place, node in enumerate(numbers):
            feature[node], threshold[node] = chosen[level], thresholds[level]
            left[node], right[node] = node + 1, node + 1 + n_below
            below[2 * place], below[2 * place + 1] = left[node], right[node]
        numbers = below
    leaf_of, weight = numbers[node_of], np.zeros(n_nodes, dtype=np.int32)
    for row in rows:
        weight[leaf_of[row]] += 1
    for parent in range(n_nodes - 1, -1, -1):
        if left[parent] >= 0:
            weight[parent] = weight[left[parent]] + weight[right[parent]]
    return (feature, threshold, left, right), weight, leaf_of
