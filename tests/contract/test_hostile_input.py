"""Hostile input: for any content of a file or configuration, a reader returns a valid object or raises a StudyError."""

import contextlib
import copy
import datetime
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import rdata
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from readers import read_arff, read_csv
from scipy import sparse

from fairfold.core.config import load_yaml
from fairfold.datasets import Dataset, expression, formats, load_catalog, prepare
from fairfold.errors import ConfigError, StudyError
from fairfold.forests import load_model, make_model
from fairfold.planning.check import check_config

bounded = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

SERIES = '!Sample_title\t"a"\t"b"\n!Sample_geo_accession\t"G1"\t"G2"\n!series_matrix_table_begin\n'
SERIES += '"ID_REF"\t"G1"\t"G2"\n"p1"\t1.5\t2\n"p2"\t3\t4\n!series_matrix_table_end\n'
MATRIX = "Hybridization REF\tH1\tH2\nReporter REF\tv\tv\np1\t1\t2\np2\t3\t4\n"
SDRF = "Source Name\tHybridization Name\tCharacteristics [Sex]\na\tH1\tm\nb\tH2\tf\n"
STANZA = {
    "id": "toy",
    "title": "Toy",
    "task": "multilabel",
    "format": "csv",
    "labels": {"last": 1},
    "files": [{"name": "toy.csv", "urls": ["https://example.org/toy.csv"], "sha256": "0" * 64}],
    "citation": "none",
    "license": "none",
}
CONFIG = {
    "seed": 1,
    "data": {"own": {"toy": {"path": "toy.csv", "format": "csv", "labels": {"prefix": "y"}}}, "mirrors": ["a"]},
    "folds": {"n_splits": 3},
    "weak_labels": {"datasets": ["toy"], "missing_rates": [0, 50], "forest": {"threshold": 0.5, "n_trees": 3}},
    "win_percentage": {"kurtosis_multiple": 3.5},
    "cross_testing": {
        "experiments": {"one": {"figure": "fig4", "title": "t", "dataset": "d", "data_sizes": [20]}},
    },
}


def read_series(path):
    sheet = expression.read_series_samples(path)
    sheet.values("title")
    return expression.read_series_table(path, ["G1", "G2"])


def read_mage(path):
    """Read the file as the matrix, with an intact sample table."""
    table = path.with_name("whole.sdrf.txt")
    table.write_text(SDRF)
    expression.read_mage_samples(table, path).values("Characteristics [Sex]")
    return expression.read_mage_table(path, ["H1", "H2"])


def read_sample_table(path):
    matrix = path.with_name("whole.txt")
    matrix.write_text(MATRIX)
    return expression.read_mage_samples(path, matrix).only({"source name": "*"})


def read_config(path):
    document = load_yaml(path)
    check_config(document)
    return load_catalog().with_own({})


