"""Missing values are filled from training samples only, trees can separate them, and every model accepts them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from fairfold.core.missing_values import MissingValueFiller, accepts_missing_values
from fairfold.errors import ModelError
from fairfold.models import MODEL_NAMES, load_model, make_model
from fairfold.models.registry import spec_of

FEW = {"n_trees": 12, "max_levels": 1}
PLAIN = [name for name in MODEL_NAMES if "+" not in name and not spec_of(name).package]
DEEP = ("RF+ET", "gcForest", "CaFE-FLA", "gcForest+", "CaFE-SLC+", "Stack+")
SHOWN = [*PLAIN, *(name for name in MODEL_NAMES if "+" in name and name in (*DEEP, "kNN+"))]


@pytest.fixture(scope="module")
def data():
    """Four features; the first has missing values, more often where the second label is positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    Y = np.column_stack([X[:, 1] + X[:, 0] > 0, X[:, 2] > 0.3]).astype(np.int8)
    X[rng.random(240) < np.where(Y[:, 1] == 1, 0.6, 0.1), 0] = np.nan
    return X, Y


def make(name):
    return make_model(name, **(FEW if name in DEEP else {}), random_state=0)


def test_medians_and_marks_are_those_of_scikit_learn(data):
    X, _ = data
    filler = MissingValueFiller().fit(X[:100])
    expected = SimpleImputer(strategy="median", add_indicator=True).fit(X[:100])
    np.testing.assert_array_equal(filler.transform(X[100:]), expected.transform(X[100:]))


def test_a_feature_without_gaps_in_training_is_filled_with_its_median():
    filler = MissingValueFiller().fit(np.array([[1.0, 5.0], [2.0, 7.0], [9.0, 9.0]]))
    np.testing.assert_array_equal(filler.transform(np.array([[np.nan, 1.0]])), [[2.0, 1.0]])


def test_data_without_gaps_pass_as_they_are(data):
    dense = np.nan_to_num(data[0])
    for X in (dense, sparse.csr_array(dense)):
        assert MissingValueFiller().fit_transform(X) is X and MissingValueFiller(for_trees=True).fit_transform(X) is X


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_for_trees_gaps_are_below_and_above_all_values_in_single_precision(data, scale):
    X = data[0] * scale
    gaps = np.isnan(X[:, 0])
    filled = MissingValueFiller(for_trees=True).fit_transform(X).astype(np.float32)
    assert filled.shape == (240, 5) and np.isfinite(filled).all()
    assert filled[gaps, 0].max() < filled[~gaps, 0].min() and filled[gaps, 4].min() > filled[~gaps, 4].max()
    np.testing.assert_array_equal(filled[~gaps, 0], filled[~gaps, 4])
    np.testing.assert_array_equal(filled[:, 1:4], X[:, 1:].astype(np.float32))
    share = gaps.mean()  # share of random thresholds between the extremes that separate missing values from others
    assert (filled[~gaps, 0].min() - filled[:, 0].min()) / np.ptp(filled[:, 0]) == pytest.approx(share, rel=1e-4)


@pytest.mark.parametrize("values", [[np.nan, np.nan], [3.0, np.nan], [0.0, np.nan], [1e9, np.nan]])
def test_features_of_one_value_or_none(values):
    for for_trees in (True, False):
        filled = (
            MissingValueFiller(for_trees=for_trees).fit_transform(np.array(values)[:, np.newaxis]).astype(np.float32)
        )
        assert np.isfinite(filled).all()
        assert np.isnan(values).all() or len(np.unique(filled[:, 0] if for_trees else filled[:, 1])) == 2


def test_a_tree_splits_as_one_that_knows_of_gaps(data):
    """The leaf impurity is close to that of scikit-learn's trees, which handle missing values natively."""
    X, Y = data
    for label in range(2):
        for depth in (1, 2, 3):
            native = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, Y[:, label])
            ours = make_pipeline(
                MissingValueFiller(for_trees=True), DecisionTreeClassifier(max_depth=depth, random_state=0)
            ).fit(X, Y[:, label])
            impurity = [
                (tree.tree_.weighted_n_node_samples * tree.tree_.impurity)[tree.tree_.children_left < 0].sum()
                for tree in (native, ours[-1])
            ]
            assert impurity[1] == pytest.approx(impurity[0], rel=0.05)


@pytest.mark.parametrize("name", SHOWN)
def test_every_model_learns_from_features_with_gaps(data, name, tmp_path):
    X, Y = data
    model = make(name).fit(X[:160], Y[:160])
    P = model.predict_proba(X[160:])
    assert np.isfinite(P).all()
    if name not in ("dummy", "dummy+"):
        assert roc_auc_score(Y[160:], P, average="macro") > 0.75
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").predict_proba(X[160:]).tobytes() == P.tobytes()
    missing_anew = X[160:].copy()
    missing_anew[3, 3] = np.nan  # never missing in training
    assert np.isfinite(model.predict_proba(missing_anew)).all()


@pytest.mark.parametrize("name", ["logistic", "kNN", "Stack+", "gcForest"])
def test_features_may_be_python_objects(data, name):
    X, Y = data
    objects = np.where(np.isnan(X), None, X.astype(object))
    P = [make(name).fit(each[:160], Y[:160]).predict_proba(each[160:]) for each in (X, objects)]
    np.testing.assert_array_equal(*P)


@pytest.mark.parametrize("name", ["logistic", "Stack+", "gcForest", "RBF-SVM", "kNN+"])
def test_no_other_sample_states_how_gaps_are_filled(data, name):
    """The predictions of a sample do not depend on the other samples of the batch."""
    X, Y = data
    model = make(name).fit(X[:160], Y[:160])
    wild = np.where(np.isnan(X[160:]), np.nan, 1e6 * X[160:])
    together = model.predict_proba(np.vstack([X[160:163], wild]))[:3]
    np.testing.assert_allclose(together, model.predict_proba(X[160:163]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["gcForest", "Stack+", "kernel-ridge"])
def test_a_gap_that_shows_something_is_used(name):
    """A feature is missing exactly where the label is positive and is uninformative otherwise."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(200, 5)), (rng.random((200, 1)) < 0.4).astype(np.int8)
    X[Y[:, 0] == 1, 2] = np.nan
    P = make_model(name, **(FEW if name in DEEP else {}), random_state=0).fit(X[:120], Y[:120]).predict_proba(X[120:])
    assert roc_auc_score(Y[120:], P) > 0.95


@pytest.mark.parametrize("name", ["logistic", "gcForest+", "kernel-ridge"])
def test_infinite_features_are_refused(data, name):
    X, Y = data
    X = np.where(np.isnan(X), np.inf, X)
    with pytest.raises(ModelError, match="infinity"):
        make(name).fit(X, Y)


def test_who_takes_gaps():
    assert accepts_missing_values(RandomForestClassifier()) and accepts_missing_values(make_model("gcForest"))
    assert not accepts_missing_values(LogisticRegression()) and not accepts_missing_values(object())
