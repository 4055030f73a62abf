"""Readers accept valid files and refuse others with one sentence that names file, column and row."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import subprocess
import sys
import unicodedata
import zipfile
from pathlib import Path

import arff as liac_arff
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rdata
import scipy.io
import scipy.io.arff
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet
from readers import read_arff, read_csv
from scipy import sparse

from fairfold.datasets import formats
from fairfold.errors import DataError
from fairfold.tables import delimited


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of the given name and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read_parts(path):
    return list(delimited.read_csv_parts(path, lambda header: (header, [], []), rows=1))


def message_of(read, path, *arguments, **options):
    """Return the message of the error that the reader must raise: one line that names the file."""
    with pytest.raises(DataError) as caught:
        read(path, *arguments, **options)
    message = str(caught.value)
    assert Path(path).name in message
    assert "\n" not in message
    assert len(message) < 900  # It lists up to ten cells.
    return message


class TestCSV:
    def test_numbers_to_the_last_digit(self, write):
        table = read_csv(write("a.csv", "x,y\n0.1,-2\n1e-3,+4.\n.30000000000000004, 7 \n"))
        assert table.columns == ("x", "y")
        assert table.source == "a.csv"
        assert table.text == {}
        assert table.values.dtype == np.float64
        assert table.values.tolist() == [[0.1, -2], [1e-3, 4], [0.1 + 0.2, 7]]

    def test_byte_order_mark_blank_lines_and_any_line_ends(self, write):
        table = read_csv(write("a.csv", b"\xef\xbb\xbf\r\nx,y\r\n\r\n1,2\n   \r3,4"))
        assert table.columns == ("x", "y")
        assert table.values.tolist() == [[1, 2], [3, 4]]

    def test_quoted_and_unusual_names(self, write):
        table = read_csv(write("a.csv", '"a,b", "say ""hi""",0,00,-,/,TAG_??\n1,2,3,4,5,6,"7"\n'))
        assert table.columns == ("a,b", 'say "hi"', "0", "00", "-", "/", "TAG_??")
        assert table.values.tolist() == [[1, 2, 3, 4, 5, 6, 7]]

    def test_without_header(self, write):
        table = read_csv(write("a.data", "1,2\n3,4\n"), header=False)
        assert table.columns == ("column_1", "column_2")
        assert table.values.tolist() == [[1, 2], [3, 4]]

    @pytest.mark.parametrize(("token", "cells"), [("?", "?, 1"), ("-999", "-999 ,1"), ("NA", '"NA",1'), ("", ",1")])
    def test_missing_token_becomes_nan(self, write, token, cells):
        table = read_csv(write("a.csv", f"x,y\n{cells}\n2,3\n"), missing=token)
        np.testing.assert_array_equal(table.values, [[np.nan, 1], [2, 3]])

    def test_text_columns(self, write):
        path = write("a.csv", "x,class,y,kind\n1,Iris setosa,2,NA\n3, 07 ,4,b\n")
        table = read_csv(path, text_columns=["class", -1])
        assert table.columns == ("x", "y")
        assert table.values.tolist() == [[1, 2], [3, 4]]
        assert {name: values.tolist() for name, values in table.text.items()} == {
            "class": ["Iris setosa", "07"],
            "kind": ["NA", "b"],
        }

    def test_text_column_by_name_and_position_is_one(self, write):
        table = read_csv(write("a.csv", "x,y\n1,a\n"), text_columns=["y", 1, -1])
        assert list(table.text) == ["y"]

    def test_text_columns_in_any_order(self, write):
        table = read_csv(write("a.csv", "0,1,2,3,4,5,6,7,8,9\n"), header=False, text_columns=[8, 1])
        assert table.values.tolist() == [[0, 2, 3, 4, 5, 6, 7, 9]]
        assert {name: values.tolist() for name, values in table.text.items()} == {"column_2": ["1"], "column_9": ["8"]}

    def test_only_text(self, write):
        table = read_csv(write("a.csv", "x\nb\na\n"), text_columns=["x"])
        assert table.values.shape == (2, 0)
        assert table.text["x"].tolist() == ["b", "a"]

    @pytest.mark.parametrize("cell", ["", " ", "NA", "?", "nan", "NaN", "-nan", "null", "None", "N/A"])
    def test_missing_number(self, write, cell):
        message = message_of(read_csv, write("a.csv", f"x,y\n1,2\n\n3,{cell}\n"))
        assert "data row 2 (line 4), column 'y'" in message
        assert repr(cell.strip()) in message
        if cell != "-nan":
            assert "Fill it in, remove the row, or leave the column out (ignore)" in message

    def test_other_gaps_stay_errors_beside_a_token(self, write):
        message = message_of(read_csv, write("a.csv", "x,y\n?,nan\n"), missing="?")
        assert "data row 1 (line 2), column 'y': found 'nan'" in message

    @pytest.mark.parametrize("cell", ["red", "1_000", "0x10", "1 2", "1;2", "--1"])
    def test_not_a_number(self, write, cell):
        message = message_of(read_csv, write("a.csv", f"x,y\n1,2\n3,{cell}\n"))
        assert f"data row 2 (line 3), column 'y': found '{cell}', which is not a number. Correct it" in message

    @pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999"])
    def test_infinite(self, write, cell):
        message = message_of(read_csv, write("a.csv", f"x,y\n{cell},2\n"))
        assert f"data row 1 (line 2), column 'x': found '{cell}', but numbers must be finite" in message

    def test_sum_that_overflows_is_no_fault(self, write):
        assert read_csv(write("a.csv", "x,y\n1e308,1e308\n")).values.tolist() == [[1e308, 1e308]]

    @pytest.mark.parametrize("cell", ["9007199254740993", "-9007199254740993", "9007199254740993.0", "1" * 30])
    @pytest.mark.parametrize("read", [read_csv, read_parts])
    def test_integer_that_would_be_rounded(self, write, cell, read):
        message = message_of(read, write("a.csv", f"x,y\n{cell},2\n"))
        assert f"data row 1 (line 2), column 'x': found {cell}, an integer that double precision rounds to" in message
        assert "Leave the column out (ignore)" in message

    @pytest.mark.parametrize(
        "cell", ["9007199254740992", "9007199254740994", "9007199254740993.5", "1e300", "20240112131400"]
    )
    def test_large_numbers_that_are_held(self, write, cell):
        assert read_csv(write("a.csv", f"x,y\n{cell},2\n")).values[0, 0] == float(cell)

    @pytest.mark.parametrize("format", ["parquet", "feather"])
    def test_integer_beside_a_gap_that_would_be_rounded(self, tmp_path, format):
        table = pa.table({"x": pa.array([None, 2**53 + 1, 3]), "y": [1, 2, 3]})
        writer = parquet.write_table if format == "parquet" else feather.write_feather
        writer(table, tmp_path / "a")
        assert "data row 2" in message_of(read_csv, tmp_path / "a", gaps=True)
        writer(table.drop_columns("x"), tmp_path / "a")
        assert read_csv(tmp_path / "a").values.tolist() == [[1], [2], [3]]

    def test_column_of_a_fault_beside_text_columns(self, write):
        message = message_of(read_csv, write("a.csv", "k,x,y\na,1,b\n"), text_columns=["k"])
        assert "column 'y': found 'b'" in message

    @pytest.mark.parametrize("cell", ["", "?", "gap"])
    def test_missing_class(self, write, cell):
        message = message_of(read_csv, write("a.csv", f"x,k\n1,{cell}\n"), text_columns=["k"], missing="gap")
        assert f"data row 1 (line 2), column 'k': found '{cell}', but this column needs a value" in message

    @pytest.mark.parametrize(("row", "found"), [("3", "1 cell"), ("3,4,5", "3 cells"), ("3,4,", "3 cells")])
    def test_ragged_row(self, write, row, found):
        message = message_of(read_csv, write("a.csv", f"x,y\n1,2\n{row}\n"))
        assert f"data row 2 (line 3): found {found}, but there are 2 columns" in message

    def test_duplicate_columns(self, write):
        message = message_of(read_csv, write("a.csv", "x,y, x\n1,2,3\n"))
        assert "column name 'x' is used twice, at positions 1 and 3" in message

    def test_nameless_column(self, write):
        assert "column 2 of the header has no name" in message_of(read_csv, write("a.csv", "x,\n0,1\n"))

    @pytest.mark.parametrize("text", [",x,label_a\n0,1.5,0\n1,2.5,1\n", '"";"x";"label_a"\n"r 1";1,5;0\n"r 2";2,5;1\n'])
    def test_a_first_column_without_a_name_has_row_names(self, write, text, caplog):
        """R and pandas write row names by default."""
        with caplog.at_level("INFO", "fairfold.tables"):
            table = read_csv(write("a.csv", text))
        assert table.columns == ("x", "label_a") and table.ignored == ("(row names)",)
        assert table.values.tolist() == [[1.5, 0], [2.5, 1]]
        assert "column 1 has no name. It is read as row names and ignored." in caplog.text

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (b"", "is empty"),
            (b"\xef\xbb\xbf \n\n", "is empty"),
            (b'""\n', "only blank lines"),
            (b"x,y\n\n", "has a header but no data row"),
            (b"x,y\n1,2\n3,\x81\n", "byte 0x81 at offset 10"),
            (b"x,y\n1,2\n3,\xe9\n", "found 'é', which is not a number"),
            (b"x,y\n1,\x002\n", "byte 0x00 at offset 6"),
            (b'x,y\n"1,2\n', "line 2: not a CSV"),
            (b'x,y\n"1"0,2\n', "line 2: not a CSV"),
        ],
    )
    def test_not_a_csv(self, write, content, fault):
        assert fault in message_of(read_csv, write("a.csv", content))

    def test_unknown_text_column(self, write):
        path = write("a.csv", "size,species\n1,a\n")
        message = message_of(read_csv, path, text_columns=["specie"])
        assert "unknown column 'specie': did you mean 'species'?" in message
        assert "no column at position 2, only 2 columns" in message_of(read_csv, path, text_columns=[2])
        assert "no column at position -3" in message_of(read_csv, path, text_columns=[-3])


