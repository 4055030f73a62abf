"""Which columns are labels, and how their numbers become 0 and 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfold.core.arrays import to_dense
from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError
from fairfold.tables.table import label_columns

CASES = Path(__file__).parents[2] / "cases"
HEADER = ["x", "T1", "T10", "NR-a", "NR-b", "SR-c", "label_", "label_a"]


def read(path, *names, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"names": [*names], **keys.pop("labels", {})}, **keys}
    return prepare(load_catalog().with_own({"own": stanza})["own"])


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["T1"], ["T1"]),
        (["T"], ["T1", "T10"]),
        (["T1*"], ["T1", "T10"]),
        (["NR-", "SR-"], ["NR-a", "NR-b", "SR-c"]),
        (["SR-", "x", "NR-b"], ["x", "NR-b", "SR-c"]),
        (["label_*"], ["label_", "label_a"]),
        (["label[_]"], ["label_"]),
        (["label_a", "label"], ["label_", "label_a"]),
    ],
)
def test_an_exact_name_is_a_column_and_any_other_text_a_prefix_or_pattern(names, labels):
    assert label_columns(names, HEADER, "t.csv") == labels


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["T1", "T1"], "'T1' is given twice"),
        (["label_"], r"Write 'label_\*' for all of them, or 'label\[_\]' for this column only"),
        (["label_"], r"is a column and the start of 1 other name \(label_a\)"),
        (["y"], "no column name is or starts with 'y'"),
    ],
)
def test_names_with_two_readings_or_none_are_refused(names, sentence):
    with pytest.raises(DataError, match=sentence):
        label_columns(names, HEADER, "t.csv")


def test_prefixes_of_real_headers():
    assert read(CASES / "prefix-number.csv", "T1").label_names == ("T1",)
    data = read(CASES / "two-prefixes.csv", "NR-", "SR-")
    assert data.label_names == ("NR-a", "NR-b", "SR-c", "SR-d")
    assert data.feature_names == ("height", "width", "mass")


def test_counts_are_presence(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("x,label_a,label_b\n1,3,0\n2,0,\n3,0.5,1\n")
    data = read(path, "label_", labels={"presence": True})
    assert np.array_equal(data.Y, [[1, 0], [0, np.nan], [1, 1]], equal_nan=True)
    with pytest.raises(DataError, match=r'column "label_a": expected 0, 1 or an empty cell, found "3"'):
        read(path, "label_")
    path.write_text("x,label_a\n1,3\n2,-1\n")
    with pytest.raises(DataError, match='data row 2, column "label_a": found -1'):
        read(path, "label_", labels={"presence": True})


def test_sparse_counts_are_presence(tmp_path):
    rows = ["@relation r", "@attribute x numeric", "@attribute a numeric", "@attribute b numeric", "@data"]
    (tmp_path / "t.arff").write_text("\n".join([*rows, "{0 1, 1 4}", "{2 1}", "{0 3}"]))
    data = read(tmp_path / "t.arff", "a", "b", labels={"presence": True}, format="arff")
    assert to_dense(data.Y, "Y", DataError).tolist() == [[1, 0], [0, 1], [0, 0]]
