"""Models of one level and library models give the same results as manual calls, label by label."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from representatives import REPRESENTATIVES
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fairfold.errors import ModelError
from fairfold.models import MODEL_NAMES, make_model
from fairfold.models.registry import spec_of

BASELINES = [name for name in MODEL_NAMES if not (spec_of(name).shares_first_level or spec_of(name).package)]
BASELINES = [name for name in BASELINES if not name.startswith("logistic-C")]  # has a test of its own
TESTED = [name for name in BASELINES if name in REPRESENTATIVES]
PLAIN = [name for name in BASELINES if spec_of(name).family == name]


@pytest.fixture(autouse=True)
def loadable(request):
    """Skip what needs LightGBM if its system runtime is missing."""
    callspec = getattr(request.node, "callspec", None)
    if callspec and callspec.params.get("name", "").startswith("LightGBM"):
        try:
            make_model("LightGBM")
        except ModelError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="module")
def data():
    """Return training rows, test rows and labels.

    Three labels have several positives. The others have one positive, none, and all.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6)) * [1, 10, 0.1, 1, 1, 1] + 3
    Y = (X[:, :3] * [1, 0.1, 10] + rng.normal(size=(160, 3)) > [3, 1, 31]).astype(int)
    rare = np.arange(160) == 5
    return X[:110], np.column_stack([Y, rare, np.zeros(160), np.ones(160)]).astype(int)[:110], X[110:]


def fitted(name, X, Y, **options):
    return make_model(name, **{"random_state": 0, **options}).fit(X, Y)


def small(name):
    """Return settings that reduce the run time of a model."""
    return {"n_trees": 5} if "n_trees" in spec_of(name).settings else {}


def test_those_of_the_contract_are_there():
    named = [
        "dummy",
        "logistic",
        "RBF-SVM",
        "kNN",
        "ML-kNN",
        "HistGB",
        "LightGBM",
        "ExtraTrees",
        "RandomForest",
        "chains",
        "joint-GB",
        "kernel-ridge",
    ]
    assert sorted(PLAIN) == sorted([*named, "Stack+"])
    assert sorted(BASELINES) == sorted([*named, *(f"{name}+" for name in named), "Stack+"])


@pytest.mark.parametrize("name", TESTED)
def test_whatever_a_training_part_holds_of_a_label(name, data):
    X, Y, new = data
    with np.errstate(all="raise"):
        model = fitted(name, X, Y, **small(name))
    P = model.predict_proba(new)
    assert P.shape == (50, 6)
    assert ((P >= 0) & (P <= 1)).all()
    if name in PLAIN and name not in ("ML-kNN", "joint-GB", "Stack+"):  # these smooth the shares
        np.testing.assert_allclose(P[:, 4:], np.tile([0, 1], (50, 1)), rtol=0, atol=1e-12)
    assert (P[:, 3] < 0.7).all()
    np.testing.assert_array_equal(model.predict(new), P > 0.5)


