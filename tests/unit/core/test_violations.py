from typing import Annotated, Literal

import pytest
from pydantic import Field

from fairfold.core.config import load_yaml, validated
from fairfold.core.settings import Settings
from fairfold.core.violations import node_at
from fairfold.errors import ConfigError


class Inner(Settings):
    """Inner section."""

    size: Annotated[int, Field(ge=2, le=9)] | None = None
    """Number of things. More text."""

    kind: Literal["one", "two"] = "one"
    """Kind of things."""

    only: str | list[str] = "a"
    """Text or texts."""


class Outer(Settings):
    """Outer section."""

    inner: Inner

    many: dict[str, Inner] = Field(default={})


TEXT = """\
inner:
  size: 3
  kind: two
many:
  a:
    only: [x, y]
"""


def sentences_of(document, *files):
    with pytest.raises(ConfigError) as error:
        validated(document, Outer, "toy", files=files)
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({}, "toy: missing 'inner'; add it."),
        (
            {"inner": {"size": 1}},
            "toy.inner.size: found 1: input should be greater than or equal to 2 (number of things).",
        ),
        (
            {"inner": {"size": 10}},
            "toy.inner.size: found 10: input should be less than or equal to 9 (number of things).",
        ),
        ({"inner": {"kind": "tow"}}, "toy.inner.kind: unknown value 'tow': did you mean 'two'?"),
        (
            {"inner": {"only": 3}},
            "toy.inner.only: found 3: input should be a valid string or a valid list (text or texts).",
        ),
        ({"inner": []}, "toy.inner: found []: input should be a valid dictionary (inner section)."),
        ({"inner": {}, "many": {"size": {"siz": 3}}}, "toy.many.size: unknown key 'siz': did you mean 'size'?"),
        ({"inner": {}, 3: 4}, "toy: unknown key '3': known are inner, many."),
        ({"inner": {}, "many": {3: {}}}, "toy.many: found 3: input should be a valid string."),
    ],
)
def test_each_violation_is_a_sentence(document, sentence):
    assert sentences_of(document) == [sentence]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("size: 3", "size: 30"), "line 2, toy.inner.size: found 30"),
        (("kind: two", "knd: two"), "line 3, toy.inner: unknown key 'knd'"),
        (("[x, y]", "[x, 3]"), "line 6, toy.many.a.only: found ['x', 3]"),
        (("a:", "a: &it\n    <<: {size: 0}"), "toy.many.a.size: found 0"),  # a merged key has no line number
    ],
)
def test_the_line_of_the_file_is_named(tmp_path, change, sentence):
    path = tmp_path / "toy.yaml"
    path.write_text(TEXT.replace(*change))
    (found,) = sentences_of(load_yaml(path), path)
    assert found.startswith(f"{path}, {sentence}" if sentence.startswith("line") else sentence)


def test_a_line_belongs_to_the_last_file_with_the_value(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(TEXT)
    second.write_text("# changes\ninner: {size: 1, kind: two}\n")
    document = {**load_yaml(first), **load_yaml(second)}
    assert sentences_of(document, first, second)[0].startswith(f"{second}, line 2, toy.inner.size: found 1")
    document["inner"]["size"] = 0  # as set on the command line
    assert sentences_of(document, first, second)[0].startswith("toy.inner.size: found 0")


def test_a_node_of_the_schema_is_found_by_its_keys():
    schema = Outer.model_json_schema()
    assert node_at(schema, ("many", "size", "size"))["maximum"] == 9
    assert node_at(schema, ("inner",))["description"] == "Inner section."
    assert node_at(schema, ("inner", "nothing")) == {}
