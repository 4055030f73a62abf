import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from fairfold.errors import ModelError
from fairfold.forests.embedding import TreeEmbedding

FORESTS = {"random_forest": (RandomForestRegressor, 0.95), "extra_trees": (ExtraTreesRegressor, 0.8)}
# Scores depend on sums of about a hundred products below 10 and on eigenvalues at least 1e-3 apart. Rounding therefore
# changes scores by about 1e-15 * 1e3 / 1e-3 = 1e-9.
CLOSE = {"rtol": 0, "atol": 1e-8}


def numbered_through(grown, X):
    """Convert a scikit-learn forest to the arrays of our forests."""
    trees = [estimator.tree_ for estimator in grown.estimators_]
    starts = np.cumsum([0] + [tree.node_count for tree in trees])

    def children(name):
        return np.concatenate(
            [np.where(getattr(t, name) < 0, -1, getattr(t, name) + s) for t, s in zip(trees, starts, strict=False)]
        ).astype(np.int32)

    return SimpleNamespace(
        tree_starts_=starts,
        left_=children("children_left"),
        right_=children("children_right"),
        weight_=np.concatenate([tree.weighted_n_node_samples for tree in trees]).astype(np.int32),
        leaf_of_=(grown.apply(X) + starts[:-1]).astype(np.int32),
        apply=lambda new: (grown.apply(new) + starts[:-1]).astype(np.int32),
    )


def grow(kind="random_forest", n=80, n_trees=10, min_samples_leaf=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] + X[:, 2] > 1, X[:, 3] > rng.random(n)]).astype(float)
    grown = FORESTS[kind][0](
        n_trees,
        min_samples_leaf=min_samples_leaf,
        max_features="sqrt",
        bootstrap=True,
        max_samples=0.5,
        random_state=seed,
    )
    return numbered_through(grown.fit(X, Y), X)


def node_matrix(forest, leaf_of, max_share, weighting):
    """Compute equation 3, sample by sample and node by node."""
    parent = {}
    for node, (left, right) in enumerate(zip(forest.left_, forest.right_, strict=True)):
        parent.update({left: node, right: node})
    Z = np.zeros((len(leaf_of), len(forest.left_)))
    for sample, leaves in enumerate(leaf_of):
        for leaf, root in zip(leaves, forest.tree_starts_, strict=False):
            node = leaf
            while node is not None:
                draws = forest.weight_[node]
                if draws <= max_share * forest.weight_[root]:
                    Z[sample, node] = 1 / np.log(draws + 1) if weighting == "text" else 1 / (np.log(draws) + 1)
                node = None if node == root else parent[node]
    return Z


@pytest.fixture
def hand_made():
    """Return a tree and a single leaf. Leaves of the tree are not numbered from left to right."""
    return SimpleNamespace(
        tree_starts_=np.array([0, 5, 6]),
        left_=np.array([1, 3, -1, -1, -1, -1]),
        right_=np.array([2, 4, -1, -1, -1, -1]),
        weight_=np.array([20, 16, 4, 9, 7, 20]),
        leaf_of_=np.array([[2, 5], [3, 5], [4, 5], [3, 5]]),
    )


@pytest.mark.parametrize("weighting", ["text", "authors-code"])
@pytest.mark.parametrize("kind", FORESTS)
def test_components_are_those_of_a_dense_decomposition(kind, weighting):
    forest, max_share = grow(kind), FORESTS[kind][1]
    embedding = TreeEmbedding(max_share=max_share, weighting=weighting).fit(forest)
    Z = node_matrix(forest, forest.leaf_of_, max_share, weighting)
    dense = PCA(n_components=0.8, svd_solver="full").fit(Z)
    variances = PCA(svd_solver="full").fit(Z).explained_variance_
    assert np.diff(variances)[: dense.n_components_].max() < -1e-4  # otherwise, single components are not comparable
    assert embedding.n_components_ == dense.n_components_ > 5
    np.testing.assert_allclose(embedding.explained_variance_, dense.explained_variance_, **CLOSE)
    np.testing.assert_allclose(embedding.explained_variance_ratio_, dense.explained_variance_ratio_, **CLOSE)
    scores = dense.transform(Z)
    signs = np.sign(np.sum(scores * embedding.scores_, axis=0))
    np.testing.assert_allclose(embedding.scores_, scores * signs, **CLOSE)

    new = np.random.default_rng(9).random((30, 6))
    scores = dense.transform(node_matrix(forest, forest.apply(new), max_share, weighting)) * signs
    np.testing.assert_allclose(embedding.transform(forest.apply(new)), scores, **CLOSE)


