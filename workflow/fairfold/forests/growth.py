"""Compiled kernels that grow a tree and find the leaves of samples.

The score of a split depends on the sums of the labels on one of its sides. Label rows are contiguous in memory and
padded to whole blocks of ``LANES`` labels (see :mod:`fairfold.forests.simd`). The sum of a block stays in registers
while a loop visits the samples of a node in the order of a feature. A sample that is drawn several times is one row
with a weight. Out-of-bag samples move along with the in-bag samples, so the finished tree gives the leaf of every
sample.

The search for splits follows scikit-learn's trees. Features are drawn without replacement until ``max_features`` were
considered and at least one was not constant. Features that are constant in a node are skipped below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfold.core.compiled import njit
from fairfold.forests.simd import LANES, add_row, imbalance, no_rows, store
from fairfold.forests.sparse_codes import last_up_to, list_others, write_codes

WALKED_TOGETHER = 8  # Samples that walk a tree together, because the processor waits less for the next nodes.
INSERTION_SORT_AT_MOST = 20  # Larger sets of samples are sorted by counting.
STACKED = 7  # Number of entries per node on the stack.
SHORT_COUNT = 256  # Counting sort is used up to this range of codes, or 4 times the samples.
SHORT_RUN = 4  # Average number of samples per code below which runs are short.
CODE_BITS = np.uint64(32)  # A sort key has the code above these bits and the sample below.


class GrowthRules(NamedTuple):
    """Rules for growing a tree.

    Attributes
    ----------
    n_draws : int
        Number of draws per tree.
    max_features : int
        Number of features considered per split.
    min_samples_leaf : int
        Minimum number of distinct samples in a leaf.
    random_thresholds : bool
        Whether each feature gets one random threshold, as in extra trees, instead of its best threshold.
    """

    n_draws: int
    max_features: int
    min_samples_leaf: int
    random_thresholds: bool


class _Workspace(NamedTuple):
    """Buffers for the samples of a node, one entry per sample; ``counts`` has one entry per code.

    ``node_of`` contains the last node of each sample.
    """

    codes: np.ndarray
    keys: np.ndarray
    counts: np.ndarray
    side: np.ndarray
    parts: np.ndarray
    scores: np.ndarray
    node_of: np.ndarray


class _Tree(NamedTuple):
    """Nodes of a tree and leaves of the samples; ``children`` contains the left and right child of each node."""

    feature: np.ndarray
    threshold: np.ndarray
    children: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    leaf_of: np.ndarray


class _Node(NamedTuple):
    """In-bag samples of a node and their sums.

    ``weights`` and ``drawn`` (the labels times the weights) cover all samples. ``totals`` is the sum of ``drawn`` over
    the node and ``whole`` is the sum of ``weights``.
    """

    number: int
    rows: np.ndarray
    weights: np.ndarray
    drawn: np.ndarray
    totals: np.ndarray
    whole: float


class _Split(NamedTuple):
    """Feature of a split (-1: none), last code on the left side, threshold and number of constant features.

    The first ``n_constant`` features are known to be constant.
    """

    feature: int
    cut: int
    threshold: float
    n_constant: int


@njit(cache=True, nogil=True)
def _next_random(state):  # noqa: ANN001, ANN202
    """Return 64 random bits (splitmix64; Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@njit(cache=True, nogil=True)
def random_integer(state, limit):  # noqa: ANN001, ANN201
    """Draw a random integer from 0 to ``limit - 1``.

    Parameters
    ----------
    state : ndarray of uint64 of shape (1,)
        State of the random number generator; updated in place.
    limit : int
        Exclusive upper bound, below 2**32.

    Returns
    -------
    int64
        Random integer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.growth import random_integer
    >>> state = np.array([0], dtype=np.uint64)
    >>> [random_integer(state, 10) for _ in range(5)]
    [8, 4, 0, 9, 1]
    """
    return np.int64(((_next_random(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def random_uniform(state):  # noqa: ANN001, ANN201
    """Draw a random number from the interval [0, 1).

    Parameters
    ----------
    state : ndarray of uint64 of shape (1,)
        State of the random number generator; updated in place.

    Returns
    -------
    float64
        Random number.
    """
    return np.float64(_next_random(state) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def grow_tree(table, labels, n_labels, rules, pool, seed):  # noqa: ANN001, ANN201
    """Grow one tree on a bootstrap sample and find the leaves of all samples.

    Parameters
    ----------
    table : CodeTable
        Features.
    labels : ndarray of float32 or float64 of shape (n_samples, width)
        Labels, padded with zeros to whole blocks of ``LANES``.
    n_labels : int
        Number of labels without padding.
    rules : GrowthRules
        Rules for growing the tree.
    pool : Pool
        Samples that the tree can draw.
    seed : uint64
        Seed of the tree's random stream.

    Returns
    -------
    shape : tuple of ndarray of shape (n_nodes,)
        Feature, threshold, left child and right child of each node in depth-first order, root first. Missing entries
        are -1, or NaN for thresholds.
    weight : ndarray of int32 of shape (n_nodes,)
        Number of draws in each node.
    value : ndarray of float32 of shape (n_nodes, n_labels)
        Mean labels of the draws in each node.
    leaf_of : ndarray of int32 of shape (n_samples,)
        Leaf of every sample, drawn or not.
    weights : ndarray of float64 of shape (n_samples,)
        Number of times that each sample was drawn.
    """
    n, width = labels.shape
    state = np.array([seed], dtype=np.uint64)
    weights = _draw_weights(n, pool, rules.n_draws, state)
    rows = np.arange(n).astype(np.uint32)
    n_drawn = _partition(-weights, -1.0, rows, np.empty_like(rows))  # Drawn samples first.
    drawn = _weigh_labels(labels, weights, rows[:n_drawn])
    most_leaves = max(n_drawn // rules.min_samples_leaf, 1)
    tree = _empty_tree(2 * most_leaves - 1, n_labels, n)
    bag = _Node(-1, rows, weights, drawn, np.zeros(width), 0.0)
    features = np.arange(len(table.sparse.place)).astype(np.int32)
    stack = np.empty((most_leaves + 1, STACKED), dtype=np.int64)
    _push(stack, 0, (0, n_drawn, n_drawn, n, 0, -1, 0))
    n_nodes = _grow_nodes(table, labels, n_labels, rules, state, bag, features, _empty_workspace(table, n), stack, tree)
    left, right = tree.children[:n_nodes, 0].copy(), tree.children[:n_nodes, 1].copy()
    shape = (tree.feature[:n_nodes].copy(), tree.threshold[:n_nodes].copy(), left, right)
    return shape, tree.weight[:n_nodes].copy(), tree.value[:n_nodes].copy(), tree.leaf_of, weights


@njit(cache=True, nogil=True, boundscheck=False)
def _push(stack, depth, described):  # noqa: ANN001, ANN202
    # Assigning elements one by one compiles faster: Numba's slice assignment also compiles a shape check.
    for place in range(STACKED):
        stack[depth, place] = described[place]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _grow_nodes(table, labels, n_labels, rules, state, bag, features, work, stack, tree):  # noqa: ANN001, ANN202
    """Split the node on the stack and all nodes below it; return the number of nodes.

    A row of the stack contains the start and the end of the in-bag samples and of the out-of-bag samples, the number of
    constant features, the parent and the side of the parent. In ``bag.rows`` the in-bag samples come first.
    """
    rows, totals, codes = bag.rows, bag.totals, table.codes.reshape(-1)
    n_nodes, depth = 0, 1
    while depth > 0:
        depth -= 1
        start, end, out_start, out_end, n_constant, parent, side = stack[depth]
        in_bag, out_of_bag = rows[start:end], rows[out_start:out_end]
        number = n_nodes
        n_nodes += 1
        if parent >= 0:
            tree.children[parent, side] = number
        whole = _add_up(bag.drawn, bag.weights, in_bag, totals)
        node = _Node(number, in_bag, bag.weights, bag.drawn, totals, whole)
        tree.weight[number] = np.int32(whole)
        for label in range(n_labels):
            tree.value[number, label] = totals[label] / whole
        # The search is inlined into this loop (forceinline). Passing all array descriptors to a function would take as
        # long as a search in a small node.
        if len(in_bag) < 2 * rules.min_samples_leaf or _is_pure(labels, n_labels, in_bag):
            split = _Split(-1, 0, 0.0, n_constant)
        else:
            split = _find_split(table, codes, node, features, n_constant, rules, state, work)
        if split.feature < 0:
            tree.leaf_of[in_bag] = number
            tree.leaf_of[out_of_bag] = number
            continue
        tree.feature[number], tree.threshold[number] = split.feature, split.threshold
        _write_codes(table, codes, split.feature, in_bag, work.codes)
        middle = start + _partition(work.codes, split.cut, in_bag, work.side)
        _write_codes(table, codes, split.feature, out_of_bag, work.codes)
        out_middle = out_start + _partition(work.codes, split.cut, out_of_bag, work.side)
        _push(stack, depth, (middle, end, out_middle, out_end, split.n_constant, number, 1))
        _push(stack, depth + 1, (start, middle, out_start, out_middle, split.n_constant, number, 0))
        depth += 2
    return n_nodes


@njit(cache=True, nogil=True, boundscheck=False)
def measured_values(left, right, leaf_of, weights, labels, means):  # noqa: ANN001, ANN201
    """Compute the mean labels of the draws in each node from measured labels only.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,)
        Children of each node, as returned by :func:`grow_tree`. Parents precede their children.
    leaf_of, weights : ndarray of shape (n_samples,)
        Leaf and number of draws of each sample, as returned by :func:`grow_tree`.
    labels : ndarray of float64 of shape (n_samples, n_labels)
        Labels; NaN is unmeasured.
    means : ndarray of shape (n_labels,)
        Values for a root without measured draws. Other nodes without measured draws get the value of their parent.

    Returns
    -------
    ndarray of float32 of shape (n_nodes, n_labels)
        Mean labels.
    """
    n_nodes, n_labels = len(left), labels.shape[1]
    sums, counts = np.zeros((n_nodes, n_labels)), np.zeros((n_nodes, n_labels))
    for row in range(len(labels)):
        if weights[row] > 0:
            for label in range(n_labels):
                if not np.isnan(labels[row, label]):
                    sums[leaf_of[row], label] += weights[row] * labels[row, label]
                    counts[leaf_of[row], label] += weights[row]
    for node in range(n_nodes - 1, -1, -1):
        if left[node] >= 0:
            sums[node] += sums[left[node]] + sums[right[node]]
            counts[node] += counts[left[node]] + counts[right[node]]
    values = np.empty((n_nodes, n_labels), dtype=np.float32)
    parents = np.full(n_nodes, -1)
    for node in range(n_nodes):
        if left[node] >= 0:
            parents[left[node]] = parents[right[node]] = node
        for label in range(n_labels):
            if counts[node, label] > 0:
                values[node, label] = sums[node, label] / counts[node, label]
            else:
                values[node, label] = means[label] if parents[node] < 0 else values[parents[node], label]
    return values


@njit(cache=True, nogil=True, boundscheck=False)
def _draw_weights(n, pool, n_draws, state):  # noqa: ANN001, ANN202
    """Draw whole groups until at least ``n_draws`` samples are drawn; return the number of draws of each sample."""
    weights = np.zeros(n)
    starts, odds = pool.starts, pool.odds
    n_drawn = 0
    while n_drawn < n_draws:
        if len(odds):
            # The share is below 1, but the product can round up to odds[-1].
            group = min(np.searchsorted(odds, random_uniform(state) * odds[-1], side="right"), len(odds) - 1)
        else:
            group = random_integer(state, len(starts) - 1)
        for position in range(starts[group], starts[group + 1]):
            weights[pool.samples[position]] += 1
        n_drawn += starts[group + 1] - starts[group]
    return weights


@njit(cache=True, nogil=True)
def _empty_tree(most_nodes, n_labels, n):  # noqa: ANN001, ANN202
    return _Tree(
        np.full(most_nodes, -1, dtype=np.int32),
        np.full(most_nodes, np.nan),
        np.full((most_nodes, 2), -1, dtype=np.int32),
        np.empty(most_nodes, dtype=np.int32),
        np.empty((most_nodes, n_labels), dtype=np.float32),
        np.empty(n, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def _empty_workspace(table, n):  # noqa: ANN001, ANN202
    return _Workspace(
        np.empty(n, dtype=table.codes.dtype),
        np.empty(n + 1, dtype=np.uint64),
        np.empty(max(SHORT_COUNT, 4 * n), dtype=np.uint32),
        np.empty(n, dtype=np.uint32),
        np.empty(n + 1),
        np.empty(n + 1),
        np.full(n, -1, dtype=np.int32),
    )


@njit(cache=True, nogil=True, boundscheck=False)
def _weigh_labels(labels, weights, rows):  # noqa: ANN001, ANN202
    """Return weighted labels as a flat array. Entries of samples that are not in `rows` are undefined."""
    weighted = np.empty_like(labels)
    for row in rows:
        for label in range(labels.shape[1]):
            weighted[row, label] = weights[row] * labels[row, label]
    return weighted.reshape(-1)


@njit(cache=True, nogil=True, boundscheck=False)
def _add_up(drawn, weights, rows, totals):  # noqa: ANN001, ANN202
    """Write the weighted sums of all labels into ``totals``; return the sum of the weights."""
    width = len(totals)
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)  # type: ignore[call-arg, var-annotated]
        for row in rows:
            lanes = add_row(lanes, drawn, row * width + block)
        store(lanes, totals, block)
    whole = 0.0
    for row in rows:
        whole += weights[row]
    return whole


@njit(cache=True, nogil=True, boundscheck=False)
def _is_pure(labels, n_labels, rows):  # noqa: ANN001, ANN202
    """Return whether all samples have the same labels."""
    first = rows[0]
    for row in rows:
        for label in range(n_labels):
            if labels[row, label] != labels[first, label]:
                return False
    return True


@njit(cache=True, nogil=True, boundscheck=False)
def _write_codes(table, codes, feature, rows, gathered):  # noqa: ANN001, ANN202
    """Write the codes of samples in a dense or sparse feature into ``gathered``."""
    place = table.sparse.place[feature]
    if place >= 0:
        write_codes(table.sparse, place, rows, gathered)
    else:
        _gather_codes(codes, (-1 - place) * table.codes.shape[1], rows, gathered)


@njit(cache=True, nogil=True, boundscheck=False)
def _partition(gathered, cut, rows, side):  # noqa: ANN001, ANN202
    """Move samples with codes up to the cut to the front, keeping the order within each side; return their number."""
    # Unsigned indices avoid Numba's check for negative indices.
    n_left = n_right = np.uintp(0)
    for position in range(len(rows)):
        is_left = gathered[position] <= cut
        rows[n_left] = side[n_right] = rows[position]
        n_left, n_right = n_left + np.uintp(is_left), n_right + np.uintp(not is_left)
    for position in range(n_right):
        rows[n_left + position] = side[position]
    return np.int64(n_left)


@njit(cache=True, nogil=True, boundscheck=False)
def _gather_codes(codes, column_start, rows, gathered):  # noqa: ANN001, ANN202
    """Write the codes of samples in a dense feature into ``gathered``."""
    for position in range(len(rows)):
        gathered[position] = codes[np.uintp(column_start) + rows[position]]


@njit(cache=True, nogil=True, boundscheck=False)
def _extremes(gathered, n):  # noqa: ANN001, ANN202
    """Return the lowest and the highest of the first ``n`` codes."""
    lowest = highest = gathered[0]
    for position in range(n):
        lowest, highest = min(lowest, gathered[position]), max(highest, gathered[position])
    return lowest, highest


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def _best_cut(gathered, rows, n_lowest, lowest, highest, least, best_score, of_node, work):  # noqa: ANN001, ANN202
    """Return the score of a feature's best split and the codes on both sides of it.

    The score is -1 if no split beats ``best_score``.
    """
    weights, drawn, totals, whole = of_node
    n, n_codes, side, keys = len(rows), np.int64(highest - lowest) + 1, work.side, work.keys
    if n_lowest == 0:
        n_lowest = _leave_out_lowest(gathered, rows, lowest, side)
    if n_lowest > 0 and n_codes == 2:
        score = -1.0
        if min(n_lowest, n - n_lowest) >= least:
            score = _score_listed(side, n - n_lowest - 1, -1, -1, weights, drawn, totals, whole)
        return score, np.int64(lowest), np.int64(highest)
    sample = rows if n_lowest == 0 else side
    _sort_by_code(gathered, sample, n_lowest, n - n_lowest, lowest, n_codes, keys, work.counts)
    scores = work.scores
    end = _best_end(keys, n, n_lowest, n_codes, least, weights, drawn, totals, whole, work.parts, scores, best_score)
    return scores[end], np.int64(keys[end - 1] >> CODE_BITS), np.int64(keys[end] >> CODE_BITS)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def _find_split(table, codes, node, features, n_constant, rules, state, work):  # noqa: ANN001, ANN202
    """Find the best split among randomly drawn features; move constant features to the front of ``features``.

    Features from position ``first`` to ``last - 1`` have not been considered in this node.
    """
    number, rows, weights, drawn, totals, whole = node
    gathered, side, node_of = work.codes, work.side, work.node_of
    n, n_samples, starts, values = len(rows), table.codes.shape[1], table.starts, table.lowest
    place_of, common_of, list_starts, list_rows, list_codes = table.sparse
    if len(common_of) > 0:  # list_others reads the nodes of the samples.
        for row in rows:
            node_of[row] = number
    best_score, best_feature, best_left, best_right, best_at = -1.0, -1, 0, 0, 0.0
    least, threshold = rules.min_samples_leaf, 0.0
    first, last, n_known, n_looked_at, n_useful = n_constant, len(features), n_constant, 0, 0
    while first < last and (n_looked_at < rules.max_features or n_useful == 0):
        n_looked_at += 1
        draw = random_integer(state, n_known + last - first)
        if draw < n_known:  # This feature is known to be constant.
            n_known -= 1
            continue
        position = first + draw - n_known
        feature = features[position]
        place = place_of[feature]
        if place < 0:
            _gather_codes(codes, (-1 - place) * n_samples, rows, gathered)
            lowest, highest = _extremes(gathered, n)
            n_lowest = 0
        else:
            first_entry, end_entry = list_starts[place], list_starts[place + 1]
            n_others = list_others(list_rows, list_codes, first_entry, end_entry, rows, node_of, number, side, gathered)
            lowest, highest, n_lowest = _with_common(common_of[place], rows, n_others, side, gathered)
        if lowest == highest:
            features[position], features[first] = features[first], feature
            first += 1
            continue
        last -= 1
        n_useful += 1
        features[position], features[last] = features[last], feature
        if rules.random_thresholds:
            right, sample = 0, rows if n_lowest == 0 else side[: n - n_lowest]
            low, high = starts[feature] + np.int64(lowest), starts[feature] + np.int64(highest)
            threshold = _draw_threshold(values[low], values[high], state)
            left = last_up_to(values, low, high, threshold) - starts[feature]
            cut = codes.dtype.type(left)
            score = _score_cut(gathered, sample, n_lowest, cut, least, side, weights, drawn, totals, whole)
        else:
            of_node = weights, drawn, totals, whole
            score, left, right = _best_cut(gathered, rows, n_lowest, lowest, highest, least, best_score, of_node, work)
        if score > best_score:
            best_score, best_feature, best_left, best_right, best_at = score, feature, left, right, threshold
    if best_feature >= 0 and not rules.random_thresholds:
        best_left, best_at = _place_threshold(table, best_feature, best_left, best_right)
    return _Split(best_feature, best_left, best_at, first)


@njit(cache=True, nogil=True, boundscheck=False)
def _place_threshold(table, feature, left, right):  # noqa: ANN001, ANN202
    """Place the threshold midway between two neighboring codes of a node.

    Returns the last code on the left side and the threshold.

    Codes between the two belong to samples of other nodes and are assigned by the threshold. A bin that contains the
    threshold is not split and goes to the left side.
    """
    start = table.starts[feature]
    threshold = table.highest[start + left] / 2.0 + table.lowest[start + right] / 2.0
    cut = left
    while table.lowest[start + cut + 1] <= threshold:
        cut += 1
    if table.highest[start + cut] > threshold:
        threshold = table.highest[start + cut] / 2.0 + table.lowest[start + cut + 1] / 2.0
    return cut, threshold


@njit(cache=True, nogil=True, boundscheck=False)
def _with_common(common, rows, n_others, side, gathered):  # noqa: ANN001, ANN202
    """Complete the codes of a node's samples in a sparse feature.

    Returns the lowest code, the highest code and a count.

    The first ``n_others`` entries of ``side`` and ``gathered`` contain the samples with uncommon codes, in order, and
    their codes. A nonzero count is the number of samples with the lowest code. They are more than half of the samples
    and are omitted from the output.
    """
    n = len(rows)
    if n_others == 0:
        return common, common, n
    lowest, highest = _extremes(gathered, n_others)
    if common < lowest and 2 * n_others < n:
        return common, highest, n - n_others
    if n_others < n:
        lowest, highest = min(lowest, common), max(highest, common)
    _spread(rows, common, side, n_others, gathered)
    return lowest, highest, 0


@njit(cache=True, nogil=True, boundscheck=False)
def _spread(rows, common, others, n_others, gathered):  # noqa: ANN001, ANN202
    """Expand the codes at the front of ``gathered`` to all samples of the node."""
    left = n_others - 1
    for position in range(len(rows) - 1, -1, -1):
        if left >= 0 and others[left] == rows[position]:
            gathered[position] = gathered[left]
            left -= 1
        else:
            gathered[position] = common


@njit(cache=True, nogil=True, boundscheck=False)
def _leave_out_lowest(gathered, rows, lowest, side):  # noqa: ANN001, ANN202
    """Return the number of samples with the lowest code if they are more than half of all, otherwise 0.

    If the count is not 0, the other samples are written to ``side`` and their codes to the front of ``gathered``.
    """
    n_lowest = _count_up_to(gathered, len(rows), lowest)
    if 2 * n_lowest <= len(rows):
        return 0
    n_others = 0
    for position in range(len(rows)):
        code = gathered[position]
        gathered[n_others], side[n_others] = code, rows[position]
        n_others += code != lowest
    return n_lowest


@njit(cache=True, nogil=True, boundscheck=False)
def _sort_by_code(gathered, rows, first, n, lowest, n_codes, keys, counts):  # noqa: ANN001, ANN202
    """Sort ``n`` samples by code into ``keys[first:]``; the key before them gets the lowest code.

    The upper half of a key is the code, the lower half the sample.
    """
    if first > 0:
        keys[first - 1] = np.uint64(lowest) << CODE_BITS
    if n <= INSERTION_SORT_AT_MOST or n_codes > len(counts):
        for position in range(n):
            key, to = (np.uint64(gathered[position]) << CODE_BITS) | np.uint64(rows[position]), first + position
            while to > first and keys[to - 1] > key:
                keys[to] = keys[to - 1]
                to -= 1
            keys[to] = key
        return
    for code in range(n_codes):
        counts[code] = 0
    for position in range(n):
        counts[gathered[position] - lowest] += np.uint32(1)
    before = np.uint32(first)
    for code in range(n_codes):
        count = counts[code]
        counts[code] = before
        before += count
    for position in range(n):
        code = gathered[position] - lowest
        keys[counts[code]] = (np.uint64(gathered[position]) << CODE_BITS) | np.uint64(rows[position])
        counts[code] += np.uint32(1)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _best_end(keys, n, n_lowest, n_codes, least, weights, drawn, totals, whole, parts, scores, best_score):  # noqa: ANN001, ANN202
    """Return the number of samples on the left side of a feature's best split, which is the index of its score.

    The first ``n_lowest`` keys are not set (see ``_leave_out_lowest``). A split has the same score from either side, so
    the samples of the longest run of equal codes, such as the zeros of a sparse feature, are never summed. If runs are
    short, all samples are summed from the front, and splits within a run are scored too: this is faster than a branch
    that the processor mispredicts.
    """
    first, end = max(n_lowest, least), n - least + 1
    scores[n], best = -1.0, n
    is_short = n_lowest == 0 and SHORT_RUN * n_codes > n
    if is_short:
        run_start, run_end = n - least, n
    else:
        run_start, run_end = (0, n_lowest) if n_lowest > 0 else _longest_run(keys, n)
        for n_left in range(first, end):
            scores[n_left], parts[n_left] = -1.0, 1.0  # Real scores are not negative.
    for block in range(0, len(totals), LANES):
        for step in (1, -1):
            place, stop = (0, run_start) if step > 0 else (n - 1, run_end - 1)
            lanes, part = no_rows(drawn), 0.0  # type: ignore[call-arg, var-annotated]
            while place != stop:
                row = np.uint32(keys[place])
                lanes = add_row(lanes, drawn, row * len(totals) + block)
                part += weights[row]
                n_left = place + 1 if step > 0 else place
                place += step
                if first <= n_left < end and (is_short or keys[n_left - 1] >> CODE_BITS != keys[n_left] >> CODE_BITS):
                    score = imbalance(lanes, part, whole, totals, block)
                    scores[n_left] = score if block == 0 else scores[n_left] + score
                    parts[n_left] = part
    for n_left in range(first, end):
        scores[n_left] /= parts[n_left] * (whole - parts[n_left])
        if scores[n_left] > best_score and keys[n_left - 1] >> CODE_BITS != keys[n_left] >> CODE_BITS:
            best_score, best = scores[n_left], n_left
    return best


@njit(cache=True, nogil=True, boundscheck=False)
def _longest_run(keys, n):  # noqa: ANN001, ANN202
    """Return the start and the end of the most common code among the sorted keys."""
    start = best_start = best_end = 0
    for end in range(1, n + 1):
        if end == n or keys[end - 1] >> CODE_BITS != keys[end] >> CODE_BITS:
            if end - start > best_end - best_start:
                best_start, best_end = start, end
            start = end
    return best_start, best_end


@njit(cache=True, nogil=True)
def _draw_threshold(lowest, highest, state):  # noqa: ANN001, ANN202
    """Draw a random number from [lowest, highest)."""
    span = np.float64(highest) - np.float64(lowest)
    threshold = np.float64(lowest) + random_uniform(state) * span
    return threshold if threshold < highest else np.float64(lowest)


@njit(cache=True, nogil=True, boundscheck=False)
def _count_up_to(gathered, n, cut):  # noqa: ANN001, ANN202
    n_left = 0
    for position in range(n):
        n_left += gathered[position] <= cut
    return n_left


@njit(cache=True, nogil=True, boundscheck=False)
def _list_side(gathered, rows, cut, left, side):  # noqa: ANN001, ANN202
    """Write the samples on one side of the split into ``side``; return their number."""
    n_side = 0
    for position in range(len(rows)):
        side[n_side] = rows[position]
        n_side += (gathered[position] <= cut) == left
    return n_side


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def _score_cut(gathered, listed, n_lowest, cut, least, side, weights, drawn, totals, whole):  # noqa: ANN001, ANN202
    """Score the split after a code from the samples on its smaller side; return -1 if a side is too small."""
    n, n_left = n_lowest + len(listed), n_lowest + _count_up_to(gathered, len(listed), cut)
    if min(n_left, n - n_left) < least:
        return -1.0
    n_side = _list_side(gathered, listed, cut, 2 * n_left <= n, side)
    return _score_listed(side, 0, n_side, 1, weights, drawn, totals, whole)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def _score_listed(side, first, stop, step, weights, drawn, totals, whole):  # noqa: ANN001, ANN202
    """Score a split from the samples on one of its sides, summed in the order of ``range(first, stop, step)``."""
    width, part, score = len(totals), 0.0, 0.0
    for position in range(first, stop, step):
        part += weights[side[position]]
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)  # type: ignore[call-arg, var-annotated]
        for position in range(first, stop, step):
            row = side[position]
            lanes = add_row(lanes, drawn, row * width + block)
        score += imbalance(lanes, part, whole, totals, block)
    return score / (part * (whole - part))


@njit(cache=True, nogil=True, boundscheck=False)
def find_leaves(X, roots, feature, threshold, left, right, leaves):  # noqa: ANN001, ANN201
    """Write the leaf of each sample in each tree into ``leaves``.

    Parameters
    ----------
    X : ndarray of float32 of shape (n_samples, n_features)
        Samples.
    roots : ndarray of shape (n_trees,)
        Root of each tree.
    feature, threshold, left, right : ndarray of shape (n_nodes,)
        Split feature, threshold and children of each node.
    leaves : ndarray of int32 of shape (n_samples, n_trees)
        Output array.
    """
    nodes = np.empty(WALKED_TOGETHER, dtype=np.uint32)
    for tree in range(len(roots)):
        for first in range(0, len(X), WALKED_TOGETHER):
            n_walked = min(WALKED_TOGETHER, len(X) - first)
            nodes[:n_walked] = roots[tree]
            while _step_down(nodes, n_walked, X, first, feature, threshold, left, right):
                pass
            for place in range(n_walked):
                leaves[first + place, tree] = nodes[place]


@njit(cache=True, nogil=True, boundscheck=False)
def _step_down(nodes, n_walked, X, first, feature, threshold, left, right):  # noqa: ANN001, ANN202
    """Move consecutive samples to a child of their node, and return whether any was not in a leaf."""
    any_moved = False
    for place in range(n_walked):
        node = nodes[place]
        if feature[node] >= 0:
            goes_left = X[first + place, np.uint32(feature[node])] <= threshold[node]
            nodes[place] = left[node] if goes_left else right[node]
            any_moved = True
    return any_moved


@njit(cache=True, nogil=True, boundscheck=False)
def add_leaf_values(leaves, counted, values, total, of_counted):  # noqa: ANN001, ANN201
    """Add the leaf values of each sample to sums over all trees and over the counted trees, in the order of the trees.

    Parameters
    ----------
    leaves : ndarray of shape (n_samples, n_trees)
        Leaf of each sample in each tree.
    counted : ndarray of bool of shape (n_samples, n_trees) or None
        Trees to include in ``of_counted``.
    values : ndarray of float32 of shape (n_nodes, n_labels)
        Node values.
    total, of_counted : ndarray of float64 of shape (n_samples, n_labels)
        Output arrays, initially zero. ``of_counted`` is not changed if ``counted`` is None.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.growth import add_leaf_values
    >>> leaves = np.array([[1, 3], [2, 4]])
    >>> values = np.array([[0], [0.25], [0.75], [0.5], [1]], dtype=np.float32)
    >>> total = np.zeros((2, 1))
    >>> add_leaf_values(leaves, None, values, total, np.zeros((2, 1)))
    >>> total
    array([[0.75],
           [1.75]])
    """
    for row in range(len(leaves)):
        for tree in range(leaves.shape[1]):
            node = np.uintp(leaves[row, tree])
            for label in range(values.shape[1]):
                total[row, label] += values[node, label]
            if counted is not None and counted[row, tree]:
                for label in range(values.shape[1]):
                    of_counted[row, label] += values[node, label]
