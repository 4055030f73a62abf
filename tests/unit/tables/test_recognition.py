"""Files that are not comma-separated text are recognized and named; valid files never are."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readers import read_arff, read_csv

from fairfold.errors import DataError
from fairfold.tables.rows import Dialect, dialect_of, other_format

TABLE = "height,label_a\n0.5,1\n1.5,0\n"


def zipped(*names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, TABLE)
    return stream.getvalue()


OTHERS = {
    "xlsx": (zipped("[Content_Types].xml", "xl/workbook.xml"), "is in Excel format. Save its table as CSV"),
    "ods": (zipped("mimetype", "content.xml"), "is an OpenDocument workbook. Save its sheet as CSV"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "is an Excel workbook of the old kind (.xls). Save"),
    "parquet": (b"PAR1\x15\x04" + bytes(40) + b"PAR1", "is in Parquet format. Save its table as CSV"),
    "feather": (b"FEA1" + bytes(40) + b"FEA1", "is in Feather format. Save its table as CSV"),
    "arrow": (b"ARROW1\x00\x00" + bytes(40), "is in Feather format. Save its table as CSV"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_formats_are_named_by_content(kind, tmp_path):
    """The file name is not used: a workbook may be called .arff."""
    content, sentence = OTHERS[kind]
    (tmp_path / "mine.arff").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_arff(tmp_path / "mine.arff")
    assert str(caught.value).startswith(f"{tmp_path / 'mine.arff'} {sentence}")
    assert "\n" not in str(caught.value)


def test_unknown_bytes_stay_unknown(tmp_path):
    (tmp_path / "mine.csv").write_bytes(b"x,y\n1,\x8d\n")
    assert other_format(b"x,y\n1,\x8d\n") is None
    with pytest.raises(DataError, match="is not text: found byte 0x8d at offset 6"):
        read_csv(tmp_path / "mine.csv")


@pytest.mark.parametrize("name", ["PAR1", "BZh9", "FEA1", "PK", "ARROW1"])
def test_text_that_begins_like_another_format_is_text(name, tmp_path):
    (tmp_path / "mine.csv").write_text(f"{name},y\n1,2\n")
    assert read_csv(tmp_path / "mine.csv").columns == (name, "y")


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b;c\n1;2;0\n3;4;1\n", ";"),
        ("a;b;c\n1,5;2,5;0\n3;4,5;1\n", ";"),
        ("height, cm;b;c\n1;2;0\n3;4;1\n", ";"),
        ("Length, mm;count\n-0,2;11\n0,4;13\n", ";"),
        ("a\tb\n1\t0\n\n2\t1\n", "\t"),
        ('"a"\t"b"\n1\t0\n', "\t"),
        ('"a"\t"b"\n"1"\t1\t0\n"2"\t1\t1\n', "\t"),  # row names, as R writes them
        ("a|b\n1|0\n", "|"),
        ("1;2;classA\n3;4;classB\n", ";"),
        ('a;note\n1;"x, y"\n2;"two\nlines, of text"\n', ";"),
        ("a;b;c\n1;2;3\n4;5\n6;7;8\n", ";"),  # a short row
        ("sep=|\na;b|c\n1|2\n", "|"),
        ('"sep=;"\r\na,b\r\n', ";"),
    ],
)
def test_other_separators_are_detected(text, separator):
    assert dialect_of(text).separator == separator


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n",
        '"a;b","c;d"\n1,2\n',
        "x,k;l\n1,a;b\n2,c;d\n",  # a class that contains a semicolon
        "x\n1\n2\n",
        "a;b\n1\n2\n",  # one column with an odd name
        '"one\ntwo;three",y\n1,2\n',
        "x\ty,z\n1,2\n",
        "x,y\n1;2,3;4\n5;6,7;8\n",
    ],
)
def test_commas_are_not_taken_for_others(text):
    assert dialect_of(text) == Dialect(",")


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n,\"'"), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(cells, min_size=2, max_size=4), st.integers(1, 5))
def test_no_table_of_numbers_under_any_header_is_misjudged(header, n_rows):
    lines = [",".join(header), *[",".join(["1"] * len(header))] * n_rows]
    assert dialect_of("\n".join(lines)) == Dialect(",")


@pytest.mark.parametrize("text", ["1\t,;\n\t0,0\n", "site;Length, mm\nnorth;0,5\nsouth;1,2\n"])
def test_two_equally_good_separators_are_refused(text):
    with pytest.raises(DataError, match=r"may be separated by commas or .*sep="):
        dialect_of(text)
    assert dialect_of(f"sep=;\n{text}").separator == ";"


def test_a_cell_that_is_cut_off_does_not_hide_the_dialect():
    text = 'a;note\n1;"x, y"\n2;"cut, of'
    assert dialect_of(text, is_whole=False).separator == ";"
    assert dialect_of(text.partition("cut")[0], is_whole=False).separator == ";"


def test_backslashes_escape_only_where_quotes_show():
    assert dialect_of('a;b\n1;"say \\"hi\\""\n').escape == "\\"
    assert dialect_of('a;b\n1;say \\"hi\\"\n').escape == "\\"
    assert dialect_of('a;b\n1;"C:\\"\n2;"say ""hi"""\n').escape is None
    assert dialect_of("a;b\n1;C:\\x\n").escape is None