def test_trees_that_a_sample_skips():
    """Nodes of skipped trees count as not passed, and the other nodes are scaled up.

    A sample without any tree is placed at the mean.
    """
    forest = grow(n_trees=7)
    embedding = TreeEmbedding().fit(forest)
    skip = np.random.default_rng(1).random(forest.leaf_of_.shape) < 0.4
    skip[0], skip[1] = True, False
    Z = node_matrix(forest, forest.leaf_of_, 0.95, "text")
    seen = Z * np.repeat(~skip, np.diff(forest.tree_starts_), axis=1)
    seen *= 7 / np.maximum(1, np.count_nonzero(~skip, axis=1))[:, None]
    dense = PCA(n_components=0.8, svd_solver="full").fit(Z)
    signs = np.sign(np.sum(dense.transform(Z) * embedding.scores_, axis=0))
    scores = embedding.transform(forest.leaf_of_, skip=skip)
    np.testing.assert_allclose(scores[1:], dense.transform(seen[1:]) * signs, **CLOSE)
    np.testing.assert_allclose(scores[0], 0, atol=1e-9)


def test_transform_of_the_training_samples_gives_their_scores():
    forest = grow(n_trees=7)
    embedding = TreeEmbedding().fit(forest)
    np.testing.assert_allclose(embedding.transform(forest.leaf_of_), embedding.scores_, **CLOSE)
    assert embedding.transform(forest.leaf_of_[:0]).shape == (0, embedding.n_components_)


def test_of_many_samples_some_are_decomposed(monkeypatch):
    """The remaining samples are transformed like new samples, in batches of about a thousand."""
    forest = grow(n=90)
    part = np.sort(np.random.default_rng(0).permutation(90)[:40])
    embedding = TreeEmbedding(max_samples=40).fit(forest)
    alone = TreeEmbedding().fit(SimpleNamespace(**{**vars(forest), "leaf_of_": forest.leaf_of_[part]}))
    assert embedding.scores_.tobytes() == alone.scores_.tobytes()
    expected = alone.transform(forest.leaf_of_)
    assert embedding.training_scores(forest).tobytes() == expected.tobytes()
    np.testing.assert_allclose(expected[part], embedding.scores_, **CLOSE)
    skip = np.random.default_rng(1).random(forest.leaf_of_.shape) < 0.4
    of_skipped = embedding.transform(forest.leaf_of_, skip=skip)
    monkeypatch.setattr("fairfold.forests.embedding.ROWS_AT_ONCE", 13)
    np.testing.assert_allclose(embedding.transform(forest.leaf_of_), expected, **CLOSE)
    np.testing.assert_allclose(embedding.transform(forest.leaf_of_, skip=skip), of_skipped, **CLOSE)
    whole = TreeEmbedding().fit(forest)
    assert whole.training_scores(forest) is whole.scores_


@pytest.mark.parametrize("n_trees", [1, 3, 4, 5, 8])
def test_every_tree_counts(n_trees):
    forest = grow(n_trees=n_trees)
    scores = TreeEmbedding(explained_variance=1).fit(forest).scores_
    Z = node_matrix(forest, forest.leaf_of_, 0.95, "text")
    Z -= Z.mean(axis=0)
    # With all components, inner products of scores equal those of nodes, even if eigenvalues coincide.
    np.testing.assert_allclose(scores @ scores.T, Z @ Z.T, **CLOSE)
    assert scores.shape[1] == np.linalg.matrix_rank(Z)


