"""Refuse files that expand to many times their size, before they use all memory or hours."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import IO, Any

from fairfold.core.limits import most_cells, most_unpacked
from fairfold.errors import DataError

_CHUNK = 2**20  # bytes
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_LONGEST = 1000  # bytes of a tag up to its position


class _Limited(io.RawIOBase):
    """Stream that raises an error after a number of bytes."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self.stream, self.path, self.left = stream, path, most_unpacked(path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self.stream.read(len(buffer))
        self.left -= len(content)
        if self.left < 0:
            raise DataError(
                f"{self.path} expands to many times its size, more than "
                f"{most_unpacked(self.path.stat().st_size) // 2**20} MB. If you trust it, decompress it first."
            )
        buffer[: len(content)] = content
        return len(content)


def limited(stream: IO[bytes], path: Path) -> io.BufferedReader:
    """Limit the decompressed size of a stream.

    Parameters
    ----------
    stream : IO
        Stream of decompressed bytes. Reading from the result raises :class:`DataError` after too many bytes.
    path : Path
        The compressed file.

    Returns
    -------
    BufferedReader
        Stream of the same bytes.
    """
    return io.BufferedReader(_Limited(stream, path), _CHUNK)


def check_workbook(path: Path) -> None:
    """Check that a workbook does not expand to many times its size.

    Parameters
    ----------
    path : Path
        The workbook.

    Raises
    ------
    DataError
        If its files are much larger than the workbook, or a cell is far from the others.
    """
    size, far = path.stat().st_size, (0, 0)
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > most_unpacked(size):
            raise DataError(f"{path} expands to many times its size. If you trust it, save its sheet as CSV.")
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                with archive.open(name) as stream:
                    far = max(far, _last_cell(stream))
    if far[0] * far[1] > most_cells(size):
        raise DataError(
            f"{path} has a cell in row {far[0]} or column {far[1]}, but most cells before it are absent. Delete this "
            "cell, or save the sheet as CSV."
        )


def _last_cell(stream: IO[bytes]) -> tuple[int, int]:
    """Return the largest row and column of a worksheet."""
    row, column, rest = 0, 0, b""
    while chunk := stream.read(_CHUNK):
        for letters, digits in set(_PLACE.findall(rest + chunk)):
            row, column = max(row, int(digits)), max(column, _number_of(letters))
        rest = chunk[-_LONGEST:]
    return row, column


def _number_of(letters: bytes) -> int:
    """Return the number of a column, such as 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def check_parquet(path: Path) -> None:
    """Check the size and the metadata of a Parquet file.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    DataError
        If it expands to many times its size, or its metadata of pandas name columns that it lacks.
    """
    from pyarrow import parquet

    size, metadata = path.stat().st_size, parquet.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if max(metadata.num_rows, sum(group.num_rows for group in groups)) * metadata.num_columns > most_cells(size) or sum(
        group.total_byte_size for group in groups
    ) > most_unpacked(size):
        raise DataError(
            f"{path} declares {metadata.num_rows} rows and {metadata.num_columns} columns, many times its size. If you "
            "trust it, save the table as CSV."
        )
    _check_pandas(path, parquet.read_schema(path))


def check_feather(path: Path) -> None:
    """Check the size and the metadata of a Feather file, part by part.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    DataError
        As :func:`check_parquet`.
    """
    import pyarrow as pa

    with path.open("rb") as stream:
        if stream.read(4) == b"FEA1":  # Version 1 has no compression.
            return
    with pa.OSFile(str(path)) as stream, pa.ipc.open_file(stream) as reader:
        n_bytes = n_cells = 0
        size = path.stat().st_size
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            n_bytes, n_cells = n_bytes + batch.nbytes, n_cells + batch.num_rows * batch.num_columns
            if n_bytes > most_unpacked(size) or n_cells > most_cells(size):
                raise DataError(f"{path} expands to many times its size. If you trust it, save the table as CSV.")
        _check_pandas(path, reader.schema)


def _check_pandas(path: Path, schema: Any) -> None:
    """Raise if the metadata of pandas do not fit the columns."""
    try:
        metadata = schema.pandas_metadata or {}
        index = [name for name in metadata.get("index_columns", []) if isinstance(name, str)]
        fault = next((f"an index {name!r}" for name in index if name not in schema.names), None)
    except (ValueError, AttributeError, TypeError, RecursionError):
        fault = "something that is no JSON of pandas"
    if fault:
        raise DataError(
            f"{path}: the metadata of pandas in this file describe {fault[:80]}, which the file lacks. Write the table "
            "again, or save it as CSV."
        )
