"""Cells of a table: conversion to numbers and text, in blocks of rows.

Almost all cells of a table are plain numbers, which are converted together. Only other cells are checked one by one,
and each distinct text of a column once.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

import numpy as np

from fairfold.core.arrays import GAPS
from fairfold.errors import MOST_NAMES, CellError, DataError, abbreviated, count, quoted, same_for, shortened
from fairfold.tables.decimals import Decimals, Evidence, Learned, decide, form_of, gather
from fairfold.tables.label_values import TRUTHS, number_of
from fairfold.tables.names import composed
from fairfold.tables.rows import MOST_EXACT, Row
from fairfold.tables.workbook import NOT_AVAILABLE, fault_of

_TEXT_GAPS = GAPS - {"-", "nil", "none"}  # These may be names of categories.
_CERTAIN_GAPS = frozenset({"", "?", NOT_AVAILABLE.casefold()})  # in files that distinguish missing cells from text
_AT_ONCE = 1 << 16  # cells of a block
_LONG = 200  # characters of the longest cell of a column that is stored with equal room for every cell
_INTEGER = re.compile(r"[+-]?\d+(\.0*)?")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T]\d\d:\d\d.*)?|\d\d?[./]\d\d?[./](\d\d){1,2}")


class Layout(NamedTuple):
    """Columns of a file and how their cells are read.

    Attributes
    ----------
    path : Path
        The file, for messages.
    columns : sequence of str
        Names of all columns.
    numeric, text : sequence of int
        Positions of the columns of numbers and of text.
    may_lack : collection of int
        Positions of the columns of text whose cells may be missing.
    missing : str or None
        Text of a missing number.
    gaps : bool
        Whether missing numbers become NaN. Otherwise they are an error.
    labels : collection of str
        Names of the columns of text that are labels.
    is_typed : bool
        Whether the file distinguishes missing cells from text.
    values : mapping of int to collection of str
        Texts of columns that are values, even if they look like a missing value.
    unknown : {"allowed", "error", "missing"}
        Whether other texts of these columns are read as they are, are an error, or count as missing.
    """

    path: Path
    columns: Sequence[str]
    numeric: Sequence[int]
    text: Sequence[int] = ()
    may_lack: Collection[int] = ()
    missing: str | None = None
    gaps: bool = False
    labels: Collection[str] = ()
    is_typed: bool = False
    values: Mapping[int, Collection[str]] = {}
    unknown: Literal["allowed", "error", "missing"] = "allowed"


class Fault(NamedTuple):
    """Text of a column that cannot be read.

    Attributes
    ----------
    column : int
        Position of the column.
    order : int
        Order of the column in a row.
    read : callable
        Function of a position that raises the error.
    """

    column: int
    order: int
    read: Callable[[str], object]


@dataclass
class Cells:
    """Cells of consecutive rows.

    Attributes
    ----------
    numeric : sequence of int
        Positions of the columns of numbers.
    numbers : ndarray of shape (n_rows, n_numeric)
        Plain numbers of the columns of numbers. Other cells are NaN.
    others : dict of int to (array of int, list of str)
        Rows and stripped texts of these other cells, by the position of their column in the file.
    text : dict of int to list of str
        Stripped cells of the columns of text.
    lines : sequence of int
        Line of each row. Empty if unknown.
    before : int
        Number of rows before these.
    """

    numeric: Sequence[int]
    numbers: np.ndarray
    others: dict[int, tuple[array[int], list[str]]]
    text: dict[int, list[str]]
    lines: Sequence[int] = ()
    before: int = 0

    def place(self, row: int, path: Path) -> str:
        """Return the position of a row for messages."""
        return f"{path}, {self.name_of(row)}"

    def name_of(self, row: int) -> str:
        """Return the number of a row for messages."""
        line = f" (line {self.lines[row]})" if self.lines else ""
        return f"data row {self.before + row + 1}{line}"

    def positions(self, column: int, texts: Collection[str]) -> Iterator[tuple[int, str]]:
        """Yield the rows of a column with one of these texts."""
        rows, cells = self.others.get(column, ((), []))
        pairs = enumerate(self.text[column]) if column in self.text else zip(rows, cells, strict=True)
        return ((row, cell) for row, cell in pairs if cell in texts)


class Marks:
    """Evidence of how the numbers of a file are written, gathered from its blocks.

    A number with a certain decimal point settles its column, and further points of the column are skipped.

    Parameters
    ----------
    layout : Layout
        Columns of the file.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._found: dict[int, Evidence] = {}  # by position of the column
        self._settled: set[int] = set()
        self._open = list(enumerate(layout.numeric))

    def add(self, flat: Sequence[str], others: Iterable[int], place: Callable[[int], str]) -> None:
        """Add the cells of a block, row by row, in which ``others`` are not plain numbers."""
        numeric, width, n_settled = self._layout.numeric, len(self._layout.numeric), len(self._settled)
        for column, position in self._open:
            for index in range(column, len(flat), width):
                if (
                    "." in (cell := flat[index])
                    and "," not in cell
                    and self._add(position, cell, index // width, place)
                ):
                    break
        if len(self._settled) > n_settled:
            self._open = [(column, position) for column, position in self._open if position not in self._settled]
        for index in others:
            if "," in flat[index] or "." in flat[index]:
                self._add(numeric[index % width], flat[index], index // width, place)

    def _add(self, column: int, cell: str, row: int, place: Callable[[int], str]) -> bool:
        """Add a cell of a column, and return whether it settles the column."""
        cell = cell.strip()
        form = None if cell == self._layout.missing else form_of(cell)
        is_settled = form == ("decimal", ".")
        if is_settled:
            self._settled.add(column)
        if form is not None and (column in self._found or not is_settled):
            evidence = self._found.setdefault(column, Evidence(self._layout.columns[column]))
            if evidence.has_codes_only or form not in evidence.first:
                evidence.add(cell, place(row))
        return is_settled

    def settle(self, found: Mapping[int, Evidence]) -> None:
        """Add the evidence of columns without commas."""
        self._found |= found

    def decide(
        self, numeric: Iterable[int], rows: Callable[[], Iterable[Row]], separator: str, learned: Learned | None = None
    ) -> Decimals:
        """Decide how the numbers of columns are written.

        Parameters
        ----------
        numeric : iterable of int
            Positions of the columns.
        rows : callable
            Function that reads all data rows again. It is called for columns in which a mark may separate thousands,
            which depends on their whole numbers, and to find an example.
        separator : str
            Character between cells.
        learned : Learned or None, default=None
            Notation of the numbers in the training data of a model, if one is used.

        Returns
        -------
        Decimals
            The notation.
        """
        path, columns, missing = self._layout.path, self._layout.columns, self._layout.missing
        found = {column: self._found[column] for column in numeric if column in self._found}
        settled = [column for column in numeric if column in self._settled]
        again = [column for column, each in found.items() if each.is_unclear]
        forms = [form for each in found.values() for form in each.first]
        if any(form == "grouped" for form, _ in forms):
            again = []  # The table is refused.
        elif any(mark == "," for _, mark in forms):
            again += settled
        elif settled and settled[0] not in found:
            found |= gather(rows(), {settled[0]: columns[settled[0]]}, path, missing, is_plain=True)
        if again:
            found |= gather(rows(), {column: columns[column] for column in again}, path, missing)
        return decide([found[column] for column in numeric if column in found], path, separator, learned)

    def codes_with_commas(self, apart: Collection[str]) -> set[str]:
        """Return the names of columns whose commas cannot be decimal, because other columns have points."""
        left = [each for each in self._found.values() if each.name not in apart]
        has_points = any(each.with_mark(".") for each in left)
        has_points = has_points or any(self._layout.columns[column] not in apart for column in self._settled)
        return {each.name for each in left if has_points and ("decimal", ",") in each.first}


def blocks(
    rows: Iterable[Row], layout: Layout, marks: Marks | None = None, *, most_rows: int | None = None
) -> Iterator[Cells]:
    """Convert rows in blocks.

    Parameters
    ----------
    rows : iterable of (int, list of str)
        Line and cells of each data row.
    layout : Layout
        Columns of the file.
    marks : Marks or None, default=None
        Evidence to which the cells are added.
    most_rows : int or None, default=None
        Number of rows of a block. By default, it depends on the number of columns.

    Yields
    ------
    Cells
        The next block.

    Raises
    ------
    DataError
        If there is no row, or a row is too short or too long.
    """
    rows, before, n_rows = iter(rows), 0, most_rows or max(_AT_ONCE // len(layout.columns), 1)
    while block := list(itertools.islice(rows, n_rows)):
        yield _block(block, before, layout, marks)
        before += len(block)
    if not before:
        raise DataError(f"{layout.path} has a header but no data row.")


def joined(parts: Iterable[Cells]) -> Cells:
    """Join consecutive blocks."""
    numbers, lines, n_rows = [], array("q"), 0
    others: dict[int, tuple[array[int], list[str]]] = {}
    text: dict[int, list[str]] = {}
    for part in parts:
        numbers.append(part.numbers)
        lines.extend(part.lines)
        for column, (rows, cells) in part.others.items():
            all_rows, all_cells = others.setdefault(column, (array("q"), []))
            all_rows.extend(row + n_rows for row in rows)
            all_cells += cells
        for column, cells in part.text.items():
            text.setdefault(column, []).extend(cells)
        n_rows += len(part.numbers)
    return Cells(part.numeric, np.concatenate(numbers), others, text, lines)


def _block(block: Sequence[Row], before: int, layout: Layout, marks: Marks | None) -> Cells:
    lines, rows = zip(*block, strict=True)
    found = Cells(layout.numeric, np.empty(0), {}, {}, lines, before)
    n_columns, width = len(layout.columns), len(layout.numeric)
    if {*map(len, rows)} != {n_columns}:
        row = next(row for row, cells in enumerate(rows) if len(cells) != n_columns)
        advice = "Correct this row."
        if before + row == 0 and len(rows[row]) == n_columns + 1:
            advice += " If its first cell is a name that R wrote, write the table with row.names = FALSE."
        where = found.place(row, layout.path)
        raise DataError(f"{where}: found {count(len(rows[row]), 'cell')}, but there are {n_columns} columns. {advice}")
    if layout.numeric == [*range(n_columns)]:
        flat = list(itertools.chain.from_iterable(rows))
    else:
        flat = [cells[place] for cells in rows for place in layout.numeric]
    values, others = _plain(flat, layout.missing)
    if marks is not None:
        marks.add(flat, others.tolist(), functools.cache(lambda row: found.place(row, layout.path)))
    for column in np.unique(others % width):
        indices = others[others % width == column]
        cells = [flat[index].strip() for index in indices.tolist()]
        found.others[layout.numeric[column]] = array("q", (indices // width).tobytes()), cells
    found.numbers = values.reshape(len(rows), width)
    found.text = {place: [cells[place].strip() for cells in rows] for place in layout.text}
    return found


def _plain(cells: Sequence[str], missing: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the plain numbers of cells, NaN for other cells, and the positions of these."""
    try:
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        numbers = np.fromiter(map(_float_or_nan, cells), np.float64, len(cells))
    is_other = ~(np.abs(numbers) < MOST_EXACT)
    if "_" in "".join(cells):  # float() reads 1_000 as 1000.
        is_other |= np.fromiter(("_" in cell for cell in cells), bool, len(cells))
    if missing is not None:
        is_other |= np.fromiter((cell.strip() == missing for cell in cells), bool, len(cells))
    numbers[is_other] = np.nan
    return numbers, np.flatnonzero(is_other)


def _float_or_nan(cell: str) -> float:
    try:
        return math.nan if "," in cell else float(cell)  # An exception takes a microsecond.
    except ValueError:
        return math.nan


def plain_numbers(cells: Sequence[str]) -> array[float] | None:
    """Convert cells to numbers, if this is possible without checking each cell.

    Parameters
    ----------
    cells : sequence of str
        Texts of the cells.

    Returns
    -------
    array of float or None
        The numbers. None if a cell is not a finite number, contains an underscore, or may be too large to be exact.

    Examples
    --------
    >>> plain_numbers(["0.5", "2"])
    array('d', [0.5, 2.0])
    """
    numbers, others = _plain(cells, None)
    return None if others.size else array("d", numbers.tobytes())


def converted(
    cells: Cells, layout: Layout, decimals: Decimals, words: Counter[tuple[str, str]] | None = None
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the numbers of the columns of ``layout``, and the cells of its columns of text by name.

    Parameters
    ----------
    cells : Cells
        The cells. Their columns of numbers are those of ``layout``.
    layout : Layout
        Columns of the file.
    decimals : Decimals
        Notation of the numbers.
    words : Counter or None, default=None
        Counts of truth values and ``#N/A`` by column and spelling, to be increased.

    Returns
    -------
    numbers : ndarray of shape (n_rows, n_numeric)
        Numbers, NaN where a missing number is allowed.
    text : dict of str to ndarray of shape (n_rows,)
        Cells. A missing text is empty where it is allowed.

    Raises
    ------
    DataError
        If a cell is invalid. The first row with such a cell is reported.
    """
    place_of = {column: place for place, column in enumerate(layout.numeric)}
    kept = [place for place, column in enumerate(cells.numeric) if column in place_of]
    values = cells.numbers if len(kept) == len(cells.numeric) else cells.numbers[:, kept]
    text: dict[str, np.ndarray] = {}
    faults: dict[int, dict[str, Fault]] = {}
    for order, column in enumerate(layout.text):
        known, name = {}, layout.columns[column]
        for cell in dict.fromkeys(cells.text[column]):
            try:
                known[cell] = text_of(cell, column, "", layout)
            except DataError:
                read = functools.partial(text_of, cell, column, layout=layout)
                if _is_full(faults.setdefault(column, {}), cell, Fault(column, order, read)):
                    break
        if column not in faults:
            longest = max(map(len, known.values()), default=0)  # An array of text has equal room for every cell.
            dtype = str if longest <= _LONG else object
            text[name] = np.array([known[cell] for cell in cells.text[column]], dtype=dtype)
    for column in filter(cells.others.__contains__, place_of):
        name, (rows, others), numbers = layout.columns[column], cells.others[column], {}
        counts = Counter(others)
        for cell, plain in zip(counts, decimals.numbers([*counts], layout.missing), strict=True):
            read_cell = functools.partial(number_in, plain, name, missing=layout.missing, gaps=layout.gaps)
            try:
                numbers[cell] = read_cell("")
            except CellError:
                fault = Fault(column, len(layout.text) + place_of[column], read_cell)
                if _is_full(faults.setdefault(column, {}), cell, fault):
                    break
        if column not in faults:
            values[rows, place_of[column]] = [numbers[cell] for cell in others]
            if words is not None:
                truths = (cell for cell in counts if cell.casefold() in TRUTHS or cell == NOT_AVAILABLE)
                words.update({(name, cell): counts[cell] for cell in truths})
    if faults:
        _refuse(cells, layout, faults)
    return values, text


def _is_full(found: dict[str, Fault], cell: str, fault: Fault) -> bool:
    """Add a fault, and return whether a message can name no more texts of the column."""
    found[cell] = fault
    return len(found) > MOST_NAMES


def _refuse(cells: Cells, layout: Layout, faults: Mapping[int, Mapping[str, Fault]]) -> NoReturn:
    """Raise the error of the first cell, and name the next ones."""
    found = []
    for column, texts in faults.items():
        first = itertools.islice(cells.positions(column, texts), MOST_NAMES + 1)
        found += [(row, texts[cell].order, cell, texts[cell]) for row, cell in first]
    (row, _, _, fault), *others = sorted(found, key=lambda each: each[:2])
    further = same_for(
        [
            f"{cells.name_of(row)}, column {layout.columns[other.column]!r} ({quoted(cell)})"
            for row, _, cell, other in others
        ]
    )
    try:
        fault.read(cells.place(row, layout.path))
    except CellError as error:
        problem, advice = error.args
        raise CellError(problem, advice + further, error.advice_if_needed + further) from None
    except DataError as error:
        raise DataError(f"{error}{further}") from None
    raise AssertionError(fault)


def is_text(cell: str) -> bool:
    """Return whether a cell is not a number, a truth value or a missing value.

    Parameters
    ----------
    cell : str
        Text of the cell.

    Returns
    -------
    bool
        Whether the cell is other text. Errors of formulas are not.

    Examples
    --------
    >>> is_text("green"), is_text("1e3"), is_text("yes"), is_text("NA")
    (True, False, False, False)
    """
    is_other = cell.casefold() in GAPS or cell.casefold() in TRUTHS or number_of(cell) is not None
    return not (is_other or fault_of(cell))


def check_no_date(cell: str, column: str, position: str) -> None:
    """Raise :class:`CellError` for a date."""
    if _DATE.fullmatch(cell):
        number_in(cell, column, position)


def number_in(cell: str, column: str, position: str, missing: str | None = None, *, gaps: bool = False) -> float:
    """Convert one cell to a number with all checks. A missing number is NaN if it is allowed."""
    cell = cell.strip()
    if cell == missing or (gaps and cell.casefold() in GAPS):
        return math.nan
    if cell.casefold() in TRUTHS:
        return TRUTHS[cell.casefold()]
    number = number_of(cell)
    if number is not None and math.isfinite(number):
        if abs(number) >= MOST_EXACT and _INTEGER.fullmatch(cell) and Decimal(cell) != Decimal(number):
            found = f"{position}, column {column!r}: found {cell}"
            raise CellError(
                f"{found}, an integer that double precision rounds to {number:.0f}.",
                "Leave the column out (ignore), use it as the id, or subtract a constant from it.",
            )
        return number
    if unsaved := fault_of(cell):
        fault, advice = f", {unsaved[0]}", unsaved[1]
    elif cell.casefold() in GAPS:
        fault, advice = " where a number is missing", "Fill it in, remove the row, or leave the column out (ignore)."
    elif number is not None:
        fault, advice = ", but numbers must be finite", "Replace it or remove the row."
    elif _DATE.fullmatch(cell):
        fault, advice = ", a date", "Write the number of days since a fixed day, or leave the column out (ignore)."
    else:
        fault = ", which is not a number"
        advice = (
            "Correct it, set the column as id or groups, leave it out (ignore), or declare that it contains text "
            "(features)."
        )
    problem = f"{position}, column {column!r}: found {quoted(cell)}{fault}."
    raise CellError(problem, advice, unsaved and unsaved[1])


def unknown_category(position: str, column: str, cell: str, known: Collection[str]) -> str:
    """Return the message on a category that a model does not know."""
    shown = shortened([abbreviated(value) for value in filter(None, known)])
    found = f"{position}, column {column!r}: found {quoted(cell)}, but known are {shown}."
    return f"{found} Correct it, or treat unknown categories as missing (--unknown missing)."


def text_of(cell: str, column: int, position: str, layout: Layout) -> str:
    """Return the text of one cell. A missing text is empty if it is allowed."""
    cell, missing, known = cell.strip(), layout.missing, layout.values.get(column, ())
    fault = None if cell == missing else fault_of(cell)
    if cell == NOT_AVAILABLE and layout.columns[column] in layout.labels:
        fault = "an error of a formula", "Correct the formula, or leave the cell empty."
    if fault is None and cell in known:
        return cell
    gaps = _CERTAIN_GAPS if layout.is_typed else _TEXT_GAPS
    if fault is None and column in layout.may_lack and (cell == missing or cell.casefold() in gaps):
        return ""
    if fault is None and known and layout.unknown != "allowed" and composed(cell) not in known:
        if layout.unknown == "missing":
            return ""
        raise DataError(unknown_category(position, layout.columns[column], cell, known))
    # "NA" or "none" may be the name of a class, but these may not.
    if fault is None and cell not in ("", "?", missing):
        return cell
    found = f"{position}, column {layout.columns[column]!r}: found {quoted(cell)}"
    if fault:
        raise CellError(f"{found}, {fault[0]}.", fault[1], fault[1])
    raise DataError(f"{found}, but this column needs a value in every row. Write the value or remove the row.")
