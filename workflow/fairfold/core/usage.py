"""What a job uses of the machine, where some of its work lies in other processes."""

from __future__ import annotations

import contextlib
import ctypes
import resource
import sys
import time
from pathlib import Path

NEVER_TOO_MUCH = 2**30
"""Bytes, for which nobody is asked how much memory is free."""
_UNIT_OF_MEMORY = 1024**2 if sys.platform == "darwin" else 1024
_elsewhere = {"cpu_seconds": 0.0, "max_rss": 0.0}


def cpu_seconds() -> float:
    """CPU time of this process so far, and of the work of others that was told by :func:`add`."""
    return time.process_time() + _elsewhere["cpu_seconds"]


def max_rss() -> float:
    """Most memory in MiB that this process had so far, or another that told :func:`add`."""
    return max(own_max_rss(), _elsewhere["max_rss"])


def forget_peak() -> None:
    """Measure the most memory from now on; on systems other than Linux the peak so far is kept."""
    _elsewhere["max_rss"] = 0.0
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def own_max_rss() -> float:
    """Most memory in MiB that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _UNIT_OF_MEMORY


def free_memory() -> int:
    """Bytes that this machine could give without putting anything on disk."""
    import psutil  # which only large problems need

    return psutil.virtual_memory().available


def give_back_memory() -> None:
    """Return to the system what this process has freed; without it GNU's C library keeps what lies between the rest."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # of another library
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def add(cpu_seconds: float, max_rss: float) -> None:
    """Count what another process used for this one: CPU time, and the most memory that it had."""
    _elsewhere["cpu_seconds"] += cpu_seconds
    _elsewhere["max_rss"] = max(_elsewhere["max_rss"], max_rss)
