"""Read the rows of a user's table, whatever its file format, and log what was recognized.

Text may be compressed (gzip, bzip2, xz, Zstandard, or a zip archive of one file). It may be in UTF-8, UTF-16 or
Windows-1252. Commas, semicolons, tabs or vertical bars separate its cells. pandas reads Parquet, Feather and Excel
files; an index that has a name is a column. The name of the file does not matter. Trailing empty rows, as spreadsheets
leave them, are ignored. Cells are returned as they are; :mod:`fairfold.datasets.decimals` decides how numbers are
written.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import itertools
import logging
import lzma
import re
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from fairfold.datasets.recognition import Dialect, QuoteError, dialect_of, other_format
from fairfold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

Row = tuple[int, list[str]]

_HEAD = 1 << 16  # characters from which the dialect is detected
_CHUNK = 1 << 20  # bytes
_SIGNATURE = 16
_ZIP = b"PK\x03\x04"
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_NO_CONTROL = bytes(code for code in range(256) if not _CONTROL.match(bytes([code])))
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252


class _Compression(NamedTuple):
    name: str
    open: Callable[[Path], IO[bytes]]


def _open_zstandard(path: Path) -> IO[bytes]:
    import zstandard

    return zstandard.open(path, "rb")


_COMPRESSIONS = {
    b"\x1f\x8b": _Compression("gzip", gzip.open),
    b"BZh": _Compression("bzip2", bz2.open),
    b"\xfd7zXZ\x00": _Compression("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": _Compression("Zstandard", _open_zstandard),
}
_UTF_16 = {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}


class Text(NamedTuple):
    """How a file of delimited text is packed, encoded and separated.

    Attributes
    ----------
    compression : _Compression or None
        How the file is packed.
    encoding : str
        Encoding that Python reads it with.
    may_quote : bool
        Whether there may be a quoted cell.
    dialect : Dialect
        Separator and quotes.
    """

    compression: _Compression | None
    encoding: str
    may_quote: bool
    dialect: Dialect

    @property
    def has_decimal_points(self) -> bool:
        """Whether no number can have a decimal comma, because commas separate cells and no cell is quoted."""
        return self.dialect.separator == "," and self.dialect.escape is None and not self.may_quote


class TableFile:
    """A file with a table, whose rows can be read more than once.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    path : Path
        The file.
    text : Text or None
        How the text is written; None for a file of columns or a workbook.

    Raises
    ------
    DataError
        When the file is missing, damaged, empty, or not a table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "plants.csv"
    ...     _ = path.write_text("height;label_a\\n0,5;1\\n")
    ...     list(TableFile(path).rows())
    [(1, ['height', 'label_a']), (2, ['0,5', '1'])]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_logged = False
        with sentences(path):
            with path.open("rb") as stream:
                self._head = stream.read(_SIGNATURE)
            self.text = None if _kind_of_frame(path, self._head) else _text_of(path, self._head)
        if self.text and (recognized := _recognized(self.text)):
            logger.info("%s: read as %s.", path, recognized)

    def rows(self) -> Iterator[Row]:
        """Yield the line number and the cells of each row that is not blank.

        Rows of a file that is not text count as lines. Rows of empty cells alone are left out at the end. The file is
        read as it is needed.
        """
        with sentences(self.path):
            found = self._rows_of_text(self.text) if self.text else _rows_of_columns(self.path, self._head)
            yield from self._without_empty_end(found)

    def _rows_of_text(self, text: Text) -> Iterator[Row]:
        width = None
        with _unpacked(text.compression)(self.path) as stream:
            try:
                for line, cells in text.dialect.rows(io.TextIOWrapper(stream, text.encoding, newline="")):
                    if cells and (cells != [""] or width == 1):  # in a single column, an empty cell is a row
                        width = width or len(cells)
                        yield line, cells
            except QuoteError as error:
                raise DataError(f"{self.path}, {error}; check quotes and {text.dialect.name}.") from None

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
            logger.info("%s: %d rows of empty cells at its end are left out.", self.path, len(waiting))
            self._is_logged = True


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a table as :meth:`TableFile.rows` does."""
    yield from TableFile(path).rows()


@contextlib.contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, unpacked where it is compressed.

    Raises
    ------
    DataError
        If the file is missing, damaged, or an archive of several files.
    """
    with sentences(path):
        with path.open("rb") as stream:
            compression = _compression_of(stream.read(_SIGNATURE))
        with _unpacked(compression)(path) as stream:
            yield stream


