"""Test the answer of a study in a few lines."""

import numpy as np
import pandas as pd
import pytest

from fairfold.recommendation.answer import answer_lines, verdict_sentence

BEST, ALIKE, WORSE = ("A", 0.8, 0.0, "best"), ("C", 0.7999, 4.76e-17, "not different"), ("B", 0.5, 0.3, "worse")
TWIN, FAILED = ("A+", 0.8, 0.0, "same as A"), ("D", np.nan, np.nan, "no score")


def board(*rows, seconds=1.5):
    table = pd.DataFrame(rows, columns=["model", "score", "behind", "verdict"])
    return table.assign(
        metric="average_precision", deciding=table["score"], low=0.7, high=0.85, at_bound=0.9, fit_seconds=seconds
    )


def numbers(p_value=np.nan):
    """Return the recommendation for decisions: A is the best, or it is worse than B with this p-value."""
    is_best = np.isnan(p_value)
    rows = [("A", 0.0 if is_best else 0.1, p_value), ("B", 0.1 if is_best else 0.0, np.nan)]
    return pd.DataFrame(rows, columns=["model", "difference", "p_adjusted"]).assign(
        metric="mcc", same_as=np.nan, alpha=0.05
    )


def missing(estimate=np.nan, low=0.0, high=11.0, reason="", labels_are="unknown"):
    names = ["hidden_rate", "labels_are", "estimated_rate", "low", "high", "reason"]
    rows = [(0, labels_are, estimate, low, high, reason), (50, "incomplete", 49.0, 40.0, 60.0, "")]
    return pd.DataFrame(rows, columns=names)


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
        "If zeros are missing positives, at random and equally often in all labels, at most 11 % of the positives are "
        "missing, and average precision would be up to 0.900.",
        "Noisy labels look the same: check 100 cells (`fairfold check`), or declare `--labels-are` complete or "
        "incomplete.",
        "Hardest labels: u (MCC 0.00), s (MCC 0.50).",
    ]


def test_several_models_may_be_as_good():
    assert verdict_sentence(board(BEST, ALIKE, ALIKE, ALIKE), 200) == (
        "Use A. With 200 samples, three other models are not significantly different."
    )


def test_samples_that_would_decide():
    assert not [line for line in answer(BEST, ALIKE) if "would tell" in line]
    open_one = board(BEST, ALIKE).assign(behind=[0, 0.02], behind_low=[np.nan, -0.02], behind_high=[np.nan, 0.06])
    lines = [*answer_lines(open_one, numbers(), missing(), 1060, most_models=7)]
    assert lines[1] == "About 4,300 samples (1,060 now) would tell A from C."


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
        (
            missing(high=0.4),
            "If zeros are missing positives, at random and equally often in all labels, less than 1 % of the positives "
            "are missing, and average precision would be up to 0.900.",
        ),
        (
            missing(14.2, 11.4, 17.9, labels_are="incomplete"),
            "About 14 % of the positives are missing (95 % interval 11 to 18 %), if they are missing at random.",
        ),
        (
            missing(0.2, 0.0, 7.0, labels_are="incomplete"),
            "No missing positives are detected (95 % interval 0 to 7 %), if they are missing at random.",
        ),
        (
            missing(30.0, np.nan, np.nan, labels_are="incomplete"),
            "Scores are corrected for 30 % missing positives, as declared, if these are missing at random.",
        ),
        (
            missing(12.5, np.nan, np.nan, labels_are="complete"),
            "Labels are declared complete, and 12 % of them are unmeasured. Scores take them as they are.",
        ),
        (
            missing(*[np.nan] * 3, "no fold has predictions"),
            "The share of missing positives is not bounded: no fold has predictions. Scores take labels as they are.",
        ),
        (
            missing(*[np.nan] * 3, "no fold has predictions", labels_are="incomplete"),
            "The share of missing positives is not estimated: no fold has predictions. Scores take labels as they are.",
        ),
    ],
)
def test_missing_labels(rates, line):
    assert line in answer(BEST, rates=rates)


