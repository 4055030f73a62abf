"""Compiled functions of :mod:`fairfold.core.hierarchy`."""

from __future__ import annotations

import numpy as np

from fairfold.core.compiled import njit


@njit(cache=True, nogil=True)
def pool_violators(P: np.ndarray, order: np.ndarray, children: np.ndarray, starts: np.ndarray) -> None:
    """Pool labels that are likelier than their parents, in place.

    Each pool gets its mean. Labels are processed after all labels below them. The pool of a label absorbs pools below
    it with a larger mean, the largest first (Burdakov, Sysoev, Grimvall & Hussian 2006, "An O(n²) algorithm for
    isotonic regression").

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_labels)
        Probabilities, which are overwritten.
    order : ndarray of int of shape (n_labels,)
        Labels, each before all labels above it.
    children : ndarray of int
        Children of all labels. See :meth:`~fairfold.core.hierarchy.Hierarchy.neighbors`.
    starts : ndarray of int of shape (n_labels + 1,)
        Position of each label's first child.
    """
    n_labels = P.shape[1]
    pool_of, mean, size = np.empty(n_labels, np.int64), np.empty(n_labels), np.empty(n_labels)
    last, following = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)  # Linked lists of members.
    for row in range(len(P)):
        for label in order:
            pool_of[label], mean[label], size[label] = label, P[row, label], 1.0
            last[label], following[label] = label, -1
            while True:
                worst = _largest_below(label, pool_of, mean, following, children, starts)
                if worst < 0:
                    break
                total = mean[label] * size[label] + mean[worst] * size[worst]
                size[label] += size[worst]
                mean[label] = total / size[label]
                following[last[label]] = worst
                last[label] = last[worst]
                member = worst
                while member >= 0:
                    pool_of[member] = label
                    member = following[member]
        for label in range(n_labels):
            P[row, label] = mean[pool_of[label]]


@njit(cache=True, nogil=True)
def _largest_below(label, pool_of, mean, following, children, starts):  # noqa: ANN001, ANN202
    """Return the pool with the largest mean among those below a label's pool that exceed its mean, or -1."""
    worst, member = -1, label
    while member >= 0:
        for place in range(starts[member], starts[member + 1]):
            pool = pool_of[children[place]]
            if pool != label and mean[pool] > mean[label] and (worst < 0 or mean[pool] > mean[worst]):
                worst = pool
        member = following[member]
    return worst
