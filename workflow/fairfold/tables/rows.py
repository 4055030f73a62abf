"""Read the rows of a user's table in any file format, and log the recognized format.

Text may be compressed (gzip, bzip2, xz, Zstandard, or a zip archive of one file). Its encoding may be UTF-8, UTF-16,
UTF-32 or Windows-1252, and its separator a comma, semicolon, tab or vertical bar. pandas reads Parquet, Feather and
Excel files. An index with a name is a column. The file name does not matter. Trailing empty rows are ignored. Cells
are returned unchanged; :mod:`fairfold.tables.decimals` decides how numbers are written.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import itertools
import json
import logging
import lzma
import re
import sys
import textwrap
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from fairfold.core.arrays import GAPS
from fairfold.errors import DataError
from fairfold.tables.expansion import check_feather, check_parquet, check_workbook, limited
from fairfold.tables.label_values import TRUTHS
from fairfold.tables.workbook import cells_without_value

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

Row = tuple[int, list[str]]

_HEAD = 1 << 16  # number of characters for the detection of the dialect
_CHUNK = 1 << 20  # bytes
_SIGNATURE = 16
_MOST_PLAIN = 2000  # pandas takes much time for each column.
MOST_EXACT = 2.0**53
"""Below this size, double precision holds every integer."""
_ZIP = b"PK\x03\x04"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NO_CONTROL = bytes(code for code in range(256) if not _CONTROL.match(bytes([code])))
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # undefined in Windows-1252
_SIGNATURES = {
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive. Unpack it first (7z x).",
    b"PK\x03\x04": "is a zip archive. Unpack it first (unzip).",
    b"PAR1": "is a Parquet file that is cut off. Replace it by a whole one.",
    b"\x89HDF\r\n\x1a\n": "is an HDF5 file, as AnnData's. Write its table as Parquet "
    "(adata.to_df().join(adata.obs).to_parquet).",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an Excel workbook of the old kind (.xls). Save its sheet as CSV in UTF-8.",
}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_MOST_CELLS = 100  # maximum number of cells whose quotes are checked in the text
_OF_ODD_QUOTES = 0.9  # weight of rows with quotes in cells that are not quoted
_OF_TEXT = 0.1  # weight of a cell without a type, against 1 of one with a type
_DECLARED = re.compile(r'"?sep=(?P<separator>[^"\r\n])(?P=separator)*"?(\r\n|\r|\n)', re.IGNORECASE)
_WORDS = "|".join(map(re.escape, sorted({*GAPS, *TRUTHS})))
_TYPED = re.compile(rf"[+-]?(?=[.,]*[0-9])[0-9.,]+(e[+-]?[0-9]+)?|{_WORDS}", re.IGNORECASE)


class QuoteError(Exception):
    """Quotes that do not fit the dialect of a text."""


class Dialect(NamedTuple):
    r"""How the cells of a delimited text are separated and quoted.

    Attributes
    ----------
    separator : str
        Character between cells.
    escape : str or None
        Character before a quote inside a quoted cell. None where such a quote is doubled, as in RFC 4180.
    n_skipped : int
        Number of lines before the header.

    Examples
    --------
    >>> list(Dialect(";").rows(['"a;b";c\n', "1;2"]))
    [(1, ['a;b', 'c']), (2, ['1', '2'])]
    """

    separator: str = ","
    escape: str | None = None
    n_skipped: int = 0

    @property
    def name(self) -> str:
        """Plural name of the separator."""
        return SEPARATORS.get(self.separator, repr(self.separator))

    def rows(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the cells of each logical row.

        Quoted cells may contain line breaks. The line number is that of the last line of the row.

        Parameters
        ----------
        lines : iterable of str
            Lines of the text.

        Yields
        ------
        tuple of (int, list of str)
            Line number and cells.
        """
        csv.field_size_limit(sys.maxsize)  # A cell may contain a long text.
        lines, mark, escape = itertools.islice(lines, self.n_skipped, None), self.separator, self.escape
        reader = csv.reader(
            lines, strict=True, skipinitialspace=True, delimiter=mark, escapechar=escape, doublequote=not escape
        )
        try:
            for cells in reader:
                yield reader.line_num + self.n_skipped, cells
        except csv.Error as error:
            raise QuoteError(f"line {reader.line_num + self.n_skipped}: not a CSV ({error})") from None


