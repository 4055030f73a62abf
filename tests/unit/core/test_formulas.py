"""No text of a CSV file starts a formula, and reading restores each text."""

import csv
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfold.core.files import read_table, write_table
from fairfold.core.formulas import protect, protect_table, unprotect, unprotect_table

FORMULA = re.compile(r"\s*[=+@\-＝＋－＠]")
TEXTS = st.text(alphabet="=+-@＝; \t\r\n',.1aé\u202e", max_size=8)


@given(TEXTS)
def test_every_text_comes_back_and_starts_no_formula(text):
    protected = protect(text)
    assert unprotect(protected) == text
    if not re.fullmatch(r"-[0-9]+([.,][0-9]+)?", text):
        assert not any(FORMULA.match(part) for part in re.split("[;\t\r\n]", protected))


@pytest.mark.parametrize(
    "text", ["plain", "a=b", "a-b", "logistic+", "-3", "-0.5", "-1,5", "-1e-05", "7", "'quoted'", ""]
)
def test_ordinary_texts_and_numbers_stay(text):
    assert protect(text) == unprotect(text) == text


def test_tables_of_results_come_back_unchanged(tmp_path):
    names = ["=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-2+3", "'=1", "new\n=line", None]
    table = pd.DataFrame({"label": names, "=sum": names, "value": [-1.5] * 7})
    before = table.copy()
    write_table(table, tmp_path / "t.csv")
    pd.testing.assert_frame_equal(table, before)
    with (tmp_path / "t.csv").open(newline="") as stream:
        rows = [*csv.reader(stream)]
    assert rows[0] == ["label", "'=sum", "value"] and {row[2] for row in rows[1:]} == {"-1.5"}
    assert not [cell for row in rows for cell in row[:2] if FORMULA.match(cell)]
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv", "=sum"), table, check_dtype=False)


def test_tables_without_such_texts_are_not_copied():
    table = pd.DataFrame({"label": ["a", "b"], "value": [-1, 2]})
    assert protect_table(table) is table and unprotect_table(table) is table
