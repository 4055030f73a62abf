"""Threads of numerical libraries, whose number must not show in any result."""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread_each() -> AbstractContextManager:
    """Keep BLAS, OpenMP and the like to one thread each while the context lasts.

    More of them sum in another order, so that a number of jobs would change the last bits.
    """
    return _pools().limit(limits=1)


@cache
def _pools() -> ThreadpoolController:
    # once per process, since the search takes as long as a few small fits
    return ThreadpoolController()
