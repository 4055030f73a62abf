"""Describe violations of settings in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from fairfold.errors import unknown_name

Keys = tuple[str | int, ...]


def violations(error: ValidationError, model: Any, document: Any, where: str, files: Sequence[Path]) -> list[str]:
    """Describe each violation in one sentence, in the order of the keys.

    Parameters
    ----------
    error : ValidationError
        Result of the failed validation.
    model : type
        Type that the document was validated against.
    document : object
        Content before the validation.
    where : str
        Name of the document in the sentences.
    files : sequence of Path
        YAML files that make up the document; later files win. A sentence starts with the file and line of its key if
        the file has the value of the document.

    Returns
    -------
    list of str
        Sentences.
    """
    schema = TypeAdapter(model).json_schema()
    errors_at: dict[Keys, list[Mapping[str, Any]]] = {}
    for each in error.errors(include_url=False):
        errors_at.setdefault(_existing(document, each["loc"]), []).append(each)
    sentences = []
    for keys in sorted(errors_at, key=lambda keys: list(map(str, keys))):
        path = keys[:-1] if any(_is_about_key(each) for each in errors_at[keys]) else keys
        place = where + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        place = f"{_line(document, keys, files)}{place}"
        node = node_at(schema, path)
        sentences += [f"{place}: {complaint}" for complaint in _complaints(errors_at[keys], node)]
    return sentences


def _existing(document: Any, location: Keys) -> Keys:
    """Return the start of a location that the document has; pydantic appends missing keys and branches of unions."""
    for length, key in enumerate(location):
        keys = range(len(document)) if isinstance(document, list) else document if isinstance(document, dict) else ()
        if key not in keys:
            return location[:length]
        document = document[key]
    return location


def _is_about_key(error: Mapping[str, Any]) -> bool:
    return error["type"] in ("extra_forbidden", "invalid_key") or error["loc"][-1:] == ("[key]",)


def _complaints(errors: Sequence[Mapping[str, Any]], node: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each error, or one sentence for the alternatives of a union."""
    sentences = [sentence for error in errors if (sentence := _complaint(error, node))]
    if sentences:
        return sentences
    reasons = " or ".join(dict.fromkeys(error["msg"].partition(" or instance of")[0] for error in errors))
    reasons = reasons[0].lower() + reasons[1:].replace(" or Input should be", " or")
    return [f"found {errors[0]['input']!r}: {reasons}{_hint(node)}."]


def _complaint(error: Mapping[str, Any], node: Mapping[str, Any]) -> str | None:
    """Return a sentence about an error that Pydantic's message does not fully explain."""
    found, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            return f"missing {error['loc'][-1]!r}; add it."
        case "extra_forbidden" | "invalid_key":
            return unknown_name("key", str(error["loc"][-1]), node.get("properties", {}))
        case "literal_error":
            return unknown_name("value", found, map(str, node.get("enum", [node.get("const")])))
        case "string_pattern_mismatch":
            meaning = node.get("propertyNames", node).get("meaning", f"it must match {context['pattern']}")
            return f"found {found!r}, which is not allowed here ({meaning})."
        case "value_error":
            return str(context["error"])
    return None


def _hint(node: Mapping[str, Any]) -> str:
    """Return the first sentence of the description in parentheses."""
    first = " ".join(node.get("description", "").split()).split(". ")[0].rstrip(".")
    if first[1:2].islower():
        first = first[0].lower() + first[1:]
    return f" ({first})" if first else ""


def node_at(schema: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    """Return the part of a JSON schema that describes a key, without references.

    Parameters
    ----------
    schema : mapping
        JSON schema of a pydantic model.
    keys : tuple of str and int
        Keys and positions from the top of the document.

    Returns
    -------
    dict
        Schema of the key.
    """
    node = resolved(schema, schema)
    for key in keys:
        of_key = node.get("items", {}) if isinstance(key, int) else node.get("properties", {}).get(key)
        node = resolved(of_key or values_of(node), schema)
    return node


def values_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the values of a mapping with free keys.

    Parameters
    ----------
    node : mapping
        Schema of the mapping.

    Returns
    -------
    mapping
        Schema of the values, empty for other nodes.
    """
    patterns = node.get("patternProperties")
    values = next(iter(patterns.values())) if patterns else node.get("additionalProperties")
    return values if isinstance(values, Mapping) else {}


def resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node with the content of its reference and of its alternative to null.

    Parameters
    ----------
    node : mapping
        Part of a JSON schema.
    schema : mapping
        Whole JSON schema.

    Returns
    -------
    dict
        Node without references.
    """
    inner: Mapping[str, Any] = {}
    alternatives = [each for each in node.get("anyOf", ()) if each != {"type": "null"}]
    if len(alternatives) == 1:
        inner = resolved(alternatives[0], schema)
    elif "$ref" in node:
        inner = resolved(schema["$defs"][node["$ref"].removeprefix("#/$defs/")], schema)
    return {**inner, **node}


def _line(document: Any, keys: Keys, files: Sequence[Path]) -> str:
    """Return the file and line that give a key the value of the document, or nothing if no file does."""
    value = document
    for key in keys:
        value = value[key]
    for file in filter(Path.is_file, reversed(files)):
        node = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        mark = None
        for key in keys:
            mark, node = _child(node, key)
        if mark is not None and yaml.SafeLoader("").construct_document(node) == value:
            return f"{file}, line {mark.start_mark.line + 1}, "
    return ""


def _child(node: yaml.Node | None, key: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the node of a key and the node of its value, or None twice if the key is missing."""
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key]
    if isinstance(node, yaml.MappingNode):
        for name, inner in node.value:
            if name.value == str(key):
                return name, inner
    return None, None
