"""Published numbers beside ours."""

import numpy as np
import pandas as pd
import pytest

from fairfold.cross_testing.experiment_summary import summarise
from fairfold.report.published import COLUMNS, compare_published, published_sentences


@pytest.fixture
def points(config):
    """A figure of ours with one published point of its own and one elsewhere."""
    rng = np.random.default_rng(0)
    config["cross_testing"]["experiments"] = {"e": {"figure": "fig4", "title": "simulated", "dataset": "gen"}}
    place = {"figure": "fig4", "dataset": "simulated", "x_name": "data_size", "x": 20}
    ours = pd.DataFrame({**place, "repetition": range(50), "procedure": "nested_cv", "accuracy": rng.random(50)})
    ours["p_randomised"] = 0.5
    published = pd.DataFrame([{**place, "approach": "nested_cv", "metric": "accuracy", "value": 0.6}])
    published = pd.concat([published, published.assign(x=60)]).assign(n_repetitions=1000)
    return ours, summarise(ours, published=published)


def test_points_of_figures(config, points):
    ours, table = points
    comparison = compare_published(config, cross_testing=[table])
    assert list(comparison.columns) == COLUMNS
    row = comparison.iloc[0]
    assert len(comparison) == 1
    assert row["source"] == "Korjus et al. (2016), Figure 4"
    assert row["what"] == "simulated, data_size 20, nested_cv, accuracy"
    assert row["note"] == "50 repetitions, published 1000; data: gen"
    error = ours["accuracy"].std() * np.sqrt(1 / 50 + 1 / 1000)
    assert row["standard_error"] == pytest.approx(error, rel=1e-9)
    assert row["difference_in_se"] == pytest.approx((ours["accuracy"].mean() - 0.6) / error, rel=1e-9)


def test_points_without_scatter_have_no_standard_error(config, points):
    table = points[1].copy()
    table.loc[table["source"] == "published", "difference_in_se"] = -np.inf
    row = compare_published(config, cross_testing=[table]).iloc[0]
    assert np.isnan(row["standard_error"])
    assert np.isnan(row["difference_in_se"])


def test_splits_of_public_code(config):
    summary = pd.DataFrame(
        [("a", "IS", "rLD", 0.5, 0.1, 4), ("a", "SS", "rLD", 0.5, 0.1, 4)],
        columns=["dataset", "splitter", "measure", "mean", "sd", "n_repeats"],
    )
    public = pd.DataFrame(
        [("a", "IS", "rLD", 0.4, "package x")], columns=["dataset", "splitter", "measure", "value", "source"]
    )
    row = compare_published(config, splits=(summary, public)).iloc[0]
    assert row["standard_error"] == pytest.approx(0.1 * np.sqrt(1.25))
    assert row["difference_in_se"] == pytest.approx(0.1 / (0.1 * np.sqrt(1.25)))
    assert row["what"] == "a, IS, rLD"
    assert row["note"] == "one run, ours the mean of 4 splits"
    config["folds"]["n_splits"] = 2
    assert compare_published(config, splits=(summary, public)).iloc[0]["note"].endswith("; 5 folds, ours 2")


@pytest.fixture
def weak_labels():
    rows = [
        ("a", 50, "RF+ET", fold, is_final, "mcc", value)
        for fold, final in enumerate([0.1, 0.2, 0.3, 0.4, 0.5])
        for is_final, value in ((False, 9.0), (True, final))
    ]
    scores = pd.DataFrame(rows, columns=["dataset", "missing_rate", "model", "fold", "is_final", "metric", "value"])
    published = [("a", 50, "RF+ET", "mcc", 0.25, "paper"), ("a", 30, "RF+ET", "mcc", 0.25, "paper")]
    return scores, pd.DataFrame(published, columns=["dataset", "missing_rate", "model", "metric", "value", "source"])


def test_scores_of_the_final_level(config, weak_labels):
    comparison = compare_published(config, weak_labels=weak_labels)
    assert len(comparison) == 1
    row = comparison.iloc[0]
    error = np.std([0.1, 0.2, 0.3, 0.4, 0.5], ddof=1) * np.sqrt(2 / 5)
    assert row["ours"] == pytest.approx(0.3)
    assert row["standard_error"] == pytest.approx(error)
    assert row["difference_in_se"] == pytest.approx(0.05 / error)
    assert row["what"] == "a, 50, RF+ET, mcc"
    assert row["note"] == "other folds"


def test_departures_from_the_published_settings_are_told(config, weak_labels):
    config["weak_labels"]["variant"] = "text"
    config["weak_labels"]["forest"]["n_trees"] = 30
    config["folds"] |= {"n_splits": 3, "repeats": 2}
    note = compare_published(config, weak_labels=weak_labels).iloc[0]["note"]
    assert note == (
        "other folds; n_trees 30, published 150; 3 folds, published 5; 2 cross-validations, published 1; variant text, "
        "not authors-code"
    )


def test_models_that_did_not_run_have_no_row(config, weak_labels):
    scores, published = weak_labels
    assert compare_published(config, weak_labels=(scores.assign(value=np.nan), published)).empty


def test_equal_numbers_differ_by_nothing(config, weak_labels):
    scores, published = weak_labels
    row = compare_published(config, weak_labels=(scores.assign(value=0.25), published)).iloc[0]
    assert row["difference_in_se"] == 0


def test_nothing_to_compare_is_said(config):
    comparison = compare_published(config)
    assert list(comparison.columns) == COLUMNS
    assert published_sentences(comparison) == [
        "None of this configuration's data are those of a publication that fairfold has numbers of."
    ]


def test_sentences_count_by_source():
    table = pd.DataFrame({"source": ["x", "y", "x", "x"], "difference_in_se": [-2.5, np.nan, 1.0, 1.9]})
    assert published_sentences(table) == [
        "x: 3 published numbers with a counterpart here; 2 of 3 differences are below two standard errors, the largest "
        "is 2.5.",
        "y: 1 published number with a counterpart here.",
    ]
