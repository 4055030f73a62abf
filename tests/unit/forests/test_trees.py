import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from fairfold.forests.trees import MultilabelForest

REFERENCES = {"random_forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((120, 6))
    return X, np.column_stack([X[:, 0] > 0.5, X[:, 1] + X[:, 2] > 1, X[:, 3] > 0.8]).astype(np.int8)


def grow(kind, X, Y, n_jobs=1, n_trees=40):
    return MultilabelForest(kind, n_trees=n_trees, min_samples_leaf=5, n_jobs=n_jobs, random_state=3).fit(X, Y)


@pytest.mark.parametrize("kind", REFERENCES)
def test_predictions_are_scikit_learns(data, kind):
    X, Y = data
    reference = REFERENCES[kind](
        40,
        min_samples_leaf=5,
        max_features="sqrt",
        bootstrap=True,
        max_samples=0.5,
        oob_score=True,
        random_state=3,
    ).fit(X, Y)
    forest = grow(kind, X, Y)
    # sums of 40 numbers in another order: a few units in the last place
    np.testing.assert_allclose(forest.predict_proba(X), reference.predict(X), atol=1e-14)
    np.testing.assert_allclose(forest.oob_proba_, reference.oob_prediction_, atol=1e-14)


@pytest.mark.parametrize("kind", REFERENCES)
def test_threads_and_sparse_input_change_no_bit(data, kind):
    X, Y = data
    one, four = grow(kind, X, Y), grow(kind, X, Y, n_jobs=4)
    assert one.oob_proba_.tobytes() == four.oob_proba_.tobytes()
    assert one.predict_proba(X).tobytes() == four.predict_proba(X).tobytes()
    csr = sparse.csr_array(X)
    assert grow(kind, csr, Y).predict_proba(csr).tobytes() == one.predict_proba(X).tobytes()


def test_samples_without_a_vote_get_the_share_of_positives(data):
    X, Y = data
    forest = grow("random_forest", X, Y, n_trees=1)
    (sample,) = forest._forest.estimators_samples_
    np.testing.assert_array_equal(forest.oob_proba_[sample], np.tile(Y.mean(axis=0), (sample.size, 1)))
    unseen = np.setdiff1d(np.arange(len(X)), sample)
    np.testing.assert_array_equal(forest.oob_proba_[unseen], forest.predict_proba(X)[unseen])


def test_one_label(data):
    X, Y = data
    forest = grow("extra_trees", X, Y[:, :1])
    assert forest.predict_proba(X).shape == forest.oob_proba_.shape == (120, 1)


def test_out_of_bag_predictions_do_not_see_the_label():
    rng = np.random.default_rng(1)
    X, Y = rng.random((400, 5)), rng.integers(0, 2, (400, 3))
    for kind in REFERENCES:
        oob = grow(kind, X, Y, n_trees=60).oob_proba_
        correlation = np.corrcoef(oob.ravel(), Y.ravel())[0, 1]
        # no signal: the correlation of 1200 pairs has a standard error of 0.03, and out-of-bag means lean to the
        # negative side, because leaving a sample out lowers the mean of its own class
        assert -0.35 < correlation < 0.1
