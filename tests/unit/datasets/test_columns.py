"""Every column is listed: features, labels, the identifier, ignored columns and columns that the label filter drops."""

import logging

import numpy as np
import pytest

from fairfold.datasets import Dataset, load_catalog, prepare
from fairfold.datasets.catalog import Entry
from fairfold.datasets.columns import account_for_columns, account_line, shortened
from fairfold.errors import ConfigError, DataError
from fairfold.tables.table import ignored_columns

CSV = """\
sample_id,height,meta_site,label_a,width,meta_note,label_b
s1,1.5,Ghent,1,2,,0
s2,2.5,"Leuven, B",0,3,NA,0
s3,3.5,,1,4,x,1
"""
ARFF = """\
@relation r
@attribute sample_id string
@attribute height numeric
@attribute meta_site {Ghent,Leuven}
@attribute label_a {0,1}
@attribute width numeric
@attribute meta_note string
@attribute label_b {0,1}
@data
"""
DENSE = ARFF + "s1,1.5,Ghent,1,2,?,0\n's 2',2.5,Leuven,0,3,'a, b',0\ns3,3.5,?,1,4,x,1\n"
SPARSE = ARFF + "{0 s1,1 1.5,3 1,4 2}\n{0 's, 2',1 2.5,2 Leuven,4 3,5 'a, b'}\n{0 s3,1 3.5,3 1,4 4,6 1}\n"


@pytest.fixture
def own(tmp_path):
    """Return the entry of a user's file with the given text, as from a ``data.own`` stanza."""

    def make(text=CSV, format="csv", **changes):
        path = tmp_path / f"toy.{format}"
        path.write_text(text)
        stanza = {"path": str(path), "format": format, "labels": {"prefix": "label_"}}
        stanza |= {"id": "sample_id", "ignore": ["meta_*"], **changes}
        return Entry.from_own("toy", {key: value for key, value in stanza.items() if value is not None})

    return make


@pytest.mark.parametrize(
    ("format", "text", "second"), [("csv", CSV, "s2"), ("arff", DENSE, "s 2"), ("arff", SPARSE, "s, 2")]
)
def test_text_in_ignored_and_id_columns_does_no_harm(own, format, text, second):
    data = prepare(own(text, format))
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    Y = data.Y if isinstance(data.Y, np.ndarray) else data.Y.toarray()
    np.testing.assert_array_equal(X, [[1.5, 2], [2.5, 3], [3.5, 4]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 0], [1, 1]])
    assert data.feature_names == ("height", "width")
    assert data.label_names == ("label_a", "label_b")
    assert data.sample_ids.tolist() == ["s1", second, "s3"]
    assert data.left_out == {"id": ("sample_id",), "ignored": ("meta_site", "meta_note")}


def test_one_line_shows_every_kind(own, caplog):
    with caplog.at_level(logging.INFO):
        prepare(own(label_filter={"min_positives": 2}))
    assert "toy: 2 features, 1 label, id: sample_id, ignored: meta_site, meta_note, " in caplog.text
    assert "labels dropped by label_filter: label_b" in caplog.text


def test_table_of_columns(own):
    table = account_for_columns(prepare(own(label_filter={"min_positives": 2})))
    assert table.to_numpy().tolist() == [
        ["toy", "features", 2, "height, width"],
        ["toy", "labels", 1, "label_a"],
        ["toy", "id", 1, "sample_id"],
        ["toy", "ignored", 2, "meta_site, meta_note"],
        ["toy", "labels dropped by label_filter", 1, "label_b"],
    ]
    assert table["n_columns"].sum() == len(CSV.split("\n")[0].split(","))


def test_classes_stand_in_place_of_labels(own):
    entry = own("x,kind,note\n1,b,c\n2,a,\n", task="binary", labels={"column": "kind"}, id=None, ignore=["note"])
    assert account_line(prepare(entry)) == "1 feature, 2 classes, ignored: note"


def test_left_out_columns_and_ids_are_saved(own, tmp_path):
    data = prepare(own())
    data.save(tmp_path / "toy.npz")
    back = Dataset.load(tmp_path / "toy.npz")
    assert back.left_out == data.left_out
    assert back.sample_ids.tolist() == ["s1", "s2", "s3"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"ignore": ["meta_sight"]}, r"ignore: unknown column 'meta_sight': did you mean 'meta_site'"),
        ({"ignore": ["mata_*"]}, r"no column matches the pattern 'mata_\*'. Correct or remove it"),
        ({"id": "sampleid"}, "unknown column 'sampleid': did you mean 'sample_id'"),
        (
            {"ignore": ["meta_*", "label_b"]},
            r"column 'label_b' cannot be both a label \(labels\) and left out \(ignore\)",
        ),
        ({"ignore": ["*_id", "meta_*"]}, r"'sample_id' cannot be both the identifier \(id\) and left out \(ignore\)"),
        (
            {"labels": {"columns": ["label_a", "sample_id"]}},
            r"'sample_id' cannot be both a label \(labels\) and the iden",
        ),
        ({"labels": {"last": 2}}, r"'meta_note' cannot be both a label \(labels\) and left out \(ignore\)"),
    ],
)
@pytest.mark.parametrize(("format", "text"), [("csv", CSV), ("arff", DENSE)])
def test_mistaken_roles(own, format, text, changes, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        prepare(own(text, format, **changes))
    assert "toy." in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_column_with_the_class_is_a_label(own):
    text = "a,kind\n1,b\n2,c\n"
    for changes in ({"ignore": ["k*"], "id": None}, {"id": "kind", "ignore": None}):
        with pytest.raises(DataError, match=r"'kind' cannot be both a label \(labels\) and"):
            prepare(own(text, task="binary", labels={"column": -1}, **changes))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("s3", "s1", r"the id 's1' in column 'sample_id' is given twice, in data rows 1 and 3 \(1 ids are repeated\)"),
        ("s3", "", r"data row 3 \(line 4\), column 'sample_id': found '', but this column needs a value"),
    ],
)
def test_identifiers_are_there_and_differ(own, old, new, sentence):
    with pytest.raises(DataError, match=sentence):
        prepare(own(CSV.replace(old, new)))


def test_a_name_with_a_bracket_is_a_name(own):
    assert ignored_columns(["x[1]"], ["x[1]", "x1"], "f") == ["x[1]"]
    assert ignored_columns(["x[12]", "X*"], ["x1", "y", "x2", "X3"], "f") == ["x1", "x2", "X3"]


def test_other_formats_have_no_such_columns(tmp_path):
    (tmp_path / "y.npz").write_bytes(b"")
    stanza = {"path": str(tmp_path / "y.npz"), "format": "npz", "labels": {"everything": True}, "ignore": ["a"]}
    with pytest.raises(ConfigError, match="id and ignore are for csv and arff, not for npz"):
        load_catalog().with_own({"mine": stanza})


def test_changed_columns_change_the_fingerprint(own):
    stanzas = [{}, {"ignore": ["meta_site"]}, {"ignore": None}, {"id": None}]
    assert len({own(**stanza).fingerprint for stanza in stanzas}) == len(stanzas)


def test_many_names_are_shortened():
    assert shortened(["a", "b", "c"], 3) == "a, b, c"
    assert shortened([*"abcde"], 3) == "a, b, c and 2 more"