def _open_zstandard(path: Path) -> IO[bytes]:
    import zstandard

    return zstandard.open(path, "rb")


@contextlib.contextmanager
def _open_only_member(path: Path) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise DataError(f"{path} is a zip archive of {len(names)} files. Unpack it, and give the one to read.")
        with archive.open(names[0]) as stream:
            yield stream


_COMPRESSIONS: tuple[tuple[str, bytes, Callable[[Path], AbstractContextManager[Any]]], ...] = (
    ("zip", _ZIP, _open_only_member),
    ("gzip", rb"\x1f\x8b", gzip.open),
    ("bzip2", rb"BZh.(1AY&SY|\x17rE8P\x90)", bz2.open),  # A name may start with "BZh".
    ("xz", rb"\xfd7zXZ\x00", lzma.open),
    ("Zstandard", rb"\x28\xb5\x2f\xfd", _open_zstandard),
    ("", b"", lambda path: path.open("rb")),
)
_MARKED = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),  # The first begins like UTF-16.
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-8-sig": (codecs.BOM_UTF8,),
}


class Text(NamedTuple):
    """Compression, encoding and dialect of a delimited text.

    Attributes
    ----------
    compression : str
        Name of the compression, or an empty text.
    encoding : str
        Python name of the encoding.
    dialect : Dialect
        Separator and quotes.
    n_quotes : int or None
        Number of double quotes. None for UTF-16 and UTF-32.
    """

    compression: str
    encoding: str
    dialect: Dialect
    n_quotes: int | None = None


