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
from numba import njit
from numba.core import types
from numba.extending import intrinsic
from scipy import sparse

WORD_BITS = 64
SPARSE_UP_TO = 0.25  # share of samples with another code than most
ENTRIES_PER_WORD = 1.0  # a feature with so many per word of bits has them
SIGNATURE_BITS = 128  # at most so many for each entry
MANY_SHARE = 8  # a node with one of so many samples has many


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
    signatures : (n_samples, n_signature_words) uint64, bits of the features in whose entries a sample is.
    signed_at : (n_sparse,) int32, which bit is that of each feature. Where there are many more features than a sample
        has entries, some share one, and are told apart by their entries.
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
    signed_at: np.ndarray

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
        before = np.zeros(bits.shape, dtype=np.uint32)
        enough = SIGNATURE_BITS * len(rows) // (WORD_BITS * max(1, n_samples))
        width = min(-(-len(common) // WORD_BITS), max(1, enough))
        signatures = np.zeros((n_samples, width), dtype=np.uint64)
        signed_at = (np.arange(len(common)) % max(1, width * WORD_BITS)).astype(np.int32)
        filled = cls(place, common, starts, rows, codes, bits_at, bits, before, signatures, signed_at)
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


@njit(cache=True, nogil=True, boundscheck=False)
def _set_bits(sparse):  # noqa: ANN001, ANN202
    """Set the bits of all entries, and count those before each word."""
    for place in range(len(sparse.common)):
        signed_at, at = sparse.signed_at[place], sparse.bits_at[place]
        word, bit = signed_at >> 6, np.uint64(1) << np.uint64(signed_at & 63)
        for entry in range(sparse.starts[place], sparse.starts[place + 1]):
            row = sparse.rows[entry]
            sparse.signatures[row, word] |= bit
            if at >= 0:
                sparse.bits[at, row >> np.uint32(6)] |= np.uint64(1) << np.uint64(row & np.uint32(63))
    for at in range(len(sparse.bits)):
        n_before = 0
        for word in range(sparse.bits.shape[1]):
            sparse.before[at, word] = n_before
            n_before += np.int64(count_bits(sparse.bits[at, word]))


@njit(cache=True, nogil=True)
def empty_bits(sparse):  # noqa: ANN001, ANN201
    """Room for the NodeBits of a node."""
    mask = np.empty(sparse.bits.shape[1], dtype=np.uint64)
    return NodeBits(mask, np.empty(sparse.signatures.shape[1], dtype=np.uint64))


@njit(cache=True, nogil=True, boundscheck=False)
def mark_node(signatures, rows, bits):  # noqa: ANN001, ANN201
    """Set the bits of a node's samples: the mask of large ones, the union of small ones."""
    mask, union = bits
    if len(union) == 0:
        return
    if len(rows) >= len(mask):
        mask[:] = 0
        for row in rows:
            mask[row >> np.uint32(6)] |= np.uint64(1) << np.uint64(row & np.uint32(63))
    else:
        union[:] = 0
        for row in rows:
            for word in range(len(union)):
                union[word] |= signatures[row, word]


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def list_others(sparse, place, n_codes, rows, bits, found, codes):  # noqa: ANN001, ANN201
    """A node's samples with another code of a sparse feature than most have, in order, into ``found``; their number.

    Their codes go into ``codes``. The feature has ``n_codes`` in all.
    """
    is_large = len(rows) >= len(bits.mask)
    if not is_large:
        signed_at = np.uint32(sparse.signed_at[place])
        if not _bit(bits.union, signed_at):
            return 0
    bits_at, is_known = sparse.bits_at[place], True
    if is_large and bits_at >= 0:
        n_found = _list_common(sparse.bits[bits_at], bits.mask, found)
    elif is_large:
        listed = sparse.rows[sparse.starts[place] : sparse.starts[place + 1]]
        listed_codes = sparse.codes[sparse.starts[place] : sparse.starts[place + 1]]
        if MANY_SHARE * len(rows) > len(sparse.signatures):
            return _list_of_many(listed, listed_codes, bits.mask, found, codes)
        return _list_of_few(listed, listed_codes, bits.mask, found, codes)
    else:
        n_found = _list_signed(sparse.signatures, signed_at, rows, found)
        is_known = has_own_bits(sparse)
        if bits_at >= 0 and not is_known:
            n_found, is_known = _keep_listed(sparse.bits[bits_at], n_found, found), True
    if n_found == 0:
        return 0
    if n_codes == 2 and is_known:
        codes[:n_found] = 1 - sparse.common[place]
        return n_found
    listed_codes = sparse.codes[sparse.starts[place] : sparse.starts[place + 1]]
    if bits_at >= 0:
        _look_up_ranks(sparse.bits[bits_at], sparse.before[bits_at], listed_codes, found, n_found, codes)
        return n_found
    listed = sparse.rows[sparse.starts[place] : sparse.starts[place + 1]]
    return _search_listed(listed, listed_codes, n_found, found, codes)


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def has_own_bits(sparse):  # noqa: ANN001, ANN201
    """Whether no features share a bit of the signatures."""
    return len(sparse.signed_at) <= 64 * sparse.signatures.shape[1]


@njit(cache=True, nogil=True, boundscheck=False)
def _list_signed(signatures, signed_at, rows, found):  # noqa: ANN001, ANN202
    """The samples in whose signature the bit is set."""
    word, bit, n_found = np.uintp(signed_at >> 6), np.uint64(signed_at & np.uint32(63)), 0
    for row in rows:
        found[n_found] = row
        n_found += np.int64((signatures[row, word] >> bit) & np.uint64(1))
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def _list_common(bits, mask, found):  # noqa: ANN001, ANN202
    n_found = 0
    for word in range(len(mask)):
        common = bits[word] & mask[word]
        first = np.uint64(word) << np.uint64(6)
        while common != 0:
            found[n_found] = np.uint32(first + lowest_bit(common))
            n_found += 1
            common &= common - np.uint64(1)
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def _list_of_many(listed, listed_codes, mask, found, codes):  # noqa: ANN001, ANN202
    """The listed samples that are in a node of so many that a processor would guess wrong."""
    n_found = 0
    for entry in range(len(listed)):
        row = listed[entry]
        found[n_found], codes[n_found] = row, listed_codes[entry]
        n_found += np.int64(_bit(mask, row))
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def _list_of_few(listed, listed_codes, mask, found, codes):  # noqa: ANN001, ANN202
    """The same for a node in which few of them are."""
    n_found = 0
    for entry in range(len(listed)):
        row = listed[entry]
        if _bit(mask, row):
            found[n_found], codes[n_found] = row, listed_codes[entry]
            n_found += 1
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def _keep_listed(bits, n, found):  # noqa: ANN001, ANN202
    """Of ``n`` samples in ``found``, those whose bit is set stay; returns their number."""
    n_found = 0
    for position in range(n):
        row = found[position]
        found[n_found] = row
        n_found += np.int64(_bit(bits, row))
    return n_found


@njit(cache=True, nogil=True, boundscheck=False)
def _look_up_ranks(bits, before, listed_codes, found, n, codes):  # noqa: ANN001, ANN202
    """Codes of ``n`` samples that are listed."""
    for position in range(n):
        codes[position] = listed_codes[_rank(bits, before, found[position])]


@njit(cache=True, nogil=True, boundscheck=False)
def _search_listed(listed, listed_codes, n, found, codes):  # noqa: ANN001, ANN202
    """Of ``n`` samples in ``found``, those that are listed stay; their codes are looked up. Returns their number."""
    n_found = at = 0
    for position in range(n):
        row = found[position]
        at = _first_from(listed, at, row)
        if at < len(listed) and listed[at] == row:
            found[n_found], codes[n_found] = row, listed_codes[at]
            n_found += 1
    return n_found


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def partition_sparse(sparse, place, n_codes, cut, rows, mask, side):  # noqa: ANN001, ANN201
    """Move samples with codes of a sparse feature up to ``cut`` to the front, in order; returns their number.

    ``mask`` and ``side`` are room for bits of all samples, and for as many as there are.
    """
    first, end, bits_at = sparse.starts[place], sparse.starts[place + 1], sparse.bits_at[place]
    common_goes_left = sparse.common[place] <= cut
    if bits_at >= 0 and n_codes == 2:
        return _partition_by_bits(sparse.bits[bits_at], common_goes_left, rows, side)
    listed, listed_codes = sparse.rows[first:end], sparse.codes[first:end]
    if end - first <= len(rows):
        _mark_moved(listed, listed_codes, cut, common_goes_left, mask)
        return _partition_by_bits(mask, common_goes_left, rows, side)
    if bits_at >= 0:
        bits, before = sparse.bits[bits_at], sparse.before[bits_at]
        return _partition_by_ranks(bits, before, listed_codes, cut, common_goes_left, rows, side)
    signed_at = np.uint32(sparse.signed_at[place])
    return _partition_by_signatures(
        sparse.signatures, signed_at, listed, listed_codes, cut, common_goes_left, rows, side
    )


@njit(cache=True, nogil=True, boundscheck=False)
def _mark_moved(listed, listed_codes, cut, common_goes_left, mask):  # noqa: ANN001, ANN202
    """Set the bits of listed samples that go to another side than most."""
    mask[:] = 0
    for entry in range(len(listed)):
        is_moved = np.uint64((listed_codes[entry] <= cut) != common_goes_left)
        mask[listed[entry] >> np.uint32(6)] |= is_moved << np.uint64(listed[entry] & np.uint32(63))


@njit(cache=True, nogil=True, boundscheck=False)
def _partition_by_bits(is_moved, common_goes_left, rows, side):  # noqa: ANN001, ANN202
    n_left = n_right = 0
    for position in range(len(rows)):
        row = rows[position]
        goes_left = (_bit(is_moved, row) != 0) != common_goes_left
        rows[n_left] = side[n_right] = row
        n_left += goes_left
        n_right += not goes_left
    _copy_behind(rows, n_left, side, n_right)
    return n_left


@njit(cache=True, nogil=True, boundscheck=False)
def _partition_by_ranks(bits, before, listed_codes, cut, common_goes_left, rows, side):  # noqa: ANN001, ANN202
    n_left = n_right = 0
    for position in range(len(rows)):
        row, goes_left = rows[position], common_goes_left
        if _bit(bits, row):
            goes_left = listed_codes[_rank(bits, before, row)] <= cut
        rows[n_left] = side[n_right] = row
        n_left += goes_left
        n_right += not goes_left
    _copy_behind(rows, n_left, side, n_right)
    return n_left


@njit(cache=True, nogil=True, boundscheck=False)
def _partition_by_signatures(signatures, signed_at, listed, listed_codes, cut, common_goes_left, rows, side):  # noqa: ANN001, ANN202
    n_left = n_right = at = 0
    word, bit = np.uintp(signed_at >> 6), np.uint64(signed_at & np.uint32(63))
    for position in range(len(rows)):
        row, goes_left = rows[position], common_goes_left
        if (signatures[row, word] >> bit) & np.uint64(1):
            at = _first_from(listed, at, row)
            if at < len(listed) and listed[at] == row:
                goes_left = listed_codes[at] <= cut
        rows[n_left] = side[n_right] = row
        n_left += goes_left
        n_right += not goes_left
    _copy_behind(rows, n_left, side, n_right)
    return n_left


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def _copy_behind(rows, n_left, side, n_right):  # noqa: ANN001, ANN202
    for position in range(n_right):
        rows[n_left + position] = side[position]


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def _bit(bits, row):  # noqa: ANN001, ANN202
    return (bits[row >> np.uint32(6)] >> np.uint64(row & np.uint32(63))) & np.uint64(1)


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def _rank(bits, before, row):  # noqa: ANN001, ANN202
    """How many samples are listed before this one."""
    word, bit = row >> np.uint32(6), np.uint64(1) << np.uint64(row & np.uint32(63))
    return np.uintp(before[word]) + np.uintp(count_bits(bits[word] & (bit - np.uint64(1))))


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def _first_from(rows, at, row):  # noqa: ANN001, ANN202
    """Place of the first sample from ``at`` on that is not before this one, by steps of twice the length each."""
    end, step = len(rows), 1
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


@intrinsic
def lowest_bit(typing_context, word):  # noqa: ANN001, ANN201
    """Place of the lowest bit that is set, of a word that is not 0."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def count_bits(typing_context, word):  # noqa: ANN001, ANN201
    """How many bits are set."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen
