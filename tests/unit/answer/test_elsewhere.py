"""Sentences on scores of unlike samples."""

import numpy as np
import pandas as pd

from fairfold.answer.elsewhere import sentences_on_elsewhere

TABLE = pd.DataFrame(
    {
        "step": [0, 0, 1, 1, 1],
        "size": [np.nan, np.nan, 0.05, 0.05, 0.05],
        "metric": "average_precision",
        "model": ["A", "B", "A", "B", "guessing"],
        "score": [0.8, 0.7, 0.6, 0.65, 0.3],
        "low": [0.78, 0.6, 0.5, 0.5, np.nan],
        "high": [0.82, 0.8, 0.7, 0.7, np.nan],
        "verdict": ["best", "not different", "not different", "best", "guessing"],
        "reason": "",
        "new_table": None,
        "new_distance": np.nan,
        "match": None,
    }
)


def test_a_better_model_is_named_if_the_difference_is_significant():
    (one,) = sentences_on_elsewhere(TABLE)
    assert one.startswith("The average precision of A is 0.80 on samples like these, and 0.60 on samples")
    worse = TABLE.assign(verdict=TABLE["verdict"].replace("not different", "worse"))
    assert [*sentences_on_elsewhere(worse)][1:] == ["On clusters of up to 5 %, B is significantly better than A."]


def test_a_failed_model_and_a_reason_are_stated():
    failed = TABLE.assign(score=TABLE["score"].where((TABLE["step"] == 0) | (TABLE["model"] != "A")))
    assert "and undefined on samples" in next(sentences_on_elsewhere(failed))
    (reason,) = sentences_on_elsewhere(TABLE[:2].assign(reason="no column is a feature."))
    assert reason == "Scores on samples unlike the training samples were not computed: no column is a feature."
    assert [*sentences_on_elsewhere(TABLE[:0])] == []


def test_the_score_to_expect_on_a_new_table_is_stated():
    def last_of(**changes):
        known = {"step": 2, "new_table": "new.csv", "match": "alike", "new_distance": 1.5}
        row = TABLE[2:3].assign(**known | changes)
        return [*sentences_on_elsewhere(pd.concat([TABLE, row]))][1:]

    expected = "the average precision of A to expect there is 0.60 (95 % interval 0.50 to 0.70)."
    assert last_of() == [f"Judged by samples as far from the training samples as the rows of new.csv, {expected}"]
    (nearer,) = last_of(match="nearer")
    assert "no further" in nearer and nearer.endswith(expected)
    (further,) = last_of(match="further")
    assert further.endswith("is 0.60 (95 % interval 0.50 to 0.70); beyond them, it is unknown.")
    assert last_of(reason="found 1 row.") == ["The score to expect on new.csv was not computed: found 1 row."]
