"""Features with one common code, stored as lists of the samples with other codes.

For example, most documents lack a given word, and only few samples of a node have another code. If the list of the
feature is short compared to the node, the list is scanned. Otherwise it is searched for each sample of the node.

Memory grows with the number of list entries: 4 bytes plus the size of a code for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.compiled import njit

SPARSE_UP_TO = 1 / 32  # Maximum share of samples with an uncommon code.
SCANNED = 8  # Number of entries that can be scanned in the time of one search.


def is_sparse(n_others: int | np.ndarray, n_samples: int) -> bool | np.ndarray:
    """Return whether few enough samples have an uncommon code to store a feature as a list.

    Parameters
    ----------
    n_others : int or ndarray of int
        Number of samples with another code than the common one.
    n_samples : int
        Number of samples.

    Returns
    -------
    bool or ndarray of bool
        True if the share is at most ``SPARSE_UP_TO``.

    Examples
    --------
    >>> from fairfold.forests.sparse_codes import is_sparse
    >>> is_sparse(3, 100), is_sparse(4, 100)
    (True, False)
    """
    return n_others <= SPARSE_UP_TO * n_samples


class SparseCodes(NamedTuple):
    """Codes of the sparse features.

    Attributes
    ----------
    place : ndarray of int32 of shape (n_features,)
        Index of each feature among the sparse features. For a dense feature, -1 minus its row in the dense codes.
    common : ndarray of shape (n_sparse,)
        Most frequent code of each sparse feature.
    starts : ndarray of int64 of shape (n_sparse + 1,)
        Offset of the first entry of each feature.
    rows : ndarray of uint32 of shape (n_entries,)
        Samples with another code, in increasing order.
    codes : ndarray of shape (n_entries,)
        Codes of these samples.
    """

    place: np.ndarray
    common: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray

    def recoded(self, common: np.ndarray, codes: np.ndarray) -> SparseCodes:
        """Replace the codes and drop entries whose new code is the common one.

        Parameters
        ----------
        common : ndarray of shape (n_sparse,)
            New common codes.
        codes : ndarray of shape (n_entries,)
            New codes of the entries.

        Returns
        -------
        SparseCodes
            Features with the new codes.
        """
        place_of = np.repeat(np.arange(len(common)), np.diff(self.starts))
        is_other = codes != common[place_of]
        starts = np.cumsum(np.append(0, np.bincount(place_of[is_other], minlength=len(common))))
        return SparseCodes(self.place, common, starts, self.rows[is_other], codes[is_other])

    def samples(self, chosen: np.ndarray, n_samples: int) -> SparseCodes:
        """Select a subset of the samples.

        Parameters
        ----------
        chosen : ndarray of int of shape (n_chosen,)
            Indices of the samples.
        n_samples : int
            Total number of samples.

        Returns
        -------
        SparseCodes
            Codes of the selected samples.
        """
        shape = (n_samples, len(self.common))
        some = sparse.csc_array((self.codes, self.rows, self.starts), shape=shape)[chosen]
        some.sort_indices()
        return SparseCodes(
            self.place, self.common, some.indptr.astype(np.int64), some.indices.astype(np.uint32), some.data
        )


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def list_others(listed, listed_codes, first, end, rows, node_of, node, found, codes):  # noqa: ANN001, ANN201
    """List the samples of a node with an uncommon code of a sparse feature.

    Parameters
    ----------
    listed : ndarray of uint32 of shape (n_entries,)
        Samples of all list entries.
    listed_codes : ndarray of shape (n_entries,)
        Codes of all list entries.
    first, end : int
        Range of entries of the feature; ``end`` is exclusive.
    rows : ndarray of uint32 of shape (n_rows,)
        Samples of the node, in increasing order.
    node_of : ndarray of int32 of shape (n_samples,)
        Current node of each sample.
    node : int
        Number of the node.
    found : ndarray of uint32
        Output array for the samples, in increasing order.
    codes : ndarray
        Output array for their codes.

    Returns
    -------
    int
        Number of samples found.

    Notes
    -----
    The arrays are separate arguments because Numba counts references to all arrays of a tuple.
    """
    n_found = 0
    if end - first <= SCANNED * len(rows):
        for entry in range(first, end):
            row = listed[entry]
            found[n_found], codes[n_found] = row, listed_codes[entry]
            n_found += node_of[row] == node
        return n_found
    for row in rows:
        first = last_up_to(listed, first, end, row)
        if first < end and listed[first] == row:
            found[n_found], codes[n_found] = row, listed_codes[first]
            n_found += 1
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def write_codes(sparse, place, rows, codes):  # noqa: ANN001, ANN201
    """Write the codes of samples in a sparse feature.

    Parameters
    ----------
    sparse : SparseCodes
        Codes of the sparse features.
    place : int
        Index of the sparse feature.
    rows : ndarray of uint32 of shape (n_rows,)
        Samples, in increasing order.
    codes : ndarray
        Output array for the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.binning import BinnedMatrix
    >>> from fairfold.forests.sparse_codes import write_codes
    >>> X = np.zeros((64, 1))
    >>> X[5] = 3.0
    >>> table = BinnedMatrix.from_matrix(X).exact
    >>> codes = np.empty(3, dtype=np.uint8)
    >>> write_codes(table.sparse, 0, np.array([4, 5, 6], dtype=np.uint32), codes)
    >>> codes
    array([0, 1, 0], dtype=uint8)
    """
    entry, end = sparse.starts[place], sparse.starts[place + 1]
    for position in range(len(rows)):
        entry = last_up_to(sparse.rows, entry, end, rows[position])
        is_listed = entry < end and sparse.rows[entry] == rows[position]
        codes[position] = sparse.codes[entry] if is_listed else sparse.common[place]


@njit(cache=True, nogil=True, boundscheck=False)
def last_up_to(values, low, high, limit):  # noqa: ANN001, ANN201
    """Find the last of the sorted values from ``low`` to ``high - 1`` that is at most ``limit``.

    Parameters
    ----------
    values : ndarray
        Sorted values.
    low : int
        First index. It is returned if all values are larger or there are none.
    high : int
        Index after the last one.
    limit : float or int
        Largest value to find.

    Returns
    -------
    int
        Index of the value.
    """
    n = high - low
    while n > 1:  # This binary search has no unpredictable branch.
        half = n // 2
        low += half * (values[low + half] <= limit)
        n -= half
    return low
