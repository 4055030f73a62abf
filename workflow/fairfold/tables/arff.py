"""Reader of ARFF files, dense and sparse."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import logging
import math
import re
import textwrap
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import canonical
from fairfold.errors import DataError, quoted
from fairfold.tables.cells import (
    Layout,
    blocks,
    converted,
    joined,
    number_in,
    plain_numbers,
    text_of,
)
from fairfold.tables.decimals import Decimals
from fairfold.tables.label_values import TRUTHS, number_of
from fairfold.tables.names import check_unique, composed
from fairfold.tables.rows import read_text
from fairfold.tables.table import Table, first_cell, ignored_columns, position_of

logger = logging.getLogger(__name__)


class _Attribute(NamedTuple):
    """Column of an ARFF file with its type, its position in the file, and the declared values of a nominal one."""

    name: str
    kind: str
    place: str
    values: Sequence[str] = ()

    @property
    def is_numeric(self) -> bool:
        return _NUMERIC.fullmatch(self.kind) is not None

    @property
    def is_hierarchical(self) -> bool:
        """Whether the attribute has the classes of CLUS, such as ``01/02@03``."""
        return self.kind.casefold().startswith("hierarchical")

    @property
    def classes(self) -> list[str]:
        """Classes that a hierarchical attribute declares."""
        declared = self.kind.partition(" ")[2] if self.is_hierarchical else ""
        return [composed(name) for part in declared.split(",") if (name := _unquoted(part.strip()))]

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers that a nominal attribute declares, in order. Other attributes have none."""
        with contextlib.suppress(ValueError):
            numbers = tuple(float(TRUTHS.get(value.casefold(), value)) for value in self.values)
            return numbers if all(map(math.isfinite, numbers)) else ()
        return ()

    def check(self) -> None:
        """Raise for an attribute that is neither numeric nor nominal with numbers."""
        if not self.is_numeric and not self.numbers():
            advice = "make features of text attributes (categorical: one-hot)"
            if self.is_hierarchical:
                advice = f"give it as the label column (labels: {{names: [{self.name}]}})"
            raise DataError(
                f"{self.place}: attribute {self.name!r} is of type {quoted(self.kind)}, but must be "
                f"numeric or a list of numbers such as {{0,1}}. Encode it as numbers or remove it, or {advice}."
            )

    def implied(self) -> str:
        """Return the value of the attribute in a sparse row without it: 0, or the first declared value."""
        if not self.values and not self.is_numeric:
            raise DataError(
                f"{self.place}: sparse rows omit the attribute {self.name!r} of type {quoted(self.kind)}, whose first "
                "value is unknown. Declare its values, or write dense rows."
            )
        return self.values[0] if self.values else "0"


