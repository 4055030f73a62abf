"""Cells of Excel workbooks without a value, and texts that look like a missing value."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError
from fairfold.tables.rows import TableFile
from fairfold.tables.workbook import cells_without_value

CASES = Path(__file__).parents[2] / "cases"


def read(path, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
    return prepare(load_catalog().with_own({"own": stanza})["own"])


def workbook(path, rows, change=lambda sheet: sheet, is_calculated=True):
    """Write a workbook, and change the XML of its sheet."""
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(stream := io.BytesIO())
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name.startswith("xl/worksheets/"):
                text = change(text)
            if is_calculated:
                text = text.replace('fullCalcOnLoad="1"', "")
            new.writestr(name, text)
    return path


ROWS = [["x", "color", "label_a"], [0.5, "red", 1], [1.5, "blue", 0], [2.5, "red", 1]]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("formula-label.xlsx", "data row 1 (line 2), column 'label_x': found '=IF(C2>0,1,0) in cell D2', a formula"),
        ("formula-feature.xlsx", "column 'ratio': found '=A2/B2 in cell E2', a formula without a stored value. Open"),
    ],
)
def test_formulas_without_stored_values_are_refused(name, found):
    with pytest.raises(DataError, match=re.escape(found)):
        read(CASES / name)


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("error", ["#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NULL!"])
def test_errors_are_refused_in_numbers_text_and_labels(at, error, tmp_path):
    rows = [list(row) for row in ROWS]
    rows[2][at] = error
    path = workbook(tmp_path / "t.xlsx", rows)
    assert cells_without_value(path) == {(3, at + 1): f"{error} in cell {'ABC'[at]}3"}
    with pytest.raises(DataError, match=re.escape(f"{ROWS[0][at]}': found '{error} in cell {'ABC'[at]}3', an error")):
        read(path, categorical="one-hot")
    if at < 2:  # An ignored column may contain errors.
        others = {"categorical": "one-hot", "ignore": [ROWS[0][at]]}
        assert read(path, **others).Y.ravel().tolist() == [1, 0, 1]


def test_a_value_that_was_not_found_is_missing_in_a_feature_and_refused_in_a_label(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[2][0] = rows[3][1] = "#N/A"
    data = read(workbook(tmp_path / "t.xlsx", rows), categorical="one-hot")
    assert np.array_equal(data.X[:, 0], [0.5, np.nan, 2.5], equal_nan=True)
    assert data.categories.values == {"color": ("", "blue", "red")}
    rows[2][2] = "#N/A"
    pd.DataFrame(rows[1:], columns=rows[0]).to_csv(tmp_path / "t.csv", index=False)
    for path in (workbook(tmp_path / "t.xlsx", rows), tmp_path / "t.csv"):
        with pytest.raises(DataError, match=r"data row 2 .*'label_a': found '#N/A', an error of a formula"):
            read(path, categorical="one-hot")
    pd.DataFrame(rows[1:], columns=rows[0]).drop(columns="color").to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"data row 2 .*'label_a': found '#N/A'"):
        read(tmp_path / "t.csv")


def test_stored_values_of_formulas_are_read(tmp_path):
    rows = [*ROWS[:3], ["=A2*2", '=IF(A2>0,"red","")', "=1"]]

    def calculated(sheet):
        sheet = re.sub(r'<c r="A4"><f>([^<]*)</f><v ?/></c>', r'<c r="A4"><f>\1</f><v>7</v></c>', sheet)
        sheet = re.sub(r'<c r="B4"><f>([^<]*)</f><v ?/></c>', r'<c r="B4" t="str"><f>\1</f><v></v></c>', sheet)
        return re.sub(r'<c r="C4"><f>([^<]*)</f><v ?/></c>', r'<c r="C4"><f>\1</f><v>0</v></c>', sheet)

    data = read(workbook(tmp_path / "t.xlsx", rows, calculated), categorical="one-hot")
    assert data.X[:, 0].tolist() == [0.5, 1.5, 7] and data.Y.ravel().tolist() == [1, 0, 0]
    assert data.categories.values == {"color": ("", "blue", "red")}
    # XlsxWriter stores 0 for formulas that were never calculated, and marks the workbook.
    with pytest.raises(DataError, match="'label_a': found '=1 in cell C4', a formula without a stored value"):
        read(workbook(tmp_path / "t.xlsx", rows, calculated, is_calculated=False), categorical="one-hot")


def test_cells_without_names_count_from_the_left(tmp_path):
    rows = [["x", "label_a"], [1, 0], ["=A2", 1]]
    path = workbook(tmp_path / "t.xlsx", rows, lambda sheet: re.sub(r'(<(?:c|row)) r="\w+"', r"\1", sheet))
    assert cells_without_value(path) == {(3, 1): "=A2 in cell A3"}


@pytest.mark.parametrize("suffix", ["parquet", "feather", "xlsx"])
def test_texts_that_look_like_missing_values_are_categories(suffix, tmp_path):
    frame = pd.DataFrame(
        {"x": [1.0, 2, 3, 4, 5], "region": ["NA", "EU", None, "null", "None"], "label_a": [1, 0] * 2 + [1]}
    )
    path = tmp_path / f"t.{suffix}"
    {"parquet": frame.to_parquet, "feather": frame.to_feather, "xlsx": lambda path: frame.to_excel(path, index=False)}[
        suffix
    ](path)
    data = read(path, categorical="one-hot")
    assert data.categories.values == {"region": ("", "EU", "NA", "None", "null")}
    assert data.X[:, 1:].argmax(axis=1).tolist() == [2, 1, 0, 4, 3]
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert read(tmp_path / "t.csv", categorical="one-hot").categories.values == {"region": ("", "EU", "None")}


def test_declared_values_of_an_arff_file_are_categories(tmp_path):
    rows = ["@relation r", "@attribute x numeric", "@attribute c {NA,EU}", "@attribute label_a {0,1}", "@data"]
    (tmp_path / "t.arff").write_text("\n".join([*rows, "1,NA,0", "2,EU,1", "3,?,0"]))
    data = read(tmp_path / "t.arff", format="arff", categorical="one-hot")
    assert data.categories.values == {"c": ("", "EU", "NA")}


def test_lists_in_a_parquet_file_are_json(tmp_path):
    pd.DataFrame({"a": [["b", 'c "d"'], []]}).to_parquet(tmp_path / "t.parquet")
    assert list(TableFile(tmp_path / "t.parquet").rows()) == [(1, ["a"]), (2, ['["b", "c \\"d\\""]']), (3, ["[]"])]
