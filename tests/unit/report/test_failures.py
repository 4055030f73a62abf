"""What could not be computed."""

import pandas as pd

from fairfold.report.failures import failures_of


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


def test_failures_that_were_counted_before_are_counted_once():
    """Not once for each metric, some of which may have more."""
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
