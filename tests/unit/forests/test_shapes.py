"""Test forests with trees of several shapes, and the choice of shapes."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairfold.core.seeds import seed_for
from fairfold.forests import make_model
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.shapes import TOGETHER, choose_shapes, grow_mixture
from fairfold.forests.trees import MultilabelForest, TreeShape

KINDS = ("random_forest", "extra_trees")
SETTINGS = {"min_samples_leaf": 2, "max_features": 0.5, "max_samples": 1.0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((240, 9))
    noisy = X + 0.1 * rng.normal(size=X.shape)
    Y = np.column_stack([noisy[:, 0] > 0.5, noisy[:, 1] + noisy[:, 2] > 1.1, noisy[:, 3] > 0.9]).astype(np.int8)
    return X, Y


def fields(forest):
    return {name: value.tobytes() for name, value in vars(forest).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_joined_forest_votes_with_the_trees_of_all(data, kind):
    X, Y = data
    parts = [MultilabelForest(kind, n_trees=n, random_state=n, **SETTINGS).fit(X, Y) for n in (3, 5)]
    joined = MultilabelForest.joined(parts)
    np.testing.assert_array_equal(joined.in_bag_, np.hstack([part.in_bag_ for part in parts]))
    np.testing.assert_array_equal(joined.leaf_of_, joined.apply(X))
    expected = (3 * parts[0].predict_proba(X) + 5 * parts[1].predict_proba(X)) / 8
    np.testing.assert_allclose(joined.predict_proba(X), expected, rtol=0, atol=1e-15)
    votes = [np.count_nonzero(~part.in_bag_, axis=1)[:, None] for part in parts]
    sums = sum(np.where(vote > 0, vote * part.oob_proba_, 0) for part, vote in zip(parts, votes, strict=True))
    total = votes[0] + votes[1]
    expected = np.where(total > 0, sums / np.maximum(total, 1), Y.mean(axis=0))
    np.testing.assert_allclose(joined.oob_proba_, expected, rtol=0, atol=1e-15)
    assert joined.shapes_ == [TreeShape(**SETTINGS)] * 2
    assert fields(MultilabelForest.joined([parts[0]])) == fields(parts[0])


@pytest.mark.parametrize("kind", KINDS)
def test_labelwise_trees_are_those_of_each_label_alone(data, kind):
    X, Y = data
    n_trees, q = 6, Y.shape[1]
    forest = MultilabelForest(kind, n_trees=n_trees, labelwise=True, random_state=4, **SETTINGS).fit(X, Y)
    assert forest.label_of_tree_.tolist() == list(range(q)) * n_trees
    roots = forest.tree_starts_[:-1]
    assert (np.count_nonzero(forest.value_[roots], axis=1) <= 1).all()
    leaves = forest.apply(X)
    for label in range(q):
        own = np.flatnonzero(forest.label_of_tree_ == label)
        values = forest.value_[leaves[:, own], label].astype(np.float64)
        np.testing.assert_allclose(forest.predict_proba(X)[:, label], values.mean(axis=1), rtol=0, atol=1e-12)
        out = ~forest.in_bag_[:, own]
        seen = np.where(
            out.any(axis=1), (values * out).sum(axis=1) / np.maximum(out.sum(axis=1), 1), Y[:, label].mean()
        )
        np.testing.assert_allclose(forest.oob_proba_[:, label], seen, rtol=0, atol=1e-12)
        for tree in own:  # leaves contain the mean label of the drawn samples
            drawn = forest.in_bag_[:, tree]
            _, sizes = np.unique(leaves[drawn, tree], return_counts=True)
            assert sizes.min() >= SETTINGS["min_samples_leaf"]
    again = MultilabelForest(kind, n_trees=n_trees, labelwise=True, random_state=4, n_jobs=3, **SETTINGS).fit(X, Y)
    assert fields(again) == fields(forest)


def test_one_label_alone_is_the_same_labelwise_or_not(data):
    X, Y = data
    plain, labelwise = (
        MultilabelForest("random_forest", n_trees=4, labelwise=own, random_state=1).fit(X, Y[:, :1])
        for own in (False, True)
    )
    assert plain.predict_proba(X).tobytes() == labelwise.predict_proba(X).tobytes()


def test_errors_are_extrapolated_as_written_out(data):
    X, Y = data
    forest = MultilabelForest("random_forest", n_trees=12, random_state=2, **SETTINGS).fit(X, Y)
    found = forest.oob_errors(Y, 100)
    for sample in range(0, len(Y), 11):
        votes = forest.value_[forest.leaf_of_[sample, ~forest.in_bag_[sample]]].astype(np.float64)
        if len(votes) < 2:
            assert np.isnan(found[sample])
            continue
        spread = votes.var(axis=0, ddof=1)
        expected = (votes.mean(axis=0) - Y[sample]) ** 2 - spread / len(votes) + spread / 100
        assert found[sample] == pytest.approx(expected.mean(), abs=1e-6)


def test_few_trees_foretell_the_error_of_many(data):
    """Ten trees extrapolated to 300 are within a tenth of the error of 300, unlike without extrapolation."""
    X, Y = data
    few, many = (
        MultilabelForest("extra_trees", n_trees=n, min_samples_leaf=1, max_samples=1.0, random_state=3).fit(X, Y)
        for n in (10, 300)
    )
    true = np.nanmean(many.oob_errors(Y, 300))
    assert abs(np.nanmean(few.oob_errors(Y, 300)) / true - 1) < 0.1
    assert np.nanmean(few.oob_errors(Y, 4)) / true > 1.2


def test_a_mixture_shares_its_trees_among_shapes(data):
    X, Y = data
    binned = BinnedMatrix.from_matrix(X)
    shapes = TOGETHER[:3]
    mixture = grow_mixture("random_forest", binned, Y, shapes, n_trees=8, random_state=5)
    parts = [
        MultilabelForest("random_forest", n_trees=n, random_state=seed_for(5, i), **shape._asdict()).fit(binned, Y)
        for i, (n, shape) in enumerate(zip((3, 3, 2), shapes, strict=True))
    ]
    assert fields(mixture) == fields(MultilabelForest.joined(parts))
    assert len(grow_mixture("random_forest", binned, Y, shapes, n_trees=2, random_state=5).shapes_) == 2


def test_the_choice_fits_the_data():
    """Many features without a signal require many candidates per split, and noise requires large leaves."""
    rng = np.random.default_rng(1)
    X = rng.random((300, 60))
    Y = (X[:, :2] > 0.7).astype(np.int8)
    binned, settings = BinnedMatrix.from_matrix(X), {"n_trees": 60, "random_state": 0}
    clear, noise = (
        [choose_shapes(kind, binned, labels, **settings) for kind in KINDS] for labels in (Y, rng.permutation(Y))
    )
    assert all(len(shapes) == 3 and shapes[0].max_features == 0.3 for shapes in clear)
    leaves = [np.mean([shape.min_samples_leaf for shapes in of for shape in shapes]) for of in (clear, noise)]
    assert leaves[1] > 1.5 * leaves[0], (clear, noise)
    assert [choose_shapes(kind, binned, Y, n_jobs=3, **settings) for kind in KINDS] == clear


def test_of_many_samples_some_race(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr("fairfold.forests.shapes.RACED_AT_MOST", 100)
    binned = BinnedMatrix.from_matrix(X)
    rows = np.sort(np.random.default_rng(3).permutation(len(Y))[:100])
    alone = choose_shapes("random_forest", binned.samples(rows), Y[rows], n_trees=20, random_state=3)
    assert choose_shapes("random_forest", binned, Y, n_trees=20, random_state=3) == alone


@pytest.mark.filterwarnings("error")
def test_a_forest_of_one_tree_has_a_shape_too(data):
    X, Y = data
    assert len(choose_shapes("extra_trees", BinnedMatrix.from_matrix(X), Y, n_trees=1, random_state=0)) == 3


def test_labels_of_unlike_features_get_trees_of_their_own(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.random((400, 40))
    Y = (X[:, :12] > 0.8).astype(np.int8)  # each label depends on one feature, and labels share none
    chosen = choose_shapes("random_forest", BinnedMatrix.from_matrix(X), Y, n_trees=40, random_state=0)
    assert [shape.labelwise for shape in chosen] == [True, False, False]
    same = np.repeat(Y[:, :1], 4, axis=1)  # sharing gains nothing
    chosen = choose_shapes("random_forest", BinnedMatrix.from_matrix(X), same, n_trees=40, random_state=0)
    assert not any(shape.labelwise for shape in chosen)
    for least_gain, is_labelwise in ((0.1, True), (1.0, False)):
        monkeypatch.setattr("fairfold.forests.shapes.LARGE", 400)
        monkeypatch.setattr("fairfold.forests.shapes.LEAST_GAIN_OF_LARGE", least_gain)
        chosen = choose_shapes("random_forest", BinnedMatrix.from_matrix(X), Y, n_trees=40, random_state=0)
        assert chosen[0].labelwise is is_labelwise


def mean_auroc(labels, P):
    return np.mean([roc_auc_score(labels[:, label], P[:, label]) for label in range(labels.shape[1])])


def test_choosing_shapes_does_not_flatter_the_first_level():
    """The mean out-of-bag AUROC is at most .01 above and .04 below that of new samples.

    The mean is over ten draws, and it is at chance without a signal. The out-of-bag score is lower because few of the
    forty trees omit a given sample, while all of them predict a new one.
    """
    differences, permuted = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.random((600, 8))
        Y = (X[:, :3] + 0.5 * rng.normal(size=(600, 3)) > 0.7).astype(np.int8)
        settings = {"shape": "auto", "n_trees": 40, "max_levels": 0, "random_state": seed}
        model = make_model("gcForest+", **settings).fit(X[:200], Y[:200])
        out_of_bag = np.mean([forest.centered_oob_proba() for forest in model.levels_[0].predictors], axis=0)
        differences.append(mean_auroc(Y[:200], out_of_bag) - mean_auroc(Y[200:], model.predict_proba(X[200:])))
        labels = rng.permutation(Y[:200])
        model.fit(X[:200], labels)
        out_of_bag = np.mean([forest.centered_oob_proba() for forest in model.levels_[0].predictors], axis=0)
        permuted.append(mean_auroc(labels, out_of_bag))
    assert -0.04 < np.mean(differences) < 0.01, differences
    assert abs(np.mean(permuted) - 0.5) < 3 * np.std(permuted, ddof=1) / np.sqrt(10), permuted


@pytest.mark.parametrize("labelwise", [False, True])
def test_trees_of_large_data_draw_a_limited_number_of_samples(data, labelwise, monkeypatch):
    X, Y = data
    monkeypatch.setattr("fairfold.forests.shapes.MOST_DRAWS", 60)
    Y = Y.astype(float)
    Y[50:, 0] = np.nan  # Trees of this label can draw only 50 samples.
    shapes = [TreeShape(max_samples=1.0, labelwise=labelwise), TreeShape(max_samples=0.2)]
    forest = grow_mixture("random_forest", BinnedMatrix.from_matrix(X), Y, shapes, n_trees=4, random_state=0)
    draws = forest.weight_[forest.tree_starts_[:-1]]
    expected = {-1: 60, 0: 12, 1: 60, 2: 60}
    n_limited = 2 * (Y.shape[1] if labelwise else 1)
    labels = forest.label_of_tree_[:n_limited].tolist()
    assert draws.tolist() == [*(expected[label] for label in labels), 48, 48]


def test_splits_of_large_data_consider_a_limited_number_of_features(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr("fairfold.forests.shapes.MOST_CONSIDERED", (10_000, 2))
    options = {"n_trees": 10, "random_state": 0, "n_kept": 1}
    candidates = [TreeShape(1, features, 1.0) for features in ("sqrt", 0.9)]
    X = BinnedMatrix.from_matrix(np.hstack([X, X]))
    for large, expected in ((len(Y) + 1, {"sqrt", 0.9}), (len(Y), {"sqrt", 2 / X.shape[1]})):
        monkeypatch.setattr("fairfold.forests.shapes.LARGE", large)
        found = {choose_shapes("random_forest", X, Y, candidates=[one], **options)[0][1] for one in candidates}
        assert found == expected


def test_splits_consider_the_full_share_of_many_features_only_if_it_is_clearly_better(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((300, 40))
    Y = (X[:, :3] > 0.5).astype(np.int8)
    monkeypatch.setattr("fairfold.forests.shapes.MOST_CONSIDERED", (4, 50))
    options = {"n_trees": 40, "random_state": 0, "candidates": [TreeShape(5, "sqrt", 1.0), TreeShape(5, 0.9, 1.0)]}
    alike = np.hstack([X[:, :3] + 0.3 * rng.normal(size=(300, 3)) for _ in range(14)])  # any feature will do
    for features, share in ((X, 0.9), (alike, 4 / 42)):
        chosen = choose_shapes("random_forest", BinnedMatrix.from_matrix(features), Y, **options)
        assert {shape.max_features for shape in chosen} == {"sqrt", share}
