"""More than forty faults of a table each give one sentence, with row and column if they apply."""

import gzip
import io

import pandas as pd
import pytest

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError

TABLE = """id,plant,soil,height,width,label_a,label_b
s1,p1,loam,1.5,2,1,0
s2,p1,sand,2.5,3,0,1
s3,p2,loam,3.5,4,1,
s4,p3,,4.5,,0,0
s5,p3,peat,5.5,6,1,1
"""
KEYS = {"id": "id", "groups": "plant", "categorical": "one-hot", "labels": {"prefix": "label_"}}
HEADER, FIRST = TABLE.splitlines()[:2]
NUMBERS = {"categorical": None, "ignore": ["soil"]}  # any text is invalid then


def changed(old, new):
    assert old in TABLE
    return TABLE.replace(old, new)


# Each fault has the text or bytes of the file, the changed keys and the expected sentence.
FAULTS = {
    "empty file": (b"", {}, "is empty"),
    "blank lines only": ("\n\n\n", {}, "is empty"),
    "header only": (HEADER + "\n", {}, "has a header but no data row"),
    "row too short": (
        changed("s2,p1,sand,2.5,3,0,1", "s2,p1,sand,2.5,3,0"),
        {},
        r"data row 2 \(line 3\).*6 cells.*7 col",
    ),
    "row too long": (changed("2.5,3,0,1", "2.5,3,0,1,9"), {}, r"data row 2 \(line 3\).*8 cells.*7 col"),
    "a word among numbers": (
        changed("3.5", "tall"),
        NUMBERS,
        r"row 3 .*'height'.*'tall'",
    ),
    "an underscore in a number": (
        changed("5.5", "5_5"),
        NUMBERS,
        r"row 5 .*'height'.*'5_5'",
    ),
    "infinite": (changed("4.5", "inf"), {}, r"row 4 .*'height'.*'inf'.*must be finite"),
    "too large": (changed("4.5", "1e999"), {}, r"row 4 .*'height'.*'1e999'.*must be finite"),
    "unit behind a number": (
        changed("1.5", "1.5 cm"),
        NUMBERS,
        r"row 1 .*'height'.*cm",
    ),
    "percent": (changed("2.5,3", "2.5,3%"), NUMBERS, r"row 2 .*'width'.*3%"),
    "a date": (changed("3.5", "2024-05-01"), {}, r"row 3 .*'height'.*a date.*days since"),
    "a date of another kind": (changed("3.5", "01.05.2024"), {}, r"row 3 .*'height'.*a date"),
    "a formula's error": (
        changed("4.5", "#DIV/0!"),
        NUMBERS,
        r"row 4 .*'height'.*#DIV",
    ),
    "text in a column of numbers": (
        TABLE,
        {"categorical": None, "features": {"soil": "number"}},
        r"row 1 .*'soil'.*'loam'.*no",
    ),
    "a category of a hundred and one values": (
        HEADER + "\n" + "".join(f"s{i},p{i},soil{i},1,2,{i % 2},1\n" for i in range(101)),
        {},
        "column 'soil' has 101 values",
    ),
    "label of 2": (
        changed("4.5,,0,0", "4.5,,2,0"),
        {},
        'row 4, column "label_a": expected 0, 1 or an empty cell, found "2"',
    ),
    "label of -1": (
        changed("2.5,3,0,1", "2.5,3,-1,1"),
        {},
        'row 2, column "label_a": expected 0, 1 or an empty cell, found "-1"',
    ),
    "label of one half": (changed("1.5,2,1,0", "1.5,2,0.5,0"), {}, 'data row 1, column "label_a": .* found "0.5"'),
    "label of text": (
        changed("2.5,3,0,1", "2.5,3,ill,1"),
        {},
        'data row 2, column "label_a": expected 0, 1 or an empty cell, found "ill"',
    ),
    "no such labels": (TABLE, {"labels": {"prefix": "trait_"}}, "no column name starts with 'trait_'"),
    "a label that is not there": (
        TABLE,
        {"labels": {"columns": ["label_a", "label_z"]}},
        "no column for label 'label_z'",
    ),
    "more labels than columns": (TABLE, {"labels": {"last": 9}}, "labels.last is 9, but there are 7 columns"),
    "no label left": (TABLE, {"label_filter": {"min_positives": 4}}, "the label filter .* leaves no label"),
    "column without a name": (changed("width", ""), {}, "column 5 of the header has no name"),
    "column name twice": (changed("width", "height"), {}, "'height' is used twice"),
    "id missing": (changed("s3,", ","), {}, r"data row 3 \(line 4\), column 'id': found ''"),
    "id twice": (changed("s3", "s1"), {}, "the id 's1' in column 'id' is given twice, in data rows 1 and 3"),
    "no such id": (TABLE, {"id": "sample"}, "unknown column 'sample'"),
    "group missing": (changed("p2", "?"), {}, r"data row 3 \(line 4\), column 'plant': found '\?'"),
    "one group": (
        TABLE.replace("p2", "p1").replace("p3", "p1"),
        {},
        "column 'plant' .groups.: all rows are in group 'p1'. Name a column",
    ),
    "no such group": (TABLE, {"groups": "plot"}, "unknown column 'plot'"),
    "groups and folds that disagree": (
        TABLE.replace("height", "part").replace("1.5", "1").replace("2.5", "2").replace("3.5", "1").replace("4.5", "2"),
        {"folds": "part"},
        r"data rows 1 and 2 are in one group but in folds '1' and '2'",
    ),
    "label that is the id": (TABLE, {"labels": {"columns": ["id", "label_a"]}}, "'id' cannot be both a label"),
    "ignored column that is not there": (TABLE, {"ignore": ["notes"]}, "unknown column 'notes'"),
    "ignored pattern that fits nothing": (TABLE, {"ignore": ["note*"]}, "the pattern 'note\\*'"),
    "damaged archive": (gzip.compress(TABLE.encode())[:40], {}, "cannot be read|damaged|ends"),
    "a weight that is none": (
        changed("s4,p3,,4.5,", "s4,p3,,-4.5,"),
        {"weights": "height"},
        r"data row 4, column 'height' .weights.: found '-4.5', but a weight is a finite number above 0",
    ),
    "AnnData": (b"\x89HDF\r\n\x1a\n" + bytes(99), {}, "is an HDF5 file, as AnnData's. Write its table as Parquet"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), {}, "mine.csv"),
    "a quote that is never closed": (changed("loam,1.5", '"loam,1.5'), {}, r"quote|cells"),
    "workbook of two sheets": (None, {}, "sheet"),
}


def workbook(path):
    table = pd.read_csv(io.StringIO(TABLE))
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for sheet in ("one", "two"):
            table.to_excel(writer, sheet_name=sheet, index=False)


@pytest.fixture
def own(tmp_path):
    def make(content, keys):
        path = tmp_path / "mine.csv"
        if content is None:
            workbook(tmp_path / "mine.xlsx")
            (tmp_path / "mine.xlsx").rename(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        stanza = {key: value for key, value in {**KEYS, **keys}.items() if value is not None}
        return load_catalog().with_own({"mine": {"path": str(path), "format": "csv", **stanza}})["mine"]

    return make


def test_the_table_itself_is_right(own):
    data = prepare(own(TABLE, {}))
    assert data.shape == (5, 6, 2) and data.n_unmeasured == 1


def test_they_are_forty_or_more():
    assert len(FAULTS) >= 40


@pytest.mark.parametrize("fault", FAULTS)
def test_each_is_reported_in_one_sentence(own, fault):
    content, keys, sentence = FAULTS[fault]
    with pytest.raises((DataError, ConfigError), match=sentence) as caught:
        prepare(own(content, keys))
    text = str(caught.value)
    assert "\n" not in text and len(text) < 500 and "mine" in text, text
