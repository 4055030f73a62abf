"""Features as small whole numbers: the rank of each value among the distinct values of its feature, or its bin.

Values are rounded to single precision first, as scikit-learn's trees do. Random forests look at up to ``max_bins``
groups of neighbouring values per feature; extra trees draw their thresholds between exact values. A feature with no
more distinct values than bins has the same codes for both. Codes take 1 byte per cell while every feature has up to 256
distinct values, and 2 (from 65,537 on: 4) for the exact ones otherwise, for sparse input too. Of that only
``COLUMNS_AT_ONCE`` columns are ever spread out as numbers. Two bits per cell of sparse features come to that, see
:mod:`fairfold.forests.sparse_codes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fairfold.arrays import Matrix
from fairfold.compiled import njit
from fairfold.errors import ModelError
from fairfold.forests.sparse_codes import SparseCodes

COLUMNS_AT_ONCE = 64


class CodeTable(NamedTuple):
    """Features as codes, and what the codes stand for.

    ``codes`` is (n_features, n_samples) of unsigned integers. Code ``c`` of feature ``f`` stands for the values from
    ``lowest[starts[f] + c]`` to ``highest[starts[f] + c]``, in single precision; higher codes have higher values.
    ``sparse`` tells for features that have code 0 in most samples where they have another.
    """

    codes: np.ndarray
    starts: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    sparse: SparseCodes

    @classmethod
    def of(cls, codes: np.ndarray, starts: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> CodeTable:
        """The table of these codes."""
        return cls(codes, starts, lowest, highest, SparseCodes.of(codes))

    def samples(self, rows: np.ndarray) -> CodeTable:
        """Some of the samples, with the codes that they have among all."""
        return self.of(np.ascontiguousarray(self.codes[:, rows]), self.starts, self.lowest, self.highest)


class Pool(NamedTuple):
    """What trees draw.

    samples : (n_pool,) uint32.
    starts : (n_groups + 1,) int64, where groups of them begin, which are drawn whole, and n_pool.
    odds : (n_groups,) float64, cumulative weights by which groups are drawn; empty where all are as likely.
    """

    samples: np.ndarray
    starts: np.ndarray
    odds: np.ndarray


@dataclass(frozen=True)
class BinnedMatrix:
    """Features prepared for growing trees; made once and shared by all forests that see the same features.

    Attributes
    ----------
    exact : every distinct value has its own code.
    binned : at most ``max_bins`` codes per feature; the same object as ``exact`` when no feature has more values.
    groups : (n_samples,) int64, or None; samples of a group are drawn for a tree together or not at all.
    weights : (n_samples,) above 0, or None; a sample is drawn in proportion to its weight, a group to its mean weight.
    """

    exact: CodeTable
    binned: CodeTable
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n_samples, n_features)."""
        return self.exact.codes.shape[::-1]

    def samples(self, rows: np.ndarray) -> BinnedMatrix:
        """Some of the samples, with the codes that they have among all."""
        exact = self.exact.samples(rows)
        of_samples = [None if each is None else each[rows] for each in (self.groups, self.weights)]
        if self.binned is self.exact:
            return BinnedMatrix(exact, exact, *of_samples)
        return BinnedMatrix(exact, self.binned.samples(rows), *of_samples)

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
        exact = _rank_values(X)
        if max_bins is None or np.diff(exact.starts).max(initial=0) <= max_bins:
            return cls(exact, exact, groups, weights)
        codes = np.empty(exact.codes.shape, dtype=np.uint8)
        starts, lowest, highest = _group_values(exact, max_bins, codes)
        return cls(exact, CodeTable.of(codes, starts, lowest, highest), groups, weights)


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
    X = single_precision(X)
    if sparse.issparse(X):
        X = X.tocsc()
    n, p = X.shape
    codes = np.empty((p, n), dtype=np.uint8)
    distinct = []
    for first in range(0, p, COLUMNS_AT_ONCE):
        block = X[:, first : first + COLUMNS_AT_ONCE]
        columns = np.ascontiguousarray((block.toarray() if sparse.issparse(block) else block).T)
        ranks = np.empty(columns.shape, dtype=np.uint32)
        distinct += [_rank_column(column, of_column) for column, of_column in zip(columns, ranks, strict=True)]
        codes = codes.astype(np.promote_types(codes.dtype, np.min_scalar_type(ranks.max(initial=0))), copy=False)
        codes[first : first + COLUMNS_AT_ONCE] = ranks
    starts = np.cumsum([0, *map(len, distinct)], dtype=np.int64)
    values = np.concatenate(distinct) if distinct else np.empty(0, dtype=np.float32)
    return CodeTable.of(codes, starts, values, values)


def _rank_column(column: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Distinct values of a feature; the rank of each sample's goes into ``ranks``.

    Zeros that are most of a column are not sorted.
    """
    others = np.flatnonzero(column)
    if 2 * len(others) > len(column):
        values, ranks[:] = np.unique(column, return_inverse=True)
        return values
    values, ranks_of_others = np.unique(np.append(column[others], np.float32(0)), return_inverse=True)
    ranks[:] = ranks_of_others[-1]
    ranks[others] = ranks_of_others[:-1]
    return values


@njit()
def _group_values(exact, max_bins, codes):  # noqa: ANN001, ANN202
    """Fill ``codes`` with bins of neighbouring values; returns their starts, lowest and highest values."""
    n_features, n = codes.shape
    starts = np.zeros(n_features + 1, dtype=np.int64)
    lowest, highest = np.empty_like(exact.lowest), np.empty_like(exact.lowest)
    n_bins = 0
    for feature in range(n_features):
        first, n_values = exact.starts[feature], exact.starts[feature + 1] - exact.starts[feature]
        counts = np.zeros(n_values, dtype=np.int64)
        for rank in exact.codes[feature]:
            counts[rank] += 1
        bin_of = np.empty(n_values, dtype=np.uint8)
        before, previous = 0, -1
        for rank in range(n_values):
            # the bin in which the middle of the value's samples lies
            share = rank if n_values <= max_bins else max_bins * (2 * before + counts[rank]) // (2 * n)
            before += counts[rank]
            if share != previous:
                lowest[n_bins] = exact.lowest[first + rank]
                n_bins += 1
                previous = share
            highest[n_bins - 1] = exact.highest[first + rank]
            bin_of[rank] = n_bins - 1 - starts[feature]
        for sample in range(n):
            codes[feature, sample] = bin_of[exact.codes[feature, sample]]
        starts[feature + 1] = n_bins
    return starts, lowest[:n_bins].copy(), highest[:n_bins].copy()
