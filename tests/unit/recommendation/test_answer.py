"""Test the answer of a study in a few lines."""

import numpy as np
import pandas as pd
import pytest

from fairfold.recommendation.answer import answer_lines, verdict_sentence

BEST, ALIKE, WORSE = ("A", 0.8, 0.0, "best"), ("C", 0.7999, 4.76e-17, "not different"), ("B", 0.5, 0.3, "worse")
TWIN, FAILED = ("A+", 0.8, 0.0, "same as A"), ("D", np.nan, np.nan, "no score")


def board(*rows, seconds=1.5):
    table = pd.DataFrame(rows, columns=["model", "score", "behind", "verdict"])
    return table.assign(metric="average_precision", deciding=table["score"], high=0.9, fit_seconds=seconds)


def numbers(p_value=np.nan):
    """Return the recommendation for decisions: A is the best, or it is worse than B with this p-value."""
    is_best = np.isnan(p_value)
    rows = [("A", 0.0 if is_best else 0.1, p_value), ("B", 0.1 if is_best else 0.0, np.nan)]
    return pd.DataFrame(rows, columns=["model", "difference", "p_adjusted"]).assign(
        metric="mcc", same_as=np.nan, alpha=0.05
    )


def missing(estimate=0.1, low=0.0, high=11.0, reason=""):
    names = ["hidden_rate", "estimated_rate", "low", "high", "reason"]
    return pd.DataFrame([(0, estimate, low, high, reason), (50, 49.0, 40.0, 60.0, "")], columns=names)


def answer(*rows, rates=None, p_value=np.nan, seconds=1.5, labels=None):
    rates = missing() if rates is None else rates
    return [*answer_lines(board(*rows, seconds=seconds), numbers(p_value), rates, 1060, labels, most_models=7)]


def test_the_whole_answer():
    labels = pd.DataFrame({"label": list("stuv"), "mcc": [0.5, np.nan, -0.001, 0.9]})
    assert answer(BEST, TWIN, ALIKE, WORSE, FAILED, seconds=[2.0, 2.0, 1.5, 0.001, np.nan], labels=labels) == [
        "Use A. With 1,060 samples, one other model is not significantly different.",
        "",
        "   avg. precision  behind    MCC  verdict                 s/fit",
        "A           0.800       -  0.800  best                      2.0",
        "C           0.800   0.000  0.800  not different, fastest    1.5",
        "B           0.500   0.300  0.500  worse                    <0.1",
        "D               -       -      -  no score                    -",
        "(A+: same scores as A.)",
        "",
        "Missing labels: none detected, up to 11 % possible; then average precision up to 0.900.",
        "  This estimate assumes that labels are missing at random.",
        "Hardest labels: u (MCC 0.00), s (MCC 0.50).",
    ]


def test_several_models_may_be_as_good():
    assert verdict_sentence(board(BEST, ALIKE, ALIKE, ALIKE), 200) == (
        "Use A. With 200 samples, three other models are not significantly different."
    )


def test_checked_cells_give_no_significance():
    checked = board(BEST, ALIKE).assign(n_checked=60.0)
    assert verdict_sentence(checked, 200) == "Use A. With 200 samples, one other model is not clearly worse."
    checked = board(BEST, WORSE).assign(n_checked=60.0)
    assert verdict_sentence(checked, 200) == "Use A. It is better than the other model."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([BEST], "Use A. There is no other model to compare it with."),
        ([BEST, WORSE], "Use A. It is significantly better than the other model."),
        ([BEST, WORSE, WORSE], "Use A. It is significantly better than the other two models."),
        ([FAILED], "No model has a score in every fold, so no model is recommended."),
        (
            [BEST, ("B", 0.7, 0.1, "not tested")],
            "Use A. Its score is the best, but a single fold does not allow a test.",
        ),
    ],
)
def test_verdict(rows, sentence):
    lines = answer(*rows)
    assert lines[0] == sentence
    assert "nan" not in "\n".join(lines) and "False" not in "\n".join(lines)


def test_the_best_model_may_be_worse_for_decisions():
    assert answer(BEST, WORSE, p_value=0.01)[1] == "To decide which labels a sample has, use B: by MCC, A is worse."
    assert answer(BEST, WORSE, p_value=0.3)[1] == ""


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
    assert line in answer(BEST, rates=rates)


def test_many_models_stay_within_the_screen():
    rows = [(f"M{i}", 0.9 - i / 100, i / 100, "worse" if i else "best") for i in range(39)]
    lines = answer(*rows)
    assert len(lines) <= 17 and "... and 32 more models" in lines


def test_checked_cells_replace_assumptions():
    table, rates = board(BEST, ALIKE), missing().assign(n_checked=[60.0, np.nan])
    for low, sentences in (
        (0.5, ["  They leave average precision of A between 0.500 and 0.972 (95 % interval)."]),
        (np.nan, []),
    ):
        lines = [*answer_lines(table.assign(low=low, high=0.972), numbers(), rates, 1060, most_models=7)]
        assert not any("To decide which labels" in line for line in lines)
        assert lines[-2 - len(sentences) :] == [
            "Missing labels: none detected, up to 11 % possible.",
            "  Scores and missing labels are based on 60 checked cells.",
            *sentences,
        ]


def test_a_score_without_correction_is_of_observed_labels():
    table = board(BEST, ALIKE).assign(metric="subset_accuracy", low=np.nan, high=np.nan)
    lines = [*answer_lines(table, numbers(), missing(), 1060, most_models=7)]
    assert "  Subset accuracy is measured on observed labels. It cannot be corrected for missing ones." in lines
    table = board(BEST, ALIKE).assign(metric="hamming_loss", low=0.1)
    assert "Missing labels: none detected, up to 11 % possible." in answer_lines(
        table, numbers(), missing(), 1060, most_models=7
    )
