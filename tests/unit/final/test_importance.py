"""Permutation importance equals that of scikit-learn, and correlated features are permuted together."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.metrics import average_precision_score

from fairfold.datasets import Dataset
from fairfold.datasets.categories import Categories
from fairfold.final import importance
from fairfold.final.importance import (
    MOST_FEATURES,
    N_PERMUTATIONS,
    feature_groups,
    permutation_losses,
    summarize_losses,
)
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model


def dataset(X, names=None, categories=None):
    Y = np.zeros((X.shape[0], 2), dtype=np.int8)
    names = names or tuple(f"f{at}" for at in range(X.shape[1]))
    return Dataset("d", "multilabel", X, Y, tuple(names), ("a", "b"), categories=categories)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(600, 2)) > 0.5).astype(np.int8)
    return make_model("logistic").fit(X[:300], Y[:300]), X[300:], Y[300:]


def test_losses_are_those_of_scikit_learn(fitted):
    model, X, Y = fitted
    groups = {name: [at] for at, name in enumerate("abcd")}
    tables = [permutation_losses(model, X, Y, groups, seed=seed).assign(fold=seed) for seed in range(10)]
    found = summarize_losses(pd.concat(tables), groups).set_index("features")["loss"]

    def score(estimator, X, y):
        return average_precision_score(y.ravel(), estimator.predict_proba(X).ravel())

    theirs = permutation_importance(model, X, Y, scoring=score, n_repeats=30, random_state=1)
    np.testing.assert_allclose([found[name] for name in "abcd"], theirs.importances_mean, rtol=0, atol=0.02)
    assert found.index[:2].isin(["a", "b"]).all() and abs(found[["c", "d"]]).max() < 0.02


def test_sparse_features_lose_the_same(fitted):
    model, X, Y = fitted
    groups = {"both": [0, 2], "one": [1]}
    dense = permutation_losses(model, X, Y, groups, seed=3)
    scaled = make_model("kernel-ridge").fit(sparse.csr_array(X), Y)
    found = permutation_losses(scaled, sparse.csr_array(X), Y, groups, seed=3)
    expected = permutation_losses(make_model("kernel-ridge").fit(X, Y), X, Y, groups, seed=3)
    np.testing.assert_allclose(found["loss"], expected["loss"], rtol=0, atol=0.05)
    assert dense["features"].tolist() == found["features"].tolist()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cells", [1, 300 * 4 * 5, 10**9])
def test_copies_that_are_predicted_together_lose_what_each_does_alone(fitted, monkeypatch, kind, cells):
    _, X, Y = fitted
    X = kind(X)
    model = make_model("ML-kNN").fit(X[:200], Y[:200])
    monkeypatch.setattr(importance, "_CELLS_AT_ONCE", cells)
    found = permutation_losses(model, X, Y, {"both": [0, 2], "one": [1], "last": [3]}, seed=3)

    rng = np.random.default_rng(3)
    scored = partial(multilabel_scores, metrics=["average_precision"])
    before, expected = scored(Y, model.predict_proba(X))["average_precision"], []
    for columns in ([0, 2], [1], [3]):
        for _ in range(N_PERMUTATIONS):
            moved, order = (X.toarray() if sparse.issparse(X) else X).copy(), rng.permutation(300)
            moved[:, columns] = moved[order][:, columns]
            expected.append(before - scored(Y, model.predict_proba(kind(moved)))["average_precision"])
    assert found["loss"].tolist() == expected and len({*expected}) == 9


def test_losses_of_many_samples_are_those_of_some(fitted, monkeypatch):
    model, X, Y = fitted
    monkeypatch.setattr(importance, "MOST_PERMUTED", 150)
    found = permutation_losses(model, X, Y, {"a": [0]}, seed=3)
    rng = np.random.default_rng(3)
    some = np.sort(rng.choice(300, 150, replace=False))
    scored = partial(multilabel_scores, Y[some], metrics=["average_precision"])
    moved = X[some]
    moved[:, 0] = moved[rng.permutation(150), 0]
    losses = [scored(model.predict_proba(each))["average_precision"] for each in (X[some], moved)]
    assert found["loss"][0] == losses[0] - losses[1]


def test_many_sparse_labels_need_fewer_samples(fitted, monkeypatch):
    model, X, Y = fitted
    monkeypatch.setattr(importance, "LEAST_PERMUTED", 100)
    many = sparse.hstack([sparse.csr_array(Y), sparse.csr_array((300, 24_998), dtype=np.int8)], format="csr")

    class Wide:
        def predict_proba(self, X):
            return sparse.hstack([sparse.csr_array(model.predict_proba(X)), sparse.csr_array((len(X), 24_998))], "csr")

    found = permutation_losses(Wide(), X, many, {"a": [0]}, seed=3)
    monkeypatch.setattr(importance, "MOST_PERMUTED", 200)  # 1,000 / 25,000 of these samples are fewer than 100
    few = permutation_losses(Wide(), X, many, {"a": [0]}, seed=3)
    monkeypatch.setattr(importance, "MOST_PERMUTED", 100)
    pd.testing.assert_frame_equal(few, permutation_losses(model, X, Y, {"a": [0]}, seed=3))
    assert (found["loss"] != few["loss"]).any()


def test_few_features_are_groups_of_their_own_and_a_category_is_one():
    categories = Categories("one-hot", {"soil": ("loam", "sand")})
    names = ("height", "width", "soil=loam", "soil=sand")
    found = feature_groups(dataset(np.random.default_rng(0).normal(size=(30, 4)), names, categories))
    assert {name: places.tolist() for name, places in found.items()} == {"height": [0], "width": [1], "soil": [2, 3]}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_features_are_joined_by_their_correlation(kind):
    rng = np.random.default_rng(1)
    causes = rng.normal(size=(200, 5))
    X = np.repeat(causes, 20, axis=1) + 0.2 * rng.normal(size=(200, 100))
    X[:, 7] *= -1  # a negative correlation also joins features
    found = feature_groups(dataset(kind(X)), most=5)
    assert sorted(sorted(places.tolist()) for places in found.values()) == np.arange(100).reshape(5, 20).tolist()
    assert all(name.endswith(" and 19 more") for name in found)


def test_gaps_and_constant_features_do_no_harm():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 60))
    X[:, 3], X[rng.random(50) < 0.2, 5] = 1.0, np.nan
    found = feature_groups(dataset(X), most=10)
    assert len(found) <= 10 and sorted(np.concatenate(list(found.values()))) == list(range(60))


def test_of_too_many_features_nothing_is_reported():
    assert feature_groups(dataset(np.zeros((2, MOST_FEATURES + 1)))) == {}
    assert feature_groups(dataset(np.zeros((2, 0)))) == {}
