"""Names of columns and labels."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable

from fairfold.errors import DataError

PathLike = str | os.PathLike[str]


def composed(name: str) -> str:
    r"""Return a name in Unicode normal form C.

    File systems and spreadsheets write ``ö`` as one character or as ``o`` with a combining mark. Both forms look the
    same. Names of columns and labels are therefore compared in this form.

    Parameters
    ----------
    name : str
        The name in any form.

    Returns
    -------
    str
        The name in normal form C.

    Examples
    --------
    >>> composed("Ho\u0308he") == "Höhe"
    True
    """
    return unicodedata.normalize("NFC", name)


def check_unique(names: Iterable[str], path: PathLike, kind: str = "column") -> None:
    """Raise :class:`DataError` for a repeated name.

    Parameters
    ----------
    names : iterable of str
        The names.
    path : str or path-like
        The file, for messages.
    kind : str, default="column"
        Kind of names, for messages.
    """
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if first.setdefault(name, position) != position:
            positions = f"positions {first[name]} and {position}"
            raise DataError(
                f"{path}: {kind} name {name!r} is used twice, at {positions}. Rename or remove one of them."
            )
