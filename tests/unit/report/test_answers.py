"""Test the sentences of the answer."""

from functools import partial

import pandas as pd

from fairfold.models.legend import legend_table
from fairfold.report import answers
from fairfold.report.answers import group_sentences

rank_sentences = partial(answers.rank_sentences, legend=legend_table(["RF+ET"]))


def ranks(*rows):
    return pd.DataFrame(rows, columns=["dataset", "missing_rate", "metric", "model", "percentile_rank"])


def test_the_leader_has_the_best_mean_over_datasets():
    table = ranks(
        ("a", 0, "mcc", "X", 1.0),
        ("a", 0, "mcc", "Y", 0.8),
        ("b", 0, "mcc", "X", 0.2),
        ("b", 0, "mcc", "Y", 0.6),
        ("a", 50, "mcc", "X", 0.9),
        ("a", 50, "mcc", "Y", 0.1),
    )
    first, last = rank_sentences(table)
    assert "Y with no label hidden (mean percentile rank 0.70)" in first
    assert "X with 50 % of positives hidden (mean percentile rank 0.90)" in first
    assert "2 datasets." in last


def test_ties_are_told():
    sentence = rank_sentences(ranks(("a", 0, "mcc", "X", 0.75), ("a", 0, "mcc", "Y", 0.75)))[0]
    assert "X and Y with no label hidden" in sentence


def test_models_that_did_not_run_lead_nowhere():
    table = ranks(("a", 0, "mcc", "X", None), ("a", 0, "mcc", "Y", 0.5), ("a", 50, "mcc", "X", None))
    first, _ = rank_sentences(table)
    assert first.endswith("best on average: Y with no label hidden (mean percentile rank 0.50).")


def test_other_metrics_give_no_answer():
    assert rank_sentences(ranks(("a", 0, "roc_auc", "X", 1.0))) == []


def test_sentences_keep_their_order():
    rows = [("b", "ranking", "1"), ("b", "new", "2"), ("a", "ranking", "3"), ("b", "ranking", "4")]
    groups = group_sentences(pd.DataFrame(rows, columns=["dataset", "use", "sentence"]))
    ranking = "To rank labels by their probability"
    assert groups == {"b": {ranking: ["1", "4"], "new": ["2"]}, "a": {ranking: ["3"]}}
    assert list(groups) == ["b", "a"]


def test_models_with_identical_scores_on_all_datasets_count_as_one():
    table = ranks(*((dataset, 0, "mcc", model, 0.75) for dataset in "ab" for model in "XY"))
    identical = pd.DataFrame(
        [("a", 0, "Y", "X"), ("b", 0, "Y", "X")], columns=["dataset", "missing_rate", "model", "same_as"]
    )
    assert "X and Y (identical scores to X) with no" in rank_sentences(table, identical=identical)[0]
    assert "X and Y with no label hidden" in rank_sentences(table, identical=identical[:1])[0]
    assert "X and Y with no label hidden" in rank_sentences(table, identical=identical.assign(missing_rate=50))[0]