ARFF = (
    "% made by hand\n@RELATION 'a file: -C 2'\n\n@attribute x NUMERIC\n@Attribute 'y z'\t{0,1}\n@attribute k integer\n"
)


class TestARFF:
    def test_dense(self, write):
        table = read_arff(write("a.arff", ARFF + "@DATA\n% a comment\n0.1,1,1.5\n\n -2 , '0',3\n"))
        assert table.columns == ("x", "y z", "k")
        assert table.source == "a.arff"
        assert isinstance(table.values, np.ndarray)
        assert table.values.dtype == np.float64
        assert table.values.tolist() == [[0.1, 1, 1.5], [-2, 0, 3]]

    def test_sparse(self, write):
        table = read_arff(write("a.arff", ARFF + "@data\n{2 7, 0 -0.5}\n{ }\n{1 1}\n{1 0}\n{}\n"))
        assert isinstance(table.values, sparse.csr_array)
        assert table.values.dtype == np.float64
        assert table.values.has_sorted_indices
        assert table.values.nnz == 3
        assert table.values.toarray().tolist() == [[-0.5, 0, 7], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]

    @pytest.mark.parametrize("first", ["red", "'dark red'", '"dark red"'])
    def test_what_sparse_rows_leave_out_is_the_first_declared_value(self, write, first):
        header = f"@relation r\n@attribute color {{{first}, blue}}\n@attribute x numeric\n@attribute n integer\n@data\n"
        path = write("a.arff", header + f"{{1 5, 2 1}}\n{{0 {first}, 1 2}}\n{{0 blue}}\n")
        table = read_arff(path, categorical=["color"], text_columns=["n"])
        red = first.strip("'\"")
        assert table.text["color"].tolist() == [red, red, "blue"] and table.text["n"].tolist() == ["1", "0", "0"]

    def test_sparse_rows_cannot_leave_out_a_text_without_values(self, write):
        header = "@relation r\n@attribute note string\n@attribute x numeric\n@data\n"
        path = write("a.arff", header + "{0 a, 1 5}\n{1 2}\n")
        message = message_of(read_arff, path, text_columns=["note"])
        assert "line 2: sparse rows omit the attribute 'note' of type 'string', whose first value is unknown" in message

    def test_escapes_in_names(self, write):
        header = (
            "@relation r\n@attribute 'it\\'s' real\n@attribute TAG_m\\'usica real\n@attribute \"a, b\" real\n@data\n"
        )
        assert read_arff(write("a.arff", header + "1,2,3\n")).columns == ("it's", "TAG_m\\'usica", "a, b")

    def test_repeated_names(self, write):
        names = ["a", "b", "a", "a"]
        header = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in names) + "@data\n"
        path = write("a.arff", header + "1,2,3,4\n")
        message = message_of(read_arff, path)
        assert "column name 'a' is used twice, at positions 1 and 3" in message

    @pytest.mark.parametrize("kind", ["string", "{red,green}", "{0,nan}", "{0,1", "{}", "date 'yyyy'", "relational"])
    def test_attributes_that_are_not_numbers(self, write, kind):
        message = message_of(read_arff, write("a.arff", f"@relation r\n@attribute col {kind}\n@data\n1\n"))
        assert "line 2: attribute 'col' is of type" in message
        assert "Encode it as numbers or remove it" in message

    @pytest.mark.timeout(20)
    def test_nominal_values_that_liac_arff_would_ponder_forever(self, write):
        kind = "{" + ",".join(map(str, range(40))) + ",not known}"
        message_of(read_arff, write("a.arff", f"@relation r\n@attribute col {kind}\n@data\n1\n"))

    @pytest.mark.parametrize(
        ("row", "fault"),
        [
            ("1,1,red", "data row 2 (line 9), column 'k': found 'red', which is not a number"),
            ("1,1,inf", "data row 2 (line 9), column 'k': found 'inf', but numbers must be finite"),
            ("1,2,3", "data row 2, column 'y z': found 2, but the attribute declares 0, 1"),
            ("1,1", "line 9: the row does not fit the attributes"),
            ("1,1,1,1", "line 9: the row does not fit the attributes"),
            ("{0 1}", "line 9: sparse and dense rows are mixed"),
            ("1,'1,1", "at line 9"),
            ("1,'\\q',1", "Unsupported escape sequence"),
        ],
    )
    def test_bad_dense_row(self, write, row, fault):
        assert fault in message_of(read_arff, write("a.arff", f"{ARFF}@data\n0,0,0\n{row}\n"))

    @pytest.mark.parametrize(
        ("row", "fault"),
        [
            ("{0 ?}", "data row 2 (line 9), column 'x': found '?' where a number is missing"),
            ("{2 red}", "data row 2 (line 9), column 'k': found 'red', which is not a number"),
            ("{2 1,0 nan}", "data row 2 (line 9), column 'x': found 'nan' where a number is missing"),
            ("{1 2}", "data row 2, column 'y z': found 2, but the attribute declares 0, 1"),
            ("{3 1}", "line 9: the row does not fit the attributes"),
            ("{0 1, 0 2}", "data row 2 (line 9): the row contains an attribute twice"),
            ("{0 1, 2}", "at line 9"),
            ("{-1 1}", "at line 9"),
            ("{0 1} 5", "at line 9"),
            ("0,0,0", "line 9: sparse and dense rows are mixed"),
        ],
    )
    def test_bad_sparse_row(self, write, row, fault):
        assert fault in message_of(read_arff, write("a.arff", f"{ARFF}@data\n{{}}\n{row}\n"))

    def test_absent_nominal_that_does_not_mean_zero(self, write):
        header = "@relation r\n@attribute x numeric\n@attribute y {1,0}\n@data\n"
        message = message_of(read_arff, write("a.arff", header + "{0 1}\n"))
        assert "attribute 'y' declares 1 first" in message
        assert read_arff(write("b.arff", header + "5,1\n")).values.tolist() == [[5, 1]]

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            ("", "is empty"),
            ("@relation r\n", "not a complete ARFF file"),
            ("@relation r\n@data\n1\n", "not a complete ARFF file"),
            ("@attribute x real\n@data\n1\n", "not a complete ARFF file"),
            ("@attribute x real\n@relation r\n@data\n1\n", "not a complete ARFF file"),
            ("@relation r\n@attribute x real\n1\n", "line 3: found '1' before @data"),
            ("x,y\n1,2\n", "line 1: found 'x,y' before @data"),
            ("@relation r\n@attribute x\n@data\n1\n", "line 2: '@attribute x' is not '@attribute name type'"),
            ("@relation r\n@attribute x real\n@data\n% 1\n\n", "no data row"),
            (b"@relation r\x81", "byte 0x81 at offset 11"),
        ],
    )
    def test_not_an_arff(self, write, content, fault):
        assert fault in message_of(read_arff, write("a.arff", content))


