"""Cache results of finished calls in the working directory."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import joblib

FOLDER = Path(".snakemake", "fairfold-cache")
Result = TypeVar("Result")
_LIBRARIES = ("lightgbm", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def memory() -> joblib.Memory:
    """Return the cache of the working directory.

    Returns
    -------
    joblib.Memory
        Cache with compressed entries, whose checksums reveal damage. Damaged entries are recomputed. The cache stores
        nothing if its folder cannot be created.
    """
    with contextlib.suppress(OSError):
        FOLDER.mkdir(parents=True, exist_ok=True)
        return joblib.Memory(FOLDER, compress=1, verbose=0)
    return joblib.Memory(None)


def reused(key: str, compute: Callable[[], Result]) -> Result:
    """Return the cached result of an earlier call with the same key, or compute it.

    Parameters
    ----------
    key : str
        Checksum of everything that the result depends on, including the code.
    compute : callable
        Function that computes the result.

    Returns
    -------
    object
        Result of ``compute``.
    """
    return memory().cache(_call, ignore=["compute"])(key, compute)


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
