"""A sample of weight 2 counts like two samples, in training and in scores."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from fairfold.core.groups import NO_METADATA, SampleMetadata, fit_arguments
from fairfold.errors import DataError, ModelError
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.final.labels import label_scores
from fairfold.forests.binning import BinnedMatrix
from fairfold.forests.growth import _draw_weights
from fairfold.forests.trees import MultilabelForest
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import MODEL_NAMES, load_model, make_model
from fairfold.models.binary import one_per_label
from fairfold.models.kernel_ridge import KernelRidgeClassifier
from fairfold.models.registry import register_own, spec_of
from fairfold.models.stacking import pool_weights
from fairfold.weak_labels.calibration import fit_calibration

DEEP = ("RF+ET", "gcForest", "SLCForest", "CaFE", "gcForest+", "FLAForest+", "Stack+")
WITHOUT = ("kNN", "ML-kNN", "chains")
SHOWN = [name for name in MODEL_NAMES if name.rstrip("+") not in WITHOUT]
SHOWN = [name for name in SHOWN if not (spec_of(name).package or spec_of(name).is_tuned)]
SHOWN = [name for name in SHOWN if name in DEEP or not (name.endswith("+") or "Forest" in name or "CaFE" in name)]


@pytest.fixture(scope="module")
def data():
    """Return two kinds of samples for which the first feature has opposite effects.

    The second kind has fewer samples and a larger total weight.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    second = np.arange(200) < 50
    Y = np.column_stack([(X[:, 0] > 0) != second, X[:, 1] > 0.3]).astype(np.int8)
    return X, Y, np.where(second, 60.0, 1.0)


def make(name):
    few = {"n_trees": 30, "max_levels": 1} if name in DEEP else {}
    return make_model(name, **few, random_state=0)


@pytest.mark.parametrize("name", [*SHOWN, "logistic+"])
def test_models_learn_what_weighs_most(data, name, tmp_path):
    X, Y, weights = data
    grid = np.column_stack([[-1.5, 1.5], np.zeros((2, 3))])
    alike, weighted = make(name).fit(X, Y), make(name).fit(X, Y, sample_weight=weights)
    # The first kind has more samples, the second has more weight.
    (low, high), (low_weighted, high_weighted) = alike.predict_proba(grid)[:, 0], weighted.predict_proba(grid)[:, 0]
    if name == "ExtraTrees":  # trees grow until leaves are pure, for any weights
        assert 0 < high_weighted - low_weighted < high - low
    elif name != "dummy":
        assert low < high and low_weighted > high_weighted
    else:
        share = np.average(Y[:, 0], weights=weights)
        np.testing.assert_allclose(weighted.predict_proba(grid)[:, 0], share)
    weighted.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(grid), weighted.predict_proba(grid))


@pytest.mark.parametrize("name", ["gcForest+", "CaFE", "Stack+", "joint-GB", "logistic+"])
def test_equal_weights_are_none(data, name):
    X, Y, _ = data
    expected = make(name).fit(X, Y).predict_proba(X)
    for weights in (np.full(200, 3.5), [2] * 200):
        np.testing.assert_array_equal(make(name).fit(X, Y, sample_weight=weights).predict_proba(X), expected)
    heavier = make(name).fit(X, Y, sample_weight=data[2]).predict_proba(X)
    scaled = make(name).fit(X, Y, sample_weight=10 * data[2]).predict_proba(X)
    np.testing.assert_allclose(scaled, heavier, atol=1e-9)


# ---- draws, ridge regression, calibration: closed forms


def test_samples_are_drawn_in_proportion():
    weights = np.array([1.0, 2.0, 4.0, 0.5])
    pool = BinnedMatrix.from_matrix(np.zeros((4, 1)), weights=weights).pool()
    state = np.array([7], dtype=np.uint64)
    n = 20_000
    drawn = _draw_weights(4, pool, n, state)
    expected = weights / weights.sum()
    assert drawn.sum() == n
    np.testing.assert_allclose(drawn / n, expected, atol=4 * np.sqrt(0.25 / n))