def read_text(path: Path) -> str:
    """Return the text of a file that is packed or not, in UTF-8, UTF-16 or Windows-1252.

    Raises
    ------
    DataError
        If the file is missing, damaged, or no text.
    """
    with sentences(path):
        with path.open("rb") as stream:
            if _kind_of_frame(path, stream.read(_SIGNATURE)) is not None:
                raise DataError(f"{path} {other_format(path.read_bytes())}")
        encoding, _ = _encoding_of(path, open_unpacked)
        with open_unpacked(path) as stream:
            text = stream.read().decode(encoding)
    if encoding == "cp1252":
        logger.info("%s: read as text in Windows-1252. If names look wrong, save the file as UTF-8.", path)
    return text


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is compressed, or an archive."""
    return head.startswith(_ZIP) or any(_is_compressed(head, start) for start in _COMPRESSIONS)


# --- text -------------------------------------------------------------------------------------------------------------


def _unpacked(compression: _Compression | None) -> Callable[[Path], IO[bytes]]:
    return compression.open if compression else lambda file: file.open("rb")


def _text_of(path: Path, head: bytes) -> Text:
    compression = _compression_of(head)
    unpacked = _unpacked(compression)
    encoding, may_quote = _encoding_of(path, unpacked)
    with unpacked(path) as stream:
        start = io.TextIOWrapper(stream, encoding, newline="").read(_HEAD)
    if not start.strip():
        raise DataError(f"{path} is empty.")
    return Text(compression, encoding, may_quote, dialect_of(start, is_whole=len(start) < _HEAD))


def _encoding_of(path: Path, unpacked: Callable[[Path], IO[bytes]]) -> tuple[str, bool]:
    """Return the encoding, and whether there may be a quote, from all bytes of a file."""
    has_quotes = False
    with unpacked(path) as stream:
        if (start := stream.read(_CHUNK))[:2] in _UTF_16:
            return "utf-16", True
        decoder, is_utf_8, offset, plain = codecs.getincrementaldecoder("utf-8")(), True, 0, start
        while plain:
            if plain.translate(None, _NO_CONTROL):  # much faster than a search
                raise _not_text(path, plain, _CONTROL.search(plain).start(), offset)
            has_quotes = has_quotes or b'"' in plain
            if is_utf_8:
                try:
                    decoder.decode(plain)
                except UnicodeDecodeError:
                    is_utf_8 = False
            if not is_utf_8 and (found := _UNDEFINED.search(plain)):
                raise _not_text(path, plain, found.start(), offset)
            offset += len(plain)
            plain = stream.read(_CHUNK)
        is_utf_8 = is_utf_8 and not decoder.getstate()[0]  # no character is cut off at the end
    return "utf-8-sig" if is_utf_8 else "cp1252", has_quotes


def _not_text(path: Path, data: bytes, at: int, before: int) -> DataError:
    if before == 0 and (known := other_format(data)):
        return DataError(f"{path} {known}")
    return DataError(
        f"{path} is not text: found byte 0x{data[at]:02x} at offset {before + at}; save it as text in UTF-8."
    )


def _recognized(text: Text) -> str:
    parts = [
        f"{text.compression.name}-compressed text" if text.compression else "",
        "text in Windows-1252 (if names look wrong, save it as UTF-8)" if text.encoding == "cp1252" else "",
        "text in UTF-16" if text.encoding == "utf-16" else "",
        f"cells between {text.dialect.name}" if text.dialect.separator != "," else "",
        "backslashes before quotes" if text.dialect.escape else "",
    ]
    return ", ".join(filter(None, parts))


# --- archives and frames ----------------------------------------------------------------------------------------------


def _compression_of(head: bytes) -> _Compression | None:
    if head.startswith(_ZIP):
        return _Compression("zip", _open_only_member)
    return next((one for start, one in _COMPRESSIONS.items() if _is_compressed(head, start)), None)


def _is_compressed(head: bytes, start: bytes) -> bool:
    # "BZh" may begin a name; behind it stands the size of the blocks and a magic number
    return head.startswith(start) and (start != b"BZh" or head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"))


@contextlib.contextmanager
def _open_only_member(path: Path) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1:
            raise DataError(f"{path} is a zip archive of {len(names)} files; unpack it, and give the one to read.")
        with archive.open(names[0]) as stream:
            yield stream


def _rows_of_columns(path: Path, head: bytes) -> Iterator[Row]:
    """Read the rows of a file of columns or of a workbook."""
    kind = _kind_of_frame(path, head)
    import pandas as pd  # takes longer than reading most text

    if kind == "Excel":
        # all cells as they are, the header's, too, which pandas would mend
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, keep_default_na=False)
        if len(sheets) != 1:
            raise DataError(f"{path} has {len(sheets)} sheets ({', '.join(sheets)}); keep the one to read.")
        frame, names = next(iter(sheets.values())), []
    else:
        from pyarrow import feather, parquet

        table = parquet.read_table(path) if kind == "Parquet" else feather.read_table(path)
        # pandas would make floats of integers with gaps, which rounds those above 2**53
        frame = table.to_pandas(integer_object_nulls=True)
        frame = frame.reset_index([name for name in frame.index.names if name is not None])
        names = [(1, [str(name) for name in frame.columns])]
    logger.info("%s: read as %s, %d rows and %d columns.", path, kind, len(frame) - (not names), frame.shape[1])
    return itertools.chain(names, _rows_of_frame(frame, first_line=1 + len(names)))


def _kind_of_frame(path: Path, head: bytes) -> str | None:
    if head.startswith(b"PAR1") and _ends_with(path, b"PAR1"):  # text may begin so
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
        raise DataError(f"{path} is an OpenDocument workbook; save its sheet as CSV in UTF-8.")
    return any(name.startswith("xl/") for name in names)


def _rows_of_frame(frame: pd.DataFrame, first_line: int) -> Iterator[Row]:
    columns = [_cells(frame.iloc[:, at]) for at in range(frame.shape[1])]
    for line, cells in enumerate(zip(*columns, strict=True), start=first_line):
        yield line, list(cells)


def _cells(column: pd.Series) -> list[str]:
    """As text that gives the same numbers again; missing ones are empty."""
    return ["" if missing else _cell(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _cell(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


@contextlib.contextmanager
def sentences(path: Path, kind: str = "a table") -> Iterator[None]:
    """Turn whatever the reader of another package raises into one sentence."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # on damaged files they fail in every way
        said = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
        reason = textwrap.shorten(said, 200).rstrip(" .")
        raise DataError(f"{path} cannot be read as {kind}: {reason}.") from error
