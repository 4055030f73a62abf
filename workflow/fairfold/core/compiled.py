"""Functions compiled by Numba, with a cache that notices changes of constants and of functions of other modules."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core.compiler_lock import global_compiler_lock

from fairfold.core.private import private_folder

_LIBRARY = Path(__file__).parents[1]
_COMPILES = re.compile(rb"^from (?:numba|fairfold\.core\.compiled)\b", re.MULTILINE)
_IMPORT = re.compile(rb"^from fairfold\.([\w.]+) import", re.MULTILINE)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as ``numba.njit`` does, and cache it in the folder of :func:`cache_folder`.

    Parameters
    ----------
    **options : object
        Options of ``numba.njit``.

    Returns
    -------
    callable
        Decorator.

    Examples
    --------
    >>> @njit(nogil=True)
    ... def add_one(x):
    ...     return x + 1
    >>> add_one(1)
    2
    """

    def compiled(function: Callable[..., Any]) -> Any:
        config: Any = numba.config
        chosen, config.CACHE_DIR = config.CACHE_DIR, cache_folder()
        try:
            dispatcher = numba.njit(**options)(function)
        finally:
            config.CACHE_DIR = chosen
        if options.get("cache"):
            dispatcher.compile = _one_process_at_a_time(dispatcher.compile, function)
        return dispatcher

    return compiled


def _one_process_at_a_time(compile_or_load: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Let other processes that need the function wait until the first has stored it."""

    def compile_once(signature: Any) -> Any:
        # Numba's lock comes first, as in nested calls. Otherwise two threads could wait for each other.
        with global_compiler_lock, _locked(Path(cache_folder(), f"{function.__module__}.{function.__name__}.lock")):
            return compile_or_load(signature)

    return compile_once


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a file, if its file system has locks, until the block or the process ends."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        yield


@functools.cache
def cache_folder() -> str:
    """Return the folder of compiled code, which is named after a hash of its sources.

    Numba detects changes of a file, but not changes of compiled functions and constants that the file imports.

    Returns
    -------
    str
        Folder below ``NUMBA_CACHE_DIR``, or else below the user's cache folder. If neither is private and writable, a
        folder for temporary files.

    Examples
    --------
    >>> len(Path(cache_folder()).name) >= 16
    True
    """
    key, chosen = _hash_of_sources(), os.environ.get("NUMBA_CACHE_DIR")
    try:
        folder = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("fairfold-compiled")
        return str(private_folder(folder / key))
    except (OSError, RuntimeError):  # No permission, or no home folder.
        user = getattr(os, "getuid", int)()
    try:  # All processes of a study share this folder.
        return str(private_folder(Path(tempfile.gettempdir(), f"fairfold-compiled-{user}-{key}")))
    except OSError:
        return tempfile.mkdtemp(prefix="fairfold-compiled-")


def _hash_of_sources() -> str:
    """Hash the modules that compile functions and those that they import, because constants are compiled, too."""
    sources = {path.relative_to(_LIBRARY).as_posix(): path.read_bytes() for path in sorted(_LIBRARY.glob("*/*.py"))}
    compiled = {name for name, source in sources.items() if _COMPILES.search(source)}
    for name in sorted(compiled):
        modules = _IMPORT.findall(sources[name])
        compiled |= sources.keys() & {f"{module.decode().replace('.', '/')}.py" for module in modules}
    return hashlib.sha256(b"".join(sources[name] for name in sorted(compiled))).hexdigest()[:16]
