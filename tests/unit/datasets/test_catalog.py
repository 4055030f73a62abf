import textwrap

import pytest

from fairfold.datasets import generate, load_catalog
from fairfold.datasets.catalog import Entry
from fairfold.errors import ConfigError

WEAK_LABEL_SHAPES = {  # Ilidio et al. (2024), Table 2
    "VirusGO": (207, 749, 3),
    "VirusPseAAC": (207, 440, 3),
    "flags": (194, 19, 6),
    "GrampositivePseAAC": (519, 440, 3),
    "CHD_49": (555, 49, 5),
    "emotions": (593, 72, 6),
    "birds": (645, 260, 9),
    "Gram_negative": (1392, 1717, 6),
    "PlantGO": (978, 3091, 9),
    "medical": (978, 1449, 12),
    "scene": (2407, 294, 6),
    "yeast": (2417, 103, 14),
    "enron": (1702, 1001, 25),
}

ENTRY = """\
- id: toy
  title: Toy
  task: multilabel
  format: csv
  files:
    - name: toy.csv
      urls: ["https://example.org/toy.csv"]
      sha256: {digest}
  labels: {{ prefix: label_ }}
  citation: none
  license: none
"""


@pytest.fixture
def catalog_file(tmp_path):
    def write(text):
        path = tmp_path / "datasets.yaml"
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,label_b\n1,0\n")
    return path


def test_the_thirteen_weak_label_datasets():
    catalog = load_catalog()
    assert {name for name, entry in catalog.items() if "weak-labels" in entry.used_by and entry.files} == set(
        WEAK_LABEL_SHAPES
    )
    for name, shape in WEAK_LABEL_SHAPES.items():
        expected = catalog[name].expected
        assert (expected["n_samples"], expected["n_features"], expected["n_labels"]) == shape
        assert catalog[name].label_filter == {"min_positives": 30}


def test_datasets_of_the_other_papers_have_entries():
    catalog = load_catalog()
    splitting = {"bibtex", "delicious", "mediamill", "wiki10_31k", "GO-CC", "GO-MF", "GO-BP"}
    cross_testing = {f"cross_testing_{name}" for name in ("gen", "eeg", "spikes", "random")}
    embedded = {"digits-segments", "iris", "breast-cancer", "cross-testing-simulated", "cross-testing-random"}
    assert splitting | cross_testing | embedded <= set(catalog)


def test_every_file_has_one_checksum_and_every_generator_exists():
    for entry in load_catalog().values():
        for file in entry.files:
            assert sum(digest is not None for digest in (file.sha256, file.git_blob)) == (
                entry.folder not in ("GSE20194", "GSE24080", "E-TABM-38")
            )
        if entry.format == "generated":
            assert callable(getattr(generate, entry.generator["function"]))


def test_the_eight_endpoints_of_maqc_2():
    catalog = load_catalog()
    folders = {"breast": "GSE20194", "myeloma": "GSE24080", "neuroblastoma": "E-TABM-38"}
    endpoints = {name: entry for name, entry in catalog.items() if entry.folder in folders.values()}
    # The paper has eight endpoints, the last with random labels. MAQC-II adds a positive control.
    assert len(endpoints) == 9
    for name, entry in endpoints.items():
        disease, _, _ = name.partition("-")
        assert entry.folder == folders[disease]
        assert (entry.task, entry.used_by) == ("binary", ("win-percentage",))
        endpoint = entry.labels.get("characteristic", {})
        # The number of patients with follow-up to the cutoff is unknown.
        n_samples = {"breast": 130, "myeloma": 340, "neuroblastoma": None if "cutoff" in endpoint else 246}[disease]
        assert entry.expected.get("n_samples") == n_samples
        classes = endpoint["classes"].values() if endpoint else entry.labels["drawn"]["classes"]
        assert len(set(classes)) == 2
        assert all(url.startswith("https://") for file in entry.files for url in file.urls)
        others = [other for other in endpoints.values() if other.folder == entry.folder]
        assert all(other.files == entry.files for other in others)  # they share a download
        assert len({other.fingerprint for other in others}) == len(others)
    outcomes = [entry for name, entry in endpoints.items() if name in ("neuroblastoma-os", "neuroblastoma-efs")]
    assert [entry.labels["characteristic"]["cutoff"]["last"] for entry in outcomes] == [900, 900]


def test_wrong_id_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown dataset 'yeats': did you mean 'yeast'\?.*data\.own"):
        load_catalog()["yeats"]


