"""Sizes of data are told from little of them, whatever kind of file it is, and an error is none."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.catalog import Entry
from fairfold.datasets.sizes import Size, size_of


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((300, 10)).round(5), columns=list("abcdefghij"))
    return frame.join(pd.DataFrame(rng.integers(0, 2, (300, 2)), columns=["is_x", "is_y"]))


def size(path, **stanza):
    return size_of(Entry.from_own("mine", {"path": str(path), "format": "csv", "labels": {"prefix": "is_"}, **stanza}))


def as_arff(table):
    head = [f"@attribute {name!r} numeric" for name in table]
    return "\n".join(
        ["% a comment", "@relation mine", *head, "@DATA", "% another", table.to_csv(index=False, header=False)]
    )


WRITERS = {
    "commas": lambda table, path: table.to_csv(path, index=False),
    "semicolons": lambda table, path: table.to_csv(path, index=False, sep=";", decimal=","),
    "tabs": lambda table, path: table.to_csv(path, index=False, sep="\t", encoding="utf-16"),
    "gzip": lambda table, path: path.write_bytes(gzip.compress(table.to_csv(index=False).encode())),
    "Parquet": lambda table, path: table.to_parquet(path),
    "Parquet with an index": lambda table, path: table[::-1].to_parquet(path),
    "Feather": lambda table, path: table.to_feather(path),
    "Excel": lambda table, path: table.to_excel(path, index=False, engine="openpyxl"),
}


@pytest.fixture
def write(table, tmp_path):
    def written(kind):
        path = tmp_path / ("mine.xlsx" if kind == "Excel" else "mine.of-any-name")
        WRITERS[kind](table, path)
        return path

    return written


@pytest.mark.parametrize("kind", WRITERS)
def test_tables_of_all_kinds(write, kind):
    assert size(write(kind)) == (300, 10, 2)


def test_sparse_and_dense_arff(table, tmp_path):
    (tmp_path / "mine.arff").write_text(as_arff(table))
    assert size(tmp_path / "mine.arff", format="arff") == (300, 10, 2)


@pytest.mark.parametrize("kind", ["commas", "semicolons", "tabs", "quoted", "arff"])
def test_rows_of_long_texts_are_estimated(table, tmp_path, kind):
    path, table = tmp_path / "mine", pd.concat([table] * 100)
    if kind == "arff":
        path.write_text(as_arff(table))
    elif kind == "quoted":  # and beyond ASCII, in lines that end as on Windows
        table.assign(a="很多的字，很多").to_csv(path, index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    else:
        WRITERS[kind](table, path)
    found = size(path, format="arff" if kind == "arff" else "csv")
    assert isinstance(found.n_samples, float)
    assert found.n_samples == pytest.approx(30_000, rel=0.02)
    assert found[1:] == (10, 2)


@pytest.mark.parametrize(
    ("stanza", "expected"),
    [
        ({"labels": {"columns": ["is_x"]}}, (300, 11, 1)),
        ({"labels": {"last": 2}}, (300, 10, 2)),
        ({"id": "a", "groups": "b", "ignore": ["[c-e]"]}, (300, 5, 2)),
        ({"header": False, "labels": {"last": 2}}, (301, 10, 2)),
    ],
)
def test_columns_that_are_no_features(write, stanza, expected):
    assert size(write("commas"), **stanza) == expected


def test_a_table_of_labels(table, tmp_path):
    rows = table.assign(id=range(300))
    rows[["id", "a", "b"]].to_csv(tmp_path / "mine.csv", index=False)
    rows[["id", "is_x", "is_y"]].to_csv(tmp_path / "labels.csv", index=False)
    assert size(tmp_path / "mine.csv", id="id", labels={"table": str(tmp_path / "labels.csv")}) == (300, 2, 2)


@pytest.mark.parametrize(
    "content",
    [b"", b"a\n", b"PAR1anything", b"ARROW1\0\0anything", b"PK\3\4anything", b"\0\1\2", b'a,is_x\n1,"2\n', None],
)
def test_what_cannot_be_read_has_no_size_and_raises_nothing(tmp_path, content):
    if content is not None:
        (tmp_path / "mine.csv").write_bytes(content)
    for kind in ("csv", "arff", "npz"):
        found = size(tmp_path / "mine.csv", format=kind)
        assert found is None or found.n_samples == 0


def test_labels_that_are_not_there(write):
    assert size(write("commas"), labels={"prefix": "was_"}) is None


def test_long_text_that_is_packed_has_no_size(write, monkeypatch):
    monkeypatch.setattr("fairfold.datasets.sizes._COUNTED", 100)
    monkeypatch.setattr(gzip, "open", None)  # nor is it unpacked for nothing
    assert size(write("gzip")) is None


@pytest.mark.parametrize("kind", ["csv", "arff"])
def test_a_packed_arff_file_has_a_size_if_it_is_short(table, tmp_path, kind, monkeypatch):
    (tmp_path / "mine.arff").write_bytes(gzip.compress(as_arff(table).encode()))
    options = {"format": kind, "labels": {"columns": ["is_x", "is_y"]}}
    assert size(tmp_path / "mine.arff", **options) == (300, 10, 2)
    monkeypatch.setattr("fairfold.datasets.sizes._COUNTED", -(1 << 30))
    assert size(tmp_path / "mine.arff", **options) is None


def test_generated_data_have_the_size_that_is_told():
    catalog = load_catalog()
    for name in ("simulated-multilabel", "digits-segments"):
        assert size_of(catalog[name]) == prepare(catalog[name]).shape, name
    larger = catalog["simulated-multilabel"].variant(
        "larger", {"of": "simulated-multilabel", "parameters": {"n_samples": 900}}
    )
    assert size_of(larger) == Size(900, 20, 6)


def test_of_few_datasets_nothing_is_known():
    entries = [entry for entry in load_catalog().values() if entry.task == "multilabel"]
    unknown = [entry.id for entry in entries if size_of(entry) is None]
    assert len(unknown) <= 3 < len(entries)
