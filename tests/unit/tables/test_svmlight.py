"""svmlight files and those of the Extreme Classification Repository are read correctly."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from fairfold.datasets import prepare
from fairfold.datasets.catalog import load_catalog
from fairfold.errors import ConfigError, DataError
from fairfold.tables.svmlight import format_of, read_svmlight

PLAIN = "1,3 5:0.2 7:1\n 5:1 # no label\n\n3 1:2\n"
COUNTED = "3 8 4\n1,3 4:0.2 6:1\n 4:1\n3 0:2\n"


@pytest.fixture
def own(tmp_path):
    def own(content, **keys):
        path = tmp_path / "mine.data"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        stanza = {"path": str(path), "format": "csv", "labels": {"prefix": "label_"}, **keys}
        return load_catalog().with_own({"mine": stanza})["mine"]

    return own


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mine.svm", content)
    return stream.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zipped])
@pytest.mark.parametrize("kind", ["csv", "svmlight"])
def test_indices_and_labels_of_the_file_are_names(own, pack, kind):
    data = prepare(own(pack(PLAIN.encode()), format=kind))
    assert data.feature_names == tuple(f"feature_{index}" for index in range(1, 8))
    assert data.label_names == ("label_1", "label_3")
    assert data.X.toarray().tolist() == [[0, 0, 0, 0, 0.2, 0, 1], [0, 0, 0, 0, 1, 0, 0], [2, 0, 0, 0, 0, 0, 0]]
    assert data.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]


def test_counts_in_the_first_line(own):
    data = prepare(own(COUNTED))
    assert data.feature_names == tuple(f"feature_{index}" for index in range(8))
    assert data.X.toarray()[:, [0, 4, 6, 7]].tolist() == [[0, 0.2, 1, 0], [0, 1, 0, 0], [2, 0, 0, 0]]
    assert data.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize("zero_based", [False, True])
def test_files_of_scikit_learn(own, zero_based):
    rng = np.random.default_rng(0)
    X = sparse.random_array((40, 9), density=0.3, rng=0, format="lil")
    X[0, 0], X[0, 8] = 0.1 + 0.2, 1
    X = sparse.csr_array(X)
    Y = sparse.csr_array((rng.random((40, 4)) < 0.4).astype(int))
    stream = io.BytesIO()
    dump_svmlight_file(X, Y, stream, zero_based=zero_based, multilabel=True, comment="made by hand")
    data = prepare(own(stream.getvalue()))
    np.testing.assert_allclose(data.X.toarray(), X.toarray(), rtol=1e-15)  # scikit-learn writes 16 digits
    np.testing.assert_array_equal(data.Y.toarray(), Y.toarray())
    assert data.feature_names[0] == f"feature_{1 - zero_based}"


def test_labels_that_are_not_chosen_are_no_features(own):
    data = prepare(own(PLAIN, labels={"columns": ["label_3"]}))
    assert data.label_names == ("label_3",) and not [name for name in data.feature_names if "label" in name]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("+1 5:0.2\n-1 5:1\n", "data row 2: found label -1, expected numbers of the labels"),
        ("1 5:0.2\n0.5 5:1\n", "data row 2: found label 0.5, expected numbers"),
        ("1 5:0.2 7:x\n2 5:1\n", "cannot be read as svmlight: could not convert string to float"),
        ("1 5:0.2\n2 7:1 5:1\n", "cannot be read as svmlight: Feature indices .* should be sorted"),
        ("1 5:0.2\n\n2 7:nan\n", "data row 2: found a value that is not finite"),
        (COUNTED.replace("3 8 4", "4 8 4"), "line 1: it declares 4 samples, found 3 lines"),
        (COUNTED.replace("3 8 4", "3 8 3"), "line 1: it declares 3 labels, found label 3"),
        (COUNTED.replace("3 8 4", "3 6 4"), "n_features was set to 6, but input file contains 7"),
        (" 5:0.2\n 7:1\n", "no column name starts with 'label_'"),
    ],
)
def test_what_is_wrong_is_one_sentence(own, content, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        prepare(own(content))
    assert "mine" in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("keys", [{"id": "a"}, {"ignore": ["feature_1"]}, {"groups": "a"}, {"labels": {"last": 2}}])
def test_keys_that_need_columns_are_refused(own, keys):
    with pytest.raises(ConfigError, match=r"is an svmlight file\. Locate its labels with"):
        prepare(own(PLAIN, **keys))
    if "labels" not in keys:
        with pytest.raises(ConfigError, match=r"(id and ignore are|groups is) for csv and arff"):
            own(PLAIN, format="svmlight", **keys)


def test_without_labels(tmp_path):
    (tmp_path / "new.svm").write_text("+1 1:2\n-1 2:3\n")
    table = read_svmlight(tmp_path / "new.svm", with_labels=False)
    assert table.columns == ("feature_1", "feature_2") and table.values.toarray().tolist() == [[2, 0], [0, 3]]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PLAIN, "svmlight"),
        (COUNTED, "svmlight"),
        ("# made by hand\n1 qid:3 1:2 # a note\n", "svmlight"),
        ("1,2 " + " ".join(f"{index}:1" for index in range(30_000)), "svmlight"),
        ("@relation r\n", "arff"),
        ("% note\n@RELATION\tr\n", "arff"),
        ("\ufeff@relation r\n", "arff"),
        ("x,label_a\n1,0\n", "csv"),
        ("1,2\n3,4\n", "csv"),
        ("1 2 3\n4 5 6\n", "csv"),
        ("time\n10:30\n11:45\n", "csv"),
        ("a 1:2\n", "csv"),
        ("", "csv"),
    ],
)
def test_the_content_shows_the_format(tmp_path, content, kind):
    path = tmp_path / "mine"
    for encoding in ("utf-8", "utf-16") if content[:1] == "@" else ("utf-8",):
        for pack in (bytes, gzip.compress, bz2.compress, lzma.compress, zipped):
            path.write_bytes(pack(content.encode(encoding)))
            assert format_of(path) == kind
    assert format_of(tmp_path / "gone") == "csv"
