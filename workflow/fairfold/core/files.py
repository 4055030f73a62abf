"""Write files atomically and read results, with checks for damage.

A file is written under a temporary name in the same folder, then renamed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fairfold.core.formulas import protect_table, unprotect_table
from fairfold.core.machine import thread_limit_error
from fairfold.errors import DamagedFileError, DataError, first_sentence

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("dataset", "model", "model_a", "model_b", "best_model", "candidate", "experiment", "reason", "sentence")
"""Columns of results that contain names chosen by users, or texts with such names."""
NAMES_OR_NUMBERS = ("sample", "label", "feature", "features", "column", "group", "class", "predicted", "true")
"""Columns that contain such names in some tables and numbers in others."""
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
"""Numbers of the errors of a full or read-only disk, a quota or a limit of the size of files."""
_OF_NAME = 40  # Characters of the name that a temporary name keeps, because names have a maximum length.
_BLOCK = 4096  # Bytes that the smallest file uses on a disk.


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path that replaces ``path`` if the block succeeds and is deleted if it fails.

    The temporary name keeps the suffix, because writers derive the format from it.

    Parameters
    ----------
    path : str or path-like
        File to write. Its folder is created if needed.

    Yields
    ------
    Path
        Temporary path in the same folder.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem[:_OF_NAME]}.{os.getpid()}-{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:  # Errors of streams have no name, and users do not know the temporary one.
        if error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def disk_faults() -> Iterator[None]:
    """Convert errors of the disk or of system limits into a :class:`DataError` with advice.

    Raises
    ------
    DataError
        If the block fails because the disk is full or read-only, a quota is used up, a permission is missing, a name is
        not allowed, or no thread or process can be started. Other errors pass unchanged.
    """
    try:
        yield
    except (RuntimeError, BlockingIOError) as error:
        if isinstance(error, RuntimeError) and "start new thread" not in str(error):
            raise
        raise thread_limit_error() from None  # A failed fork raises BlockingIOError.
    except OSError as error:
        position = error.filename or "the folder of results"
        if isinstance(error, PermissionError):  # The error does not show whether reading or writing failed.
            sentence = f"{position} may not be used: {error.strerror}. Change its permissions, then run again."
            raise DataError(sentence) from None
        if error.errno in (errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP):
            kind = "folder" if error.errno == errno.EEXIST else "file"
            raise DataError(f"{position} cannot be a {kind}: {error.strerror}. Choose another name.") from None
        if error.errno not in DISK_ERRORS:
            raise
        raise _unwritable(position, error) from None


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Create a folder if it does not exist, and check that a file can be written to it.

    Parameters
    ----------
    folder : str or path-like
        Folder to check.

    Raises
    ------
    DataError
        If the disk is full or read-only, or the folder belongs to another user.
    """
    try:
        with atomic_open(probe := Path(folder) / ".probe") as stream:
            stream.write(bytes(_BLOCK))
        probe.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from None