class TableFile:
    r"""File with a table whose rows can be read repeatedly.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    path : Path
        The file.
    text : Text or None
        Format of a text file, or None for a columnar file or a workbook.

    Raises
    ------
    DataError
        If the file is missing, damaged, empty, or not a table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;label_a\n0,5;1\n")
    ...     list(TableFile(path).rows())
    [(1, ['height', 'label_a']), (2, ['0,5', '1'])]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_logged = False
        with sentences(path):
            self._kind = kind_of_frame(path)
            self.text = None if self._kind else _text_of(path)
        if self.text and (recognized := _recognized(self.text)):
            logger.info("%s: read as %s.", path, recognized)

    def rows(self) -> Iterator[Row]:
        """Yield the line number and the cells of each row that is not blank.

        Rows of a file that is not text count as lines. Trailing rows of empty cells are omitted. The file is read
        lazily.

        Yields
        ------
        tuple of (int, list of str)
            Line number and cells.
        """
        with sentences(self.path):
            found = self._rows_of_text(self.text) if self.text else _rows_of_columns(self.path, self._kind or "")
            yield from self._without_empty_end(found)

    def data(self, n_header: int = 1) -> Iterator[Row]:
        """Return the rows below the header."""
        return itertools.islice(self.rows(), n_header, None)

    def _rows_of_text(self, text: Text) -> Iterator[Row]:
        width = None
        with _unpacked(self.path) as stream:
            try:
                for line, cells in text.dialect.rows(io.TextIOWrapper(stream, text.encoding, newline="")):
                    if cells and (cells != [""] or width == 1):  # In a single column, an empty cell is a row.
                        width = width or len(cells)
                        yield line, cells
            except QuoteError as error:
                raise DataError(f"{self.path}, {error}. Check the quotes and the {text.dialect.name}.") from None

    def plain_frame(self, n_lines: int, n_columns: int, numeric: Collection[int]) -> pd.DataFrame | None:
        """Read the data rows with pandas, which is much faster, if it certainly gives the same cells.

        Parameters
        ----------
        n_lines : int
            Number of lines up to the header. 0 without a header.
        n_columns : int
            Number of columns.
        numeric : collection of int
            Positions of the columns of numbers. Other columns are read as text.

        Returns
        -------
        DataFrame or None
            Data rows, with plain numbers of at most 53 bits. None if columns of numbers contain other cells, rows
            differ in length, or cells are quoted. Rows may be too short if the last column is text.
        """
        import pandas as pd

        if self.text is None or self.text.dialect.escape or not 2 <= n_columns <= _MOST_PLAIN:
            return None
        text = {column: object for column in range(n_columns) if column not in numeric}
        options: dict[str, Any] = {"sep": self.text.dialect.separator, "header": None, "dtype": text}
        with sentences(self.path), _unpacked(self.path) as stream:
            lines = io.TextIOWrapper(stream, self.text.encoding, newline="")
            head = itertools.islice(lines, n_lines or self.text.dialect.n_skipped)
            if self.text.n_quotes != sum(line.count('"') for line in head):
                return None
            try:
                # Types of parts (low_memory) would differ, with a warning.
                frame = pd.read_csv(lines, **options, na_filter=False, skipinitialspace=True, low_memory=False)
            except ValueError:  # The other reader finds the fault.
                return None
        is_whole = frame.shape[1] == n_columns and all(frame.dtypes[column].kind in "iuf" for column in numeric)
        return frame if is_whole and (frame[[*numeric]].abs() < MOST_EXACT).all(axis=None) else None

    def _without_empty_end(self, rows: Iterable[Row]) -> Iterator[Row]:
        waiting: list[Row] = []
        for row in rows:
            if not any(map(str.strip, row[1])):
                waiting.append(row)
                continue
            yield from waiting
            waiting.clear()
            yield row
        if waiting and not self._is_logged:
            logger.info("%s: trailing empty rows are ignored: %d.", self.path, len(waiting))
            self._is_logged = True


@contextlib.contextmanager
def open_unpacked(path: Path, kind: str = "a table") -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, and decompress it if necessary.

    Parameters
    ----------
    path : Path
        The file.
    kind : str, default="a table"
        Format of the file, for messages.

    Yields
    ------
    IO
        Stream of the decompressed bytes.

    Raises
    ------
    DataError
        If the file is missing, damaged, or an archive of several files.

    Examples
    --------
    >>> import gzip
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_bytes(gzip.compress(b"height"))
    ...     with open_unpacked(path) as stream:
    ...         stream.read()
    b'height'
    """
    with sentences(path, kind), _unpacked(path) as stream:
        yield stream


def read_text(path: Path) -> str:
    """Read the text of a file, plain or compressed, in UTF-8, UTF-16, UTF-32 or Windows-1252.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        The text.

    Raises
    ------
    DataError
        If the file is missing, damaged, or not text.
    """
    with sentences(path):
        if kind := kind_of_frame(path):
            raise DataError(f"{path} is in {kind} format. Save its table as CSV in UTF-8.")
        encoding, _ = _encoding_of(path)
        with _unpacked(path) as stream:
            text = stream.read().decode(encoding)
    if encoding == "cp1252":
        logger.info("%s: read as text in Windows-1252. If names look wrong, save the file as UTF-8.", path)
    return text


# --- text -------------------------------------------------------------------------------------------------------------


def _text_of(path: Path) -> Text:
    encoding, n_quotes = _encoding_of(path)
    with _unpacked(path) as stream:
        start = io.TextIOWrapper(stream, encoding, newline="").read(_HEAD)
    if not start.strip():
        raise DataError(f"{path} is empty.")
    try:
        dialect = dialect_of(start, is_whole=len(start) < _HEAD)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return Text(_compression_of(path)[0], encoding, dialect, n_quotes)


