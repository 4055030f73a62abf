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
    phrase : str, default=""
        Noun phrase that completes "The samples were split into folds by" in texts of a publication, with citations such
        as ``[@sechidis2011]``. Their BibTeX entries are in ``workflow/report/publish/references.bib``. By default, the
        name.
    compares_features : bool, default=False
        Whether the method ``assign`` takes the features, as ``X``, and the class a ``metric``.

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
    phrase: str = ""
    compares_features: bool = False

    def __post_init__(self) -> None:
        if not self.phrase:
            object.__setattr__(self, "phrase", f"the method {self.name}")
