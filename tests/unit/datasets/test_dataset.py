import dataclasses
import hashlib

import numpy as np
import pytest
from readers import read_arff
from scipy import sparse

from fairfold.core.folds import parts_of
from fairfold.datasets import Dataset, load_catalog, prepare
from fairfold.datasets.catalog import DataFile, Entry
from fairfold.errors import ConfigError, DataError

CSV = """\
height,label_a,width,label_b
1.5,1,2,0
2.5,0,3,0
3.5,1,4,1
"""


@pytest.fixture
def entry(tmp_path):
    """Return the entry of a file with the given text."""

    def make(text=CSV, name="toy.csv", **changes):
        path = tmp_path / name
        path.write_text(text)
        fields = {"id": "toy", "title": "Toy", "task": "multilabel", "format": "csv", "labels": {"prefix": "label_"}}
        return Entry(**{**fields, "path": path, **changes})

    return make


def test_labels_are_parted_from_features(entry):
    data = prepare(entry())
    assert data.feature_names == ("height", "width")
    assert data.label_names == ("label_a", "label_b")
    np.testing.assert_array_equal(data.X, [[1.5, 2], [2.5, 3], [3.5, 4]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 0], [1, 1]])
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int8)
    assert data.shape == (3, 2, 2)
    assert data.label_density == 0.5
    assert data.label_cardinality == 1.0  # three positives in three samples


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"columns": ["width", "label_b"]}, ("width", "label_b")),
        ({"last": 1}, ("label_b",)),
        ({"prefix": "label_b"}, ("label_b",)),
    ],
)
def test_ways_of_finding_labels(entry, labels, expected):
    text = CSV.replace("2,0", "0,0").replace("3,0", "1,0").replace("4,1", "0,1")
    assert prepare(entry(text, labels=labels)).label_names == expected


def test_arff_with_label_list(entry, tmp_path):
    (tmp_path / "toy.xml").write_text('<labels><label name="y1"/><label name="y0"/></labels>')
    text = "@relation r\n@attribute y0 {0,1}\n@attribute x numeric\n@attribute y1 {0,1}\n@data\n{0 1,1 2.5}\n{2 1}\n"
    data = prepare(entry(text, "toy.arff", format="arff", labels={"xml": str(tmp_path / "toy.xml")}))
    assert data.label_names == ("y0", "y1")
    assert sparse.issparse(data.X) and sparse.issparse(data.Y)
    np.testing.assert_array_equal(data.X.toarray(), [[2.5], [0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1]])


def test_parts_are_stacked_in_order(tmp_path):
    parts = {}
    for name, value in (("train.arff", 1), ("test.arff", 2)):
        parts[name] = f"@relation r\n@attribute x numeric\n@attribute y {{0,1}}\n@data\n{value},1\n".encode()
    folder = tmp_path / "toy"
    folder.mkdir()
    for name, content in parts.items():
        (folder / name).write_bytes(content)
    files = tuple(DataFile(name, sha256=hashlib.sha256(content).hexdigest()) for name, content in parts.items())
    entry = Entry(id="toy", title="Toy", task="multilabel", format="arff", files=files, labels={"last": 1})
    np.testing.assert_array_equal(prepare(entry, mirrors=[tmp_path]).X, [[1], [2]])


def test_classes_are_coded_in_natural_order(entry):
    text = "x,class\n1,10\n2,2\n3,10\n4,1\n"
    data = prepare(entry(text, task="multiclass", labels={"column": "class"}))
    assert data.label_names == ("1", "2", "10")
    np.testing.assert_array_equal(data.Y, [2, 1, 2, 0])
    named = prepare(entry("x,class\n1,b\n2,a\n", task="binary", labels={"column": -1}))
    assert named.label_names == ("a", "b")
    np.testing.assert_array_equal(named.Y, [1, 0])


def test_label_filter(entry):
    data = prepare(entry(label_filter={"min_positives": 2}))
    assert data.label_names == ("label_a",)
    assert data.Y.shape == (3, 1)
    assert prepare(entry(label_filter={"min_negatives": 2})).label_names == ("label_b",)