def marked_encoding(start: bytes) -> str | None:
    r"""Return the encoding that a byte order mark declares.

    Parameters
    ----------
    start : bytes
        Beginning of the file.

    Returns
    -------
    str or None
        Python name of the encoding, or None without a mark.

    Examples
    --------
    >>> marked_encoding("a".encode("utf-32")), marked_encoding(b"a")
    ('utf-32', None)
    """
    return next((encoding for encoding, marks in _MARKED.items() if start.startswith(marks)), None)


def _encoding_of(path: Path) -> tuple[str, int | None]:
    """Detect the encoding from all bytes of a file, and count its double quotes."""
    with _unpacked(path) as stream:
        if (encoding := marked_encoding(start := stream.read(_CHUNK))) in ("utf-16", "utf-32"):
            return encoding, None
        decoder, is_utf_8, offset, plain = codecs.getincrementaldecoder("utf-8")(), True, 0, start
        n_quotes = 0
        while plain:
            n_quotes += plain.count(b'"')
            if is_utf_8:
                try:
                    decoder.decode(plain)
                except UnicodeDecodeError:
                    is_utf_8 = False
            # Deleting characters is much faster than a search.
            wrong = _CONTROL.search(plain) if plain.translate(None, _NO_CONTROL) else None
            if wrong := wrong or (None if is_utf_8 else _UNDEFINED.search(plain)):
                raise _not_text(path, plain, wrong.start(), offset)
            offset += len(plain)
            plain = stream.read(_CHUNK)
        is_utf_8 = is_utf_8 and not decoder.getstate()[0]  # The last character is complete.
    return "utf-8-sig" if is_utf_8 else "cp1252", n_quotes


def _not_text(path: Path, data: bytes, place: int, before: int) -> DataError:
    if before == 0 and (known := other_format(data)):
        return DataError(f"{path} {known}")
    found = f"byte 0x{data[place]:02x} at offset {before + place}"
    return DataError(f"{path} is not text: found {found}. Save it as text in UTF-8.")


def _recognized(text: Text) -> str:
    parts = [
        f"{text.compression}-compressed text" if text.compression else "",
        "text in Windows-1252 (if names look wrong, save it as UTF-8)" if text.encoding == "cp1252" else "",
        f"text in {text.encoding.upper()}" if text.encoding in ("utf-16", "utf-32") else "",
        f"cells between {text.dialect.name}" if text.dialect.separator != "," else "",
        "backslashes before quotes" if text.dialect.escape else "",
    ]
    return ", ".join(filter(None, parts))


# --- archives and frames ----------------------------------------------------------------------------------------------


def check_is_file(path: Path) -> None:
    """Raise :class:`DataError` for a folder, a pipe or a device, which cannot be read repeatedly.

    Parameters
    ----------
    path : Path
        The path of a table, which may not exist.
    """
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is a pipe or a device, which can be read only once. Save the table in a file.")


def _head(path: Path) -> bytes:
    check_is_file(path)
    with path.open("rb") as stream:
        return stream.read(_SIGNATURE)


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes]]:
    compression, opener = _compression_of(path)
    with opener(path) as stream:
        yield limited(stream, path) if compression else stream


def _compression_of(path: Path) -> tuple[str, Callable[[Path], AbstractContextManager[IO[bytes]]]]:
    """Return the name of the compression, and the function that opens the file."""
    head = _head(path)
    return next((name, opener) for name, start, opener in _COMPRESSIONS if re.match(start, head, re.DOTALL))


