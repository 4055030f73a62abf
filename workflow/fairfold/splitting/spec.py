"""What the study has to know of a splitter before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SplitterSpec:
    """A method that makes folds, by its name.

    Parameters
    ----------
    name : what configurations, tables and figures call it.
    make : where the class is, as ``"package.module:name"``; it is looked up when a splitter is made. It takes
        ``n_splits`` and ``random_state``, and has ``assign(Y)`` -> test fold of each sample.
    parameters : further ones that it is called with.
    """

    name: str
    make: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
