"""What a document violates of its schema, in sentences a user can act on; and defaults that the schema has for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from jsonschema import Draft202012Validator, TypeChecker, ValidationError, validators

from fairfold.errors import unknown_name


def violations(document: Any, schema: Mapping[str, Any], what: str) -> list[str]:
    """Fill in the schema's defaults, in place, then check.

    Parameters
    ----------
    document : mapping or list.
    schema : JSON Schema of 2020-12.
    what : how the document is called in the sentences.

    Returns
    -------
    list of str
        A sentence per violation, in the order of their keys: the key, the value found, what is allowed.
    """
    errors = sorted(_DefaultingValidator(schema).iter_errors(document), key=lambda error: list(map(str, error.path)))
    return [_sentence(_most_telling(error), what) for error in errors]


def _set_defaults(
    validator: Draft202012Validator, properties: Mapping[str, Any], instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name, subschema in properties.items():
            if "default" in subschema:
                instance.setdefault(name, _copy(subschema["default"]))
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, instance, schema)


def _is_integer(_: TypeChecker, value: Any) -> bool:
    """Whether it is a whole number as Python's ``range`` takes it: not 5.0, which JSON Schema counts as one, too."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(checker: TypeChecker, value: Any) -> bool:
    """Whether it is a number; NaN, which is called none, would pass every check of a range."""
    return _is_integer(checker, value) or (isinstance(value, float) and not math.isnan(value))


_DefaultingValidator = validators.extend(
    Draft202012Validator,
    {"properties": _set_defaults},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)


def _copy(value: Any) -> Any:
    return yaml.safe_load(yaml.safe_dump(value))


def _most_telling(error: ValidationError) -> ValidationError:
    """For "one of" and the like: the violation inside the alternative that came nearest."""
    while error.context:
        error = max(error.context, key=lambda inner: (len(inner.path), inner.validator != "required"))
    return error


def _sentence(error: ValidationError, what: str) -> str:
    where = what + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return f"{where}: {_complaint(error)}"


def _complaint(error: ValidationError) -> str:
    rule, allowed, found = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        return " ".join(unknown_name("key", name, known) for name in sorted(set(map(str, found)) - set(known)))
    meaning = error.schema.get("description")
    hint = f" ({meaning})" if meaning else ""
    match rule:
        case "required":
            missing = [name for name in allowed if name not in found]
            return f"missing {', '.join(map(repr, missing))}; add it."
        case "enum":
            return unknown_name("value", found, map(str, allowed))
        case "type":
            kinds = allowed if isinstance(allowed, str) else " or ".join(allowed)
            return f"found {found!r}, but a value of type {kinds} is needed{hint}."
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            bound = {"m": "at least", "M": "at most"}["m" if "inimum" in rule else "M"]
            strict = " (excluded)" if rule.startswith("exclusive") else ""
            return f"found {found!r}, but the value must be {bound} {allowed}{strict}{hint}."
        case "uniqueItems":
            return f"found a value twice in {found!r}; name each once."
        case "minItems" | "minLength" | "minProperties":
            return f"found {found!r}, but at least {allowed} is needed{hint}."
        case "pattern":
            return f"found {found!r}, which is not allowed here{hint or f'; it must match {allowed}'}."
        case _:
            return f"{error.message}{hint}."
