import pytest

from fairfold.core.config import validated
from fairfold.datasets.settings import CatalogEntry, OwnDataset, Variant
from fairfold.errors import ConfigError

FILE = {"name": "toy.csv", "urls": ["https://example.org/toy.csv"], "sha256": "0" * 64}
ENTRY = {"id": "toy", "title": "Toy", "task": "binary", "citation": "none", "license": "none"}


def own(**changes):
    return validated({"path": "a.csv", "labels": {"prefix": "y"}, **changes}, OwnDataset, "own")


def test_only_real_defaults_are_filled_in():
    given = {"format": "csv", "labels_are": "unknown", "task": "multilabel"}
    assert own().model_dump() == {"path": "a.csv", "labels": {"prefix": "y"}, **given}
    assert own(hold_out={"after": [1, 2]}).model_dump()["hold_out"] == {"after": [1, 2]}


def test_a_known_missing_rate_says_that_labels_are_incomplete():
    assert own(missing_rate=0.3).missing_rate == own(missing_rate=0.3, labels_are="incomplete").missing_rate == 0.3
    with pytest.raises(ConfigError, match="found missing_rate with labels_are: complete"):
        own(missing_rate=0.3, labels_are="complete")
    found = own(missing_rate=0.3)
    assert found == own(**found.model_dump()) and found.labels_are == "incomplete"
    assert own(missing_rate=0.3, labels_are="unknown") == found  # configuration that an earlier version has written
    for wrong in (0, 1, 30):
        with pytest.raises(ConfigError, match=r"missing_rate: found"):
            own(missing_rate=wrong)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ({}, "own.labels: found none. Give one of"),
        ({"prefix": "y", "last": 2}, "own.labels: found last, prefix. Give one of"),
        ({"prefix": "y", "propagate": True}, "own.labels: found propagate without a hierarchy"),
        ({"column": 1.5}, "own.labels.column: found 1.5: input should be a valid string or a valid integer"),
    ],
)
def test_labels_are_found_in_one_way(labels, sentence):
    with pytest.raises(ConfigError, match=sentence):
        own(labels=labels)


def test_a_variant_changes_something():
    assert validated({"of": "flags", "label_filter": {}}, Variant, "v").model_dump() == {
        "of": "flags",
        "label_filter": {},
    }
    with pytest.raises(ConfigError, match="v: found only of, 'flags', but at least one change is needed"):
        validated({"of": "flags"}, Variant, "v")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"format": "csv", "files": [FILE]}, "entry: missing labels, which the format 'csv' needs"),
        ({"format": "generated"}, "entry: missing generator, which the format 'generated' needs"),
        ({"format": "csv", "files": [FILE], "labels": {}}, "entry.labels: found none. Give one of characteristic"),
    ],
)
def test_an_entry_of_the_catalog_has_one_source(entry, sentence):
    with pytest.raises(ConfigError, match=sentence):
        validated({**ENTRY, **entry}, CatalogEntry, "entry")
