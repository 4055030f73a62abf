"""Fill the fields of file names."""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any

Values = Mapping[str, Iterable[Any]]
"""Values of the fields of file names, by field."""


def paths(*patterns: str, **values: Iterable[Any]) -> list[str]:
    """Fill the fields of file names with all combinations of values.

    Parameters
    ----------
    *patterns : str
        File names with fields, such as ``"results/datasets/{dataset}.npz"``.
    **values : iterable
        Values of the fields. A pattern can lack some of the fields.

    Returns
    -------
    list of str
        File names, pattern by pattern.

    Examples
    --------
    >>> from fairfold.planning.paths import paths
    >>> paths("{dataset}.npz", "{dataset}_{rate}.csv", dataset=["flags"], rate=[0, 50])
    ['flags.npz', 'flags_0.csv', 'flags_50.csv']
    """
    found = []
    for pattern in patterns:
        fields = [name for _, name, _, _ in string.Formatter().parse(pattern) if name]
        own = {name: list(each) for name, each in values.items() if name in fields}
        found += [pattern.format(**dict(zip(own, each, strict=True))) for each in itertools.product(*own.values())]
    return found


def one_of(names: Iterable[str]) -> str:
    r"""Return a regular expression that matches some names, and nothing if there are none.

    Parameters
    ----------
    names : iterable of str
        Names.

    Returns
    -------
    str
        Regular expression.

    Examples
    --------
    >>> from fairfold.planning.paths import one_of
    >>> one_of(["kNN", "Stack+"])
    'kNN|Stack\\+'
    """
    return "|".join(map(re.escape, names)) or "(?!)"
