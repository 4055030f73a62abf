"""Tree models do not depend on the origin or unit of a feature, and keep values distinct if that is possible."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from representatives import REPRESENTATIVES
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold

from fairfold.models import load_model, make_model
from fairfold.models.registry import spec_of

CASE = Path(__file__).parents[1] / "cases" / "time-as-large-integer.csv"
MOVES = {
    "a large constant": lambda x: x + 2.0240112e13,
    "below single precision": lambda x: x * 1e-52,
    "above single precision": lambda x: x * 1e40,
    "a tiny unit far from zero": lambda x: (x + 2.0**40) * 1e-30,
}
RATIOS = ("below single precision", "above single precision")
PAIRS = (("a large constant", RATIOS[0]), (RATIOS[1], "a tiny unit far from zero"))  # ratios of the first two features
PAIRED = ("joint-GB+", "LightGBM+", "logistic+", "gcForest", "CaFE-OS", "SLCForest")  # process features as others do
NAMES = [name for name in REPRESENTATIVES if name not in PAIRED]
BLIND = ("dummy", "logistic", "chains", "kNN", "ML-kNN", "RBF-SVM")  # models that lose differences of large numbers
BELOW = -(2.0**24)  # LightGBM bins negative and positive values separately
ROUNDING = {"RBF-SVM": 1e-3}  # tolerance of the solver; 1e-6 for other models


def make(name):
    few = {"n_trees": 8, "max_levels": 1}
    return make_model(name, random_state=0, **{key: few[key] for key in few if key in spec_of(name).settings})


@pytest.fixture(scope="module")
def data():
    """Return two integer features (one with missing values) and noise; each label depends on one feature."""
    rng = np.random.default_rng(0)
    X = rng.choice(2**23, (210, 3), replace=False).astype(float) + 1  # exact in single precision, few ties
    Y = np.column_stack([np.sin(X[:, 0] / 4e5) > 0.3, X[:, 1] > 5e6]).astype(np.int8)
    X[rng.random(210) < 0.15, 1] = np.nan
    return X, Y


def moved(X, pair):
    X = X.copy()
    for column, how in enumerate(pair):
        X[:, column] = MOVES[how](X[:, column])
    return X


def predictions(name, X, Y):
    """Predict new samples, most within the range of the training values and some outside."""
    return make(name).fit(X[:150], Y[:150]).predict_proba(X[150:])


@pytest.mark.parametrize("name", NAMES)
def test_neither_a_constant_nor_a_unit_changes_predictions(name, data):
    X, Y = data
    expected, atol = predictions(name, X, Y), ROUNDING.get(name.rstrip("+"), 1e-6)
    for pair in PAIRS:
        found = predictions(name, moved(X, pair), Y)
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol, err_msg=" and ".join(pair))
    below, far_below = (predictions(name, X + constant, Y) for constant in (BELOW, BELOW - 2.0**44))
    np.testing.assert_allclose(far_below, below, rtol=0, atol=atol)


@pytest.mark.parametrize("name", NAMES)
def test_nor_does_a_unit_of_sparse_features(name, data):
    X, Y = data
    X = np.where(np.isnan(X) | (X > 6e6), 0, X)
    expected = predictions(name, sparse.csr_array(X), Y)
    found = predictions(name, sparse.csr_array(moved(X, RATIOS)), Y)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING.get(name.rstrip("+"), 1e-6))


@pytest.mark.parametrize("name", NAMES)
def test_saved_models_predict_the_same(name, data, tmp_path):
    X, Y = data
    X = moved(X, ["a large constant"] * 2)
    X[:9, 0] = 0  # far from the others, so values are shifted
    model = make(name).fit(X, Y)
    model.save(tmp_path / "model")
    new = np.vstack([X + 0.4, X - 0.4, np.where(np.isnan(X), X, 1e300), np.where(np.isnan(X), X, -1e300)])
    assert load_model(tmp_path / "model").predict_proba(new).tobytes() == model.predict_proba(new).tobytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in BLIND])
def test_times_as_large_integers_are_used(name):
    """Trees that merge the values reach an average precision of 0.6; linear models and distances cannot use them."""
    table = pd.read_csv(CASE)
    Y = table.filter(like="label_").to_numpy()
    X = table.drop(columns=table.filter(like="label_").columns).to_numpy()
    integers = np.column_stack([X[:, 0].astype(np.int64), (1000 * X[:, 1]).astype(np.int64)])
    for given in (X.astype(np.float64), integers) if name in ("RF+ET", "LightGBM") else (integers,):
        P = np.empty(Y.shape)
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            P[test] = make(name).fit(given[train], Y[train]).predict_proba(given[test])
        assert average_precision_score(Y, P) > 0.85
