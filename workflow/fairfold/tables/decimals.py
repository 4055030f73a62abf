"""Detect in each column how the numbers of a delimited text are written.

A comma or a point in a number may be a decimal mark, or it may separate thousands. Only some numbers are unambiguous:
`0,5` has a decimal comma, and `1,392,000` has thousands separators, but `1,392` may be either. A table is refused if
its columns disagree or remain ambiguous. No number is silently changed.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from fairfold.errors import CellError, DataError

logger = logging.getLogger(__name__)

MARKS = {",": "comma", ".": "point"}
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_DECIMAL = rf"(?:[0-9]+[{{0}}][0-9]*|[{{0}}][0-9]+){_EXPONENT}"
_GROUPED = (
    rf"[1-9][0-9]{{{{0,2}}}}(?:(?:[{{0}}][0-9]{{{{3}}}}){{{{2,}}}}|(?:[{{0}}][0-9]{{{{3}}}})+[{{1}}][0-9]*){_EXPONENT}"
)
_NUMBER = re.compile(
    rf"[+-]?(?:(?P<grouped>{_GROUPED.format(',', '.')}|{_GROUPED.format('.', ',')})"
    rf"|(?P<ambiguous>[1-9][0-9]{{0,2}}[.,][0-9]{{3}})|(?P<decimal>{_DECIMAL.format('.,')})"
    r"|(?P<short>[1-9][0-9]{0,2})|(?P<long>[1-9][0-9]{3,}))"
)
_WITH_COMMA = re.compile(rf"[+-]?{_DECIMAL.format(',')}")
_CODES = re.compile("[1-9],[1-9]")
_MOST_DOUBTS = 3  # maximum number of doubts on the screen and in the log
_ADVICE = "or leave the column out (ignore)."


class Found(NamedTuple):
    """A cell and its position in the file."""

    cell: str
    place: str


@dataclass(slots=True)
class Evidence:
    """First cells of a column that show how its numbers are written.

    Attributes
    ----------
    name : str
        Name of the column.
    first : dict of (str, str) to Found
        First cell by form and mark. The forms are "decimal" (the mark is certainly a decimal mark), "ambiguous" (it may
        also be a thousands separator), "grouped" (the number has thousands separators), and "short" and "long" for
        whole numbers other than 0 without a mark, with at most three digits or more.
    has_codes_only : bool
        Whether all decimal commas are between two digits from 1 to 9. A cell such as ``1,2`` may be a list of codes.
    """

    name: str
    first: dict[tuple[str, str], Found] = field(default_factory=dict)
    has_codes_only: bool = True

    def add(self, cell: str, place: str) -> bool:
        """Record a stripped cell, and return whether it is a number with a mark.

        Parameters
        ----------
        cell : str
            Text of the cell.
        place : str
            Position of the cell, for messages.

        Returns
        -------
        bool
            Whether the cell is a number with a comma or a point.

        Examples
        --------
        >>> height = Evidence("height")
        >>> height.add("0,5", "row 1"), height.add("12", "row 2")
        (True, False)
        >>> height.first["decimal", ","].cell
        '0,5'
        """
        if (form := form_of(cell)) is None:
            return False
        if form not in self.first:
            self.first[form] = Found(cell, place)
        self.has_codes_only = self.has_codes_only and (not form[1] or _CODES.fullmatch(cell) is not None)
        return bool(form[1])

    def with_mark(self, mark: str) -> Found | None:
        """Return the first cell in which a mark is, or may be, a decimal mark.

        Parameters
        ----------
        mark : {".", ","}
            Comma or point to find.

        Returns
        -------
        Found or None
            First cell in which it certainly is a decimal mark, else the first ambiguous cell. None if there is neither.
        """
        return self.first.get(("decimal", mark)) or self.first.get(("ambiguous", mark))

    @property
    def is_unclear(self) -> bool:
        """Whether a mark may separate thousands, and no number shows that it is a decimal mark."""
        return any(("ambiguous", mark) in self.first and ("decimal", mark) not in self.first for mark in MARKS)

    def fits_thousands(self, mark: str) -> bool:
        """Return whether the mark may separate thousands in all numbers of the column.

        This requires a whole number below 1000, and no larger whole number without the mark.

        Parameters
        ----------
        mark : {".", ","}
            Comma or point to test.

        Returns
        -------
        bool
            Whether the mark may separate thousands.
        """
        forms = {form for form, its_mark in self.first if its_mark in (mark, "")}
        return {"ambiguous", "short"} <= forms and not {"decimal", "long"} & forms


def form_of(cell: str) -> tuple[str, str] | None:
    """Return how a number is written.

    Parameters
    ----------
    cell : str
        Text of the cell, stripped.

    Returns
    -------
    tuple of (str, str) or None
        Form and mark, as in :class:`Evidence`. None for other cells.

    Examples
    --------
    >>> form_of("0,5"), form_of("1.392"), form_of("12"), form_of("a, b")
    (('decimal', ','), ('ambiguous', '.'), ('short', ''), None)
    """
    number = _NUMBER.fullmatch(cell)
    return number and (str(number.lastgroup), "," if "," in cell else "." if "." in cell else "")


def gather(
    rows: Iterable[tuple[int, Sequence[str]]],
    columns: Mapping[int, str],
    path: Path,
    missing: str | None = None,
    *,
    is_plain: bool = False,
) -> dict[int, Evidence]:
    """Collect the evidence of all rows.

    Parameters
    ----------
    rows : iterable of (int, sequence of str)
        Line and cells of each row, without the header.
    columns : mapping of int to str
        Positions and names of the columns of numbers.
    path : Path
        The file, for messages.
    missing : str or None, default=None
        Text of a missing number.
    is_plain : bool, default=False
        Whether the columns contain no commas. Then the first number with a certain decimal point decides for a column,
        and its further rows are skipped.

    Returns
    -------
    dict of int to Evidence
        Evidence of each column by its position.

    Examples
    --------
    >>> found = gather([(2, ["0,5", "1"]), (3, ["1,392", "0"])], {0: "height", 1: "label_a"}, Path("plants.csv"))
    >>> found[0].first["decimal", ","]
    Found(cell='0,5', place='plants.csv, data row 1 (line 2)')
    """
    found = {column: Evidence(name) for column, name in columns.items()}
    left = dict(found)
    for number, (line, cells) in enumerate(rows, start=1):
        place, settled = f"{path}, data row {number} (line {line})", []
        for column, evidence in left.items():
            cell = cells[column].strip() if column < len(cells) else ""
            if cell != missing and evidence.add(cell, place) and is_plain and ("decimal", ".") in evidence.first:
                settled.append(column)
        for column in settled:
            del left[column]
        if not left:
            break
    return found


class Decimals(NamedTuple):
    """Notation of the numbers of a table.

    Attributes
    ----------
    mark : str
        Decimal mark, a comma or a point.
    example : tuple of (str, str) or None
        A number with that mark and its column.
    doubts : tuple of str
        A sentence for each column that has another possible reading.
    """

    mark: str = "."
    example: tuple[str, str] | None = None
    doubts: tuple[str, ...] = ()

    def numbers(self, cells: Sequence[str], missing: str | None = None) -> Sequence[str]:
        """Return the cells with decimal points, except for the text of a missing number.

        Parameters
        ----------
        cells : sequence of str
            Cells of a row.
        missing : str or None, default=None
            Text of a missing number.

        Returns
        -------
        sequence of str
            The converted cells.

        Examples
        --------
        >>> Decimals(",").numbers(["0,5", "7", "a, b"])
        ['0.5', '7', 'a, b']
        """
        if self.mark == ".":
            return cells
        fits = _WITH_COMMA.fullmatch
        return [cell.replace(",", ".") if fits(text := cell.strip()) and text != missing else cell for cell in cells]

    def log(self, path: Path) -> None:
        """Log the notation of the numbers of a file.

        Parameters
        ----------
        path : Path
            The file.
        """
        such_as = f', such as "{self.example[0]}" in column {quoted(self.example[1])}' if self.example else ""
        logger.info("%s: numbers are read with decimal %ss%s.", path, MARKS[self.mark], such_as)
        for doubt in self.doubts[:_MOST_DOUBTS]:
            logger.warning("warning: %s", doubt)
        if len(self.doubts) > _MOST_DOUBTS:
            logger.warning("warning: %s: %d more columns are in doubt.", path, len(self.doubts) - _MOST_DOUBTS)


def quoted(name: str) -> str:
    """Return a name in double quotes on one line.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    str
        The name in the notation of JSON.

    Examples
    --------
    >>> quoted("Length, mm")
    '"Length, mm"'
    """
    return json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True)
class Learned:
    """Notation of the numbers in the training data of a model.

    Attributes
    ----------
    mark : str
        Decimal mark, a comma or a point.
    whole : collection of str
        Columns with whole numbers only.
    """

    mark: str = "."
    whole: Collection[str] = ()

    def __post_init__(self) -> None:
        """Refuse other marks, as in a damaged file."""
        if self.mark not in MARKS:
            raise ValueError(f"decimal mark {self.mark!r}")


def decide(found: Sequence[Evidence], path: Path, separator: str, learned: Learned | None = None) -> Decimals:
    """Decide how the numbers of a table are written.

    A number with only one possible reading decides for its column, and for ambiguous columns with the same mark, such
    as ``1,392``. If no number decides, a point is a decimal point unless the column fits thousands separators, and a
    comma is refused. In text separated by commas, a point is always a decimal point. A model that learned from numbers
    with the same mark also decides.

    Parameters
    ----------
    found : sequence of Evidence
        Evidence of each column of numbers.
    path : Path
        The file, for messages.
    separator : str
        Character between cells.
    learned : Learned or None, default=None
        Notation of the numbers in the training data of a model, if one is used.

    Returns
    -------
    Decimals
        The notation.

    Raises
    ------
    DataError
        If a number has thousands separators, the marks of columns disagree, or all numbers are ambiguous.

    Examples
    --------
    >>> height, count = Evidence("height"), Evidence("count")
    >>> height.add("0,5", "row 1"), count.add("1,392", "row 1")
    (True, True)
    >>> decide([height, count], Path("plants.csv"), ";").mark
    ','
    """
    _refuse_groups(found)
    _refuse_two_marks(found)
    mark = next((mark for mark in MARKS if any(one.with_mark(mark) for one in found)), None)
    if mark is None:
        return Decimals(learned.mark if learned else ".")
    by_format = separator == "," and mark == "."
    decided = [(one.first["decimal", mark].cell, one.name) for one in found if ("decimal", mark) in one.first]
    unclear = [one for one in found if ("decimal", mark) not in one.first and ("ambiguous", mark) in one.first]
    changed = [one for one in unclear if learned and one.name in learned.whole]
    if changed and not by_format:
        raise _thousands(changed[0], mark, "and the model learned from whole numbers in this column")
    if not decided:
        _refuse_unclear(unclear, mark, by_format=by_format, learned=learned)
    if mark == "," and decided and not learned and all(one.has_codes_only for one in found):
        return Decimals(mark, decided[0], tuple(_code(one) for one in found if ("decimal", mark) in one.first))
    doubtful = [one for one in unclear if one in changed or one.fits_thousands(mark) or not (decided or by_format)]
    shown = decided[0] if decided and (learned or not by_format) else None
    return Decimals(mark, shown, tuple(_doubt(one, mark) for one in doubtful))


def _refuse_groups(found: Sequence[Evidence]) -> None:
    for one in found:
        for cell in (cell for (form, _), cell in one.first.items() if form == "grouped"):
            mark = next(character for character in cell.cell if character in MARKS)
            raise _refused(
                f'{_where(one, cell)}: the {MARKS[mark]} in "{cell.cell}" looks like a thousands separator.',
                f"Write {cell.cell.replace(mark, '')}",
            )


def _refuse_two_marks(found: Sequence[Evidence]) -> None:
    if not all(any(one.with_mark(mark) for one in found) for mark in MARKS):
        return
    columns = {mark: [(one, cell) for one in found if (cell := one.with_mark(mark))] for mark in MARKS}
    certain = {mark: [one for one in found if ("decimal", mark) in one.first] for mark in MARKS}
    for mark, other in (",.", ".,"):
        if certain[mark] and not certain[other]:
            known, (one, cell) = certain[mark][0], columns[other][0]
            example = f'"{known.first["decimal", mark].cell}" in column {quoted(known.name)}'
            because = f"because {example} has a decimal {MARKS[mark]}"
            raise _thousands(one, other, because, cell.cell.replace(other, mark))
    rare, usual = sorted(MARKS, key=lambda mark: len(columns[mark]))
    (one, cell), (another, usual_cell) = columns[rare][0], columns[usual][0]
    raise _refused(
        f'{_where(one, cell)}: "{cell.cell}" has a {MARKS[rare]}, but "{usual_cell.cell}" in column '
        f"{quoted(another.name)} has a {MARKS[usual]}.",
        "Write all numbers with the same decimal mark",
    )


def _refuse_unclear(unclear: Sequence[Evidence], mark: str, *, by_format: bool, learned: Learned | None) -> None:
    """Raise if no number of the table resolves the ambiguous ones."""
    fitting = [one for one in unclear if one.fits_thousands(mark)]
    if learned and learned.mark != mark:
        raise _thousands(unclear[0], mark, f"and the model learned from decimal {MARKS[learned.mark]}s")
    if learned or by_format:
        return
    if fitting:
        raise _thousands(fitting[0], mark, f'because "{fitting[0].first["short", ""].cell}" has none')
    if mark == ",":
        raise _thousands(unclear[0], mark, "and no number in the table shows that it is a decimal comma")


def _thousands(one: Evidence, mark: str, because: str, decimal: str | None = None) -> DataError:
    """Return an error that suggests the number without a separator, or the ``decimal``, by default with four digits."""
    found = one.first["ambiguous", mark]
    return _refused(
        f'{_where(one, found)}: the {MARKS[mark]} in "{found.cell}" looks like a thousands separator, {because}.',
        f"Write {found.cell.replace(mark, '')} or {decimal or found.cell + '0'}",
    )


def _refused(problem: str, remedy: str) -> CellError:
    """Return an error whose advice for a required column lacks the advice to leave it out."""
    return CellError(problem, f"{remedy}, {_ADVICE}", f"{remedy}.")


def _code(one: Evidence) -> str:
    found = one.first["decimal", ","]
    return (
        f'{_where(one, found)}: "{found.cell}" is read as {found.cell.replace(",", ".")}. If it is a list of codes, '
        f"write a column of 0 and 1 for each code, {_ADVICE}"
    )


def _doubt(one: Evidence, mark: str) -> str:
    found = one.first["ambiguous", mark]
    return (
        f'{_where(one, found)}: "{found.cell}" is read as {found.cell.replace(mark, ".")}. '
        f"If its {MARKS[mark]} separates thousands, write {found.cell.replace(mark, '')}."
    )


def _where(one: Evidence, found: Found) -> str:
    return f"{found.place}, column {quoted(one.name)}"
