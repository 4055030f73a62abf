"""Threads of numerical libraries, whose number must not show in any result."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

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
