"""Test which datasets the parts of a study use."""

import copy

from fairfold.planning.check import catalog_of, check_study
from fairfold.planning.parts import leave_out, with_many_labels, with_own_reference

CONFIG = {"seed": 1, "weak_labels": {"datasets": ["simulated-multilabel"]}}


def checked(**changes):
    config = copy.deepcopy(CONFIG)
    for part, values in changes.items():
        config.setdefault(part, {}).update(values)
    return check_study(config)


def test_many_labels_are_those_of_the_catalog_with_more_than_50_or_those_that_are_chosen():
    datasets = ["flags", "bibtex", "CAL500", "simulated-multilabel"]  # the last one has no fixed number of labels
    study = checked(weak_labels={"datasets": datasets})
    assert with_many_labels(study, catalog_of(study)) == ["bibtex", "CAL500"]
    study = checked(weak_labels={"datasets": datasets, "many_labels": {"datasets": ["flags"]}})
    assert with_many_labels(study, catalog_of(study)) == ["flags"]
    study = checked(weak_labels={"datasets": [*datasets, "enron"], "many_labels": {"datasets": None}})
    assert with_own_reference(study, catalog_of(study)) == ["bibtex", "CAL500"]  # enron has 53 labels
    study = checked(weak_labels={"datasets": datasets, "many_labels": {"datasets": []}})
    assert with_many_labels(study, catalog_of(study)) == []


def test_datasets_are_left_out_of_every_part():
    experiment = {"figure": "fig6", "title": "t", "data_sizes": [20], "dataset": "cross_testing_eeg"}
    whole = checked(
        cross_testing={
            "experiments": {"EEG": experiment, "made": {**experiment, "dataset": "cross-testing-simulated"}},
            "models": {"datasets": ["yeast"]},
        },
        weak_labels={"datasets": ["flags", "yeast"], "mechanisms": {"datasets": ["yeast"]}},
        ecoc={"examples": ["linear", "arrhythmia"]},
    )
    before, reasons = whole.model_dump(), {"yeast": "gone", "cross_testing_eeg": "far", "arrhythmia": "lost"}
    study, rows = leave_out(whole, reasons)
    assert {(row["part"], row["dataset"]) for row in rows} == {
        ("weak_labels", "yeast"),
        ("weak_labels.mechanisms", "yeast"),
        ("cross_testing.models", "yeast"),
        ("cross_testing.experiments.EEG", "cross_testing_eeg"),
        ("ecoc.examples.arrhythmia", "arrhythmia"),
    }
    assert all(row["reason"] == reasons[row["dataset"]] for row in rows)
    assert study.weak_labels.datasets == ["flags"] and study.weak_labels.mechanisms.datasets == []
    assert list(study.cross_testing.experiments) == ["made"] and study.ecoc.examples == ["linear"]
    assert study.data.left_out == reasons
    assert whole.model_dump() == before
