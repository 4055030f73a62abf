"""Hierarchies read from files and datasets that have a hierarchy."""

import dataclasses

import pytest

from fairfold.datasets import Dataset, load_catalog, prepare
from fairfold.datasets.hierarchies import read_hierarchy
from fairfold.errors import ConfigError, DataError

OBO = """format-version: 1.2
ontology: toy

[Term]
id: T:0
name: root

[Term]
id: T:1
name: middle ! not a comment
alt_id: T:9
is_a: T:0 ! root

[Term]
id: T:2
name: leaf
is_a: T:1 {source="x"} ! middle
relationship: part_of T:3 ! other
relationship: regulates T:4

[Term]
id: T:3
name: other
is_a: T:0

[Term]
id: T:4
name: far
is_a: T:0

[Term]
id: T:8
name: old
is_obsolete: true
replaced_by: T:2

[Typedef]
id: part_of
name: part of
"""
EDGES = "child;parent\nT:1;T:0\nT:2;T:1\nT:2;T:3\nT:3;T:0\nT:4;T:0\nT:0;\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="terms"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize("text", [OBO, EDGES, EDGES.partition("\n")[2], EDGES.replace(";", "\t")])
def test_both_formats_state_the_same(file, text):
    hierarchy = read_hierarchy(file(text), ["T:0", "T:1", "T:2", "T:3", "T:4"])
    assert hierarchy.edges.tolist() == [[1, 0], [2, 1], [2, 3], [3, 0], [4, 0]]


def test_terms_between_labels_join_them_and_labels_may_be_names(file):
    assert read_hierarchy(file(OBO), ["go_leaf", "go_T:0"], prefixes=["go_"]).edges.tolist() == [[0, 1]]
    assert read_hierarchy(file(OBO), ["leaf", "T:9", "far"]).edges.tolist() == [[0, 1]]


def test_the_name_of_a_label_is_not_its_prefix(file):
    with pytest.raises(DataError, match="unknown term 'go_leaf'"):
        read_hierarchy(file(OBO), ["go_leaf"], prefixes=["go_leaf"])


def test_relations_are_is_a_and_part_of(file):
    labels = ["T:2", "T:1", "T:3", "T:4"]
    assert read_hierarchy(file(OBO), labels).edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("text", "labels", "sentence"),
    [
        (EDGES + "T:0;T:2\n", ["T:0"], "terms form a cycle"),
        (EDGES + "T:4;T:4\n", ["T:0"], "line 8: 'T:4' is its own parent"),
        ("a,b\nb,c\nc,d,e\n", ["a"], r"line 3: found 3 cells \(c, d, e\)\. Write a label and its parent"),
        (EDGES, ["T:7"], "label 'T:7' is not one of its 5 terms"),
        (OBO, ["old"], "label 'old' is not one of its"),
        (OBO, ["T:8"], "label 'T:8' is an obsolete term .replaced by 'T:2'."),
        (OBO, ["T:9", "T:1"], "labels 'T:9' and 'T:1' are both the term 'T:1'"),
        (
            OBO.replace("is_a: T:0\n\n[Term]\nid: T:8", "is_a: T:7\n\n[Term]\nid: T:8"),
            ["T:0"],
            "parent 'T:7', which is not",
        ),
        (OBO.replace("part_of T:3", "part_of T:8"), ["T:0"], "line 18: 'T:2' has the parent 'T:8', which is obsolete"),
        (OBO.replace("id: T:4\n", "id: T:3\n"), ["T:0"], "term 'T:3' occurs twice"),
        (OBO.replace("id: T:4\n", ""), ["T:0"], "the term has no id"),
    ],
)
def test_files_and_labels_that_do_not_fit_are_refused_in_one_sentence(file, text, labels, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        read_hierarchy(file(text), labels)
    assert "\n" not in str(caught.value)


ROWS = "x,T:2,T:0,T:3\n0.1,1,1,1\n0.2,0,1,0\n0.3,0,0,0\n"


@pytest.fixture
def own(file):
    def make(rows=ROWS, **labels):
        labels = {"prefix": "T:", "hierarchy": str(file(OBO)), **labels}
        stanza = {"path": str(file(rows, "rows.csv")), "format": "csv"}
        stanza["labels"] = {key: value for key, value in labels.items() if value is not None}
        return load_catalog().with_own({"own": stanza})["own"]

    return make


def test_a_dataset_keeps_its_hierarchy_on_disk(own, tmp_path):
    entry = own()
    assert entry.own_files[1].name == "terms" and entry.hierarchical
    data = prepare(entry)
    data.save(tmp_path / "data.npz")
    loaded = Dataset.load(tmp_path / "data.npz")
    assert loaded.hierarchy.edges.tolist() == data.hierarchy.edges.tolist()
    assert data.hierarchy.edges.tolist() == [[0, 2], [2, 1]]


def test_labels_that_break_the_rule_are_refused_or_completed(own):
    rows = ROWS.replace("0.1,1,1,1", "0.1,1,1,0").replace("0.3,0,0,0", "0.3,1,,0")
    with pytest.raises(
        DataError, match=r"data row 1 has label 'T:2', but not 'T:3', .*above.*implied labels that are missing: 3"
    ):
        prepare(own(rows))
    assert prepare(own(rows, propagate=True)).Y.tolist() == [[1, 1, 1], [0, 1, 0], [1, 1, 1]]


def test_labels_that_the_filter_drops_still_join_others(own):
    data = prepare(
        dataclasses.replace(own(ROWS + "0.4,1,1,1\n"), label_filter={"min_negatives": 1, "min_positives": 2})
    )
    assert data.label_names == ("T:2", "T:0", "T:3")
    few = prepare(dataclasses.replace(own(ROWS.replace("0.1,1,1,1", "0.1,1,1,1")), label_filter={"min_positives": 2}))
    assert few.label_names == ("T:0",) and few.hierarchy.edges.size == 0


def test_a_file_that_is_not_there_is_refused(own):
    with pytest.raises(ConfigError, match=r"there is no file nowhere\.obo"):
        own(hierarchy="nowhere.obo")


def test_namespaces_are_those_of_the_terms_or_of_the_header(file, own, tmp_path):
    text = "default-namespace: process\n" + OBO.replace("name: leaf\n", "name: leaf\nnamespace: function\n")
    labels = ["T:0", "T:2", "T:3"]
    assert read_hierarchy(file(text), labels).namespaces == ("process", "function", "process")
    assert read_hierarchy(file(text), ["T:0", "T:3"]).namespaces == ()  # a single namespace is not listed
    assert read_hierarchy(file(OBO), labels).namespaces == () == read_hierarchy(file(EDGES), labels).namespaces
    data = prepare(own(hierarchy=str(file(text, "named.obo"))))
    assert data.hierarchy.namespaces == ("function", "process", "process")
    data.save(tmp_path / "data.npz")
    assert Dataset.load(tmp_path / "data.npz").hierarchy.namespaces == data.hierarchy.namespaces
    assert data.hierarchy.of([2, 0]).namespaces == ("process", "function")
