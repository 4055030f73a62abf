"""Trees equal those of a slow reference that uses the same random numbers."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from fairfold.core.seeds import seed_sequence
from fairfold.forests.growth import random_integer, random_uniform
from fairfold.forests.trees import MultilabelForest

KINDS = ("random_forest", "extra_trees")
MASK = 2**64 - 1


class Stream:
    """Splitmix64 generator, after its published description."""

    def __init__(self, seed):
        self.state = int(seed)

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, limit):
        return ((self.bits() >> 32) * limit) >> 32

    def share(self):
        return (self.bits() >> 11) / 2**53


class ReferenceTree:
    """A tree grown node by node in depth-first order, with exact arithmetic.

    Nodes share only the set of features known to be constant, because it affects which random numbers are drawn.
    """

    def __init__(self, kind, X, Y, seed, *, n_draws, max_features, min_samples_leaf):
        self.kind, self.max_features, self.min_samples_leaf = kind, max_features, min_samples_leaf
        self.X = X.astype(np.float32).astype(float)
        self.Y = [[Fraction(float(y)) for y in row] for row in Y]
        self.stream = Stream(seed)
        self.draws = np.zeros(len(X), dtype=int)
        for _ in range(n_draws):
            self.draws[self.stream.below(len(X))] += 1
        self.features = list(range(X.shape[1]))
        self.nodes = []
        self.grow(np.flatnonzero(self.draws), 0)

    def grow(self, rows, n_constant):
        node = {"feature": -1, "threshold": None, "weight": int(self.draws[rows].sum())}
        node["value"] = np.average([[float(y) for y in self.Y[row]] for row in rows], axis=0, weights=self.draws[rows])
        self.nodes.append(node)
        number = len(self.nodes) - 1
        if len(rows) < 2 * self.min_samples_leaf or all(self.Y[row] == self.Y[rows[0]] for row in rows):
            return number
        best, n_constant = self.search(rows, n_constant)
        if best is not None:
            _, feature, threshold = best
            goes_left = self.X[rows, feature] <= threshold
            node.update(feature=feature, threshold=threshold)
            node["left"] = self.grow(rows[goes_left], n_constant)
            node["right"] = self.grow(rows[~goes_left], n_constant)
        return number

    def search(self, rows, n_constant):
        features, best = self.features, None
        known, first, last, looked_at, useful = n_constant, n_constant, len(self.features), 0, 0
        while first < last and (looked_at < self.max_features or not useful):
            looked_at += 1
            draw = self.stream.below(known + last - first)
            if draw < known:
                known -= 1
                continue
            place = first + draw - known
            values = sorted(set(self.X[rows, features[place]]))
            if len(values) == 1:
                features[place], features[first] = features[first], features[place]
                first += 1
                continue
            last -= 1
            useful += 1
            features[place], features[last] = features[last], features[place]
            for threshold in self.thresholds(values):
                score = self.score(rows, self.X[rows, features[last]] <= threshold)
                if score is not None and (best is None or score > best[0]):
                    best = score, features[last], threshold
        return best, first

    def thresholds(self, values):
        if self.kind == "random_forest":
            return [a / 2 + b / 2 for a, b in itertools.pairwise(values)]
        return [values[0] + self.stream.share() * (values[-1] - values[0])]

    def score(self, rows, goes_left):
        """Return the weighted squared means of both sides, or None if one is too small.

        The sum equals the variance reduction up to a constant.
        """
        total = 0
        for side in (rows[goes_left], rows[~goes_left]):
            if len(side) < self.min_samples_leaf:
                return None
            draws = [int(draw) for draw in self.draws[side]]
            sums = [
                sum(draw * self.Y[row][label] for draw, row in zip(draws, side, strict=True))
                for label in range(len(self.Y[0]))
            ]
            total += Fraction(sum(s * s for s in sums), sum(draws))
        return total


def make_data(n, n_labels, seed, float_labels=False):
    """Return features with ties, rare, constant and continuous values, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(0, 3, n),
            rng.random(n) < 0.05,
            np.full(n, 7.5),
            rng.normal(size=(n, 3)),
            rng.integers(-9, 9, n) / 3,
        ]
    )
    latent = X[:, [3]] + X[:, [0]] * rng.normal(size=n_labels) + rng.normal(size=(n, n_labels))
    return X, latent + 100 if float_labels else (latent > 1).astype(np.int8)


