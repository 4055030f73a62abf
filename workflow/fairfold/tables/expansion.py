"""Refuse files that expand to many times their size, before they use all memory or hours."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import IO, Any

from fairfold.core.limits import expands, most_cells, most_unpacked
from fairfold.errors import DataError

_CHUNK = 2**20  # bytes
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s(?:[^<>]*?\s)?r\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_OF_CELL = 100  # bytes that a text may have where a Parquet file stores it once for many cells
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
        if expands(archive, size):
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
    """Check that a Parquet file does not expand to many times its size.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    DataError
        If it has much more rows or bytes than it could store.
    """
    from pyarrow import parquet

    size, metadata = path.stat().st_size, parquet.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    if (
        n_rows * metadata.num_columns > most_cells(size)
        or sum(group.total_byte_size for group in groups) > most_unpacked(size)
        or _size_of_texts(path) > most_unpacked(size) + _OF_CELL * n_rows * metadata.num_columns
    ):
        raise DataError(
            f"{path} expands to many times its size ({n_rows} rows, {metadata.num_columns} columns). If you trust it, "
            "save the table as CSV."
        )


def _size_of_texts(path: Path) -> int:
    """Count the bytes of all texts of a Parquet file, which may store each text once."""
    import pyarrow as pa
    from pyarrow import compute, parquet

    schema = parquet.read_schema(path)
    names = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    if not names:
        return 0
    stored, total = parquet.read_table(path, columns=names, read_dictionary=names), 0
    for chunk in (chunk for column in stored.columns for chunk in column.chunks):
        if pa.types.is_dictionary(chunk.type):
            lengths = compute.binary_length(chunk.dictionary).take(chunk.indices)
            total += compute.sum(compute.cast(lengths, pa.int64())).as_py() or 0
        else:
            total += chunk.nbytes
    return total


def check_feather(path: Path) -> None:
    """Check that a Feather file does not expand to many times its size, part by part.

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
