"""Compiled parts of :mod:`fairfold.core.hierarchy` and of masking in a hierarchy, sample by sample."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def raise_parents(P: np.ndarray, edges: np.ndarray) -> None:
    """Raise parents to their children, in place.

    Parameters
    ----------
    P : (n_samples, n_labels).
    edges : (n_edges, 2) child and parent, those of a label before those of all above it.
    """
    for row in range(len(P)):
        for edge in range(len(edges)):
            below, above = P[row, edges[edge, 0]], P[row, edges[edge, 1]]
            if below > above:
                P[row, edges[edge, 1]] = below


@njit(cache=True, nogil=True)
def pool_violators(P: np.ndarray, order: np.ndarray, children: np.ndarray, starts: np.ndarray) -> None:
    """Pool labels that are likelier than their parents with them, in place; a pool has its mean.

    Labels come one after the other, each after all that are below it, and its pool takes in those below it that have a
    larger mean, the largest first (Burdakov, Sysoev, Grimvall & Hussian 2006, "An O(n²) algorithm for isotonic
    regression").

    Parameters
    ----------
    P : (n_samples, n_labels).
    order : labels, each before all above it.
    children, starts : see :meth:`~fairfold.core.hierarchy.Hierarchy.neighbours`.
    """
    n_labels = P.shape[1]
    pool_of, mean, size = np.empty(n_labels, np.int64), np.empty(n_labels), np.empty(n_labels)
    last, following = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)  # members of a pool, as a chain
    for row in range(len(P)):
        for label in order:
            pool_of[label], mean[label], size[label] = label, P[row, label], 1.0
            last[label], following[label] = label, -1
            while True:
                worst = -1
                member = label
                while member >= 0:
                    for place in range(starts[member], starts[member + 1]):
                        pool = pool_of[children[place]]
                        if pool != label and mean[pool] > mean[label] and (worst < 0 or mean[pool] > mean[worst]):
                            worst = pool
                    member = following[member]
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
def choose_free(
    rows: np.ndarray,
    label_starts: np.ndarray,
    n_wanted: np.ndarray,
    n_samples: int,
    order: np.ndarray,
    neighbours: np.ndarray,
    starts: np.ndarray,
) -> np.ndarray:
    """Choose cells of labels one label after the other, of each the first that no cell of its neighbours keeps.

    Parameters
    ----------
    rows : (n_cells,) samples of the cells, label by label, those to be chosen first come first.
    label_starts : (n_labels + 1,) where each label's cells begin.
    n_wanted : (n_labels,) how many to choose, at most.
    n_samples : number of samples.
    order : labels; each after all its neighbours.
    neighbours, starts : of each label the others whose cells, where they are not chosen, keep its own.

    Returns
    -------
    (n_cells,) whether each is chosen.
    """
    chosen = np.zeros(len(rows), dtype=np.bool_)
    kept_by = np.full(n_samples, -1)
    for label in order:
        for place in range(starts[label], starts[label + 1]):
            other = neighbours[place]
            for cell in range(label_starts[other], label_starts[other + 1]):
                if not chosen[cell]:
                    kept_by[rows[cell]] = label
        left = n_wanted[label]
        for cell in range(label_starts[label], label_starts[label + 1]):
            if left == 0:
                break
            if kept_by[rows[cell]] != label:
                chosen[cell] = True
                left -= 1
    return chosen