@pytest.mark.parametrize(
    ("text", "changes", "sentence"),
    [
        (CSV, {"label_filter": {"min_positives": 3}}, "leaves no label. The most frequent has 2 positives among 3"),
        (
            CSV.replace("2,0", "2,7"),
            {},
            r'toy\.csv, data row 1, column "label_b": expected 0, 1 or an empty cell, found "7"',
        ),
        (CSV, {"labels": {"prefix": "tag_"}}, "no column name starts with 'tag_'"),
        (CSV, {"labels": {"columns": ["label_c"]}}, "no column for label 'label_c'"),
        (CSV, {"labels": {"last": 4}}, "labels.last is 4, but there are 4 columns"),
        (CSV, {"expected": {"n_samples": 4}}, "n_samples is 3, but the catalog expects 4"),
        (CSV, {"expected": {"label_density": 0.4}}, r"label density is 0\.5000, expected 0\.4"),
        (CSV, {"expected": {"label_density": 0.6}}, r"label density is 0\.5000, expected 0\.6"),
    ],
)
def test_files_that_do_not_hold_what_the_entry_states(entry, text, changes, sentence):
    with pytest.raises(DataError, match=sentence):
        prepare(entry(text, **changes))


def test_wrong_label_in_a_sparse_file_is_located(entry):
    text = "@relation r\n@attribute x numeric\n@attribute y numeric\n@data\n{0 1}\n{1 2}\n"
    with pytest.raises(DataError, match='data row 2, column "y": expected 0, 1 or an empty cell, found "2"'):
        prepare(entry(text, "toy.arff", format="arff", labels={"last": 1}))


def test_one_class_per_sample_is_no_multilabel_task(entry):
    with pytest.raises(ConfigError, match="Set task to multiclass or binary"):
        prepare(entry(labels={"column": "label_a"}))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_saved_datasets_come_back(entry, tmp_path, convert):
    data = prepare(entry())
    data = dataclasses.replace(data, X=convert(data.X), Y=convert(data.Y), label_names=("é", "b"))
    data.save(tmp_path / "one.npz")
    data.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    back = Dataset.load(tmp_path / "one.npz")
    assert (back.id, back.task) == ("toy", "multilabel")
    assert (back.feature_names, back.label_names) == (("height", "width"), ("é", "b"))
    for matrix, saved in ((back.X, data.X), (back.Y, data.Y)):
        assert type(matrix) is type(saved)
        assert matrix.dtype == saved.dtype
        assert (matrix != saved).sum() == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"no archive"])