def _rows_of_columns(path: Path, kind: str) -> Iterator[Row]:
    """Read the rows of a columnar file or of a workbook."""
    import pandas as pd  # The import is slower than reading most text files.

    {"Excel": check_workbook, "Parquet": check_parquet, "Feather": check_feather}[kind](path)
    if kind == "Excel":
        # Read all cells unchanged. Without header=None, pandas would rename repeated columns.
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, keep_default_na=False)
        if len(sheets) != 1:
            raise DataError(f"{path} has {len(sheets)} sheets ({', '.join(sheets)}). Keep only the one to read.")
        frame, names = next(iter(sheets.values())), []
    else:
        from pyarrow import feather, parquet

        table = parquet.read_table(path) if kind == "Parquet" else feather.read_table(path)
        # pandas would convert integers with gaps to floats, which rounds those above 2**53.
        try:
            frame = table.to_pandas(integer_object_nulls=True)
            frame = frame.reset_index([name for name in frame.index.names if name is not None])
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise DataError(
                f"{path}: the metadata of pandas in this file do not fit its columns ({error}). Write the table again "
                "without an index, or save it as CSV."
            ) from None
        names = [(1, [str(name) for name in frame.columns])]
    logger.info("%s: read as %s, %d rows and %d columns.", path, kind, len(frame) - (not names), frame.shape[1])
    # Convert to text without loss of precision. Missing values are empty.
    cells = (zip(column.tolist(), column.isna(), strict=True) for _, column in frame.items())
    columns = [["" if missing else _as_text(value) for value, missing in column] for column in cells]
    for (row, column), text in (cells_without_value(path) if kind == "Excel" else {}).items():
        if column <= len(columns) and row <= len(columns[0]):  # Rows and columns without any value are omitted.
            columns[column - 1][row - 1] = text
    rows = (list(cells) for cells in zip(*columns, strict=True))
    return itertools.chain(names, enumerate(rows, start=1 + len(names)))


def _as_text(value: Any) -> str:
    """Return the text of a cell. A list, as Parquet files may contain, is written as JSON."""
    is_list = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict)
    return json.dumps([str(each) for each in value]) if is_list else str(value)


def kind_of_frame(path: Path) -> Literal["Parquet", "Feather", "Excel"] | None:
    """Return the format of a columnar file or a workbook.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    {"Parquet", "Feather", "Excel"} or None
        The format, or None for other files.
    """
    head = _head(path)
    if head.startswith(b"PAR1") and _ends_with(path, b"PAR1"):  # Text may start with these bytes.
        return "Parquet"
    if head.startswith(b"ARROW1\x00\x00") or (head.startswith(b"FEA1") and _ends_with(path, b"FEA1")):
        return "Feather"
    return "Excel" if head.startswith(_ZIP) and _is_workbook(path) else None


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as stream:
        stream.seek(-len(end), io.SEEK_END)
        return stream.read() == end


