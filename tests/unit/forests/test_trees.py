import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeRegressor

from fairfold.errors import ModelError
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.trees import MultilabelForest
from fairfold.metrics.scores import multilabel_scores

REFERENCES = {"random_forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}
KINDS = tuple(REFERENCES)


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    noisy = X + 0.3 * rng.normal(size=X.shape)
    return X, np.column_stack([noisy[:, 0] > 0.5, noisy[:, 1] + noisy[:, 2] > 1, noisy[:, 3] > 0.8]).astype(np.int8)


@pytest.fixture(scope="module")
def data():
    return make_data(300, 0)


def grow(kind, X, Y, *, n_trees=20, random_state=3, **settings):
    return MultilabelForest(kind, n_trees=n_trees, random_state=random_state, **settings).fit(X, Y)


def every_array(forest):
    return {name: value.tobytes() for name, value in vars(forest).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("kind", KINDS)
def test_forests_are_scikit_learns_in_distribution(kind):
    """Mean scores over 20 seeds and tree sizes differ by less than 3 standard errors (chance 1 in 370 each)."""
    X, Y = make_data(1000, 1)
    results = []
    for seed in range(20):
        settings = {"min_samples_leaf": 5, "max_features": "sqrt", "max_samples": 0.5}
        ours = grow(kind, X[:400], Y[:400], n_trees=30, random_state=seed)
        theirs = REFERENCES[kind](30, bootstrap=True, random_state=seed, **settings).fit(X[:400], Y[:400])
        for P, n_nodes in (
            (ours.predict_proba(X[400:]), len(ours.feature_)),
            (theirs.predict(X[400:]), sum(tree.tree_.node_count for tree in theirs.estimators_)),
        ):
            scores = multilabel_scores(Y[400:], P)
            results.append((scores["average_precision"], scores["roc_auc"], n_nodes))
    ours, theirs = np.array(results[::2]), np.array(results[1::2])
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / 20)
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 3 * error).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_bins", [8, 256, None])
def test_leaves_and_predictions_of_training_samples(data, kind, max_bins):
    """Leaves recorded during growth equal those found by walking the trees, in bag and out of bag."""
    X, Y = data
    forest = grow(kind, X, Y, max_bins=max_bins)
    np.testing.assert_array_equal(forest.apply(X), forest.leaf_of_)
    assert forest.leaf_of_.dtype == np.int32
    assert forest.predict_proba(X).tobytes() == forest.training_proba_.tobytes()
    np.testing.assert_allclose(
        forest.training_proba_, forest.value_.astype(float)[forest.leaf_of_].mean(axis=1), atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_are_consistent(data, kind):
    X, Y = data
    forest = grow(kind, X, Y)
    is_split = forest.feature_ >= 0
    parents = np.flatnonzero(is_split)
    left, right = forest.left_[parents], forest.right_[parents]
    assert (left > parents).all() and (right > left).all()
    assert (forest.left_[~is_split] == -1).all() and (forest.right_[~is_split] == -1).all()
    assert np.isnan(forest.threshold_[~is_split]).all()
    roots = forest.tree_starts_[:-1]
    np.testing.assert_array_equal(np.sort(np.concatenate([roots, left, right])), np.arange(len(is_split)))
    np.testing.assert_array_equal(forest.weight_[roots], 150)
    np.testing.assert_array_equal(forest.weight_[left] + forest.weight_[right], forest.weight_[parents])
    weighted = forest.weight_[:, np.newaxis] * forest.value_.astype(float)
    # Means are rounded to single precision.
    np.testing.assert_allclose(weighted[left] + weighted[right], weighted[parents], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_out_of_bag_predictions_leave_out_the_trees_that_saw_the_sample(data, kind):
    """With one tree per seed, a sample whose value differs from the label's mean is out of bag.

    It gets its leaf's value.
    """
    X, Y = data
    draws, unseen = 0, np.zeros(len(X))
    for seed in range(30):
        forest = grow(kind, X, Y, n_trees=1, random_state=seed)
        is_out = (forest.oob_proba_ != Y.mean(axis=0)).any(axis=1)
        np.testing.assert_array_equal(forest.oob_proba_[is_out], forest.training_proba_[is_out])
        in_leaves = np.bincount(forest.leaf_of_[~is_out, 0], minlength=len(forest.feature_))
        is_leaf = forest.feature_ < 0
        assert (in_leaves[is_leaf] >= 5).all()
        assert (in_leaves[is_leaf] <= forest.weight_[is_leaf]).all()
        draws += forest.weight_[0]
        unseen += is_out
    assert draws == 30 * 150
    # A tree leaves out a sample with probability (1 - 1/300)**150; 9000 independent trials, 5 standard errors.
    share = (1 - 1 / 300) ** 150
    assert abs(unseen.mean() / 30 - share) < 5 * np.sqrt(share * (1 - share) / 9000)


def test_out_of_bag_is_a_mean_over_trees(data):
    """The first trees of a larger forest equal those of a smaller one, and both therefore yield its sums."""
    X, Y = data
    forests = [grow("extra_trees", X, Y, n_trees=n) for n in (1, 2)]
    second = forests[1].value_[forests[1].leaf_of_[:, 1]].astype(float)
    first = forests[0].training_proba_
    is_out = (forests[0].oob_proba_ == first).all(axis=1)
    both = np.where(is_out[:, np.newaxis], (first + second) / 2, second)
    oob = forests[1].oob_proba_
    expected = [both, Y.mean(axis=0) + np.zeros_like(both), np.where(is_out[:, np.newaxis], first, np.nan)]
    matches = np.array([np.isclose(oob, option, rtol=0, atol=1e-15).all(axis=1) for option in expected])
    assert matches.any(axis=0).all()
    # Each sample is out of each bag with probability e**-0.5, and out of both in one third of all cases.
    assert 0.2 < (matches[0] & is_out).mean() < 0.6


def test_out_of_bag_predictions_do_not_see_the_label():
    rng = np.random.default_rng(1)
    X, Y = rng.random((400, 5)), rng.integers(0, 2, (400, 3))
    for kind in KINDS:
        forest = grow(kind, X, Y, n_trees=60)
        correlation = np.corrcoef(forest.oob_proba_.ravel(), Y.ravel())[0, 1]
        # Without a signal, the correlation of 1200 pairs has a standard error of 0.03. Out-of-bag means are biased
        # downward, because omitting a sample lowers the mean of its own class.
        assert -0.35 < correlation < 0.1
        assert np.corrcoef(forest.training_proba_.ravel(), Y.ravel())[0, 1] > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_threads_sparse_input_and_ready_bins_change_no_bit(data, kind):
    X, Y = data
    X = np.where(X > 0.4, X, 0)
    one = every_array(grow(kind, X, Y))
    assert {"oob_proba_", "training_proba_", "leaf_of_", "threshold_", "value_"} < set(one)
    assert every_array(grow(kind, X, Y, n_jobs=3)) == one
    assert every_array(grow(kind, sparse.csr_array(X), Y)) == one
    assert every_array(grow(kind, BinnedMatrix.from_matrix(X), Y)) == one
    forest = grow(kind, X, Y, n_jobs=-1)
    assert (
        forest.predict_proba(sparse.csr_array(X)).tobytes()
        == forest.training_proba_.tobytes()
        == one["training_proba_"]
    )


def test_prediction_in_blocks_of_rows(data, monkeypatch):
    forest = grow("random_forest", *data, n_jobs=2)
    monkeypatch.setattr("fairfold.forests.trees.ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(forest.apply(data[0]), forest.leaf_of_)
    assert forest.predict_proba(data[0][:0]).shape == (0, 3)


def test_leaves_of_sparse_rows(data, monkeypatch):
    """Test several blocks, rows without entries, explicit zeros, unsorted entries and duplicates."""
    X = np.where(data[0] > 0.4, data[0], 0).astype(np.float32)
    X[5:9] = 0
    forest = grow("extra_trees", X, data[1])
    monkeypatch.setattr("fairfold.forests.trees.ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(forest.apply(sparse.csr_array(X)), forest.leaf_of_)
    assert forest.apply(sparse.csr_array(X[:0])).shape == (0, len(forest.tree_starts_) - 1)
    n, p = X.shape
    columns = np.concatenate([np.arange(p)[::-1], np.arange(p)])
    messy = sparse.csr_array((n, p))
    messy.data, messy.indices = np.hstack([X[:, ::-1] / 2, X / 2]).ravel(), np.tile(columns, n)
    messy.indptr = np.arange(n + 1) * 2 * p
    np.testing.assert_array_equal(forest.apply(messy), forest.leaf_of_)
    assert messy.nnz == 2 * n * p


@pytest.mark.parametrize("kind", KINDS)
def test_seeds(data, kind):
    first = every_array(grow(kind, *data))
    assert every_array(grow(kind, *data)) == first
    assert every_array(grow(kind, *data, random_state=4))["leaf_of_"] != first["leaf_of_"]


def test_forests_of_one_seed_draw_the_same_samples(data):
    """Scikit-learn's forests do the same, and the authors of the cascades rely on it."""
    bags = [grow(kind, *data).in_bag_ for kind in KINDS]
    np.testing.assert_array_equal(*bags)
    assert (grow(KINDS[0], *data, random_state=4).in_bag_ != bags[0]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_split(kind):
    X, Y = np.random.default_rng(0).random((40, 3)), np.tile([0, 1, 1], (40, 1))
    for features, labels in ((X, Y), (np.ones((40, 3)), np.arange(40)[:, np.newaxis] % 2), (X[:5], Y[:5])):
        forest = grow(kind, features, labels)
        assert (forest.feature_ == -1).all() and len(forest.feature_) == 20
    np.testing.assert_array_equal(grow(kind, X, Y).predict_proba(X), Y)
    np.testing.assert_array_equal(grow(kind, X, Y).oob_proba_, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_forests_predict_the_same_bytes(data, kind):
    X, Y = data
    forest = grow(kind, X, Y)
    loaded = pickle.loads(pickle.dumps(forest))
    assert loaded.kind == kind
    assert loaded.predict_proba(X).tobytes() == forest.training_proba_.tobytes()
    np.testing.assert_array_equal(loaded.apply(X), forest.leaf_of_)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left_", lambda nodes: np.where(nodes >= 0, np.int32(0), nodes)),  # an endless walk
        ("tree_starts_", lambda starts: starts + 1),
        ("weight_", lambda weights: weights[:-1]),
    ],
)
def test_what_would_lead_compiled_code_astray(data, name, change):
    state = grow("extra_trees", *data).__getstate__()
    with pytest.raises(ModelError, match="arrays of the saved forest are inconsistent"):
        MultilabelForest("extra_trees", random_state=0).__setstate__({**state, name: change(state[name])})


@pytest.mark.parametrize(
    ("settings", "n_draws"),
    [({"max_samples": 40}, 40), ({"max_samples": 1.0}, 300), ({"max_samples": 0.019}, 5), ({"max_samples": 1e-9}, 1)],
)
def test_number_of_draws(data, settings, n_draws):
    assert (grow("random_forest", *data, **settings).weight_[:1] == n_draws).all()


@pytest.mark.parametrize("max_samples", [0.5, 1.0])
def test_without_a_bootstrap_a_tree_learns_from_every_sample_once(data, max_samples):
    """With all features and values as candidates, the result is deterministic and equals scikit-learn's tree."""
    X, Y = data
    Y = Y + np.random.default_rng(0).normal(size=Y.shape)  # avoids tied splits
    settings = {"max_features": 1.0, "max_bins": None, "bootstrap": False, "max_samples": max_samples}
    forest = grow("random_forest", X, Y, n_trees=2, **settings)
    reference = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X.astype(np.float32), Y)
    new_X = np.random.default_rng(1).random((500, 6))
    np.testing.assert_allclose(forest.predict_proba(new_X), reference.predict(new_X), rtol=0, atol=1e-6)
    assert forest.in_bag_.all() and (forest.weight_[forest.tree_starts_[:-1]] == len(X)).all()
    np.testing.assert_allclose(forest.oob_proba_, np.tile(Y.mean(axis=0), (len(X), 1)))


@pytest.mark.parametrize("labelwise", [False, True])
def test_without_a_bootstrap_what_is_unmeasured_stays_out(data, labelwise):
    X, Y = data
    Y = np.where(np.arange(len(Y))[:, np.newaxis] % 3 == np.arange(3), np.nan, Y)
    matrix = BinnedMatrix.from_matrix(X, groups=np.arange(len(X)) // 4)
    forest = grow("extra_trees", matrix, Y, n_trees=3, bootstrap=False, labelwise=labelwise)
    assert (forest.in_bag_ == (~np.isnan(Y)[:, forest.label_of_tree_] if labelwise else True)).all()


def test_number_of_features_looked_at():
    """With all features as candidates, the relevant one is always found. With one, it is usually missed."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 8))
    Y = (X[:, :1] > 0.5).astype(int)
    found = []
    for max_features in (8, 1.0, "sqrt", 1, 0.01):
        forest = grow("random_forest", X, Y, n_trees=60, max_features=max_features)
        found.append((forest.feature_[forest.tree_starts_[:-1]] == 0).mean())
    assert found[0] == found[1] == 1
    assert 0.5 > found[2] > found[3] == found[4]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_trees": 0}, "n_trees is 0; it must be a whole number"),
        ({"min_samples_leaf": 1.5}, r"min_samples_leaf is 1\.5"),
        ({"max_features": 7}, "max_features is 7; .* from 1 to 6"),
        ({"max_features": 0.0}, r"max_features is 0\.0; .* or 'sqrt'"),
        ({"max_samples": 301}, "max_samples is 301; .* from 1 to 300"),
        ({"max_samples": "sqrt"}, "max_samples is 'sqrt'"),
        ({"max_bins": 257}, "max_bins is 257; .* 2 to 256, or None"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_parameters(data, settings, sentence):
    with pytest.raises(ModelError, match=sentence):
        grow("random_forest", *data, **settings)


def test_bad_kind(data):
    with pytest.raises(ModelError, match="kind is 'forest'; it must be 'random_forest' or 'extra_trees'"):
        grow("forest", *data)


@pytest.mark.parametrize(
    ("Y", "sentence"),
    [
        (np.zeros(300), r"found \(300,\)"),
        (np.zeros((299, 2)), r"expected shape \(300, n_labels\)"),
        (np.zeros((300, 0)), r"found \(300, 0\)"),
        (np.full((300, 1), np.inf), "labels must be finite"),
        (np.full((300, 1), "a"), "labels must be finite numbers"),
    ],
)
def test_bad_labels(data, Y, sentence):
    with pytest.raises(ModelError, match=sentence):
        grow("random_forest", data[0], Y)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((4, 5)), "X has 5 features, but the forest was fitted on 6"),
        (np.zeros(6), r"expected shape \(n_samples, n_features\), found \(6,\)"),
        (np.full((4, 6), "a"), "must be real numbers"),
        (np.zeros((4, 6), dtype=complex), r"dtype complex128\. They must be real"),
        (np.full((4, 6), 1e300), "finite and below 3.4e"),
        (sparse.csr_array(np.full((4, 6), np.inf)), "finite"),
    ],
)
def test_bad_features_to_predict(data, X, sentence):
    forest = grow("random_forest", *data, n_trees=1)
    with pytest.raises(ModelError, match=sentence):
        forest.predict_proba(X)


def test_not_fitted(data):
    with pytest.raises(ModelError, match="not fitted"):
        MultilabelForest("extra_trees", random_state=0).predict_proba(data[0])


@pytest.mark.parametrize("kind", KINDS)
def test_centered_predictions_are_relative_to_the_mean_of_the_draws(data, kind):
    X, Y = data
    forest = grow(kind, X, Y, n_trees=3)
    trees = np.arange(3)
    for row in range(len(X)):
        unseen = trees[~forest.in_bag_[row]]
        expected = Y.mean(axis=0)
        if len(unseen):
            leaves, roots = forest.value_[forest.leaf_of_[row, unseen]], forest.value_[forest.tree_starts_[unseen]]
            expected = np.clip(expected + (leaves.astype(float) - roots).mean(axis=0), 0, 1)
        np.testing.assert_allclose(forest.centered_oob_proba()[row], expected, atol=1e-6)


def test_centered_predictions_of_labels_without_signal_are_at_chance():
    """Plain out-of-bag predictions are below chance, because a positive sample's trees drew fewer positives."""
    rng, plain, centered = np.random.default_rng(0), [], []
    for seed in range(30):
        X, Y = rng.random((200, 5)), rng.random((200, 1)) < 0.5
        forest = grow("random_forest", X, Y, n_trees=40, random_state=seed)
        plain.append(roc_auc_score(Y, forest.oob_proba_))
        centered.append(roc_auc_score(Y, forest.centered_oob_proba()))
    gain = np.subtract(centered, plain)
    assert abs(np.mean(centered) - 0.5) < 3 * np.std(centered, ddof=1) / np.sqrt(30)
    assert np.mean(gain) > 3 * np.std(gain, ddof=1) / np.sqrt(30)


@pytest.mark.parametrize("labelwise", [False, True])
def test_trees_that_do_not_fit_into_memory_are_refused_after_the_first(labelwise, monkeypatch):
    X, Y = np.random.default_rng(0).random((60, 4)), np.random.default_rng(1).integers(0, 2, (60, 3))
    forest = MultilabelForest("random_forest", n_trees=40, labelwise=labelwise, random_state=0)
    monkeypatch.setattr("fairfold.forests.trees.NEVER_TOO_MUCH", 0)
    grown = forest.fit(X, Y).value_.tobytes()
    monkeypatch.setattr("fairfold.forests.trees.free_memory", lambda: 5_000)
    with pytest.raises(
        ModelError, match=r"40 trees of 3 labels need about .* GiB of memory are free\. Use at most \d+"
    ):
        forest.fit(X, Y)
    monkeypatch.undo()
    assert forest.fit(X, Y).value_.tobytes() == grown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labelwise", [False, True])
def test_each_label_has_the_mean_of_the_trees_that_predict_it(data, kind, labelwise):
    """The mean covers trees that did not draw the sample, or all trees. Without any tree, it is the label's mean."""
    X, Y = data
    forest = grow(kind, X, Y, n_trees=4, labelwise=labelwise, max_samples=0.9)
    predicts = (forest.label_of_tree_[:, np.newaxis] == np.arange(3)) | (forest.label_of_tree_[:, np.newaxis] == -1)
    values = forest.value_[forest.leaf_of_].astype(float)
    for found, trees in ((forest.oob_proba_, ~forest.in_bag_), (forest.training_proba_, np.ones_like(forest.in_bag_))):
        counted = trees[:, :, np.newaxis] & predicts
        votes = counted.sum(axis=1)
        expected = np.where(votes > 0, (values * counted).sum(axis=1) / np.maximum(votes, 1), Y.mean(axis=0))
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert (votes == 0).any() == (not trees.all())  # both cases occur
