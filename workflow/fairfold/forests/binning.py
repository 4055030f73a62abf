"""Features as small whole numbers: the rank of each value among the distinct values of its feature, or its bin.

Values are rounded to single precision first, as scikit-learn's trees do.
:class:`~fairfold.core.precision.DistinctValues`, which every model applies before, keeps those apart that rounding
would merge. Random forests look at up to ``max_bins``
groups of neighbouring values per feature; extra trees draw their thresholds between exact values. A feature with no
more distinct values than bins has the same codes for both. A code takes 1 byte while every feature has up to 256
distinct values, and 2 (from 65,537 on: 4) for the exact ones otherwise. Of a feature that is zero in nearly all
samples, in dense input too, only the others have a code; see :mod:`fairfold.forests.sparse_codes`.
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

COLUMNS_AT_ONCE = 64  # of dense features, turned to lie one behind the other


class CodeTable(NamedTuple):
    """Features as codes, and what the codes stand for.

    ``codes`` is (n_dense, n_samples) of unsigned integers, one row for each feature that is not sparse; ``sparse`` has
    the codes of those that are. Code ``c`` of feature ``f`` stands for the values from ``lowest[starts[f] + c]`` to
    ``highest[starts[f] + c]``, in single precision; higher codes have higher values.
    """

    codes: np.ndarray
    starts: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    sparse: SparseCodes

    def samples(self, rows: np.ndarray) -> CodeTable:
        """Some of the samples, with the codes that they have among all."""
        codes = np.ascontiguousarray(self.codes[:, rows])
        return CodeTable(codes, self.starts, self.lowest, self.highest, self.sparse.samples(rows, self.codes.shape[1]))

    def dense_starts(self) -> np.ndarray:
        """(n_dense,) where the values of each feature that is not sparse begin."""
        return self.starts[:-1][self.sparse.place < 0]

    def sparse_starts(self) -> np.ndarray:
        """(n_sparse,) where the values of each sparse feature begin."""
        return self.starts[:-1][self.sparse.place >= 0]


class Pool(NamedTuple):
    """What trees draw.

    samples : (n_pool,) uint32.
    starts : (n_groups + 1,) int64, where groups of them begin, which are drawn whole, and n_pool.
    odds : (n_groups,) float64, cumulative weights by which groups are drawn; empty where all are as likely.
    """

    samples: np.ndarray
    starts: np.ndarray
    odds: np.ndarray

    def as_one_group(self) -> Pool:
        """The same samples, all of which are drawn at once."""
        return self._replace(starts=np.array([0, len(self.samples)]), odds=np.empty(0))


@dataclass(frozen=True)
class BinnedMatrix:
    """Features prepared for growing trees; made once and shared by all forests that see the same features.

    Attributes
    ----------
    exact : every distinct value has its own code.
    max_bins : most codes of a feature in ``binned``; None for any number.
    groups : (n_samples,) int64, or None; samples of a group are drawn for a tree together or not at all.
    weights : (n_samples,) above 0, or None; a sample is drawn in proportion to its weight, a group to its mean weight.
    """

    exact: CodeTable
    max_bins: int | None
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    @cached_property
    def binned(self) -> CodeTable:
        """At most ``max_bins`` codes per feature; the same object as ``exact`` when no feature has more values."""
        if self.max_bins is None or np.diff(self.exact.starts).max(initial=0) <= self.max_bins:
            return self.exact
        return _group(self.exact, self.max_bins)

    def for_kind(self, kind: str) -> CodeTable:
        """The features as trees of this kind see them."""
        return self.exact if kind == "extra_trees" else self.binned

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features)."""
        return self.exact.codes.shape[1], len(self.exact.starts) - 1

    def samples(self, rows: np.ndarray) -> BinnedMatrix:
        """Some of the samples, with the codes that they have among all."""
        of_samples = [None if each is None else each[rows] for each in (self.groups, self.weights)]
        some = BinnedMatrix(self.exact.samples(rows), self.max_bins, *of_samples)
        vars(some)["binned"] = some.exact if self.binned is self.exact else self.binned.samples(rows)
        return some

    def pool(self, rows: np.ndarray | None = None) -> Pool:
        """Samples, all or those of these rows, by groups, as ``grow_tree`` draws from them."""
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
        """Rank the values of each feature, and group them into bins of about equally many samples.

        Parameters
        ----------
        X : (n_samples, n_features), dense or sparse, finite.
        max_bins : most bins of a feature, 2 to 256; None leaves every distinct value its own.
        groups : (n_samples,) int64 of at least 0, or None.
        weights : (n_samples,) above 0, or None.

        Raises
        ------
        ModelError
            When ``max_bins`` is out of range or a number is too large for single precision.
        """
        if max_bins is not None and (not isinstance(max_bins, (int, np.integer)) or not 2 <= max_bins <= 256):
            raise ModelError(f"max_bins is {max_bins!r}; it must be a whole number from 2 to 256, or None.")
        return cls(_rank_values(X), max_bins, groups, weights)


