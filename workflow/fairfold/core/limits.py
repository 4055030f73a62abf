"""Limits on what a file may expand to, so that a small file of unknown origin cannot use all memory or time."""

from __future__ import annotations

from zipfile import ZipFile

_UNPACKED = 2**26, 100  # bytes: a constant, and a number per byte of the file
_CELLS = 20_000_000, 100
_COLUMNS = 500_000, 1


def most_unpacked(n_bytes: int) -> int:
    """Return the size that a compressed file may have after decompression.

    Parameters
    ----------
    n_bytes : int
        Size of the compressed file.

    Returns
    -------
    int
        Largest size in bytes.

    Examples
    --------
    >>> most_unpacked(10**6) // 10**6
    167
    """
    return _UNPACKED[0] + _UNPACKED[1] * n_bytes


def expands(archive: ZipFile, n_bytes: int) -> bool:
    """Return whether the files of a zip archive are many times larger than the archive.

    Parameters
    ----------
    archive : ZipFile
        The open archive.
    n_bytes : int
        Size of the archive.

    Returns
    -------
    bool
        Whether their total size exceeds :func:`most_unpacked`.
    """
    return sum(each.file_size for each in archive.infolist()) > most_unpacked(n_bytes)


def most_cells(n_bytes: int) -> int:
    """Return the number of cells that a table may have, with those that the file does not contain.

    Parameters
    ----------
    n_bytes : int
        Size of the file.

    Returns
    -------
    int
        Largest number of cells.

    Examples
    --------
    >>> most_cells(10**6) // 10**6
    120
    """
    return _CELLS[0] + _CELLS[1] * n_bytes


def most_columns(n_bytes: int) -> int:
    """Return the number of columns that a file of sparse rows may have.

    Parameters
    ----------
    n_bytes : int
        Size of the file.

    Returns
    -------
    int
        Largest number of columns.

    Examples
    --------
    >>> most_columns(10**6)
    1500000
    """
    return _COLUMNS[0] + _COLUMNS[1] * n_bytes
