"""Lists of labels in one cell, hierarchical classes of CLUS, and other parts of ARFF files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError
from fairfold.final.model import fit_final
from fairfold.final.prediction import predict_file
from fairfold.tables.label_lists import label_lists, label_paths

CASES = Path(__file__).parents[2] / "cases"


def read(path, *names, **keys):
    stanza = {"path": str(path), "format": "csv", "labels": {"names": [*names]}, **keys}
    return prepare(load_catalog().with_own({"own": stanza})["own"])


def arff(path, *lines):
    path.write_text("\n".join(["@relation r", *lines]))
    return path


AB = [[1, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize(
    "cells",
    [
        ["a;b", "", "b"],
        ["b ; a; a;", " ", "b;"],
        ["a|b", "none", "b"],
        ["a, b", "-", "b"],
        ["['a', 'b']", "[]", "['b']"],
        ['["b", "a"]', "", '["b"]'],
        ["['a' 'b']", "[]", "['b']"],  # an array of NumPy as text
        ["{'a', 'b'}", "", "('b',)"],
        ["[a, b]", "[]", "b"],
    ],
)
def test_lists_of_any_notation_are_labels(cells):
    names, Y = label_lists(cells, "tags", "t.csv")
    assert names == ["a", "b"] and Y.tolist() == AB


def test_items_keep_quotes_commas_and_letters():
    assert label_lists(["[\"it's\", 'a, b']", r"['\'q\'']"], "tags", "t.csv")[0] == ["'q'", "a, b", "it's"]
    assert label_lists([r'["ö"]', "['o\u0308', 'x']"], "tags", "t.csv")[0] == ["x", "ö"]


@pytest.mark.parametrize(
    "cells", [["a", "b"], ["0", "1", "1;0"], ["0,5", "1,5"], ["0", "1", "maybe;no", "0"], ["yes;no"]]
)
def test_other_columns_are_no_lists(cells):
    assert label_lists(cells, "tags", "t.csv") is None


def test_a_broken_list_is_refused_with_its_row():
    with pytest.raises(DataError, match=r"t\.csv, data row 2, column 'tags': found .* which is no list"):
        label_lists(["a;b", "['a', 'b]"], "tags", "t.csv")


def test_one_column_of_lists_becomes_several_labels(tmp_path):
    data, table = read(CASES / "tags.csv", "labels"), pd.read_csv(CASES / "tags.csv")
    assert data.label_names == ("cs.LG", "stat.ML") and data.feature_names == ("a", "b")
    expected = np.column_stack(
        [table["labels"].fillna("").str.contains(name, regex=False) for name in data.label_names]
    )
    np.testing.assert_array_equal(data.Y, expected)
    frame = pd.DataFrame({"a": [1.0, 2, 3], "tags": [["a", "b"], [], None], "label_c": [1, 0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet", "tags", "label_")
    assert data.label_names == ("tags=a", "tags=b", "label_c") and data.Y.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 1]]
    frame.drop(columns="label_c").assign(tags=["a;b", "", "b"]).to_csv(tmp_path / "t.csv", index=False)
    data = read(tmp_path / "t.csv", "tags", categorical="one-hot")
    assert data.label_names == ("tags=a", "b") and data.feature_names == ("a",)  # `a` is a feature.


CLUS = ("@attribute id key", "@attribute x numeric", "@attribute class hierarchical 01/02,01/03,05", "@data")


def test_classes_of_clus_are_labels_with_their_hierarchy(tmp_path):
    path = arff(tmp_path / "t.arff", *CLUS, "g1,0.5,01/02@05", "g2,1,01", "g3,?,05", "g4,2,?")
    data = read(path, "class", id="id")
    assert data.label_names == ("01", "01/02", "01/03", "05")
    expected = [[1, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1], [np.nan] * 4]
    assert np.array_equal(data.Y, expected, equal_nan=True)
    assert sorted(map(tuple, data.hierarchy.edges.tolist())) == [(1, 0), (2, 0)]
    filtered = read(path, "class", id="id", label_filter={"min_positives": 1})
    assert filtered.label_names == ("01", "01/02", "05") and filtered.hierarchy.edges.tolist() == [[1, 0]]
    with pytest.raises(DataError, match=r"is of type 'hierarchical .*labels: \{names: \[class\]\}"):
        read(path, "x", id="id")


def test_pairs_of_classes_form_a_graph():
    declared = ["root/A", "root/B", "A/C", "B/C", "C/D"]
    names, Y, hierarchy = label_paths(["C@A", "D", ""], declared, "class", "t.arff")
    assert names == ["A", "B", "C", "D"]
    assert np.array_equal(Y, [[1, 1, 1, 0], [1, 1, 1, 1], [np.nan] * 4], equal_nan=True)
    assert sorted(map(tuple, hierarchy.edges.tolist())) == [(2, 0), (2, 1), (3, 2)]
    with pytest.raises(DataError, match="data row 1, column 'class': found the class 'E'"):
        label_paths(["E"], declared, "class", "t.arff")


HEADER = ("@attribute x real [-5,5]", "@attribute c {A,'B c'}", "@attribute label_a {0,1}", "@data")


def test_weights_of_rows_are_sample_weights(tmp_path):
    dense = read(arff(tmp_path / "t.arff", *HEADER, "1,A,0,{2}", "2,'B c',1 , { 0.5 }", "3,A,1"), "label_a")
    sparse = read(
        arff(tmp_path / "s.arff", *HEADER, "{0 1}, {2}", "{0 2, 1 'B c', 2 1},{0.5}", "{0 3, 2 1}"), "label_a"
    )
    for data in (dense, sparse):
        assert data.weights.tolist() == [2, 0.5, 1]
    assert dense.X.tolist() == sparse.X.toarray().tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    with pytest.raises(DataError, match="line 6: found the weight '-1'"):
        read(arff(tmp_path / "t.arff", *HEADER, "1,A,0,{-1}"), "label_a")


def test_declared_values_need_no_decision_and_ranges_are_numbers(tmp_path):
    data = read(CASES / "nominal.arff", "label_")
    assert data.feature_names == ("a", "chip=A", "chip=B", "chip=C D") and data.label_names == ("label_x", "label_y")
    data = read(CASES / "range.arff", "label_")
    assert data.feature_names == ("a", "legs") and data.X[0].tolist() == [0.13, 5]
    path = arff(tmp_path / "t.arff", *HEADER, *["1,A,0", "2,'B c',1"] * 15)
    final = fit_final(read(path, "label_a"), "logistic", {}, seed=1)
    assert predict_file(final, path, tmp_path / "found.csv") == 30
