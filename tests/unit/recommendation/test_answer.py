"""Test the answer of a study in a few lines."""

import numpy as np
import pandas as pd
import pytest

from fairfold.recommendation.answer import answer_lines, leaderboard, verdict_sentence

COLUMNS = ["model", "mean", "high", "difference", "p_adjusted", "is_top", "same_as", "identical"]
FOUR = [
    ("A", 0.8, 0.9, 0.0, np.nan, True, np.nan, np.nan),
    ("B", 0.5, 0.6, 0.3, 0.001, False, np.nan, np.nan),
    ("C", 0.7999, 0.9, 4.76e-17, 0.4, True, np.nan, np.nan),
    ("A+", 0.8, 0.9, 0.0, np.nan, True, "A", "predictions"),
]


def numbers(rows=FOUR, n_folds=5, mcc=None):
    """Return a recommendation, with the same values for both metrics unless others are given."""
    metrics = {"average_precision": rows, "mcc": rows if mcc is None else mcc}
    tables = [pd.DataFrame(rows, columns=COLUMNS).assign(metric=metric) for metric, rows in metrics.items()]
    return pd.concat(tables).assign(n_folds=n_folds, missing_rate=0, alpha=0.05)


SECONDS = pd.DataFrame(
    [
        *(("A", fold, step, 1.0) for fold in (0, 1) for step in ("fit", "first_level", "predict")),
        *(("C", fold, "fit", 1.5) for fold in (0, 1)),
        *(("B", fold, "fit", 0.001) for fold in (0, 1)),
    ],
    columns=["model", "fold", "step", "seconds"],
).assign(missing_rate=0)


def missing(estimate=0.1, low=0.0, high=11.0, reason=""):
    names = ["hidden_rate", "estimated_rate", "low", "high", "reason"]
    return pd.DataFrame([(0, estimate, low, high, reason), (50, 49.0, 40.0, 60.0, "")], columns=names)


def answer(table=None, rates=None, **options):
    table = numbers() if table is None else table
    return [*answer_lines(table, missing() if rates is None else rates, 1060, **options)]


def test_the_whole_answer():
    scores = pd.DataFrame({"label": list("stuv"), "mcc": [0.5, np.nan, 0.127, 0.9]})
    assert answer(seconds=SECONDS, label_scores=scores) == [
        "Use A. With 1,060 samples, one other model is not significantly different.",
        "",
        "   avg. precision  behind    MCC  verdict                 s/fit",
        "A           0.800       -  0.800  best                      2.0",
        "C           0.800  <0.001  0.800  not different, fastest    1.5",
        "B           0.500   0.300  0.500  worse                    <0.1",
        "(A+ gives the same predictions as A here.)",
        "",
        "Missing labels: none detected, up to 11 % possible; then average precision up to 0.900.",
        "  This estimate assumes that labels are missing at random.",
        "Hardest labels: u (MCC 0.13), s (MCC 0.50).",
    ]


def test_models_that_could_not_be_tested():
    rows = [(*row[:4], np.nan, True, *row[6:]) for row in FOUR]
    failed = ("D", np.nan, np.nan, np.nan, np.nan, False, np.nan, np.nan)
    board = leaderboard(numbers([*rows, failed], n_folds=1))
    assert board.set_index("model")["verdict"].to_dict() == {
        "A": "best",
        "B": "not tested",
        "C": "not tested",
        "D": "no score",
    }
    assert board["model"].tolist() == ["A", "C", "B", "D"]
    assert verdict_sentence(board, 10) == "Use A. Its score is the best, but a single fold does not allow a test."
    text = "\n".join(answer(numbers([*rows, failed], n_folds=1)))
    assert "False" not in text and "nan" not in text


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (FOUR[:1], "Use A. There is no other model to compare it with."),
        (FOUR[:2], "Use A. It is significantly better than the other model."),
        ([*FOUR[:2], FOUR[1]], "Use A. It is significantly better than the other two models."),
        (
            [("A", *[np.nan] * 4, False, np.nan, np.nan)],
            "No model has a score in every fold, so no model is recommended.",
        ),
    ],
)
def test_verdict(rows, sentence):
    table = numbers(rows)
    assert answer(table)[0] == sentence


def test_the_best_model_may_be_worse_for_decisions():
    other = [("A", 0.2, 0.3, 0.1, 0.01, False, np.nan, np.nan), ("B", 0.3, 0.4, 0.0, np.nan, True, np.nan, np.nan)]
    assert answer(numbers(FOUR[:2], mcc=other))[1] == (
        "To decide which labels a sample has, use B: by MCC, A is significantly worse."
    )


@pytest.mark.parametrize(
    ("rates", "line"),
    [
        (missing(high=0.4), "Missing labels: none detected."),
        (missing(14.2, 11.4, 17.9), "Missing labels: about 14 % of the positives (95 % interval 11 to 18 %)."),
        (missing(12.5, np.nan, np.nan), "Missing labels: 12 % of the labels are unmeasured."),
        (missing(*[np.nan] * 3, "no fold has predictions"), "Missing labels: not estimated: no fold has predictions."),
    ],
)
def test_missing_labels(rates, line):
    assert line in answer(rates=rates)


def test_many_models_stay_within_the_screen():
    rows = [(f"M{i}", 0.9 - i / 100, 0.9, i / 100, 0.001 if i else np.nan, not i, *[np.nan] * 2) for i in range(39)]
    lines = answer(numbers(rows))
    assert len(lines) <= 17 and "... and 32 more models" in lines
