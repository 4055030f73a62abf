"""Write the result of a command to the file, link, device, pipe or standard output that its user names."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import shutil
import stat
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, TextIO

from fairfold.core.files import DISK_ERRORS, atomic_path, check_writable, disk_faults
from fairfold.errors import DataError

STANDARD_OUTPUT = "-"
"""Name of the standard output."""
_WIDTH = 100  # characters per line of the terminal


def _gzip(stream: IO[bytes]) -> IO[bytes]:
    return gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)  # type: ignore[return-value]


def _zstandard(stream: IO[bytes]) -> IO[bytes]:
    import zstandard  # Only studies need it.

    return zstandard.ZstdCompressor().stream_writer(stream, closefd=False)


_COMPRESSED: dict[str, Callable[[Any], Any]] = {
    ".gz": _gzip,
    ".bz2": partial(bz2.open, mode="wb"),
    ".xz": partial(lzma.open, mode="wb"),
    ".zst": _zstandard,
}
# Endings of names that state another format than text.
_OTHERS = {
    ".7z",
    ".lz4",
    ".lzma",
    ".rar",
    ".tar",
    ".tgz",
    ".z",
    ".zip",
    ".arff",
    ".feather",
    ".libsvm",
    ".npy",
    ".npz",
    ".ods",
    ".parquet",
    ".rds",
    ".svm",
    ".svmlight",
    ".tsv",
    ".html",
    ".json",
    ".pdf",
    ".pkl",
    ".xls",
    ".xlsm",
    ".xlsx",
    ".yaml",
}


def filled(text: str, first: str = "", rest: str = "  ") -> str:
    """Break a text into lines of the terminal, never within an option such as ``--labels-are``.

    Parameters
    ----------
    text : str
        Text without line breaks.
    first : str, default=""
        Indentation of the first line.
    rest : str, default="  "
        Indentation of the other lines.

    Returns
    -------
    str
        The lines, joined by line breaks.

    Examples
    --------
    >>> from fairfold.core.output import filled
    >>> print(filled("one " * 20 + "--labels-are complete"))  # doctest: +NORMALIZE_WHITESPACE
    one one one one one one one one one one one one one one one one one one one one --labels-are
      complete
    """
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def check_output(
    path: str | os.PathLike[str],
    *inputs: str | os.PathLike[str],
    outputs: Sequence[str | os.PathLike[str]] = (),
    formats: tuple[str, ...] = (),
) -> None:
    """Check that a result can be written, before the work that produces it.

    Parameters
    ----------
    path : str or path-like
        File, link, device or pipe to write, or ``"-"`` for the standard output.
    *inputs : str or path-like
        Files that the command reads, which are never replaced.
    outputs : sequence of (str or path-like), default=()
        Other results of the command.
    formats : tuple of str, default=()
        Endings of other formats than CSV that the command can write, such as ``".xlsx"``.

    Raises
    ------
    DataError
        If the path is a folder, an input or another output, its name states a format that the command does not write,
        or it is not writable.
    """
    name = os.fspath(path)
    if name == STANDARD_OUTPUT:
        if STANDARD_OUTPUT in outputs:
            raise DataError("Only one result can be written to the standard output (-). Name a file for the other.")
        return
    with disk_faults():
        mode = _mode_of(name)
        if not Path(name).name or name.endswith(os.sep) or stat.S_ISDIR(mode):
            raise DataError(f"{name!r} is a folder; name the file to write.")
        for kind, paths in (("an input", inputs), ("another output", outputs)):
            if (same := next((each for each in paths if _is_same(name, each)), None)) is not None:
                raise DataError(f"{name} is {kind} of this command ({os.fspath(same)}). Choose another file to write.")
        if (suffix := _suffix(name)) in _OTHERS.difference(formats):
            kinds = " or ".join((".csv", *formats))
            raise DataError(f"{name}: this command does not write {suffix} files. Choose a name that ends in {kinds}.")
        if mode and not os.access(name, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    if not _is_stream(mode):
        check_writable(Path(os.path.realpath(name)).parent)


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    r"""Open the file that a user has named for a result; see :func:`check_output`.

    A regular file appears completely or not at all, and keeps its permissions. Links are followed. Devices and pipes
    are written to, not replaced. The ending ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` compresses the content.

    Parameters
    ----------
    path : str or path-like
        File, link, device or pipe to write, or ``"-"`` for the standard output.
    binary : bool, default=False
        Whether the stream takes bytes instead of text, which is written in UTF-8.

    Yields
    ------
    file object
        Stream to write to.

    Raises
    ------
    DataError
        If the disk is full or read-only.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairfold.core.output import open_output
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open_output(Path(folder, "found.csv.gz")) as stream:
    ...         _ = stream.write("label\n")
    ...     gzip.open(Path(folder, "found.csv.gz")).read()
    b'label\n'
    """
    name = os.fspath(path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_faults_of(name))
        raw = _raw(name, stack)
        if (compress := _COMPRESSED.get(Path(name).suffix.lower())) is not None:
            raw = stack.enter_context(compress(raw))
        yield raw if binary else stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline=""))


def messages_beside(*paths: str | os.PathLike[str]) -> TextIO:
    """Return the stream for the messages of a command, which never mix with its result.

    Parameters
    ----------
    *paths : str or path-like
        Outputs of the command.

    Returns
    -------
    file object
        Standard error if an output is the standard output, also by another name such as ``/dev/stdout``.
    """
    for path in paths:
        with contextlib.suppress(OSError, ValueError):  # The standard output may be no file.
            if os.fspath(path) == STANDARD_OUTPUT or os.path.samestat(Path(path).stat(), os.fstat(sys.stdout.fileno())):
                return sys.stderr
    return sys.stdout


def _raw(name: str, stack: contextlib.ExitStack) -> Any:
    """Open a path for bytes."""
    if name == STANDARD_OUTPUT:
        sys.stdout.flush()
        return stack.enter_context(os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    if _is_stream(_mode_of(name)):
        return stack.enter_context(Path(name).open("wb"))
    target = Path(os.path.realpath(name))
    temporary = stack.enter_context(atomic_path(target))
    stream = stack.enter_context(temporary.open("wb"))
    if target.exists():
        shutil.copymode(target, temporary)
    return stream


def _mode_of(name: str) -> int:
    """Return the type and the permissions of a file that links lead to, or 0 if there is none."""
    try:
        return Path(name).stat().st_mode
    except FileNotFoundError:
        return 0


def _is_stream(mode: int) -> bool:
    return bool(mode) and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_same(name: str, other: str | os.PathLike[str]) -> bool:
    if os.path.realpath(name) == os.path.realpath(other):
        return True
    return Path(name).exists() and Path(other).exists() and Path(name).samefile(other)


def _suffix(name: str) -> str:
    """Return the ending that states the format, without that of a compression."""
    path = Path(name.lower())
    return (path.with_suffix("") if path.suffix in _COMPRESSED else path).suffix


@contextlib.contextmanager
def _faults_of(name: str) -> Iterator[None]:
    """Name the output in errors of the disk, which streams raise without a name."""
    with disk_faults():
        try:
            yield
        except OSError as error:
            if error.errno in DISK_ERRORS and error.filename is None:
                error.filename = name
            raise
