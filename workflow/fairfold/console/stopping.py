"""End Snakemake and all its jobs if a signal ends the command."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import psutil

from fairfold.errors import InterruptedStudyError

# Signals to the processes of a run, and the seconds that they get to end. Snakemake cancels jobs of a cluster on SIGINT
# only. A second signal from the user skips the rest of the waiting time.
_STEPS = ((signal.SIGINT, 10.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0))
_SECONDS_BETWEEN_LOOKS = 0.1


class Stopper:
    """Starts one process in its own group, and ends this group at a signal.

    Signals of a terminal reach only this process, which passes them on once. Otherwise a repeated signal could stop
    Snakemake while it ends its jobs.
    """

    def __init__(self) -> None:
        self.number = 0
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._again = threading.Event()

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Start a process.

        Parameters
        ----------
        command : sequence of str
            Command of the process.
        **options : object
            Further parameters of :class:`subprocess.Popen`.

        Returns
        -------
        subprocess.Popen
            The process.
        """
        self._process = subprocess.Popen(command, process_group=0, **options)
        if self.number:  # A signal arrived while the process started.
            self._stop()
        return self._process

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal.

        Parameters
        ----------
        number : int
            Number of the signal.
        frame : frame or None
            Not used.
        """
        if self.number:
            self._again.set()
        else:
            self.number = number
            self._stop()

    def wait(self) -> None:
        """Wait until no process of an interrupted run is left."""
        if self._thread is not None:
            self._thread.join()

    def _stop(self) -> None:
        if self._process is not None and self._thread is None:
            # The main thread goes on to read the output of the process, which could not end otherwise.
            self._thread = threading.Thread(target=self._end_group, args=[self._process.pid], daemon=True)
            self._thread.start()

    def _end_group(self, group: int) -> None:
        for number, seconds in _STEPS:
            self._again.clear()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
            end = time.monotonic() + seconds
            while is_alive(group) and time.monotonic() < end and not self._again.wait(_SECONDS_BETWEEN_LOOKS):
                pass


def is_alive(group: int) -> bool:
    """Return whether a process of a group runs.

    Parameters
    ----------
    group : int
        Identifier of the group.

    Returns
    -------
    bool
        Whether there is a process that has not ended. Processes that have ended and wait for their parent do not count.
    """
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(OSError):
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
    return False


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[Stopper]:
    """Let signals end the process that the block starts, with all its descendants.

    Yields
    ------
    Stopper
        Starts the process.

    Raises
    ------
    InterruptedStudyError
        If SIGINT, SIGTERM or SIGHUP arrived, after all processes have ended.
    """
    stopper, before = Stopper(), {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        is_ignored = signal.getsignal(number) is signal.SIG_IGN
        if is_ignored and number == signal.SIGHUP:
            continue  # Commands under nohup and their jobs survive the end of a session.
        # A process inherits ignored signals, but not functions that ignore them. Snakemake needs SIGINT to end.
        handler: Callable[[int, FrameType | None], None] = _ignore if is_ignored else stopper.handle
        before[number] = signal.signal(number, handler)
    try:
        yield stopper
    except OSError:
        if not stopper.number:  # Otherwise the terminal is closed.
            raise
    finally:
        stopper.wait()
        for number, former in before.items():
            signal.signal(number, former)
    if stopper.number:
        raise InterruptedStudyError(stopper.number)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore a signal."""
