"""Cells of Excel workbooks without a value: formulas that were not calculated, and errors such as ``#REF!``."""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOT_AVAILABLE = "#N/A"
"""Error of Excel for a value that a lookup did not find."""

_BOOK, _SHEET = re.compile(r"(?:.*/)?workbook\.xml"), re.compile(r"(?:.*/)?worksheets/[^/]+\.xml")
_MAY_HAVE_FAULTS = re.compile(rb"""<(?:\w+:)?f[\s/>]|\st=["']e["']""")
_NOT_CALCULATED = re.compile(rb"""fullCalcOnLoad=["'](?:1|true)["']""")
_FORMULA = re.compile(r"=.* in cell [A-Z]+\d+", re.DOTALL)
_ERRORS = "BLOCKED!|BUSY!|CALC!|CONNECT!|DIV/0!|EXTERNAL!|FIELD!|GETTING_DATA|NAME\\?|NULL!|NUM!|PYTHON!|REF!|SPILL!"
_ERROR = re.compile(rf"#(?:{_ERRORS}|UNKNOWN!|VALUE!)(?: in cell [A-Z]+\d+)?")


def fault_of(cell: str) -> tuple[str, str] | None:
    """Return why a cell has no value, if it is an uncalculated formula of a workbook or an error of a formula.

    Parameters
    ----------
    cell : str
        Text of the cell. Text tables may contain errors, too.

    Returns
    -------
    tuple of (str, str) or None
        Fault and advice, or None for other cells and for ``#N/A``, which is a missing value.

    Examples
    --------
    >>> fault_of("#REF! in cell B3")
    ('an error of a formula', 'Correct the formula, or leave the cell empty.')
    >>> fault_of("0.5"), fault_of("#N/A")
    (None, None)
    """
    if cell.startswith("=") and _FORMULA.fullmatch(cell):
        return "a formula without a stored value", "Open the workbook in Excel and save it, or write the value."
    if cell.startswith("#") and _ERROR.fullmatch(cell):
        return "an error of a formula", "Correct the formula, or leave the cell empty."
    return None


def cells_without_value(path: Path) -> dict[tuple[int, int], str]:
    """Find the formulas without stored values and the errors of a workbook with one sheet.

    XlsxWriter stores 0 as the value of each formula, and marks the workbook as not calculated. Such zeros do not count.

    Parameters
    ----------
    path : Path
        The workbook.

    Returns
    -------
    dict of (int, int) to str
        Text by row and column from 1: ``#N/A``, or another error or a formula with the name of its cell.
    """
    found: dict[tuple[int, int], str] = {}
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        is_calculated = not any(_NOT_CALCULATED.search(archive.read(name)) for name in filter(_BOOK.fullmatch, names))
        for name in filter(_SHEET.fullmatch, names):
            sheet = archive.read(name)
            if _MAY_HAVE_FAULTS.search(sheet):
                found |= _faults(sheet, is_calculated)
    return found


def _faults(sheet: bytes, is_calculated: bool) -> Iterator[tuple[tuple[int, int], str]]:
    for name, place, cell in _cells(sheet):
        if fault := _fault(cell, is_calculated):
            yield place, fault if fault == NOT_AVAILABLE else f"{fault} in cell {name}"


def _cells(sheet: bytes) -> Iterator[tuple[str, tuple[int, int], Any]]:
    """Yield the name, the row and column, and the element of each cell."""
    from defusedxml import ElementTree
    from openpyxl.utils import get_column_letter
    from openpyxl.utils.cell import coordinate_to_tuple

    row = column = 0
    for event, element in ElementTree.iterparse(io.BytesIO(sheet), events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if tag == "row" and event == "start":
            row, column = int(element.get("r") or row + 1), 0
        elif tag == "row":
            element.clear()
        elif tag == "c" and event == "end":
            name = element.get("r") or f"{get_column_letter(column + 1)}{row}"
            row, column = coordinate_to_tuple(name)
            yield name, (row, column), element


def _fault(cell: Any, is_calculated: bool) -> str | None:
    """Return the error or the uncalculated formula of a cell element."""
    parts = {part.tag.rpartition("}")[2]: part.text or "" for part in cell}
    value, kind = parts.get("v", ""), cell.get("t", "n")
    if kind == "e":
        return value
    # An empty text that a formula returned is stored as an empty value of the type "str".
    empty = ("",) if is_calculated else ("", "0")
    is_stored = value not in empty or ("v" in parts and kind == "str")
    return None if "f" not in parts or is_stored else f"={textwrap.shorten(parts['f'], 40, placeholder='…')}"
