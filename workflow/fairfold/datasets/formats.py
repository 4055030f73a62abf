"""Readers of CSV, ARFF, MULAN label lists, MATLAB, R and SciPy files, without unpickling.

A file with an invalid cell is refused with a :class:`~fairfold.errors.DataError` that contains the file, the column and
the row. Rows count from 1 without the header, and lines are those of the file.
"""

# pandas, rdata and scipy.io are imported where they are used, because their import is slower than reading most files.
# A job of the study reads at most one format.

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import logging
import math
import os
import re
import textwrap
import warnings
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, canonical
from fairfold.datasets.cells import (
    Cells,
    Layout,
    Marks,
    blocks,
    check_no_date,
    converted,
    is_text,
    joined,
    number_in,
    plain_numbers,
    text_of,
)
from fairfold.datasets.columns import ROW_NAMES, Table, ignored_columns
from fairfold.datasets.decimals import Decimals, Learned, form_of, gather
from fairfold.datasets.label_values import TRUTHS, number_of
from fairfold.datasets.names import composed
from fairfold.datasets.rows import Row, TableFile, read_text, sentences
from fairfold.datasets.workbook import NOT_AVAILABLE
from fairfold.errors import DataError, unknown_name

logger = logging.getLogger(__name__)

PathLike = str | os.PathLike[str]


# --- CSV --------------------------------------------------------------------------------------------------------------


def read_csv(
    path: PathLike,
    *,
    header: bool = True,
    missing: str | None = None,
    gaps: bool = False,
    text_columns: Collection[str | int] = (),
    categorical: Collection[str] = (),
    labels: Collection[str] = (),
    ignored: Collection[str] = (),
) -> Table:
    r"""Read a table of numbers from any file that :mod:`fairfold.datasets.rows` supports.

    Quotes follow RFC 4180, and blank lines are skipped. TRUE and yes are read as 1, FALSE and no as 0.
    :mod:`fairfold.datasets.decimals` decides whether numbers have decimal commas. Text cells are not changed.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    header : bool, default=True
        Whether the first line names the columns. Otherwise they are called ``column_1``, ``column_2``, ...
    missing : str or None, default=None
        Text of a missing number, which becomes NaN.
    gaps : bool, default=False
        Whether missing numbers, as listed in ``GAPS``, become NaN. Otherwise they are an error.
    text_columns : collection of (str or int), default=()
        Names or positions of columns to return as text, such as a class. Positions count from 0, and -1 is the last.
    categorical : collection of str, default=()
        Names of further columns to return as text. Missing cells are empty if ``gaps`` is true. Parquet, Feather and
        Excel files distinguish missing cells from the text "NA", which is kept.
    labels : collection of str, default=()
        Names of label columns to return as text, as ``categorical``. The error ``#N/A`` of Excel is refused there.
    ignored : collection of str, default=()
        Names and patterns of columns to omit with any content; see :func:`~fairfold.datasets.columns.ignored_columns`.

    Returns
    -------
    Table
        Dense table with the text and categorical columns in ``text``, even if they are also ignored.

    Raises
    ------
    DataError
        If the file is not a table or has no data row, a column name is absent or repeated, or a row is too short or too
        long. Also if a cell is missing, infinite, not a number, an integer beyond double precision, or a number that
        may have thousands separators.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;color;label_shade\n0,5;green;1\n1,25;brown;0\n")
    ...     table = read_csv(path, text_columns=["color"])
    >>> table.columns, table.values.tolist()
    (('height', 'label_shade'), [[0.5, 1.0], [1.25, 0.0]])
    >>> table.text["color"].tolist(), table.decimal_mark
    (['green', 'brown'], ',')
    """
    roles = [*text_columns, *categorical, *labels]
    scan = _Scan(Path(path), header=header, missing=missing, gaps=gaps, text=roles, ignored=ignored)
    return scan.table(categorical=categorical, labels=labels)