def _is_workbook(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if "content.xml" in names:
        raise DataError(f"{path} is an OpenDocument workbook. Save its sheet as CSV in UTF-8.")
    return any(name.startswith("xl/") for name in names)


@contextlib.contextmanager
def sentences(path: Path, kind: str = "a table") -> Iterator[None]:
    """Convert all errors of another package's reader to a :class:`DataError` of one sentence.

    Parameters
    ----------
    path : Path
        The file.
    kind : str, default="a table"
        Format of the file, for messages.

    Examples
    --------
    >>> try:
    ...     with sentences(Path("plants.csv")):
    ...         raise ValueError("bad byte")
    ... except DataError as error:
    ...     print(error)
    plants.csv cannot be read as a table: bad byte.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # Readers raise various errors on damaged files.
        reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
        reason = textwrap.shorten(reason, 200).rstrip(" .")
        raise DataError(f"{path} cannot be read as {kind}: {reason}.") from error


# --- formats and dialects ---------------------------------------------------------------------------------------------


def other_format(data: bytes) -> str | None:
    r"""Describe a file that is not text, with advice.

    Parameters
    ----------
    data : bytes
        Beginning of the file.

    Returns
    -------
    str or None
        The rest of a sentence that begins with the file name, or None if the format is unknown.

    Examples
    --------
    >>> other_format(b"PK\x03\x04")
    'is a zip archive. Unpack it first (unzip).'
    """
    return next((name for signature, name in _SIGNATURES.items() if data.startswith(signature)), None)


def dialect_of(text: str, *, is_whole: bool = True) -> Dialect:
    r"""Detect the dialect of a delimited text from its logical rows.

    Parameters
    ----------
    text : str
        The file or its first part.
    is_whole : bool, default=True
        Whether ``text`` is the whole file. Otherwise its last row may be truncated and does not count.

    Returns
    -------
    Dialect
        The dialect with the best score.

    Raises
    ------
    DataError
        If two separators divide all rows equally well.

    Notes
    -----
    A separator that gives all rows the same width is preferred. Otherwise, or if there are several, the separator with
    the best score is chosen. The score is the share of rows with the most frequent width, times the share of their
    cells that are numbers, truth values or empty. Quotes are doubled, as in RFC 4180, unless backslashes before them
    fit better, as written by R and the csv module. A first line such as ``sep=;``, which Excel supports, determines the
    separator.

    Examples
    --------
    >>> dialect_of("Length, mm;count\n0,5;11\n").separator
    ';'
    >>> dialect_of('"a"\t"b"\n1\t2\n').name
    'tabs'
    """
    declared = _DECLARED.match(text)
    separators, n_skipped = ([declared["separator"]], 1) if declared else (SEPARATORS, 0)
    dialects = [Dialect(separator, n_skipped=n_skipped) for separator in separators]
    fits = [_fit(text, dialect, is_whole) for dialect in dialects]
    if all(share != 1 for share, _ in fits):
        escaping = [one for one in dialects if '\\"' in text or f"\\{one.separator}" in text]
        escaped = [dialect._replace(escape="\\") for dialect in escaping]
        dialects += escaped
        fits += [_fit(text, dialect, is_whole) for dialect in escaped]
    scores = [(share == 1, share * (_OF_TEXT + typed)) for share, typed in fits]
    is_whole_table, _ = best = max(scores)
    chosen = [dialect for dialect, score in zip(dialects, scores, strict=True) if score == best]
    if is_whole_table and len(chosen) > 1:
        names = " or ".join(dialect.name for dialect in chosen)
        example = f"sep={chosen[0].separator}"
        raise DataError(f"cells may be separated by {names}. Name the separator in a first line, such as {example!r}.")
    return chosen[0]


def _fit(text: str, dialect: Dialect, is_whole: bool) -> tuple[float, float]:
    """Return the share of rows with the most frequent width, and the share of typed cells in these rows."""
    rows = _logical_rows(text, dialect, is_whole)
    header, body = rows[:1], rows[1:] or rows
    width, n_fitting = Counter(map(len, body)).most_common(1)[0] if rows else (0, 0)
    if width < 2:
        return 0, 0
    cells = [cell.strip() for row in body if len(row) == width for cell in row]
    typed = sum(map(bool, map(_TYPED.fullmatch, cells))) / len(cells)
    share = (n_fitting + (len(header[0]) == width)) / (len(body) + 1)
    if '\\"' in text and dialect.escape is None and not _has_doubled_quotes(text, rows):
        share *= _OF_ODD_QUOTES
    return share, typed


def _has_doubled_quotes(text: str, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether cells that contain quotes are quoted, with their quotes doubled."""
    odd = (cell for row in rows for cell in row if '"' in cell)
    return all('"{}"'.format(cell.replace('"', '""')) in text for cell in itertools.islice(odd, _MOST_CELLS))


def _logical_rows(text: str, dialect: Dialect, is_whole: bool) -> list[list[str]]:
    """Return the rows that are not blank, or an empty list if the quotes do not fit the dialect."""
    rows: list[list[str]] = []
    lines = iter(io.StringIO(text, newline=""))
    try:
        rows.extend(cells for _, cells in dialect.rows(lines))
    except QuoteError:
        if is_whole or next(lines, None) is not None:  # A cell may be truncated only at the end of a part.
            return []
    else:
        if not is_whole and len(rows) > 1:
            rows.pop()
    return [row for row in rows if row not in ([], [""])]