def as_zip(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("data/a.arff", content)
    return stream.getvalue()


class TestDialectsOfARFF:
    """Files as written by Weka, MULAN, MEKA, R, Orange and people."""

    @pytest.mark.parametrize("declared", ["FALSE,TRUE", "no,yes", "yes,no", "True, False", "'no', \"yes\"", "0, TRUE"])
    def test_words_are_numbers(self, write, declared):
        header = f"@relation r\n@attribute x real\n@attribute y {{{declared}}}\n@data\n"
        low, high = sorted((value.strip(" '\"") for value in declared.split(",")), key="YESTRUE".find)
        low, high = (low, high) if low.casefold() in ("0", "no", "false") else (high, low)
        table = read_arff(write("a.arff", header + f"1,{low}\n2,'{high}'\n3,{high.upper()}\n4,0\n"))
        assert table.values[:, 1].tolist() == [0, 1, 1, 0]

    @pytest.mark.parametrize(
        ("declared", "row", "values"),
        [
            ("FALSE,TRUE", "1 TRUE", [[0, 1], [5, 0]]),
            ("no,yes", "1 yes", [[0, 1], [5, 0]]),
            ("yes,no", "1 no", [[0, 0], [5, 1]]),
            ("'TRUE','FALSE'", "1 'FALSE'", [[0, 0], [5, 1]]),
        ],
    )
    def test_sparse_rows_leave_out_the_first_word(self, write, declared, row, values):
        header = f"@relation r\n@attribute x real\n@attribute y {{{declared}}}\n@data\n"
        table = read_arff(write("a.arff", header + f"{{{row}}}\n{{0 5}}\n"))
        assert sparse.issparse(table.values) and table.values.toarray().tolist() == values

    @pytest.mark.parametrize(
        ("line", "name"),
        [
            ("@attribute c1{0,1}", "c1"),
            ("@ATTRIBUTE c1{ 0, 1 }", "c1"),
            ("@Attribute 'c 1'{0,1}", "c 1"),
            ('@attribute\t"c 1"\t{0,1}', "c 1"),
            ("@attribute\tc1 \t {0,1}\t% a comment", "c1"),
            ("@attribute c1{0,1}% a comment", "c1"),
            ("  @attribute c1 {'0','1'}  ", "c1"),
            ("@attribute a{b} {0,1}", "a{b}"),
            ("@attribute c1 integer % {0,1}", "c1"),
            ("@attribute c%1 NUMERIC", "c%1"),
            ("@attribute 'c % 1' Real", "c % 1"),
            ("@attribute 'c\\'1' real", "c'1"),
        ],
    )
    def test_declarations(self, write, line, name):
        table = read_arff(write("a.arff", f"@RELATION r % note\n{line}\n@Data % note\n0\n1\n"))
        assert table.columns == (name,) and table.values.ravel().tolist() == [0, 1]

    @pytest.mark.parametrize(
        "rows",
        [
            "1,'a b',0\n2,c,1\n",
            "1\t'a b'\t0\n2\tc\t1\n",
            "1,\t'a b'\t,0 \t\n2 ,\tc\t,\t1\n",
            "1,'a b',0 % a 'note'\n% 5,c,1\n  %\n2,c,1\t%\n",
        ],
    )
    def test_tabs_and_comments_in_rows(self, write, rows):
        header = "@relation r\n@attribute x real\n@attribute k {'a b',c}\n@attribute y {0,1}\n@data\n"
        table = read_arff(write("a.arff", header + rows), text_columns=["k"])
        assert table.values.tolist() == [[1, 0], [2, 1]] and table.text["k"].tolist() == ["a b", "c"]

    def test_quotes_keep_tabs_percent_signs_and_commas(self, write):
        header = "@relation r\n@attribute x real\n@attribute k string\n@data\n"
        path = write("a.arff", header + "1\t'a\tb, 5 % c'\n2,\"it's % d\"\n")
        assert read_arff(path, text_columns=["k"]).text["k"].tolist() == ["a\tb, 5 % c", "it's % d"]

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, as_zip])
    def test_encodings_and_compression(self, write, encoding, pack):
        text = "@relation r\n@attribute größe real\n@attribute k {süß,'für dich'}\n@data\n1,süß\n2,'für dich'\n"
        table = read_arff(write("a.arff", pack(text.encode(encoding))), text_columns=["k"])
        assert table.columns == ("größe",) and table.text["k"].tolist() == ["süß", "für dich"]

    @settings(
        max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(data=st.data())
    def test_files_of_liac_arff_give_the_same_table(self, tmp_path, data):
        texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]) | st.just("\t"), min_size=1)
        plain = texts.map(lambda text: re.sub(r"['\"\\\\\t]", "", text).strip()).filter(
            bool
        )  # liac-arff does not escape names
        names = data.draw(st.lists(plain, min_size=3, max_size=3, unique_by=normal))
        words = data.draw(st.sampled_from([["FALSE", "TRUE"], ["no", "yes"], ["yes", "no"], ["0", "1"]]))
        kinds = data.draw(st.lists(texts.map(str.strip).filter(bool), min_size=2, max_size=4, unique=True))
        n_rows = data.draw(st.integers(1, 5))
        numbers = data.draw(
            st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=n_rows, max_size=n_rows)
        )
        chosen = data.draw(st.lists(st.sampled_from(words), min_size=n_rows, max_size=n_rows))
        cells = data.draw(st.lists(st.sampled_from(kinds), min_size=n_rows, max_size=n_rows))
        attributes = [*zip(names, ["REAL", words, kinds], strict=True)]
        document = {"relation": "made", "attributes": attributes, "data": [*zip(numbers, chosen, cells, strict=True)]}
        path = tmp_path / "a.arff"
        path.write_text(liac_arff.dumps(document), encoding="utf-8")
        try:
            table = read_arff(path, text_columns=[normal(names[2])])
        except DataError as error:
            assert "\n" not in str(error)
            return
        assert table.header == tuple(map(normal, names))
        expected = [[number, word in ("TRUE", "yes", "1")] for number, word in zip(numbers, chosen, strict=True)]
        np.testing.assert_array_equal(table.values, np.array(expected, dtype=float))
        assert table.text[normal(names[2])].tolist() == cells

    @settings(
        max_examples=40, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(data=st.data())
    def test_what_scipy_reads_is_read_to_the_same_numbers(self, tmp_path, data):
        space = st.sampled_from(["", " ", "  "])
        keyword = st.sampled_from([str.lower, str.upper, str.title])
        lines = [data.draw(keyword)("@relation") + " r", "% a comment", ""]
        for name in "xy":
            kind = data.draw(keyword)(data.draw(st.sampled_from(["numeric", "real", "integer"])))
            lines.append(f"{data.draw(keyword)('@attribute')} {data.draw(space)}{name}  {kind}{data.draw(space)}")
        lines.append(f"@attribute k {{0,{data.draw(space)}1}}")
        lines.append(data.draw(keyword)("@data"))
        n_rows = data.draw(st.integers(1, 5))
        for _ in range(n_rows):
            numbers = [repr(data.draw(st.floats(-1e9, 1e9))) for _ in "xy"]
            padded = [f"{data.draw(space)}{cell}{data.draw(space)}" for cell in numbers]
            lines.append(",".join([*padded, data.draw(st.sampled_from("01"))]))
        path = tmp_path / "a.arff"
        path.write_text("\n".join(lines) + "\n")
        theirs, _ = scipy.io.arff.loadarff(path)
        expected = np.array([[float(cell) for cell in row] for row in theirs])
        np.testing.assert_array_equal(read_arff(path).values, expected)


def normal(name):
    return unicodedata.normalize("NFC", name)


BOMB = """<?xml version="1.0"?><!DOCTYPE labels [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>
<labels><label name="&b;"/></labels>"""
OUTSIDE = '<!DOCTYPE labels [<!ENTITY a SYSTEM "file:///etc/hostname">]><labels><label name="x">&a;</label></labels>'


class TestLabelNames:
    @pytest.mark.parametrize("namespace", ["", ' xmlns="http://mulan.sourceforge.net/labels"'])
    def test_nested_labels_in_order(self, write, namespace):
        labels = "<label name='b'><label name='a &amp; é'/></label><label name='TAG_??'></label>"
        text = f"<labels{namespace}>{labels}</labels>"
        assert formats.read_label_names(write("a.xml", text)) == ["b", "a & é", "TAG_??"]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "cannot be read as a MULAN label list"),
            ("<labels><label name='a'>", "cannot be read as a MULAN label list"),
            ("<?xml version='1.0' encoding='klingon'?><labels/>", "cannot be read as a MULAN label list"),
            (BOMB, "EntitiesForbidden"),
            (OUTSIDE, "EntitiesForbidden"),
            ("<html><label name='a'/></html>", "outermost element is 'html'"),
            ("<labels/>", "lists no label"),
            ("<labels><label name='a'/><label/></labels>", "label 2 has no name"),
            ("<labels><label name='a'><label name='a'/></label></labels>", "'a' is used twice, at positions 1 and 2"),
        ],
    )
    def test_not_a_label_list(self, write, text, fault):
        assert fault in message_of(formats.read_label_names, write("a.xml", text))


