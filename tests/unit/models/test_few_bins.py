import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.models.few_bins import FewBinsBoosting, most_values


def features(kind):
    random = np.random.default_rng(0)
    X = random.random((300, 6))
    if kind == "continuous":
        return X
    if kind == "constant":
        return np.zeros((300, 3))
    X = np.floor(X * (2 if kind == "binary" else 9))
    if kind == "gaps":
        X[random.random(X.shape) < 0.2] = np.nan
    return X


@pytest.mark.parametrize("kind", ["continuous", "constant", "binary", "few", "gaps", "categories"])
def test_the_trees_are_scikit_learns(kind):
    X = features(kind)
    y = (np.nan_to_num(X).sum(axis=1) + np.random.default_rng(1).random(300) > X.shape[1] / 2).astype(int)
    settings = {"max_iter": 20, "random_state": 0, "categorical_features": [0] if kind == "categories" else None}
    ours, theirs = FewBinsBoosting(**settings).fit(X, y), HistGradientBoostingClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.get_params() == theirs.get_params()
    assert ours._bin_mapper.n_bins == {"continuous": 256, "constant": 3, "binary": 3}.get(kind, ours._bin_mapper.n_bins)


@pytest.mark.parametrize(("kind", "expected"), [("continuous", 300), ("constant", 1), ("binary", 2), ("few", 9)])
def test_how_many_values(kind, expected):
    assert most_values(features(kind)) == expected


def test_a_gap_is_a_value_and_nothing_has_none():
    assert most_values(np.array([[0.0, 1], [np.nan, 1], [0, 2]])) == 2
    assert most_values(np.empty((0, 3))) == 1
