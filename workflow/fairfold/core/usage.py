"""Measure CPU time and memory of a job, including work in other processes."""

from __future__ import annotations

import contextlib
import ctypes
import resource
import sys
import time
from pathlib import Path

NEVER_TOO_MUCH = 2**30
"""Number of bytes that is used without checking the free memory."""
_UNIT_OF_MEMORY = 1024**2 if sys.platform == "darwin" else 1024
_elsewhere = {"cpu_seconds": 0.0, "max_rss": 0.0}


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the work that :func:`add` recorded.

    Returns
    -------
    float
        CPU time in seconds.
    """
    return time.process_time() + _elsewhere["cpu_seconds"]


def max_rss() -> float:
    """Return the peak memory of this process or of a process that :func:`add` recorded.

    Returns
    -------
    float
        Peak memory in MiB.
    """
    return max(own_max_rss(), _elsewhere["max_rss"])


def reset_peak_memory() -> None:
    """Reset the peak memory. Only Linux can reset the peak of the process itself."""
    _elsewhere["max_rss"] = 0.0
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def own_max_rss() -> float:
    """Return the peak memory of this process.

    Returns
    -------
    float
        Peak memory in MiB.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT_OF_MEMORY


def free_memory() -> int:
    """Return the memory that is available without swapping.

    Returns
    -------
    int
        Available memory in bytes.
    """
    import psutil  # Only large problems need it.

    return psutil.virtual_memory().available


def release_memory() -> None:
    """Return freed memory to the system. By default, GNU's C library keeps freed blocks between used ones."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # Other C libraries have no malloc_trim.
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def add(cpu_seconds: float, max_rss: float) -> None:
    """Record the CPU time and peak memory of another process.

    Parameters
    ----------
    cpu_seconds : float
        CPU time in seconds.
    max_rss : float
        Peak memory in MiB.
    """
    _elsewhere["cpu_seconds"] += cpu_seconds
    _elsewhere["max_rss"] = max(_elsewhere["max_rss"], max_rss)
