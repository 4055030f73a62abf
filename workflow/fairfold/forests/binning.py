"""Features encoded as small integers: the rank or the bin of each value.

Values are first rounded to single precision, as in scikit-learn's trees. All models apply
:class:`~fairfold.core.precision.DistinctValues` before, which keeps values distinct that rounding would merge. Random
forests use up to ``max_bins`` bins of neighboring values per feature. Extra trees draw thresholds between exact values.
A feature with at most ``max_bins`` distinct values has the same codes for both.

A code takes 1 byte if every feature has at most 256 distinct values. Otherwise exact codes take 2 bytes, or 4 bytes
from 65,537 values on. If nearly all values of a feature are zero, only the other values are stored, also for dense
input; see :mod:`fairfold.forests.sparse_codes`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError
from fairfold.forests.sparse_codes import SparseCodes, is_sparse

COLUMNS_AT_ONCE = 64  # Number of dense columns that are made contiguous at once.


class CodeTable(NamedTuple):
    """Features encoded as integer codes, with the values that each code represents.

    Code ``c`` of feature ``f`` represents the values from ``lowest[starts[f] + c]`` to ``highest[starts[f] + c]`` in
    single precision. Codes increase with the values. Features with nearly only zeros are stored in ``sparse``, all
    others in ``codes``. The other attributes cover both kinds of features in their original order.

    Attributes
    ----------
    codes : ndarray of unsigned int of shape (n_dense, n_samples)
        Codes of the dense features.
    starts : ndarray of int of shape (n_features + 1,)
        Position of the first code of each feature in ``lowest`` and ``highest``, followed by ``n_codes``.
    lowest : ndarray of float32 of shape (n_codes,)
        Lowest value of each code.
    highest : ndarray of float32 of shape (n_codes,)
        Highest value of each code.
    sparse : SparseCodes
        Codes of the sparse features.
    """

    codes: np.ndarray
    starts: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    sparse: SparseCodes

    def samples(self, rows: np.ndarray) -> CodeTable:
        """Select a subset of the samples without changing their codes.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
            Indices of the samples.

        Returns
        -------
        CodeTable
            Codes of the selected samples.
        """
        codes = np.ascontiguousarray(self.codes[:, rows])
        return CodeTable(codes, self.starts, self.lowest, self.highest, self.sparse.samples(rows, self.codes.shape[1]))

    def dense_starts(self) -> np.ndarray:
        """Return the position of the first code of each dense feature in ``lowest`` and ``highest``.

        Returns
        -------
        ndarray of int of shape (n_dense,)
            Positions.
        """
        return self.starts[:-1][self.sparse.place < 0]

    def sparse_starts(self) -> np.ndarray:
        """Return the position of the first code of each sparse feature in ``lowest`` and ``highest``.

        Returns
        -------
        ndarray of int of shape (n_sparse,)
            Positions.
        """
        return self.starts[:-1][self.sparse.place >= 0]


class Pool(NamedTuple):
    """Samples that trees can draw.

    Attributes
    ----------
    samples : ndarray of uint32 of shape (n_pool,)
        Samples, ordered by group.
    starts : ndarray of int64 of shape (n_groups + 1,)
        Offset of the first sample of each group, then ``n_pool``. Trees draw whole groups.
    odds : ndarray of float64 of shape (n_groups,)
        Cumulative weights of the groups. Empty if all groups have the same probability.
    """

    samples: np.ndarray
    starts: np.ndarray
    odds: np.ndarray

    def as_one_group(self) -> Pool:
        """Merge all samples into one group, which is drawn as a whole.

        Returns
        -------
        Pool
            Pool with a single group.
        """
        return self._replace(starts=np.array([0, len(self.samples)]), odds=np.empty(0))


@dataclass(frozen=True)
class BinnedMatrix:
    """Features prepared for growing trees, shared by all forests on the same features.

    Attributes
    ----------
    exact : CodeTable
        Codes of distinct values.
    max_bins : int or None
        Maximum number of codes of a feature in ``binned``. None means no limit.
    groups : ndarray of int64 of shape (n_samples,) or None, default=None
        Groups of samples. A tree draws all samples of a group or none.
    weights : ndarray of shape (n_samples,) or None, default=None
        Positive sample weights. Trees draw a sample in proportion to its weight, and a group in proportion to its mean
        weight.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.binning import BinnedMatrix
    >>> X = np.array([[1.5], [0.5], [2.5], [0.5]])
    >>> BinnedMatrix.from_matrix(X).exact.codes
    array([[1, 0, 2, 0]], dtype=uint8)
    >>> BinnedMatrix.from_matrix(X, max_bins=2).binned.codes
    array([[1, 0, 1, 0]], dtype=uint8)
    """

    exact: CodeTable
    max_bins: int | None
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    @cached_property
    def binned(self) -> CodeTable:
        """Codes with at most ``max_bins`` bins per feature; identical to ``exact`` if no feature has more values."""
        if self.max_bins is None or np.diff(self.exact.starts).max(initial=0) <= self.max_bins:
            return self.exact
        return _group(self.exact, self.max_bins)

    def for_kind(self, kind: str) -> CodeTable:
        """Return the codes that a type of forest uses.

        Parameters
        ----------
        kind : {"random_forest", "extra_trees"}
            Type of the forest.

        Returns
        -------
        CodeTable
            Exact codes for extra trees, binned codes for a random forest.
        """
        return self.exact if kind == "extra_trees" else self.binned

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return self.exact.codes.shape[1], len(self.exact.starts) - 1

    def samples(self, rows: np.ndarray) -> BinnedMatrix:
        """Select a subset of the samples without changing their codes.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
            Indices of the samples.

        Returns
        -------
        BinnedMatrix
            Features of the selected samples.
        """
        of_samples = [None if each is None else each[rows] for each in (self.groups, self.weights)]
        some = BinnedMatrix(self.exact.samples(rows), self.max_bins, *of_samples)
        vars(some)["binned"] = some.exact if self.binned is self.exact else self.binned.samples(rows)
        return some

    def pool(self, rows: np.ndarray | None = None) -> Pool:
        """Group samples for drawing.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,) or None, default=None
            Indices of the samples. None selects all samples.

        Returns
        -------
        Pool
            Samples by group, as ``grow_tree`` draws them.
        """
        order = np.arange(self.shape[0]) if rows is None else rows
        starts = np.arange(len(order) + 1)
        if self.groups is not None:
            order = order[np.argsort(self.groups[order], kind="stable")]
            starts = np.append(np.flatnonzero(np.diff(self.groups[order], prepend=-1)), len(order))
        odds = np.empty(0)
        if self.weights is not None:
            odds = np.cumsum(np.add.reduceat(self.weights[order], starts[:-1]) / np.diff(starts))
        return Pool(order.astype(np.uint32), starts, odds)

    @classmethod
    def from_matrix(
        cls,
        X: Matrix,
        *,
        max_bins: int | None = 256,
        groups: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> BinnedMatrix:
        """Rank the values of each feature.

        Bins with about equal numbers of samples are computed on the first access of ``binned``.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Finite features.
        max_bins : int or None, default=256
            Maximum number of bins per feature, from 2 to 256. None keeps all distinct values.
        groups : ndarray of int64 of shape (n_samples,) or None, default=None
            Group of each sample, a nonnegative integer.
        weights : ndarray of shape (n_samples,) or None, default=None
            Positive sample weights.

        Returns
        -------
        BinnedMatrix
            Encoded features.

        Raises
        ------
        ModelError
            If ``max_bins`` is out of range or a value is too large for single precision.
        """
        if max_bins is not None and (not isinstance(max_bins, (int, np.integer)) or not 2 <= max_bins <= 256):
            raise ModelError(f"max_bins is {max_bins!r}; it must be a whole number from 2 to 256, or None.")
        return cls(_rank_values(X), max_bins, groups, weights)


def single_precision(X: Matrix) -> Matrix:
    """Round a matrix to single precision.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    {ndarray, sparse matrix} of float32 of shape (n_samples, n_features)
        Rounded features, in the same memory layout. ``X`` is returned unchanged if it is float32 already.

    Raises
    ------
    ModelError
        If values are not real numbers, not finite or too large.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.forests.binning import single_precision
    >>> single_precision(np.array([[16777217.0, 0.5]]))
    array([[1.6777216e+07, 5.0000000e-01]], dtype=float32)
    """
    if X.dtype.kind not in "fiub":
        raise ModelError(f"features have dtype {X.dtype}. They must be real numbers.")
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32, copy=False)
    numbers = rounded.data if sparse.issparse(rounded) else rounded
    if not np.isfinite(numbers).all():
        raise ModelError(f"features must be finite and below {np.finfo(np.float32).max:.3g} in magnitude. Scale them.")
    return rounded


def _rank_values(X: Matrix) -> CodeTable:
    """Encode each value by its rank among the distinct values of its feature."""
    X = single_precision(X)
    dense: list[np.ndarray] = []
    common: list[np.unsignedinteger] = []
    ranks: list[np.ndarray] = [np.empty(0, np.uint8)]
    places, values, listed = [], [np.empty(0, np.float32)], [np.empty(0, np.uint32)]
    for rows, column in _columns(X):
        # Adding zero removes the sign of zeros. Zero is also a value of every sparse feature.
        known = column + np.float32(0) if rows is None else np.append(column, np.float32(0))
        found, codes = np.unique(known, return_inverse=True)
        codes = codes.astype(np.min_scalar_type(len(found) - 1))
        values.append(found)
        if rows is None:
            places.append(-1 - len(dense))
            dense.append(codes)
        else:
            places.append(len(common))
            common.append(codes[-1])
            listed.append(rows.astype(np.uint32))
            ranks.append(codes[:-1])
    starts, counts = (np.cumsum([len(part) for part in parts]) for parts in (values, listed))
    dtype = np.min_scalar_type(np.diff(starts).max(initial=1) - 1)
    table = np.array(dense, dtype=dtype).reshape(len(dense), X.shape[0])
    entries = counts, np.concatenate(listed), np.concatenate(ranks).astype(dtype)
    sparse_codes = SparseCodes(np.array(places, dtype=np.int32), np.array(common, dtype=dtype), *entries)
    distinct = np.concatenate(values)
    return CodeTable(table, starts, distinct, distinct, sparse_codes)


def _columns(X: Matrix) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
    """Yield the rows and nonzero values of each sparse feature, or None and all values of a dense feature."""
    n, p = X.shape
    if sparse.issparse(X):
        X = X.tocsc(copy=True)  # The array may belong to the caller.
        X.sum_duplicates()
        X.eliminate_zeros()
        for start, end in itertools.pairwise(X.indptr):
            rows, entries = X.indices[start:end], X.data[start:end]
            if is_sparse(len(rows), n):
                yield rows, entries
            else:
                column = np.zeros(n, dtype=np.float32)
                column[rows] = entries
                yield None, column
        return
    for first in range(0, p, COLUMNS_AT_ONCE):
        for column in np.ascontiguousarray(X[:, first : first + COLUMNS_AT_ONCE].T):
            rows = np.flatnonzero(column)
            yield (rows, column[rows]) if is_sparse(len(rows), n) else (None, column)


def _group(exact: CodeTable, max_bins: int) -> CodeTable:
    """Group neighboring values into bins."""
    listed, (_, n) = exact.sparse, exact.codes.shape
    sizes = np.diff(exact.starts)
    feature_of = np.repeat(np.arange(len(sizes)), sizes)
    counts = _count_values(exact)
    before = np.cumsum(counts) - counts - n * feature_of
    rank = np.arange(len(counts)) - exact.starts[feature_of]
    # The middle of the samples with a value determines its bin.
    share = np.where(sizes[feature_of] <= max_bins, rank, max_bins * (2 * before + counts) // (2 * n))
    is_first = (rank == 0) | (share != np.roll(share, 1))
    is_last = np.append(is_first[1:], True)
    bins = np.cumsum(is_first) - 1
    starts = np.append(bins[exact.starts[:-1]], bins[-1] + 1)
    bin_of = (bins - starts[feature_of]).astype(np.uint8)
    dense, places = exact.dense_starts(), np.repeat(exact.sparse_starts(), np.diff(listed.starts))
    codes = np.empty(exact.codes.shape, dtype=np.uint8)
    for row, ranks, start in zip(codes, exact.codes, dense, strict=True):
        row[:] = bin_of[start + ranks.astype(np.int64)]
    recoded = listed.recoded(bin_of[exact.sparse_starts() + listed.common], bin_of[places + listed.codes])
    return CodeTable(codes, starts, exact.lowest[is_first], exact.highest[is_last], recoded)


def _count_values(exact: CodeTable) -> np.ndarray:
    """Count the samples with each value, for all features in a row; the result has shape (n_values,)."""
    listed, (_, n), n_values = exact.sparse, exact.codes.shape, len(exact.lowest)
    n_listed = np.diff(listed.starts)
    counts = np.bincount(np.repeat(exact.sparse_starts(), n_listed) + listed.codes, minlength=n_values)
    counts[exact.sparse_starts() + listed.common] += n - n_listed
    for ranks, start in zip(exact.codes, exact.dense_starts(), strict=True):
        of_feature = np.bincount(ranks)
        counts[start : start + len(of_feature)] += of_feature
    return counts
