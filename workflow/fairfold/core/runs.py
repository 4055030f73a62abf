"""Lock the working directory for a run, and remove results that were damaged since an earlier run."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO

from fairfold.core.files import check_whole
from fairfold.errors import DamagedFileError, StudyError

_STATE = Path(".snakemake")
_SUFFIXES = (".csv", ".fairfold", ".html", ".json", ".npz", ".pdf", ".png", ".zip")
_CHECKED = _STATE / "fairfold.checked"


def lock_of_folder(folder: str | os.PathLike[str] = ".", *, name: str = "fairfold") -> IO[str]:
    """Lock the folder of a study for one run.

    Parameters
    ----------
    folder : str or path-like, default="."
        Folder to lock. It is created if necessary.
    name : str, default="fairfold"
        Name of the lock. A command and the Snakemake process that it starts hold different locks of a folder.

    Returns
    -------
    file object
        Stream that holds the lock until it is closed or its process ends.

    Raises
    ------
    StudyError
        If another run holds the lock.
    """
    path = Path(folder, _STATE, f"{name}.lock")
    for each in (Path(folder), path.parent):
        each.mkdir(parents=True, exist_ok=True)
    stream = path.open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        where = Path(folder).absolute()
        raise StudyError(f"{where}: another run is working in this folder. Wait until it ends, or stop it.") from None
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