class _Scan:
    """Cells of a delimited, columnar or Excel file, read once.

    Parameters
    ----------
    path : Path
        Path of the file.
    header, missing, gaps, ignored
        As in :func:`read_csv`.
    text : collection of (str or int), default=()
        Names or positions of columns that are text in any case.
    """

    def __init__(
        self,
        path: Path,
        *,
        header: bool = True,
        missing: str | None = None,
        gaps: bool = False,
        text: Collection[str | int] = (),
        ignored: Collection[str] = (),
    ) -> None:
        self.file, self.n_header = TableFile(path), int(header)
        line, self.columns, rows = _columns_and_rows(self.file, header=header)
        self.place = {name: at for at, name in enumerate(self.columns)}
        self.left_out = ignored_columns(ignored, self.columns, path)
        text_at = sorted({position_of(self.columns, wanted, path) for wanted in text})
        apart = {*text_at, *map(self.place.__getitem__, self.left_out)}
        numeric = [at for at in range(len(self.columns)) if at not in apart]
        self.layout = Layout(
            path, self.columns, numeric, text_at, missing=missing, gaps=gaps, is_typed=not self.file.text
        )
        self.marks = Marks(self.layout)
        self.cells = self._plain_cells(line) or joined(
            blocks(rows, self.layout, self.marks if self.file.text else None)
        )

    def _plain_cells(self, line: int) -> Cells | None:
        """Read a file with pandas, if its columns of numbers contain nothing else, and no text is missing."""
        layout, path, last = self.layout, self.file.path, len(self.columns) - 1
        if last not in {*layout.numeric, *layout.text}:  # It shows whether a row is too short.
            return None
        frame = self.file.plain_frame(line * self.n_header, len(self.columns), layout.numeric)
        missing = number_of(layout.missing or "")
        if frame is None or (missing is not None and (frame[layout.numeric] == missing).any(axis=None)):
            return None
        texts = {at: list(map(str.strip, frame[at])) for at in layout.text}
        with contextlib.suppress(DataError):
            for at, cells in texts.items():
                for cell in dict.fromkeys(cells):
                    text_of(cell, at, "", layout._replace(labels=self.columns))
            points = {at: self.columns[at] for at in layout.numeric if frame.dtypes[at].kind == "f"}
            self.marks.settle(gather(self.file.data(self.n_header), points, path, is_plain=True))
            return Cells(layout.numeric, frame[layout.numeric].to_numpy(np.float64), {}, texts)
        return None

    def _decimals(self, numeric: Sequence[int], learned: Learned | None = None) -> Decimals:
        """Decide how the numbers of columns are written."""
        text = self.file.text
        return (
            Decimals()
            if text is None
            else self.marks.decide(
                numeric, functools.partial(self.file.data, self.n_header), text.dialect.separator, learned
            )
        )

    def text_columns(self, apart: Collection[str] = ()) -> list[str]:
        """Find columns as :func:`text_columns_of` does."""
        found, dates = set(), []
        for at, (rows, cells) in self.cells.others.items():
            texts = (cell for cell in dict.fromkeys(cells) if is_text(cell) and not (self.file.text and form_of(cell)))
            if self.columns[at] not in apart and (text := next(texts, None)) is not None:
                found.add(self.columns[at])
                dates.append((rows[cells.index(text)], at, text))
        for row, at, text in sorted(dates):
            check_no_date(text, self.columns[at], self.cells.place(row, self.file.path))
        found |= self.marks.codes_with_commas({*apart, *found})
        return [name for name in self.columns if name in found]

    def table(self, *, categorical: Collection[str] = (), labels: Collection[str] = ()) -> Table:
        """Convert the cells as :func:`read_csv` does."""
        path, at_text = self.file.path, {*self.layout.text, *map(self.place.__getitem__, [*categorical, *labels])}
        may_lack = {self.place[name] for name in [*categorical, *labels] if self.layout.gaps}
        numeric = [at for at in self.cells.numeric if at not in at_text]
        layout = self.layout._replace(numeric=numeric, text=sorted(at_text), may_lack=may_lack, labels={*labels})
        decimals, words = self._decimals(numeric), Counter[tuple[str, str]]()
        self._add_text(at_text)
        values, text = converted(self.cells, layout, decimals, words)
        if self.file.text is not None:  # A refused table may be read again, with words in its label columns.
            decimals.log(path)
        if ROW_NAMES in self.columns:
            logger.info("%s: column 1 has no name. It is read as row names and ignored.", path)
        names = tuple(self.columns[at] for at in numeric)
        codings = _mixed_codings(words, dict(zip(names, values.T, strict=True)))
        unavailable = frozenset(name for name, word in words if word == NOT_AVAILABLE)
        left_out, header = tuple(self.left_out), tuple(self.columns)
        return Table(names, values, path.name, text, left_out, header, decimals.mark, codings, unavailable)

    def _add_text(self, wanted: Collection[int]) -> None:
        """Read columns as text that were read as numbers. Only columns that contain both are read again."""
        cells, again = self.cells, []
        for at in wanted - cells.text.keys():
            if len(cells.others.get(at, ((), []))[1]) == len(cells.numbers):
                cells.text[at] = cells.others[at][1]
            else:
                again.append(at)
        if again:
            columns = zip(*([row[at].strip() for at in again] for _, row in self.file.data(self.n_header)), strict=True)
            cells.text |= dict(zip(again, map(list, columns), strict=True))


