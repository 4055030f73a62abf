"""Predictions are dense for dense labels and sparse for sparse labels, for every model and number of labels."""

import numpy as np
import pandas as pd
import pytest
from representatives import REPRESENTATIVES
from scipy import sparse

from fairfold.evaluation.fold_scores import labels_for, score_on_folds
from fairfold.models import load_model, make_model
from fairfold.models.registry import spec_of

FEW = {"n_trees": 4, "max_levels": 1}
LEARN_SPARSE = ["RF+ET", "gcForest", "CaFE", "gcForest+", "Stack+"]
FORMS = {"array": np.asarray, "frame": lambda Y: pd.DataFrame(Y, columns=list("abc")), "sparse": sparse.csr_matrix}


def make(name):
    return make_model(name, **{key: FEW[key] for key in FEW if key in spec_of(name).settings}, random_state=0)


def make_data(n, n_labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, (X @ rng.normal(size=(5, n_labels)) + rng.normal(size=(n, n_labels)) > 1).astype(np.int8)


def predictions_of(model, X):
    found = [model.predict_proba(X), model.predict(X), *model.staged_predict_proba(X)]
    if hasattr(model, "predict_observed_proba"):
        found += [model.predict_observed_proba(X), model.predict(X, objective="f1_micro")]
    return found


@pytest.mark.parametrize(
    ("name", "are_many"),
    [
        *((name, False) for name in REPRESENTATIVES),
        *((name, True) for name in (*LEARN_SPARSE, "LightGBM", "logistic+")),
    ],
)
def test_every_model_predicts_in_the_kind_of_its_labels(name, are_many, monkeypatch, tmp_path):
    """The limit of the exact engine is set to two labels, so three labels are many."""
    if are_many:
        monkeypatch.setattr("fairfold.forests.base.MOST_EXACT", 2)
        monkeypatch.setattr("fairfold.models.one_level.MOST_EXACT", 2)
    X, Y = make_data(50, 3)
    found = {}
    for form, given in FORMS.items():
        model = make(name).fit(X[:40], given(Y[:40]))
        model.save(tmp_path / form)
        found[form] = predictions_of(model, X[40:])
        for each in (*found[form], *predictions_of(load_model(tmp_path / form), X[40:])):
            assert sparse.issparse(each) == (form == "sparse") and each.shape == (10, 3)
            assert sparse.issparse(each) or type(each) is np.ndarray
    for dense, of_frame, stored in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(of_frame, dense)
        np.testing.assert_array_equal(stored.toarray(), dense)


@pytest.mark.parametrize("name", LEARN_SPARSE)
def test_dense_labels_by_the_hundred_give_dense_predictions(name):
    X, Y = make_data(80, 174)
    model = make(name).fit(X[:60], Y[:60])
    stored = make(name).fit(X[:60], sparse.csr_array(Y[:60])).predict_proba(X[60:])
    assert isinstance(model.predict_proba(X[60:]), np.ndarray) and sparse.issparse(stored)
    np.testing.assert_array_equal(model.predict_proba(X[60:]), stored.toarray())
    if hasattr(model, "out_of_fold_proba_"):
        assert isinstance(model.out_of_fold_proba_, np.ndarray)


@pytest.mark.parametrize("name", [*LEARN_SPARSE, "RandomForest", "dummy"])
def test_a_study_hands_over_sparse_labels_where_models_learn_from_them(name):
    X, Y = make_data(90, 140)
    expected = name in LEARN_SPARSE
    for labels in (Y, sparse.csr_array(Y)):
        assert sparse.issparse(labels_for(make(name), labels)) == expected
        tables = score_on_folds(lambda _: make(name), X, labels, np.arange(90) % 3, lambda _, labels=labels: labels)
        assert (tables.scores["reason"] == "").all()
        assert sparse.issparse(tables.predictions.by("average_precision")) == expected
    with_gaps = np.where(np.arange(len(Y))[:, np.newaxis] < 3, np.nan, Y)
    assert isinstance(labels_for(make(name), with_gaps), np.ndarray)
