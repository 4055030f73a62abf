"""Declaration of a splitter by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SplitterSpec:
    """Declaration of a method that makes folds.

    Parameters
    ----------
    name : str
        Name of the method in configurations, tables and figures.
    make : str
        Location of the class as ``"package.module:name"``. The class is imported when a splitter is made. It takes
        ``n_splits`` and ``random_state``. Its method ``assign(Y)`` returns the test fold of each sample.
    parameters : mapping of str to object, default={}
        Additional parameters of the class.

    Examples
    --------
    >>> from fairfold.splitting.spec import SplitterSpec
    >>> spec = SplitterSpec("SOIS", "fairfold.splitting.iterative:IterativeStratification", {"order": 2})
    >>> spec.name, spec.parameters
    ('SOIS', {'order': 2})
    """

    name: str
    make: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
