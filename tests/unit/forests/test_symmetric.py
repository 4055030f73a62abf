"""Symmetric trees equal those of a slow reference with the same random numbers and the same order of sums."""

import numpy as np
import pytest

from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.growth import random_integer
from fairfold.forests.simd import LANES
from fairfold.forests.symmetric import Residuals, SymmetricRules, grow_symmetric_tree

ONE = np.float32(1)


def drawn(values, n, state):
    """Return the values with n of them moved to the front."""
    values = list(values)
    for position in range(n):
        other = position + random_integer(state, len(values) - position)
        values[position], values[other] = values[other], values[position]
    return values


def halved_sum(lanes):
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]


def codes_of(table, feature):
    place = table.sparse.place[feature]
    if place < 0:
        is_binary = table.starts[feature + 1] - table.starts[feature] == 2
        return table.codes[-1 - place].astype(int), 0 if is_binary else None
    n = table.codes.shape[1]
    codes = np.full(n, int(table.sparse.common[place]))
    entries = slice(table.sparse.starts[place], table.sparse.starts[place + 1])
    codes[table.sparse.rows[entries]] = table.sparse.codes[entries]
    return codes, int(table.sparse.common[place])


def sums_by_code(codes, common, n_codes, rows, values):
    """Add up the rows of each code; the most common code of a sparse or binary feature gets the rest."""
    whole, sums = np.zeros_like(values[0]), np.zeros((n_codes, *values[0].shape), np.float32)
    for row in rows:
        whole = whole + values[row]
        if codes[row] != common:
            sums[codes[row]] += values[row]
    if common is not None:
        rest = whole
        for code in range(n_codes):
            rest = rest - sums[code]
        sums[common] = rest
    return whole, sums


def gains(codes, common, n_codes, nodes, residuals, weights, smoothing):
    lanes = np.zeros((n_codes - 1, LANES), dtype=np.float32)
    for rows in nodes:
        if len(rows) == 0:
            continue
        total, sums = sums_by_code(codes, common, n_codes, rows, residuals)
        whole, parts = sums_by_code(codes, common, n_codes, rows, weights)
        for block in range(0, residuals.shape[1], LANES):
            here = slice(block, block + LANES)
            left, part = np.zeros(LANES, dtype=np.float32), np.float32(0)
            for cut in range(n_codes - 1):
                part, left = part + parts[cut], left + sums[cut, here]
                right = total[here] - left
                lanes[cut] += left * left * (ONE / (part + smoothing))
                lanes[cut] += right * right * (ONE / (whole - part + smoothing))
    return [halved_sum(each) for each in lanes]


def reference_tree(table, residuals, weights, rules, samples, seed):
    """Return the feature and threshold of each level, and the path of each sample as a number."""
    state = np.array([seed], dtype=np.uint64)
    features = [int(f) for f in np.flatnonzero(np.diff(table.starts) > 1)]
    n_levels = 1 + random_integer(state, rules.max_levels) if features else 0
    rows = list(samples)
    if rules.n_draws < len(rows):
        rows = sorted(drawn(rows, rules.n_draws, state)[: rules.n_draws])
    weighted = np.zeros_like(residuals)
    weights = weights.astype(np.float32)
    weighted[rows] = weights[rows, np.newaxis] * residuals[rows]
    path, levels = np.zeros(len(residuals), dtype=int), []
    for level in range(n_levels):
        if rules.max_features < len(features):
            features = drawn(features, rules.max_features, state)
        nodes = [[row for row in rows if path[row] == node] for node in range(2**level)]
        best = (-ONE, None, None)
        for feature in features[: rules.max_features]:
            codes, common = codes_of(table, feature)
            n_codes = int(table.starts[feature + 1] - table.starts[feature])
            found = gains(codes, common, n_codes, nodes, weighted, weights, np.float32(rules.smoothing))
            for cut, score in enumerate(found):
                if score > best[0]:
                    best = (score, feature, cut)
        _, feature, cut = best
        code = table.starts[feature] + cut
        levels.append((feature, float(table.highest[code]) / 2 + float(table.lowest[code + 1]) / 2))
        path = 2 * path + (codes_of(table, feature)[0] > cut)
    return levels, path, rows


def whole(residuals):
    """Split residuals of 20 labels into parts."""
    labels = residuals[:, :20].copy()
    return Residuals(4 * labels, 2 * labels, np.full(20, 0.5, dtype=np.float32))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9)).round(1)
    X[:, 5] = rng.random(150) < 0.3
    X[:, 6:8] = 0  # sparse features, with one and with several uncommon values
    X[[3, 27, 79], 6], X[[4, 30, 50, 90], 7] = 1, [1, -1, 2, 1]
    X[:, 8] = 7
    residuals = np.zeros((150, 2 * LANES), dtype=np.float32)
    residuals[:, :20] = rng.normal(size=(150, 20)) + X[:, :1] * np.sign(X[:, 1:2]) + 9 * X[:, 6:7] + 9 * X[:, 7:8]
    return X, residuals, rng.random(150) + 0.5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "rules",
    [SymmetricRules(1000, 100, 5, 2.0), SymmetricRules(60, 3, 4, 10.0)],
)
def test_trees_equal_the_reference(data, rules, seed):
    X, residuals, weights = data
    binned = BinnedMatrix.from_matrix(X, max_bins=8)
    table, pool = binned.binned, binned.pool(np.arange(10, 150))
    assert len(table.sparse.common) == 2
    nodes, weight, leaf_of = grow_symmetric_tree(table, whole(residuals), weights, rules, pool, np.uint64(seed))
    levels, path, rows = reference_tree(table, residuals, weights, rules, pool.samples, seed)
    feature, threshold, left, right = nodes
    leaves = [0]
    for chosen, at in levels:
        assert all(feature[node] == chosen and threshold[node] == at for node in leaves)
        leaves = [child for node in leaves for child in (left[node], right[node])]
    assert len(feature) == 2 * len(leaves) - 1
    assert all(feature[leaf] == left[leaf] == right[leaf] == -1 and np.isnan(threshold[leaf]) for leaf in leaves)
    np.testing.assert_array_equal(leaf_of, np.array(leaves)[path])
    assert weight[0] == len(rows)
    np.testing.assert_array_equal(weight[leaves], np.bincount(path[rows], minlength=len(leaves)))
    where = np.zeros(len(X), dtype=int)
    for _ in levels:
        where = np.where(X[np.arange(len(X)), feature[where]] <= threshold[where], left[where], right[where])
    np.testing.assert_array_equal(leaf_of, where)


def test_constant_features_give_a_single_leaf(data):
    _, residuals, weights = data
    binned = BinnedMatrix.from_matrix(np.ones((150, 2)))
    rules = SymmetricRules(1000, 100, 5, 2.0)
    nodes, weight, leaf_of = grow_symmetric_tree(
        binned.binned, whole(residuals), weights, rules, binned.pool(), np.uint64(0)
    )
    assert [len(each) for each in nodes] == [1] * 4 and weight.tolist() == [150] and not leaf_of.any()