READERS = {
    "csv": read_csv,
    "arff": read_arff,
    "sparse-arff": read_arff,
    "xml": formats.read_label_names,
    "rdata": formats.read_rdata,
    "npz": formats.read_npz,
    "series-matrix": read_series,
    "mage-tab": read_mage,
    "sample-table": read_sample_table,
    "config": read_config,
    "catalog": load_catalog,
    "dataset": Dataset.load,
    "model": load_model,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the path of a valid file of each kind, uncompressed if compression would hide damage."""
    folder = tmp_path_factory.mktemp("whole")
    paths = {kind: folder / kind for kind in READERS}
    header = "@relation r\n@attribute x numeric\n@attribute 'y z' {0,1}\n@data\n"
    texts = {
        "csv": 'x,"y,z"\n1,2\n3,"4"\n',
        "arff": f"{header}1.5,1\n2,0\n",
        "sparse-arff": f"{header}{{0 1.5,1 1}}\n{{}}\n",
        "xml": "<?xml version='1.0'?><labels><label name='a'/><label name='b'/></labels>",
        "series-matrix": SERIES,
        "mage-tab": MATRIX,
        "sample-table": SDRF,
        "config": yaml.safe_dump(CONFIG),
        "catalog": yaml.safe_dump([STANZA]),
    }
    for kind, text in texts.items():
        paths[kind].write_text(text)
    features = {"x": np.eye(3), "y": np.array(["a", "b", "a"])}
    rdata.write_rda(paths["rdata"], features, compression=None)
    with paths["npz"].open("wb") as stream:
        sparse.save_npz(stream, sparse.eye_array(3).tocsr(), compressed=False)
    X = np.random.default_rng(0).random((40, 3))
    Y = (X[:, :2] > 0.5).astype(np.int8)
    Dataset("toy", "multilabel", X, sparse.csr_array(Y), tuple("abc"), tuple("de")).save(paths["dataset"])
    make_model("CaFE-SLC", n_trees=2, max_levels=1, random_state=0).fit(X, Y).save(paths["model"])
    for kind, read in READERS.items():
        assert read(paths[kind]) is not None
    return paths


def read_or_refuse(kind, path):
    """Return the result of the reader, or None if it raises a StudyError. Other exceptions fail the test."""
    load_catalog.__globals__["_load"].cache_clear()
    try:
        return READERS[kind](path)
    except StudyError as error:
        assert path.name in str(error) or kind == "config"
        return None


@st.composite
def damaged(draw, content):
    """Flip, remove, duplicate, move or randomize one to four pieces of the content."""
    for _ in range(draw(st.integers(1, 4))):
        start, length = draw(st.integers(0, len(content))), draw(st.integers(0, 40))
        before, piece, after = content[:start], content[start : start + length], content[start + length :]
        to = draw(st.integers(0, len(after)))
        content = draw(
            st.sampled_from(
                [
                    before + bytes(byte ^ (1 << (length % 8)) for byte in piece[:1]) + piece[1:] + after,
                    before,
                    before + after,
                    before + piece + piece + after,
                    before + after[:to] + piece + after[to:],
                    before + draw(st.binary(max_size=8)) + after,
                ]
            )
        )
    return content


@pytest.mark.parametrize("kind", READERS)
class TestDamagedFiles:
    @bounded
    @given(data=st.data())
    def test_damage(self, kind, whole, tmp_path, data):
        path = tmp_path / "damaged"
        path.write_bytes(data.draw(damaged(whole[kind].read_bytes())))
        read_or_refuse(kind, path)

    @bounded
    @given(content=st.binary(max_size=100))
    @example(b"\0" * 200)
    @example(b"\xff" * 200)
    def test_random_bytes(self, kind, tmp_path, content):
        path = tmp_path / "random"
        path.write_bytes(content)
        read_or_refuse(kind, path)

    def test_every_other_kind_of_file(self, kind, whole):
        for other in READERS:
            read_or_refuse(kind, whole[other])

    def test_no_file(self, kind, tmp_path):
        assert read_or_refuse(kind, tmp_path / "absent") is None
        assert read_or_refuse(kind, tmp_path) is None


NUMBERS = ["0", "1", "-2.5", "1e400", "nan", "inf", "1_0", "?", "", " ", "é", "\ufeff", "\0", "9" * 400]
TOKENS = {
    "csv": [*NUMBERS, ",", ",", "\n", "\n", "\r", '"', "x", "y"],
    "arff": [
        *NUMBERS,
        "@relation r\n",
        "@attribute x numeric\n",
        "@attribute y {0,1}\n",
        "@attribute 'z\\'",
        "@data\n",
        "{0 1}\n",
        "{",
        "}",
        ",",
        "\n",
        "%",
        "'",
        "\\",
        "0 1",
        "1 0",
        "-1 1",
        "99 1",
    ],
    "xml": [
        "<labels>",
        "</labels>",
        "<label name='a'>",
        "</label>",
        "<label/>",
        "&lt;",
        "&x;",
        "<!DOCTYPE labels [",
        "<!ENTITY x 'y'>",
        "]>",
        "<![CDATA[",
        "<?xml version='1.0' encoding='utf-7'?>",
        "\0",
        "a",
        "xmlns='b'",
    ],
    "series-matrix": [*NUMBERS, "\t", "\t", "\n", *SERIES.splitlines(keepends=True), '"', "key: value"],
    "mage-tab": [*NUMBERS, "\t", "\t", "\n", *MATRIX.splitlines(keepends=True), '"', "REF"],
    "sample-table": ["\t", "\t", "\n", *SDRF.splitlines(keepends=True), '"', "m", "Hybridization Name"],
    "config": [
        "seed: ",
        "data:",
        "folds: ",
        "weak_labels:",
        "\n",
        "  ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ": ",
        "&a ",
        "*a",
        "!!bool ",
        "!!int ",
        "!!timestamp ",
        "!!python/object/apply:os.getcwd []",
        "2001-13-45",
        ".nan",
        "1",
        "'",
        "<<: ",
        "? ",
        "|\n",
        "%YAML 1.1\n",
        "---\n",
        "\t",
        "[" * 2000,
    ],
}


@pytest.mark.parametrize("kind", TOKENS)
@bounded
@given(data=st.data())
def test_nonsense_in_the_right_words(kind, tmp_path, data):
    path = tmp_path / "nonsense"
    words = data.draw(st.lists(st.sampled_from(TOKENS[kind]), max_size=30))
    path.write_text("".join(words), encoding="utf-8", newline="")
    read_or_refuse(kind, path)


# --- arrays of inconsistent shapes ------------------------------------------------------------------------------------

LENGTHS = st.sampled_from([0, 1, 2, 3, 7, 40, 41])
SHAPES = st.lists(LENGTHS, max_size=3).map(tuple)
VALUES = st.sampled_from([-(2**31), -1, 0, 1, 2, 39, 2**31 - 1])


@st.composite
def strange_arrays(draw, whole):
    """Draw an array with another type, another shape or one changed number."""
    if whole.size and whole.dtype.kind in "iuf" and draw(st.booleans()):
        changed = whole.copy()
        changed[np.unravel_index(draw(st.integers(0, whole.size - 1)), whole.shape)] = draw(VALUES) % 2**7
        if changed.dtype.itemsize > 1 and draw(st.booleans()):
            changed[np.unravel_index(draw(st.integers(0, whole.size - 1)), whole.shape)] = draw(VALUES)
        return changed
    dtype = draw(st.sampled_from([whole.dtype, np.dtype("f8"), np.dtype("i4"), np.dtype("U3"), np.dtype("?")]))
    return np.full(draw(st.one_of(st.just(whole.shape), SHAPES)), draw(VALUES)).astype(dtype)


@pytest.mark.parametrize("kind", ["dataset", "model", "npz"])
@settings(bounded, max_examples=40)
@given(data=st.data())
def test_arrays_that_do_not_fit(kind, whole, tmp_path, data):
    """Compiled code never receives input that makes it read beyond its arrays."""
    with zipfile.ZipFile(whole[kind]) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(name for name in files if name.endswith(".npy"))))
    stream = io.BytesIO()
    np.save(stream, data.draw(strange_arrays(np.load(io.BytesIO(files[name]), allow_pickle=False))))
    path = tmp_path / "strange.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in files.items():
            archive.writestr(each, stream.getvalue() if each == name else content)
    found = read_or_refuse(kind, path)
    if found is None:
        return
    if kind == "model":
        with contextlib.suppress(Exception):  # such a model may raise, but not crash the process
            found.predict_proba(np.zeros((5, 3)))
    elif kind == "dataset":
        assert found.X.shape == (found.Y.shape[0], len(found.feature_names))
        labels = np.unique(found.Y.toarray())
        assert set(labels[~np.isnan(labels)]) <= {0, 1}  # NaN is an unmeasured label


# --- the configuration and the catalog --------------------------------------------------------------------------------

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.just(datetime.date(2001, 1, 1)),
    st.sampled_from(["../x", "/etc/passwd", "a\n", "x" * 5000, "a\0b", "-rf", "yeast", 5.0]),
)
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LEAVES, inner, max_size=3), max_leaves=5
)


def places(document, path=()):
    """Yield the paths of all values in a nested document."""
    yield path
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        yield from places(value, (*path, key))


def changed(data, document):
    """Replace one value of the document or add one key."""
    document = [copy.deepcopy(document)]
    *parents, last = data.draw(st.sampled_from(list(places(document))[1:]))
    place = document
    for parent in parents:
        place = place[parent]
    if isinstance(place[last], dict) and data.draw(st.booleans()):
        place[last][data.draw(LEAVES)] = data.draw(ANYTHING)
    else:
        place[last] = data.draw(ANYTHING)
    return document[0]


@settings(bounded, max_examples=30)
@given(data=st.data())
def test_configurations(data):
    """Accepted configurations have whole numbers, plain names and numbers within their ranges."""
    config = changed(data, CONFIG)
    try:
        check_config(config)
        load_catalog().with_own(config["data"]["own"])
    except ConfigError as error:
        assert str(error)
    else:
        range(config["seed"], config["folds"]["n_splits"])
        assert 0 <= config["weak_labels"]["forest"]["threshold"] < 1
        names = [*config["weak_labels"]["datasets"], *config["data"]["own"], *config["cross_testing"]["experiments"]]
        assert not any({*name} & {*"/\\\n\0 "} or name.startswith((".", "-")) for name in names)


@settings(bounded, max_examples=30)
@given(data=st.data())
def test_catalogs(data, tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text(yaml.safe_dump([changed(data, STANZA)]), encoding="utf-8")
    catalog = read_or_refuse("catalog", path)
    for entry in catalog.values() if catalog else ():
        names = [entry.id, *(file.name for file in entry.files)]
        assert all(Path(name).name == name and not name.startswith(".") for name in names)
        assert entry.fingerprint


# --- no writes outside the folder -------------------------------------------------------------------------------------

ESCAPES = ["../evil", "../../evil", "/evil", "a/../../evil", "..", ".hidden", "evil\n", "C:\\evil", "a\\..\\evil", "~"]


@pytest.mark.parametrize("name", ESCAPES)
def test_ids_that_lead_elsewhere(name, tmp_path):
    own = {name: CONFIG["data"]["own"]["toy"]}
    for part in ({"data": {"own": own}}, {"weak_labels": {"datasets": [name]}}):
        with pytest.raises(ConfigError, match="not allowed here"):
            check_config({**copy.deepcopy(CONFIG), **part})
    path = tmp_path / "catalog.yaml"
    for stanza in (
        {**STANZA, "id": name},
        {**STANZA, "folder": name},
        {**STANZA, "files": [{**STANZA["files"][0], "name": name}]},
    ):
        path.write_text(yaml.safe_dump([stanza]))
        load_catalog.__globals__["_load"].cache_clear()
        with pytest.raises(ConfigError, match="not allowed here"):
            load_catalog(path)


@pytest.mark.parametrize("kind", ["dataset", "model", "npz"])
@pytest.mark.parametrize("member", ["../evil.npy", "/evil.npy", "a/../../evil.npy", "link.npy"])
def test_members_of_archives_that_lead_elsewhere(kind, member, whole, tmp_path):
    """Members are read in memory: unknown names are ignored, links are not followed, nothing is written."""
    folder = tmp_path / "inner"
    folder.mkdir()
    path = folder / "archive.npz"
    entry = zipfile.ZipInfo(member)
    entry.external_attr = 0o120777 << 16  # a symbolic link
    path.write_bytes(whole[kind].read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(entry, "/etc/hostname")
    read_or_refuse(kind, path)
    assert [each.name for each in tmp_path.rglob("*")] == ["inner", "archive.npz"]


def test_a_label_file_that_names_another(tmp_path):
    """XML entities can refer to files and are rejected."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<!DOCTYPE labels [<!ENTITY x SYSTEM "{secret.as_uri()}">]><labels><label name="a">&x;</label></labels>'
    (tmp_path / "toy.xml").write_text(text)
    with pytest.raises(StudyError, match=r"toy\.xml") as caught:
        formats.read_label_names(tmp_path / "toy.xml")
    assert "secret" not in str(caught.value).replace(str(secret), "")


def test_a_dataset_of_hostile_names_stays_text(tmp_path):
    """Names in data are returned unchanged and never executed."""
    evil = "$(touch evil); `touch evil` <script> {{ 7 * 7 }} ../../evil"
    (tmp_path / "toy.csv").write_text(f'"{evil}",y\n1,0\n2,1\n')
    stanza = {"path": str(tmp_path / "toy.csv"), "format": "csv", "labels": {"last": 1}}
    data = prepare("toy", catalog=load_catalog().with_own({"toy": stanza}))
    data.save(tmp_path / "toy.npz")
    assert Dataset.load(tmp_path / "toy.npz").feature_names == (evil,)
    assert not list(tmp_path.rglob("evil"))
