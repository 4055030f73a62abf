"""What is read in bulk is what is read cell by cell, to the last bit; anything else is left to the careful reader."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairfold.datasets import bulk, formats
from fairfold.datasets.rows import TableFile
from fairfold.errors import DataError

PLAIN = st.sampled_from(["1", "0.1", "-2.5e3", ".5", "7.", "1e-310", "0.30000000000000004", " 3", "4 ", "-0"])
ODD = st.sampled_from(
    ["", "NA", "nan", "NaN", "n/a", "?", "None", "inf", "-inf", "1_0", "+1", "TRUE", "no", "x", '"1"']
)
ODD |= st.sampled_from(
    [
        "1e400",
        "0x1",
        "١",
        "1,5",
        '"1,5"',
        '"1,234"',
        "1.234",
        "2020-01-02",
        "-999",
        " NA",
        "1\t",
        "'1'",
        "1\x0b",
        "-nan",
        "NAN",
    ]
)
ODD |= st.sampled_from(["9007199254740993", "-9007199254740993", "9007199254740992", "1e300"])


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(bulk, "LEAST_BYTES", 0)


def outcome(path, **options):
    try:
        table = formats.read_csv(path, **options)
    except DataError as error:
        return str(error)
    texts = {name: cells.tolist() for name, cells in table.text.items()}
    return table.columns, table.values.shape, table.values.tobytes(), texts, table.ignored


def both(path, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "LEAST_BYTES", 0)
        found = outcome(path, **options)
        patch.setattr(formats, "read_bulk", lambda *_, **__: None)
        return found, outcome(path, **options)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    rows=st.lists(st.lists(PLAIN | ODD, min_size=3, max_size=3), min_size=1, max_size=4),
    odd_rows=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    options=st.sampled_from(
        (
            *({}, {"gaps": True}, {"missing": "NA"}, {"missing": "-999"}, {"gaps": True, "missing": "x"}),
            *({"ignored": ["b"]}, {"text_columns": ["c"]}, {"text_columns": ["a"], "gaps": True}, {"header": False}),
            {"categorical": ["b"], "gaps": True},
        )
    ),
)
def test_any_table_is_read_or_refused_alike(tmp_path_factory, rows, odd_rows, end, options):
    lines = [",".join(row) for row in rows]
    if odd_rows:
        lines = [*lines, "", lines[0], "1,2"][: len(lines) + 2]
    header = ["a,b,c"] if options.get("header", True) else []
    path = tmp_path_factory.mktemp("bulk") / "table.csv"
    path.write_bytes(end.join([*header, *lines, ""]).encode())
    found, expected = both(path, **options)
    assert found == expected


def test_plain_tables_are_read_in_bulk(tmp_path, always):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 6)) * 10.0 ** rng.integers(-300, 15, size=(500, 6))
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    path = tmp_path / "table.csv"
    path.write_text("id,a,b,c,d,e,f\n" + "\n".join(f"s {n},{line}" for n, line in enumerate(text.splitlines())))
    found = bulk.read_bulk(TableFile(path), 7, 1, numeric=range(1, 7), texts=[0])
    assert np.asarray(found.numbers).tobytes() == values.tobytes()
    assert found.texts == {0: [f"s {n}" for n in range(500)]} and found.n_rows == 500
    table = formats.read_csv(path, text_columns=["id"])
    assert table.values.tobytes() == values.tobytes() and table.text["id"][7] == "s 7"


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n"1",2\n',  # quotes
        b"a;b\n1;2\n",  # other separators
        b"a,b\n1,2\n3\n",  # a short row
        b"a,b\n1,x\n",
        b"a,b\n",  # no rows
        "é,b\n1,2\n".encode("cp1252"),
        "a,b\n1,2\n".encode("utf-16"),
        gzip.compress(b"a,b\n1,2\n"),
        b"sep=,\na,b\n1,2\n",
    ],
)
def test_what_is_not_plain_is_left_alone(tmp_path, always, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert bulk.read_bulk(TableFile(path), 2, 1, numeric=[0, 1], texts=[]) is None


def test_small_tables_are_left_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    assert bulk.read_bulk(TableFile(path), 2, 1, numeric=[0, 1], texts=[]) is None


def test_a_large_table_is_read_in_parts(tmp_path, always, monkeypatch):
    monkeypatch.setattr(bulk, "_BLOCK", 1 << 10)
    values = np.random.default_rng(1).random((400, 3))
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist()))
    found, expected = both(path)
    assert found == expected and found[2] == values.tobytes()
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:300], "1,2,oops", *lines[300:]]))
    found, expected = both(path)
    assert found == expected and "data row 300 (line 301), column 'c': found 'oops'" in found