def test_broken_catalogs(catalog_file):
    good = ENTRY.format(digest="a" * 64)
    assert list(load_catalog(catalog_file(good))) == ["toy"]
    for text, sentence in [
        (ENTRY.format(digest="a" * 63), r"sha256: found 'a+', which is not allowed"),
        (good.replace("license", "licence"), "unknown key 'licence': did you mean 'license'"),
        (good.replace("id: toy", "id: ../toy"), "which is not allowed here"),
        (good.replace("name: toy.csv", "name: a/b.csv"), "which is not allowed here"),
        (good.replace("https:", "file:"), "which is not allowed here"),
        (good.replace("{ prefix: label_ }", "{ prefix: a, last: 3 }"), "labels"),
        (good.replace("{ prefix: label_ }", "{ characteristic: { key: a, classes: { b: c } } }"), "classes"),
        (good.replace("{ prefix: label_ }", "{ characteristic: { key: a, classes: { 0: c, 1: d } } }"), "classes"),
        (good.replace("  labels", "  samples: { only: { a: [] } }\n  labels"), "samples.only.a"),
        (good + good, "dataset 'toy' is listed twice"),
    ]:
        path = catalog_file(text).rename(catalog_file(text).with_name(f"{abs(hash(text))}.yaml"))
        with pytest.raises(ConfigError, match=sentence):
            load_catalog(path)


def test_fingerprint_changes_with_content_only(catalog_file):
    entry = load_catalog()["yeast"]
    assert Entry.from_stanza({**_stanza(), "title": "Other"}).fingerprint == Entry.from_stanza(_stanza()).fingerprint
    changed = Entry.from_stanza({**_stanza(), "label_filter": {"min_positives": 2}})
    assert changed.fingerprint != Entry.from_stanza(_stanza()).fingerprint
    assert entry.files[0].sha256 in entry.fingerprint


def test_fingerprint_knows_the_choice_of_samples():
    file = {"name": "a.txt", "urls": ["https://example.org/a.txt"]}
    stanza = {**_stanza(), "files": [file], "format": "mage-tab"}
    changes = [
        {},
        {"files": [{**file, "name": "b.txt"}]},
        {"samples": {"only": {"a": "b"}}},
        {"missing_values": "drop-features"},
        {"quantity": "ratio"},
    ]
    assert len({Entry.from_stanza({**stanza, **change}).fingerprint for change in changes}) == len(changes)


def _stanza():
    file = {"name": "toy.csv", "urls": ["https://example.org/toy.csv"], "sha256": "a" * 64}
    labels = {"prefix": "label_"}
    return {"id": "toy", "title": "Toy", "task": "multilabel", "format": "csv", "files": [file], "labels": labels}


def test_own_datasets_join_the_catalog(own_file):
    catalog = load_catalog().with_own(
        {"mine": {"path": str(own_file), "format": "csv", "labels": {"prefix": "label_"}}}
    )
    assert catalog["mine"].own_files == [own_file]
    assert catalog["mine"].task == "multilabel"
    assert "mine" not in load_catalog()


def test_own_label_list_is_a_file_too(own_file):
    stanza = {"path": str(own_file), "format": "arff", "labels": {"xml": str(own_file.with_name("labels.xml"))}}
    with pytest.raises(ConfigError, match=r"config\.data\.own\.mine: there is no file .*labels\.xml"):
        load_catalog().with_own({"mine": stanza})


def test_own_ids_must_be_new_and_files_must_exist(own_file):
    stanza = {"path": str(own_file), "format": "csv", "labels": {"last": 1}}
    with pytest.raises(ConfigError, match="the catalog has a dataset of that name"):
        load_catalog().with_own({"yeast": stanza})
    with pytest.raises(ConfigError, match=r"there is no file .*gone\.csv"):
        load_catalog().with_own({"mine": {**stanza, "path": str(own_file.with_name("gone.csv"))}})


def test_wrong_task():
    with pytest.raises(ConfigError, match="dataset 'iris' is a multiclass task, but this part needs a multilabel task"):
        load_catalog()["iris"].require("multilabel")


def test_a_path_that_no_file_can_have():
    own = {"x": {"path": "x" * 5000, "format": "csv", "labels": {"last": 1}}}
    with pytest.raises(ConfigError, match=r"config\.data\.own\.x: there is no file xxx"):
        load_catalog().with_own(own)


def test_what_lacks_values_is_not_for_learners_that_take_none():
    with pytest.raises(ConfigError, match="dataset 'arrhythmia' has missing values, which these models do not accept"):
        load_catalog()["arrhythmia"].require_complete()
    load_catalog()["iris"].require_complete()


