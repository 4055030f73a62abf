"""Whole files or none: written under a temporary name in the same folder, then renamed into place."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fairfold.core.machine import no_more_threads
from fairfold.errors import DamagedFileError, DataError, first_sentence

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("dataset", "model", "model_a", "model_b", "best_model", "candidate", "experiment", "reason", "sentence")
"""Columns of results that hold names which users choose, or what has such names in it."""
NAMES_OR_NUMBERS = ("sample", "label", "feature", "features", "column", "group", "class", "predicted", "true")
"""Columns that hold such names in some tables, and numbers of these in others."""
_OF_NAME = 40  # characters that a temporary name begins with; a whole name may be as long as names can be
_DAMAGED = ".damaged"
_BLOCK = 4096  # bytes, which the smallest file takes on a disk


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Path to write to; it takes the place of ``path`` when the block ends well, and vanishes when it does not.

    The temporary name keeps the suffix, because writers choose the format by it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem[:_OF_NAME]}.{os.getpid()}-{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def disk_faults() -> Iterator[None]:
    """Turn the error of a full or read-only disk, a used-up quota, missing permissions, or a limit into one sentence.

    Raises
    ------
    DataError
        In place of such an ``OSError``, and of Python's error where no thread can be started; others pass.
    """
    try:
        yield
    except (RuntimeError, BlockingIOError) as error:
        if isinstance(error, RuntimeError) and "start new thread" not in str(error):
            raise
        raise no_more_threads() from None  # BlockingIOError is of a fork
    except OSError as error:
        position = error.filename or "the folder of results"
        if isinstance(error, PermissionError):  # to read or to write, the error does not tell
            sentence = f"{position} may not be used: {error.strerror}. Change its permissions, then run again."
            raise DataError(sentence) from None
        if error.errno in (errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG):
            kind = "folder" if error.errno == errno.EEXIST else "file"
            raise DataError(f"{position} cannot be a {kind}: {error.strerror}. Choose another name.") from None
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        raise _unwritable(position, error) from None


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Make ``folder`` if it is not there, and see whether a file can be written to it.

    Raises
    ------
    DataError
        When it cannot: the disk is full or read-only, or the folder is another user's.
    """
    try:
        with atomic_open(probe := Path(folder) / ".probe") as stream:
            stream.write(bytes(_BLOCK))
        probe.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from None


def check_target(path: str | os.PathLike[str]) -> None:
    """See whether a file of this name can be written, before the work that it is for.

    Raises
    ------
    DataError
        When it has no name, is a folder, or cannot be written where it would lie.
    """
    path = Path(path)
    with disk_faults(), contextlib.suppress(FileNotFoundError):
        if not path.name or stat.S_ISDIR(path.stat().st_mode):
            raise DataError(f"{str(path)!r} is a folder; name the file to write.")
    check_writable(path.parent)


def _unwritable(position: str | os.PathLike[str], error: OSError) -> DataError:
    return DataError(
        f"{position} cannot be written to: {error.strerror}. Free space or make it writable, then run again; what is "
        "finished is kept."
    )


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Delete the temporary files that killed processes left anywhere under ``folder``.

    Only while nobody else writes there: a process that loses its temporary file fails, without harm to the target.
    """
    for temporary in Path(folder).rglob(".*.tmp*"):
        if not temporary.is_dir():
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Like :func:`open` for writing, with the guarantee of :func:`atomic_path`."""
    with atomic_path(path) as temporary, temporary.open(mode, **options) as stream:
        yield stream


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a tidy CSV: no index, ``\\n`` line ends, floats with all their digits; the same bytes everywhere."""
    with atomic_open(path, "w", newline="", encoding="utf-8") as stream:
        table.to_csv(stream, index=False, lineterminator="\n")


def read_table(path: str | os.PathLike[str], *texts: str) -> pd.DataFrame:
    """Read a table that :func:`write_table` wrote: names stay text, and only an empty cell is missing.

    A user may call a dataset ``2021`` or ``NA``, a label ``01`` or ``None``, and a sample ``0025``. Columns of
    ``NAMES_OR_NUMBERS`` become integers if all their cells are integers that keep every digit.

    Parameters
    ----------
    path : str or path-like
        The CSV file.
    *texts : str
        Columns that hold text, besides ``NAMES``.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    DamagedFileError
        If the file is empty, cut off, or no table.
    """
    table = read_csv(path, dtype=dict.fromkeys((*NAMES, *NAMES_OR_NUMBERS, *texts), str), na_values=[""])
    for name in table.columns.intersection(NAMES_OR_NUMBERS).difference(texts):
        if table[name].str.fullmatch("0|-?[1-9][0-9]{0,14}").fillna(False).all():
            table[name] = table[name].astype("int64")
    return table


def concat_tables(paths: Iterable[str | os.PathLike[str]]) -> pd.DataFrame:
    """Read tables of the same columns, and put them below each other in the order of their paths."""
    import pandas as pd

    return pd.concat([read_table(path) for path in paths], ignore_index=True)


def read_csv(path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
    """Read a CSV file that :func:`write_table` wrote by :func:`pandas.read_csv`, without its names for missing values.

    Parameters
    ----------
    path : str or path-like
        The CSV file.
    **options : object
        Further parameters of :func:`pandas.read_csv`.

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    DamagedFileError
        If the file is empty, cut off, or no table.
    """
    import pandas as pd  # Most users of this module need no tables.

    try:
        _check_end(path)
        return pd.read_csv(path, keep_default_na=False, **options)
    except ValueError as error:  # the base of pandas' errors of parsing and of UnicodeDecodeError
        raise DamagedFileError(str(path), "a table", first_sentence(error)) from None


def _check_end(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError for a CSV file without its last line end, as pandas fills cells that were cut off."""
    with Path(path).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 1, 0))
        if stream.read() != b"\n":
            raise ValueError("the end of the file is missing" if size else "the file is empty")


