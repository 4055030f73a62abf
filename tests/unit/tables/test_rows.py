"""Every kind of file gives the same table, and the recognized format is logged."""

import bz2
import csv
import gzip
import io
import logging
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest
import zstandard
from readers import read_csv

from fairfold.errors import DataError
from fairfold.tables.rows import TableFile

COLUMNS = ["größe", "shade, 0/1", "soil"]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(7, 3)), columns=COLUMNS)
    return frame.assign(soil=["loam", "sand", "1,5", "a;b", "loam", "ü", "x y"])


def text(table, **options):
    return table.to_csv(index=False, **options)


def zipped(content, *names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return stream.getvalue()


def written(table, method, **options):
    stream = io.BytesIO()
    getattr(table, method)(stream, **options)
    return stream.getvalue()


KINDS = {
    "commas": (lambda t: text(t).encode(), ""),
    "byte-order mark": (lambda t: text(t).encode("utf-8-sig"), ""),
    "first line for Excel": (lambda t: f"sep=;\n{text(t, sep=';')}".encode(), "cells between semicolons"),
    "quoted decimal commas": (lambda t: text(t, decimal=",").encode(), ""),
    "semicolons": (lambda t: text(t, sep=";").encode(), "cells between semicolons"),
    "decimal commas": (
        lambda t: text(t, sep=";", decimal=",").encode(),
        "cells between semicolons",
    ),
    "tabs": (lambda t: text(t, sep="\t", decimal=",").encode(), "cells between tabs"),
    "vertical bars": (lambda t: text(t, sep="|").encode(), "cells between vertical bars"),
    "Windows": (lambda t: text(t, lineterminator="\r\n").encode("cp1252"), "text in Windows-1252 (if names look wrong"),
    "UTF-16": (lambda t: text(t, sep="\t").encode("utf-16"), "text in UTF-16, cells between tabs"),
    "gzip": (lambda t: gzip.compress(text(t).encode()), "gzip-compressed text"),
    "bzip2": (lambda t: bz2.compress(text(t).encode()), "bzip2-compressed text"),
    "xz": (lambda t: lzma.compress(text(t, sep=";").encode()), "xz-compressed text, cells between semicolons"),
    "Zstandard": (lambda t: zstandard.compress(text(t).encode()), "Zstandard-compressed text"),
    "zip": (lambda t: zipped(text(t), "folder/table.csv"), "zip-compressed text"),
    "Parquet": (lambda t: written(t, "to_parquet"), "Parquet, 7 rows and 3 columns"),
    "Feather": (lambda t: written(t, "to_feather"), "Feather, 7 rows and 3 columns"),
    "Excel": (lambda t: written(t, "to_excel", index=False), "Excel, 7 rows and 3 columns"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_table(table, kind, tmp_path, caplog):
    write, sentences = KINDS[kind]
    path = tmp_path / "plants"  # the name has no suffix
    path.write_bytes(write(table))
    with caplog.at_level(logging.INFO):
        found = read_csv(path, text_columns=["soil"])
    assert list(found.header) == COLUMNS
    if kind == "Excel":  # Excel keeps 16 digits
        np.testing.assert_allclose(found.values, table[COLUMNS[:2]], rtol=1e-14)
    else:
        assert found.values.tobytes() == table[COLUMNS[:2]].to_numpy().tobytes()
    assert found.text["soil"].tolist() == table["soil"].tolist()
    mark = "comma" if "decimal commas" in kind or kind == "tabs" else "point"
    is_text = kind not in ("Parquet", "Feather", "Excel")
    assert len(caplog.messages) == bool(sentences) + is_text
    assert not sentences or sentences in caplog.messages[0]
    assert not is_text or f"numbers are read with decimal {mark}s" in caplog.messages[-1]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("length", [65_530, 65_536, 65_537, 200_000])
def test_long_files_are_read_as_the_csv_module_reads_the_whole(tmp_path, end, length):
    """The first part, used to detect the separator, may end between cells, between lines or within quotes."""
    rows = ["a;b", *["1;2"] * 20]
    while len(end.join(rows)) < length:
        rows += [f"{len(rows)};0{'0' * (len(rows) % 7)}", f'"one{end}two";"x"']
    (tmp_path / "long").write_bytes(end.join(rows).encode())
    expected = csv.reader(io.StringIO(end.join(rows), newline=""), delimiter=";")
    assert [cells for _, cells in TableFile(tmp_path / "long").rows()] == list(expected)


def test_truths_are_numbers_and_dates_are_refused_with_advice(tmp_path):
    path = tmp_path / "plants.csv"
    path.write_text("a,b,c\nTRUE,yes,1\nfalse,No,0\n")
    assert read_csv(path).values.tolist() == [[1, 1, 1], [0, 0, 0]]
    frame = pd.DataFrame({"a": [True, False], "b": [1, None], "c": pd.Categorical(["1", "2"])})
    frame.to_parquet(path)
    assert read_csv(path, missing="").values.tolist()[0] == [1, 1, 1]
    with pytest.raises(DataError, match=r"data row 2 \(line 3\), column 'b': found '' where a number is missing"):
        read_csv(path)
    for date in ("2024-01-31", "31.1.2024", "1/31/24", "2024-01-31 12:00:00"):
        path.write_text(f"a,b\n1,{date}\n")
        with pytest.raises(DataError, match=r"column 'b': found '.*', a date. Write the number of days"):
            read_csv(path)


DAMAGED = {
    "cut gzip": (lambda t: gzip.compress(text(t).encode())[:-9], "cannot be read as a table: "),
    "cut zip": (lambda t: zipped(text(t), "table.csv")[:40], "cannot be read as a table: "),
    "damaged Parquet": (lambda t: b"PAR1\x15\x04" + bytes(40) + b"PAR1", "cannot be read as a table: "),
    "cut Parquet": (lambda t: written(t, "to_parquet")[:-9], "is a Parquet file"),
    "two files": (lambda t: zipped(text(t), "a.csv", "b.csv"), "is a zip archive of 2 files. Unpack it"),
    "7z": (lambda t: b"7z\xbc\xaf\x27\x1c" + bytes(40), "is a 7z archive. Unpack it first"),
    "old Excel": (lambda t: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "is an Excel workbook of the old kind"),
    "OpenDocument": (lambda t: zipped("", "content.xml"), "is an OpenDocument workbook. Save its sheet as CSV"),
    "numbers": (lambda t: t.iloc[:, :2].to_numpy().tobytes(), "is not text: found byte 0x"),
    "nothing": (lambda t: b"\n \n", "is empty"),
    "nothing, packed": (lambda t: gzip.compress(b""), "is empty"),
    "cut character": (lambda t: b"a,b\n1,2\xc3", "found '2Ã', which is not a number"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_what_is_no_table_is_one_sentence(table, kind, tmp_path):
    write, sentence = DAMAGED[kind]
    (tmp_path / "plants.csv").write_bytes(write(table))
    with pytest.raises(DataError) as caught:
        read_csv(tmp_path / "plants.csv")
    assert str(caught.value).startswith(str(tmp_path / "plants.csv")) and sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_workbook_of_several_sheets_is_refused(table, tmp_path):
    with pd.ExcelWriter(tmp_path / "plants.xlsx") as book:
        for name in ("one", "two"):
            table.to_excel(book, sheet_name=name, index=False)
    with pytest.raises(DataError, match=r"has 2 sheets \(one, two\)\. Keep only the one to read"):
        read_csv(tmp_path / "plants.xlsx")


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="cannot be read as a table: No such file or directory"):
        read_csv(tmp_path / "plants.csv")


EMPTY_ENDS = {
    "text": lambda path: path.write_text("a,b\n1,2\n,\n3,4\n,\n\n , \n,,\n"[:-3] + "\n"),
    "Parquet": lambda path: pd.DataFrame({"a": [1, None, 3, None], "b": [2, None, 4, None]}).to_parquet(path),
    "Excel": lambda path: workbook(path, [["a", "b"], [1, 2], [None, None], [3, 4], ["", None], [" ", ""]]),
}


def workbook(path, rows):
    pd.DataFrame(rows).to_excel(target := path.with_suffix(".xlsx"), header=False, index=False)
    target.rename(path)


@pytest.mark.parametrize("kind", EMPTY_ENDS)
def test_rows_of_empty_cells_are_left_out_at_the_end_only(tmp_path, kind, caplog):
    EMPTY_ENDS[kind](tmp_path / "t")
    with caplog.at_level(logging.INFO):
        table = read_csv(tmp_path / "t", gaps=True)
    np.testing.assert_array_equal(table.values, [[1, 2], [np.nan, np.nan], [3, 4]])
    assert "trailing empty rows are ignored" in caplog.text


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (["x", "x", "label_a"], "column name 'x' is used twice"),
        (["x", None, "label_a"], "line 1: column 2 of the header has no name"),
    ],
)
def test_headers_of_workbooks_are_taken_as_they_are(tmp_path, header, sentence):
    workbook(tmp_path / "t", [header, [1, 2, 0], [3, 4, 1]])
    with pytest.raises(DataError, match=sentence):
        read_csv(tmp_path / "t")


def test_words_for_gaps_are_those_of_text(tmp_path):
    rows = [["x", "kind"], [1, "None"], ["NA", "a"], [None, "nil"]]
    workbook(tmp_path / "t", rows)
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", header=False, index=False)
    for name in ("t", "t.csv"):
        table = read_csv(tmp_path / name, gaps=True, categorical=["kind"])
        assert table.text["kind"].tolist() == ["None", "a", "nil"]
        np.testing.assert_array_equal(table.values.ravel(), [1, np.nan, np.nan])


@pytest.mark.parametrize("write", [pd.DataFrame.to_parquet, pd.DataFrame.to_feather])
def test_an_index_with_a_name_is_a_column(tmp_path, write):
    frame = pd.DataFrame({"sample": ["s1", "s2"], "x": [1.5, 2.5], "label_a": [0, 1]})
    if write is pd.DataFrame.to_parquet:
        write(frame.set_index(["sample", "x"]), tmp_path / "t")
    else:
        write(frame, tmp_path / "t")
    table = read_csv(tmp_path / "t", text_columns=["sample"])
    assert table.columns == ("x", "label_a") and table.text["sample"].tolist() == ["s1", "s2"]
    frame.set_axis(["k", "l"]).to_parquet(tmp_path / "unnamed")
    assert read_csv(tmp_path / "unnamed", text_columns=["sample"]).columns == ("x", "label_a")


def test_names_of_rows_without_a_header_are_refused_with_advice(tmp_path):
    (tmp_path / "t").write_text('"x"\t"label_a"\n"1"\t0.5\t1\n"2"\t1.5\t0\n')  # R's write.table
    with pytest.raises(
        DataError, match=r"found 3 cells, but there are 2 columns\. .* write the table with row\.names = F"
    ):
        read_csv(tmp_path / "t")


def test_an_empty_cell_of_a_single_column_is_a_row(tmp_path):
    (tmp_path / "t").write_text('x\n1\n""\n2\n')
    np.testing.assert_array_equal(read_csv(tmp_path / "t", gaps=True).values.ravel(), [1, np.nan, 2])


def test_a_first_line_for_excel_counts_as_a_line(tmp_path):
    (tmp_path / "t").write_text("sep=;\na;b\n1;2\n3;x\n")
    with pytest.raises(DataError, match=r"data row 2 \(line 4\), column 'b': found 'x'"):
        read_csv(tmp_path / "t")