class TestMat:
    def test_numbers_become_float64(self, tmp_path):
        path = tmp_path / "a.mat"
        arrays = {"a": np.array([[1, 255]], dtype=np.uint8), "b": np.array([[0.1], [2]]), "unread": np.eye(2)}
        scipy.io.savemat(path, arrays)
        read = formats.read_mat(path, ["b", "a"])
        assert list(read) == ["b", "a"]
        for name, matrix in read.items():
            assert matrix.dtype == np.float64
            np.testing.assert_array_equal(matrix, arrays[name])

    def test_name_without_suffix_is_taken_as_it_is(self, tmp_path):
        scipy.io.savemat(tmp_path / "a.mat", {"a": np.eye(2)})
        assert "No such file" in message_of(formats.read_mat, tmp_path / "a", ["a"])

    def test_missing_variable(self, tmp_path):
        path = tmp_path / "a.mat"
        scipy.io.savemat(path, {"data_class0": np.eye(2), "other": np.eye(2)})
        message = message_of(formats.read_mat, path, ["data_class0", "data_class1"])
        assert "has no variable 'data_class1'." in message

    @pytest.mark.parametrize(
        "value",
        ["text", {"field": 1}, np.array([[1, "a"]], dtype=object), sparse.eye(2)],
        ids=["char", "struct", "cell", "sparse"],
    )
    def test_not_a_matrix_of_numbers(self, tmp_path, value):
        path = tmp_path / "a.mat"
        scipy.io.savemat(path, {"a": value})
        message = message_of(formats.read_mat, path, ["a"])
        assert "cannot be read as a MATLAB file" in message

    @pytest.mark.parametrize("value", [np.nan, -np.inf])
    def test_not_finite(self, tmp_path, value):
        path = tmp_path / "a.mat"
        scipy.io.savemat(path, {"a": np.array([[1, 2, 3], [4, 5, value]])})
        message = message_of(formats.read_mat, path, ["a"])
        assert f"variable 'a', data row 2, column 3: found {value}" in message

    @pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"MATLAB 5.0 MAT-file" + b"\0" * 200])
    def test_not_matlab(self, write, content):
        assert "cannot be read as a MATLAB file" in message_of(formats.read_mat, write("a.mat", content), ["a"])

    def test_version_7_3(self, write):
        header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
        message = message_of(formats.read_mat, write("a.mat", header + b"\x89HDF\r\n\x1a\n" + bytes(600)), ["a"])
        assert "save it with -v7" in message


