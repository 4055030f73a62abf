"""Samples in which a sparse feature is above its lowest value, as bits.

A word that most documents lack says something about few samples of a node. Those of a large node are found 64 at a
time, where the bits of the feature and those of the node are both set; that a small node has none at all is seen from
the bits of all features that are set in some of its samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from fairfold.compiled import njit

WORD_BITS = 64
SPARSE_UP_TO = 0.25  # share of samples above the lowest value


class SparseCodes(NamedTuple):
    """Bits of the sparse features.

    place : (n_features,) int32, number of each feature among those that are sparse, -1 for the others.
    by_feature : (n_sparse, n_words) uint64; bit ``i`` of word ``w`` is set if sample ``64 w + i`` has a code above 0.
    by_sample : (n_samples, n_sparse_words) uint64, the same bits transposed.
    """

    place: np.ndarray
    by_feature: np.ndarray
    by_sample: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray) -> SparseCodes:
        """Bits of ``codes``, (n_features, n_samples)."""
        is_sparse = np.count_nonzero(codes, axis=1) <= SPARSE_UP_TO * codes.shape[1]
        place = np.where(is_sparse, np.cumsum(is_sparse) - 1, -1).astype(np.int32)
        is_above = codes[is_sparse] != 0
        return cls(place, _pack(is_above), _pack(is_above.T))


class NodeBits(NamedTuple):
    """Bits of a node's samples.

    mask : (n_words,) uint64, set for the samples themselves.
    union : (n_sparse_words,) uint64, set for the features that are above their lowest value in any of them.
    """

    mask: np.ndarray
    union: np.ndarray


def _pack(bits: np.ndarray) -> np.ndarray:
    """Rows of bits in whole words, the first in the lowest place."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(bits), -(-bits.shape[1] // WORD_BITS) * WORD_BITS // 8), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view("<u8").astype(np.uint64, copy=False)


@njit()
def empty_bits(sparse):  # noqa: ANN001, ANN201
    """Room for the NodeBits of a node."""
    mask = np.empty(sparse.by_feature.shape[1], dtype=np.uint64)
    return NodeBits(mask, np.empty(sparse.by_sample.shape[1], dtype=np.uint64))


@njit(boundscheck=False, counted=False)
def mark_node(sparse, rows, bits):  # noqa: ANN001, ANN201
    """Set the bits of a node's samples: the mask of large ones, the union of small ones."""
    mask, union = bits
    if len(sparse.by_feature) == 0:
        return
    if len(rows) >= len(mask):
        mask[:] = 0
        for row in rows:
            mask[row >> np.uint32(6)] |= np.uint64(1) << np.uint64(row & np.uint32(63))
    else:
        union[:] = 0
        for row in rows:
            for word in range(len(union)):
                union[word] |= sparse.by_sample[row, word]


@njit(boundscheck=False, counted=False, forceinline=True)
def list_above(sparse, place, rows, bits, found):  # noqa: ANN001, ANN201
    """A node's samples in which a sparse feature is above its lowest value, in order, into ``found``; their number."""
    if len(rows) >= len(bits.mask):
        return _list_common(sparse.by_feature[place], bits.mask, found)
    word, bit = place >> 6, np.uint64(place & 63)
    if (bits.union[word] >> bit) & np.uint64(1) == 0:
        return 0
    n_found = 0
    for row in rows:
        found[n_found] = row
        n_found += np.int64((sparse.by_sample[row, word] >> bit) & np.uint64(1))
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


@intrinsic
def _lowest_bit(typing_context, word):  # noqa: ANN001, ANN202
    """Place of the lowest bit that is set, of a word that is not 0."""

    def codegen(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen
