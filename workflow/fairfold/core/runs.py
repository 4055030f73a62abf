"""Lock the working directory for a run, and remove results that were damaged since an earlier run."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO

from fairfold.core.files import check_whole
from fairfold.errors import DamagedFileError, StudyError

_LOCK = Path(".snakemake", "fairfold.lock")
_SUFFIXES = (".csv", ".fairfold", ".html", ".json", ".npz", ".pdf", ".png", ".zip")
_CHECKED = Path(".snakemake", "fairfold.checked")


def lock_of_folder() -> IO[str]:
    """Lock the working directory for one run.

    Returns
    -------
    file object
        Stream that holds the lock until it is closed or its process ends.

    Raises
    ------
    StudyError
        If another run holds the lock.
    """
    _LOCK.parent.mkdir(exist_ok=True)
    stream = _LOCK.open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise StudyError("Another run is working in this directory; wait for it or stop it.") from None
    return stream


def remove_damage(results: str | os.PathLike[str]) -> dict[str, str]:
    """Delete damaged results, so Snakemake recomputes them.

    Only results that changed since the last call are checked. A file in the working directory stores the time of that
    call. If another run holds the lock of the working directory, nothing is checked.

    Parameters
    ----------
    results : str or path-like
        Folder of results.

    Returns
    -------
    dict of str -> str
        Reason for each deleted result.
    """
    found = {}
    last = _CHECKED.stat().st_mtime_ns if _CHECKED.exists() else 0
    files = [path for path in Path(results).rglob("[!.]*") if path.suffix in _SUFFIXES and path.is_file()]
    with contextlib.suppress(StudyError), lock_of_folder():
        for path in sorted(path for path in files if path.stat().st_mtime_ns >= last):
            try:
                check_whole(path)
            except DamagedFileError as error:
                path.unlink()
                found[str(path)] = error.args[-1]
        _CHECKED.touch()
    return found