def test_damaged_dataset_files(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(DataError, match="a dataset written by fairfold"):
        Dataset.load(tmp_path / "x.npz")


def test_archives_with_objects_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", id=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="a dataset"):
        Dataset.load(tmp_path / "x.npz")


GENERATED = [
    entry for entry in load_catalog().values() if entry.format == "generated" and "Stand-in" not in entry.title
]
EMBEDDED = [entry.id for entry in GENERATED if entry.generator["function"] != "expression_like"]


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_datasets_need_no_file(name, tmp_path):
    data = prepare(name, mirrors=[], cache=tmp_path / "none", offline=True)
    assert data.shape[0] > 100
    assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", [name for name, entry in load_catalog().items() if entry.files])
def test_real_files_have_the_expected_shape(name, mirror, tmp_path):
    entry = load_catalog()[name]
    missing = [file.name for file in entry.files if not (mirror / (entry.folder or name) / file.name).exists()]
    if missing:
        pytest.skip(f"the mirror has no {name}/{missing[0]}")
    data = prepare(name, mirrors=[mirror], cache=tmp_path, offline=True)  # checks against `expected`
    assert data.id == name
    assert entry.expected or name == "wiki10_31k"


FOUR = CSV + "4.5,0,5,1\n"


def test_the_published_split_is_kept_and_used_as_folds_where_asked_for(entry, tmp_path):
    data = prepare(entry(FOUR, split={"n_train": 3, "source": "somewhere"}))
    assert data.fold_of is None and data.published_split.tolist() == [-1, -1, -1, 0]
    assert [part.tolist() for part in parts_of(data.published_split, 4)[0]] == [[0, 1, 2], [3]]
    data.save(tmp_path / "toy.npz")
    assert Dataset.load(tmp_path / "toy.npz").published_split.tolist() == [-1, -1, -1, 0]
    tested = prepare(entry(FOUR, split={"n_train": 3, "source": "somewhere"}, tests_split=True))
    assert tested.fold_of.tolist() == [-1, -1, -1, 0] and prepare(entry(FOUR)).published_split is None


def test_a_split_without_a_test_part(entry):
    with pytest.raises(DataError, match=r"dataset toy: split\.n_train is 4, but there are 4 samples"):
        prepare(entry(FOUR, split={"n_train": 4, "source": "somewhere"}))


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ({"n_samples": 4, "n_features": 2, "n_labels": 2, "label_cardinality": 1.0}, None),
        ({"n_samples": 5}, "n_samples of the file is 4, but 5 is published"),
        ({"n_features": 3}, "n_features of the file is 2, but 3 is published"),
        ({"n_labels": 1}, "n_labels of the file is 2, but 1 is published"),  # the filter drops one
        ({"label_cardinality": 1.01}, r"label_cardinality of the file is 1\.0, but 1\.01 is published \(a paper\)"),
    ],
)
def test_what_was_read_has_the_published_numbers(entry, numbers, sentence):
    kept = entry(
        FOUR.replace("2.5,0,3,0", "2.5,0,3,1").replace("1.5,1", "1.5,0"),
        label_filter={"min_positives": 2},
        published=numbers and {**numbers, "source": "a paper"},
    )
    if sentence is None:
        assert prepare(kept).label_names == ("label_b",)
        return
    with pytest.raises(DataError, match=sentence):
        prepare(kept)


def test_columns_of_text_are_published_as_columns(entry):
    text = "color,label_a\nred,1\nblue,0\ngreen,1\n"
    data = prepare(entry(text, categorical="one-hot", published={"n_features": 1, "source": "a paper"}))
    assert data.shape == (3, 3, 1)


@pytest.mark.parametrize("name", ["corel16k001", "foodtruck", "CAL500"])
def test_labels_that_the_filter_leaves_out_can_be_had(name, mirror, tmp_path):
    catalog = load_catalog().with_variants({"whole": {"of": name, "label_filter": {"min_positives": 1}}})
    data = prepare("whole", catalog=catalog, mirrors=[mirror], cache=tmp_path, offline=True)
    assert data.id == "whole" and data.shape[2] == catalog[name].published["n_labels"]


@pytest.mark.parametrize("name", [name for name, entry in load_catalog().items() if entry.split])
def test_published_splits_of_real_files(name, mirror, tmp_path):
    catalog = load_catalog().with_variants({"split": {"of": name, "folds": "published"}})
    data = prepare("split", catalog=catalog, mirrors=[mirror], cache=tmp_path, offline=True)
    train, test = parts_of(data.fold_of, data.shape[0])[0]
    assert len(train) == catalog[name].split["n_train"] and train.max() < test.min()
    parts = [file.name for file in catalog[name].files if file.name.endswith("-train.arff")]
    if parts:  # the training part is a separate file
        assert len(train) == len(read_arff(mirror / name / parts[0]).values)


def test_sizes_of_generated_data_are_parameters_of_the_configuration():
    parameters = {"n_samples": 300, "n_labels": 40, "n_features": 7, "random_state": 3}
    catalog = load_catalog().with_variants({"x": {"of": "gene-ontology-large", "parameters": parameters}})
    data = prepare("x", catalog=catalog)
    assert data.shape == (300, 7, 40) and data.X.dtype == np.float64 and data.hierarchy.n_labels == 40
    assert data.hierarchy.first_violation(data.Y) is None