def _unwritable(position: str | os.PathLike[str], error: OSError) -> DataError:
    return DataError(
        f"{position} cannot be written to: {error.strerror}. Free space or make it writable, then run again. Finished "
        "results are kept."
    )


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Delete the temporary files that killed processes left in a folder and its subfolders.

    Call this function only if no other process is writing to the folder. A process whose temporary file is deleted
    fails, but the file that it replaces stays intact.

    Parameters
    ----------
    folder : str or path-like
        Folder to search. Nothing happens if it does not exist.
    """
    for temporary in Path(folder).rglob(".*.tmp*"):
        if not temporary.is_dir():
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_open(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open a file for writing, with the guarantee of :func:`atomic_path`.

    Parameters
    ----------
    path : str or path-like
        File to write.
    mode : str, default="wb"
        Mode of :func:`open`.
    **options : object
        Further parameters of :func:`open`.

    Yields
    ------
    file object
        Stream of the temporary file.
    """
    with atomic_path(path) as temporary, temporary.open(mode, **options) as stream:
        yield stream


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text in UTF-8.

    Parameters
    ----------
    text : str
        Text to write.
    path : str or path-like
        File to write.
    """
    with atomic_open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def write_json(value: object, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a value as JSON.

    Parameters
    ----------
    value : object
        Value to write.
    path : str or path-like
        File to write.
    **options : object
        Further parameters of :func:`json.dumps`.
    """
    write_text(json.dumps(value, indent=1, ensure_ascii=False, **options), path)


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV without its index, with the same bytes on every platform.

    Texts that a spreadsheet would run as formulas get an apostrophe, which :func:`read_table` removes; see
    :mod:`fairfold.core.formulas`.

    Parameters
    ----------
    table : DataFrame
        Table to write. Floats keep all their digits.
    path : str or path-like
        File to write.
    """
    with atomic_open(path, "w", newline="", encoding="utf-8") as stream:
        protect_table(table).to_csv(stream, index=False, lineterminator="\n")


def write_tables(
    tables: Mapping[str, pd.DataFrame | Sequence[pd.DataFrame]], paths: Mapping[str, str | Sequence[str]]
) -> None:
    """Write tables, or lists of tables, to the files of the same names.

    Parameters
    ----------
    tables : mapping of str to DataFrame or sequence of DataFrame
        Tables by name.
    paths : mapping of str to str or sequence of str
        File of each table, or a file for each table of a list. A table without a file is not written.
    """
    for name, found in tables.items():
        files = paths.get(name, ())
        files = [files] if isinstance(files, str) else files
        several = found if isinstance(found, Sequence) else [found] * len(files)
        for table, path in zip(several, files, strict=True):
            write_table(table, path)


def read_table(path: str | os.PathLike[str], *texts: str) -> pd.DataFrame:
    """Read a table that :func:`write_table` wrote, and keep names unchanged.

    Names can look like numbers or missing values, such as a dataset ``2021`` or ``NA`` and a sample ``0025``. Columns
    of names, such as ``dataset`` and ``model``, are therefore read as text, and only empty cells are missing. Columns
    such as ``sample`` and ``label`` contain names in some tables and numbers in others. They become integers if every
    cell is an integer of at most 15 digits without leading zeros.

    Parameters
    ----------
    path : str or path-like
        CSV file.
    *texts : str
        Further columns to read as text.

    Returns
    -------
    DataFrame
        Table.

    Raises
    ------
    DamagedFileError
        If the file is empty, truncated or not a table.
    """
    table = read_csv(path, dtype=dict.fromkeys((*NAMES, *NAMES_OR_NUMBERS, *texts), str), na_values=[""])
    for name in table.columns.intersection(NAMES_OR_NUMBERS).difference(texts):
        if table[name].str.fullmatch("0|-?[1-9][0-9]{0,14}").fillna(False).all():
            table[name] = table[name].astype("int64")
    return table


def concat_tables(paths: Iterable[str | os.PathLike[str]]) -> pd.DataFrame:
    """Read tables with the same columns and concatenate them in the order of their paths.

    Parameters
    ----------
    paths : iterable of str or path-like
        CSV files.

    Returns
    -------
    DataFrame
        Concatenated table.
    """
    import pandas as pd

    return pd.concat([read_table(path) for path in paths], ignore_index=True)


def read_csv(path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
    """Read a CSV file that :func:`write_table` wrote, without treating texts such as ``NA`` as missing.

    Parameters
    ----------
    path : str or path-like
        CSV file.
    **options : object
        Further parameters of :func:`pandas.read_csv`.

    Returns
    -------
    DataFrame
        Table.

    Raises
    ------
    DamagedFileError
        If the file is empty, truncated or not a table.
    """
    import pandas as pd  # Most users of this module need no tables.

    try:
        _check_end(path)
        return unprotect_table(pd.read_csv(path, keep_default_na=False, **options))
    except ValueError as error:  # Base class of pandas' parsing errors and of UnicodeDecodeError.
        raise DamagedFileError(str(path), "a table", first_sentence(error)) from None


def _check_end(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError if the last line has no line end, because pandas fills truncated cells."""
    with Path(path).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 1, 0))
        if stream.read() != b"\n":
            raise ValueError("the end of the file is missing" if size else "the file is empty")


def write_arrays(path: str | os.PathLike[str], **arrays: np.ndarray) -> None:
    """Write plain arrays to a compressed ``.npz`` file.

    Parameters
    ----------
    path : str or path-like
        File to write.
    **arrays : ndarray
        Arrays by name.

    Raises
    ------
    TypeError
        If an array contains Python objects, which would need pickle.
    """
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"array {name!r} contains Python objects. Convert it to numbers or text.")
    with atomic_open(path) as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # Names of arrays are keyword arguments.


def read_arrays(path: str | os.PathLike[str], kind: str = "an array file", prefix: str = "") -> dict[str, np.ndarray]:
    """Read arrays from an ``.npz`` file without pickle.

    Parameters
    ----------
    path : str or path-like
        File to read.
    kind : str, default="an array file"
        Expected content for messages, such as ``"a dataset"``.
    prefix : str, default=""
        Read only arrays whose names begin with this text. The default reads all arrays.

    Returns
    -------
    dict of str -> ndarray
        Arrays by name.

    Raises
    ------
    DataError
        If the file is missing or does not fit in memory.
    DamagedFileError
        If the file is damaged or contains anything but plain arrays.
    """
    try:
        # zipfile comes first, because NumPy suggests unpickling a file that is not an archive.
        with zipfile.ZipFile(path), np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name.startswith(prefix)}
    except OSError as error:
        raise DataError(f"{path} cannot be read as {kind}: {error.strerror or error}.") from None
    except MemoryError:
        raise DataError(f"{path} does not fit in memory, or is damaged.") from None
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds of errors for damaged files.
        raise DamagedFileError(str(path), kind, first_sentence(error)) from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a JSON file of results.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    object
        Content of the file.

    Raises
    ------
    DamagedFileError
        If the file is not valid JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFileError(str(path), "JSON", first_sentence(error)) from None


def check_whole(path: str | os.PathLike[str]) -> None:
    """Check that a result is not damaged: not empty, with valid checksums of arrays and a complete last line of tables.

    Parameters
    ----------
    path : str or path-like
        File to check.

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
    except Exception as error:  # zipfile and zlib raise many kinds of errors for damaged files.
        raise DamagedFileError(str(path), f"a whole {path.suffix} file", first_sentence(error)) from None