MANY_LABELS = {  # samples, features, labels of the file and its cardinality, as published (see published.source)
    "corel5k": (5000, 499, 374),
    "corel16k001": (None, 500, 153),  # the file has only a part of them
    "tmc2007_500": (28_596, 500, 22),
    "foodtruck": (407, 21, 12),
    "CAL500": (502, 68, 174),
    "bibtex": (7395, 1836, 159),
    "delicious": (16_105, 500, 983),
}


def test_published_numbers_of_data_with_many_labels():
    catalog = load_catalog()
    assert {name for name, entry in catalog.items() if entry.published} == set(MANY_LABELS)
    for name, shape in MANY_LABELS.items():
        published = catalog[name].published
        assert tuple(map(published.get, ("n_samples", "n_features", "n_labels"))) == shape


def test_published_splits():
    splits = {name: entry.split["n_train"] for name, entry in load_catalog().items() if entry.split}
    assert splits == {"bibtex": 4880, "delicious": 12_920, "corel5k": 4500, "tmc2007_500": 21_519, "scene": 1211}


def test_variants_join_the_catalog():
    catalog = load_catalog()
    varied = catalog.with_variants(
        {
            "more": {"of": "gene-ontology-large", "parameters": {"n_samples": 70_000}},
            "most": {"of": "go-like-small", "parameters": {"n_samples": 30_000}},
            "whole": {"of": "CAL500", "label_filter": {}, "title": "All of CAL500"},
            "split": {"of": "bibtex", "folds": "published"},
        }
    )
    assert not {"more", "most", "whole", "split"} & set(catalog)
    assert varied["more"].generator == {"function": "gene_ontology_large", "parameters": {"n_samples": 70_000}}
    assert varied["most"].generator["parameters"] == {
        **catalog["go-like-small"].generator["parameters"],
        "n_samples": 30_000,
    }
    assert varied["more"].expected == {"n_samples": 70_000, "n_features": 100, "n_labels": 5_000}
    assert varied["most"].expected == {"n_samples": 30_000, "n_labels": catalog["go-like-small"].expected["n_labels"]}
    assert catalog.with_variants(
        {"odd": {"of": "gene-ontology-large", "parameters": {"n_labels": "many"}}}  # refused when it is generated
    )["odd"].expected == {"n_samples": 50_000, "n_features": 100}
    assert varied["whole"].label_filter == {} and varied["whole"].expected == {"n_samples": 502, "n_features": 68}
    assert (varied["whole"].title, varied["whole"].folder) == ("All of CAL500", "CAL500")
    assert varied["split"].tests_split and varied["split"].expected == catalog["bibtex"].expected
    for name, entry in varied.items():
        if name not in catalog:
            assert entry.id == name and entry.labels_are == "unknown"
    fingerprints = [varied[name].fingerprint for name in ("more", "most", "whole", "split", "gene-ontology-large")]
    fingerprints += [varied[name].fingerprint for name in ("go-like-small", "CAL500", "bibtex")]
    assert len(set(fingerprints)) == len(fingerprints)


@pytest.mark.parametrize(
    ("stanza", "sentence"),
    [
        ({"of": "bibtexx", "folds": "published"}, r"x\.of: unknown dataset 'bibtexx': did you mean 'bibtex'"),
        ({"of": "CAL500", "folds": "published"}, r"x\.folds: CAL500 has no published split"),
        ({"of": "CAL500", "parameters": {}}, r"x\.parameters: CAL500 is not generated, but read from files"),
        (
            {"of": "gene-ontology-large", "parameters": {"n_label": 5}},
            r"x\.parameters: unknown parameter 'n_label': did you mean 'n_labels'",
        ),
        (
            {"of": "go-like-small", "parameters": {"return_parents": True}},
            r"x\.parameters: unknown parameter 'return_parents'",
        ),
        ({"of": "iris", "label_filter": {}}, r"x\.label_filter: iris is a multiclass task"),
        ({"of": "mine", "label_filter": {}}, r"x\.of: mine is your own dataset"),
    ],
)
def test_variants_that_cannot_be(own_file, stanza, sentence):
    own = {"path": str(own_file), "format": "csv", "labels": {"last": 1}}
    catalog = load_catalog().with_own({"mine": own})
    with pytest.raises(ConfigError, match=rf"^config\.data\.variants\.{sentence}"):
        catalog.with_variants({"x": stanza})
    with pytest.raises(ConfigError, match=r"^config\.data\.variants\.mine: a dataset of that name exists"):
        catalog.with_variants({"mine": stanza})
