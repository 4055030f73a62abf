"""Test the list of results that could not be computed."""

import numpy as np
import pandas as pd
import pytest

from fairfold.errors import ModelError
from fairfold.report.failures import check_scored, check_target, failures_of


def test_folds_of_the_same_fate_are_put_together():
    scores = pd.DataFrame(
        [
            ("a", 50, "X", fold, metric, "" if fold == 0 else reason)
            for fold, reason in enumerate(["", "NaN in level 1.", "NaN in level 1.", "no samples."])
            for metric in ("mcc", "roc_auc")
        ],
        columns=["dataset", "missing_rate", "model", "fold", "metric", "reason"],
    )
    assert failures_of(scores).to_dict("split")["data"] == [
        ["a", 50, "X", 2, "NaN in level 1."],
        ["a", 50, "X", 1, "no samples."],
    ]


def test_an_undefined_metric_has_one_row_for_all_models():
    columns = ["dataset", "model", "fold", "metric", "value", "reason"]
    rows = [("yeast", model, fold, "mcc", 0.5, "") for model in "ab" for fold in (0, 1)]
    rows += [("yeast", model, fold, "ranking_loss", np.nan, "undefined") for model in "ab" for fold in (0, 1)]
    rows += [("yeast", "c", 0, metric, np.nan, "broken") for metric in ("mcc", "ranking_loss")]
    found = failures_of(pd.DataFrame(rows, columns=columns))
    assert found.to_numpy().tolist() == [["yeast", "all models", 2, "undefined"], ["yeast", "c", 1, "broken"]]


def test_failures_that_were_counted_before_are_counted_once():
    """Failures are not counted once per metric. Metrics may have different counts."""
    wins = pd.DataFrame(
        {"dataset": "a", "model": ["X", "X", "Y"], "metric": ["mcc", "ap", "mcc"], "n_failed": [6, 7, 0]}
    ).assign(reason=["NaN.", "NaN.", ""])
    assert failures_of(wins).to_dict("split")["data"] == [["a", "X", 7, "NaN."]]


def test_nothing_failed():
    assert failures_of(pd.DataFrame({"dataset": ["a"], "fold": [0], "reason": [""]})).empty


def test_tables_without_models_or_folds():
    rates = pd.DataFrame({"dataset": ["NA", "b"], "hidden_rate": [0, 50], "reason": ["no fold.", ""]})
    assert failures_of(rates).to_dict("records") == [
        {"dataset": "NA", "hidden_rate": 0, "times": 1, "reason": "no fold."}
    ]


SCORES = pd.DataFrame(
    [
        (dataset, 0, model, fold, metric, value, "" if value else f"{model} cannot.")
        for dataset, model, value in (("a", "X", ""), ("a", "Y", ""), ("b", "X", ""), ("b", "Y", 0.5))
        for fold in range(3)
        for metric in ("mcc", "roc_auc")
    ],
    columns=["dataset", "missing_rate", "model", "fold", "metric", "value", "reason"],
)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes tables in the working directory and returns their paths."""
    monkeypatch.chdir(tmp_path)

    def write(*tables):
        paths = [f"{number}.csv" for number in range(len(tables))]
        for table, path in zip(tables, paths, strict=True):
            table.to_csv(path, index=False)
        return paths

    return write


def test_each_dataset_has_a_score(written):
    check_scored({"weak_labels": written(SCORES[SCORES["dataset"] == "b"])})


@pytest.mark.parametrize(
    ("report", "where"),
    [("'Not computed' in the report", "'Not computed' in the report"), (None, "the column 'reason' of 0.csv")],
)
def test_a_dataset_without_any_score_is_named_once(written, report, where):
    sets = pd.DataFrame({"dataset": ["NA", "a", "b"], "model": "X", "mean": ["", "", 0.1], "n_failed": [4, 5, 6]})
    first, second = written(SCORES, sets.assign(reason="none."))
    with pytest.raises(ModelError) as error:
        check_scored({"weak_labels": [first], "win_percentage.models": [second]}, report)
    assert str(error.value) == (
        "No model could be scored on 'a' in weak_labels, win_percentage.models "
        "(all 11 attempts failed, the first thus: X cannot); nor on "
        f"'NA' in win_percentage.models (all 4 attempts failed, the first thus: none); see {where}."
    )


def test_tables_of_one_part_are_looked_at_together(written):
    """Each job of rank stability writes a table. A failed job does not count as a dataset without scores."""
    repeats = [SCORES.assign(repeat=repeat, splitter="SS") for repeat in range(2)]
    is_a = SCORES["dataset"] == "a"
    repeats[1].loc[is_a, ["value", "reason"]] = [0.1, ""]
    check_scored({"rank_stability": written(*repeats)})
    repeats[1] = repeats[0].assign(repeat=1)
    with pytest.raises(ModelError, match=r"'a' in rank_stability \(all 12 attempts failed"):
        check_scored({"rank_stability": written(*repeats)})


def test_an_undefined_score_is_no_failure(written):
    check_scored({"weak_labels": written(SCORES.assign(reason=""))})


def test_the_message_of_a_study_names_its_report(written):
    failed = SCORES[SCORES["dataset"] == "a"].assign(value=np.nan, reason="No.")
    paths = written(failed, failed)
    with pytest.raises(ModelError, match=r"'Not computed' in results/report\.html"):
        check_target("study", ["weak_labels", "weak_labels"], paths)
    with pytest.raises(ModelError, match="the column 'reason' of"):
        check_target("weak_labels", ["weak_labels", "weak_labels"], paths)
    check_target("study", [], [])
