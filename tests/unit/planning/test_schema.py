"""Test the JSON schema of configurations and their descriptions."""

import re

import jsonschema
import pytest
import yaml

from fairfold.core.arrays import GAPS
from fairfold.core.violations import resolved, values_of
from fairfold.planning.schema import json_schema
from fairfold.settings import Study


def described(node, schema, path):
    """Yield each key below a node of the JSON schema, with its description."""
    for name, inner in node.get("properties", {}).items():
        entry = resolved(inner, schema)
        yield f"{path}.{name}", entry.get("description", "")
        yield from described(entry, schema, f"{path}.{name}")
        yield from described(resolved(values_of(entry), schema), schema, f"{path}.{name}")


def test_every_key_has_a_description_that_is_a_sentence():
    schema = Study.model_json_schema()
    keys = dict(described(schema, schema, "config"))
    assert {"config.weak_labels.forest.n_trees", "config.data.own.hold_out.after"} <= keys.keys()
    assert [key for key, text in keys.items() if not (text[:1].isupper() or text[:1] in "[`") or text[-1] != "."] == []


def test_every_section_has_a_table_in_the_documents(root):
    page = (root / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    tables = re.findall(r"^```{generated} configuration (\w+)$", page, re.MULTILINE)
    assert tables == list(dict.fromkeys(tables))
    assert {*tables} == {*Study.model_fields, "own_dataset", "own_model", "variant"}


@pytest.mark.parametrize("name", ["config", "race", "correction", "paper", "many-labels"])
def test_the_schema_for_editors_accepts_the_configurations_of_the_project(root, name):
    config = yaml.safe_load((root / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    schema = json_schema()
    jsonschema.validate(config, schema)
    config["weak_labels"]["models"] = ["RF+ETT"]
    with pytest.raises(jsonschema.ValidationError, match="'RF\\+ETT' is not one of"):
        jsonschema.validate(config, schema)


def test_the_words_for_a_missing_cell_are_all_named():
    schema = Study.model_json_schema()
    text = dict(described(schema, schema, "config"))["config.data.own.missing_value"]
    assert {word.casefold() for word in re.findall("`([^`]+)`", text)} == GAPS - {""}
