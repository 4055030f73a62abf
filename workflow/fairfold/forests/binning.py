"""Features as small whole numbers: the rank of each value among the distinct values of its feature, or its bin.

Values are rounded to single precision first, as scikit-learn's trees do.
:class:`~fairfold.core.precision.DistinctValues`, which every model applies before, keeps those apart that rounding
would merge. Random forests look at up to ``max_bins``
groups of neighbouring values per feature; extra trees draw their thresholds between exact values. A feature with no
more distinct values than bins has the same codes for both. A code takes 1 byte while every feature has up to 256
distinct values, and 2 (from 65,537 on: 4) for the exact ones otherwise. Of a feature in which three quarters of the
samples have one value, zero most often, only the others have a code, in dense input too; see
:mod:`fairfold.forests.sparse_codes` for what such features take. They are ranked without being spread out, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError
from fairfold.forests.sparse_codes import SparseCodes, is_sparse

COLUMNS_AT_ONCE = 64  # of dense features, turned to lie one behind the other
SPARSE_COLUMNS_AT_ONCE = 1024


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
        return CodeTable(codes, self.starts, self.lowest, self.highest, self.sparse.samples(rows))

    def codes_of(self, feature: int) -> np.ndarray:
        """(n_samples,) codes of one feature."""
        place = self.sparse.place[feature]
        return self.codes[-1 - place] if place < 0 else self.sparse.codes_of(place)


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

    @cached_property
    def numbers(self) -> np.ndarray:
        """(n_samples, n_dense) int32 in the order of exact values: their bits in single precision, but for the sign.

        In a small node, whose samples are anywhere in a feature's codes, extra trees have values by rows at hand sooner
        than a code and, from another table, what it stands for. Features are those of ``exact.codes``.
        """
        table = self.exact
        bits = (table.lowest + np.float32(0)).view(np.int32)  # of zeros, no sign
        of_values = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
        starts, (n_dense, n_samples) = table.starts[:-1][table.sparse.place < 0], table.codes.shape
        numbers = np.empty((n_samples, n_dense), dtype=np.int32)
        block = np.empty((COLUMNS_AT_ONCE, n_samples), dtype=np.int32)
        for first in range(0, n_dense, COLUMNS_AT_ONCE):
            columns = range(first, min(first + COLUMNS_AT_ONCE, n_dense))
            for place, column in enumerate(columns):
                of_values[starts[column] :].take(table.codes[column], out=block[place], mode="clip")
            numbers[:, columns.start : columns.stop] = block[: len(columns)].T
        return numbers

    def for_kind(self, kind: str) -> tuple[CodeTable, np.ndarray | None]:
        """The first arguments of ``grow_tree`` for trees of this kind."""
        return (self.exact, self.numbers) if kind == "extra_trees" else (self.binned, None)

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
    n, p = X.shape
    if sparse.issparse(X):
        X = _by_columns(X)
        few_entries = is_sparse(np.diff(X.indptr), n)
        ranked = _Ranked(n, np.count_nonzero(~few_entries))
        for first, end in _runs(few_entries):
            if few_entries[first]:
                part = slice(X.indptr[first], X.indptr[end])
                _rank_entries(X.data[part], np.diff(X.indptr[first : end + 1]), X.indices[part], ranked)
            else:
                _rank_columns(X[:, first:end].toarray(), ranked)
    else:
        ranked = _Ranked(n, p)
        for first in range(0, p, COLUMNS_AT_ONCE):
            _rank_columns(X[:, first : first + COLUMNS_AT_ONCE], ranked)
    return ranked.table()


def _by_columns(X: Matrix) -> sparse.csc_array:
    """The matrix sparse by columns, with one entry at most for a cell, in order, and none that is zero."""
    columns = X.tocsc()
    if columns.has_canonical_format and columns.data.all():
        return columns
    columns = columns.copy()  # which may be the caller's
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def _runs(few_entries: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where runs of columns that have few entries, and of those that do not, begin and end; long ones are cut."""
    bounds = [0, *(np.flatnonzero(np.diff(few_entries)) + 1), len(few_entries)]
    for start, end in itertools.pairwise(bounds):
        step = SPARSE_COLUMNS_AT_ONCE if end > start and few_entries[start] else COLUMNS_AT_ONCE
        for first in range(start, end, step):
            yield first, min(first + step, end)


