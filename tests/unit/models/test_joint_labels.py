"""Optional boosting packages, and logistic regression with a chosen penalty."""

import sys

import numpy as np
import pytest

from fairfold.errors import ModelError
from fairfold.models import load_model, make_model
from fairfold.models.joint_labels import JointLabels
from fairfold.models.registry import spec_of


@pytest.fixture(scope="module")
def data():
    """Return features with a gap, and labels: two that depend on features, a rare one, an empty and a full one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    Y = X[:, :2] + 0.3 * rng.normal(size=(150, 2)) > [0, 0.7]
    X[3, 2] = np.nan
    return X, np.column_stack([Y, np.arange(150) == 5, np.zeros(150), np.ones(150)]).astype(float)


@pytest.mark.parametrize("name", ["CatBoost", "XGBoost", "BOOMER", "logistic-C"])
def test_they_learn_all_labels_and_repeat_themselves(name, data):
    if package := spec_of(name).package:
        pytest.importorskip(package)
    X, Y = data
    model = make_model(name, random_state=0).fit(X[:100], Y[:100])
    P = model.predict_proba(X[100:])
    assert P.shape == (50, 5) and np.ptp(P[:, 3:], axis=0).tolist() == [0, 0] and P[0, 3:].tolist() == [0, 1]
    assert ((P[:, :2] > 0.5) == Y[100:, :2]).mean() > 0.8
    np.testing.assert_array_equal(make_model(name, random_state=0).fit(X[:100], Y[:100]).predict_proba(X[100:]), P)
    thinned = np.where(np.arange(100)[:, None] < [20, 0, 0, 0, 0], np.nan, Y[:100])
    assert np.isfinite(make_model(name, random_state=0).fit(X[:100], thinned).predict_proba(X[100:])).all()


@pytest.mark.parametrize("name", ["XGBoost", "logistic-C"])
def test_saved_models_predict_the_same(name, data, tmp_path):
    if package := spec_of(name).package:
        pytest.importorskip(package)
    X, Y = data
    model = make_model(name, random_state=0).fit(X, Y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ModelError, match=r"CatBoostClassifier cannot be loaded .*pip install fairfold\[baselines\]"):
        make_model("CatBoost")


def test_a_single_label_is_fitted_twice():
    class Recorder:
        def get_params(self, deep=True):
            return {"random_state": 0}

        def set_params(self, **_):
            return self

        def __sklearn_clone__(self):
            return self

        def fit(self, X, Y):
            self.shape, self.labels = Y.shape, Y
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), [0.25, 0.75])

    recorder = Recorder()
    found = JointLabels(recorder).fit(np.ones((4, 1)), np.array([[0, 1], [0, 1], [0, 0], [0, 1]]))
    assert recorder.shape == (4, 2)
    np.testing.assert_array_equal(found.predict_proba(np.ones((2, 1))), [[0, 0.25]] * 2)