def _mixed_codings(words: Counter[tuple[str, str]], values: Mapping[str, np.ndarray]) -> dict[str, tuple[str, ...]]:
    """Return the spellings of truth values in each column that mixes them with numbers or with other spellings."""
    found = {}
    counts_of: dict[str, dict[str, int]] = {}
    for (name, word), n in words.items():
        if word != NOT_AVAILABLE:
            counts_of.setdefault(name, {})[word] = n
    for column, counts in counts_of.items():
        styles = {(word.casefold() in ("yes", "no"), word.islower(), word.isupper()) for word in counts}
        numbers = values[column][~np.isnan(values[column])]
        is_mixed = len(numbers) > sum(counts.values())
        if is_mixed or len(styles) > 1:
            found[column] = (*sorted(counts), *(f"{number:g}" for number in np.unique(numbers)[: 3 * is_mixed]))
    return found


def text_columns_of(
    path: PathLike, *, header: bool = True, apart: Collection[str] = (), ignored: Collection[str] = ()
) -> list[str]:
    r"""Find the columns that contain other cells than numbers, truth values and missing values.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    header : bool, default=True
        Whether the first line names the columns.
    apart : collection of str, default=()
        Names of columns to skip.
    ignored : collection of str, default=()
        Names and patterns of columns to skip; see :func:`~fairfold.datasets.columns.ignored_columns`.

    Returns
    -------
    list of str
        Names of the text columns in the order of the file.

    Raises
    ------
    DataError
        If the file is not a table, or the first text of a column is a date.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height,color\n0.5,green\nNA,brown\n")
    ...     text_columns_of(path)
    ['color']
    """
    return _Scan(Path(path), header=header, ignored=ignored).text_columns(apart)


def columns_of(path: PathLike, *, header: bool = True) -> list[str]:
    """Return the names of the columns of a file that :func:`read_csv` supports.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    header : bool, default=True
        Whether the first line names the columns.

    Returns
    -------
    list of str
        Names of all columns.
    """
    return _columns_and_rows(TableFile(Path(path)), header=header)[1]


