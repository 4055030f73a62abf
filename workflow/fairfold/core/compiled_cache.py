"""Where compiled functions are kept: once for each user of a machine, wherever the library lies.

Numba looks for changes in the file of a function only, not in those of the compiled functions that it calls, of what
makes code for them, or of constants that are compiled into it; and it names files after the place of their source. Here
their folder is named after all sources of compiled code and what compiles them, and they are named after their module:
checkouts and environments with the same of both share them. Of its place, code knows what a traceback shows.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

_LIBRARY = Path(__file__).parents[1]
# each process that compiles waits for these searches
_COMPILED = re.compile(rb"\n(?:import numba|from numba|@(?:inner_)?njit)")
_IMPORT = re.compile(rb"^from fairfold\.([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_CONSTANT = re.compile(rb"\b[A-Z][A-Z0-9_]+\b")
_ADDRESS = re.compile("0x[0-9a-f]+")  # of a function that is an argument
_KEY_LENGTH = 16
_KEPT_UNUSED = 30 * 24 * 3600  # seconds


def _sources() -> Iterator[bytes]:
    """All sources of compiled code, and of constants in it."""
    sources = {path.relative_to(_LIBRARY).as_posix(): path.read_bytes() for path in sorted(_LIBRARY.rglob("*.py"))}
    compiled = {name for name, source in sources.items() if _COMPILED.search(b"\n" + source)}
    imports = (found for name in compiled for found in _IMPORT.findall(sources[name]))
    homes = {module.decode().replace(".", "/") for module, *names in imports if _CONSTANT.search(b" ".join(names))}
    compiled |= sources.keys() & {f"{home}{end}" for home in homes for end in (".py", "/__init__.py")}
    return (sources[name] for name in sorted(compiled))


def _key() -> str:
    """What code depends on, but for the version of Python and the processor, which Numba tells apart."""
    compilers = (numba.__version__, llvmlite.__version__, np.__version__, numba.config.USING_SVML)
    return hashlib.sha256(b"".join(_sources()) + repr(compilers).encode()).hexdigest()[:_KEY_LENGTH]


def _base() -> Path:
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given, "fairfold-compiled").absolute()
    try:
        return platformdirs.user_cache_path("fairfold-compiled")
    except RuntimeError:  # a user without a home, as in a container: nothing is kept, as it is read without a question
        return Path(os.devnull, "fairfold-compiled")


FOLDER = _base() / _key()
"""Of this library's compiled functions, when there are any."""


@contextlib.contextmanager
def alone(function: Callable, types: Iterable[object] = ()) -> Iterator[None]:
    """Keep other processes from the same for as long; without a folder, they may.

    Parameters
    ----------
    function : that is compiled.
    types : of arguments for which it is; none where its files are written, in which all are.
    """
    text = " ".join(sorted(_ADDRESS.sub("", str(each)) for each in types))
    of_types = hashlib.sha256(text.encode()).hexdigest()[:_KEY_LENGTH]
    name = f"{function.__module__}.{function.__qualname__}-{of_types}"
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            _make_folder()
            fcntl.flock(stack.enter_context((FOLDER / f"{name}.lock").open("w")), fcntl.LOCK_EX)
        yield


def _make_folder() -> None:
    """See to it that the folder is there and known to be used; a new one takes the place of those that no one uses."""
    try:
        FOLDER.mkdir(parents=True)
    except FileExistsError:
        os.utime(FOLDER)
        return
    for other in FOLDER.parent.glob("[0-9a-f]" * _KEY_LENGTH):
        with contextlib.suppress(OSError):  # another process removes it, too
            if time.time() - other.stat().st_mtime > _KEPT_UNUSED:
                shutil.rmtree(other)


class _Locator(_CacheLocator):
    """Files of a function, by its module and line."""

    def __init__(self, function: Callable, source: str) -> None:
        self._function = function
        self._py_file = source  # which Numba names in its warnings

    @classmethod
    def from_function(cls, function: Callable, source: str) -> _Locator:
        return cls(function, source)

    def get_cache_path(self) -> str:
        return str(FOLDER / self._function.__module__)

    def get_source_stamp(self) -> str:
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


class _Files(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class KeptFunction(FunctionCache):
    """Numba's cache of one function, in our folder; where that cannot be written or read, functions are compiled.

    A damaged file, as a machine leaves it that stops while it writes, is as good as none.
    """

    _impl_class = _Files

    def load_overload(self, *args: Any) -> Any:
        with contextlib.suppress(OSError):
            try:
                return super().load_overload(*args)
            except OSError:
                raise
            except Exception:  # of a damaged file pickle raises all kinds
                self.flush()

    def save_overload(self, *args: Any) -> None:
        try:
            with alone(self._py_func):  # for other types it is compiled meanwhile
                super().save_overload(*args)
        except OSError as error:
            warnings.warn(
                f"compiled code cannot be kept in {FOLDER} ({error.strerror}), so that every process compiles it anew; "
                "make it writable, or name another folder in the environment variable NUMBA_CACHE_DIR.",
                stacklevel=1,  # always the same, so that it is told once
            )
