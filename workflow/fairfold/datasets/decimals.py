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

from fairfold.errors import DataError

logger = logging.getLogger(__name__)

MARKS = {",": "comma", ".": "point"}
_OTHER = {",": ".", ".": ","}
_EXPONENT = r"([eE][+-]?[0-9]+)?"
_DECIMAL = {mark: re.compile(rf"[+-]?([0-9]+[{mark}][0-9]*|[{mark}][0-9]+){_EXPONENT}") for mark in MARKS}
_AMBIGUOUS = {mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}") for mark in MARKS}
_GROUPED = {
    mark: re.compile(
        rf"[+-]?[1-9][0-9]{{0,2}}(([{mark}][0-9]{{3}}){{2,}}|([{mark}][0-9]{{3}})+[{other}][0-9]*){_EXPONENT}"
    )
    for mark, other in _OTHER.items()
}
_CODES = re.compile("[1-9],[1-9]")
_WHOLE = re.compile(r"[+-]?[1-9][0-9]*")
_MOST_DOUBTS = 3  # maximum number of doubts on the screen and in the log
_ADVICE = "or leave the column out (ignore)."


class Found(NamedTuple):
    """A cell and its position in the file."""

    cell: str
    place: str


@dataclass
class Evidence:
    """First cells of a column that show how its numbers are written.

    Attributes
    ----------
    name : str
        Name of the column.
    decimal : dict of str to Found
        By mark, a cell with the mark as an unambiguous decimal mark.
    ambiguous : dict of str to Found
        By mark, a cell with the mark as a decimal mark or thousands separator.
    grouped : Found or None
        A cell that has thousands separators.
    short, long : str or None
        A whole number other than 0 with at most three digits, and one with more.
    has_codes_only : bool
        Whether all decimal commas are between two digits from 1 to 9. A cell such as ``1,2`` may be a list of codes.
    """

    name: str
    decimal: dict[str, Found] = field(default_factory=dict)
    ambiguous: dict[str, Found] = field(default_factory=dict)
    grouped: Found | None = None
    short: str | None = None
    long: str | None = None
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
        >>> height.decimal[","].cell
        '0,5'
        """
        for mark in MARKS:
            if mark not in cell:
                continue
            if _GROUPED[mark].fullmatch(cell):
                self.grouped = self.grouped or Found(cell, place)
                return True
            for pattern, found in ((_AMBIGUOUS, self.ambiguous), (_DECIMAL, self.decimal)):
                if pattern[mark].fullmatch(cell):
                    found.setdefault(mark, Found(cell, place))
                    self.has_codes_only = self.has_codes_only and _CODES.fullmatch(cell) is not None
                    return True
        if _WHOLE.fullmatch(cell):
            if len(cell.lstrip("+-")) > 3:
                self.long = self.long or cell
            else:
                self.short = self.short or cell
        return False

    def needs(self, cell: str) -> bool:
        """Return whether a cell may add to the recorded evidence.

        Parameters
        ----------
        cell : str
            Text of the cell.

        Returns
        -------
        bool
            False if the cell is certainly redundant.
        """
        has_comma, has_point = "," in cell, "." in cell
        if has_comma != has_point:
            return ("," if has_comma else ".") not in self.decimal or (has_comma and self.has_codes_only)
        return has_comma or (cell != "0" and (self.long if len(cell) > 3 else self.short) is None)

    def with_mark(self, mark: str) -> Found | None:
        """Return a cell that has the mark, or None.

        Parameters
        ----------
        mark : {".", ","}
            The mark.

        Returns
        -------
        Found or None
            A cell with the mark and its position.
        """
        return self.decimal.get(mark) or self.ambiguous.get(mark)

    def fits_thousands(self, mark: str) -> bool:
        """Return whether the mark may separate thousands in all numbers of the column.

        This requires a whole number below 1000, and no larger whole number without the mark.

        Parameters
        ----------
        mark : {".", ","}
            The mark.

        Returns
        -------
        bool
            Whether the mark may separate thousands.
        """
        return mark in self.ambiguous and mark not in self.decimal and self.short is not None and self.long is None


def gather(
    rows: Iterable[tuple[int, Sequence[str]]], columns: Mapping[int, str], path: Path, missing: str | None = None
) -> list[Evidence]:
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

    Returns
    -------
    list of Evidence
        Evidence of each column.

    Examples
    --------
    >>> found = gather([(2, ["0,5", "1"]), (3, ["1,392", "0"])], {0: "height", 1: "label_a"}, Path("plants.csv"))
    >>> found[0].decimal[","]
    Found(cell='0,5', place='plants.csv, data row 1 (line 2)')
    """
    found = {at: Evidence(name) for at, name in columns.items()}
    for number, (line, cells) in enumerate(rows, start=1):
        for at, evidence in found.items():
            cell = cells[at].strip() if at < len(cells) else ""
            if cell != missing and evidence.needs(cell):
                evidence.add(cell, f"{path}, data row {number} (line {line})")
    return list(found.values())


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
        return [_with_point(cell) if "," in cell and cell.strip() != missing else cell for cell in cells]

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


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL[","].fullmatch(cell.strip()) else cell


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
    examples = [(one.decimal[mark].cell, one.name) for one in found if mark in one.decimal]
    unclear = [one for one in found if mark in one.ambiguous and mark not in one.decimal]
    changed = [one for one in unclear if learned and one.name in learned.whole]
    if changed and not by_format:
        raise _thousands(changed[0], mark, "and the model learned from whole numbers in this column")
    if not examples:
        _refuse_unclear(unclear, mark, by_format=by_format, learned=learned)
    if mark == "," and examples and all(one.has_codes_only for one in found):
        return Decimals(mark, examples[0], tuple(_code(one) for one in found if mark in one.decimal))
    doubtful = [one for one in unclear if one in changed or one.fits_thousands(mark) or not (examples or by_format)]
    shown = examples[0] if examples and (learned or not by_format) else None
    return Decimals(mark, shown, tuple(_doubt(one, mark) for one in doubtful))


