"""Declaration of a splitter by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SplitterSpec:
    """Declaration of a splitter, which makes it available by name.

    Parameters
    ----------
    name : str
        Name of the splitter in configurations, tables and figures.
    make : str
        Class of the splitter as ``"package.module:name"``. It takes ``n_splits`` and ``random_state``, and its method
        ``assign(Y)`` returns the test fold of each sample. It is imported when
        :func:`~fairfold.splitting.methods.make_splitter` creates the splitter. A wrong location raises an error only
        then.
    parameters : mapping of str to object, default={}
        Further arguments of the class.

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