_OF_TEXT = ("string", "key")  # CLUS calls a column of names a key.
_NUMERIC = re.compile(r"(numeric|real|integer)(\s*\[.*\])?", re.I)  # Weka allows a range, such as real [0,1].
_WEIGHT = re.compile(r"(?:^|\s*,\s*|(?<=\})\s+)\{\s*([^\s{},]+)\s*\}$")
_QUOTED_VALUE = r"""(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
_QUOTED = re.compile(_QUOTED_VALUE)
_ESCAPED_OR_QUOTED = re.compile(rf"""\\['"]|{_QUOTED_VALUE}""")
_ATTRIBUTE = re.compile(
    rf"""@attribute\s+(?P<name> {_QUOTED_VALUE} | \S+? )
    (?: \s*(?P<nominal> \{{ (?: {_QUOTED_VALUE} | [^{{}}'"] )* \}} ) | \s+(?P<type> \S.*) )""",
    re.I | re.X,
)
_NOMINAL_VALUE = re.compile(rf"\s*(?:({_QUOTED_VALUE})\s*|([^,]*))(?:,|$)")
_OUTSIDE_QUOTES = rf"(?P<quoted>(?<![^\s,{{]){_QUOTED_VALUE})"
_COMMENT = re.compile(rf"{_OUTSIDE_QUOTES}|(?:(?<=[\s}}])|^)%.*$")
_SEPARATOR = re.compile(rf"{_OUTSIDE_QUOTES}|(?<!\s)\s*[,\t]\s*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_RELATION, _ATTRIBUTE_START, _DATA = (re.compile(rf"@{word}\b", re.I) for word in ("relation", "attribute", "data"))


class ArffFile:
    """Attributes and lines of an ARFF file.

    Parameters
    ----------
    path : Path
        Path of the file.
    text : collection of (str or int), default=()
        Names or positions of attributes that are text in any case.
    ignored : collection of str, default=()
        Names and patterns of attributes to omit.

    Raises
    ------
    DataError
        If the file is not ARFF, or a name is repeated.
    """

    def __init__(self, path: Path, *, text: Collection[str | int] = (), ignored: Collection[str] = ()) -> None:
        self.path, self._lines = path, _arff_lines(path)
        self.attributes, self._outline = _arff_header(self._lines, path)
        self.columns = [attribute.name for attribute in self.attributes]
        check_unique(self.columns, path)
        self.classes = {each.name: each.classes for each in self.attributes if each.is_hierarchical}
        self.choose(text=text, ignored=ignored)

    def choose(self, *, text: Collection[str | int], ignored: Collection[str]) -> None:
        """Choose the attributes that are text in any case, and those to omit."""
        self.left_out = ignored_columns(ignored, self.columns, self.path)
        self._text_at = [position_of(self.columns, wanted, self.path) for wanted in text]

    def text_columns(self) -> list[str]:
        """Find further text attributes, which are nominal with values other than numbers, or of type string."""
        apart = {*self.left_out, *(self.columns[column] for column in self._text_at)}
        text = [each for each in self.attributes if each.kind.startswith("{") or each.kind.casefold() in _OF_TEXT]
        return [each.name for each in text if not each.numbers() and each.name not in apart]

    def words(self, known: Mapping[str, bool]) -> list[str]:
        """Find further attributes of words or texts; see :func:`fairfold.tables.read`."""
        for name in known:
            position_of(self.columns, name, self.path)
        return [name for name in self.columns if known.get(name, name in self.text_columns())]

    @property
    def nominal(self) -> list[str]:
        """Further text attributes whose values the file declares."""
        declared = {each.name for each in self.attributes if each.values}
        return [name for name in self.text_columns() if name in declared]

    def table(self, *, categorical: Collection[str] = (), labels: Collection[str] = ()) -> Table:
        """Convert the data rows.

        Parameters
        ----------
        categorical : collection of str, default=()
            Names of further attributes to return as text. Declared values are never missing.
        labels : collection of str, default=()
            Names of label attributes to return as text, as ``categorical``.

        Returns
        -------
        Table
            CSR if the rows of the file are sparse (``{3 1, 7 1}``), dense otherwise. Other attributes are numeric, or
            nominal with numbers as values, such as ``{0,1}``. The words true and yes are read as 1, false and no as 0.
            Missing numbers (``?``) of dense rows are NaN.

        Raises
        ------
        DataError
            If there is no data row, an attribute has another type, or a row does not fit the attributes. Also if a
            value is infinite, not a number, not among the declared ones, or missing in a sparse row. In sparse rows,
            also if an omitted numeric attribute declares another value than 0 first, or an omitted text attribute
            declares no values.
        """
        path, attributes, header = self.path, self.attributes, tuple(self.columns)
        text_at = [*self._text_at, *(position_of(header, wanted, path) for wanted in [*categorical, *labels])]
        apart = {*text_at, *map(header.index, self.left_out)}
        numeric_at = [column for column in range(len(header)) if column not in apart]
        numeric = [attributes[column] for column in numeric_at]
        for attribute in numeric:
            attribute.check()
        lines, outline, left_out = self._lines, self._outline, self.left_out
        start = len(outline)
        numbered = [(line, _data_row(row)) for line, row in enumerate(lines[start:], start=start + 1)]
        numbered, weights = _without_weights(numbered, path)
        data_lines = [(line, row) for line, row in numbered if row]
        if not data_lines:
            raise DataError(f"{path} has no data row after @data. Add rows.")
        is_sparse = data_lines[0][1].startswith("{")
        for line, row in data_lines:
            if row.startswith("{") != is_sparse:
                raise DataError(f"{path}, line {line}: sparse and dense rows are mixed. Write all rows in one format.")
        rows = _arff_rows(itertools.chain(outline, (row for _, row in numbered)), is_sparse, path)
        may_lack = {header.index(name) for name in [*categorical, *labels]}
        declared = {column: attributes[column].values for column in text_at}
        layout = Layout(path, header, numeric_at, text_at, may_lack, gaps=not is_sparse, values=declared)
        if is_sparse:
            values, text = _read_sparse_rows(path, zip(data_lines, rows, strict=True), attributes, layout)
        else:
            cells = ([cell or "?" for cell in cells] for cells in rows)
            placed = zip((line for line, _ in data_lines), cells, strict=True)
            values, text = converted(joined(blocks(placed, layout)), layout, Decimals())
        _check_nominal(values, numeric, path)
        names = tuple(attribute.name for attribute in numeric)
        return Table(names, values, path.name, text, tuple(left_out), header, weights=weights)


def read_arff_columns(
    path: Path, choose: Callable[[list[str]], tuple[Sequence[str], Sequence[str], Sequence[str]]]
) -> Table:
    """Read some columns of an ARFF file, as :func:`~fairfold.tables.delimited.read_csv_parts` does of other files.

    Parameters
    ----------
    path : Path
        Path of the file.
    choose : callable
        Function of all column names that returns those to read as numbers, as text, and as categories.

    Returns
    -------
    Table
        The columns, in the order of the file. Missing cells are allowed except in text.
    """
    source = ArffFile(path)
    numeric, text, categorical = choose(source.columns)
    wanted = {*numeric, *text, *categorical}
    source.choose(text=text, ignored=[name for name in source.columns if name not in wanted])
    return source.table(categorical=categorical)


def _arff_lines(path: Path) -> list[str]:
    text = read_text(path)
    if not text.strip():
        raise DataError(f"{path} is empty.")
    return list(io.StringIO(text, newline=None))


def _without_weights(rows: Sequence[tuple[int, str]], path: Path) -> tuple[list[tuple[int, str]], np.ndarray | None]:
    """Remove the weights that end rows of Weka, such as ``{0.5}``, and return them. Rows without one weigh 1."""
    found, plain = [], []
    for line, row in rows:
        match = _WEIGHT.search(row)
        if match and match.start():  # A sparse row itself is in braces.
            weight = number_of(match[1])
            if weight is None or not (math.isfinite(weight) and weight > 0):
                raise DataError(
                    f"{path}, line {line}: found the weight {match[1]!r}, but a weight is a finite number above 0. "
                    "Correct it or remove the row."
                )
            row = row[: match.start()]
        plain.append((line, row))
        if row:
            found.append(weight if match and match.start() else 1.0)
    return plain, np.array(found) if set(found) - {1.0} else None


def _data_row(line: str) -> str:
    """Return a data row without its comment. Tabs between the values of a dense row become commas."""
    if "%" in line:
        line = _COMMENT.sub(_quoted_or(""), line)
    line = line.strip()
    return _SEPARATOR.sub(_quoted_or(","), line) if "\t" in line and not line.startswith("{") else line


def _quoted_or(text: str) -> Callable[[re.Match[str]], str]:
    return lambda match: match["quoted"] or text


def _arff_header(lines: Sequence[str], path: Path) -> tuple[list[_Attribute], list[str]]:
    """Return the attributes, and the header lines in the minimal form that :func:`_arff_rows` needs."""
    attributes: list[_Attribute] = []
    outline: list[str] = []
    for line, text in enumerate(map(str.strip, lines), start=1):
        if _DATA.match(text):
            outline.append("@data")
            break
        if _RELATION.match(text):
            outline.append("@relation file")
        elif _ATTRIBUTE_START.match(text):
            outline.append(f"@attribute {len(attributes)} string")
            attributes.append(_attribute(text, f"{path}, line {line}"))
        elif not text or text.startswith("%"):
            outline.append("")
        else:
            raise DataError(
                f"{path}, line {line}: found {quoted(text)} before @data, but a header has only "
                "@relation, @attribute, @data and % comments. Correct it."
            )
    stated = [plain for plain in outline if plain]
    if not attributes or stated[0] != "@relation file" or stated[-1] != "@data":
        raise DataError(f"{path} is not a complete ARFF file. It needs @relation, at least one @attribute, and @data.")
    return attributes, outline


def _attribute(text: str, position: str) -> _Attribute:
    """Parse the declaration of an attribute.

    liac-arff is not used here. It refuses repeated names and truncates integers at the point. If one of n nominal
    values contains a space, its run time grows with 2**n.
    """
    declared = _ATTRIBUTE.fullmatch(_COMMENT.sub(_quoted_or(""), text).strip())
    if not declared:
        raise DataError(f"{position}: {quoted(text)} is not '@attribute name type'. Correct the line.")
    kind = declared["nominal"] or declared["type"]
    values = _NOMINAL_VALUE.finditer(kind[1:-1]) if kind.startswith("{") and kind.endswith("}") else ()
    listed = [_unquoted(match[1] or match[2].strip()).strip() for match in values if match[0]]
    return _Attribute(composed(_unquoted(declared["name"])), kind, position, listed)


def _unquoted(text: str) -> str:
    if not _QUOTED.fullmatch(text):
        return text
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


def _arff_rows(lines: Iterable[str], is_sparse: bool, path: Path) -> list[Any]:
    """Split the data rows into lists of text, or mappings from attribute index to text. Missing values are None."""
    import arff

    try:
        return arff.load(iter(lines), return_type=arff.LOD if is_sparse else arff.DENSE)["data"]
    except arff.BadDataFormat as error:
        fault = f"{path}, line {error.line}: the row does not fit the attributes"
        raise DataError(f"{fault}: it has too few or too many values, or an index that is too large.") from None
    except (arff.ArffException, ValueError) as error:  # ValueError: a bad escape sequence, reported without its line
        raise DataError(f"{path}: {textwrap.shorten(str(error), 200).rstrip('.')}.") from None


def _read_sparse_rows(
    path: Path,
    rows: Iterable[tuple[tuple[int, str], Mapping[int, str | None]]],
    attributes: Sequence[_Attribute],
    layout: Layout,
) -> tuple[sparse.csr_array, dict[str, np.ndarray]]:
    """Convert sparse rows, given the line, text and entries of each, to numbers and to columns of text."""
    place_of = {column: place for place, column in enumerate(layout.numeric)}
    firsts = {column: attributes[column].values[0] for column in layout.numeric if attributes[column].values}
    implied = {
        column: word for column, word in firsts.items() if TRUTHS.get(word.casefold())
    }  # Other omitted values are 0.
    numbers, indices, indptr = array("d"), array("q"), array("q", [0])
    texts: dict[int, list[str]] = {column: [] for column in layout.text}
    for number, ((line, text), entries) in enumerate(rows, start=1):
        where = f"{path}, data row {number} (line {line})"
        if entries and len(entries) != _ESCAPED_OR_QUOTED.sub("", text).count(",") + 1:  # Some entries are lost.
            raise DataError(f"{where}: the row contains an attribute twice, or an empty entry. Correct this row.")
        for column, found in texts.items():
            cell = (entries[column] or "?") if column in entries else attributes[column].implied()
            found.append(text_of(cell.strip(), column, where, layout))
        cells = {column: cell or "?" for column, cell in {**implied, **entries}.items() if column in place_of}
        plain = plain_numbers([*cells.values()])
        numbers.extend(
            (number_in(cell, attributes[column].name, where) for column, cell in cells.items())
            if plain is None
            else plain
        )
        indices.extend(place_of[column] for column in cells)
        indptr.append(len(indices))
    shape = len(indptr) - 1, len(place_of)
    values = sparse.csr_array((np.array(numbers), np.array(indices), np.array(indptr)), shape=shape)
    return canonical(values), {attributes[column].name: np.array(cells) for column, cells in texts.items()}


def _is_other(known: Sequence[float], cells: np.ndarray) -> np.ndarray:
    return ~(np.isin(cells, known) | np.isnan(cells))


def _check_nominal(values: np.ndarray | sparse.csr_array, attributes: Sequence[_Attribute], path: Path) -> None:
    """Raise for a value, given or implied by a sparse row, that its nominal attribute does not declare."""
    allowed = [attribute.numbers() for attribute in attributes]
    for known in filter(None, dict.fromkeys(allowed)):
        positions = [index for index, each in enumerate(allowed) if each == known]
        unclear = [
            attributes[index].name for index in positions if attributes[index].values[0].casefold() not in TRUTHS
        ]
        if sparse.issparse(values) and known[0] != 0 and unclear:
            fault = f"{path}: attribute {unclear[0]!r} declares {known[0]:g} first, which sparse rows omit"
            raise DataError(f"{fault}. Declare 0 first, or write dense rows.")
        block = values[:, positions]
        if wrong := first_cell(block, functools.partial(_is_other, known)):
            row, column = wrong
            found = f"column {attributes[positions[column]].name!r}: found {block[row, column]:g}"
            declared = textwrap.shorten(", ".join(f"{value:g}" for value in known), 60)
            raise DataError(f"{path}, data row {row + 1}, {found}, but the attribute declares {declared}.")