@pytest.mark.parametrize("state", ["unknown", "complete"])
def test_without_a_declaration_or_a_check_nothing_is_estimated(state):
    rates = missing(0.0 if state == "complete" else np.nan, labels_are=state)
    text = "\n".join(answer(BEST, ALIKE, WORSE, rates=rates))
    assert "estimate" not in text and "about" not in text.lower() and "detected" not in text


def test_many_models_stay_within_the_screen():
    rows = [(f"M{i}", 0.9 - i / 100, i / 100, "worse" if i else "best") for i in range(39)]
    lines = answer(*rows)
    assert len(lines) <= 17 and "... and 32 more models" in lines


def test_checked_cells_replace_assumptions():
    table, rates = board(BEST, ALIKE), missing(0.1).assign(n_checked=[60.0, np.nan])
    for low, sentences in (
        (0.5, ["The average precision of A is between 0.500 and 0.972 (95 % interval)."]),
        (np.nan, []),
    ):
        lines = [*answer_lines(table.assign(low=low, high=0.972), numbers(), rates, 1060, most_models=7)]
        assert not any("To decide which labels" in line for line in lines)
        assert lines[-1 - len(sentences) :] == [
            "No missing positives are found (95 % interval 0 to 11 %). This and the scores above are based on 60 "
            "checked cells.",
            *sentences,
        ]


def test_a_score_without_correction_is_of_observed_labels():
    table = board(BEST, ALIKE).assign(metric="subset_accuracy", low=np.nan, high=np.nan, at_bound=np.nan)
    declared = missing(9.0, 4.0, 12.0, labels_are="incomplete")
    lines = [*answer_lines(table, numbers(), declared, 1060, most_models=7)]
    assert "Subset accuracy cannot be corrected, so it is that of the labels as given." in lines
    lines = [*answer_lines(table, numbers(), missing(), 1060, most_models=7)]
    assert any(line.endswith("and subset accuracy would differ.") for line in lines)
    table = board(BEST, ALIKE).assign(metric="hamming_loss")
    lines = [*answer_lines(table, numbers(), missing(), 1060, most_models=7)]
    assert any(line.endswith("and Hamming loss would be about 0.900.") for line in lines)


def guessed(behind_low, behind=0.4):
    row = {"model": "guessing", "score": 0.4, "behind": behind, "verdict": "guessing", "over_labels": 0.3}
    rows = board(BEST, WORSE).assign(over_labels=0.7, behind_low=0.0)
    return pd.concat([rows, pd.DataFrame([{**row, "behind_low": behind_low, "metric": "average_precision"}])])


def test_guessing_ends_the_leaderboard():
    lines = [*answer_lines(guessed(0.2), numbers(), missing(), 1060, most_models=1)]
    assert lines[0] == "Use A. It is significantly better than the other model."
    assert lines[2].split() == ["avg.", "precision", "label", "mean", "behind", "MCC", "verdict", "s/fit"]
    assert lines[4].split() == ["guessing", "0.400", "0.300", "0.400", "-", "guessing", "-"]
    assert lines[5] == "... and 1 more model"


@pytest.mark.parametrize(("behind_low", "behind"), [(-0.01, 0.4), (0.0, 0.1), (np.nan, -0.02), (np.nan, 0.0)])
def test_no_model_may_be_better_than_guessing(behind_low, behind):
    """Guessing itself has no interval if its score is the best."""
    lines = [*answer_lines(guessed(behind_low, behind), numbers(), missing(), 1060, most_models=7)]
    assert lines[0] == "No model is better than guessing. A has the best score."


def test_a_difference_that_could_not_be_tested_is_no_claim():
    lines = [*answer_lines(guessed(np.nan), numbers(), missing(), 1060, most_models=7)]
    assert lines[0].startswith("Use A.")


def test_labels_that_no_model_predicts_are_named():
    labels = pd.DataFrame({"label": list("pqrst"), "n_models_above_chance": [2, 0, 1, 0, 7]})
    lines = [*answer_lines(board(BEST), numbers(), missing(), 1060, None, labels, most_models=7)]
    assert lines[-1] == "No model predicts 2 of 5 labels better than by guessing: q, s."
