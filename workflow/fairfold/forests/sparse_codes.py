"""Features in which most samples have one code, kept as lists of the others.

A word that most documents lack says something about few samples of a node. In a large node they are found among the
samples listed for the word: one by one where these are few, and 64 at a time where they are many, from bits of the
feature and of the node. That a small node has none at all is seen from the bits of all features that some of its
samples have.

Memory grows with the entries, which are these samples of all features: 4 bytes and the size of a code for each; 12
bytes at most for the bits of the features with many of them; and 16 at most, or 1 bit per cell where that is less, for
the bits of the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from scipy import sparse

from fairfold.compiled import njit

WORD_BITS = 64
SPARSE_UP_TO = 0.25  # share of samples with another code than most
ENTRIES_PER_WORD = 1.0  # a feature with so many per word of bits has them
SIGNATURE_BITS = 128  # at most so many for each entry


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
    bits_at : (n_sparse,) int32, number of each feature among those that have bits, -1 for the others.
    bits : (n_with_bits, n_words) uint64; bit ``i`` of word ``w`` is set if sample ``64 w + i`` is listed.
    before : (n_with_bits, n_words) uint32, how many of its entries are in the words before.
    signatures : (n_samples, n_signature_words) uint64; bit ``place & fold`` is set for the features of its entries.
    fold : bits that a place keeps, all unless there are many more features than a sample has entries. Features that
        share a bit are told apart by their entries.
    """

    place: np.ndarray
    common: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    bits_at: np.ndarray
    bits: np.ndarray
    before: np.ndarray
    signatures: np.ndarray
    fold: int

    @classmethod
    def of(
        cls,
        place: np.ndarray,
        common: np.ndarray,
        starts: np.ndarray,
        rows: np.ndarray,
        codes: np.ndarray,
        n_samples: int,
    ) -> SparseCodes:
        """With the bits of these entries; see the class for the arguments."""
        n_words = -(-n_samples // WORD_BITS)
        has_bits = np.diff(starts) >= max(1, ENTRIES_PER_WORD * n_words)
        bits_at = np.where(has_bits, np.cumsum(has_bits) - 1, -1).astype(np.int32)
        bits = np.zeros((np.count_nonzero(has_bits), n_words), dtype=np.uint64)
        width, fold = _signature_width(len(common), -(-len(rows) // max(1, n_samples)))
        signatures = np.zeros((n_samples, width), dtype=np.uint64)
        before = np.zeros(bits.shape, dtype=np.uint32)
        filled = cls(place, common, starts, rows, codes, bits_at, bits, before, signatures, fold)
        _set_bits(filled)
        return filled

    def recoded(self, common: np.ndarray, codes: np.ndarray) -> SparseCodes:
        """The same features with other codes; entries whose code is now the common one are dropped."""
        place_of = np.repeat(np.arange(len(common)), np.diff(self.starts))
        is_other = codes != common[place_of]
        if is_other.all():
            return self._replace(common=common, codes=codes)
        starts = np.cumsum(np.append(0, np.bincount(place_of[is_other], minlength=len(common))))
        return self.of(self.place, common, starts, self.rows[is_other], codes[is_other], len(self.signatures))

    def samples(self, chosen: np.ndarray) -> SparseCodes:
        """Some of the samples."""
        shape = (len(self.signatures), len(self.common))
        some = sparse.csc_array((self.codes, self.rows, self.starts), shape=shape)[chosen]
        some.sort_indices()
        entries = some.indptr.astype(np.int64), some.indices.astype(np.uint32), some.data
        return self.of(self.place, self.common, *entries, len(chosen))

    def codes_of(self, place: int) -> np.ndarray:
        """(n_samples,) codes of one of the features."""
        codes = np.full(len(self.signatures), self.common[place])
        entries = slice(self.starts[place], self.starts[place + 1])
        codes[self.rows[entries]] = self.codes[entries]
        return codes


class NodeBits(NamedTuple):
    """Bits of a node's samples.

    mask : (n_words,) uint64, set for the samples themselves.
    union : (n_signature_words,) uint64, set for what is set in the signature of any of them.
    """

    mask: np.ndarray
    union: np.ndarray


def _signature_width(n_sparse: int, entries_per_sample: int) -> tuple[int, int]:
    """Words of a signature, and which bits of a place are kept: the last ones, or all."""
    kept = max(SIGNATURE_BITS * entries_per_sample, WORD_BITS)
    kept = 1 << (kept.bit_length() - 1)
    return (-(-n_sparse // WORD_BITS), -1) if n_sparse <= kept else (kept // WORD_BITS, kept - 1)


@njit(boundscheck=False)
def _set_bits(sparse):  # noqa: ANN001, ANN202
    """Set the bits of all entries, and count those before each word."""
    for place in range(len(sparse.common)):
        folded, at = place & sparse.fold, sparse.bits_at[place]
        word, bit = folded >> 6, np.uint64(1) << np.uint64(folded & 63)
        for entry in range(sparse.starts[place], sparse.starts[place + 1]):
            row = sparse.rows[entry]
            sparse.signatures[row, word] |= bit
            if at >= 0:
                sparse.bits[at, row >> np.uint32(6)] |= np.uint64(1) << np.uint64(row & np.uint32(63))
    for at in range(len(sparse.bits)):
        n_before = 0
        for word in range(sparse.bits.shape[1]):
            sparse.before[at, word] = n_before
            n_before += np.int64(_count_bits(sparse.bits[at, word]))


@njit()
def empty_bits(sparse):  # noqa: ANN001, ANN201
    """Room for the NodeBits of a node."""
    mask = np.empty(sparse.bits.shape[1], dtype=np.uint64)
    return NodeBits(mask, np.empty(sparse.signatures.shape[1], dtype=np.uint64))


@njit(boundscheck=False, counted=False)
def mark_node(sparse, rows, bits):  # noqa: ANN001, ANN201
    """Set the bits of a node's samples: the mask of large ones, the union of small ones."""
    mask, union = bits
    if len(sparse.common) == 0:
        return
    if len(rows) >= len(mask):
        mask[:] = 0
        for row in rows:
            mask[row >> np.uint32(6)] |= np.uint64(1) << np.uint64(row & np.uint32(63))
    else:
        union[:] = 0
        for row in rows:
            for word in range(len(union)):
                union[word] |= sparse.signatures[row, word]


@njit(boundscheck=False, counted=False, forceinline=True)
def list_others(sparse, place, n_codes, rows, bits, found, codes):  # noqa: ANN001, ANN201
    """A node's samples with another code of a sparse feature than most have, in order, into ``found``; their number.

    Their codes go into ``codes``. The feature has ``n_codes`` in all.
    """
    if len(rows) < len(bits.mask):
        folded = place & sparse.fold
        word, bit = folded >> 6, np.uint64(folded & 63)
        if (bits.union[word] >> bit) & np.uint64(1) == 0:
            return 0
        n_found = 0
        for row in rows:
            found[n_found] = row
            n_found += np.int64((sparse.signatures[row, word] >> bit) & np.uint64(1))
        if n_codes > 2 or sparse.fold >= 0:
            return _keep_listed(sparse, place, n_found, found, codes)
    elif sparse.bits_at[place] >= 0:
        n_found = _list_common(sparse.bits[sparse.bits_at[place]], bits.mask, found)
        if n_codes > 2:
            return _keep_listed(sparse, place, n_found, found, codes)
    else:
        return _list_entries(sparse, place, bits.mask, found, codes)
    codes[:n_found] = 1 - sparse.common[place]
    return n_found


@njit(boundscheck=False, counted=False)
def _list_common(bits, mask, found):  # noqa: ANN001, ANN202
    n_found = 0
    for word in range(len(mask)):
        common = bits[word] & mask[word]
        first = np.uint64(word) << np.uint64(6)
        while common != 0:
            found[n_found] = np.uint32(first + _lowest_bit(common))
            n_found += 1
            common &= common - np.uint64(1)
    return n_found


@njit(boundscheck=False, counted=False)
def _list_entries(sparse, place, mask, found, codes):  # noqa: ANN001, ANN202
    n_found = 0
    for entry in range(sparse.starts[place], sparse.starts[place + 1]):
        row = sparse.rows[entry]
        found[n_found], codes[n_found] = row, sparse.codes[entry]
        n_found += np.int64((mask[row >> np.uint32(6)] >> np.uint64(row & np.uint32(63))) & np.uint64(1))
    return n_found


@njit(boundscheck=False, counted=False)
def _keep_listed(sparse, place, n, found, codes):  # noqa: ANN001, ANN202
    """Of ``n`` samples in ``found`` keep those that are listed, and their codes; returns their number."""
    n_found, at = 0, sparse.starts[place]
    for position in range(n):
        row = found[position]
        at, is_listed = find_entry(sparse, place, row, at)
        if is_listed:
            found[n_found], codes[n_found] = row, sparse.codes[at]
            n_found += 1
    return n_found


@njit(boundscheck=False, counted=False, forceinline=True)
def find_entry(sparse, place, row, at):  # noqa: ANN001, ANN201
    """The entry of a sample, and whether it has one.

    Where the feature has no bits, entries from ``at`` on are searched, and that of a later sample is returned if it has
    none, from which to go on with later samples.
    """
    bits_at = sparse.bits_at[place]
    if bits_at >= 0:
        word, bit = row >> np.uint32(6), np.uint64(1) << np.uint64(row & np.uint32(63))
        bits = sparse.bits[bits_at, word]
        n_before = np.int64(sparse.before[bits_at, word]) + np.int64(_count_bits(bits & (bit - np.uint64(1))))
        return sparse.starts[place] + n_before, bits & bit != 0
    end, step = sparse.starts[place + 1], 1
    while at + step <= end and sparse.rows[at + step - 1] < row:
        at += step
        step *= 2
    end = min(end, at + step - 1)
    while at < end:
        middle = (at + end) >> 1
        if sparse.rows[middle] < row:
            at = middle + 1
        else:
            end = middle
    return at, at < sparse.starts[place + 1] and sparse.rows[at] == row


@intrinsic
def _lowest_bit(typing_context, word):  # noqa: ANN001, ANN202
    """Place of the lowest bit that is set, of a word that is not 0."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _count_bits(typing_context, word):  # noqa: ANN001, ANN202
    """How many bits are set."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen
