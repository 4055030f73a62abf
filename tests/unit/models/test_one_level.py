"""Test classifiers wrapped as models of one level."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from fairfold.errors import ModelError
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.models import load_model, make_model
from fairfold.models.one_level import OneLevelModel


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, :3] + rng.normal(size=(60, 3)) > 0.5).astype(int)


@pytest.mark.parametrize("name", ["RandomForest", "RandomForest+", "logistic", "LightGBM", "kNN", "Stack+"])
def test_sparse_features_may_have_long_indices(data, name):
    """Large tables have 64-bit indices, while scikit-learn's trees accept only 32 bits."""
    X, Y = sparse.csr_array(np.where(np.abs(data[0]) > 0.7, data[0], 0)), data[1]
    long = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    assert long.indices.dtype == np.int64 and X.indices.dtype == np.int32
    short, same = (make_model(name, random_state=0).fit(each, Y) for each in (X, long))
    np.testing.assert_array_equal(same.predict_proba(long), short.predict_proba(X))
    if hasattr(same, "predict_observed_proba"):
        np.testing.assert_array_equal(same.predict_observed_proba(long), short.predict_observed_proba(X))


@pytest.mark.parametrize(
    "estimator", [ExtraTreesClassifier(5), KNeighborsClassifier(3)], ids=["a list of arrays", "no random state"]
)
def test_it_predicts_what_the_classifier_does(data, estimator):
    X, Y = data
    model = OneLevelModel(estimator, random_state=3).fit(X, Y)
    reference = clone(estimator)
    if "random_state" in reference.get_params():
        reference.set_params(random_state=3)
    expected = np.column_stack([P[:, 1] for P in reference.fit(X, Y).predict_proba(X)])
    (only,) = model.staged_predict_proba(X)
    np.testing.assert_array_equal(only, expected)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), expected > 0.5)
    assert model.best_levels_ == dict.fromkeys(BASIC_METRICS, 0)
    assert model.classes_.tolist() == [0, 1, 2]


def test_what_it_cannot_predict_is_one_sentence(data):
    X, Y = data
    few = np.where(np.arange(60)[:, np.newaxis] < 4, Y, np.nan)
    with pytest.raises(ModelError, match="KNeighborsClassifier cannot predict: Expected n_neighbors"):
        OneLevelModel(KNeighborsClassifier(9)).fit(X, few).predict_proba(X)
    model = make_model("RandomForest+", random_state=0).fit(X, Y)
    for predict in (model.predict_proba, model.predict_observed_proba):
        with pytest.raises(ModelError, match=r"cannot predict: .*infinity or a value too large"):
            predict(np.where(np.arange(4) == 1, np.inf, X))


class Threads(ClassifierMixin, BaseEstimator):
    """Classifier that records the number of threads of numerical libraries during fit and prediction."""

    def fit(self, X, Y):
        self.classes_, self.in_fit_ = np.arange(Y.shape[1]).astype(object), most_threads()
        return self

    def predict_proba(self, X):
        self.in_prediction_ = most_threads()
        return np.zeros((len(X), len(self.classes_)))


def most_threads():
    return max(pool["num_threads"] for pool in threadpool_info())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_numerical_libraries_have_one_thread(data, n_jobs):
    with threadpool_limits(3):
        model = OneLevelModel(Threads(), n_jobs=n_jobs).fit(*data)
        model.predict_proba(data[0])
        assert (model.estimator_.in_fit_, model.estimator_.in_prediction_, most_threads()) == (1, 1, 3)


def test_sparse_labels_and_a_label_of_one_class(data):
    X, Y = data
    Y = Y.copy()
    Y[:, 1] = 0
    dense, from_sparse = (
        OneLevelModel(ExtraTreesClassifier(5), random_state=0).fit(X, labels).predict_proba(X)
        for labels in (Y, sparse.csr_array(Y))
    )
    np.testing.assert_array_equal(dense, from_sparse.toarray())
    assert not dense[:, 1].any()


def test_what_the_classifier_refuses_is_one_sentence(data):
    X, Y = data
    with pytest.raises(ModelError, match=r"^KNeighborsClassifier cannot be fitted: Input X contains NaN\.$"):
        OneLevelModel(KNeighborsClassifier()).fit(np.full_like(X, np.nan), Y)
    with pytest.raises(ModelError, match="expected 0, 1 or NaN, found 2"):
        OneLevelModel(KNeighborsClassifier()).fit(X, Y + 1)


EVERY = [
    "logistic",
    "kNN",
    "ML-kNN",
    "RBF-SVM",
    "HistGB",
    "RandomForest",
    "chains",
    "dummy",
    "joint-GB",
    "kernel-ridge",
]
EVERY += ["logistic+", "joint-GB+", "Stack+"]


@pytest.mark.parametrize("name", EVERY)
def test_frames_are_what_their_numbers_are(data, name, tmp_path):
    """Frames of any numeric type and lists give the results of their arrays. Column names keep their order."""
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcd")).astype({"a": "Float64", "b": "float32"})
    exact = frame.to_numpy(dtype=float)
    expected = make_model(name, random_state=0).fit(exact, Y).predict_proba(exact)
    model = make_model(name, random_state=0).fit(X=frame, y=pd.DataFrame(Y, columns=["sea", "sky", "sand"]))
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    np.testing.assert_array_equal(model.predict_proba(exact), expected)
    model.save(tmp_path / "model")
    for each in (model, load_model(tmp_path / "model")):
        assert each.label_names_in_.tolist() == ["sea", "sky", "sand"]
        with pytest.raises(ModelError, match="has 'd' in place of 'a', so its columns are in another order"):
            each.predict_proba(frame[list("dcba")])
    with pytest.raises(ModelError, match=r"(X has 3 features, but|shape \(60, 3\))"):
        model.predict_proba(exact[:, :3])
    with pytest.raises(ModelError, match=r"(X has 1 features, but|shape)"):
        model.predict_proba(np.where(np.arange(60) == 3, np.nan, 1.0)[:, np.newaxis])


@pytest.mark.parametrize("name", ["HistGB", "RandomForest", "chains", "joint-GB", "logistic+", "Stack+"])
@pytest.mark.parametrize("seed", [None, np.random.RandomState(3)])
def test_a_seed_may_be_drawn(data, name, seed):
    X, Y = data
    assert make_model(name, random_state=seed).fit(X, Y).predict_proba(X).shape == Y.shape
