"""Forests on sketches with one column per label equal exact forests, as do leaves that store samples."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from fairfold.core.arrays import are_above, csr_of_rows
from fairfold.core.probabilities import FLOOR
from fairfold.core.sparse_rows import joined_rows, weighted_sum
from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.forests import load_model, make_model
from fairfold.forests.diagnostics import imputation_table
from fairfold.forests.levels import Level
from fairfold.forests.shapes import choose_shapes, grow_mixture
from fairfold.forests.sketched import SketchedForest, mean_of_forests, sums_of_leaves
from fairfold.forests.sketches import MOST_EXACT, random_signs, sketch
from fairfold.forests.trees import MultilabelForest, TreeShape
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model as make_any
from fairfold.weak_labels import mask_positives

KINDS = ("random_forest", "extra_trees")
N_LABELS = 140
# This is the float32 rounding error. The exact forest stores leaf means, ours sums over leaves.
ROUNDING = 5e-7


def make_data(n=240, n_labels=N_LABELS, seed=0):
    """Return labels that mark the prototypes nearest to a sample. The first label is always 1 and the last always 0."""
    random = np.random.default_rng(seed)
    prototypes = random.normal(size=(n_labels, 8))
    X = random.normal(size=(n, 8))
    nearest = np.argsort(((X[:, np.newaxis] - prototypes) ** 2).sum(axis=2), axis=1)[:, :4]
    Y = np.zeros((n, n_labels), dtype=np.int8)
    np.put_along_axis(Y, nearest, 1, axis=1)
    Y[:, 0], Y[:, -1] = 1, 0
    return X, Y


@pytest.fixture(scope="module")
def data():
    return make_data()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sketch_with_a_column_per_label_gives_the_exact_forest(kind, weighted, data):
    X, Y = data
    settings = {"n_trees": 9, "min_samples_leaf": 2, "max_samples": 1.0, "random_state": 4}
    if weighted:
        from fairfold.forests.binning import BinnedMatrix

        X = BinnedMatrix.from_matrix(X, weights=np.linspace(0.5, 1.5, len(Y)))
    exact = MultilabelForest(kind, **settings).fit(X, Y)
    found = SketchedForest(kind, n_sketched=N_LABELS, **settings).fit(X, sparse.csr_array(Y))
    for name in ("feature_", "threshold_", "left_", "right_", "weight_", "leaf_of_", "in_bag_", "shapes_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(exact, name))
    np.testing.assert_allclose(found.label_means_, exact.label_means_, rtol=1e-12)
    for ours, theirs in (
        (found.oob_proba_, exact.oob_proba_),
        (found.training_proba_, exact.training_proba_),
        (found.mean_value(found.leaf_of_[:50]), exact.mean_value(exact.leaf_of_[:50])),
    ):
        np.testing.assert_allclose(ours.toarray(), np.where(theirs >= FLOOR, theirs, 0), atol=ROUNDING)
    stored = found.oob_proba_.toarray() > 0
    centered = found.centered_oob_proba().toarray()
    np.testing.assert_allclose(centered[stored], np.maximum(exact.centered_oob_proba(), FLOOR)[stored], atol=ROUNDING)
    assert (centered[~stored] == 0).all()


def test_samples_that_every_tree_drew_have_the_mean_labels(data):
    X, Y = data
    forest = SketchedForest("random_forest", n_trees=1, random_state=0, max_samples=1.0).fit(X, sparse.csr_array(Y))
    drawn = forest.in_bag_[:, 0]
    assert drawn.any() and not drawn.all()
    means = np.where(Y.mean(axis=0) >= FLOOR, Y.mean(axis=0), 0)
    np.testing.assert_allclose(forest.oob_proba_.toarray()[drawn], np.tile(means, (drawn.sum(), 1)), atol=ROUNDING)
    np.testing.assert_allclose(forest.centered_oob_proba().toarray()[drawn][:, 0], 1, atol=ROUNDING)


def test_only_the_highest_probabilities_are_kept_ties_by_label(data, monkeypatch):
    X, Y = data
    settings = {"n_trees": 5, "random_state": 1}
    whole = SketchedForest("extra_trees", **settings).fit(X, sparse.csr_array(Y))
    expected = whole.predict_proba(X).toarray()
    order = np.argsort(-expected, axis=1, kind="stable")
    np.put_along_axis(expected, order[:, 7:], 0, axis=1)
    monkeypatch.setattr("fairfold.forests.sketched.ALL_KEPT", 0)
    monkeypatch.setattr("fairfold.forests.sketched.MOST_KEPT", 7)
    found = whole.predict_proba(X)
    assert found.has_canonical_format and (np.diff(found.indptr) <= 7).all()
    np.testing.assert_array_equal(found.toarray(), expected)
    monkeypatch.setattr("fairfold.forests.sketched.ALL_KEPT", Y.shape[1])  # New samples keep all, others do not.
    assert np.diff(whole.predict_proba(X).indptr).max() > 7
    again = SketchedForest("extra_trees", **settings).fit(X, sparse.csr_array(Y))
    assert np.diff(again.oob_proba_.indptr)[~again.in_bag_.all(axis=1)].max() <= 7  # Others have the label means.


def test_of_a_mean_of_forests_the_highest_are_kept():
    """Each sample keeps its highest labels even if forests keep different ones. Dense arrays are not truncated."""
    rng = np.random.default_rng(0)
    parts = [np.where(rng.random((40, 9)) < share, rng.integers(1, 5, (40, 9)) / 8, 0) for share in (0.5, 0.3)]
    mean = (parts[0] + parts[1]) / 2
    np.testing.assert_array_equal(mean_of_forests(parts, 3), mean)
    expected = mean.copy()
    np.put_along_axis(expected, np.argsort(-mean, axis=1, kind="stable")[:, 3:], 0, axis=1)
    found = mean_of_forests([sparse.csr_array(part) for part in parts], 3)
    assert found.has_canonical_format and np.diff(found.indptr).max() == 3
    np.testing.assert_array_equal(found.toarray(), expected)


def test_out_of_bag_predictions_are_made_once_and_of_the_samples_at_hand(data):
    X, Y = data
    forest = SketchedForest("extra_trees", n_trees=5, random_state=1)
    first = forest.fit(X, sparse.csr_array(Y)).oob_proba_
    assert forest.oob_proba_ is first
    again = forest.fit(X[:50], sparse.csr_array(Y[:50])).oob_proba_
    assert again.shape == (50, Y.shape[1])
    assert "oob_proba_" not in forest.__getstate__()


def test_sketches_keep_squared_distances():
    """With k columns, the mean over seeds is within four standard errors for each pair.

    The relative standard error of one seed is sqrt(2 / k).
    """
    _, Y = make_data(n=400)
    first, second = Y[:200].astype(float), Y[200:].astype(float)
    exact = ((first - second) ** 2).sum(axis=1)
    n_seeds, k = 50, 32
    found = np.zeros(200)
    for seed in range(n_seeds):
        S = sketch(sparse.csr_array(Y), k, seed)
        assert S.dtype == np.float32 and (np.rint(S) == S).all()
        found += ((S[:200] - S[200:]) ** 2).sum(axis=1) / k / n_seeds
    apart = exact > 0
    assert (np.abs(found / exact - 1)[apart] < 4 * np.sqrt(2 / k / n_seeds)).all()
    np.testing.assert_array_equal(np.unique(random_signs(50, 4, 0)), [-1, 1])


def test_cells_above_a_threshold_leave_the_matrix_as_it_is():
    P = np.array([[0.2, 0.9, 0.0], [0.6, 0.0, 0.7]])
    matrix = sparse.csr_array(P)
    for threshold in (0.5, np.array([0.5, 0.95, 0.5])):
        np.testing.assert_array_equal(are_above(matrix, threshold).toarray(), threshold < P)
        np.testing.assert_array_equal(matrix.toarray(), P)


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_and_a_file_give_the_same_bytes(kind, data):
    X, Y = data
    Y = sparse.csr_array(Y)
    one, four = (SketchedForest(kind, n_trees=6, random_state=2, n_jobs=n).fit(X, Y) for n in (1, 4))
    read = pickle.loads(pickle.dumps(one))
    assert read.predict_proba(X).data.tobytes() == one.predict_proba(X).data.tobytes()
    for forest in (four, Level.of_states(Level([], [one]).to_states()).predictors[0]):
        for ours, theirs in ((forest.predict_proba(X), one.predict_proba(X)), (forest.oob_proba_, one.oob_proba_)):
            assert ours.data.tobytes() == theirs.data.tobytes() and ours.indices.tobytes() == theirs.indices.tobytes()


@pytest.mark.parametrize("name", ["leaf_samples_", "labels_", "leaf_starts_", "label_starts_", "leaf_times_"])
def test_arrays_that_do_not_fit_are_refused(name, data):
    X, Y = data
    forest = SketchedForest("extra_trees", n_trees=2, random_state=0).fit(X, sparse.csr_array(Y))
    state = forest.__getstate__()
    state[name] = state[name][:-1] if name == "leaf_times_" else state[name] + 10**4
    with pytest.raises(ModelError, match="saved forest"):
        forest.__setstate__(state)


def test_mixtures_of_shapes_are_chosen_on_a_sketch(data):
    X, Y = data
    from fairfold.forests.binning import BinnedMatrix

    X, Y = BinnedMatrix.from_matrix(X), sparse.csr_array(Y)
    shapes = choose_shapes("extra_trees", X, Y, n_trees=20, random_state=0, n_sketched=16)
    assert len(shapes) == 3 and not any(shape.labelwise for shape in shapes)
    forest = grow_mixture("extra_trees", X, Y, shapes, n_trees=10, random_state=0)
    assert isinstance(forest, SketchedForest) and forest.shapes_ == list(shapes) and len(forest.label_of_tree_) == 10
    parts = [
        SketchedForest("extra_trees", n_trees=2, random_state=s, **TreeShape()._asdict()).fit(X, Y) for s in (0, 1)
    ]
    joined = SketchedForest.joined(parts)
    mean = (parts[0].training_proba_ + parts[1].training_proba_) / 2
    kept = joined.training_proba_.toarray()
    np.testing.assert_allclose(kept[kept > 2 * FLOOR], mean.toarray()[kept > 2 * FLOOR], atol=FLOOR / 2)


def test_labels_must_be_sparse(data):
    X, Y = data
    with pytest.raises(ModelError, match="sparse"):
        SketchedForest("extra_trees", random_state=0).fit(X, Y)


@pytest.mark.parametrize("name", ["RF+ET", "gcForest", "gcForest+", "CaFE"])
def test_cascades_on_many_labels_are_sparse_and_near_the_exact_ones(name, tmp_path):
    """Average precision differs from the exact one by less than .05, twice the difference between seeds."""
    X, Y = make_data(n=400)
    assert MOST_EXACT < N_LABELS
    settings = {"n_trees": 20, "max_levels": 1, "random_state": 0}
    model = make_model(name, **settings).fit(X[:300], sparse.csr_array(Y[:300]))
    P = model.predict_proba(X[300:])
    assert sparse.issparse(P) and P.shape == (100, N_LABELS)
    exact = make_model(name, n_sketched=None, **settings).fit(X[:300], Y[:300]).predict_proba(X[300:])
    ours, theirs = (multilabel_scores(Y[300:], each)["average_precision"] for each in (P, exact))
    assert isinstance(exact, np.ndarray) and abs(ours - theirs) < 0.05
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz").predict_proba(X[300:])
    assert again.data.tobytes() == P.data.tobytes() and again.indices.tobytes() == P.indices.tobytes()
    decided = model.predict(X[300:])
    np.testing.assert_array_equal(decided.toarray(), P.toarray() > 0.5)


@pytest.mark.parametrize("name", ["RF+ET", "gcForest+", "Stack+"])
def test_the_study_scores_and_examines_models_of_many_labels(name):
    """Models that accept a first level receive it as in a job of the study."""
    X, Y = make_data(n=300)
    fold_of, observed = np.arange(300) % 3, mask_positives(Y, 0.3, random_state=0)
    settings, levels = {"n_trees": 8, "max_levels": 1, "random_state": 0}, None
    if name != "Stack+":
        levels = {
            fold: make_any(name, **settings).fit(X[fold_of != fold], observed[fold_of != fold]).levels_[0].to_states()
            for fold in range(3)
        }

    def options(fold):
        return {} if levels is None else {"first_level": Level.of_states(levels[fold])}

    given = X, sparse.csr_array(Y), fold_of, lambda _: sparse.csr_array(observed)
    found = score_on_folds(lambda _: make_any(name, **settings), *given, examine=imputation_table, fit_options=options)
    alone = score_on_folds(lambda _: make_any(name, **settings), *given)
    np.testing.assert_array_equal(found.scores["value"], alone.scores["value"])
    assert found.scores["reason"].fillna("").eq("").all()
    first = found.findings.query("level == 0")
    hidden = (Y - observed)[fold_of != 0].sum(axis=0)
    np.testing.assert_array_equal(first.query("fold == 0")["false_negatives"], hidden)
    np.testing.assert_array_equal(first.query("fold == 0")["n_observed"], observed[fold_of != 0].sum(axis=0))


def test_labels_with_gaps_or_to_be_imputed_are_learned_from_exactly():
    X, Y = make_data(n=120)
    settings = {"n_trees": 4, "max_levels": 1, "random_state": 0}
    assert isinstance(make_model("FLAForest+", **settings).fit(X, Y).predict_proba(X), np.ndarray)
    Y = Y.astype(float)
    Y[0, 3] = np.nan
    assert isinstance(make_model("gcForest+", **settings).fit(X, Y).predict_proba(X), np.ndarray)


def test_number_of_columns_is_checked(data):
    with pytest.raises(ModelError, match=r"n_sketched is 0; it must be 'auto', None or a whole number of at least 1"):
        make_model("gcForest+", n_sketched=0).fit(*data)


@pytest.mark.parametrize("most", [3, 200])
def test_sums_of_leaves_are_those_of_sparse_products(most):
    """Sums are added in the same order and equal to the last bit."""
    rng = np.random.default_rng(0)
    Y = sparse.csr_array((rng.random((300, 150)) < 0.05).astype(np.int8))
    forest = SketchedForest("extra_trees", n_trees=20, random_state=0).fit(rng.random((300, 5)), Y)
    taken = np.where(forest.in_bag_, 0, rng.random(forest.in_bag_.shape) / 10)
    shares = forest.leaf_times_ / np.repeat(forest.weight_, np.diff(forest.leaf_starts_))
    draws = csr_of_rows(np.diff(forest.leaf_starts_), forest.leaf_samples_, shares, 300)
    passed = csr_of_rows(np.full(300, 20), forest.leaf_of_.ravel(), taken.ravel(), draws.shape[0])
    expected = (passed @ draws @ Y.astype(np.float64)).astype(np.float32)
    expected.data[expected.data < FLOOR] = 0
    expected = weighted_sum([expected], [1.0], most)
    leaves = forest.leaf_starts_, forest.leaf_samples_, shares
    found = sums_of_leaves(forest.leaf_of_, taken, *leaves, forest.label_starts_, forest.labels_, 150, most)
    found = joined_rows([found], 150)
    assert found.has_sorted_indices and (found != expected).nnz == 0 and found.nnz == expected.nnz
    assert np.diff(found.indptr).max() > 3 or most == 3
