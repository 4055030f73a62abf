"""Test the comparison of our scores with those of the authors."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairfold.papers.published.weak_labels import compare_scores, compare_seconds

FINAL = [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.fixture
def scores():
    """Return scores with level 1 as the final and level 2 as the last level."""
    rows = [
        ("a", 50, "RF+ET", fold, level, level == 1, "mcc", value)
        for fold, final in enumerate(FINAL)
        for level, value in enumerate((9.0, final, 7.0))
    ]
    columns = ["dataset", "missing_rate", "model", "fold", "level", "is_final", "metric", "value"]
    return pd.DataFrame(rows, columns=columns)


def printed(*levels, dataset="a", rate="50", model="RF+ET"):
    rows = [(dataset, rate, model, level, "mcc", "0.2500", "0.1000") for level in levels]
    return pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "level", "metric", "value", "sd"])


def test_each_way_to_choose_the_level_has_its_counterpart(study, scores):
    table = compare_scores(printed("best_oob", "last", "level0"), {"scores": scores}, study)
    np.testing.assert_allclose(table["ours"], [0.3, 7, 9])
    assert table["place"].nunique() == 3
    row = table.iloc[0]
    error = np.sqrt(np.var(FINAL, ddof=1) / 5 + 0.1**2 / 5 + 0.0001**2 / 12)
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    assert row["difference_in_se"] == pytest.approx(0.05 / error, rel=1e-9)
    assert row["what"] == "a, 50, RF+ET, mcc"
    assert table["note"].tolist() == [
        "other folds and other hidden labels; levels by observed labels, published by complete ones",
        "other folds and other hidden labels",
        "other folds and other hidden labels",
    ]
    study.weak_labels.levels_by = "complete"
    table = compare_scores(printed("best_oob", "last", "level0"), {"scores": scores}, study)
    assert set(table["note"]) == {"other folds and other hidden labels"}


def test_the_file_is_that_of_the_job_that_trains_the_model(study, scores):
    study.weak_labels.models = ["kNN", "LCForest", "RF+ET"]
    study.weak_labels.models_per_job = None
    assert set(compare_scores(printed("last"), {"scores": scores}, study)["file"]) == {
        "weak_labels/a/rate-50/scores_0.csv"
    }
    study.weak_labels.models_per_job = 2
    assert set(compare_scores(printed("last"), {"scores": scores}, study)["file"]) == {
        "weak_labels/a/rate-50/scores_1.csv"
    }


def test_departures_from_the_published_settings_are_reported(study, scores):
    study.weak_labels.variant = "text"
    study.weak_labels.forest.n_trees = 30
    study.folds.n_splits = 3
    study.folds.n_repeats = 2
    note = compare_scores(printed("last"), {"scores": scores}, study).iloc[0]["note"]
    assert note == (
        "other folds and other hidden labels; n_trees 30, published 150; 3 folds, published 5; 2 cross-validations, "
        "published 1; variant text, not authors-code"
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dataset": "c"}, "not computed here: weak_labels.datasets needs c"),
        ({"rate": "30"}, "not computed here: weak_labels.missing_rates needs 30"),
        ({"model": "CaFE"}, "not computed here: weak_labels.models needs CaFE"),
    ],
)
def test_what_is_lacking_is_named(study, scores, change, sentence):
    row = compare_scores(printed("last", **change), {"scores": scores}, study).iloc[0]
    assert np.isnan(row["ours"]) and row["note"] == sentence


def test_models_that_did_not_run_have_a_reason_elsewhere(study, scores):
    row = compare_scores(printed("best_oob"), {"scores": scores.assign(value=np.nan)}, study).iloc[0]
    assert np.isnan(row["ours"]) and "has the reason" in row["note"]


def test_a_level_that_does_not_scatter_differs_by_the_authors_scatter(study, scores):
    row = compare_scores(printed("best_oob"), {"scores": scores.assign(value=0.25)}, study).iloc[0]
    assert row["difference_in_se"] == 0


def test_seconds_of_all_folds_stand_beside_theirs(study):
    study.weak_labels.datasets = ["a"]
    study.weak_labels.models = ["CaFE"]
    each = itertools.product((0, 1), range(5), ("fit", "predict"))
    rows = [("a", rate, "CaFE", fold, step, 2.0 + rate) for rate, fold, step in each]
    times = pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "fold", "step", "seconds"])
    published = pd.DataFrame([("a", "CaFE", "299.6"), ("b", "CaFE", "1")], columns=["dataset", "model", "value"])
    table = compare_seconds(published, {"fit_seconds": times}, study)
    assert table["ours"].tolist()[0] == 12.5 and np.isnan(table["ours"][1])
    assert table[["difference_in_se", "difference_in_digits"]].isna().all(axis=None)
    assert table["note"].tolist() == [
        "of another machine, so not compared; ours the mean over missing rates",
        "not computed here: weak_labels.datasets needs b",
    ]
    assert compare_seconds(published, {}, study)["note"][0].endswith("missing rates, in timings/models.csv")
