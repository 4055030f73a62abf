"""Reader of delimited text, Parquet, Feather and Excel files.

A file with an invalid cell is refused with a :class:`~fairfold.errors.DataError` that contains the file, the column and
the row. Rows count from 1 without the header, and lines are those of the file.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from fairfold.core.arrays import GAPS
from fairfold.errors import DataError
from fairfold.tables.cells import (
    Cells,
    Layout,
    Marks,
    blocks,
    check_no_date,
    converted,
    is_text,
    joined,
    text_of,
)
from fairfold.tables.decimals import Decimals, Learned, form_of, gather
from fairfold.tables.label_values import number_of
from fairfold.tables.names import PathLike, check_unique, composed
from fairfold.tables.rows import Row, TableFile
from fairfold.tables.table import ROW_NAMES, Table, ignored_columns, position_of
from fairfold.tables.workbook import NOT_AVAILABLE

logger = logging.getLogger(__name__)


class RowFile:
    """Cells of a file that :mod:`fairfold.tables.rows` supports, read once.

    Quotes follow RFC 4180, and blank lines are skipped. TRUE and yes are read as 1, FALSE and no as 0.
    :mod:`fairfold.tables.decimals` decides whether numbers have decimal commas. Text cells are not changed.

    Parameters
    ----------
    path : Path
        Path of the file.
    header : bool, default=True
        Whether the first line names the columns. Otherwise they are called ``column_1``, ``column_2``, ...
    missing : str or None, default=None
        Text of a missing number, which becomes NaN.
    gaps : bool, default=False
        Whether missing numbers, as listed in ``GAPS``, become NaN. Otherwise they are an error.
    text : collection of (str or int), default=()
        Names or positions of columns that are text in any case, such as a class. Positions count from 0, and -1 is the
        last.
    ignored : collection of str, default=()
        Names and patterns of columns to omit with any content; see :func:`~fairfold.tables.table.ignored_columns`.

    Raises
    ------
    DataError
        If the file is not a table, or a column name is absent or repeated.
    """

    nominal: Sequence[str] = ()
    """Columns of text whose values the file declares. These formats declare none."""

    classes: Mapping[str, Sequence[str]] = {}
    """Classes of a hierarchy that the file declares."""

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
        line, self.columns, rows = columns_and_rows(self.file, header=header)
        self.place = {name: column for column, name in enumerate(self.columns)}
        self.left_out = ignored_columns(ignored, self.columns, path)
        text_at = sorted({position_of(self.columns, wanted, path) for wanted in text})
        apart = {*text_at, *map(self.place.__getitem__, self.left_out)}
        numeric = [column for column in range(len(self.columns)) if column not in apart]
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
        texts = {column: list(map(str.strip, frame[column])) for column in layout.text}
        with contextlib.suppress(DataError):
            for column, cells in texts.items():
                for cell in dict.fromkeys(cells):
                    text_of(cell, column, "", layout._replace(labels=self.columns))
            points = {column: self.columns[column] for column in layout.numeric if frame.dtypes[column].kind == "f"}
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

    def words(self, known: Mapping[str, bool]) -> list[str]:
        """Find further columns of words, texts or dates; see :func:`fairfold.tables.read`."""
        for name in known:
            position_of(self.columns, name, self.file.path)
        found = {name for name, is_text in known.items() if is_text}
        for column, (_, cells) in self.cells.others.items():
            counts = Counter(cells)
            n_texts = sum(counts[cell] for cell in self._texts(cells))
            n_gaps = sum(n for cell, n in counts.items() if cell.casefold() in GAPS)
            if self.columns[column] not in known and n_texts and 2 * n_texts >= len(self.cells.numbers) - n_gaps:
                found.add(self.columns[column])
        return [name for name in self.columns if name in found]

    def _texts(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the different cells that are text."""
        return (cell for cell in dict.fromkeys(cells) if is_text(cell) and not (self.file.text and form_of(cell)))

    def text_columns(self) -> list[str]:
        """Find further columns that contain other cells than numbers, truth values and missing values."""
        found, dates = set(), []
        for column, (rows, cells) in self.cells.others.items():
            if (text := next(self._texts(cells), None)) is not None:
                found.add(self.columns[column])
                dates.append((rows[cells.index(text)], column, text))
        for row, column, text in sorted(dates):
            check_no_date(text, self.columns[column], self.cells.place(row, self.file.path))
        found |= self.marks.codes_with_commas(found)
        return [name for name in self.columns if name in found]

    def table(self, *, categorical: Collection[str] = (), labels: Collection[str] = ()) -> Table:
        """Convert the cells.

        Parameters
        ----------
        categorical : collection of str, default=()
            Names of further columns to return as text. Missing cells are empty if ``gaps`` is true. Parquet, Feather
            and Excel files distinguish missing cells from the text "NA", which is kept.
        labels : collection of str, default=()
            Names of label columns to return as text, as ``categorical``. The error ``#N/A`` of Excel is refused there.

        Returns
        -------
        Table
            Dense table with the text and categorical columns in ``text``, even if they are also ignored.

        Raises
        ------
        DataError
            If there is no data row, or a row is too short or too long. Also if a cell is missing, infinite, not a
            number, an integer beyond double precision, or a number that may have thousands separators.
        """
        path, at_text = self.file.path, {*self.layout.text, *map(self.place.__getitem__, [*categorical, *labels])}
        may_lack = {self.place[name] for name in [*categorical, *labels] if self.layout.gaps}
        numeric = [column for column in self.cells.numeric if column not in at_text]
        layout = self.layout._replace(numeric=numeric, text=sorted(at_text), may_lack=may_lack, labels={*labels})
        decimals, words = self._decimals(numeric), Counter[tuple[str, str]]()
        self._add_text(at_text)
        values, text = converted(self.cells, layout, decimals, words)
        if self.file.text is not None:  # A refused table may be read again, with words in its label columns.
            decimals.log(path)
        if ROW_NAMES in self.columns:
            logger.info("%s: column 1 has no name. It is read as row names and ignored.", path)
        names = tuple(self.columns[column] for column in numeric)
        codings = _mixed_codings(words, dict(zip(names, values.T, strict=True)))
        unavailable = frozenset(name for name, word in words if word == NOT_AVAILABLE)
        left_out, header = tuple(self.left_out), tuple(self.columns)
        return Table(names, values, path.name, text, left_out, header, decimals.mark, codings, unavailable)

    def _add_text(self, wanted: Collection[int]) -> None:
        """Read columns as text that were read as numbers. Only columns that contain both are read again."""
        cells, again = self.cells, []
        for column in wanted - cells.text.keys():
            if len(cells.others.get(column, ((), []))[1]) == len(cells.numbers):
                cells.text[column] = cells.others[column][1]
            else:
                again.append(column)
        if again:
            columns = zip(
                *([row[column].strip() for column in again] for _, row in self.file.data(self.n_header)), strict=True
            )
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


