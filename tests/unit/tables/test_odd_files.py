"""Encodings, kinds of files, long cells and colliding names."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fairfold.__main__ import main
from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError
from fairfold.tables.rows import TableFile

CASES = Path(__file__).parents[2] / "cases"
TABLE = "x;Höhe\n0,5;1\n1,5;2\n"


def read(path, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
    return prepare(load_catalog().with_own({"own": stanza})["own"])


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16", "utf-8-sig", "cp1252"])
def test_a_byte_order_mark_decides_the_encoding(encoding, tmp_path):
    (tmp_path / "t.csv").write_bytes(TABLE.encode(encoding))
    assert list(TableFile(tmp_path / "t.csv").rows()) == [(1, ["x", "Höhe"]), (2, ["0,5", "1"]), (3, ["1,5", "2"])]


def test_both_orders_of_utf_32_are_read(tmp_path):
    for order in ("le", "be"):
        (tmp_path / "t.csv").write_bytes(("\ufeff" + TABLE).encode(f"utf-32-{order}"))
        assert next(TableFile(tmp_path / "t.csv").rows()) == (1, ["x", "Höhe"])


def test_a_pipe_a_folder_or_a_device_is_no_table(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for path, sentence in ((tmp_path, "is a folder"), (tmp_path / "pipe", "is a pipe"), (Path(os.devnull), "a device")):
        for words in (["audit", str(path), "--labels", "y"], ["study", str(path), "--labels", "y"]):
            assert main(words) == 1
            error = capsys.readouterr().err
            assert sentence in error and "there is no file" not in error
        with pytest.raises(DataError, match=sentence):
            TableFile(path)


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module(tmp_path):
    long = "word " * 40_000
    (tmp_path / "t.csv").write_text(f'x,note,label_a\n1,"{long}",0\n2,b,1\n')
    data = read(tmp_path / "t.csv", ignore=["note"])
    assert data.X.ravel().tolist() == [1, 2] and data.Y.ravel().tolist() == [0, 1]
    data = read(tmp_path / "t.csv", categorical="ordinal")
    with pytest.raises(DataError, match="column 'note': found 'c'") as caught:
        data.categories.encode({"note": ["c"]}, "t.csv")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (
            CASES / "catcoll.csv",
            "column 'a' with 'b=c' and column 'a=b' with 'c' would both become the feature 'a=b=c'",
        ),
        ("a,a=b,label_a\nb,1,0\nc,2,1\n", "column 'a=b' and column 'a' with 'b' would both become the feature 'a=b'"),
    ],
)
def test_features_with_one_name_are_refused(path, found, tmp_path):
    if isinstance(path, str):
        (tmp_path / "t.csv").write_text(path)
        path = tmp_path / "t.csv"
    with pytest.raises(DataError, match=re.escape(found)):
        read(path, categorical="one-hot")


def audit(capsys, path, *words):
    status = main(["audit", str(path), "--labels", "label_", *words])
    return status, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("n_rows", [24, 25])
def test_the_audit_refuses_as_few_rows_as_a_study(n_rows, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("x,label_a,label_b\n" + "".join(f"{(7 * i) % 31},{i % 2},{i % 3 // 2}\n" for i in range(n_rows)))
    status, text = audit(capsys, path)
    found = "error: the table has 24 rows; add rows to have at least 25"
    assert (status == 1, found in text) == (n_rows == 24, n_rows == 24)


def test_a_table_without_features_or_learnable_labels_is_an_error(tmp_path, capsys):
    status, text = audit(capsys, CASES / "nofeat.csv", "--id", "id")
    assert status == 1 and "leave out fewer columns (--ignore, --id)" in text
    path = tmp_path / "t.csv"
    path.write_text("x,label_a\n" + "".join(f"{(7 * i) % 31},{i // 39}\n" for i in range(40)))
    status, text = audit(capsys, path)
    assert status == 1 and "no label has two positives and two negatives" in text
