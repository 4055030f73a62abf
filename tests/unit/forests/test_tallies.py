"""Sums of 16-bit lanes give the trees that sums in single precision do."""

import numpy as np
import pytest
from numba import njit

from fairfold.forests.binning import BinnedMatrix, distinct_values
from fairfold.forests.growth import grow_tree
from fairfold.forests.lanes import FLAGS, LANES, add_less, add_row, last_pair, no_rows, products, put
from fairfold.forests.tallies import (
    MASKED_AT_MOST,
    SPLITS_AT_ONCE,
    Sought,
    fits,
    gather_numbers,
    last_number,
    mark_up_to,
    mask_up_to,
    new_tally,
    score_masked,
    small_labels,
    value_of,
)
from fairfold.forests.trees import MultilabelForest


@njit
def _block_products(rows, own, totals):
    lanes = no_rows(rows)
    for row in range(len(rows) // LANES):
        lanes = add_row(lanes, rows, row * LANES)
    return products(lanes, own, totals, 0), last_pair(lanes)


@njit
def _ranks(keys, n, ranks):
    for block in range(0, n, LANES):
        before = no_rows(keys)
        for position in range(n):
            before = add_less(before, keys, block, keys[position])
        put(before, ranks, block)


@njit
def _marks(codes, n, cut, marks):
    return mark_up_to(codes, n, cut, marks)


@njit
def _gather(numbers, column, rows, gathered):
    return gather_numbers(numbers, column, rows, gathered)


@njit
def _masks(numbers, n, cut, masks, split):
    return mask_up_to(numbers, n, cut, masks, split)


@njit
def _scores(small, weights, rows, masks, n_splits, sought, scores):
    tally = new_tally(small, weights, rows)
    for lane in range(len(tally.totals)):
        tally.totals[lane] = 0
        for row in rows:
            tally.totals[lane] += tally.drawn[row * len(tally.totals) + lane]
    score_masked(tally, rows, masks, n_splits, sought, scores)


@njit
def _there_and_back(at):
    number = last_number(at)
    return number, value_of(number)


def test_products_of_a_sum_of_rows():
    rng = np.random.default_rng(0)
    rows, totals = rng.integers(-30, 30, (9, LANES)), rng.integers(-3000, 3000, LANES)
    rows[:, -2:] = 7, 1
    own = np.repeat([-1, 0], [LANES - 2, 2])
    pair, ends = _block_products(*(part.astype(np.int16).ravel() for part in (rows, own, totals)))
    sums = rows.sum(axis=0)[:-2]
    assert np.array([pair]).view(np.int32).tolist() == [(sums**2).sum(), (sums * totals[:-2]).sum()]
    assert (ends & 0xFFFF, ends >> 16) == (63, 9)


def test_ranks_are_those_of_a_sort():
    keys = np.zeros(48, dtype=np.int16)
    keys[:37] = np.random.default_rng(1).permutation(2**16)[:37] - 2**15
    ranks = np.empty(48, dtype=np.int16)
    _ranks(keys, 37, ranks)
    np.testing.assert_array_equal(ranks[:37], np.argsort(np.argsort(keys[:37])))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("n", [1, 63, 64, 150])
def test_marks_are_the_codes_up_to_the_cut(dtype, n):
    codes = np.random.default_rng(n).integers(0, 255, n + 64).astype(dtype)
    marks = np.zeros(3, dtype=np.uint64)
    expected = codes[:n] <= 200
    assert _marks(codes, n, dtype(200), marks) == expected.sum()
    np.testing.assert_array_equal(np.unpackbits(marks.view(np.uint8), bitorder="little")[:n], expected)
    assert not np.unpackbits(marks.view(np.uint8), bitorder="little")[n:].any()


@pytest.mark.parametrize("n", [1, 15, 16, 17, MASKED_AT_MOST])
def test_masks_and_extremes_of_gathered_numbers(n):
    rng = np.random.default_rng(n)
    numbers, gathered = rng.integers(-90, 90, (300, 2), dtype=np.int32), np.empty(n + FLAGS, dtype=np.int32)
    rows = rng.permutation(300)[:n].astype(np.uint32)
    masks = np.full(2 * MASKED_AT_MOST, 7, dtype=np.int16)
    of_node = numbers[rows, 1]
    assert _gather(numbers, 1, rows, gathered) == (of_node.min(), of_node.max())
    assert _masks(gathered, n, np.int32(10), masks, 1) == (of_node <= 10).sum()
    np.testing.assert_array_equal(masks[MASKED_AT_MOST:][:n], np.where(of_node <= 10, -1, 0))
    assert (masks[:MASKED_AT_MOST] == 7).all()


@pytest.mark.parametrize("n_labels", [3, 20])
@pytest.mark.parametrize("n_splits", [1, SPLITS_AT_ONCE, SPLITS_AT_ONCE + 2])
def test_masked_splits_are_worth_what_they_reduce_of_the_variance(n_labels, n_splits):
    rng = np.random.default_rng(n_splits)
    Y, weights = rng.integers(0, 2, (80, n_labels)), rng.integers(1, 4, 80).astype(float)
    rows = rng.permutation(80)[:45].astype(np.uint32)
    is_left = rng.random((n_splits, 45)) < 0.4
    masks = np.zeros((n_splits + SPLITS_AT_ONCE - 1, MASKED_AT_MOST), dtype=np.int16)
    masks[:n_splits, :45] = -is_left.astype(np.int16)
    whole, total = weights[rows].sum(), weights[rows] @ Y[rows]
    scores = np.empty(n_splits + SPLITS_AT_ONCE - 1)
    sought = Sought(45, whole, float((total**2).sum()), 1)
    _scores(small_labels(Y, 1.0), weights, rows, masks.ravel(), n_splits, sought, scores)
    for split in range(n_splits):
        left = rows[is_left[split]]
        part = weights[left].sum()
        expected = ((whole * (weights[left] @ Y[left]) - part * total) ** 2).sum() / (part * (whole - part))
        assert scores[split] == expected


def test_numbers_are_in_the_order_of_values():
    rng = np.random.default_rng(2)
    values = np.unique(np.append(rng.normal(size=500) * 10.0 ** rng.integers(-40, 38, 500), 0).astype(np.float32))
    numbers = BinnedMatrix.from_matrix(values[:, np.newaxis]).numbers[:, 0]
    assert (np.diff(numbers) > 0).all()
    for number, value in zip(numbers, values, strict=True):
        assert _there_and_back(np.float64(value)) == (number, value)
    for at in (values[:-1] / 2.0 + values[1:] / 2.0).astype(np.float64):
        np.testing.assert_array_equal(numbers <= _there_and_back(at)[0], values <= at)


@pytest.mark.parametrize("n", [1, 5, 3000])
def test_distinct_values_are_numpys(n):
    rng = np.random.default_rng(n)
    for column in (rng.normal(size=n), rng.integers(-3, 3, n), np.zeros(n), -rng.random(n) * 1e30):
        values, ranks = distinct_values(column.astype(np.float32))
        expected = np.unique(column.astype(np.float32), return_inverse=True)
        np.testing.assert_array_equal(values, expected[0])
        np.testing.assert_array_equal(ranks, expected[1])
    values, ranks = distinct_values(np.array([0.0, -0.0, -1.0], dtype=np.float32))
    assert ranks.tolist() == [1, 1, 0]
    assert not np.signbit(values[1])


def test_nodes_that_fit_are_exact():
    """No product or score that is made reaches what its type holds."""
    for n_labels, most in ((1, 1), (14, 1), (120, 1), (20, 7)):
        whole = max(w for w in range(1, 2**15) if fits(w, n_labels, most))
        assert whole * most < 2**15
        assert n_labels * (whole * most) ** 2 < 2**31
        assert n_labels * whole**4 * most**2 < 2**53
        assert not fits(whole + 1, n_labels, most)


@pytest.mark.parametrize("kind", ["random_forest", "extra_trees"])
@pytest.mark.parametrize("labels", ["binary", "many", "signed"])
def test_trees_are_those_of_sums_in_single_precision(kind, labels):
    """Dense and sparse features; the largest nodes have too many draws for whole numbers."""
    rng = np.random.default_rng(3)
    n, n_labels = (12_000, 3) if labels == "binary" else (900, 40)
    X = np.column_stack(
        [
            rng.normal(size=(n, 2)),
            rng.integers(0, 5, n),
            rng.random((n, 2)) < 0.04,
            np.where(rng.random(n) < 0.15, rng.integers(1, 300, n), 0),
        ]
    )
    latent = X[:, [0]] * rng.normal(size=n_labels) + X[:, [2]] - 2 + rng.normal(size=(n, n_labels))
    Y = np.clip(np.rint(latent), -3, 3) if labels == "signed" else (latent > 0.6).astype(float)
    forest = MultilabelForest(kind, max_features=4, max_samples=1.0, min_samples_leaf=3, random_state=0)
    matrix = BinnedMatrix.from_matrix(X)
    features, target = matrix.for_kind(kind), forest._target(matrix, Y)
    assert fits(target.rules.n_draws, n_labels, np.abs(Y).max()) == (labels != "binary")
    found, expected = (
        grow_tree(*features, target.padded, small, n_labels, target.rules, target.pool, np.uint64(5))
        for small in (target.small, target.small._replace(most=1e9, is_binary=False))
    )
    for one, other in zip((*found[0], *found[1:]), (*expected[0], *expected[1:]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(found[1]) > 100


def test_small_labels_end_in_ones():
    small = small_labels(np.array([[0, 3], [-1, 2]]), 3.0)
    assert small.rows.tolist() == [[0, 3, *[0] * 12, 1, 1], [-1, 2, *[0] * 12, 1, 1]]
    assert not small.is_binary
    assert small_labels(np.zeros((2, 15)), 0.0).rows.shape == (2, 2 * LANES)