def read_csv_parts(
    path: PathLike,
    choose: Callable[[list[str]], tuple[Sequence[str], Sequence[str], Sequence[str]]],
    *,
    rows: int,
    missing: str | None = None,
    gaps: bool = False,
    learned: Learned | None = None,
    values: Mapping[str, Collection[str]] | None = None,
) -> Iterator[Table]:
    r"""Read a CSV file in parts, with only one part in memory at a time.

    Cells are read as in :func:`read_csv`.

    Parameters
    ----------
    path : str or path-like
        Path of a file with a header.
    choose : callable
        Function of all column names that returns three sequences: columns to read as numbers, in the order of the
        result, columns to read as text, and categorical columns.
    rows : int
        Maximum number of rows of a part.
    missing : str or None, default=None
        Text of a missing number, as in :func:`read_csv`.
    gaps : bool, default=False
        Whether missing numbers become NaN, as in :func:`read_csv`.
    learned : Learned or None, default=None
        Notation of the numbers in the training data of a model, if one is used.
    values : mapping of str to collection of str, default=None
        Texts of categorical columns that are values, even if they look like a missing value, such as "NA".

    Yields
    ------
    Table
        The next part.

    Raises
    ------
    DataError
        As in :func:`read_csv`, when the part with the fault is read. Columns that are not chosen may have any content.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height,width\n0.5,3\n1.25,4\n2,5\n")
    ...     parts = read_csv_parts(path, lambda columns: (["height"], [], []), rows=2)
    ...     [part.values.ravel().tolist() for part in parts]
    [[0.5, 1.25], [2.0]]
    """
    path = Path(path)
    file = TableFile(path)
    _, header, lines = _columns_and_rows(file)
    numeric, text, categorical = choose(header)
    at, text_at = ([position_of(header, name, path) for name in names] for names in (numeric, [*text, *categorical]))
    may_lack = {header.index(name) for name in categorical if gaps}
    known = {header.index(name): texts for name, texts in (values or {}).items()}
    layout = Layout(path, header, at, text_at, may_lack, missing, gaps, is_typed=not file.text, values=known)
    decimals = Decimals()
    if file.text is not None:
        marks = Marks(layout)
        for _ in blocks(lines, layout, marks):
            pass
        decimals = marks.decide(at, file.data, file.text.dialect.separator, learned)
        decimals.log(path)
        lines = file.data()
    for part in blocks(lines, layout, most_rows=rows):
        numbers, texts = converted(part, layout, decimals)
        yield Table(tuple(numeric), numbers, path.name, texts)


def _columns_and_rows(file: TableFile, *, header: bool = True) -> tuple[int, list[str], Iterator[Row]]:
    """Return the line of the first row, the names of the columns, and the rows of data."""
    rows = file.rows()
    line, first = next(rows, (0, []))
    if not first:
        raise DataError(f"{file.path} contains only blank lines. Add rows of numbers.")
    if not header:
        return line, [f"column_{at}" for at in range(1, len(first) + 1)], itertools.chain([(line, first)], rows)
    columns = [composed(cell.strip()) for cell in first]
    if columns[0] == "" and len(columns) > 1:
        columns[0] = ROW_NAMES
    if "" in columns:
        fault = f"column {columns.index('') + 1} of the header has no name"
        raise DataError(f"{file.path}, line {line}: {fault}. Name it, or remove the column.")
    check_unique(columns, file.path)
    return line, columns, rows


def position_of(columns: Sequence[str], wanted: str | int, path: Path) -> int:
    """Return the index of a column given by name or position.

    Parameters
    ----------
    columns : sequence of str
        Names of all columns.
    wanted : str or int
        Name or position of the column. Negative positions count from the end.
    path : Path
        The file, for messages.

    Returns
    -------
    int
        Index of the column, from 0.

    Raises
    ------
    DataError
        If there is no such column.

    Examples
    --------
    >>> columns = ["height", "width", "color"]
    >>> position_of(columns, "width", Path("plants.csv")), position_of(columns, -1, Path("plants.csv"))
    (1, 2)
    """
    if isinstance(wanted, str):
        wanted = composed(wanted)
        if wanted not in columns:
            raise DataError(f"{path}: {textwrap.shorten(unknown_name('column', wanted, columns), 400)}")
        return columns.index(wanted)
    if not -len(columns) <= wanted < len(columns):
        raise DataError(f"{path}: no column at position {wanted}, only {len(columns)} columns. Correct the position.")
    return wanted % len(columns)