def test_groups_are_drawn_by_their_mean_weight():
    weights, groups = np.array([1.0, 3.0, 6.0, 2.0]), np.array([0, 0, 1, 2])
    pool = BinnedMatrix.from_matrix(np.zeros((4, 1)), groups=groups, weights=weights).pool()
    np.testing.assert_allclose(pool.odds, [2, 8, 10])
    drawn = _draw_weights(4, pool, 30_000, np.array([1], dtype=np.uint64))
    assert drawn[0] == drawn[1]
    np.testing.assert_allclose(drawn[[1, 2, 3]] / drawn[1:].sum(), [0.2, 0.6, 0.2], atol=0.02)


def test_the_root_of_a_forest_is_the_weighted_mean(data):
    X, Y, weights = data
    binned = BinnedMatrix.from_matrix(X, weights=weights)
    forest = MultilabelForest("extra_trees", n_trees=400, random_state=0).fit(binned, Y)
    np.testing.assert_allclose(forest.label_means_, np.average(Y, axis=0, weights=weights))
    roots = forest.value_[forest.tree_starts_[:-1]]
    np.testing.assert_allclose(roots.mean(axis=0), forest.label_means_, atol=0.02)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_ridge_regression_on_weights_is_that_on_copies(data, form):
    """Leaving out a sample of weight w equals leaving out a group of w copies of it."""
    X, Y, _ = data
    X, Y = X[:45], Y[:45]
    counts = np.resize([1, 10, 19], 45)  # ten times the samples with a tenth of the penalty each
    copies = np.repeat(np.arange(45), counts)
    weighted = KernelRidgeClassifier(gammas=(0.3,)).fit(form(X), Y, sample_weight=counts)
    repeated = KernelRidgeClassifier(gammas=(0.3,)).fit(form(X[copies]), Y[copies], groups=copies)
    assert 10 * weighted.penalty_ == pytest.approx(repeated.penalty_)
    np.testing.assert_allclose(weighted.predict_proba(form(X)), repeated.predict_proba(form(X)), atol=1e-8)
    np.testing.assert_allclose(weighted.out_of_fold_proba_[copies], repeated.out_of_fold_proba_, atol=1e-8)


