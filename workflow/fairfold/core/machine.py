"""Check that the machine can run a study, without NumPy, which starts its own threads."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import platformdirs

from fairfold.errors import DataError

_LEAST_SPACE = 10**6  # Bytes.


def check_machine(directory: Path) -> None:
    """Check that Snakemake can store its files and start threads.

    Parameters
    ----------
    directory : Path
        Working directory of the run.

    Raises
    ------
    DataError
        If a check fails.
    """
    advice = "Set the environment variable XDG_CACHE_HOME to a folder that you can write to, then run again."
    try:
        cache = platformdirs.user_cache_path("snakemake")
    except RuntimeError:
        raise DataError(f"HOME: this user has no home folder. {advice}") from None
    _check_folder(cache, advice)
    _check_folder(directory / ".snakemake", "Choose another folder with --directory, or make this one writable.")
    # A run on two cores starts about 24 threads and processes. NumPy starts one per core in each process.
    check_threads(24 + 4 * (os.cpu_count() or 1))


def _check_folder(folder: Path, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot create this folder ({error.strerror}). {advice}") from None
    check_space(folder)
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise DataError(f"{folder}: cannot write to this folder ({error.strerror}). {advice}") from None


def check_space(folder: Path) -> None:
    """Check that the disk of a folder has space for Snakemake's files.

    Parameters
    ----------
    folder : Path
        Existing folder.

    Raises
    ------
    DataError
        If less than a megabyte is free.
    """
    if shutil.disk_usage(folder).free < _LEAST_SPACE:
        raise DataError(f"{folder}: the disk is full. Free space, then run the same command again; results are kept.")


def check_threads(n_threads: int) -> None:
    """Check that this process can start threads.

    Parameters
    ----------
    n_threads : int
        Number of threads to run at once.

    Raises
    ------
    DataError
        If the system does not allow this number of threads.
    """
    end = threading.Event()
    started: list[threading.Thread] = []
    try:
        while len(started) < n_threads:
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise thread_limit_error() from None
    finally:
        end.set()
        for thread in started:
            thread.join()


@contextmanager
def ignore_closed_output(stream: TextIO | None = None) -> Iterator[None]:
    """End the block without an error if the reader of the output, such as ``head`` or a terminal, has ended.

    Parameters
    ----------
    stream : file object or None, default=None
        Stream that the block writes to. None is the standard output.
    """
    stream = stream or sys.stdout
    try:
        yield
        stream.flush()  # Otherwise Python flushes at its end and prints a traceback.
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO) or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def thread_limit_error() -> DataError:
    """Build the error for a process that cannot start another process or thread.

    Returns
    -------
    DataError
        Error with advice.
    """
    return DataError(
        "this user's limit of processes: no further process or thread can be started. End other programs or raise the "
        "limit (`ulimit -u`), or use fewer cores (`--cores 1`), then run the same command again."
    )
