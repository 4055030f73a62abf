"""Cache results of finished calls of each study in the user's cache folder.

Cached results are pickles, so loading one can run code. They are therefore not stored in the working directory, which
may come from an archive or be shared. A file in the working directory contains the name of its cache.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import joblib
import platformdirs

from fairfold.core.private import private_folder
from fairfold.core.trainings import begin, find_in_cache

_NAME = Path(".snakemake", "fairfold-cache-name")
_PLACE = "study.txt"  # in each cache: the working directory that last used it
_SECONDS_KEPT = 24 * 60 * 60  # time after which the cache of a deleted study is deleted
Result = TypeVar("Result")
_LIBRARIES = ("lightgbm", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def memory() -> joblib.Memory:
    """Return the cache of the working directory.

    Returns
    -------
    joblib.Memory
        Cache with compressed entries, whose checksums reveal damage. Damaged entries are recomputed. The cache stores
        nothing if its folder cannot be created, or if other users can write to it.
    """
    return _memory(_name_of_cache)


def memory_of_all() -> joblib.Memory:
    """Return the cache that all working directories of the user share, for results that are the same everywhere.

    Returns
    -------
    joblib.Memory
        Cache as in :func:`memory`.
    """
    return _memory(lambda: "shared")


def prepare_cache() -> None:
    """Name the cache of the working directory, and delete the caches of working directories that no longer exist."""
    memory()
    with contextlib.suppress(OSError, RuntimeError):
        for place in private_folder(_caches()).glob(f"{'?' * 32}/{_PLACE}"):
            name = Path(place.read_text(encoding="utf-8")) / _NAME
            is_old = place.stat().st_mtime < time.time() - _SECONDS_KEPT
            if is_old and not (name.is_file() and name.read_text(encoding="ascii") == place.parent.name):
                shutil.rmtree(place.parent, ignore_errors=True)


def _caches() -> Path:
    return platformdirs.user_cache_path("fairfold-results")


def _memory(name: Callable[[], str]) -> joblib.Memory:
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: no home folder
        folder = private_folder(private_folder(_caches()) / name())
        (folder / _PLACE).write_text(str(Path.cwd()), encoding="utf-8")
        return joblib.Memory(folder, compress=1, verbose=0)
    return joblib.Memory(None)


def _name_of_cache() -> str:
    """Return the name of the cache of the working directory, which is chosen once."""
    _NAME.parent.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError), _NAME.open("x", encoding="ascii") as stream:
        stream.write(secrets.token_hex(16))
    if not re.fullmatch("[0-9a-f]{32}", name := _NAME.read_text(encoding="ascii", errors="replace")):
        raise FileNotFoundError(f"{_NAME} contains no name of a cache.")
    return name


def reused(key: str, compute: Callable[..., Result], *arguments: Any, **settings: Any) -> Result:
    """Return the cached result of an earlier call with the same key, or compute it.

    Parameters
    ----------
    key : str
        Checksum of everything that the result depends on, including the code.
    compute : callable
        Function that computes the result.
    *arguments, **settings : object
        Arguments of the function, which the key represents.

    Returns
    -------
    object
        Result of ``compute``.
    """
    return memory().cache(_call, ignore=["compute"])(key, partial(compute, *arguments, **settings))


def trained(key: str | None, what: str, compute: Callable[[], Result]) -> Result:
    """Run an announced training, or return its result from the cache, as after a killed run.

    Parameters
    ----------
    key : str or None
        Checksum of everything that the result depends on except the name of the training. None caches nothing.
    what : str
        Name of the training, which occurs once with this key.
    compute : callable
        Function that runs the training.

    Returns
    -------
    object
        Result of ``compute``.
    """
    is_cached = True

    def run() -> Result:
        nonlocal is_cached
        is_cached = False
        begin(what)
        return compute()

    found = run() if key is None else reused(f"{key}, {what}", run)
    if is_cached:
        find_in_cache(what)
    return found


def _call(key: str, compute: Callable[[], Result]) -> Result:
    return compute()


def key_of(*content: object) -> str:
    """Compute a checksum of arrays, settings and names, and of the versions of Python and its libraries.

    Parameters
    ----------
    *content : object
        Objects that the result depends on.

    Returns
    -------
    str
        Checksum.
    """
    return joblib.hash([content, _versions()])


def key_of_job(job: Any) -> str:
    """Compute a checksum of the input files, wildcards and parameters of a job.

    Parameters
    ----------
    job : snakemake.script.Snakemake
        The job. Its parameters must include the checksum of the code.

    Returns
    -------
    str
        Checksum.
    """
    return key_of(
        [Path(path).read_bytes() for path in job.input], dict(job.wildcards.items()), dict(job.params.items())
    )


@cache
def _versions() -> list[str]:
    return [sys.version, *(f"{name} {version(name)}" for name in _LIBRARIES)]
