"""Test which models of a batched job are reused. Results do not depend on how models are trained."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from fairfold.core.memory import memory
from fairfold.core.trainings import read
from fairfold.datasets import Dataset
from fairfold.datasets.typed import TypedColumns
from fairfold.forests import models as forests
from fairfold.models import training
from fairfold.models.training import Model, Unit, train_model, train_models
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, observed_labels

SETTINGS = {"n_trees": 3, "max_levels": 1}
FOREST = Model("RF+ET", SETTINGS, "text", {"n_trees": 3})
DEEP = Model("SLCForest", SETTINGS, "text", {"n_trees": 3})
LOGISTIC = Model("logistic", {})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def unit():
    random = np.random.default_rng(0)
    X = random.random((60, 4))
    Y = (X[:, :3] + 0.3 * random.random((60, 3)) > 0.6).astype(np.int8)
    data = Dataset("toy", "multilabel", X, Y, tuple("abcd"), tuple("xyz"))
    fold_of = np.arange(60)[np.newaxis] % 2
    hidden, in_tests = (
        hide(Y, fold_of[0], 0.5, seed=1, names=("toy",)) for hide in (hide_in_training_parts, hide_in_test_parts)
    )
    return Unit(data, fold_of, hidden, in_tests, 50, 1)


@pytest.fixture
def trained(monkeypatch):
    """Record the names of trained models and first levels."""
    names = []
    for module, made in ((training, "make_model"), (forests, "make_first_level")):
        make = getattr(module, made)
        monkeypatch.setattr(module, made, lambda name, make=make, **known: names.append(name) or make(name, **known))
    return names


def bytes_of(found):
    return {
        model: (tables.scores.to_csv(), tables.findings.to_csv(), tables.predictions.digest())
        for model, tables in found.items()
    }


def test_one_more_model_trains_no_other(unit, trained):
    first = train_models(unit, [FOREST, LOGISTIC])
    assert trained == ["text"] * 2 + ["RF+ET"] * 2 + ["logistic"] * 2
    trained.clear()
    more = train_models(unit, [DEEP, FOREST, LOGISTIC])
    assert trained == ["text"] * 2 + ["SLCForest"] * 2
    assert list(more) == ["SLCForest", "RF+ET", "logistic"]
    assert bytes_of(first).items() <= bytes_of(more).items()
    trained.clear()
    assert bytes_of(train_models(unit, [LOGISTIC, DEEP])).items() <= bytes_of(more).items()
    assert trained == []


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"missing_rate": 30},
        {"threshold": 0.4},
        {"levels_by": "complete"},
        {"hidden": np.zeros((0, 3), dtype=np.int64)},
    ],
)
def test_what_a_result_depends_on_trains_again(unit, trained, change):
    train_models(unit, [LOGISTIC])
    trained.clear()
    train_models(dataclasses.replace(unit, **change), [LOGISTIC])
    assert trained == ["logistic"] * 2


def test_settings_and_code_of_a_model_train_it_again(unit, trained):
    train_models(unit, [FOREST, LOGISTIC])
    trained.clear()
    train_models(unit, [dataclasses.replace(FOREST, settings={**SETTINGS, "n_trees": 4}), LOGISTIC])
    train_models(unit, [FOREST, dataclasses.replace(LOGISTIC, code="edited")])
    assert trained == ["text"] * 2 + ["RF+ET"] * 2 + ["logistic"] * 2


def test_a_damaged_entry_is_recomputed(unit, trained):
    before = train_models(unit, [LOGISTIC])
    entries = [*Path(memory().location).rglob("output.pkl")]
    assert len(entries) == 1 + 2  # the model and its folds
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-50])
    trained.clear()
    assert bytes_of(train_models(unit, [LOGISTIC])) == bytes_of(before)
    assert trained == ["logistic"] * 2


def test_a_stopped_training_continues_with_the_next_fold(unit, trained, tmp_path, monkeypatch):
    make = training.make_model
    monkeypatch.setattr(training, "make_model", lambda name, **known: 1 / 0 if trained else make(name, **known))
    with pytest.raises(ZeroDivisionError):
        train_models(unit, [LOGISTIC])
    monkeypatch.setattr(training, "make_model", make)
    found = train_models(unit, [LOGISTIC])
    assert trained == ["logistic"] * 2
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert bytes_of(train_models(unit, [LOGISTIC])) == bytes_of(found)


def test_the_number_of_jobs_changes_nothing(unit, tmp_path, monkeypatch):
    models = [FOREST, DEEP, LOGISTIC]
    alone = bytes_of(train_models(unit, models))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert bytes_of(train_models(unit, models, n_jobs=2)) == alone
    monkeypatch.chdir(tmp_path)
    each_alone = [bytes_of(train_models(unit, [model]))[model.name] for model in models]
    assert each_alone == list(alone.values())


def test_folds_of_a_killed_run_are_counted_among_the_trainings(unit, capfd):
    train_models(unit, [LOGISTIC])
    memory().cache(train_model).clear(warn=False)  # The run is killed before it stores the model, but after its folds.
    capfd.readouterr()
    train_models(unit, [LOGISTIC])
    found = read(capfd.readouterr().err)
    assert (found.n_begun, found.n_announced, found.n_cached) == (0, 0, 2)


def test_models_share_the_features_of_texts(unit, monkeypatch):
    notes = [f"{'oak' if label else 'pine'} near plot {row}" for row, label in enumerate(unit.data.Y[:, 0])]
    typed = TypedColumns.find({"notes": notes}, source="plants.csv")
    data = dataclasses.replace(unit.data, X=typed.positions({"notes": notes}), feature_names=("notes",), typed=typed)
    unit = dataclasses.replace(unit, data=data)
    models = [LOGISTIC, Model("kNN", {}), Model("kernel-ridge", {})]
    alone = {}
    for model in models:
        alone |= train_models(unit, [model])
    memory().clear(warn=False)
    fits, fit = [], TfidfVectorizer.fit_transform
    monkeypatch.setattr(TfidfVectorizer, "fit_transform", lambda *given: fits.append(1) or fit(*given))
    with monkeypatch.context() as killed:
        killed.setattr("shutil.rmtree", lambda *_, **__: None)
        together = train_models(unit, models)
    assert len(fits) == 2 * 2  # words and characters of two folds
    assert bytes_of(together) == bytes_of(alone)
    found = Path(memory().location).glob
    assert len([*found("features-*")]) == 1
    train_models(unit, models)
    assert not [*found("features-*")]


def test_a_model_that_fails_has_rows_with_a_reason(unit):
    found = train_models(unit, [dataclasses.replace(LOGISTIC, most_labels=2), FOREST])
    scores = found["logistic"].scores
    assert scores["value"].isna().all()
    assert set(scores["reason"]) == {"logistic: config.weak_labels.many_labels.most_labels allows 2 labels."}
    assert found["RF+ET"].scores["value"].notna().all()


def test_some_of_the_labels(unit):
    labels = np.array([0, 2])
    some = unit.with_labels(labels)
    np.testing.assert_array_equal(some.observed(1), unit.observed(1)[:, labels])
    seen = [observed_labels(each.data.Y, each.hidden_in_tests, None) for each in (some, unit)]
    np.testing.assert_array_equal(seen[0], seen[1][:, labels])
    assert some.data.label_names == ("x", "z")