@pytest.mark.parametrize("max_share, kept", [(0.95, [1, 2, 3, 4]), (0.8, [1, 2, 3, 4]), (0.79, [2, 3, 4]), (0.3, [2])])
def test_nodes_with_more_than_the_share_are_left_out(hand_made, max_share, kept):
    embedding = TreeEmbedding(max_share=max_share, weighting="authors-code", explained_variance=1).fit(hand_made)
    passes = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0]])  # nodes 1 to 4
    Z = passes / (np.log([16, 4, 9, 7]) + 1) * np.isin([1, 2, 3, 4], kept)
    Z -= Z.mean(axis=0)
    np.testing.assert_allclose(embedding.scores_ @ embedding.scores_.T, Z @ Z.T, rtol=0, atol=1e-14)


def test_numbers_of_the_nodes_do_not_matter():
    forest = grow()
    depth = np.zeros(len(forest.left_), dtype=int)
    for node in np.flatnonzero(forest.left_ >= 0):
        depth[[forest.left_[node], forest.right_[node]]] = depth[node] + 1
    tree_of = np.repeat(np.arange(10), np.diff(forest.tree_starts_))
    by_level = np.lexsort((depth, tree_of))
    number = np.append(np.argsort(by_level), -1).astype(np.int32)  # the last one represents -1
    other = SimpleNamespace(
        tree_starts_=forest.tree_starts_,
        left_=number[forest.left_[by_level]],
        right_=number[forest.right_[by_level]],
        weight_=forest.weight_[by_level],
        leaf_of_=number[forest.leaf_of_],
    )
    assert (other.left_ != forest.left_).any()
    assert TreeEmbedding().fit(other).scores_.tobytes() == TreeEmbedding().fit(forest).scores_.tobytes()


def test_largest_score_of_a_component_is_positive():
    scores = TreeEmbedding().fit(grow("extra_trees")).scores_
    assert (scores.max(axis=0) == np.abs(scores).max(axis=0)).all()


@pytest.mark.parametrize("half", range(1, 40))
def test_of_scores_of_equal_size_the_first_is_positive(half):
    """Two leaves with equal counts give scores that are equal up to rounding."""
    leaf_of = np.repeat([[1], [2]], half, axis=0)
    forest = SimpleNamespace(
        tree_starts_=np.array([0, 3]),
        left_=np.array([1, -1, -1], dtype=np.int32),
        right_=np.array([2, -1, -1], dtype=np.int32),
        weight_=np.array([2 * half, half, half]),
        leaf_of_=leaf_of,
    )
    for order in (slice(None), slice(None, None, -1)):
        forest.leaf_of_ = leaf_of[order]
        scores = TreeEmbedding().fit(forest).scores_
        assert scores.shape == (2 * half, 1)
        assert (scores[:half] > 0).all() and (scores[half:] < 0).all()


def test_cores_and_callers_change_no_bit():
    forest = grow(n=600, n_trees=5)

    def run(n_threads):
        with threadpool_limits(n_threads, user_api="blas"):
            embedding = TreeEmbedding().fit(forest)
            return embedding.scores_.tobytes() + embedding.transform(forest.leaf_of_).tobytes()

    assert run(2) == run(1)
    with ThreadPoolExecutor(3) as pool:
        scores = set(pool.map(lambda _: TreeEmbedding().fit(forest).scores_.tobytes(), range(6)))
    assert scores == {TreeEmbedding().fit(forest).scores_.tobytes()}


def test_node_matrix_is_never_made():
    forest = grow(n=300, n_trees=60, min_samples_leaf=1)
    TreeEmbedding().fit(forest)  # compiles
    tracemalloc.start()
    embedding = TreeEmbedding().fit(forest)
    embedding.transform(forest.leaf_of_)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * len(forest.left_) * 8 / 3
    assert (
        sum(np.asarray(value).nbytes for value in embedding.__getstate__().values())
        < 300 * 300 * 8 + forest.leaf_of_.nbytes
    )


