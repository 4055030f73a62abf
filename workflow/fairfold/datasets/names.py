"""Comparison of names: the same text in another Unicode form is the same name."""

from __future__ import annotations

import unicodedata


def composed(name: str) -> str:
    """Return a name in Unicode normal form C.

    File systems and spreadsheets write ``ö`` as one character or as ``o`` with a combining mark. Both look alike, so
    names of columns and labels are compared in this form.

    Examples
    --------
    >>> composed("Ho\\u0308he") == "Höhe"
    True
    """
    return unicodedata.normalize("NFC", name)
