"""Protect names in CSV files, because programs for spreadsheets run a cell such as ``=1+1`` as a formula.

A text that would start a formula gets a leading apostrophe, as OWASP advises, and reading removes it. Numbers stay as
they are. The start of a line and of a part after a semicolon or tab count as the start of a cell, too, because
spreadsheets of many countries split there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

_SIGNS = "=+@\\-\uff1d\uff0b\uff0d\uff20"  # Spreadsheets of East Asia take wide signs, too.
_START = rf"(^|[;\t\r\n]){{}}(?=[\s']*[{_SIGNS}])"
_UNPROTECTED, _PROTECTED = re.compile(_START.format("")), re.compile(_START.format("'"))
_NUMBER = re.compile(r"-[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?")


def protect(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula.

    Parameters
    ----------
    text : str
        Content of a cell.

    Returns
    -------
    str
        The text, with an apostrophe before each sign that would start a formula.

    Examples
    --------
    >>> [protect(text) for text in ("=1+1", "a=b", "-3", "-3+2", "'=1")]
    ["'=1+1", 'a=b', '-3', "'-3+2", "''=1"]
    """
    return text if _NUMBER.fullmatch(text) else _UNPROTECTED.sub(r"\1'", text)


def unprotect(text: str) -> str:
    r"""Return the text that :func:`protect` has changed.

    Parameters
    ----------
    text : str
        Protected text.

    Returns
    -------
    str
        The text as it was.

    Examples
    --------
    >>> [unprotect(protect(text)) for text in ("=1+1", "'=1", "'a", "x\n=1")]
    ['=1+1', "'=1", "'a", 'x\n=1']
    """
    return _PROTECTED.sub(r"\1", text)


def protect_table(table: pd.DataFrame) -> pd.DataFrame:
    """Protect the names and the texts of a table.

    Parameters
    ----------
    table : DataFrame
        The table.

    Returns
    -------
    DataFrame
        Table with protected texts; the same object if there is nothing to protect.
    """
    return _changed(table, _UNPROTECTED, protect)


def unprotect_table(table: pd.DataFrame) -> pd.DataFrame:
    """Undo :func:`protect_table`.

    Parameters
    ----------
    table : DataFrame
        Table with protected texts.

    Returns
    -------
    DataFrame
        The table as it was.
    """
    return _changed(table, _PROTECTED, unprotect)


def _changed(table: pd.DataFrame, start: re.Pattern[str], change: Callable[[str], str]) -> pd.DataFrame:
    def changed(value: object) -> object:
        return change(value) if isinstance(value, str) else value

    columns = {}
    for place in range(table.shape[1]):
        values = table.iloc[:, place]
        if values.dtype.kind == "O" and any(isinstance(each, str) and start.search(each) for each in values.unique()):
            columns[place] = values.map(changed)
    if columns:
        table = table.copy()
        for place, column in columns.items():
            table.isetitem(place, column)
    names = [changed(name) for name in table.columns]
    return table if names == [*table.columns] else table.set_axis(names, axis=1)
