"""Preconditions of a run of Snakemake, checked before it starts."""

from __future__ import annotations

import base64
import json
import os
import threading
from pathlib import Path
from typing import Any

import platformdirs

from fairfold.errors import DamagedFileError, DataError
from fairfold.files import check_whole, remove_damaged

RUN_AGAIN = 75
"""Exit status of a run that deleted damaged results: the same command writes them again (``EX_TEMPFAIL``)."""
_RECORDS = ("metadata", "incomplete")  # folders of Snakemake with a JSON file for each output
_TOLERANCE = 1.0  # seconds; clocks of file systems are coarse
_THREADS = 16  # A run of Snakemake starts about as many, and each job some more.


def check_machine(directory: Path) -> None:
    """Check that Snakemake can keep its files and start threads.

    Parameters
    ----------
    directory : Path
        Working directory of the run.

    Raises
    ------
    DataError
        If one of them fails; the message says what to change.
    """
    advice = "Set the environment variable XDG_CACHE_HOME to a folder that you can write to, then run again."
    try:
        cache = platformdirs.user_cache_path("snakemake")
    except RuntimeError:
        raise DataError(f"HOME: this user has no home folder. {advice}") from None
    _check_folder(cache, advice)
    _check_folder(directory / ".snakemake", "Name another folder by --directory, or make this one writable.")
    check_threads()


def _check_folder(folder: Path, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be made ({error.strerror}). {advice}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataError(f"{folder}: this folder cannot be written to. {advice}")


def check_threads(n_threads: int = _THREADS) -> None:
    """Check that this process can start threads.

    Parameters
    ----------
    n_threads : int, default=16
        Number of threads that run at once.

    Raises
    ------
    DataError
        If the system's limit is reached first.
    """
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(n_threads)]
    started = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise no_more_threads() from None
    finally:
        end.set()
        for thread in started:
            thread.join()


def no_more_threads() -> DataError:
    """Build the error for a process that cannot start another process or thread."""
    return DataError(
        "this user's limit of processes: no further process or thread can be started. End other programs or raise the "
        "limit (`ulimit -u`), or use fewer cores (`--cores 1`), then run the same command again."
    )


def remove_damage(folder: str | os.PathLike[str], results: str | os.PathLike[str]) -> dict[str, str]:
    """Delete damaged results, so that Snakemake makes them again, and records that it could not read.

    Only results that changed after their job ended are checked. Without its record, nothing shows whether a result is
    up to date, so it is deleted as well.

    Parameters
    ----------
    folder : str or path-like
        Snakemake's folder, ``.snakemake`` of the working directory.
    results : str or path-like
        Folder of results.

    Returns
    -------
    dict of str -> str
        Deleted results, and the reason.
    """
    found = {str(path): "it was damaged" for path in remove_damaged(results)}
    for kind in _RECORDS:
        for path in sorted(path for path in Path(folder, kind).rglob("*") if path.is_file()):
            output = _output_of(path.relative_to(Path(folder, kind)))
            record = _read_record(path)
            if record is None:
                path.unlink()
                flaw = "its record in .snakemake was damaged"
            else:
                flaw = _flaw_since(output, record.get("endtime"))
            if output is not None and flaw:
                Path(output).unlink(missing_ok=True)
                found[output] = flaw
    return found


def _flaw_since(output: str | None, end: float | None) -> str | None:
    """Return the damage of a file that changed after its job ended."""
    try:
        if output and end and Path(output).stat().st_mtime > end + _TOLERANCE:
            check_whole(output)
    except DamagedFileError as error:
        return error.args[-1]
    except OSError:  # It is missing, or the jobs that read it say why they cannot.
        pass
    return None


def _read_record(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_bytes())
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _output_of(record: Path) -> str | None:
    """Decode the name of a record; Snakemake splits a long one into folders that begin with ``@``."""
    try:
        output = base64.urlsafe_b64decode("".join(part.removeprefix("@") for part in record.parts)).decode()
    except ValueError:  # a file of another program
        return None
    return None if Path(output).is_absolute() else output