# --- ARFF -------------------------------------------------------------------------------------------------------------


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
                f"{self.place}: attribute {self.name!r} is of type {textwrap.shorten(self.kind, 60)!r}, but must be "
                f"numeric or a list of numbers such as {{0,1}}. Encode it as numbers or remove it, or {advice}."
            )

    def implied(self) -> str:
        """Return the value of the attribute in a sparse row without it: 0, or the first declared value."""
        if not self.values and not self.is_numeric:
            kind = textwrap.shorten(self.kind, 60)
            fault = f"sparse rows omit the attribute {self.name!r} of type {kind!r}, whose first value is unknown"
            raise DataError(f"{self.place}: {fault}. Declare its values, or write dense rows.")
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


def arff_text_columns_of(path: PathLike, *, apart: Collection[str] = (), ignored: Collection[str] = ()) -> list[str]:
    """Find the text attributes of an ARFF file, which are nominal with values other than numbers or of type string.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    apart : collection of str, default=()
        Names of attributes to skip.
    ignored : collection of str, default=()
        Names and patterns of attributes to skip; see :func:`~fairfold.datasets.columns.ignored_columns`.

    Returns
    -------
    list of str
        Names of the text attributes in the order of the file.
    """
    path = Path(path)
    attributes, _ = _arff_header(_arff_lines(path), path)
    apart = {*apart, *ignored_columns(ignored, [attribute.name for attribute in attributes], path)}
    text = [each for each in attributes if each.kind.startswith("{") or each.kind.casefold() in _OF_TEXT]
    return [each.name for each in text if not each.numbers() and each.name not in apart]


def arff_attributes_of(path: PathLike) -> list[_Attribute]:
    """Return the attributes of an ARFF file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    list of _Attribute
        Name, type and declared values of each attribute.
    """
    return _arff_header(_arff_lines(Path(path)), Path(path))[0]


def arff_columns_of(path: PathLike) -> list[str]:
    """Return the names of the attributes of an ARFF file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    list of str
        Names of all attributes.
    """
    return [attribute.name for attribute in arff_attributes_of(path)]