def single_precision(X: Matrix) -> Matrix:
    """The same matrix rounded to single precision, rows or columns contiguous as they were.

    Raises
    ------
    ModelError
        When the numbers are no numbers, or too large.
    """
    if X.dtype.kind not in "fiub":
        raise ModelError(f"features have dtype {X.dtype}; they must be real numbers.")
    with np.errstate(over="ignore"):
        rounded = X.astype(np.float32, copy=False)
    numbers = rounded.data if sparse.issparse(rounded) else rounded
    if not np.isfinite(numbers).all():
        raise ModelError(f"features must be finite and below {np.finfo(np.float32).max:.3g} in size; scale them.")
    return rounded


def _rank_values(X: Matrix) -> CodeTable:
    """Codes of exact values."""
    X = single_precision(X)
    dense, common, places, values = [], [], [], []
    listed, ranks = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.uint8)]
    for rows, column in _columns(X):
        # zeros have no sign, and are values of sparse features, too
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
    dtype = np.min_scalar_type(max(map(len, values), default=1) - 1)
    table = np.empty((len(dense), X.shape[0]), dtype=dtype)
    for row, codes in zip(table, dense, strict=True):
        row[:] = codes
    sizes, counts = ([0, *map(len, parts)] for parts in (values, listed[1:]))
    values = np.concatenate([np.empty(0, dtype=np.float32), *values])
    entries = np.cumsum(counts), np.concatenate(listed), np.concatenate(ranks).astype(dtype)
    codes = SparseCodes(np.array(places, dtype=np.int32), np.array(common, dtype=dtype), *entries)
    return CodeTable(table, np.cumsum(sizes), values, values, codes)


def _columns(X: Matrix) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
    """Values of each feature: of a sparse one the rows and values that are not zero, of another None and all."""
    n, p = X.shape
    if sparse.issparse(X):
        X = _by_columns(X)
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


def _by_columns(X: Matrix) -> sparse.csc_array:
    """The matrix sparse by columns, with one entry at most for a cell, in order, and none that is zero."""
    columns = X.tocsc()
    if columns.has_canonical_format and columns.data.all():
        return columns
    columns = columns.copy()  # which may be the caller's
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def _group(exact: CodeTable, max_bins: int) -> CodeTable:
    """The table of bins of neighbouring values."""
    listed, (_, n) = exact.sparse, exact.codes.shape
    sizes = np.diff(exact.starts)
    feature_of = np.repeat(np.arange(len(sizes)), sizes)
    counts = _count_values(exact)
    before = np.cumsum(counts) - counts - n * feature_of
    rank = np.arange(len(counts)) - exact.starts[feature_of]
    # Values are in the bin in which the middle of their samples lies.
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
    """(n_values,) samples with each value of all features, one feature behind the other."""
    listed, (_, n), n_values = exact.sparse, exact.codes.shape, len(exact.lowest)
    n_listed = np.diff(listed.starts)
    counts = np.bincount(np.repeat(exact.sparse_starts(), n_listed) + listed.codes, minlength=n_values)
    counts[exact.sparse_starts() + listed.common] += n - n_listed
    for ranks, start in zip(exact.codes, exact.dense_starts(), strict=True):
        of_feature = np.bincount(ranks)
        counts[start : start + len(of_feature)] += of_feature
    return counts
