"""Cells are read the same from blocks of rows, with pandas, and one by one."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readers import read_csv

from fairfold.errors import CellError, DataError
from fairfold.tables import cells, delimited
from fairfold.tables.rows import TableFile

NUMBERS = [
    "0",
    "1",
    "-0",
    "007",
    "+5",
    ".5",
    "5.",
    "1.5e-3",
    "1E5",
    "1.392",
    "12.5",
    "-.25",
    " 7 ",
    "4.9e-324",
    "1e-400",
]
OTHERS = [
    "",
    "NA",
    "?",
    "yes",
    "FALSE",
    "nan",
    "inf",
    "1_000",
    "9007199254740993",
    "9007199254740992",
    "x",
    "0x1",
    "1e",
]
TABLES = st.lists(st.lists(st.sampled_from(NUMBERS * 3 + OTHERS), min_size=3, max_size=3), min_size=1, max_size=6)


def one_by_one(rows):
    """Return the numbers of rows, or the message of the first faulty cell."""
    try:
        return [
            [
                cells.number_in(cell, f"x{at}", f"data row {number} (line {number + 1})", gaps=True)
                for at, cell in enumerate(row)
            ]
            for number, row in enumerate(rows, start=1)
        ]
    except CellError as error:
        return str(error)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(rows=TABLES, quote=st.booleans(), at_once=st.sampled_from([1, 6, 1 << 16]))
def test_blocks_and_pandas_read_as_cell_by_cell(tmp_path_factory, rows, quote, at_once):
    path = tmp_path_factory.mktemp("cells") / "t.csv"
    mark = '"' if quote else ""  # pandas reads files without quotes only
    path.write_text("\n".join(["x0,x1,x2", *(",".join(f"{mark}{cell}{mark}" for cell in row) for row in rows)]))
    while rows and all(not cell.strip() for cell in rows[-1]):  # Trailing empty rows are ignored.
        rows = rows[:-1]
    expected = one_by_one(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_AT_ONCE", at_once)
        try:
            found = read_csv(path, gaps=True).values
        except DataError as error:
            first = str(error).partition(" The same holds")[0]
            assert first.endswith(expected if rows else "has a header but no data row.")
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("body", "is_plain"),
    [
        ("1,2,a\n3,4.5,b\n", True),
        ("1,2,a\r\n\r\n3,4.5,b\r\n", True),
        (" 1,2 , a\n3,4.5,b \n", True),
        ('1,2,"a"\n3,4.5,b\n', False),
        ("1,2,a\n3,4.5,b\n,,\n", False),
        ("1,2,a\n3,4.5000,b", True),
    ],
)
def test_plain_files_are_read_with_pandas(tmp_path, body, is_plain):
    (tmp_path / "t.csv").write_text(f"x,label,id\n{body}", newline="")
    frame = TableFile(tmp_path / "t.csv").plain_frame(1, 3, [0, 1])
    assert (frame is not None) == is_plain
    table = read_csv(tmp_path / "t.csv", text_columns=["id"])
    assert table.values.tolist() == [[1, 2], [3, 4.5]] and table.text["id"].tolist() == ["a", "b"]


@pytest.mark.parametrize("row", ["1,2", "1,2,a,", "1", ",,", "1,2,", "1,2,?", "1,2,#REF!"])
@pytest.mark.parametrize("n_before", [0, 3])
def test_faulty_rows_are_refused_wherever_they_stand(tmp_path, row, n_before):
    (tmp_path / "t.csv").write_text("x,label,id\n" + "1,0,a\n" * n_before + f"{row}\n1,0,b\n")
    with pytest.raises(DataError, match=rf"data row {n_before + 1} \(line {n_before + 2}\)"):
        read_csv(tmp_path / "t.csv", text_columns=["id"])


@pytest.mark.parametrize("last", ["1.392", "12.5"])
def test_decimal_marks_of_plain_files_are_decided_by_all_rows(tmp_path, caplog, last):
    """In a column of whole numbers, 1.392 may be 1392. The same file with quotes is read in the same way."""
    body = "count;label\n" + "12;0\n" * 300 + f"{last};1\n"
    for text in (body, body.replace("count", '"count"'), body.replace("12;0", '"12";0')):
        (tmp_path / "t.csv").write_text(text)
        if last == "1.392":
            with pytest.raises(
                DataError, match=r'data row 301 \(line 302\), column "count": the point in "1.392" looks'
            ):
                read_csv(tmp_path / "t.csv")
        else:
            with caplog.at_level("INFO"):
                assert read_csv(tmp_path / "t.csv").values[-1].tolist() == [12.5, 1]
            assert 'such as "12.5" in column "count"' in caplog.text
            caplog.clear()


def test_a_number_that_stands_for_a_missing_one_is_compared_as_text(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n-9,1\n-9.0,0\n2,0\n")
    found = read_csv(tmp_path / "t.csv", missing="-9").values[:, 0]
    assert math.isnan(found[0]) and found[1:].tolist() == [-9, 2]


def test_columns_of_numbers_and_words_keep_their_texts(tmp_path):
    (tmp_path / "t.csv").write_text("code,label\n01,1\n1.0,0\nB,0\n")
    assert delimited.RowFile(tmp_path / "t.csv").text_columns() == ["code"]
    source = delimited.RowFile(tmp_path / "t.csv")
    assert source.table(categorical=["code"]).text["code"].tolist() == ["01", "1.0", "B"]


def test_text_far_below_numbers_is_no_warning(tmp_path, recwarn):
    names, cells = ",".join(f"x{at}" for at in range(200)), ",1" * 199
    (tmp_path / "t.csv").write_text(f"{names}\n" + f"1{cells}\n" * 9000 + f"a{cells}\n")
    with pytest.raises(DataError, match=r"data row 9001 .*found 'a', which is not a number"):
        read_csv(tmp_path / "t.csv")
    assert not [each for each in recwarn.list if each.category is pd.errors.DtypeWarning]
