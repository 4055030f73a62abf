"""Features in which most samples have one code, kept as lists of the others.

A word that most documents lack says something about few samples of a node. These are found among the samples that are
listed for the word where those are few, and otherwise by searching the list for each sample of the node.

Memory grows with the entries, which are the listed samples of all features: 4 bytes and the size of a code for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

SPARSE_UP_TO = 1 / 32  # share of samples with another code than most
SCANNED = 8  # listed samples that are looked at in the time of one search


def is_sparse(n_others: int | np.ndarray, n_samples: int) -> bool | np.ndarray:
    """Whether so few samples have another code than the common one."""
    return n_others <= SPARSE_UP_TO * n_samples


class SparseCodes(NamedTuple):
    """Codes of the sparse features.

    place : (n_features,) int32, number of each feature among those that are sparse; of another, its row among the codes
        of dense features, as -1 less this.
    common : (n_sparse,) the code that most samples have.
    starts : (n_sparse + 1,) int64, where the entries of a feature begin.
    rows : (n_entries,) uint32, samples with another code, in order.
    codes : (n_entries,) their codes.
    """

    place: np.ndarray
    common: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray

    def recoded(self, common: np.ndarray, codes: np.ndarray) -> SparseCodes:
        """The same features with other codes; entries whose code is now the common one are dropped."""
        place_of = np.repeat(np.arange(len(common)), np.diff(self.starts))
        is_other = codes != common[place_of]
        starts = np.cumsum(np.append(0, np.bincount(place_of[is_other], minlength=len(common))))
        return SparseCodes(self.place, common, starts, self.rows[is_other], codes[is_other])

    def samples(self, chosen: np.ndarray, n_samples: int) -> SparseCodes:
        """Some of the samples, of which there are so many."""
        shape = (n_samples, len(self.common))
        some = sparse.csc_array((self.codes, self.rows, self.starts), shape=shape)[chosen]
        some.sort_indices()
        return SparseCodes(
            self.place, self.common, some.indptr.astype(np.int64), some.indices.astype(np.uint32), some.data
        )


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def list_others(listed, listed_codes, first, end, rows, node_of, node, found, codes):  # noqa: ANN001, ANN201
    """A node's samples with another code of a sparse feature than most have, in order, into ``found``; their number.

    Their codes go into ``codes``. The feature's entries are ``first`` to before ``end``. The node's samples are
    ``rows``, in order, and those whose ``node_of`` is the node. Arrays are handed over one by one, as Numba counts
    references to all of a tuple.
    """
    n_found = 0
    if end - first <= SCANNED * len(rows):
        for entry in range(first, end):
            row = listed[entry]
            found[n_found], codes[n_found] = row, listed_codes[entry]
            n_found += node_of[row] == node
        return n_found
    for row in rows:
        first = _first_from(listed, first, end, row)
        if first < end and listed[first] == row:
            found[n_found], codes[n_found] = row, listed_codes[first]
            n_found += 1
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def write_codes(sparse, place, rows, codes):  # noqa: ANN001, ANN201
    """Codes of samples in order, in a sparse feature."""
    at, end = sparse.starts[place], sparse.starts[place + 1]
    for position in range(len(rows)):
        at = _first_from(sparse.rows, at, end, rows[position])
        is_listed = at < end and sparse.rows[at] == rows[position]
        codes[position] = sparse.codes[at] if is_listed else sparse.common[place]


@njit(cache=True, nogil=True, boundscheck=False)
def _first_from(rows, at, end, row):  # noqa: ANN001, ANN202
    """Place of the first sample from ``at`` on that is not before this one, by steps of twice the length each."""
    step = 1
    while at + step <= end and rows[at + step - 1] < row:
        at += step
        step *= 2
    end = min(end, at + step - 1)
    while at < end:
        middle = (at + end) >> 1
        if rows[middle] < row:
            at = middle + 1
        else:
            end = middle
    return at
