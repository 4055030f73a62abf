from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, matthews_corrcoef
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairfold.errors import DataError, ModelError, SplitError
from fairfold.metrics.registry import METRICS
from fairfold.models import make_model
from fairfold.models.registry import first_level_from
from fairfold.win_percentage.multilabel_sets import evaluate_multilabel_sets, evaluate_numbered_sets

MODELS = {"bayes": OneVsRestClassifier(GaussianNB()), "logistic": OneVsRestClassifier(LogisticRegression())}
SETS = [[0, 1], [2, 5, 3], [4]]
FOLD_OF = np.arange(60) % 3


@pytest.fixture(scope="module")
def data():
    """Return informative features, labels, folds and the observed labels of each fold.

    A third of the positives is hidden.
    """
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 3)) < 0.4).astype(int)
    X = rng.normal(size=(60, 6)) + np.hstack([Y, Y]) * [2, 1, 0.5, 0, 3, 1]
    seen = [Y * (np.random.default_rng(fold).random(Y.shape) < 2 / 3) for fold in range(3)]
    return X, Y, FOLD_OF, seen.__getitem__


class Sides(BaseEstimator):
    """Classifier that predicts the weighted share of each label on either side of a fixed threshold."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, Y, sample_weight=None):
        weight = np.ones(len(Y)) if sample_weight is None else sample_weight
        sides = X[:, self.feature] <= 1, X[:, self.feature] > 1
        shares = np.array([np.average(Y[of], axis=0, weights=weight[of]) for of in sides])
        self.shares_ = shares.round(9)  # equal shares tie after rounding
        return self

    def predict_proba(self, X):
        return self.shares_[(X[:, self.feature] > 1).astype(int)]


class Recorder(BaseEstimator):
    """Classifier that makes a fixed prediction and records its inputs."""

    calls: ClassVar = []

    def __init__(self, random_state=None, value=0.5):
        self.random_state, self.value = random_state, value

    def fit(self, X, Y, **options):
        self.calls.append((X.copy(), Y.copy(), self.random_state, options))
        self.n_labels_ = Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.full((len(X), self.n_labels_), self.value) + X[:, :1] * 1e-3


def test_a_sample_of_weight_two_is_like_two(data):
    X, Y, fold_of, observed = data
    weights = np.random.default_rng(1).integers(1, 4, size=60)
    copies = np.repeat(np.arange(60), weights)
    models = {name: Sides(feature) for feature, name in enumerate("ab")}
    weighted, _ = evaluate_multilabel_sets(models, *data, SETS[:2], seeds=[1, 2], sample_weight=weights)
    repeated, _ = evaluate_multilabel_sets(
        models, X[copies], Y[copies], fold_of[copies], lambda fold: observed(fold)[copies], SETS[:2], seeds=[1, 2]
    )
    alike, _ = evaluate_multilabel_sets(models, *data, SETS[:2], seeds=[1, 2])
    for metric, found in weighted.items():
        np.testing.assert_allclose(found, repeated[metric], atol=1e-12)
        assert (np.abs(found - alike[metric]) > 1e-4).any()


def test_a_model_that_takes_no_weights_has_that_as_its_reason(data):
    models = {"neighbors": KNeighborsClassifier(), "sides": Sides()}
    found, reason = evaluate_multilabel_sets(models, *data, SETS[:1], seeds=[1], sample_weight=np.arange(60) + 1)
    assert "KNeighborsClassifier does not accept sample weights" in reason[0, 0] and not reason[0, 1]
    assert np.isnan(found["mcc"][0, 0]) and not np.isnan(found["mcc"][0, 1])


@pytest.fixture
def calls():
    Recorder.calls.clear()
    return Recorder.calls


def test_equals_the_plain_loop(data):
    X, Y, fold_of, observed = data
    found, _ = evaluate_multilabel_sets(MODELS, *data, SETS, seeds=[1, 2, 3], threshold=0.4)
    assert list(found) == ["average_precision", "mcc"]
    for number, chosen in enumerate(SETS):
        for place, model in enumerate(MODELS.values()):
            P = np.empty(Y.shape)
            for fold in range(3):
                train, test = fold_of != fold, fold_of == fold
                P[test] = clone(model).fit(X[train][:, chosen], observed(fold)[train]).predict_proba(X[test][:, chosen])
            expected = average_precision_score(Y.ravel(), P.ravel()), matthews_corrcoef(Y.ravel(), P.ravel() > 0.4)
            assert tuple(found[metric][number, place] for metric in found) == expected
    assert np.ptp(found["mcc"], axis=None) > 0.1


def test_sparse_is_dense(data):
    X, Y, fold_of, observed = data
    sparse_data = sparse.csr_array(X), sparse.csr_array(Y), fold_of, lambda fold: sparse.csr_array(observed(fold))
    found, expected = (
        evaluate_multilabel_sets(MODELS, *each, SETS, seeds=[1, 2, 3])[0] for each in (sparse_data, data)
    )
    for metric in expected:
        np.testing.assert_array_equal(found[metric], expected[metric])


def test_models_meet_each_set_and_fold_with_the_same_seed(data, calls):
    models = {"a": Recorder(random_state=5), "b": Recorder(random_state=6, value=0.4)}
    evaluate_multilabel_sets(models, *data, SETS, seeds=[1, 2, 3])
    seeds = np.reshape([call[2] for call in calls], (3, 3, 2))  # sets, folds, models
    assert (seeds[..., 0] == seeds[..., 1]).all()
    assert len(np.unique(seeds)) == 9
    assert models["a"].random_state == 5  # the user's model is unchanged


def test_training_sees_observed_labels_of_the_other_folds(data, calls):
    X, _, fold_of, observed = data
    evaluate_multilabel_sets({"a": Recorder(), "b": Recorder()}, *data, [[3, 1]], seeds=[1])
    for number, (features, labels, *_) in enumerate(calls):
        fold = number // 2
        np.testing.assert_array_equal(features, X[fold_of != fold][:, [3, 1]])
        np.testing.assert_array_equal(labels, observed(fold)[fold_of != fold])


def test_the_hook_gives_what_was_fitted_before(data, calls):
    def options(model, fitted):
        assert not hasattr(model, "n_labels_")
        return {"before": [*fitted]}

    evaluate_multilabel_sets({n: Recorder() for n in "abc"}, *data, [[0]], seeds=[1], fit_options=options)
    assert [call[3]["before"] for call in calls] == [[], ["a"], ["a", "b"]] * 3


def test_forests_that_share_level_0_are_as_good_as_alone(data):
    models = {
        name: make_model(name, n_trees=4, max_levels=2) for name in ("RF+ET", "SLCForest", "gcForest+", "FLAForest+")
    }
    alone, _ = evaluate_multilabel_sets(models, *data, SETS, seeds=[1, 2, 3])
    shared, _ = evaluate_multilabel_sets(models, *data, SETS, seeds=[1, 2, 3], fit_options=first_level_from)
    threaded = {name: clone(model).set_params(n_jobs=2) for name, model in models.items()}
    on_threads, _ = evaluate_multilabel_sets(threaded, *data, SETS, seeds=[1, 2, 3])
    for metric, found in alone.items():
        np.testing.assert_array_equal(shared[metric], found)
        np.testing.assert_array_equal(on_threads[metric], found)


class Staged(Recorder):
    """Model of two levels with scores from different features. Each metric prefers one level."""

    best_level_ = 0

    def fit(self, X, Y, **options):
        self.best_levels_ = {"average_precision": 0, "mcc": 1}
        return super().fit(X, Y, **options)

    def staged_predict_proba(self, X):
        for feature in (0, 1):
            yield np.repeat(X[:, [feature]] / 10 + 0.5, self.n_labels_, axis=1)

    def predict_proba(self, X):
        raise AssertionError("levels were not asked for")


def test_a_cascade_is_judged_on_the_level_that_the_metric_chooses(data):
    X, truth = data[0], data[1].ravel()
    found, _ = evaluate_multilabel_sets({"bayes": MODELS["bayes"], "staged": Staged()}, *data, [[4, 0]], seeds=[7])
    by_feature = {feature: np.repeat(X[:, feature] / 10 + 0.5, 3) for feature in (4, 0)}
    assert found["average_precision"][0, 1] == average_precision_score(truth, by_feature[4])
    assert found["average_precision"][0, 1] != average_precision_score(truth, by_feature[0])
    assert found["mcc"][0, 1] == matthews_corrcoef(truth, by_feature[0] > 0.5)
    assert found["mcc"][0, 1] != matthews_corrcoef(truth, by_feature[4] > 0.5)


class Fails(Recorder):
    """Model that fails to fit on the second feature set and predicts NaN on the third."""

    def fit(self, X, Y, **options):
        if X.shape[1] == 3:
            raise ValueError("no such features")
        return super().fit(X, Y)

    def predict_proba(self, X):
        return super().predict_proba(X) * (np.nan if X.shape[1] == 1 else 1)


def test_a_model_that_fails_has_a_reason_and_leaves_the_others_alone(data):
    models = {"bayes": MODELS["bayes"], "fails": Fails(), "shapes": ExtraTreesClassifier(2), "last": MODELS["logistic"]}
    found, reason = evaluate_multilabel_sets(models, *data, SETS, seeds=[1, 2, 3])
    expected, no_reason = evaluate_multilabel_sets(MODELS, *data, SETS, seeds=[1, 2, 3])
    assert (no_reason == "").all()
    for metric, performances in found.items():
        np.testing.assert_array_equal(performances[:, [0, 3]], expected[metric])
        np.testing.assert_array_equal(np.isnan(performances), reason != "")
    assert reason[:2, 1].tolist() == ["", "fold 0: no such features"]
    assert "values that are not finite" in reason[2, 1]
    assert (reason[:, 2] == "").all()  # scikit-learn returns an array per label


def test_reasons_stand_in_the_table(data):
    models = {**MODELS, "broken": make_model("RF+ET", n_trees=0)}
    table = evaluate_numbered_sets(models, *data, sets=range(2), permutations=[0, 1], **NUMBERED)
    is_broken = table["model"] == "broken"
    assert (table["reason"].str.startswith("fold 0: n_trees is 0") == is_broken).all()
    assert (table["performance"].isna() == is_broken).all()


def test_an_undefined_metric_has_its_reason(data):
    X, Y, fold_of, _ = data
    table = evaluate_numbered_sets(MODELS, X, np.ones_like(Y), fold_of, lambda fold: Y, sets=range(2), **NUMBERED)
    table = table[table["metric"] == "average_precision"]
    assert table["performance"].isna().all()
    assert set(table["reason"]) == {METRICS["average_precision"].undefined}


def test_equal_predictions_tie_exactly(data):
    models = {name: ExtraTreesOfLabels() for name in ("one", "other")}
    for found in evaluate_multilabel_sets(models, *data, SETS, seeds=[1, 2, 3])[0].values():
        np.testing.assert_array_equal(found[:, 0], found[:, 1])


class ExtraTreesOfLabels(ExtraTreesClassifier):
    """Extra-trees classifier that returns probabilities in the required shape."""

    def __init__(self, n_estimators=3, random_state=None):
        super().__init__(n_estimators=n_estimators, random_state=random_state)

    def predict_proba(self, X):
        return np.column_stack([P[:, -1] for P in super().predict_proba(X)])


NUMBERED = {"set_size": 2, "seed": 4, "dataset": "plants"}


def test_chunks_are_the_whole(data):
    models = {"trees": ExtraTreesOfLabels(), "bayes": MODELS["bayes"]}
    whole = evaluate_numbered_sets(models, *data, sets=range(4), permutations=range(3), **NUMBERED)
    assert whole.columns.tolist() == ["permutation", "set", "features", "metric", "model", "performance", "reason"]
    assert len(whole) == 3 * 4 * 2 * 2
    parts = [
        evaluate_numbered_sets(models, *data, sets=sets, permutations=[permutation], **NUMBERED)
        for permutation in (2, 0, 1)
        for sets in ([3], [0, 1, 2])
    ]
    keys = ["permutation", "metric", "set", "model"]
    together, whole = pd.concat(parts).set_index(keys).sort_index(), whole.set_index(keys).sort_index()
    pd.testing.assert_frame_equal(together, whole, check_exact=True)


def test_sets_and_seeds_depend_on_the_dataset(data):
    one = evaluate_numbered_sets(MODELS, *data, sets=range(5), **NUMBERED)
    other = evaluate_numbered_sets(MODELS, *data, sets=range(5), **{**NUMBERED, "dataset": "animals"})
    assert one["features"].tolist() != other["features"].tolist()
    assert one.drop_duplicates("set")["features"].nunique() > 2
    assert all(len(set(text.split())) == 2 for text in one["features"])


def test_permutations_move_whole_rows_and_nothing_else(data, calls):
    X = data[0]
    models = {"a": Recorder(), "b": Recorder()}
    evaluate_numbered_sets(models, X[:, :2], *data[1:], sets=[0, 1], permutations=[0, 1, 2], **NUMBERED)
    by_permutation = [calls[start : start + 12] for start in (0, 12, 24)]  # 2 sets, 3 folds, 2 models
    own, *permuted = by_permutation
    seen = []
    for part in permuted:
        for (features, labels, seed, _), (own_features, own_labels, own_seed, _) in zip(part, own, strict=True):
            np.testing.assert_array_equal(labels, own_labels)  # the same labels, hidden ones and folds
            assert seed != own_seed
            assert not np.array_equal(features, own_features)
        first, second = part[0][0], part[6][0]
        np.testing.assert_array_equal(first, second)  # one order for all sets
        assert {tuple(row) for row in first} <= {tuple(row) for row in X[:, :2]}  # rows stay whole
        seen.append(first)
    assert not np.array_equal(*seen)


def test_permuted_labels_lose_what_there_is_to_find():
    """Scores at chance are 0.4, the share of positives, and 0, with standard deviations of at most 0.07."""
    rng = np.random.default_rng(1)
    Y = (rng.random((80, 3)) < 0.4).astype(int)
    X = np.hstack([Y, Y]) + 0.1 * rng.normal(size=(80, 6))
    fold_of = np.arange(80) % 2
    table = evaluate_numbered_sets(
        MODELS, X, Y, fold_of, lambda fold: Y, sets=range(3), permutations=range(4), set_size=6, seed=0, dataset="a"
    )
    means = table.groupby(["metric", "permutation"])["performance"].mean()
    assert means["average_precision", 0] > 0.99
    assert means["mcc", 0] > 0.95
    assert (means["average_precision"].drop(0) < 0.55).all()
    assert (means["mcc"].drop(0).abs() < 0.2).all()


def changed(data, **changes):
    return [changes.get(name, part) for name, part in zip(("X", "Y", "fold_of", "observed"), data, strict=True)]


@pytest.mark.parametrize(
    ("changes", "options", "error", "sentence"),
    [
        ({"X": np.full((60, 6), np.inf)}, {}, DataError, r"X\[0, 0\]: found inf"),
        ({"Y": np.zeros((60, 3))}, {}, DataError, r"Y: found shape \(60, 3\).*with positives"),
        ({"Y": np.ones((59, 3))}, {}, DataError, r"Y: found shape \(59, 3\) for 60 samples"),
        ({"Y": np.full((60, 3), 2)}, {}, DataError, "expected 0, 1 or NaN, found 2"),
        ({"fold_of": np.zeros(60, dtype=int)}, {}, SplitError, "all samples in fold 0.*: give two folds or more"),
        ({"fold_of": 2 * FOLD_OF}, {}, SplitError, "no sample in fold 1: number the folds"),
        ({"fold_of": FOLD_OF[1:]}, {}, SplitError, r"fold_of has shape \(59,\): .* of the 60 samples"),
        ({}, {"feature_sets": [[0, 6]]}, DataError, "indices from 0 to 5"),
        ({}, {"models": {"bayes": MODELS["bayes"]}}, ModelError, "models: found 1"),
    ],
)
def test_bad_input(data, changes, options, error, sentence):
    options = {"models": MODELS, "feature_sets": [[0, 1]], "seeds": [1], **options}
    models, sets = options.pop("models"), options.pop("feature_sets")
    with pytest.raises(error, match=sentence):
        evaluate_multilabel_sets(models, *changed(data, **changes), sets, **options)


def test_a_set_larger_than_the_data_is_refused(data):
    with pytest.raises(DataError, match=r"'plants' has 6 features, but set_size is 7"):
        evaluate_numbered_sets(MODELS, *data, sets=[0], **{**NUMBERED, "set_size": 7})


def test_groups_that_cannot_be_permuted_have_that_as_their_reason(data):
    groups = np.repeat([0, 1, 2], [30, 20, 10])
    parts = changed(data, fold_of=groups)
    table = evaluate_numbered_sets(MODELS, *parts, sets=[0, 1], permutations=[0, 1], groups=groups, **NUMBERED)
    own, permuted = (table[table["permutation"] == order] for order in (0, 1))
    assert own["performance"].notna().all() and (own["reason"] == "").all()
    assert len(permuted) == len(own) and permuted["performance"].isna().all()
    assert permuted["reason"].str.contains("no two groups have the same size").all()