class _Ranked:
    """Features that have been ranked so far, at most ``most_dense`` of which are not sparse."""

    def __init__(self, n_samples: int, most_dense: int) -> None:
        # what is not filled is never there
        self._codes, self._n_dense = np.empty((most_dense, n_samples), dtype=np.uint8), 0
        self._is_sparse: list[bool] = []
        self._sizes, self._values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float32)]
        self._common, self._counts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        self._rows, self._of_rows = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.uint8)]

    def add_dense(self, values: np.ndarray, ranks: np.ndarray) -> None:
        """A feature of these distinct values, and the ranks of all samples."""
        dtype = np.promote_types(self._codes.dtype, np.min_scalar_type(len(values) - 1))
        if dtype != self._codes.dtype:
            narrow, self._codes = self._codes, np.empty(self._codes.shape, dtype=dtype)
            self._codes[: self._n_dense] = narrow[: self._n_dense]
        self._codes[self._n_dense] = ranks
        self._n_dense += 1
        self._is_sparse.append(False)
        self._sizes.append(np.array([len(values)]))
        self._values.append(values)

    def add_sparse(
        self,
        sizes: np.ndarray,
        values: np.ndarray,
        common: np.ndarray,
        counts: np.ndarray,
        rows: np.ndarray,
        ranks: np.ndarray,
    ) -> None:
        """Features of so many distinct values, these; with the common rank, the number of other samples, and theirs."""
        self._is_sparse += [True] * len(sizes)
        self._sizes.append(sizes)
        self._values.append(values)
        self._common.append(common)
        self._counts.append(counts)
        self._rows.append(rows.astype(np.uint32))
        self._of_rows.append(ranks.astype(np.min_scalar_type(ranks.max(initial=0))))

    def table(self) -> CodeTable:
        """All of them."""
        common, of_rows, values = (np.concatenate(parts) for parts in (self._common, self._of_rows, self._values))
        narrowest = np.min_scalar_type(common.max(initial=0))
        dtype = np.result_type(self._codes, of_rows, narrowest)
        flags = np.array(self._is_sparse, dtype=bool)
        place = np.where(flags, np.cumsum(flags) - 1, -np.cumsum(~flags)).astype(np.int32)
        starts = np.cumsum(np.append(0, np.concatenate(self._counts)))
        rows, n_samples = np.concatenate(self._rows), self._codes.shape[1]
        listed = SparseCodes.of(place, common.astype(dtype), starts, rows, of_rows.astype(dtype), n_samples)
        codes = self._codes[: self._n_dense].astype(dtype, copy=False)
        starts = np.cumsum(np.append(0, np.concatenate(self._sizes)))
        return CodeTable(codes, starts, values, values, listed)


def _rank_columns(block: np.ndarray, ranked: _Ranked) -> None:
    """Rank dense features, (n_samples, n_features)."""
    columns = np.ascontiguousarray(block.T)
    few_entries = is_sparse(np.count_nonzero(columns, axis=1), columns.shape[1])
    for first, end in _runs(few_entries):
        if few_entries[first]:
            cells = np.flatnonzero(columns[first:end])
            column_of, rows = np.divmod(cells, columns.shape[1])
            counts = np.bincount(column_of, minlength=end - first)
            _rank_entries(columns[first:end].ravel()[cells], counts, rows, ranked)
        else:
            for column in columns[first:end]:
                _rank_column(column, ranked)


def _rank_column(column: np.ndarray, ranked: _Ranked) -> None:
    """Rank a feature that is zero in few samples, or in less than most."""
    others, n = np.flatnonzero(column), len(column)
    if 2 * len(others) <= n:  # zeros that are most of a column are not sorted
        values, of_others = distinct_values(np.append(column[others], np.float32(0)))
        ranks = np.full(n, of_others[-1])
        ranks[others] = of_others[:-1]
        ranked.add_dense(values, ranks)
        return
    values, ranks = distinct_values(column)
    if is_sparse(len(values) - 1, n):
        counts = np.bincount(ranks)
        others = np.flatnonzero(ranks != counts.argmax())
        if is_sparse(len(others), n):
            one = np.array([[len(values)], [counts.argmax()], [len(others)]])
            ranked.add_sparse(one[0], values, one[1], one[2], others, ranks[others])
            return
    ranked.add_dense(values, ranks)


