"""Test the verdict of a dataset: its sentences, leaderboard and axes."""

import numpy as np
import pandas as pd
import pytest
from answers import board_of, tables_of

from fairfold.answer import Answer
from fairfold.report.verdicts import verdict_card


@pytest.fixture
def tables():
    """Return the tables of a study of 1,060 rows."""
    sizes = {"n_samples": 1060, "n_features": 16, "n_labels": 14, "label_cardinality": 2.5}
    rates = {"hidden_rate": [0, 50], "estimated_rate": [0.0, 40.0], "low": [0.0, 20.0], "high": [11.0, 60.0]}
    rates |= {"labels_are": "incomplete"}
    scores = {"missing_rate": 50, "metric": "average_precision", "complete": 0.5, "low": 0.4, "high": [0.6, 0.6, 0.45]}
    summary = {"metric": "average_precision", "missing_rate": [0, 30, 30, 50], "model": list("aabb")}
    audit = {"check": "duplicated rows", "severity": "warning", "message": "copies; remove"}
    given = {"sizes": [sizes], "missing_rates": rates, "complete_scores": scores, "summary": summary, "audit": [audit]}
    given = {name: pd.DataFrame(table) for name, table in given.items()}
    given["missing_rates"]["reason"], given["summary"]["mean"] = "", [0.9, 0.8, 0.7, 0.6]
    return tables_of(board_of("water", verdicts=["best", "not different", "worse"]), **given)


def answer_of(tables):
    return Answer.from_tables("water", tables)


def cautions_of(tables):
    return dict(verdict_card(answer_of(tables))["cautions"])


def test_the_verdict_states_how_sure_it_is(tables):
    answer = answer_of(tables)
    card = verdict_card(answer)
    assert card["title"] == "Use RF+ET on water"
    assert (
        answer.score
        == "The average precision of RF+ET is 0.70, 95 % interval 0.68 to 0.80, which allows for missing positives"
    )
    complete = {**tables, "missing_rates": tables["missing_rates"].assign(high=0.0)}
    assert answer_of(complete).score == "The average precision of RF+ET is 0.70, 95 % interval 0.68 to 0.80"
    assert dict(card["strip"]) == {
        "Rows": "1,060",
        "Features": "16",
        "Labels": "14",
        "Positives per row": "2.50",
        "Data warnings": "1",
        "Missing positives": "none detected, up to 11 % possible",
    }


def test_cautions_explain_intervals_and_missing_labels(tables):
    assert answer_of(tables).coverage == "held in 67 % of checks, not 95 %"
    cautions = cautions_of(tables)
    assert "2 of 3 intervals (67 %) contained the score" in cautions["How well intervals hold here"]
    missing = cautions["If labels are missing"]
    assert "No missing positives are detected (95 % interval 0 to 11 %), if they are missing at random." in missing
    assert "If the odds" not in missing
    tables["leaderboard"] = tables["leaderboard"].assign(if_hard=0.61, if_easy=0.74)
    missing = cautions_of(tables)["If labels are missing"]
    assert "4 times higher for the hardest than for the easiest positives, average precision is 0.61" in missing
    assert "In the opposite case, it is 0.74." in missing
    assert "The best model was a after hiding 30 % and b after hiding 50 %." in missing
    assert cautions["Check your data first"].startswith("Duplicated rows.")
    assert "Correct the data first" not in cautions
    tables["audit"]["severity"] = "error"
    error = "Error in the data: copies; remove. Until then, trust no score."
    assert verdict_card(answer_of(tables))["cautions"][0] == ("Correct the data first", error)
    tables["complete_scores"]["high"] = 0.6
    assert answer_of(tables).coverage is None


def test_another_model_may_decide_better(tables):
    numbers = {"metric": "mcc", "model": ["RF+ET", "model 1"], "difference": [0.1, 0.0], "alpha": 0.05, "rope": 0.01}
    tables["numbers"] = pd.DataFrame(numbers).assign(dataset="water", p_adjusted=[0.01, np.nan], same_as=np.nan)
    sentence = "To decide which labels a sample has, use model 1: by MCC, RF+ET is worse."
    assert cautions_of(tables)["Decisions"] == sentence
    tables["numbers"]["p_adjusted"] = [0.5, np.nan]
    assert "Decisions" not in cautions_of(tables)


@pytest.mark.parametrize(
    ("estimate", "messages"),
    [
        ({"estimated_rate": 0.0, "low": 0.0, "high": 0.1}, "none detected"),
        ({"estimated_rate": 20.0, "low": 10.0, "high": 30.0}, "about 20 % of positives (10 to 30 %)"),
        ({"estimated_rate": 30.0, "low": np.nan, "high": np.nan}, "30 % of positives, as declared"),
        (
            {"labels_are": "complete", "estimated_rate": 20.0, "low": np.nan, "high": np.nan},
            "none, as declared; 20 % of labels unmeasured",
        ),
        ({"labels_are": "unknown", "estimated_rate": np.nan, "low": 0.0, "high": 45.2}, "unknown, at most 45 %"),
        ({"estimated_rate": np.nan, "low": np.nan, "high": np.nan}, "not estimated"),
    ],
)
def test_missing_labels_have_plain_words(tables, estimate, messages):
    tables["missing_rates"] = tables["missing_rates"].assign(**estimate)
    assert dict(verdict_card(answer_of(tables))["strip"])["Missing positives"] == messages