def read_arff(
    path: PathLike,
    *,
    gaps: bool = False,
    text_columns: Collection[str] = (),
    categorical: Collection[str] = (),
    labels: Collection[str] = (),
    ignored: Collection[str] = (),
) -> Table:
    r"""Read an ARFF file whose attributes are numeric, or nominal with numbers as values, such as ``{0,1}``.

    The words true and yes are read as 1, false and no as 0, as in :func:`read_csv`.

    Parameters
    ----------
    path : str or path-like
        Path of the file, plain or compressed, in UTF-8, UTF-16 or Windows-1252.
    gaps : bool, default=False
        Whether missing numbers (``?``) in dense rows become NaN. In sparse rows, they are always an error.
    text_columns : collection of str, default=()
        Names of attributes of any type to return as text, as in :func:`read_csv`.
    categorical : collection of str, default=()
        Names of further attributes to return as text, as in :func:`read_csv`. Declared values are never missing.
    labels : collection of str, default=()
        Names of label attributes to return as text, as ``categorical``.
    ignored : collection of str, default=()
        Names and patterns of attributes to omit, as in :func:`read_csv`.

    Returns
    -------
    Table
        CSR if the rows of the file are sparse (``{3 1, 7 1}``), dense otherwise.

    Raises
    ------
    DataError
        If the file is not ARFF or has no data row, an attribute has another type, a name is repeated, or a row does not
        fit the attributes. Also if a value is missing, infinite, not a number or not among the declared ones. In sparse
        rows, also if an omitted numeric attribute declares another value than 0 first, or an omitted text attribute
        declares no values.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.arff"
    ...     header = ["@relation plants", "@attribute height numeric", "@attribute shade {0,1}", "@data"]
    ...     _ = path.write_text("\n".join([*header, "0.5,1", "1.25,0"]))
    ...     table = read_arff(path)
    >>> table.columns, table.values.tolist()
    (('height', 'shade'), [[0.5, 1.0], [1.25, 0.0]])
    """
    path = Path(path)
    lines = _arff_lines(path)
    attributes, outline = _arff_header(lines, path)
    header = tuple(attribute.name for attribute in attributes)
    check_unique(header, path)
    text_at = [position_of(header, wanted, path) for wanted in [*text_columns, *categorical, *labels]]
    left_out = ignored_columns(ignored, header, path)
    apart = {*text_at, *map(header.index, left_out)}
    numeric_at = [at for at in range(len(header)) if at not in apart]
    numeric = [attributes[at] for at in numeric_at]
    for attribute in numeric:
        attribute.check()
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
    may_lack = {header.index(name) for name in [*categorical, *labels] if gaps}
    declared = {at: attributes[at].values for at in text_at}
    layout = Layout(path, header, numeric_at, text_at, may_lack, gaps=gaps and not is_sparse, values=declared)
    if is_sparse:
        values, text = _read_sparse_rows(path, zip(data_lines, rows, strict=True), attributes, layout)
    else:
        cells = ([cell or "?" for cell in cells] for cells in rows)
        placed = zip((line for line, _ in data_lines), cells, strict=True)
        values, text = converted(joined(blocks(placed, layout)), layout, Decimals())
    _check_nominal(values, numeric, path)
    names = tuple(attribute.name for attribute in numeric)
    return Table(names, values, path.name, text, tuple(left_out), header, weights=weights)


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
        plain = ""
        if _RELATION.match(text):
            plain = "@relation file"
        elif _ATTRIBUTE_START.match(text):
            plain = f"@attribute {len(attributes)} string"
            attributes.append(_attribute(text, f"{path}, line {line}"))
        elif _DATA.match(text):
            plain = "@data"
        elif text and not text.startswith("%"):
            found = f"{path}, line {line}: found {textwrap.shorten(text, 60)!r} before @data"
            raise DataError(f"{found}, but a header has only @relation, @attribute, @data and % comments. Correct it.")
        outline.append(plain)
        if plain == "@data":
            break
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
        raise DataError(f"{position}: {textwrap.shorten(text, 60)!r} is not '@attribute name type'. Correct the line.")
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
    place_of = {at: place for place, at in enumerate(layout.numeric)}
    firsts = {at: attributes[at].values[0] for at in layout.numeric if attributes[at].values}
    implied = {at: word for at, word in firsts.items() if TRUTHS.get(word.casefold())}  # Other omitted values are 0.
    numbers, indices, indptr = array("d"), array("q"), array("q", [0])
    texts: dict[int, list[str]] = {at: [] for at in layout.text}
    for number, ((line, text), entries) in enumerate(rows, start=1):
        where = f"{path}, data row {number} (line {line})"
        if entries and len(entries) != _ESCAPED_OR_QUOTED.sub("", text).count(",") + 1:  # Some entries are lost.
            raise DataError(f"{where}: the row contains an attribute twice, or an empty entry. Correct this row.")
        for at, found in texts.items():
            cell = (entries[at] or "?") if at in entries else attributes[at].implied()
            found.append(text_of(cell.strip(), at, where, layout))
        cells = {at: cell or "?" for at, cell in {**implied, **entries}.items() if at in place_of}
        plain = plain_numbers([*cells.values()])
        numbers.extend(
            (number_in(cell, attributes[at].name, where) for at, cell in cells.items()) if plain is None else plain
        )
        indices.extend(place_of[at] for at in cells)
        indptr.append(len(indices))
    shape = len(indptr) - 1, len(place_of)
    values = sparse.csr_array((np.array(numbers), np.array(indices), np.array(indptr)), shape=shape)
    return canonical(values), {attributes[at].name: np.array(cells) for at, cells in texts.items()}


def _is_other(known: Sequence[float], cells: np.ndarray) -> np.ndarray:
    return ~(np.isin(cells, known) | np.isnan(cells))


