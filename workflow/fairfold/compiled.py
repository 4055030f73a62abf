"""Compiled functions, kept on disk; of processes that start together, one compiles and the others wait for it."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher


def njit(*, counted: bool = True, **options: Any) -> Callable[[Callable], Dispatcher]:
    """Numba's ``njit``, which releases the interpreter's lock and keeps on disk what it compiles.

    Jobs that start together need the same functions, some of which take a minute: each is compiled once.

    Parameters
    ----------
    counted : whether references to arrays are counted. Numba does, with a call for each array, wherever one is handed
        on, sliced or taken out of a tuple; a function that does so millions of times can take three times as long by
        it. One that makes no arrays, nor calls any that does, needs no counts: its caller holds what it works on.
    **options : of ``numba.njit``.
    """
    if not counted:
        options["_nrt"] = False  # the only way that there is; a version of Numba without it refuses it on import

    def decorate(function: Callable) -> Dispatcher:
        dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
        dispatcher.compile = partial(_compile, f"{function.__module__}.{function.__qualname__}", dispatcher.compile)
        return dispatcher

    return decorate


def _compile(name: str, compile_or_load: Callable, signature: tuple) -> Any:
    with _alone(name):
        return compile_or_load(signature)


@contextlib.contextmanager
def _alone(name: str) -> Iterator[None]:
    """Keep other processes from compiling this function for as long; where no file can be locked, they may."""
    # Numba's own lock, of threads, comes first: one that holds a file must not wait for one that waits for it.
    # A function that calls itself would wait for itself; but Numba cannot load such a function from disk anyway.
    with global_compiler_lock, contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            folder = Path(numba.config.CACHE_DIR)
            folder.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context((folder / f"{name}.lock").open("w")), fcntl.LOCK_EX)
        yield