def test_without_a_score_no_model_is_recommended(tables):
    numbers = ["score", "low", "high", "behind", "behind_low", "behind_high", "deciding", "fit_seconds"]
    tables["leaderboard"] = tables["leaderboard"].assign(verdict="no score", **dict.fromkeys(numbers, np.nan))
    answer = answer_of(tables)
    card = verdict_card(answer)
    assert card["title"] == "No model can be recommended on water"
    assert (answer.model, answer.score) == (None, None)
    assert all(row["cells"]["score"]["mark"] is None and row["cells"]["score"]["text"] == "" for row in card["rows"])


def test_decimals_follow_the_intervals_and_marks_stay_on_the_axes(tables):
    tables["leaderboard"]["behind"] = [0, 0.0002, 0.01]
    card = verdict_card(answer_of(tables))
    assert [row["cells"]["behind"]["text"] for row in card["rows"]] == ["", "0.000", "0.010"]
    for row in card["rows"]:
        for mark in (row["cells"][name]["mark"] for name in ("score", "behind")):
            assert 0 <= mark[0] <= mark[1] <= mark[2] <= 100
    for axis in card["axes"].values():
        assert 1 < len(axis["ticks"]) <= 4 and all(0 <= tick["x"] <= 100 for tick in axis["ticks"])


def test_the_first_screen_names_groups_and_hard_labels(tables):
    tables["columns"] = pd.DataFrame({"dataset": ["water"], "kind": "groups", "names": "river"})
    rows = {"label": ["a", "b"], "n_positives": [9, 30], "n_true_positives": [0, 9], "roc_auc": [0.5, 0.9]}
    tables["labels"] = pd.DataFrame(rows | {"n_models_above_chance": 1}).assign(dataset="water", model="Stack+")
    cautions = cautions_of(tables)
    assert cautions["Labels"].startswith(
        "At the threshold 0.5, Stack+ finds no positive of 1 of 2 labels: a (9 positives)."
    )
    assert answer_of(tables).design == ["Test folds contain other rivers than the training folds."]


def test_checked_cells_replace_assumptions(tables):
    tables["leaderboard"] = tables["leaderboard"].assign(n_checked=60.0)
    answer = answer_of(tables)
    card = verdict_card(answer)
    assert dict(card["strip"])["Checked cells"] == "60" and answer.coverage is None
    assert {heading for heading, _ in card["cautions"]} == {"Checked cells", "Check your data first"}
    missing = dict(card["cautions"])["Checked cells"]
    assert "based on 60 checked cells" in missing and "if at random" not in missing and "further up" not in missing


UNKNOWN = {"labels_are": "unknown", "estimated_rate": np.nan, "low": 0.0, "high": 45.2}


@pytest.mark.parametrize(
    ("metric", "at_bound", "text"),
    [
        ("average_precision", 0.79, "missing, and average precision would be up to 0.79."),
        ("hamming_loss", 0.8, "missing, and Hamming loss would be about 0.80."),
        ("subset_accuracy", np.nan, "missing, and subset accuracy would differ."),
    ],
)
def test_labels_of_an_unknown_state_have_a_bound_only(tables, metric, at_bound, text):
    tables["leaderboard"] = tables["leaderboard"].assign(metric=metric, at_bound=at_bound, if_hard=0.6, if_easy=0.7)
    tables["missing_rates"] = tables["missing_rates"].assign(**UNKNOWN)
    answer, missing = answer_of(tables), cautions_of(tables)["If labels are missing"]
    assert f"often in all labels, at most 45 % of the positives are {text}" in missing
    assert "but hard to predict give the same numbers, so perhaps no positive is missing. To find out" in missing
    assert "estimate" not in missing and "About" not in missing and "If the odds" not in missing
    assert "which allows for missing positives" not in answer.score
    # Intervals of the trial are for corrected scores, other than those of the leaderboard.
    assert answer.coverage is None and answer.intervals is None


def test_complete_labels_have_no_bound(tables):
    rates = {"labels_are": "complete", "estimated_rate": 0.0, "low": np.nan, "high": np.nan}
    tables["missing_rates"] = tables["missing_rates"].assign(**rates)
    missing = cautions_of(tables)["If labels are missing"]
    assert missing.startswith("Labels are declared complete. Scores take them as they are. To see which model bears")


def test_a_metric_without_a_correction_is_that_of_labels_as_given(tables):
    tables["leaderboard"] = tables["leaderboard"].assign(metric="subset_accuracy", low=np.nan, high=np.nan)
    missing = cautions_of(tables)["If labels are missing"]
    assert "Subset accuracy cannot be corrected, so it is that of the labels as given." in missing
    assert "nan" not in missing