FRAME = pd.DataFrame({"g1": [0.5, 1.5, 2.5], "g2": np.array([1, 2, 3], dtype=np.int32)})
FACTOR = pd.Categorical(["t", "n", "t"])


class TestRData:
    @pytest.fixture
    def save(self, tmp_path):
        def save(objects, name="alon.RData"):
            rdata.write_rda(tmp_path / name, objects)
            return tmp_path / name

        return save

    @pytest.fixture
    def as_read(self, monkeypatch, write):
        """Make rdata return these objects for a file, because it cannot write all objects that it can read."""

        def as_read(objects):
            monkeypatch.setattr(rdata, "read_rda", lambda *_, **__: objects)
            return write("any.RData", "")

        return as_read

    @pytest.mark.parametrize("nest", [lambda pair: pair, lambda pair: {"alon": pair}])
    def test_data_frame_and_factor(self, save, nest):
        table, classes = formats.read_rdata(save(nest({"x": FRAME, "y": FACTOR})))
        assert table.columns == ("g1", "g2")
        assert table.source == "alon.RData"
        assert table.values.dtype == np.float64
        assert table.values.tolist() == FRAME.to_numpy().tolist()
        assert classes.dtype.kind == "U"
        assert classes.tolist() == ["t", "n", "t"]

    def test_list_named_as_the_file_wins(self, save):
        train = {"x": FRAME[:2], "y": FACTOR[:2]}
        pair = {"x": FRAME, "y": FACTOR}
        assert len(formats.read_rdata(save({"golub_train": train, "golub": pair}, "golub.RData"))[1]) == 3
        message = message_of(formats.read_rdata, save({"golub_train": train, "golub": pair}, "leukemia.RData"))
        assert "has no list with 'x' and 'y', only golub_train, golub." in message

    def test_other_names(self, save):
        table, classes = formats.read_rdata(save({"genes": FRAME, "kind": FACTOR}), ("genes", "kind"))
        assert table.values.shape == (3, 2)
        assert classes.tolist() == ["t", "n", "t"]

    def test_bare_matrix(self, save):
        table, _ = formats.read_rdata(save({"x": np.arange(6.0).reshape(3, 2), "y": FACTOR}))
        assert table.columns == ("V1", "V2")
        assert table.values.tolist() == [[0, 1], [2, 3], [4, 5]]

    def test_matrix_with_dimnames(self, as_read):
        matrix = xarray.DataArray(np.eye(2), dims=["dim_0", "dim_1"], coords={"dim_1": ["a", "b"]})
        table, _ = formats.read_rdata(as_read({"x": matrix, "y": FACTOR[:2]}))
        assert table.columns == ("a", "b")
        assert table.values.tolist() == [[1, 0], [0, 1]]

    @pytest.mark.parametrize(
        ("classes", "expected"),
        [
            (np.array([3, 1, 2], dtype=np.int32), ["3", "1", "2"]),
            (np.array(["b", "ä", "b"], dtype=object), ["b", "ä", "b"]),
        ],
    )
    def test_vector_of_classes(self, save, classes, expected):
        assert formats.read_rdata(save({"x": FRAME, "y": classes}))[1].tolist() == expected

    def test_named_vector_of_classes(self, as_read):
        classes = xarray.DataArray(np.array(["b", "a", "b"]), dims=["dim_0"], coords={"dim_0": ["s1", "s2", "s3"]})
        assert formats.read_rdata(as_read({"x": FRAME, "y": classes}))[1].tolist() == ["b", "a", "b"]

    @pytest.mark.parametrize(
        "classes", [pd.Categorical(["t", None, "n"]), np.array(["t", None, "n"], dtype=object)], ids=["factor", "text"]
    )
    def test_missing_class(self, as_read, classes):
        assert "'x' has 3 rows, but 'y' has 2 classes" in message_of(
            formats.read_rdata, as_read({"x": FRAME, "y": classes})
        )

    @pytest.mark.parametrize(
        ("features", "fault"),
        [
            (FRAME.assign(g2=[1.0, np.nan, 3.0]), "data row 2, column 'g2': found nan"),
            (FRAME.assign(g2=[1.0, 2.0, np.inf]), "data row 3, column 'g2': found inf"),
            (FRAME.assign(g2=pd.array([1, None, 3], dtype="Int32")), "data row 2, column 'g2': found nan"),
            (
                np.ma.masked_array([[1, 2]] * 3, [[0, 0], [0, 1], [0, 0]], np.int32),
                "data row 2, column 'V2': found nan",
            ),
            (FRAME.assign(g2=["a", "b", "c"]), "cannot be read as an R data file: could not convert"),
            (FRAME.set_axis(["g", "g"], axis=1), "column name 'g' is used twice, at positions 1 and 2"),
            (FRAME[:2], "'x' has 2 rows, but 'y' has 3 classes"),
        ],
    )
    def test_bad_features(self, as_read, features, fault):
        assert fault in message_of(formats.read_rdata, as_read({"x": features, "y": FACTOR}))

    def test_objects_not_there(self, save):
        message = message_of(formats.read_rdata, save({"x": FRAME, "z": FACTOR}))
        assert "has no list with 'x' and 'y', only x, z." in message

    def test_guess_of_rdata_is_refused(self, tmp_path):
        rdata.write_rds(tmp_path / "a.RData", {"x": FRAME, "y": FACTOR})
        assert "assumed RDS" in message_of(formats.read_rdata, tmp_path / "a.RData")

    @pytest.mark.parametrize("content", [b"", b"RDX3\nX\n\0\0", b"RDX9\n", b"x,y\n1,2\n", b"\x1f\x8b\x08junk"])
    def test_not_r(self, write, content):
        assert "cannot be read as an R data file" in message_of(formats.read_rdata, write("a.RData", content))


