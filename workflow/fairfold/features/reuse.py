"""Reuse of the features of texts by all models that are trained in a job."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import joblib

_FOLDER: ContextVar[str | None] = ContextVar("folder", default=None)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@contextlib.contextmanager
def features_kept_in(folder: str | None) -> Iterator[None]:
    """Keep the features of texts in a folder, and reuse those that it contains, while the context is active.

    Parameters
    ----------
    folder : str or None
        Folder of one job, to which only the user can write. None keeps nothing.
    """
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)


def reused(compute: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that takes its results from the folder of the job, if there is one.

    Parameters
    ----------
    compute : callable
        Function of a module whose results depend on its arguments only.

    Returns
    -------
    callable
        Function with the same results.

    Examples
    --------
    >>> from fairfold.features.reuse import reused
    >>> reused(abs)(-1)
    1
    """
    return joblib.Memory(_FOLDER.get(), compress=1, verbose=0).cache(compute)
