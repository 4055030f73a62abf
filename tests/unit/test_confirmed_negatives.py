"""Zeros of labels that are known to be negative are never treated as missing positives."""

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import Dataset
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError, ModelError
from fairfold.final.labels import likely_label_errors, precision_at
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.weak_labels import mask_labels
from fairfold.weak_labels.masking import hide_in_test_parts, observed_labels

FEW = {"n_trees": 20, "max_levels": 2}
DEEP = ("RF+ET", "LCForest", "SLCForest", "FLAForest", "gcForest+", "SLCForest+", "FLAForest+", "Stack+")
CORRECTED = ("gcForest+", "SLCForest+", "FLAForest+", "Stack+", "logistic+", "kNN+", "joint-GB+")


@pytest.fixture(scope="module")
def data():
    """Return noisy labels whose zeros look like missing positives. A third of the cells is unmeasured."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).round(1)
    truth = (X[:, :3] + 0.5 * rng.normal(size=(300, 3)) > [0.2, 0.5, 0.9]).astype(np.int8)
    return X, mask_labels(truth, 0.33, negatives="confirmed", random_state=0)


def fitted(name, X, Y, **options):
    model = make_model(name, **(FEW if name in DEEP else {}), random_state=0, **options)
    return model.fit(X, Y)


@pytest.mark.parametrize("name", CORRECTED)
def test_a_posterior_is_the_probability_to_be_observed(data, name):
    X, Y = data
    model = fitted(name, X, Y, negatives="confirmed")
    inner = getattr(model, "estimator_", model)
    known = getattr(inner, "label_frequency_", None) or inner.label_frequencies_
    assert np.all(np.asarray(known) == 1)
    if hasattr(inner, "predict_observed_proba") and name != "FLAForest+":
        np.testing.assert_allclose(model.predict_proba(X), inner.predict_observed_proba(X), rtol=1e-12)


@pytest.mark.parametrize("name", ["SLCForest", "FLAForest", "LCForest", "SLCForest+", "FLAForest+"])
def test_nothing_is_imputed(data, name):
    X, Y = data
    model = fitted(name, X, Y, negatives="confirmed")
    assert model.imputation_log_ == []
    for labels in model.training_labels_:
        np.testing.assert_array_equal(labels, Y)
    assert fitted(name, X, Y).imputation_log_ != []


def test_models_that_know_nothing_of_missing_labels_are_the_same(data):
    X, Y = data
    for name in ("RF+ET", "logistic"):
        of_both = [fitted(name, X, Y, negatives=kind).predict_proba(X) for kind in ("unlabeled", "confirmed")]
        np.testing.assert_array_equal(*of_both)


def test_own_models_are_reported(data, tmp_path):
    X, Y = data
    entry = {"class": "sklearn.linear_model.LogisticRegression", "file": None, "parameters": {}, "tune": {}}
    entry |= {"labels": "one-per-label", "scale": False, "minutes": 5}
    tuning = {"n_splits": 3, "n_candidates": 4, "scoring": "average_precision"}
    register_own({"own": {"mine-checked": entry}, "tuning": tuning})
    of_both = {
        kind: fitted("mine-checked+", X, Y, negatives=kind).predict_proba(X) for kind in ("unlabeled", "confirmed")
    }
    assert (of_both["unlabeled"] >= of_both["confirmed"]).all()
    assert (of_both["unlabeled"] > of_both["confirmed"]).any()


def test_names_of_kinds_are_checked(data):
    with pytest.raises(ModelError, match="negatives"):
        make_model("logistic+", negatives="sure")
    with pytest.raises(DataError, match="negatives"):
        mask_labels(data[1], 0.3, negatives="confirmd")


def test_what_contradicts_a_confirmed_zero_is_another_list(data):
    X, Y = data
    P = np.random.default_rng(1).random(Y.shape)
    usual = likely_label_errors(X, Y, P, ["a", "b", "c"], range(len(Y)))
    table = likely_label_errors(X, Y, P, ["a", "b", "c"], range(len(Y)), negatives="confirmed")
    assert list(table["kind"].unique()) == ["wrong negative", "wrong", "unmeasured"]
    pd.testing.assert_frame_equal(table.assign(kind=usual["kind"]), usual)


def test_precision_is_that_among_what_was_hidden(data):
    _, Y = data
    observed = mask_labels(Y, 0.3, negatives="confirmed", random_state=1)
    P = np.where(Y == 1, 0.9, 0.1)
    found = precision_at(Y, observed, P, depths=(10,)).iloc[0]
    hidden = np.isnan(observed) & ~np.isnan(Y)
    assert found["precision"] == 1 and found["chance"] == pytest.approx((Y[hidden] == 1).mean())


def test_the_missing_rate_is_counted(data):
    _, Y = data
    folds, P = np.arange(len(Y)) % 3, np.full(Y.shape, 0.5)
    for rate, expected in ((0, np.isnan(Y).mean()), (50, 1 - (Y >= 0).mean() / 2)):
        hidden = hide_in_test_parts(Y, folds, rate / 100, seed=0, names=(), negatives="confirmed")
        observed = observed_labels(Y, hidden, None, "confirmed")
        found = estimate_missing_rate(Y, observed, P, negatives="confirmed").row
        assert found["estimated_rate"].item() == pytest.approx(100 * expected, abs=2)


def test_data_keep_it(tmp_path):
    parts = {"id": "mine", "task": "multilabel", "feature_names": ("x",), "label_names": ("a", "b")}
    X, Y = np.zeros((4, 1)), np.eye(4, 2, dtype=np.int8)
    for kind in ("confirmed", "unlabeled"):
        Dataset(X=X, Y=Y, negatives=kind, **parts).save(tmp_path / "data.npz")
        assert Dataset.load(tmp_path / "data.npz").negatives == kind


def test_the_configuration_states_it(tmp_path):
    (tmp_path / "mine.csv").write_text("x,label_a,label_b\n1,0,1\n")
    stanza = {"path": str(tmp_path / "mine.csv"), "format": "csv", "labels": {"prefix": "label_"}}
    stanza |= {"labels_are": "observed", "negatives": "confirmed"}
    entry = load_catalog().with_own({"mine": stanza})["mine"]
    assert (entry.negatives, entry.labels_are) == ("confirmed", "complete")
    usual = load_catalog().with_own({"mine": {**stanza, "negatives": "unlabeled"}})["mine"]
    assert usual.fingerprint != entry.fingerprint
    with pytest.raises(ConfigError, match=r"negatives is for several labels\. Leave it out"):
        load_catalog().with_own({"mine": {**stanza, "task": "binary"}})