class TestNPZ:
    @pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
    def test_any_layout(self, tmp_path, layout):
        dense = np.array([[0, 1, 0], [1, 0, 1]], dtype=np.int8)
        sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(dense).asformat(layout))
        read = formats.read_npz(tmp_path / "a.npz")
        assert isinstance(read, sparse.csr_array)
        assert read.dtype == np.int8
        assert read.nnz == 3
        assert read.has_canonical_format
        assert read.toarray().tolist() == dense.tolist()

    @pytest.mark.parametrize("layout", ["csr", "coo"])
    def test_duplicates_are_added_up(self, tmp_path, layout):
        twice = {
            "csr": sparse.csr_array((np.array([1, 1, 0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)),
            "coo": sparse.coo_array((np.array([1, 1, 0]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)),
        }
        sparse.save_npz(tmp_path / "a.npz", twice[layout])
        read = formats.read_npz(tmp_path / "a.npz")
        assert read.toarray().tolist() == [[0, 2], [0, 0]]
        assert read.nnz == 1

    def test_not_finite(self, tmp_path):
        sparse.save_npz(tmp_path / "a.npz", sparse.csr_array([[0, 1.0], [np.nan, 0]]))
        assert "data row 2, column 1: found nan" in message_of(formats.read_npz, tmp_path / "a.npz")

    @pytest.mark.parametrize("array", [np.eye(2) * 1j, np.zeros((0, 3)), np.zeros((3, 0))])
    def test_not_a_matrix_of_numbers(self, tmp_path, array):
        sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(array))
        assert "expected a matrix of real numbers" in message_of(formats.read_npz, tmp_path / "a.npz")

    @pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
    def test_index_out_of_range(self, tmp_path, layout):
        matrix = sparse.eye_array(3).asformat(layout)
        if layout == "coo":
            matrix.coords[0][1] = 10**6
        else:
            matrix.indices[1] = 10**6
        sparse.save_npz(tmp_path / "a.npz", matrix)
        assert "cannot be read as a sparse matrix" in message_of(formats.read_npz, tmp_path / "a.npz")

    def test_nothing_is_unpickled(self, tmp_path, write):
        proof = tmp_path / "proof"

        class Harm:
            def __reduce__(self):
                return Path.touch, (proof,)

        pickled = pickle.dumps(Harm())
        message_of(formats.read_npz, write("a.npz", pickled))
        good, harmful = tmp_path / "good.npz", tmp_path / "b.npz"
        sparse.save_npz(good, sparse.eye_array(2).tocsr())
        objects = np.lib.format.header_data_from_array_1_0(np.empty(1, dtype=object))
        with zipfile.ZipFile(good) as source, zipfile.ZipFile(harmful, "w") as target:
            for name in source.namelist():
                with target.open(name, "w") as stream:
                    if name == "data.npy":
                        np.lib.format.write_array_header_1_0(stream, objects)
                        stream.write(pickled)
                    else:
                        stream.write(source.read(name))
        assert "cannot be read as a sparse matrix" in message_of(formats.read_npz, harmful)
        assert not proof.exists()
        with np.load(harmful, allow_pickle=True) as file:
            file["data"]
        assert proof.exists()  # unpickling runs the harmful code

    def test_not_a_sparse_matrix(self, tmp_path, write):
        np.savez(tmp_path / "a.npz", a=np.eye(2))
        np.save(tmp_path / "b.npy", np.eye(2))
        (tmp_path / "b.npy").rename(tmp_path / "b.npz")
        for path in (tmp_path / "a.npz", tmp_path / "b.npz", write("c.npz", b""), write("d.npz", b"PK\x03\x04")):
            assert "cannot be read as a sparse matrix" in message_of(formats.read_npz, path)


def test_module_is_light():
    """A format's package is loaded only when a file in that format is read."""
    heavy = {"rdata", "xarray", "arff", "scipy.io", "defusedxml"}
    code = f"import sys; from fairfold.datasets import formats; print(*{heavy} & {{*sys.modules}})"
    environment = os.environ | {"PYTHONPATH": str(Path(formats.__file__).parents[2])}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


# --- the real files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def mirror():
    """Return the path of a file in one of the mirrors, by dataset id and name."""
    folders = [Path(folder) for folder in os.environ.get("FAIRFOLD_MIRROR", "").split(os.pathsep) if folder]

    def find(dataset, name):
        for folder in folders:
            if (folder / dataset / name).exists():
                return folder / dataset / name
        pytest.skip(f"{dataset}/{name} is in no mirror; name one in FAIRFOLD_MIRROR")

    return find


class TestRealFiles:
    @pytest.mark.parametrize(
        ("dataset", "shape"),
        [("yeast", (2417, 117)), ("flags", (194, 26)), ("enron", (1702, 1054)), ("medical", (978, 1494))],
    )
    def test_csv(self, mirror, dataset, shape):
        path = mirror(dataset, f"{dataset}.csv")
        table = read_csv(path)
        assert table.values.shape == shape
        assert len(table.columns) == shape[1]
        np.testing.assert_array_equal(table.values, pd.read_csv(path).to_numpy(dtype=np.float64))

    def test_csv_with_gaps(self, mirror):
        path = mirror("arrhythmia", "arrhythmia.data")
        table = read_csv(path, header=False, missing="?", text_columns=[-1])
        assert table.values.shape == (452, 279)
        assert np.isnan(table.values).sum() == path.read_text().count("?") == 408
        assert set(table.text["column_280"]) == set(map(str, [*range(1, 11), 14, 15, 16]))
        message = message_of(read_csv, path, header=False)
        assert "data row 1 (line 1), column 'column_14': found '?'" in message

    @pytest.mark.parametrize(
        ("dataset", "shape", "n_labels"), [("bibtex", (7395, 1995), 159), ("delicious", (16105, 1483), 983)]
    )
    def test_sparse_arff_and_its_labels(self, mirror, dataset, shape, n_labels):
        path = mirror(dataset, f"{dataset}.arff")
        table = read_arff(path)
        assert isinstance(table.values, sparse.csr_array)
        assert table.values.shape == shape
        assert set(table.values.data) == {1}
        entries = path.read_text().partition("@data")[2].count(" 1")
        assert table.values.nnz == entries
        assert formats.read_label_names(mirror(dataset, f"{dataset}.xml")) == list(table.columns[-n_labels:])

    def test_dense_arff_and_its_labels(self, mirror):
        train = read_arff(mirror("scene", "scene-train.arff"))
        test = read_arff(mirror("scene", "scene-test.arff"))
        assert isinstance(train.values, np.ndarray)
        assert (train.values.shape, test.values.shape) == ((1211, 300), (1196, 300))
        assert train.columns == test.columns
        assert formats.read_label_names(mirror("scene", "scene.xml")) == list(train.columns[-6:])

    @pytest.mark.parametrize(("name", "shape"), [("eeg", (289, 460)), ("spikes", (2000, 61)), ("gen", (4000, 6))])
    def test_mat(self, mirror, name, shape):
        path = mirror(f"cross_testing_{name}", f"data_{name}.mat")
        matrices = formats.read_mat(path, ["data_class0", "data_class1"])
        assert [matrix.shape for matrix in matrices.values()] == [shape] * 2

    @pytest.mark.parametrize(
        ("dataset", "shape", "counts"),
        [
            ("alon", (62, 2000), {"n": 22, "t": 40}),  # matrix with both dimnames
            ("west", (49, 7129), {"negative": 25, "positive": 24}),  # bare matrix
            ("gravier", (168, 2905), {"good": 111, "poor": 57}),  # data frame
            ("golub", (72, 7129), {"ALL": 47, "AML": 25}),  # three lists in the file
        ],
    )
    def test_rdata(self, mirror, dataset, shape, counts):
        table, classes = formats.read_rdata(mirror(dataset, f"{dataset}.RData"))
        assert table.values.shape == shape
        assert dict(zip(*np.unique(classes, return_counts=True), strict=True)) == counts

    def test_npz(self, mirror):
        labels = formats.read_npz(mirror("wiki10_31k", "wiki10_31k.npz"))
        assert labels.shape == (20762, 30938)
        assert set(labels.data) == {1}