def _check_nominal(values: np.ndarray | sparse.csr_array, attributes: Sequence[_Attribute], path: Path) -> None:
    """Raise for a value, given or implied by a sparse row, that its nominal attribute does not declare."""
    allowed = [attribute.numbers() for attribute in attributes]
    for known in filter(None, dict.fromkeys(allowed)):
        positions = [at for at, each in enumerate(allowed) if each == known]
        unclear = [attributes[at].name for at in positions if attributes[at].values[0].casefold() not in TRUTHS]
        if sparse.issparse(values) and known[0] != 0 and unclear:
            fault = f"{path}: attribute {unclear[0]!r} declares {known[0]:g} first, which sparse rows omit"
            raise DataError(f"{fault}. Declare 0 first, or write dense rows.")
        block = values[:, positions]
        if wrong := first_cell(block, functools.partial(_is_other, known)):
            row, column = wrong
            found = f"column {attributes[positions[column]].name!r}: found {block[row, column]:g}"
            declared = textwrap.shorten(", ".join(f"{value:g}" for value in known), 60)
            raise DataError(f"{path}, data row {row + 1}, {found}, but the attribute declares {declared}.")


# --- MULAN label lists ------------------------------------------------------------------------------------------------


def read_label_names(path: PathLike) -> list[str]:
    """Read the names of the labels in a MULAN XML file, including nested labels, in the order of the file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    list of str
        Names of the labels.

    Raises
    ------
    DataError
        If the file is not a label list, declares entities, or has a label without a name or a repeated name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.xml"
    ...     _ = path.write_text('<labels><label name="shade"/><label name="water"/></labels>')
    ...     read_label_names(path)
    ['shade', 'water']
    """
    from defusedxml import ElementTree

    path = Path(path)
    with opened(path, "a MULAN label list") as stream:
        root = ElementTree.parse(stream).getroot()
    if root.tag.rpartition("}")[2] != "labels":
        raise DataError(f"{path} is not a MULAN label list: its outermost element is {root.tag!r}, not 'labels'.")
    names = [composed((label.get("name") or "").strip()) for label in root.iterfind(".//{*}label")]
    if not names:
        raise DataError(f'{path} lists no label. Write each one as <label name="..."></label>.')
    if "" in names:
        raise DataError(f"{path}: label {names.index('') + 1} has no name. Add one.")
    check_unique(names, path, "label")
    return names


# --- MATLAB, R, SciPy -------------------------------------------------------------------------------------------------


def read_mat(path: PathLike, variables: Sequence[str]) -> dict[str, np.ndarray]:
    """Read matrices from a MATLAB file (up to version 7).

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    variables : sequence of str
        Names of the matrices.

    Returns
    -------
    dict of str to ndarray of shape (n_rows, n_columns)
        Matrix by name, as float64.

    Raises
    ------
    DataError
        If the file has another format, a variable is absent, or a matrix contains other values than finite numbers.
    """
    from scipy import io as scipy_io

    path = Path(path)
    with opened(path, "a MATLAB file (if it is of version 7.3, save it with -v7)") as stream:
        read = scipy_io.loadmat(stream, variable_names=list(variables))
        if missing := [name for name in variables if name not in read]:
            raise DataError(f"{path} has no variable {missing[0]!r}. Correct the entry or replace the file.")
        matrices = {name: np.asarray(read[name], dtype=np.float64) for name in variables}
    for name, matrix in matrices.items():
        _check_finite(matrix, f"{path}, variable {name!r}")
    return matrices


