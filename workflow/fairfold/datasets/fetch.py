"""Verified copies of data files from mirrors, the shared cache or the web.

Downloads use ``platformdirs`` and :mod:`fairfold.datasets.download`. The package ``pooch`` has neither a size limit for
downloads nor the digests of git blobs.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import platformdirs

from fairfold.core.files import atomic_path
from fairfold.datasets.catalog import DataFile
from fairfold.errors import DataError

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*")
_log = logging.getLogger(__name__)


def default_cache() -> Path:
    """Return the cache folder of the platform, which all studies of a user share.

    Returns
    -------
    Path
        Path of the folder.
    """
    return platformdirs.user_cache_path("fairfold")


def fetch(
    dataset: str,
    file: DataFile,
    *,
    mirrors: Sequence[str | os.PathLike[str]] = (),
    cache: str | os.PathLike[str] | None = None,
    offline: bool = False,
    progress: bool = True,
) -> Path:
    r"""Return the path of a verified copy of a file, and download it if necessary.

    Mirrors are searched first, then the cache. Otherwise the file is downloaded to the cache.

    Parameters
    ----------
    dataset : str
        Folder of the file in mirrors and in the cache: the dataset id, or the folder named by the entry.
    file : DataFile
        The file.
    mirrors : sequence of (str or path-like), default=()
        Folders with files at ``<dataset>/<file name>``, in order of preference. They are never written to.
    cache : str, path-like or None, default=None
        Folder of the same layout for downloads. By default, :func:`default_cache`.
    offline : bool, default=False
        Whether downloads are forbidden.
    progress : bool, default=True
        Whether to show a progress bar on standard error during a download.

    Returns
    -------
    Path
        Path of the copy.

    Raises
    ------
    DataError
        If a name is invalid, a copy in a mirror does not agree, the cache cannot be used, or the file is not available.

    Notes
    -----
    A copy in the cache with a wrong size or checksum is replaced. Processes that need the same file wait for the first
    one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as mirror:
    ...     path = Path(mirror) / "plants" / "plants.csv"
    ...     path.parent.mkdir()
    ...     _ = path.write_text("height\n0.5\n")
    ...     fetch("plants", DataFile("plants.csv", size=11), mirrors=[mirror], offline=True) == path
    True
    """
    for name in (dataset, file.name):
        if not _PLAIN_NAME.fullmatch(name):
            raise DataError(
                f"{name!r} is no valid name of a dataset or file. Use letters, digits, spaces and '._+-', and start "
                "with a letter or digit."
            )
    cache = default_cache() if cache is None else Path(cache).expanduser()
    target = cache / dataset / file.name
    try:
        for copy in (Path(mirror).expanduser() / dataset / file.name for mirror in mirrors):
            if copy.is_file():
                if flaw := file.flaw_of(copy):
                    raise DataError(f"{copy} is not the file that its entry describes: {flaw}. Replace it.")
                return copy
        flaw = file.flaw_of(target)
        if flaw is None:
            return target
        failures = dict.fromkeys(file.urls, "not tried, offline")
        if file.urls and not offline:
            failures = _download(cache, target, file, progress)
            if not failures:
                return target
    except OSError as error:
        raise DataError(f"{dataset}/{file.name}: {error}. Make it accessible, or choose another cache.") from None
    positions = "; ".join([*(f"not in mirror {mirror}" for mirror in mirrors), f"{target}: {flaw}"])
    raise DataError(f"{dataset}/{file.name} is missing ({positions}). {_how_to_get(dataset, file, failures)}")


def _how_to_get(dataset: str, file: DataFile, failures: Mapping[str, str]) -> str:
    sources = "".join(f"\n  {url}: {reason}" for url, reason in failures.items()) or " no known address."
    return (
        f"Sources:{sources}\nSave it in a folder as {dataset}/{file.name} and name that "
        "folder under data.mirrors in the configuration or in the environment variable FAIRFOLD_MIRROR."
    )


def _download(cache: Path, target: Path, file: DataFile, progress: bool) -> dict[str, str]:
    """Download ``file`` to the cache and return the failure of each URL, or an empty dict on success."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(cache.resolve()):
        raise DataError(f"{target.parent} leads out of the cache. Remove this link, or choose another cache.")
    from fairfold.datasets.download import DownloadError, download  # Most jobs need no download.

    failures = {}
    with target.with_name(f".{file.name}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (flaw := file.flaw_of(target)) is None:  # Another process has downloaded the file.
            return {}
        if target.is_file():
            _log.warning("%s is damaged and downloaded again: %s", target, flaw)
        for url in file.urls:
            try:
                with atomic_path(target) as partial:
                    download(url, file, partial, progress)
            except DownloadError as error:
                failures[url] = str(error)
            else:
                return {}
    return failures
