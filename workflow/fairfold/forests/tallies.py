"""What splits are worth where labels are small whole numbers: sums of 16-bit lanes, one for each code of a feature.

A part of weight p of a node of weight w, whose labels sum to L of T, is worth the sum over labels of (w L - p T)**2,
over p (w - p). That is w**2 (L L) - 2 w p (L T) + p**2 (T T), with products of sums that are whole numbers below 2**31,
and the whole of it is below 2**53, in the nodes in which sums are taken so (see ``fits``): these scores are the bytes
that those of :mod:`fairfold.forests.growth` are, in a third of the time. The last two lanes have the weight of a sample
and a one, so that a sum of rows is of how much and of how many, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.forests.lanes import (
    FLAGS,
    LANES,
    add_less,
    add_row,
    add_row_where,
    bits_up_to,
    extremes,
    last_pair,
    mask_block,
    no_rows,
    nonzero_bits,
    products,
    put,
    rest_of,
)
from fairfold.forests.sparse_codes import count_bits, lowest_bit

MOST_CODES = 256
RANKED_AT_MOST = 64  # samples that are sorted by comparing each with all
MASKED_AT_MOST = 256  # samples whose values are compared with a threshold; with more, it is looked up
SPLITS_AT_ONCE = 4  # that are scored while the labels of a sample are at hand
LARGEST_SMALL = 2**15  # 16 bits hold less
COUNT = np.uint32(16)  # where the number of samples begins in the last two lanes; their weight is below
WEIGHT = np.uint32(0xFFFF)


class SmallLabels(NamedTuple):
    """Labels that are whole numbers.

    rows : (n_samples, width) int16, padded with zeros to whole blocks of ``LANES``; ones in the last two.
    most : the largest size of a label.
    is_binary : whether all are 0 or 1.
    """

    rows: np.ndarray
    most: float
    is_binary: bool


class Sought(NamedTuple):
    """A node to be split: how many samples, their weight, its totals squared and summed, and the fewest on a side."""

    n: int
    whole: float
    square: float
    min_samples_leaf: int


def small_labels(Y: np.ndarray, most: float) -> SmallLabels:
    """Labels, (n_samples, n_labels) whole numbers of at most this size, with room for two lanes more."""
    rows = np.zeros((len(Y), -(-(Y.shape[1] + 2) // LANES) * LANES), dtype=np.int16)
    rows[:, : Y.shape[1]] = Y
    rows[:, -2:] = 1
    return SmallLabels(rows, most, bool(most <= 1 and (Y >= 0).all()))


class Tally(NamedTuple):
    """Labels of drawn samples times their weights, and room for sums of them.

    ``drawn`` are all rows one behind the other, ``totals`` their sum in a node, ``own`` is -1 for lanes of labels.
    ``by_code`` and ``is_seen`` are for the samples of a code, and zero between features; ``seen`` lists these codes;
    ``pairs`` and ``ends``, results of ``products`` and ``last_pair``, are of what lies up to each.
    """

    drawn: np.ndarray
    totals: np.ndarray
    own: np.ndarray
    by_code: np.ndarray
    is_seen: np.ndarray
    seen: np.ndarray
    pairs: np.ndarray
    ends: np.ndarray


@njit(cache=True, nogil=True)
def new_tally(small, weights, rows):  # noqa: ANN001, ANN201
    """Tally of these samples."""
    width = small.rows.shape[1]
    drawn = np.empty(small.rows.shape, dtype=np.int16)
    for row in rows:
        weight = np.int16(weights[row])
        for lane in range(width):
            drawn[row, lane] = weight * small.rows[row, lane]
        drawn[row, width - 1] = 1
    own = np.full(width, -1, dtype=np.int16)
    own[width - 2 :] = 0
    return Tally(
        drawn.reshape(-1),
        np.empty(width, dtype=np.int16),
        own,
        np.zeros(MOST_CODES * LANES, dtype=np.int16),
        np.zeros(MOST_CODES, dtype=np.uint8),
        np.empty(MOST_CODES, dtype=np.uintp),
        np.empty(MOST_CODES, dtype=np.int64),
        np.empty(MOST_CODES, dtype=np.uint32),
    )


@njit(cache=True, nogil=True)
def fits(whole, n_labels, most):  # noqa: ANN001, ANN201
    """Whether sums over a node of this weight, and what its splits are worth, are exact."""
    largest = whole * most
    return (
        max(whole, largest) < LARGEST_SMALL
        and n_labels * largest**2 < 2**31
        and n_labels * (whole * largest) ** 2 < 2**53
    )


@njit(cache=True, nogil=True, boundscheck=False)
def add_up_tally(tally, rows, totals):  # noqa: ANN001, ANN201
    """Sums over a node into ``tally.totals``, those of labels also into ``totals``; returns that of the weights."""
    drawn, sums = tally.drawn, tally.totals
    width = len(sums)
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)
        for row in rows:
            lanes = add_row(lanes, drawn, row * width + block)
        put(lanes, sums, block)
    for label in range(min(len(totals), width - 2)):
        totals[label] = sums[label]
    return np.float64(sums[width - 2])


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def squared_totals(totals):  # noqa: ANN001, ANN201
    """Sum of squares of a node's sums."""
    square = 0.0
    for label in range(len(totals)):
        square += totals[label] * totals[label]
    return square


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _worth(pair, ends, whole, square):  # noqa: ANN001, ANN202
    """Score of a split, from ``products`` and ``last_pair`` of one side."""
    part = np.float64(np.int32(ends & WEIGHT))
    squares, with_totals = np.float64(np.int32(pair)), np.float64(np.int32(pair >> np.int64(32)))
    imbalance = (whole * whole) * squares - 2.0 * (whole * part * with_totals) + (part * part) * square
    return imbalance / (part * (whole - part))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def best_of_codes(tally, gathered, rows, lowest, sought, scores, least):  # noqa: ANN001, ANN201
    """Score of the best split between two codes of a feature, and these codes less the lowest; -1 for none over least.

    The samples ``rows`` are looked at, with codes in ``gathered``. The others of the node have the lowest code.
    """
    n, whole, square, min_samples_leaf = sought
    n_listed = len(rows)
    drawn, totals, own, by_code, is_seen, seen, pairs, ends = tally
    width = len(totals)
    for position in range(n_listed):
        is_seen[np.uintp(gathered[position] - lowest)] = 1
    if n_listed < n:
        is_seen[0] = 1
    n_seen = _list_seen(is_seen, seen)
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)
        for position in range(n_listed):
            at = np.uintp(gathered[position] - lowest) * np.uintp(LANES)
            of_code = add_row(no_rows(drawn), by_code, at)
            put(add_row(of_code, drawn, rows[position] * width + block), by_code, at)
        if n_listed < n:
            for place in range(1, n_seen):
                lanes = add_row(lanes, by_code, seen[place])
            put(rest_of(lanes, totals, block), by_code, 0)
        lanes = no_rows(drawn)
        for place in range(n_seen):
            lanes = add_row(lanes, by_code, seen[place])
            put(no_rows(drawn), by_code, seen[place])
            pair = products(lanes, own, totals, block)
            pairs[place] = pair if block == 0 else pairs[place] + pair
            ends[place] = last_pair(lanes)
    for place in range(n_seen):
        scores[place] = _worth(pairs[place], ends[place], whole, square)
    best = -1
    for place in range(n_seen):
        n_left = np.int64(ends[place] >> COUNT)
        if scores[place] > least and n_left >= min_samples_leaf and n - n_left >= min_samples_leaf:
            least, best = scores[place], place
    if best < 0:
        return -1.0, 0, 0
    return least, seen[best] // LANES, seen[best + 1] // LANES


