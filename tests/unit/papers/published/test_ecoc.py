"""Test the comparison of our results with the rows of the documentation page."""

import numpy as np
import pandas as pd
import pytest

from fairfold.papers.published.ecoc import compare_classes, compare_examples

WHY = "it stops early"
KEYS = {"example": "posterior", "true": "a", "predicted": "b", "quantity": "posterior"}


def test_a_printed_row_is_one_more_draw_from_samples_of_ours(study):
    study.ecoc.examples = ["posterior"]
    rows = [KEYS | {"a": "0.125", "b": "0.875"}, KEYS | {"predicted": "a", "a": "0.9", "b": "0.1"}]
    published = pd.DataFrame(rows).assign(note=[WHY, ""])
    values = pd.DataFrame([KEYS | {"candidate": name, "n": 4, "mean": mean} for name, mean in (("a", 0.2), ("b", 0.8))])
    values = values.assign(sd=[0.1, 0.0], low=0.05, high=0.95)
    table = compare_examples(published, {"ecoc_values": values}, study)
    row = table[table["what"] == "row 1, a as b, posterior of a"].iloc[0]
    assert row["difference_in_se"] == pytest.approx(0.075 / np.sqrt(0.1**2 * 1.25 + 0.001**2 / 12))
    assert row["note"] == "beside 4 samples of ours of the same classes, 0.05 to 0.95; it stops early"
    flat = table[table["what"] == "row 1, a as b, posterior of b"].iloc[0]
    assert flat["difference_in_digits"] == pytest.approx(-75)
    absent = table[table["ours"].isna()]
    assert set(absent["note"]) == {"none of our samples is a predicted as a"} and len(absent) == 2
    study.ecoc.examples = []
    notes = compare_examples(published, {}, study)["note"]
    assert set(notes) == {"not computed here: ecoc.examples needs posterior"}


def test_sizes_of_classes(study):
    published = pd.DataFrame({"class": ["1", "14"], "value": ["245", "4"]})
    study.ecoc.examples = []
    assert "ecoc.examples needs arrhythmia" in compare_classes(published, {}, study)["note"].iloc[0]
    study.ecoc.examples = ["arrhythmia"]
    sizes = pd.DataFrame({"class": [1, 14], "count": [245, 5]})
    table = compare_classes(published, {"arrhythmia_classes": sizes}, study)
    assert table["difference_in_digits"].tolist() == [0, 1]
    assert table["what"].tolist() == ["samples of class 1", "samples of class 14"]
