"""Control the threads of numerical libraries, because their number must not change results."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def one_thread_each() -> AbstractContextManager:
    """Limit BLAS, OpenMP and similar libraries to one thread each while the context is active.

    Several threads sum in a different order, so the number of jobs would change the last bits of results.

    Returns
    -------
    context manager
        Context with the limit.
    """
    return _pools(len(sys.modules)).limit(limits=1)


@lru_cache(maxsize=1)
def _pools(n_modules: int) -> ThreadpoolController:
    # The search for libraries is slow, so it is repeated only if modules have been imported since.
    return ThreadpoolController()


def set_n_jobs(model: Any, n_jobs: int) -> None:
    """Set the number of threads of a fitted model and of all estimators in it.

    Parameters
    ----------
    model : object
        Model to change in place. Estimators are searched in attributes, lists and dictionaries.
    n_jobs : int
        Number of threads, as in scikit-learn's estimators.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> model = RandomForestClassifier(n_jobs=4)
    >>> set_n_jobs([model], 1)
    >>> model.n_jobs
    1
    """
    # n_threads is an attribute of the binning in scikit-learn's boosting, which does not accept -1.
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
