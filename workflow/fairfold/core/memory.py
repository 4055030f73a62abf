"""Results of finished calls, kept in the working directory and reused by later runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import joblib

FOLDER = Path(".snakemake", "fairfold-cache")
Result = TypeVar("Result")
_LIBRARIES = ("lightgbm", "numba", "numpy", "pandas", "scikit-learn", "scipy")


def memory() -> joblib.Memory:
    """Return the cache of the working directory; it keeps nothing if the folder cannot be made.

    Entries are compressed, and so have checksums. A damaged entry is recomputed.
    """
    with contextlib.suppress(OSError):
        FOLDER.mkdir(parents=True, exist_ok=True)
        return joblib.Memory(FOLDER, compress=1, verbose=0)
    return joblib.Memory(None)


def reused(key: str, compute: Callable[[], Result]) -> Result:
    """Return the result of a call; that of an earlier call with the same key, if the cache has it.

    Parameters
    ----------
    key : str
        Checksum of all that the result depends on, the code included.
    compute : callable
        What is called if the cache has no result.
    """
    return memory().cache(_call, ignore=["compute"])(key, compute)


def _call(key: str, compute: Callable[[], Result]) -> Result:
    return compute()


def key_of(*content: object) -> str:
    """Compute a checksum of arrays, settings and names, and of the versions of Python and its libraries."""
    return joblib.hash([content, _versions()])


@cache
def _versions() -> list[str]:
    return [sys.version, *(f"{name} {version(name)}" for name in _LIBRARIES)]