@njit(cache=True, nogil=True, boundscheck=False)
def _list_seen(is_seen, seen):  # noqa: ANN001, ANN202
    """Where in ``by_code`` the codes begin that are seen, in order, into ``seen``; returns their number."""
    n_seen = 0
    for first in range(0, MOST_CODES, FLAGS):
        bits = nonzero_bits(is_seen, first)
        while bits != 0:
            seen[n_seen] = (np.uint64(first) + lowest_bit(bits)) * np.uint64(LANES)
            n_seen += 1
            bits &= bits - np.uint64(1)
    is_seen[:] = 0
    return n_seen


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def rank_keys(gathered, rows, n, lowest, small_keys, ranks, keys):  # noqa: ANN001, ANN201
    """Sort up to ``RANKED_AT_MOST`` samples by code: the code in the upper half of a key, the sample in the lower.

    A sample's place is the number of samples before it, found by comparing it with all, sixteen at a time.
    """
    for position in range(n):
        small_keys[position] = np.int16((np.int64(gathered[position] - lowest) - 128) * 256 + position)
    for block in range(0, n, LANES):
        before = no_rows(small_keys)
        for position in range(n):
            before = add_less(before, small_keys, block, small_keys[position])
        put(before, ranks, block)
    for position in range(n):
        key = (np.uint64(gathered[position]) << np.uint64(32)) | np.uint64(rows[position])
        keys[np.uintp(np.uint16(ranks[position]))] = key


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def best_of_sorted(tally, keys, sought, scores, least):  # noqa: ANN001, ANN201
    """Score of the best split between two codes, and how many samples lie on the left; -1 for none over least."""
    drawn, totals, own, pairs, ends = tally.drawn, tally.totals, tally.own, tally.pairs, tally.ends
    n, whole, square, fewest = sought
    width = len(totals)
    count = n - 2 * fewest + 1
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)
        for at in range(fewest - 1):
            lanes = add_row(lanes, drawn, np.uint32(keys[at]) * width + block)
        for candidate in range(count):
            lanes = add_row(lanes, drawn, np.uint32(keys[candidate + fewest - 1]) * width + block)
            pair = products(lanes, own, totals, block)
            pairs[candidate] = pair if block == 0 else pairs[candidate] + pair
            ends[candidate] = last_pair(lanes)
    for candidate in range(count):
        scores[candidate] = _worth(pairs[candidate], ends[candidate], whole, square)
    best = -1
    for candidate in range(count):
        if scores[candidate] > least:
            end = candidate + fewest
            if keys[end - 1] >> np.uint64(32) != keys[end] >> np.uint64(32):
                least, best = scores[candidate], end
    return (least, best) if best >= 0 else (-1.0, 0)


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def gather_numbers(numbers, column, rows, gathered):  # noqa: ANN001, ANN201
    """Numbers of the samples in one feature into ``gathered``; returns the lowest and the highest."""
    for position in range(len(rows)):
        gathered[position] = numbers[rows[position], np.uintp(column)]
    return extremes(gathered, len(rows))


