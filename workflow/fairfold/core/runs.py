"""Lock the working directory for a run, and remove what an earlier run left damaged before Snakemake reads it."""

from __future__ import annotations

import base64
import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any

from fairfold.core.files import check_whole, remove_damaged
from fairfold.errors import DamagedFileError, StudyError

RUN_AGAIN = 75
"""Exit status of a run that deleted damaged results: the same command writes them again (``EX_TEMPFAIL``)."""
_RECORDS = ("metadata", "incomplete")  # folders of Snakemake with a JSON file for each output
_TOLERANCE = 1.0  # seconds; clocks of file systems are coarse


def lock_of_folder() -> IO[str]:
    """Lock the working directory for one run; the lock lasts until the returned stream is closed or its process ends.

    Raises
    ------
    StudyError
        If another run holds the lock.
    """
    Path(".snakemake").mkdir(exist_ok=True)
    stream = Path(".snakemake/fairfold.lock").open("w")  # noqa: SIM115
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise StudyError("Another run is working in this directory; wait for it or stop it.") from None
    return stream


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
