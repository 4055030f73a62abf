"""Zeros are never treated as missing positives unless labels are declared incomplete."""

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import Dataset
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError
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
    model = fitted(name, X, Y)
    inner = getattr(model, "estimator_", model)
    known = getattr(inner, "label_frequency_", None) or inner.label_frequencies_
    assert np.all(np.asarray(known) == 1)
    if hasattr(inner, "predict_observed_proba") and name != "FLAForest+":
        np.testing.assert_allclose(model.predict_proba(X), inner.predict_observed_proba(X), rtol=1e-12)


@pytest.mark.parametrize("name", ["SLCForest", "FLAForest", "LCForest", "SLCForest+", "FLAForest+"])
def test_nothing_is_imputed(data, name):
    X, Y = data
    model = fitted(name, X, Y)
    assert model.imputation_log_ == []
    for labels in model.training_labels_:
        np.testing.assert_array_equal(labels, Y)
    assert fitted(name, X, Y, label_frequency="estimate").imputation_log_ != []


def test_models_that_know_nothing_of_missing_labels_are_the_same(data):
    X, Y = data
    for name in ("RF+ET", "logistic"):
        of_both = [fitted(name, X, Y, label_frequency=c).predict_proba(X) for c in (1.0, "estimate")]
        np.testing.assert_array_equal(*of_both)


def test_own_models_are_reported(data, tmp_path):
    X, Y = data
    entry = {"class": "sklearn.linear_model.LogisticRegression", "file": None, "parameters": {}, "tune": {}}
    entry |= {"labels": "one-per-label", "scale": False, "minutes": 5, "tuning": {}}
    register_own({"mine-checked": entry})
    given, corrected = (fitted("mine-checked+", X, Y, label_frequency=c).predict_proba(X) for c in (1.0, "estimate"))
    assert (corrected >= given).all() and (corrected > given).any()


def test_names_of_kinds_are_checked(data):
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
        found = estimate_missing_rate(Y, observed, P, labels_are="complete").row
        assert found["estimated_rate"].item() == pytest.approx(100 * expected, abs=2)


@pytest.mark.parametrize(("labels_are", "rate"), [("complete", None), ("unknown", None), ("incomplete", 0.25)])
def test_data_keep_it(tmp_path, labels_are, rate):
    parts = {"id": "mine", "task": "multilabel", "feature_names": ("x",), "label_names": ("a", "b")}
    X, Y = np.zeros((4, 1)), np.eye(4, 2, dtype=np.int8)
    Dataset(X=X, Y=Y, labels_are=labels_are, missing_rate=rate, **parts).save(tmp_path / "data.npz")
    data = Dataset.load(tmp_path / "data.npz")
    assert (data.labels_are, data.missing_rate) == (labels_are, rate)
    assert data.negatives == ("confirmed" if labels_are == "complete" else "unlabeled")


@pytest.mark.parametrize(
    ("labels_are", "rate", "as_they_are", "half_hidden"),
    [
        ("complete", None, 1.0, 1.0),  # hidden labels become unmeasured
        ("unknown", None, 1.0, "estimate"),
        ("incomplete", None, "estimate", "estimate"),
        ("incomplete", 0.2, 0.8, 0.4),
    ],
)
def test_models_correct_for_what_is_declared_or_hidden_on_purpose(labels_are, rate, as_they_are, half_hidden):
    parts = {"id": "mine", "task": "multilabel", "feature_names": ("x",), "label_names": ("a", "b")}
    Y = np.eye(4, 2, dtype=np.int8)
    data = Dataset(X=np.zeros((4, 1)), Y=Y, labels_are=labels_are, missing_rate=rate, **parts)
    assert data.label_frequency() == as_they_are and data.label_frequency(50) == half_hidden
    assert data.declared()["labels_are"] == labels_are


def test_a_known_rate_counts_at_most_the_zeros_of_a_label():
    parts = {"id": "mine", "task": "multilabel", "feature_names": ("x",), "label_names": ("a", "b")}
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    data = Dataset(X=np.zeros((4, 1)), Y=Y, labels_are="incomplete", missing_rate=0.5, **parts)
    np.testing.assert_allclose(data.label_frequency(), [0.75, 0.5])


def test_the_configuration_states_it(tmp_path):
    (tmp_path / "mine.csv").write_text("x,label_a,label_b\n1,0,1\n")
    stanza = {"path": str(tmp_path / "mine.csv"), "format": "csv", "labels": {"prefix": "label_"}}
    usual = load_catalog().with_own({"mine": stanza})["mine"]
    entry = load_catalog().with_own({"mine": {**stanza, "labels_are": "complete"}})["mine"]
    known = load_catalog().with_own({"mine": {**stanza, "missing_rate": 0.3}})["mine"]
    assert (usual.labels_are, entry.labels_are, known.labels_are) == ("unknown", "complete", "incomplete")
    assert len({each.fingerprint for each in (usual, entry, known)}) == 3
    with pytest.raises(ConfigError, match=r"labels_are is for several labels\. Leave it out"):
        load_catalog().with_own({"mine": {**stanza, "labels_are": "complete", "task": "binary"}})
    catalog = load_catalog().with_labels("incomplete")
    assert catalog["emotions"].labels_are == "incomplete" and load_catalog()["emotions"].labels_are == "unknown"
