"""Test the answer of a study: its sentences, its lines of text and its file."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from answers import tables_of

from fairfold.answer import Answer
from fairfold.answer.answer import load, save
from fairfold.answer.verdict import verdict_sentence
from fairfold.errors import DataError

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
    table = pd.DataFrame(rows, columns=["model", "difference", "p_adjusted"])
    return table.assign(metric="mcc", same_as=np.nan, alpha=0.05, rope=0.01)


def missing(estimate=np.nan, low=0.0, high=11.0, reason="", labels_are="unknown"):
    names = ["hidden_rate", "labels_are", "estimated_rate", "low", "high", "reason"]
    rows = [(0, labels_are, estimate, low, high, reason), (50, "incomplete", 49.0, 40.0, 60.0, "")]
    return pd.DataFrame(rows, columns=names)


def answer(*rows, p_value=np.nan, seconds=1.5, table=None, **others):
    table = board(*rows, seconds=seconds) if table is None else table
    others = {"numbers": numbers(p_value), "missing_rates": missing()} | others
    return Answer.from_tables("a", tables_of(table, **others))


def lines(*rows, most_models=7, **options):
    return [*answer(*rows, **options).lines(most_models)]


@pytest.mark.parametrize(
    ("certified", "n_labels", "sentence"),
    [
        (
            {"threshold": [0.6, np.nan]},
            2,
            "For 1 of 2 labels (s), {share} above a threshold are right, with 95 % confidence "
            "(out-of-fold predictions). `fairfold predict --precision 0.9` decides above such thresholds only.",
        ),
        (
            {"threshold": [0.6, np.nan]},
            14,
            "For 1 of the 2 most common labels (s), {share} above a threshold are right",
        ),
        ({"threshold": [np.nan, np.nan]}, 14, "None of the 2 most common labels has a threshold above which {share}"),
        (
            {"threshold": [np.nan, np.nan], "n_held_out": 1200},
            2,
            "No label has a threshold above which {share} are right, with 95 % confidence (the final model on 1,200 "
            "held-out samples).",
        ),
    ],
)
def test_certified_labels_are_counted(certified, n_labels, sentence):
    sizes = {"n_samples": [1060], "n_features": 2, "n_labels": n_labels, "label_cardinality": 0.5}
    found = answer(BEST, certified={"label": list("st"), "precision": 0.9, **certified}, sizes=sizes)
    start = sentence.format(share="at least 90 % of the positive predictions")
    assert [line for line in found.lines() if "confidence" in line and line.startswith(start)]
    assert found.training_rows.endswith("that were not held out") == ("n_held_out" in certified)
    assert not any("confidence" in each for each in lines(BEST))


def test_the_whole_answer():
    labels = {
        "model": "A",
        "label": list("stuv"),
        "roc_auc": [0.5, np.nan, 0.4, 0.9],
        "n_models_above_chance": [2, 0, 1, 7],
    }
    labels |= {"n_positives": [30, 0, 1, 40], "n_true_positives": [0, 0, 0, 9]}
    audit = {"check": list("abcd"), "severity": ["error", "warning", "warning", "warning"], "message": list("wxyz")}
    rows, seconds = [BEST, TWIN, ALIKE, WORSE, FAILED], [2.0, 2.0, 1.5, 0.001, np.nan]
    assert lines(*rows, seconds=seconds, labels=labels, audit=audit) == [
        "Error in the data: w. Until then, trust no score.",
        "Use A. With 1,060 samples, one other model is not significantly different. This is C, which is faster: "
        "1.50 s per fit instead of 2.00 s.",
        "The average precision of A is 0.80, 95 % interval 0.70 to 0.85.",
        "",
        "   avg. precision  gap to best   MCC  verdict                 s/fit",
        "A            0.80            -  0.80  best                     2.00",
        "C            0.80        0.000  0.80  not different, fastest   1.50",
        "B            0.50        0.300  0.50  worse                   <0.01",
        "D               -            -     -  no score                    -",
        "A+ has the same scores as A.",
        "",
        "If some zeros are really positives, missing at random and equally often in all labels, at most 11 % of the "
        "positives are missing, and average precision would be up to 0.90.",
        "Labels that are complete but hard to predict give the same numbers, so perhaps no positive is missing. To "
        "find out, check 100 cells (`fairfold check`). If you already know, declare `--labels-are` complete or "
        "incomplete.",
        "At the threshold 0.5, A finds no positive of 2 of 4 labels: s (30 positives), u (1 positive).",
        "By AUROC, no model beats guessing for 1 of 4 labels: t.",
        "Hardest labels for A by AUROC (0.5 by guessing, however rare a label is): u (0.40, 1 positive), "
        "s (0.50, 30 positives).",
        "Warning: x.",
        "Warning: y.",
    ]


def test_the_file_keeps_the_answer(tmp_path):
    """It has no NaN, and its bytes follow from the tables."""
    found = answer(BEST, TWIN, ALIKE, WORSE, FAILED)
    save([found], path := tmp_path / "answer.json")
    assert load(path) == {"a": found}
    assert b"NaN" not in path.read_bytes() and dataclasses.asdict(found) == json.loads(path.read_text())["a"]
    first = path.read_bytes()
    save([answer(BEST, TWIN, ALIKE, WORSE, FAILED)], path)
    assert path.read_bytes() == first
    assert "&lt;" not in found._repr_html_() and "Use A." in found._repr_html_()
    path.write_text(json.dumps({"a": {"dataset": "a"}}))
    with pytest.raises(DataError, match="another version of fairfold wrote this file"):
        load(path)


def test_every_kind_of_verdict_has_a_sentence():
    others = answer(BEST, ALIKE, WORSE, TWIN, FAILED, ("E", 0.79, 0.01, "equivalent")).others
    assert others == [
        "C is not significantly different from it by average precision.",
        "E is practically equal to it by average precision.",
        "B is significantly worse than it by average precision.",
        "D lacks a score in a fold and was not compared.",
    ]
    checked = board(BEST, ALIKE, WORSE, ("E", 0.4, 0.4, "worse")).assign(n_checked=60.0)
    assert answer(table=checked).others == ["C may be as good.", "B and E are significantly worse."]


def test_several_models_may_be_as_good():
    assert verdict_sentence(board(BEST, ALIKE, ALIKE, ALIKE), 200) == (
        "Use A. With 200 samples, three other models are not significantly different. None of them is faster."
    )


@pytest.mark.parametrize(
    ("seconds", "faster"),
    [
        ([20.0, 2.0], " This is C, which is faster: 2.00 s per fit instead of 20.0 s."),
        ([1.0, 4.0], " It is not faster."),
        ([1.0, np.nan], ""),
    ],
)
def test_a_faster_model_that_is_not_different_is_named(seconds, faster):
    sentence = f"Use A. With 200 samples, one other model is not significantly different.{faster}"
    assert verdict_sentence(board(BEST, ALIKE, seconds=seconds), 200) == sentence


def test_only_a_model_that_is_faster_than_the_best_one_is_marked():
    rows = answer(BEST, ALIKE, WORSE, seconds=[2.0, 3.0, 0.1]).lines()
    assert not any("fastest" in line for line in rows)


def test_the_fastest_of_several_models_is_named():
    found = verdict_sentence(board(BEST, ALIKE, ALIKE, seconds=[20.0, 2.0, 3.0]), 200)
    assert found.endswith(" The fastest of them is C: 2.00 s per fit instead of 20.0 s.")


@pytest.mark.parametrize(("shares", "percent"), [([0.784, 0.216], "78"), ([0.999, 0.001], "more than 99")])
def test_the_share_of_draws_is_stated(shares, percent):
    drawn = numbers(np.nan).assign(metric="average_precision", share_best=shares)
    sentence = f"If the samples were drawn again, A would stay the best in {percent} % of draws."
    assert sentence in lines(BEST, ALIKE, numbers=drawn)
    assert answer(BEST, numbers=drawn[:1]).draws is None


def test_samples_that_would_decide():
    assert answer(BEST, ALIKE).samples is None
    open_one = board(BEST, ALIKE).assign(behind=[0, 0.02], behind_low=[np.nan, -0.02], behind_high=[np.nan, 0.06])
    samples = "a table of about 4,300 samples, instead of 1,060, would show it."
    assert lines(table=open_one)[2] == f"The difference between A and C may be chance. If it is real, {samples}"


def test_checked_cells_are_the_evidence():
    sentence = "Use A. By 60 checked cells, one other model is not significantly worse. It is not faster."
    assert verdict_sentence(board(BEST, ALIKE), 200, 60) == sentence


def checked_board(n_checked, behind, before="A"):
    rows = board(BEST, ("B", 0.8 - behind, behind, "not different"))
    limits = {"behind_low": [0.0, behind - 0.04], "behind_high": [0.0, behind + 0.04]}
    return rows.assign(n_checked=n_checked, best_unchecked=before, **limits)


LEADER = "B has the best average precision by the checked cells, but A is not significantly worse and is kept."
CHANGED = "By the checked cells, B, which was recommended without them, is significantly worse than A."
WEAK = "The evidence of 40 checked cells is weak: differences between models below about 0.04 do not show."


@pytest.mark.parametrize(
    ("n_checked", "behind", "before", "sentences"),
    [
        (100.0, 0.01, "A", []),
        (100.0, -0.0003, "A", [LEADER]),
        (100.0, 0.01, "B", [CHANGED]),
        (40.0, -0.0003, "A", [LEADER, WEAK]),
    ],
)
def test_checked_cells_say_what_they_change_and_how_much_they_show(n_checked, behind, before, sentences):
    found = answer(table=checked_board(n_checked, behind, before))
    assert found.checked == sentences and found.model == "A"
    assert [*found.lines()][2 : len(sentences) + 2] == sentences


def test_few_checked_cells_of_one_model_give_the_width_of_its_interval():
    table = board(BEST).assign(n_checked=1.0, best_unchecked="A")
    sentence = "The evidence of 1 checked cell is weak: the average precision of A is known to about ± 0.075."
    assert answer(table=table).checked == [sentence]


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
    found = lines(*rows)
    assert found[0] == sentence
    assert "nan" not in "\n".join(found) and "False" not in "\n".join(found)


def test_verdict_names_models_without_a_score():
    failed = {"metric": "mcc", "missing_rate": 0, "model": ["D"], "mean": np.nan}
    found = lines(BEST, FAILED, summary={**failed, "reason": "KNN takes no weights. Remove the weights."})
    assert found[0] == "Use A. D has no score: KNN takes no weights."
    assert lines(BEST, FAILED, summary={**failed, "reason": "x" * 200})[0] == "Use A. D has no score."


def test_the_best_model_may_be_worse_for_decisions():
    assert lines(BEST, WORSE, p_value=0.01)[2] == "To decide which labels a sample has, use B: by MCC, A is worse."
    assert lines(BEST, WORSE, p_value=0.3)[2] == ""


@pytest.mark.parametrize(
    ("rates", "line"),
    [
        (
            missing(high=0.4),
            "If some zeros are really positives, missing at random and equally often in all labels, less than 1 % of "
            "the positives are missing, and average precision would be up to 0.90.",
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
    assert line in answer(BEST, missing_rates=rates).missing_labels


@pytest.mark.parametrize("state", ["unknown", "complete"])
def test_without_a_declaration_or_a_check_nothing_is_estimated(state):
    rates = missing(0.0 if state == "complete" else np.nan, labels_are=state)
    text = "\n".join(lines(BEST, ALIKE, WORSE, missing_rates=rates))
    assert "estimate" not in text and "about" not in text.lower() and "detected" not in text


@pytest.mark.parametrize(
    ("columns", "sentences"),
    [
        ({}, []),
        ({"groups": "region"}, ["Test folds contain other regions than the training folds."]),
        ({"groups": "locality"}, ["Test folds contain other localities than the training folds."]),
        ({"groups": "Site 2"}, ["Test folds contain other groups (Site 2) than the training folds."]),
        (
            {"dates": "surveyed", "weights": "effort"},
            [
                "Models learn from earlier samples and are tested on later ones, by surveyed.",
                "Scores weight samples by effort.",
            ],
        ),
        ({"folds": "part"}, ["Test folds are those of the column part."]),
    ],
)
def test_groups_dates_weights_and_folds_stand_under_the_verdict(columns, sentences):
    table = {"kind": ["features", *columns], "names": ["x", *columns.values()]}
    found = answer(BEST, columns=table)
    assert found.design == sentences and [*found.lines()][2 : len(sentences) + 2] == sentences


def test_many_models_stay_within_the_screen():
    rows = [(f"M{i}", 0.9 - i / 100, i / 100, "worse" if i else "best") for i in range(39)]
    assert len(found := lines(*rows)) <= 17 and "... and 32 more models, listed by `fairfold recommend --all`" in found


def test_checked_cells_replace_assumptions():
    rates = missing(0.1).assign(n_checked=[60.0, np.nan])
    for low, sentences in (
        (0.5, ["The average precision of A is between 0.50 and 0.97 (95 % interval)."]),
        (np.nan, []),
    ):
        table = board(BEST, ALIKE).assign(low=low, high=0.972, n_checked=60.0)
        found = answer(table=table, missing_rates=rates, p_value=0.01)
        assert (found.n_checked, found.decisions, found.samples, found.advice) == (60, None, None, None)
        assert found.missing_labels == [
            "No missing positives are found (95 % interval 0 to 11 %). This and the scores above are based on 60 "
            "checked cells.",
            *sentences,
        ]


def test_a_score_without_correction_is_of_observed_labels():
    table = board(BEST, ALIKE).assign(metric="subset_accuracy", low=np.nan, high=np.nan, at_bound=np.nan)
    declared = missing(9.0, 4.0, 12.0, labels_are="incomplete")
    sentences = answer(table=table, missing_rates=declared).missing_labels
    assert "Subset accuracy cannot be corrected, so it is that of the labels as given." in sentences
    assert answer(table=table).missing_labels[0].endswith("and subset accuracy would differ.")
    table = board(BEST, ALIKE).assign(metric="hamming_loss")
    assert answer(table=table).missing_labels[0].endswith("and Hamming loss would be about 0.90.")


def guessed(behind_low, behind=0.4):
    row = {"model": "guessing", "score": 0.4, "behind": behind, "verdict": "guessing", "over_labels": 0.3}
    rows = board(BEST, WORSE).assign(over_labels=0.7, behind_low=0.0)
    row |= {"behind_low": behind_low, "metric": "average_precision"}
    return pd.concat([rows, pd.DataFrame([row])], ignore_index=True)


def test_guessing_ends_the_leaderboard():
    found = lines(table=guessed(0.2), most_models=1)
    assert found[0] == "Use A. It is significantly better than the other model."
    assert " ".join(found[3].split()) == "avg. precision mean over labels gap to best MCC verdict s/fit"
    assert found[5].split() == ["guessing", "0.40", "0.30", "0.400", "-", "guessing", "-"]
    assert found[6] == "... and 1 more model, listed by `fairfold recommend --all`"


@pytest.mark.parametrize(("behind_low", "behind"), [(-0.01, 0.4), (0.0, 0.1), (np.nan, -0.02), (np.nan, 0.0)])
def test_no_model_may_be_better_than_guessing(behind_low, behind):
    """Guessing itself has no interval if its score is the best."""
    found = answer(table=guessed(behind_low, behind))
    assert found.verdict == "No model is better than guessing. A has the best score."


def test_a_difference_that_could_not_be_tested_is_no_claim():
    assert answer(table=guessed(np.nan)).verdict.startswith("Use A.")


def test_labels_that_no_model_predicts_are_named():
    labels = {"model": "A", "label": list("pqrst"), "roc_auc": np.nan, "n_models_above_chance": [2, 0, 1, 0, 7]}
    labels |= {"n_positives": 5, "n_true_positives": 1}
    sentence = "By AUROC, no model beats guessing for 2 of 5 labels: q, s."
    assert answer(BEST, labels=labels).labels == [sentence]
    *_, last = answer(BEST, labels=labels | {"n_models_above_chance": 0}).labels
    assert last == "results/tables/labels/a.csv lists them all."


def test_twins_are_explained_if_labels_are_as_given():
    table = board(BEST, TWIN).assign(differs_if_missing=[False, True])
    (sentence,) = answer(table=table).same
    reason = "because labels are taken as they are and nothing is imputed or corrected."
    assert sentence == f"A+ has the same scores as A, {reason}"
    assert answer(table=table, missing_rates=missing(9.0, labels_are="incomplete")).same == [
        "A+ has the same scores as A."
    ]
