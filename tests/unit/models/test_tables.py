"""Models of data frames with text, categories and dates."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from fairfold.errors import DataError, ModelError
from fairfold.features import TableEncoder
from fairfold.models import load_model, make_model, stacking

COLORS = ["red", "blue", "green"]


def table(n=90):
    random = np.random.default_rng(0)
    color, words = random.choice(COLORS, n), random.choice(["leaf", "stem", "root", "bark", "seed"], (n, 8))
    height = np.where(random.random(n) < 0.1, np.nan, random.normal(size=n))
    frame = pd.DataFrame({"height": height, "color": color, "notes": [" ".join(row) for row in words]})
    frame["seen"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D")
    Y = np.column_stack([color == "red", (words == "bark").any(axis=1), np.nan_to_num(height) > 0.3])
    return frame, Y.astype(int)


@pytest.mark.parametrize("name", ["Stack+", "logistic", "RandomForest+", "gcForest+"])
def test_data_frame_is_encoded_by_the_model(tmp_path, name):
    frame, Y = table()
    settings = {"n_trees": 10, "max_levels": 1} if name != "logistic" else {}
    settings = {key: value for key, value in settings.items() if name != "RandomForest+" or key == "n_trees"}
    model = make_model(name, features="auto", random_state=0, **settings).fit(frame[:70], Y[:70])
    rows = frame[70:].assign(color="mauve", notes="unknown words", extra=1)
    P = model.predict_proba(rows)
    assert P.shape == (20, 3) and np.isfinite(P).all() and (P >= 0).all() and (P <= 1).all()
    assert model.feature_names_in_.tolist() == ["height", "color", "notes", "seen"]
    model.save(tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict_proba(rows[rows.columns[::-1]]), P)
    again = clone(model).fit(frame[:70], Y[:70])
    np.testing.assert_array_equal(again.predict_proba(rows), P)


def test_stack_has_a_member_for_terms():
    frame, Y = table()
    model = make_model("Stack+", features="auto", random_state=0, n_trees=10, max_levels=1).fit(frame, Y)
    stack = model.estimator_
    assert type(stack.estimators_[0]).__name__ == "TextRidge"
    assert len(stack.weights_) == 5 and stack.are_terms.sum() == model.encoder_.are_terms_.sum() > 0
    encoded = model.encoder_.transform(frame)
    by_terms = stack.estimators_[0].predict_proba(encoded[:, np.flatnonzero(stack.are_terms)])
    assert by_terms.shape == Y.shape and stack.estimators_[1].n_features_in_ == (~stack.are_terms).sum()


@pytest.mark.parametrize(("least", "max_levels"), [(0.0, 1), (1.1, 0)])
def test_a_stack_grows_a_deep_forest_if_trees_have_weight(least, max_levels, monkeypatch):
    monkeypatch.setattr(stacking, "LEAST_WEIGHT", least)
    frame, Y = table(60)
    model = make_model("Stack+", features="auto", random_state=0, n_trees=5, max_levels=1).fit(frame, Y)
    stack = model.estimator_
    assert stack.estimators_[1].max_levels == max_levels and len(stack.weights_) == 5
    np.testing.assert_allclose(stack.weights_.sum(), 1)


def test_a_stack_takes_sparse_counts_for_terms(monkeypatch):
    """Few or negative features are not counts."""
    monkeypatch.setattr(stacking, "LEAST_WEIGHT", 1.1)
    X, Y = sparse.csr_array(np.random.default_rng(0).poisson(0.1, (60, 100)).astype(float)), table(60)[1]
    model = make_model("Stack+", random_state=0, n_trees=5, max_levels=1).fit(X, Y)
    members = model.estimator_.estimators_
    assert [type(each).__name__ for each in members[:2]] == ["TextRidge", "OutOfBagCascade"]
    assert len(members) == 5 and members[1].max_levels == 0
    np.testing.assert_array_equal(model.predict_proba(X.toarray()), model.predict_proba(X))
    for other in (X[:, :99], -X, X.toarray()):
        assert len(clone(model).fit(other, Y).estimator_.estimators_) == 4


def test_terms_are_not_standardized():
    frame, Y = table()
    model = make_model("logistic", features="auto").fit(frame, Y)
    encoded, are_terms = model.encoder_.transform(frame), model.encoder_.are_terms_
    scaled = model.estimator_[:-1].transform(encoded)
    assert abs(scaled[:, np.flatnonzero(are_terms)] - encoded[:, np.flatnonzero(are_terms)]).max() == 0
    np.testing.assert_allclose(scaled[:, np.flatnonzero(~are_terms)].toarray().std(axis=0), 1)


@pytest.mark.parametrize("name", ["Stack+", "logistic"])
def test_numbers_give_the_same_predictions_as_an_array(name):
    X, Y = np.random.default_rng(0).normal(size=(60, 3)), table(60)[1]
    settings = {"n_trees": 10, "max_levels": 1} if name == "Stack+" else {}
    plain = make_model(name, random_state=0, **settings).fit(X, Y)
    for data in (X, pd.DataFrame(X, columns=list("abc"))):
        model = make_model(name, features="auto", random_state=0, **settings).fit(data, Y)
        np.testing.assert_array_equal(model.predict_proba(data), plain.predict_proba(X))


def test_own_encoder_declares_roles():
    frame, Y = table()
    encoder = TableEncoder(roles={"color": COLORS, "notes": "identifier"})
    model = make_model("logistic", features=encoder).fit(frame, Y)
    assert [role.role for role in model.encoder_.roles_] == ["number", "category", "identifier", "date"]
    assert model.encoder_.get_feature_names_out()[1] == "color"


def test_unmeasured_labels_are_allowed():
    frame, Y = table()
    Y = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
    model = make_model("Stack+", features="auto", random_state=0, n_trees=10, max_levels=1).fit(frame, Y)
    assert model.predict_proba(frame).shape == Y.shape


def test_wrong_rows_are_named():
    frame, Y = table()
    model = make_model("logistic", features="auto").fit(frame, Y)
    with pytest.raises(DataError, match="no column 'notes'"):
        model.predict_proba(frame.drop(columns="notes"))
    with pytest.raises(ModelError, match="fitted on a data frame"):
        model.predict_proba(frame.to_numpy())