def check_forest(kind, X, Y, *, n_trees=3, max_features=3, min_samples_leaf=3, max_bins=None):
    settings = {"max_features": max_features, "min_samples_leaf": min_samples_leaf}
    forest = MultilabelForest(kind, n_trees=n_trees, max_bins=max_bins, random_state=5, **settings).fit(X, Y)
    seeds = seed_sequence(5, "forest").generate_state(n_trees, np.uint64)
    for tree, seed in enumerate(seeds):
        first, end = forest.tree_starts_[tree : tree + 2]
        nodes = ReferenceTree(kind, X, Y, seed, n_draws=len(X) // 2, **settings).nodes
        assert [node["feature"] for node in nodes] == forest.feature_[first:end].tolist()
        for number, node in enumerate(nodes, start=first):
            assert node["weight"] == forest.weight_[number]
            # Values have single precision.
            np.testing.assert_allclose(forest.value_[number], node["value"], rtol=1e-6, atol=1e-6)
            if node["feature"] >= 0:
                assert node["threshold"] == forest.threshold_[number]
                assert (node["left"] + first, node["right"] + first) == (forest.left_[number], forest.right_[number])
    return forest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_labels", [1, 3, 16, 35])
def test_trees_are_the_references(kind, n_labels):
    """Test widths below, at and above a block of lanes."""
    forest = check_forest(kind, *make_data(90, n_labels, seed=n_labels))
    assert len(forest.feature_) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_large_nodes_with_more_than_256_values(kind):
    """Test both sorting methods: insertion for small nodes and counting for large ones."""
    X, Y = make_data(700, 2, seed=1)
    check_forest(kind, X, Y, n_trees=1, max_features=2, min_samples_leaf=12)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_are_no_classes(kind):
    check_forest(kind, *make_data(60, 2, seed=2, float_labels=True))


def test_bins_with_one_value_each_change_nothing():
    X, Y = make_data(200, 3, seed=3)
    check_forest("random_forest", X, Y, n_trees=1, max_bins=256)


@pytest.mark.parametrize("kind", KINDS)
def test_mostly_constant_features(kind):
    """Few features vary in a node. Features known to be constant are also drawn and counted."""
    rng = np.random.default_rng(4)
    X = (rng.random((120, 40)) < 0.04).astype(float)
    check_forest(kind, X, (X[:, :3] + rng.random((120, 3)) > 0.9).astype(int), max_features=4, min_samples_leaf=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("min_samples_leaf", [1, 8])
def test_sparse_features_of_several_values(kind, min_samples_leaf):
    """Some nodes have many more samples than the features have entries, and some have fewer."""
    rng = np.random.default_rng(6)
    X = rng.integers(1, 5, (300, 12)) * (rng.random((300, 12)) < np.linspace(0.01, 0.15, 12))
    Y = (X[:, :3] + X[:, 3:6] + rng.normal(size=(300, 3)) > 1).astype(int)
    check_forest(kind, X.astype(float), Y, n_trees=1, max_features=4, min_samples_leaf=min_samples_leaf)


def test_random_numbers_are_the_published_ones():
    # These are the first outputs of the reference implementation for seed 1234567.
    stream = Stream(1234567)
    assert [stream.bits() for _ in range(2)] == [6457827717110365317, 3203168211198807973]
    state = np.array([1234567], dtype=np.uint64)
    assert random_integer(state, 1000) == 6457827717110365317 * 1000 >> 64
    assert random_uniform(state) == (3203168211198807973 >> 11) / 2**53