@njit(cache=True, nogil=True, forceinline=True)
def _flip(number):  # noqa: ANN001, ANN202
    """From the bits of a floating-point number to a whole number in the order of these, and back."""
    return np.int32(number ^ ((number >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@njit(cache=True, nogil=True, forceinline=True)
def value_of(number):  # noqa: ANN001, ANN201
    """The single-precision value of one of ``BinnedMatrix.numbers``."""
    return np.int32(_flip(number)).view(np.float32)


@njit(cache=True, nogil=True, forceinline=True)
def last_number(at):  # noqa: ANN001, ANN201
    """That of the largest single-precision value that is at most ``at``."""
    value = np.float32(at)
    number = _flip(value.view(np.int32))
    return np.int32(number - 1) if value > at else number


@njit(cache=True, nogil=True, forceinline=True)
def _first_bits(n):  # noqa: ANN001, ANN202
    """A word with so many bits set, all if there are fewer."""
    return ~np.uint64(0) >> np.uint64(max(FLAGS - n, 0))


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def mark_up_to(gathered, n, cut, marks):  # noqa: ANN001, ANN201
    """Bits of ``n`` samples whose code is at most the cut into ``marks``; returns their number."""
    n_left = 0
    for word in range((n + FLAGS - 1) // FLAGS):
        bits = bits_up_to(gathered, word * FLAGS, cut) & _first_bits(n - word * FLAGS)
        marks[word] = bits
        n_left += np.int64(count_bits(bits))
    return n_left


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def score_marked(tally, rows, marks, others, sought):  # noqa: ANN001, ANN201
    """What a split is worth, from the samples on one side of it: those that are marked, or the others."""
    drawn, totals, own = tally.drawn, tally.totals, tally.own
    width, n, pair, ends = len(totals), len(rows), np.int64(0), np.uint32(0)
    for block in range(0, width, LANES):
        lanes = no_rows(drawn)
        for word in range((n + FLAGS - 1) // FLAGS):
            first = word * FLAGS
            bits = marks[word] ^ _first_bits(n - first) if others else marks[word]
            while bits != 0:
                row = rows[np.uintp(first) + np.uintp(lowest_bit(bits))]
                lanes = add_row(lanes, drawn, row * width + block)
                bits &= bits - np.uint64(1)
        pair += products(lanes, own, totals, block)
        ends = last_pair(lanes)
    return _worth(pair, ends, sought.whole, sought.square)


@njit(cache=True, nogil=True, boundscheck=False, forceinline=True)
def mask_up_to(gathered, n, cut, masks, split):  # noqa: ANN001, ANN201
    """The row of ``masks``, (n_splits * MASKED_AT_MOST,), for a split: -1 for samples up to the cut, 0 for others.

    Returns the number of the former.
    """
    n_left = 0
    for first in range(0, n, LANES):
        bits = mask_block(gathered, first, cut, masks, split * MASKED_AT_MOST + first)
        n_left += np.int64(count_bits(bits & _first_bits(n - first)))
    return n_left


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", forceinline=True)
def score_masked(tally, rows, masks, n_splits, sought, scores):  # noqa: ANN001, ANN201
    """What splits are worth whose masks these are.

    There is room for ``SPLITS_AT_ONCE - 1`` more behind the last mask and the last score.
    """
    drawn, totals, own = tally.drawn, tally.totals, tally.own
    width, n = len(totals), len(rows)
    for split in range(0, n_splits, SPLITS_AT_ONCE):
        a = split * MASKED_AT_MOST
        b, c, d = a + MASKED_AT_MOST, a + 2 * MASKED_AT_MOST, a + 3 * MASKED_AT_MOST
        pair_a = pair_b = pair_c = pair_d = np.int64(0)
        ends_a = ends_b = ends_c = ends_d = np.uint32(0)
        for block in range(0, width, LANES):
            of_a = of_b = of_c = of_d = no_rows(drawn)
            for position in range(n):
                row = rows[position] * width + block
                of_a = add_row_where(of_a, drawn, row, masks, a + position)
                of_b = add_row_where(of_b, drawn, row, masks, b + position)
                of_c = add_row_where(of_c, drawn, row, masks, c + position)
                of_d = add_row_where(of_d, drawn, row, masks, d + position)
            pair_a, ends_a = pair_a + products(of_a, own, totals, block), last_pair(of_a)
            pair_b, ends_b = pair_b + products(of_b, own, totals, block), last_pair(of_b)
            pair_c, ends_c = pair_c + products(of_c, own, totals, block), last_pair(of_c)
            pair_d, ends_d = pair_d + products(of_d, own, totals, block), last_pair(of_d)
        scores[split] = _worth(pair_a, ends_a, sought.whole, sought.square)
        scores[split + 1] = _worth(pair_b, ends_b, sought.whole, sought.square)
        scores[split + 2] = _worth(pair_c, ends_c, sought.whole, sought.square)
        scores[split + 3] = _worth(pair_d, ends_d, sought.whole, sought.square)