def read_rdata(path: PathLike, names: tuple[str, str] = ("x", "y")) -> tuple[Table, np.ndarray]:
    """Read features and classes from an R data file in the layout of the package ``datamicroarray``.

    The two objects are taken from the list with the name of the file, or else from the top level.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    names : tuple of (str, str), default=("x", "y")
        R names of the features (a matrix or data frame) and of the classes (a factor or vector).

    Returns
    -------
    table : Table
        Dense table of the features. Columns without names are called ``V1``, ``V2``, ... as in R.
    classes : ndarray of shape (n_rows,)
        Class of each row as text.

    Raises
    ------
    DataError
        If the file has another format, an object is absent, a number or class is missing, a number is infinite, a
        column name is repeated, or the two objects differ in length.
    """
    import pandas as pd
    import rdata

    path = Path(path)
    with opened(path, "an R data file") as stream, warnings.catch_warnings():
        # rdata warns if it guesses. A guess is treated as an error.
        warnings.simplefilter("error", UserWarning)
        # R marks strings with their encoding, except plain ASCII strings in old files.
        objects = rdata.read_rda(stream, default_encoding="utf-8")
        holder = objects.get(path.stem, objects)
        if any(name not in holder for name in names):
            wanted = " and ".join(map(repr, names))
            raise DataError(f"{path} has no list with {wanted}, only {', '.join(map(str, objects)) or 'no object'}.")
        features, classes = holder[names[0]], pd.Series(holder[names[1]])
        # rdata returns a matrix with dimnames as an xarray.DataArray, and without them as an ndarray.
        frame = features.to_pandas() if hasattr(features, "to_pandas") else pd.DataFrame(features)
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    unnamed = isinstance(frame.columns, pd.RangeIndex)
    columns = tuple(f"V{position + 1}" if unnamed else str(column) for position, column in enumerate(frame.columns))
    check_unique(columns, path)
    _check_finite(values, path, columns)
    if classes.count() != len(values) or len(classes) != len(values):
        found = f"{names[0]!r} has {len(values)} rows, but {names[1]!r} has {classes.count()} classes"
        raise DataError(f"{path}: {found}. Write one class for each row.")
    return Table(columns, values, path.name), classes.to_numpy(dtype=object).astype(str)


def read_npz(path: PathLike) -> sparse.csr_array:
    """Read a sparse matrix that SciPy's ``save_npz`` wrote.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Matrix with the data type of the file, without duplicates or explicit zeros.

    Raises
    ------
    DataError
        If the file has another format, is damaged, needs unpickling, or contains other values than finite real numbers.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.npz"
    ...     sparse.save_npz(path, sparse.csr_array(np.eye(2)))
    ...     read_npz(path).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    path = Path(path)
    with opened(path, "a sparse matrix of SciPy") as stream:
        matrix = sparse.load_npz(stream)  # load_npz never unpickles.
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # Indices out of range would crash compiled code.
        matrix = canonical(matrix)
    if matrix.dtype.kind not in "biuf" or matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(f"{path}: expected a matrix of real numbers, found {matrix.dtype} of {matrix.shape}.")
    _check_finite(matrix, path)
    return matrix


# --- shared -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def opened(path: Path, kind: str) -> Iterator[BinaryIO]:
    """Open a file for a parser, and convert all errors of the parser to a :class:`DataError` of one sentence.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        Format of the file, for messages.

    Yields
    ------
    BinaryIO
        The open file.
    """
    with sentences(path, kind), path.open("rb") as stream:
        yield stream


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


def _check_finite(values: Matrix, source: PathLike, columns: Sequence[str] | None = None) -> None:
    if wrong := first_cell(values, lambda stored: ~np.isfinite(stored)):
        row, column = wrong
        name = repr(columns[column]) if columns else column + 1
        found = f"{source}, data row {row + 1}, column {name}: found {values[row, column]}"
        raise DataError(f"{found}, but numbers must be finite. Replace it or remove the row.")


def first_cell(values: Matrix, is_wrong: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int] | None:
    """Find the first stored number that is wrong.

    Parameters
    ----------
    values : {ndarray, csr_array} of shape (n_rows, n_columns)
        The numbers.
    is_wrong : callable
        Function of an array that returns a Boolean array of the same shape.

    Returns
    -------
    tuple of (int, int) or None
        Row and column of the number, or None if all numbers are right.

    Examples
    --------
    >>> first_cell(np.array([[0, 1], [2, 1]]), lambda cells: cells > 1)
    (1, 0)
    """
    if sparse.issparse(values):
        entries = values.tocoo()
        found = np.stack(entries.coords, axis=1)[is_wrong(entries.data)]
    else:
        found = np.argwhere(is_wrong(values))
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None