def test_saved_embedding_transforms_to_the_same_bytes():
    forest = grow("extra_trees")
    embedding = TreeEmbedding(max_share=0.8, weighting="authors-code", explained_variance=0.7).fit(forest)
    loaded = pickle.loads(pickle.dumps(embedding))
    loaded.read_trees(forest)
    new = forest.apply(np.random.default_rng(5).random((20, 6)))
    assert loaded.transform(new).tobytes() == embedding.transform(new).tobytes()
    assert loaded.get_params() == embedding.get_params()
    assert loaded.n_components_ == embedding.n_components_
    with pytest.raises(ModelError, match="does not hold the leaves"):
        loaded.read_trees(grow("extra_trees", seed=1))


def test_nothing_to_show_samples_apart(hand_made):
    leaf = np.array([-1, -1])
    single_leaves = SimpleNamespace(
        tree_starts_=np.array([0, 1, 2]), left_=leaf, right_=leaf, weight_=[9, 9], leaf_of_=np.tile([0, 1], (9, 1))
    )
    one_sample = SimpleNamespace(**{**vars(hand_made), "leaf_of_": hand_made.leaf_of_[:1]})
    same_leaves = SimpleNamespace(**{**vars(hand_made), "leaf_of_": hand_made.leaf_of_[[1, 3]]})
    for forest in (single_leaves, one_sample, same_leaves):
        n_samples = len(forest.leaf_of_)
        embedding = TreeEmbedding().fit(forest)
        assert embedding.n_components_ == 0
        assert embedding.scores_.shape == embedding.transform(forest.leaf_of_).shape == (n_samples, 0)
        assert embedding.explained_variance_.shape == embedding.explained_variance_ratio_.shape == (0,)


def test_two_samples(hand_made):
    forest = SimpleNamespace(**{**vars(hand_made), "leaf_of_": hand_made.leaf_of_[:2]})
    embedding = TreeEmbedding(weighting="authors-code").fit(forest)
    distance = np.sqrt(np.sum((np.log([16, 4, 9]) + 1) ** -2.0))  # the samples share no kept node
    np.testing.assert_allclose(np.sort(embedding.scores_[:, 0]), [-distance / 2, distance / 2], rtol=1e-14)
    np.testing.assert_allclose(embedding.explained_variance_ratio_, [1], rtol=1e-14)


def test_node_without_draws(hand_made):
    hand_made.weight_[2] = 0
    with pytest.raises(ModelError, match=r"has 0 draws\. Each node must have at least 1"):
        TreeEmbedding().fit(hand_made)


def test_too_many_leaves():
    n_inner = 2**16
    node = np.arange(2 * n_inner + 1)
    tree = SimpleNamespace(
        tree_starts_=np.array([0, node.size]),
        left_=np.where(node < n_inner, 2 * node + 1, -1),
        right_=np.where(node < n_inner, 2 * node + 2, -1),
        weight_=np.ones(node.size),
        leaf_of_=np.array([[n_inner]]),
    )
    with pytest.raises(ModelError, match="a tree has 65537 leaves, but the limit is 65535"):
        TreeEmbedding().fit(tree)


@pytest.mark.parametrize(
    "leaf_of",
    [[[2, 5, 5]], [2, 5], [[2.0, 5.0]], [[2, 5], [1, 5]], [[5, 5]], [[2, 4]], [[2, 6]], [[-1, 5]]],
)
def test_leaves_of_another_forest(hand_made, leaf_of):
    embedding, message = TreeEmbedding().fit(hand_made), "does not hold the leaves of the 2 trees"
    with pytest.raises(ModelError, match=message):
        embedding.transform(np.array(leaf_of))
    hand_made.leaf_of_ = np.array(leaf_of)
    with pytest.raises(ModelError, match=message):
        TreeEmbedding().fit(hand_made)


def test_use_before_fit(hand_made):
    with pytest.raises(NotFittedError):
        TreeEmbedding().transform(hand_made.leaf_of_)