@njit(cache=True, nogil=True, boundscheck=False)
def distinct_values(column):  # noqa: ANN001, ANN201
    """Distinct values in order, and the rank of each value: ``numpy.unique`` of (n,) float32, by digits of their bits.

    Zeros have no sign. A digit is one of three in base 2**11, the last is sorted by first.
    """
    n = len(column)
    bits = (column + np.float32(0)).view(np.uint32)
    counts = np.zeros((3, 2048), dtype=np.uint32)
    pairs, sorted_pairs = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    for row in range(n):
        # the bits of floating-point numbers are in the order of these but for the sign
        key = bits[row] ^ (np.uint32(np.int32(bits[row]) >> np.int32(31)) | np.uint32(1 << 31))
        pairs[row] = (np.uint64(key) << np.uint64(32)) | np.uint64(row)
        for digit in range(3):
            counts[digit, (key >> np.uint32(11 * digit)) & np.uint32(2047)] += np.uint32(1)
    for digit in range(3):
        before = np.uint32(0)
        for value in range(2048):
            count = counts[digit, value]
            counts[digit, value] = before
            before += count
        shift = np.uint64(32 + 11 * digit)
        for position in range(n):
            value = np.uintp((pairs[position] >> shift) & np.uint64(2047))
            sorted_pairs[counts[digit, value]] = pairs[position]
            counts[digit, value] += np.uint32(1)
        pairs, sorted_pairs = sorted_pairs, pairs
    values, ranks = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.int64)
    last = -1
    for position in range(n):
        row = np.uintp(np.uint32(pairs[position]))
        last += position == 0 or pairs[position] >> np.uint64(32) != pairs[position - 1] >> np.uint64(32)
        values[last], ranks[row] = column[row] + np.float32(0), last
    return values[: last + 1].copy(), ranks


def _rank_entries(entries: np.ndarray, counts: np.ndarray, rows: np.ndarray, ranked: _Ranked) -> None:
    """Rank features that are zero in most samples, all together, by their other values.

    Parameters
    ----------
    entries : (n_entries,) float32, of one feature after the other, none of them zero.
    counts : (n_features,) how many there are of each.
    rows : (n_entries,) samples, in order for each feature.
    """
    column_of = np.repeat(np.arange(len(counts)), counts)
    bits = entries.view(np.uint32)
    # the bits of floating-point numbers are in the order of these but for the sign
    rising = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    keys = column_of.astype(np.uint64) << np.uint64(32) | rising
    order = np.argsort(keys)
    is_first = np.diff(keys[order], prepend=~keys[order[:1]]) != 0
    column_of, values = column_of[order], entries[order]
    n_values, n_negative = (
        np.bincount(column_of[which], minlength=len(counts)) for which in (is_first, is_first & (values < 0))
    )
    starts = np.cumsum(n_values) - n_values
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(is_first) - 1 - starts[column_of] + (values > 0)
    with_zeros = np.insert(values[is_first], starts + n_negative, np.float32(0))
    ranked.add_sparse(n_values + 1, with_zeros, n_negative, counts, rows, ranks)


def _group(exact: CodeTable, max_bins: int) -> CodeTable:
    """The table of bins."""
    codes, listed = np.empty(exact.codes.shape, dtype=np.uint8), exact.sparse
    common, of_rows = np.empty(len(listed.common), dtype=np.uint8), np.empty(len(listed.codes), dtype=np.uint8)
    starts, lowest, highest = _group_values(exact, max_bins, codes, common, of_rows)
    return CodeTable(codes, starts, lowest, highest, listed.recoded(common, of_rows))


@njit(cache=True, nogil=True)
def _group_values(exact, max_bins, codes, common, of_rows):  # noqa: ANN001, ANN202
    """Fill codes of features, common ones and those of entries with bins of neighbouring values.

    Returns the bins' starts, lowest and highest values.
    """
    listed, n_features, n = exact.sparse, len(exact.starts) - 1, codes.shape[1]
    starts = np.zeros(n_features + 1, dtype=np.int64)
    lowest, highest = np.empty_like(exact.lowest), np.empty_like(exact.lowest)
    n_bins = 0
    for feature in range(n_features):
        place = listed.place[feature]
        first, n_values = exact.starts[feature], exact.starts[feature + 1] - exact.starts[feature]
        counts = np.zeros(n_values, dtype=np.int64)
        if place >= 0:
            ranks, binned = _entries_of(listed, listed.codes, place), _entries_of(listed, of_rows, place)
            counts[listed.common[place]] = n - len(ranks)
        else:
            ranks, binned = exact.codes[-1 - place], codes[-1 - place]
        for rank in ranks:
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
        if place >= 0:
            common[place] = bin_of[listed.common[place]]
        for at in range(len(ranks)):
            binned[at] = bin_of[ranks[at]]
        starts[feature + 1] = n_bins
    return starts, lowest[:n_bins].copy(), highest[:n_bins].copy()


@njit(cache=True, nogil=True)
def _entries_of(listed, of_entries, place):  # noqa: ANN001, ANN202
    return of_entries[listed.starts[place] : listed.starts[place + 1]]
