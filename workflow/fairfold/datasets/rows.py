"""Rows of cells of a user's table, whatever kind of file it is; what was recognised is logged.

Text may be compressed (gzip, bzip2, xz, Zstandard, or a zip archive of one file), in UTF-8, UTF-16 or Windows-1252,
with commas, semicolons, tabs or vertical bars between cells. Where no commas stand between cells, numbers have decimal
commas if cells of the first part do, and none of these has a decimal point, beside which commas would part thousands.
Parquet, Feather and Excel files are read by pandas; an index that has a name is a column. The name of the file says
nothing. Rows of empty cells at the end, as spreadsheets leave them, are none.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import itertools
import logging
import lzma
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from fairfold.datasets.recognition import SEPARATORS, other_format, other_separator
from fairfold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

Row = tuple[int, list[str]]

_HEAD = 1 << 16  # characters that tell what separates cells
_CHUNK = 1 << 20  # bytes
_SIGNATURE = 16
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
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


def rows_of(path: Path) -> Iterator[Row]:
    """Line number and cells of each row that is not blank; rows of tables that are no text count as lines.

    Rows of empty cells alone are left out where no other row follows. The file is read as it is needed, after a first
    pass over all of its bytes that tells the encoding.

    Raises
    ------
    DataError
        When the file is missing, damaged, empty, or no table.
    """
    with _sentences(path):
        with path.open("rb") as stream:
            head = stream.read(_SIGNATURE)
        if (found := _rows_of_columns(path, head)) is not None:
            yield from _without_empty_end(found, path)
            return
        compression = next((one for start, one in _COMPRESSIONS.items() if _is_compressed(head, start)), None)
        if head.startswith(_ZIP):
            compression = _Compression("zip", _open_only_member)
        unpacked = compression.open if compression else lambda file: file.open("rb")
        encoding = _encoding_of(path, unpacked)
        with unpacked(path) as stream:
            yield from _without_empty_end(_rows_of_text(path, stream, encoding, compression), path)


def _without_empty_end(rows: Iterable[Row], path: Path) -> Iterator[Row]:
    waiting: list[Row] = []
    for row in rows:
        if not any(map(str.strip, row[1])):
            waiting.append(row)
            continue
        yield from waiting
        waiting.clear()
        yield row
    if waiting:
        logger.info("%s: %d rows of empty cells at its end are left out.", path, len(waiting))


def is_plain(path: Path) -> bool:
    """Whether a file is text in UTF-8 with commas between cells, and not packed; not so a file that is no table."""
    with contextlib.suppress(DataError), path.open("rb") as stream:
        head = stream.read(_HEAD)
        if is_packed(head) or _kind_of_frame(path, head[:_SIGNATURE]) is not None:
            return False
        if _encoding_of(path, lambda file: file.open("rb")) != "utf-8-sig":
            return False
        return other_separator(head.decode("utf-8-sig", errors="ignore").rpartition("\n")[0]) is None
    return False


def is_packed(head: bytes) -> bool:
    """Whether a file that begins so is compressed, or an archive."""
    return head.startswith(_ZIP) or any(_is_compressed(head, start) for start in _COMPRESSIONS)


# --- text -------------------------------------------------------------------------------------------------------------


def _rows_of_text(path: Path, stream: IO[bytes], encoding: str, compression: _Compression | None) -> Iterator[Row]:
    text = io.TextIOWrapper(stream, encoding, newline="")
    start = text.read(_HEAD)
    if not start.strip():
        raise DataError(f"{path} is empty.")
    is_whole = len(start) < _HEAD
    whole_lines = start if is_whole else start.rpartition("\n")[0]
    separator = other_separator(whole_lines) or ","
    has_commas = separator != "," and _has_decimal_commas(whole_lines, separator)
    lines = _lines_of(start, text)
    if recognised := _recognised(compression, encoding, separator, has_commas=has_commas):
        logger.info("%s: read as %s.", path, recognised)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            if cells not in ([], [""]):
                yield reader.line_num, _with_points(cells) if has_commas else cells
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: not a CSV ({error}); check quotes and {SEPARATORS[separator]}."
        ) from None


def _lines_of(start: str, rest: Iterable[str]) -> Iterator[str]:
    """The lines that begin with ``start`` and go on with the lines of ``rest``, with their ends."""
    lines = io.StringIO(start, newline="").readlines()
    yield from lines[:-1]
    rest = iter(rest)
    # the head may end within a line, or between a carriage return and its line feed
    yield from io.StringIO(lines[-1] + next(rest, ""), newline="")
    yield from rest


def _has_decimal_commas(text: str, separator: str) -> bool:
    cells = [cell for line in text.splitlines() for cell in line.split(separator)]
    return any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any(map(_DECIMAL_POINT.fullmatch, cells))


def _with_points(cells: list[str]) -> list[str]:
    return [cell.replace(",", ".") if "," in cell and _DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]


def _encoding_of(path: Path, unpacked: Callable[[Path], IO[bytes]]) -> str:
    with unpacked(path) as stream:
        if (start := stream.read(_CHUNK))[:2] in _UTF_16:
            return "utf-16"
        decoder, is_utf_8, offset, plain = codecs.getincrementaldecoder("utf-8")(), True, 0, start
        while plain:
            if plain.translate(None, _NO_CONTROL):  # by far faster than a search
                raise _not_text(path, plain, _CONTROL.search(plain).start(), offset)
            if is_utf_8:
                try:
                    decoder.decode(plain)
                except UnicodeDecodeError:
                    is_utf_8 = False
            if not is_utf_8 and (found := _UNDEFINED.search(plain)):
                raise _not_text(path, plain, found.start(), offset)
            offset += len(plain)
            plain = stream.read(_CHUNK)
        is_utf_8 = is_utf_8 and not decoder.getstate()[0]  # nothing is left of a character that was cut off
    return "utf-8-sig" if is_utf_8 else "cp1252"


def _not_text(path: Path, data: bytes, at: int, before: int) -> DataError:
    if before == 0 and (known := other_format(data)):
        return DataError(f"{path} {known}")
    return DataError(
        f"{path} is not text: found byte 0x{data[at]:02x} at offset {before + at}; save it as CSV in UTF-8."
    )


def _recognised(compression: _Compression | None, encoding: str, separator: str, *, has_commas: bool) -> str:
    parts = [
        f"{compression.name}-compressed text" if compression else "",
        "text in Windows-1252 (if names look wrong, save it as UTF-8)" if encoding == "cp1252" else "",
        "text in UTF-16" if encoding == "utf-16" else "",
        f"cells between {SEPARATORS[separator]}" if separator != "," else "",
        "with decimal commas" if has_commas else "",
    ]
    return ", ".join(filter(None, parts))


# --- archives and frames ----------------------------------------------------------------------------------------------


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


def _rows_of_columns(path: Path, head: bytes) -> Iterator[Row] | None:
    """Rows of a file of columns or of a workbook; None for other files."""
    kind = _kind_of_frame(path, head)
    if kind is None:
        return None
    import pandas as pd  # takes longer than reading most text

    if kind == "Excel":
        # all cells as they are, the header's, too, which pandas would mend
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, keep_default_na=False)
        if len(sheets) != 1:
            raise DataError(f"{path} has {len(sheets)} sheets ({', '.join(sheets)}); keep the one to read.")
        frame, names = next(iter(sheets.values())), []
    else:
        frame = pd.read_parquet(path) if kind == "Parquet" else pd.read_feather(path)
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
def _sentences(path: Path) -> Iterator[None]:
    """Whatever a reader of somebody else raises is one sentence."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # on damaged files they fail in every way
        said = (isinstance(error, OSError) and error.strerror) or str(error)
        reason = " ".join(said.split())[:200].rstrip(" .") or type(error).__name__
        raise DataError(f"{path} cannot be read as a table: {reason}.") from error
