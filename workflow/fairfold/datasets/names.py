"""Comparison of names in Unicode normal form."""

from __future__ import annotations

import unicodedata


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