def write_arrays(path: str | os.PathLike[str], *, compressed: bool = True, **arrays: np.ndarray) -> None:
    """Write an ``.npz`` that holds plain arrays only (nothing that needs unpickling)."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"array {name!r} holds Python objects, which an .npz without pickle cannot keep")
    with atomic_open(path) as stream:
        (np.savez_compressed if compressed else np.savez)(stream, **arrays)


def read_arrays(path: str | os.PathLike[str], kind: str = "an array file", prefix: str = "") -> dict[str, np.ndarray]:
    """Read the arrays of an ``.npz`` file whose names begin with ``prefix``; nothing is unpickled.

    Parameters
    ----------
    path : str or path-like
        The file.
    kind : str, default="an array file"
        The expected content for messages, such as ``"a dataset"``.
    prefix : str, default=""
        Beginning of the names of the arrays to read.

    Returns
    -------
    dict of str -> ndarray
        The arrays by name.

    Raises
    ------
    DataError
        If the file is missing or needs more memory than there is.
    DamagedFileError
        If the file is damaged or contains anything but plain arrays.
    """
    try:
        # zipfile first: of a file that is no archive NumPy says that it could be unpickled
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name.startswith(prefix)}
    except OSError as error:
        raise DataError(f"{path} cannot be read as {kind}: {error.strerror or error}.") from None
    except MemoryError:
        raise DataError(f"{path} needs more memory to be read than there is, or is damaged.") from None
    except Exception as error:  # on damaged files zipfile, zlib and NumPy fail in every way
        raise DamagedFileError(str(path), kind, first_sentence(error)) from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file of results.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    object
        The content.

    Raises
    ------
    DamagedFileError
        If the file is no JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFileError(str(path), "JSON", first_sentence(error)) from None


def check_whole(path: str | os.PathLike[str]) -> None:
    """Check a result by its format: the checksums of arrays, the end of a table, and that no file is empty.

    Parameters
    ----------
    path : str or path-like
        The file.

    Raises
    ------
    DamagedFileError
        If the file is damaged.
    """
    path = Path(path)
    try:
        if not path.stat().st_size:
            raise ValueError("the file is empty")
        if path.suffix in (".npz", ".fairfold", ".zip"):
            with zipfile.ZipFile(path) as archive:
                if name := archive.testzip():
                    raise ValueError(f"the checksum of {name} is wrong")
        if path.suffix == ".csv":
            _check_end(path)
    except Exception as error:  # on damaged files zipfile and zlib fail in every way
        raise DamagedFileError(str(path), f"a whole {path.suffix} file", first_sentence(error)) from None


def mark_damaged(path: str | os.PathLike[str]) -> None:
    """Leave a note beside a damaged file, for :func:`remove_damaged`."""
    path = Path(path)
    path.with_name(f".{path.name}{_DAMAGED}").touch()


def remove_damaged(folder: str | os.PathLike[str]) -> list[Path]:
    """Delete the files under ``folder`` that :func:`mark_damaged` was called for, and return their paths."""
    notes = sorted(Path(folder).rglob(f".*{_DAMAGED}"))
    found = [note.with_name(note.name[1 : -len(_DAMAGED)]) for note in notes]
    for path in (*found, *notes):
        path.unlink(missing_ok=True)
    return found