def test_landmarks_of_all_samples_are_the_kernel_itself(data):
    X, Y, weights = data
    exact, by_landmarks = (
        KernelRidgeClassifier(gammas=(0.3,), max_exact=most, n_landmarks=200).fit(X, Y, sample_weight=weights)
        for most in (2500, 100)
    )
    assert exact.penalty_ == by_landmarks.penalty_
    np.testing.assert_allclose(by_landmarks.predict_proba(X), exact.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(by_landmarks.out_of_fold_proba_, exact.out_of_fold_proba_, atol=1e-5)


def test_calibration_counts_weights_as_copies(data):
    _, Y, _ = data
    P = np.clip(np.random.default_rng(0).random(Y.shape) * 0.5 + 0.4 * Y, 0.01, 0.99)
    counts = 1 + np.arange(len(Y)) % 4
    mean = counts.mean()
    weighted = fit_calibration(Y, P, sample_weight=counts / mean, shrinkage=1 / mean)
    copies = np.repeat(np.arange(len(Y)), counts)
    np.testing.assert_allclose(weighted, fit_calibration(Y[copies], P[copies]), atol=1e-8)


def test_a_pool_trusts_who_is_right_where_it_weighs(data):
    _, Y, weights = data
    second = weights > 1
    right, wrong = np.where(Y == 1, 0.9, 0.1), np.full(Y.shape, 0.5)
    members = np.stack([np.where(second[:, None], wrong, right), np.where(second[:, None], right, wrong)])
    assert pool_weights(Y, members)[0] > 0.7 and pool_weights(Y, members, weights / weights.mean())[0] < 0.1


def test_logistic_regression_is_given_them(data):
    X, Y, weights = data
    model = one_per_label(LogisticRegression()).fit(X, Y, sample_weight=weights)
    for label, P in enumerate(model.predict_proba(X)):
        by_hand = LogisticRegression().fit(X, Y[:, label], sample_weight=weights)
        np.testing.assert_array_equal(P, by_hand.predict_proba(X))


# ---- scores


@pytest.mark.parametrize("unmeasured", [False, True])
def test_scores_count_weights_as_copies(data, unmeasured):
    _, Y, _ = data
    rng = np.random.default_rng(1)
    P, counts = np.round(rng.random(Y.shape), 1), rng.integers(1, 4, size=len(Y))
    Y = np.where(rng.random(Y.shape) < 0.3, np.nan, Y) if unmeasured else Y
    copies = np.repeat(np.arange(len(Y)), counts)
    weighted, repeated = multilabel_scores(Y, P, sample_weight=counts), multilabel_scores(Y[copies], P[copies])
    assert weighted == pytest.approx(repeated, abs=1e-12) and list(weighted) == list(BASIC_METRICS)
    assert weighted != pytest.approx(multilabel_scores(Y, P), abs=1e-6)
    ours = label_scores(Y, P, ["a", "b"], seed=0, sample_weight=counts).set_index("label")
    theirs = label_scores(Y[copies], P[copies], ["a", "b"], seed=0).set_index("label")
    for score in ("average_precision", "roc_auc", "mcc"):
        np.testing.assert_allclose(ours[score], theirs.loc[ours.index, score], atol=1e-12)


def test_scores_of_folds_count_them(data):
    X, Y, weights = data
    fold_of = np.arange(200) % 2
    tables = score_on_folds(lambda fold: make("RF+ET"), X, Y, fold_of, lambda fold: Y, sample_weight=weights)
    scores = tables.scores.query("is_final and metric == 'average_precision'").set_index("fold")["value"]
    for fold in range(2):
        train, test = fold_of != fold, fold_of == fold
        P = make("RF+ET").fit(X[train], Y[train], sample_weight=weights[train]).predict_proba(X[test])
        expected = multilabel_scores(Y[test], P, sample_weight=weights[test])["average_precision"]
        assert scores[fold] == pytest.approx(expected, abs=1e-12)


# ---- models that accept weights, and valid weights


def test_who_is_given_them(data):
    weights = data[2]
    assert fit_arguments(KernelRidgeClassifier(), None, weights) == {"sample_weight": weights}
    assert NO_METADATA.of(np.arange(3)) == NO_METADATA and NO_METADATA.as_options() == {}
    some = SampleMetadata(None, weights).of(np.array([3, 1])).as_options()
    assert list(some) == ["sample_weight"] and some["sample_weight"].shape == (2,)


@pytest.mark.parametrize("name", WITHOUT)
def test_who_takes_none_states_so(data, name):
    X, Y, weights = data
    for fitted in (name, f"{name}+"):
        with pytest.raises(ModelError, match="does not accept sample weights"):
            make(fitted).fit(X, Y, sample_weight=weights)


def test_own_models_are_given_them(data):
    X, Y, weights = data
    entry = {"class": "sklearn.linear_model.LogisticRegression", "file": None, "parameters": {}, "tune": {}}
    entry |= {"labels": "one-per-label", "scale": False, "minutes": 5, "tuning": {}}
    register_own({"mine-weighted": entry})
    found = make_model("mine-weighted", random_state=0).fit(X, Y, sample_weight=weights).predict_proba(X)
    by_hand = LogisticRegression(random_state=0).fit(X, Y[:, 0], sample_weight=weights / weights.mean())
    np.testing.assert_allclose(found[:, 0], by_hand.predict_proba(X)[:, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), "weights have shape"),
        (np.r_[0.0, np.ones(199)], "sample 0 has weight 0; weights must be finite and above zero"),
        (np.r_[1.0, -2.0, np.ones(198)], "sample 1 has weight -2"),
        (np.r_[1.0, np.nan, np.ones(198)], "sample 1 has weight nan"),
        (["heavy"] * 200, "weights of samples: expected a finite number"),
    ],
)
def test_weights_are_positive_numbers(data, weights, sentence):
    X, Y, _ = data
    for name in ("gcForest+", "Stack+", "logistic"):
        with pytest.raises(ModelError, match=sentence):
            make(name).fit(X, Y, sample_weight=weights)
    with pytest.raises(DataError, match=sentence):
        multilabel_scores(Y, Y * 0.5, sample_weight=weights)
