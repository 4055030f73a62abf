"""Compiled functions, kept on disk; of processes that start together, one compiles and the others wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher, cpu_target

from fairfold.core.compiled_cache import KeptFunction, alone


def njit(*, siblings: Callable[[tuple], Iterable[tuple]] = lambda _: (), **options: Any) -> Callable:
    """Numba's ``njit``, which releases the interpreter's lock and keeps on disk what it compiles.

    Jobs that start together need the same functions, some of which take long: each is compiled once.

    Parameters
    ----------
    siblings : types of arguments -> other ones with which the function will be called as well, and whose siblings these
        are. They are compiled in one go, as the inner functions that they have in common are read once then; for other
        types, another process may compile it meanwhile.
    **options : of ``numba.njit``.
    """

    def decorate(function: Callable) -> Dispatcher:
        dispatcher = numba.njit(nogil=True, **options)(function)
        dispatcher._cache = KeptFunction(function)  # what `cache=True` does, but for the folder
        dispatcher.compile = partial(_compile, dispatcher, dispatcher.compile, siblings)
        return dispatcher

    return decorate


def load_registries() -> None:
    """Load what Numba knows of Python, NumPy and the machine, which takes longer than all of a forest's functions.

    It does so itself before the first function; a process may before it makes children, so that those need not.
    """
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def inner_njit(*, counted: bool = True, **options: Any) -> Callable[[Callable], InnerDispatcher]:
    """The same for a function that compiled ones call: it is optimised in each of them, and not on its own before.

    Numba makes machine code of every function, which most of ours, called from loops, have no use for, and optimises
    what it calls with it each time: so the innermost as often as calls are nested. That takes two fifths of the time
    that trees need.

    Parameters
    ----------
    counted : whether references to arrays are counted. Numba does, with a call for each array, wherever one is handed
        on, sliced or taken out of a tuple; a function that does so millions of times can take three times as long by
        it. One that makes no arrays, nor calls any that does, needs no counts: its caller holds what it works on.
    **options : of ``numba.njit``.
    """
    if not counted:
        options["_nrt"] = False  # the only way that there is; a version of Numba without it refuses it on import
    return partial(InnerDispatcher, targetoptions=options)


class InnerDispatcher(CPUDispatcher):
    """A function that :func:`inner_njit` compiles into others; from Python it is called as one of ``njit``'s."""

    def __init__(self, py_func: Callable, locals: Any = None, *, targetoptions: Any) -> None:
        fixed = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, locals or {}, targetoptions | fixed, pipeline_class=_InnerCompiler)
        self._options = targetoptions

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._on_its_own(*args, **kwargs)

    @cached_property
    def _on_its_own(self) -> Dispatcher:
        return njit(**self._options)(self.py_func)


class _InnerCompiler(Compiler):
    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        super().__init__(typingctx, targetctx, library or _InnerLibrary(targetctx.codegen(), "inner"), *others)


class _InnerLibrary(JITCodeLibrary):
    """Code for those who call it, and no place in memory from which it could be run."""

    codegen = SimpleNamespace(set_env=lambda *_: None)  # only Python's objects would need a place for them

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


def _compile(dispatcher: Dispatcher, compile_or_load: Callable, siblings: Callable, signature: tuple) -> Any:
    together = [signature, *siblings(signature)]
    # Numba's own lock, of threads, comes first: one that holds a file must not wait for one that waits for it.
    # A function that calls itself would wait for itself; but Numba cannot load such a function from disk anyway.
    with global_compiler_lock, alone(dispatcher.py_func, together):
        compiled = compile_or_load(signature)
        if dispatcher.stats.cache_misses[signature]:
            for sibling in together[1:]:
                compile_or_load(sibling)
        return compiled
