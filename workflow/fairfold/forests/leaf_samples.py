"""Leaves that keep the samples that were drawn into them, and predictions from the labels of these.

The mean labels of a leaf are those of a few samples, each with a few of many labels. What a forest says of a sample is
a weighted sum of the labels of those with whom it shares leaves (the forest's weights of Meinshausen 2006, Equation 4):
so a leaf keeps samples, whose number does not depend on that of labels, and the labels are kept once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.core.sparse_rows import keep_highest


class LeafSamples(NamedTuple):
    """Draws of all nodes, one behind the other; only leaves have some.

    starts : (n_nodes + 1,) int64, where a node's begin.
    samples : (n_drawn,) int32, different ones of a leaf, rising.
    times : (n_drawn,) int32, how often each was drawn.
    """

    starts: np.ndarray
    samples: np.ndarray
    times: np.ndarray


@njit(cache=True, nogil=True, boundscheck=False)
def samples_of_leaves(leaf_of, weights, n_nodes):  # noqa: ANN001, ANN201
    """What a tree's leaves keep, as of :class:`LeafSamples`.

    Parameters
    ----------
    leaf_of, weights : (n_samples,) as of :func:`~fairfold.forests.growth.grow_tree`.
    n_nodes : of the tree.
    """
    starts = np.zeros(n_nodes + 1, dtype=np.int64)
    for sample in range(len(leaf_of)):
        starts[leaf_of[sample] + 1] += weights[sample] > 0
    for node in range(n_nodes):
        starts[node + 1] += starts[node]
    samples, times = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.int32)
    free = starts[:-1].copy()
    for sample in range(len(leaf_of)):
        if weights[sample] > 0:
            place = free[leaf_of[sample]]
            samples[place], times[place] = sample, np.int32(weights[sample])
            free[leaf_of[sample]] += 1
    return starts, samples, times


@njit(cache=True, nogil=True, boundscheck=False)
def sum_labels(leaves, counted, kept, node_weight, label_starts, labels, n_labels, scale, limits):  # noqa: ANN001, ANN201
    """Mean labels of each row's leaves, added up over trees; only the highest sums are returned.

    Parameters
    ----------
    leaves : (n, n_trees) nodes.
    counted : (n, n_trees) bool or None for all; trees that take part.
    kept : LeafSamples.
    node_weight : (n_nodes,) draws in each node.
    label_starts, labels : rows of the training samples' labels, as of CSR.
    n_labels : how many labels there are.
    scale : (n,) factors of the sums, one over the number of trees that take part.
    limits : the least sum, after scaling, that is returned, above 0, and the most sums of a row. Of equal ones those of
        lower labels come first.

    Returns
    -------
    (n,) numbers of sums of each row; labels, int32, rising in a row; and sums, float32, one behind the other.
    """
    n_samples = len(label_starts) - 1
    of_sample, met = np.zeros(n_samples), np.empty(n_samples, dtype=np.int32)
    of_label, seen = np.zeros(n_labels), np.empty(n_labels, dtype=np.int32)
    counts = np.zeros(len(leaves), dtype=np.int64)
    room = max(64 * len(leaves), n_labels)
    found, sums, n_found = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32), 0
    floor, most = limits
    for row in range(len(leaves)):
        n_met = n_seen = 0
        for tree in range(leaves.shape[1]):
            if counted is not None and not counted[row, tree]:
                continue
            node = leaves[row, tree]
            for place in range(kept.starts[node], kept.starts[node + 1]):
                sample = kept.samples[place]
                if of_sample[sample] == 0:
                    met[n_met] = sample
                    n_met += 1
                of_sample[sample] += kept.times[place] / node_weight[node]
        for number in range(n_met):
            sample = met[number]
            for place in range(label_starts[sample], label_starts[sample + 1]):
                label = labels[place]
                if of_label[label] == 0:
                    seen[n_seen] = label
                    n_seen += 1
                of_label[label] += of_sample[sample]
            of_sample[sample] = 0
        if n_found + n_seen > len(found):
            found, sums = _longer(found, n_found + n_seen), _longer(sums, n_found + n_seen)
        before = n_found
        for label in np.sort(seen[:n_seen]):
            share = np.float32(of_label[label] * scale[row])
            of_label[label] = 0
            if share >= floor:
                found[n_found], sums[n_found] = label, share
                n_found += 1
        n_found = before + keep_highest(found[before:n_found], sums[before:n_found], most)
        counts[row] = n_found - before
    return counts, found[:n_found].copy(), sums[:n_found].copy()


@njit(cache=True, nogil=True, boundscheck=False)
def _longer(array, needed):  # noqa: ANN001, ANN202
    """The array with room for as many as are needed, and twice as many as it had at least."""
    longer = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
