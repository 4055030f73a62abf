"""Small files that expand to many times their size are refused, and slow patterns are linear."""

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from pyarrow import feather, parquet
from readers import read_arff, read_csv

from fairfold.core import limits
from fairfold.errors import CellError, DataError
from fairfold.tables.rows import TableFile, dialect_of, open_unpacked, read_text
from fairfold.tables.svmlight import read_svmlight

CASES = Path(__file__).parents[2] / "cases/expansion"
TEXT = b"height,label_a\n" + b"1,0\n" * 30_000
EXPANDS = "many times its size"


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(limits, "_UNPACKED", (10_000, 100))
    monkeypatch.setattr(limits, "_CELLS", (10_000, 1))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("far_value.xlsx", "has a cell in row 1048576 or column 16384, but most cells before it are absent."),
        ("lie.parquet", "the metadata of pandas in this file do not fit its columns ('__evil'). Write the table"),
        ("regex.csv.gz", "data row 2 (line 3), column 'f0': found "),
    ],
)
def test_cases(name, sentence):
    with pytest.raises(DataError) as caught:
        read_csv(CASES / name)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        (CASES / "svm_count.txt").read_text(),
        *(f"4 {10**power} 3\n0,2 1:0.5\n1 2:1.5\n0 1:2\n1 1:1\n" for power in (8, 12, 17)),
        f"0,2 1:0.5\n1 {10**9}:1.5\n",
    ],
)
def test_features_that_a_file_declares_are_limited(text, tmp_path):
    (tmp_path / "mine.svm").write_text(text)
    with pytest.raises(DataError, match=r"mine\.svm declares [\d,]+ features, many times its size"):
        read_svmlight(tmp_path / "mine.svm")


def test_very_long_numbers_of_features_are_no_counts(tmp_path):
    (tmp_path / "mine.svm").write_text(f"4 {'9' * 6000} 3\n0,2 1:0.5\n")
    with pytest.raises(DataError, match="cannot be read as svmlight"):
        read_svmlight(tmp_path / "mine.svm")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress, "zip"])
def test_compressed_bombs_are_refused(compress, tmp_path, small_limits):
    path = tmp_path / "bomb"
    if compress == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", TEXT)
    else:
        path.write_bytes(compress(TEXT))
    for read in (TableFile, read_text, read_arff, read_svmlight):
        with pytest.raises(DataError, match=EXPANDS):
            read(path)
    (tmp_path / "plain.csv").write_bytes(TEXT)
    assert read_csv(tmp_path / "plain.csv").values.shape == (30_000, 2)  # The same table is fine if it is not packed.


def test_compressed_tables_are_read_as_before(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzip.compress(TEXT))
    assert read_csv(tmp_path / "t.gz").values.shape == (30_000, 2)
    with open_unpacked(tmp_path / "t.gz") as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("kind", ["rows.parquet", "rows.feather", "text.parquet", "once.parquet", "zeros.feather"])
def test_columnar_files_with_more_rows_than_they_store_are_refused(kind, tmp_path, small_limits):
    values = {"rows": np.zeros(20_000, dtype=np.int8), "zeros": np.zeros(8_000), "text": ["x" * 10_000] * 200}
    values["once"] = values["text"]
    table = pa.table({"height": values[kind.partition(".")[0]]})
    write = parquet.write_table if kind.endswith("parquet") else feather.write_feather
    write(table, tmp_path / kind, compression="zstd", **({"use_dictionary": False} if "text" in kind else {}))
    with pytest.raises(DataError, match=EXPANDS):
        next(TableFile(tmp_path / kind).rows())


def test_metadata_of_pandas_that_are_no_json_are_refused(tmp_path):
    frame = pa.Table.from_pandas(pd.DataFrame({"height": [1.0, 2.0]}, index=pd.Index([3, 4], name="plant")))
    parquet.write_table(frame, tmp_path / "t.parquet")
    assert next(TableFile(tmp_path / "t.parquet").rows())[1] == ["plant", "height"]
    for lie in (b"[", b"[]", b'{"index_columns": 5}', b"[" * 100_000):
        parquet.write_table(frame.replace_schema_metadata({b"pandas": lie}), tmp_path / "t.parquet")
        with pytest.raises(DataError, match="the metadata of pandas in this file do not fit"):
            list(TableFile(tmp_path / "t.parquet").rows())


def test_workbooks_that_expand_are_refused(tmp_path, small_limits):
    book = openpyxl.Workbook()
    for row in range(1, 300):
        book.active.cell(row, 1, f"{row}" + "x" * 20_000)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=EXPANDS):
        next(TableFile(tmp_path / "t.xlsx").rows())


def test_a_cell_outside_of_the_table_is_named(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["height", "label_a"])
    book.active["AB900000"] = 1
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"has a cell in row 900000 or column 28,"):
        next(TableFile(tmp_path / "t.xlsx").rows())


@pytest.mark.parametrize("cell", ["1.," * 40_000 + "e", "1" * 130_000 + "e", "." * 130_000, "1," * 60_000 + "x"])
def test_patterns_take_linear_time(cell):
    """Each took minutes or more."""
    assert dialect_of(f'height;label_a\n"{cell}";0\n1;1\n').separator == ";"


def test_long_runs_in_arff_take_linear_time(tmp_path):
    spaces, quotes = " " * 100_000, "\\'" * 50_000
    header = f"@relation r\n@attribute x {{a{spaces}b, 'c d' , e}}\n@attribute y {{0,1}}\n@data\n"
    (tmp_path / "t.arff").write_text(f"{header}'c d'\t{spaces}1\ne,0\n")
    table = read_arff(tmp_path / "t.arff", text_columns=["x"])
    assert table.text["x"].tolist() == ["c d", "e"] and table.values.ravel().tolist() == [1, 0]
    (tmp_path / "t.arff").write_text(f"{header}{{0 {quotes}, 1 1}}\n")
    with pytest.raises(DataError):
        read_arff(tmp_path / "t.arff", text_columns=["x"])


def test_an_integer_of_thousands_of_digits_is_compared_exactly(tmp_path):
    (tmp_path / "t.csv").write_text(f"height,label_a\n{'0' * 6000}7,1\n2,0\n")
    assert read_csv(tmp_path / "t.csv").values.tolist() == [[7, 1], [2, 0]]
    (tmp_path / "t.csv").write_text(f"height,label_a\n{'0' * 6000}99999999999999999999999,1\n2,0\n")
    with pytest.raises(CellError, match="an integer that double precision rounds to"):
        read_csv(tmp_path / "t.csv")
