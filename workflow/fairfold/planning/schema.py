"""JSON schema of configurations; ``python -m fairfold.planning.schema`` prints it for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fairfold.core.machine import ignore_closed_output
from fairfold.planning.check import known_names
from fairfold.settings import Study


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of configurations.

    Returns
    -------
    dict
        JSON schema.
    """
    return _with_names(Study.model_json_schema(), known_names({}))


def _with_names(node: Any, names: Mapping[str, Sequence[str]]) -> Any:
    """Replace ``names_of`` in a JSON schema by the known names."""
    if isinstance(node, list):
        return [_with_names(each, names) for each in node]
    if not isinstance(node, dict):
        return node
    filled = {key: _with_names(value, names) for key, value in node.items() if key != "names_of"}
    return {**filled, "enum": list(names[node["names_of"]])} if "names_of" in node else filled


if __name__ == "__main__":
    with ignore_closed_output():
        print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
