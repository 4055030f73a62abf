"""Folders of caches that no other user can write to, because loading a cache can run code."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Create a folder for a cache, and check that only the current user can write to it.

    Parameters
    ----------
    folder : Path
        Folder to create, with its parents. It may exist.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    OSError
        If the folder cannot be written, belongs to another user, or is writable by others.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     private_folder(Path(folder, "cache")).name
    'cache'
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise PermissionError(f"{folder} belongs to another user or is writable by others.")
    tempfile.TemporaryFile(dir=folder).close()
    return folder