def columns_of(path: PathLike, *, header: bool = True) -> list[str]:
    """Return the names of the columns of a file that :class:`RowFile` supports.

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
    return columns_and_rows(TableFile(Path(path)), header=header)[1]


def read_csv_parts(
    path: PathLike,
    choose: Callable[[list[str]], tuple[Sequence[str], Sequence[str], Sequence[str]]],
    *,
    rows: int,
    missing: str | None = None,
    gaps: bool = False,
    learned: Learned | None = None,
    values: Mapping[str, Collection[str]] | None = None,
    unknown: Literal["error", "missing"] = "error",
) -> Iterator[Table]:
    r"""Read a CSV file in parts, with only one part in memory at a time.

    Cells are read as in :class:`RowFile`.

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
        Text of a missing number, as in :class:`RowFile`.
    gaps : bool, default=False
        Whether missing numbers become NaN, as in :class:`RowFile`.
    learned : Learned or None, default=None
        Notation of the numbers in the training data of a model, if one is used.
    values : mapping of str to collection of str, default=None
        Texts of categorical columns that are values, even if they look like a missing value, such as "NA".
    unknown : {"error", "missing"}, default="error"
        Whether other texts of these columns are an error or count as missing.

    Yields
    ------
    Table
        The next part.

    Raises
    ------
    DataError
        As in :class:`RowFile`, when the part with the fault is read. Columns that are not chosen may have any content.

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
    _, header, lines = columns_and_rows(file)
    numeric, text, categorical = choose(header)
    numeric_at, text_at = (
        [position_of(header, name, path) for name in names] for names in (numeric, [*text, *categorical])
    )
    may_lack = {header.index(name) for name in categorical if gaps}
    known = {header.index(name): texts for name, texts in (values or {}).items() if name in header}
    layout = Layout(path, header, numeric_at, text_at, may_lack, missing, gaps, is_typed=not file.text)
    layout = layout._replace(values=known, unknown=unknown)
    decimals = Decimals()
    if file.text is not None:
        marks = Marks(layout)
        for _ in blocks(lines, layout, marks):
            pass
        decimals = marks.decide(numeric_at, file.data, file.text.dialect.separator, learned)
        decimals.log(path)
        lines = file.data()
    for part in blocks(lines, layout, most_rows=rows):
        numbers, texts = converted(part, layout, decimals)
        yield Table(tuple(numeric), numbers, path.name, texts)


def columns_and_rows(file: TableFile, *, header: bool = True) -> tuple[int, list[str], Iterator[Row]]:
    """Return the line of the first row, the names of the columns, and the rows of data."""
    rows = file.rows()
    line, first = next(rows, (0, []))
    if not first:
        raise DataError(f"{file.path} contains only blank lines. Add rows of numbers.")
    if not header:
        return line, [f"column_{number}" for number in range(1, len(first) + 1)], itertools.chain([(line, first)], rows)
    columns = [composed(cell.strip()) for cell in first]
    if columns[0] == "" and len(columns) > 1:
        columns[0] = ROW_NAMES
    if "" in columns:
        fault = f"column {columns.index('') + 1} of the header has no name"
        raise DataError(f"{file.path}, line {line}: {fault}. Name it, or remove the column.")
    check_unique(columns, file.path)
    return line, columns, rows