@pytest.mark.parametrize("name", TESTED)
def test_the_same_bytes_for_any_number_of_jobs(name, data):
    X, Y, new = data
    one, two = (fitted(name, X, Y[:, 1:3], n_jobs=n_jobs, **small(name)).predict_proba(new) for n_jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.filterwarnings("error:Converting data to scipy sparse matrix")
@pytest.mark.parametrize("name", TESTED)
def test_sparse_features_and_a_single_label(name, data):
    X, Y, new = data
    X, new = np.where(X > 3, X, 0), np.where(new > 3, new, 0)
    dense = fitted(name, X, Y[:, :1], **small(name)).predict_proba(new)
    P = fitted(name, sparse.csr_array(X), Y[:, :1], **small(name)).predict_proba(sparse.csr_array(new))
    assert P.shape == dense.shape == (50, 1)
    if name.rstrip("+") not in ("logistic", "RBF-SVM", "chains"):  # these do not center sparse features
        np.testing.assert_allclose(P, dense, atol=1e-9)
    assert np.corrcoef(P[:, 0], dense[:, 0])[0, 1] > 0.9 or name.startswith("dummy")


def scaled(X, new):
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(new)


def logistic(X, y, new):
    return LogisticRegression(max_iter=1000).fit(X, y).predict_proba(new)[:, 1]


def rbf_svm(X, y, new):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return CalibratedClassifierCV(SVC(), cv=folds, ensemble=False).fit(X, y).predict_proba(new)[:, 1]


def k_nearest(X, y, new):
    return KNeighborsClassifier(10).fit(X, y).predict_proba(new)[:, 1]


def histogram_boosting(X, y, new):
    settings = {"max_iter": 200, "max_leaf_nodes": 15, "learning_rate": 0.05, "early_stopping": False}
    return HistGradientBoostingClassifier(**settings, random_state=0).fit(X, y).predict_proba(new)[:, 1]


def lightgbm(X, y, new):
    from lightgbm import LGBMClassifier

    settings = {"n_estimators": 200, "num_leaves": 15, "learning_rate": 0.05, "verbose": -1, "n_jobs": 1}
    return LGBMClassifier(**settings, random_state=0).fit(X, y).predict_proba(new)[:, 1]


@pytest.mark.parametrize(
    ("name", "by_hand", "prepare"),
    [
        ("logistic", logistic, scaled),
        ("RBF-SVM", rbf_svm, scaled),
        ("kNN", k_nearest, scaled),
        ("HistGB", histogram_boosting, lambda *features: features),
        ("LightGBM", lightgbm, lambda *features: features),
    ],
)
def test_one_per_label_is_a_loop_over_labels(name, by_hand, prepare, data):
    X, Y, new = data
    P = fitted(name, X, Y).predict_proba(new)
    train, test = prepare(X, new)
    for label in range(3):
        np.testing.assert_array_equal(P[:, label], by_hand(train, Y[:, label], test))


@pytest.mark.parametrize(
    ("name", "reference"), [("RandomForest", RandomForestClassifier), ("ExtraTrees", ExtraTreesClassifier)]
)
def test_forests_are_scikit_learns(name, reference, data):
    X, Y, new = data
    P = fitted(name, X, Y, n_trees=7).predict_proba(new)
    expected = reference(7, random_state=0).fit(X, Y).predict_proba(new)
    for label in range(4):
        np.testing.assert_array_equal(P[:, label], expected[label][:, 1])
    assert make_model(name).estimator[-1].n_estimators == 150


def test_label_frequencies(data):
    X, Y, new = data
    np.testing.assert_array_equal(fitted("dummy", X, Y).predict_proba(new), np.tile(Y.mean(axis=0), (50, 1)))


def test_chains_are_those_of_the_paper(data):
    """Each link of Read et al. (2011) sees the previous labels: true ones in training, predicted ones later."""
    X, Y, new = data
    Y = Y[:, :3]
    train, test = scaled(X, new)
    model = fitted("chains", X, Y).estimator_
    votes, orders = [], set()
    for chain in model[-1].chains_:
        P, known = np.empty((50, 3)), np.empty((50, 0))
        for place, label in enumerate(chain.order_):
            link = LogisticRegression(max_iter=1000).fit(np.hstack([train, Y[:, chain.order_[:place]]]), Y[:, label])
            features = np.hstack([test, known])
            P[:, label] = link.predict_proba(features)[:, 1]
            known = np.column_stack([known, link.predict(features)])
        votes.append(P)
        orders.add(tuple(chain.order_))
    assert len(votes) == 10 and len(orders) > 1
    np.testing.assert_allclose(model.predict_proba(new), np.mean(votes, axis=0), atol=1e-12)


def test_without_the_runtime_of_lightgbm_there_is_a_reason(data, monkeypatch):
    X, Y, _ = data
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    for name in ("LightGBM", "LightGBM+"):
        with pytest.raises(ModelError, match=r"^LightGBM cannot be loaded \(.*\)\. Install it with `pip install"):
            make_model(name).fit(X, Y)


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_every_model_takes_a_feature_without_a_value_in_training(name):
    """The only row with a value is in the test part."""
    table = pd.read_csv(Path(__file__).parents[2] / "cases" / "feature-empty-in-a-fold.csv")
    X, Y = (table.filter(regex=names).to_numpy() for names in ("^(f|rarely)", "^label"))
    is_empty = np.isnan(X[:, 2])
    assert (~is_empty).sum() == 1
    settings = {"n_trees": 4} if "n_trees" in spec_of(name).settings else {}
    model = make_model(name, random_state=0, **settings).fit(X[is_empty], Y[is_empty])
    P = np.asarray(model.predict(X))
    assert P.shape == Y.shape and np.isfinite(P).all()
