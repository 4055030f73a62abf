from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.models.lean_boosting import LeanBoosting, value_counts

KINDS = ["continuous", "constant", "binary", "few", "gaps", "many gaps", "words", "rare words"]


def features(kind):
    random = np.random.default_rng(0)
    X = random.random((300, 12))
    if kind == "continuous":
        return X
    if kind == "constant":
        return np.zeros((300, 3))
    if "words" in kind:  # from never there to always there; 20 samples are what a leaf needs
        return ((np.linspace(0, 0.05, 12) if kind == "rare words" else np.linspace(0, 1, 12)) > X).astype(float)
    X = np.floor(X * (2 if kind == "binary" else 9))
    if kind == "gaps":
        X[random.random(X.shape) < 0.2] = np.nan
    if kind == "many gaps":  # from all values to 1 in 300
        X[np.arange(300)[:, np.newaxis] >= np.linspace(300, 1, 12)] = np.nan
        X = random.permuted(X, axis=0)
    return X


def labels(X):
    return (np.nan_to_num(X).sum(axis=1) + np.random.default_rng(1).random(len(X)) > X.shape[1] / 2).astype(int)


@pytest.mark.parametrize("categorical", [None, [0], [1, 5]])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("min_samples_leaf", [1, 20])
def test_the_trees_are_scikit_learns(kind, categorical, min_samples_leaf):
    X = features(kind)
    if categorical and (kind == "continuous" or max(categorical) >= X.shape[1]):
        pytest.skip("not categories")
    y = np.random.default_rng(1).integers(0, 2, len(X)) if kind == "rare words" else labels(X)
    settings = {
        "max_iter": 20, "random_state": 0, "categorical_features": categorical, "min_samples_leaf": min_samples_leaf
    }  # fmt: skip
    weights = np.random.default_rng(2).random(len(X))
    ours = LeanBoosting(**settings).fit(X, y, weights)
    theirs = HistGradientBoostingClassifier(**settings).fit(X, y, weights)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.get_params() == theirs.get_params()


def test_what_no_split_can_be_on_is_left_out():
    X = features("words")
    model = LeanBoosting(max_iter=2).fit(X, labels(X))
    ones = X.sum(axis=0)
    assert model.searched_.tolist() == [j for j in range(12) if 20 <= ones[j] <= 280]
    assert 0 < len(model.searched_) < 12
    assert model._bin_mapper.n_bins == 3  # two and one for gaps
    assert LeanBoosting(max_iter=2).fit(features("constant"), labels(X)).searched_.tolist() == [0]


def test_sparse_features_are_refused_as_by_scikit_learn():
    with pytest.raises(TypeError, match="dense"):
        LeanBoosting().fit(sparse.csr_matrix(features("words")), labels(features("words")))


@pytest.mark.parametrize("min_samples_leaf", [1, 20])
def test_a_feature_without_values_is_left_out(min_samples_leaf):
    X = features("continuous")
    y, settings = labels(X), {"max_iter": 5, "random_state": 0, "min_samples_leaf": min_samples_leaf}
    whole = LeanBoosting(**settings).fit(X[:, 1:], y)
    X[:, 0] = np.nan
    model = LeanBoosting(**settings).fit(X, y)
    assert model.searched_.tolist() == list(range(1, 12))
    X[:5, 0] = 1.0  # values that training lacks
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X[:, 1:]))


def test_a_feature_with_values_in_samples_of_no_weight_only_is_left_out():
    X, weights = features("continuous"), np.ones(300)
    y = labels(X)
    X[50:, 0], weights[:50] = np.nan, 0
    assert LeanBoosting(max_iter=2).fit(X, y, weights).searched_.tolist() == list(range(1, 12))


def test_features_without_values_alone_predict_the_share():
    X, y = np.full((300, 2), np.nan), labels(features("continuous"))
    model = LeanBoosting(max_iter=5).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean())
    np.testing.assert_array_equal(model.predict_proba(np.ones((300, 2))), model.predict_proba(X))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "gaps" not in kind])
def test_counts_of_values(kind):
    X = features(kind)
    n_values, most = value_counts(X)
    counted = [Counter(column.tolist()) for column in X.T]
    assert n_values.tolist() == [len(values) for values in counted]
    assert most.tolist() == [max(values.values()) for values in counted]


def test_a_gap_is_a_value_and_nothing_has_none():
    n_values, most = value_counts(np.array([[0.0, 1], [np.nan, 1], [0, 2], [np.nan, 2]]))
    assert n_values.tolist() == [3, 2]
    assert most.tolist() == [2, 2]
    assert value_counts(np.empty((0, 3)))[0].tolist() == [0, 0, 0]
    assert value_counts(np.empty((3, 0)))[1].tolist() == []