def codes_with_commas(found: Collection[Evidence]) -> set[str]:
    """Return the names of columns whose commas cannot be decimal, because other columns have points.

    Parameters
    ----------
    found : collection of Evidence
        Evidence of each column of numbers.

    Returns
    -------
    set of str
        Names of the columns.

    Examples
    --------
    >>> height, codes = Evidence("height"), Evidence("codes")
    >>> height.add("0.5", "row 1"), codes.add("1,2", "row 1")
    (True, True)
    >>> codes_with_commas([height, codes])
    {'codes'}
    """
    if not any(one.with_mark(".") for one in found):
        return set()
    return {one.name for one in found if "," in one.decimal}


def _refuse_groups(found: Sequence[Evidence]) -> None:
    for one in found:
        if one.grouped:
            cell = one.grouped.cell
            mark = next(character for character in cell if character in MARKS)
            raise DataError(
                f'{_where(one, one.grouped)}: the {MARKS[mark]} in "{cell}" looks like a thousands separator. '
                f"Write {cell.replace(mark, '')}, {_ADVICE}"
            )


def _refuse_two_marks(found: Sequence[Evidence]) -> None:
    columns = {mark: [one for one in found if one.with_mark(mark)] for mark in MARKS}
    if not all(columns.values()):
        return
    certain = [mark for mark in MARKS if any(mark in one.decimal for one in found)]
    if len(certain) == 1:
        (mark,) = certain
        known = next(one for one in found if mark in one.decimal)
        because = f'because "{known.decimal[mark].cell}" in column {quoted(known.name)} has a decimal {MARKS[mark]}'
        one, other = columns[_OTHER[mark]][0], _OTHER[mark]
        raise _thousands(one, other, because, one.ambiguous[other].cell.replace(other, mark))
    rare = min(MARKS, key=lambda mark: len(columns[mark]))
    usual = _OTHER[rare]
    one, other = columns[rare][0], columns[usual][0]
    cell, other_cell = one.with_mark(rare), other.with_mark(usual).cell
    raise DataError(
        f'{_where(one, cell)}: "{cell.cell}" has a {MARKS[rare]}, but "{other_cell}" in column {quoted(other.name)} '
        f"has a {MARKS[usual]}. Write all numbers with the same decimal mark, {_ADVICE}"
    )


def _refuse_unclear(unclear: Sequence[Evidence], mark: str, *, by_format: bool, learned: Learned | None) -> None:
    """Raise if no number of the table resolves the ambiguous ones."""
    if learned:
        if learned.mark != mark:
            raise _thousands(unclear[0], mark, f"and the model learned from decimal {MARKS[learned.mark]}s")
        return
    if by_format:
        return
    if fitting := [one for one in unclear if one.fits_thousands(mark)]:
        raise _thousands(fitting[0], mark, f'because "{fitting[0].short}" has none')
    if mark == ",":
        raise _thousands(unclear[0], mark, "and no number in the table shows that it is a decimal comma")


def _thousands(one: Evidence, mark: str, because: str, decimal: str | None = None) -> DataError:
    """Return an error that suggests the number without a separator, or the ``decimal``, by default with four digits."""
    found = one.ambiguous[mark]
    return DataError(
        f'{_where(one, found)}: the {MARKS[mark]} in "{found.cell}" looks like a thousands separator, {because}. '
        f"Write {found.cell.replace(mark, '')} or {decimal or found.cell + '0'}, {_ADVICE}"
    )


def _code(one: Evidence) -> str:
    found = one.decimal[","]
    return (
        f'{_where(one, found)}: "{found.cell}" is read as {found.cell.replace(",", ".")}. If it is a list of codes, '
        "write a column of 0 and 1 for each code, or leave the column out (ignore)."
    )


def _doubt(one: Evidence, mark: str) -> str:
    found = one.ambiguous[mark]
    return (
        f'{_where(one, found)}: "{found.cell}" is read as {found.cell.replace(mark, ".")}. '
        f"If its {MARKS[mark]} separates thousands, write {found.cell.replace(mark, '')}."
    )


def _where(one: Evidence, found: Found) -> str:
    return f"{found.place}, column {quoted(one.name)}"
