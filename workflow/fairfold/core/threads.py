"""Threads of numerical libraries, whose number must not show in any result."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def one_thread_each() -> AbstractContextManager:
    """Keep BLAS, OpenMP and the like to one thread each while the context lasts.

    More of them sum in another order, so that a number of jobs would change the last bits.
    """
    return _pools(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> ThreadpoolController:
    # The search takes as long as a few small fits, so it is repeated only when modules, and what libraries they bring,
    # have been loaded since.
    return ThreadpoolController()


def set_n_jobs(model: Any, n_jobs: int) -> None:
    """Have a fitted model, and all estimators that it is made of, use so many threads from now on.

    Parameters
    ----------
    model : whose parts are looked for in attributes, lists and dictionaries; it is changed.
    n_jobs : as of scikit-learn's estimators.
    """
    # the latter in what scikit-learn's boosting bins with, which knows no -1
    n_threads = {"n_jobs": n_jobs, "n_threads": effective_n_jobs(n_jobs)}
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        match part:
            case dict():
                waiting += part.values()
            case list() | tuple():
                waiting += part
            case np.ndarray():
                waiting += part.flat if part.dtype == object else ()
            case _ if not isinstance(part, type | ModuleType):
                attributes = getattr(part, "__dict__", {})
                for name in n_threads.keys() & attributes.keys():
                    setattr(part, name, n_threads[name])
                waiting += attributes.values()
