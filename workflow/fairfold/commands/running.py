"""Run Snakemake with a progress bar on the screen and all messages in a log file."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from fairfold.core.machine import check_space
from fairfold.core.runs import RUN_AGAIN
from fairfold.errors import StudyError

LOG = Path("logs", "study.log")
"""Log file of a study in its folder."""
_CONTINUES = "The same command continues with the finished results."
_ERROR = re.compile(r"^\w*(?:Error|Exception): (.+)$", re.MULTILINE)
_MOST_STEPS = 3  # failed steps in a message
_MOST_LINES = 12  # last lines in a message
_SECONDS_BETWEEN_LINES = 15
_INSPECT = ("inspect_dataset", "describe_datasets")  # rules that write the tables of the introduction
_UNIMPORTANT = ("Using workflow specific profile", "Complete log(s)", "Exiting because a job execution failed")


class Introduction(NamedTuple):
    """Lines about the data and the plan of a study, printed when the data are read.

    Attributes
    ----------
    dataset : str
        Name of the dataset.
    lines : callable
        Returns the lines.
    """

    dataset: str
    lines: Callable[[], Iterable[str]]


class Run:
    """A run of Snakemake.

    Parameters
    ----------
    folder : Path
        Folder of the study.
    introduction : Introduction or None
        What to print when the data are read.
    """

    def __init__(self, folder: Path, introduction: Introduction | None) -> None:
        from snakemake_logger_plugin_fairfold import Console

        self.folder, self.log, self.introduction = folder, folder / LOG, introduction
        # The introduction contains the warnings about its dataset.
        self.hidden = f"warning: {introduction.dataset}: " if introduction else None
        self.console = Console(sys.stderr, _SECONDS_BETWEEN_LINES)
        self.failed: dict[str, list[str]] = {}  # log files of each failed step
        self.last_lines: deque[str] = deque(maxlen=_MOST_LINES)

    def execute(self, command: Sequence[str], stream: IO[str]) -> int:
        """Run Snakemake to its end.

        Parameters
        ----------
        command : sequence of str
            Command of Snakemake.
        stream : file object
            Log file.

        Returns
        -------
        int
            Exit status.
        """
        from snakemake_logger_plugin_fairfold import EVENTS

        environment = {**os.environ, EVENTS: "1"}
        pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
        with subprocess.Popen(command, env=environment, **pipe) as process:
            for line in process.stdout or ():
                self._read(line.rstrip("\n"), stream)
        if not process.returncode:
            self._introduce()  # if there was nothing to be done
        self.console.close()
        return process.returncode

    def _read(self, line: str, stream: IO[str]) -> None:
        """Handle a line of output: an event, a warning or another message."""
        from snakemake_logger_plugin_fairfold import EVENT

        text, mark, event = line.partition(EVENT)
        if mark:
            method, *arguments = json.loads(event)
            if method == "log":
                print(*arguments, file=stream, flush=True)
            else:
                self._handle(method, arguments)
        if text:
            print(text, file=stream, flush=True)
            if not text.startswith(_UNIMPORTANT):
                self.last_lines.append(text)
            if text.startswith("warning: ") and not (self.hidden and text.startswith(self.hidden)):
                self.console.write(text)

    def _handle(self, method: str, arguments: list) -> None:
        if method == "fail":
            self.failed[arguments[1]] = arguments[2]
        getattr(self.console, method)(*arguments)
        waiting = self.console.progress.waiting
        if method in ("plan", "finish") and not any(waiting[rule] > 0 for rule in _INSPECT):
            self._introduce()

    def _introduce(self) -> None:
        introduction, self.introduction = self.introduction, None
        for line in introduction.lines() if introduction else ():
            self.console.write(line)

    def failure(self) -> StudyError:
        """Describe why the run failed.

        Returns
        -------
        StudyError
            Error that names the failed steps, the reasons and the log files.
        """
        lines = [line for step, logs in self.failed.items() for line in self._about_step(step, logs)]
        if not lines:
            lines = ["The study failed:", *self.last_lines]
        return StudyError("\n".join([*lines, f"Log of the study: {self.log}", _CONTINUES]))

    def _about_step(self, step: str, logs: list[str]) -> Iterator[str]:
        if step not in [*self.failed][:_MOST_STEPS]:
            return
        log = next((path for path in (self.folder / name for name in logs) if path.is_file()), None)
        found = _ERROR.findall(log.read_text(encoding="utf-8", errors="replace")) if log else []
        yield f"Step {step} failed{f': {found[-1]}' if found else '.'}"
        if log:
            yield f"Log of the step: {log}"


def run_study(command: Sequence[str], folder: Path, introduction: Introduction | None = None) -> None:
    """Run Snakemake, and print the progress and the run time.

    Parameters
    ----------
    command : sequence of str
        Command of Snakemake.
    folder : Path
        Folder of the study.
    introduction : Introduction or None, default=None
        What to print when the data are read.

    Raises
    ------
    StudyError
        If the run fails or is interrupted.
    """
    began = time.monotonic()
    (folder / LOG).parent.mkdir(parents=True, exist_ok=True)
    with (folder / LOG).open("w", encoding="utf-8") as stream, _interrupts() as interrupts:
        # Run at most twice: a disk that damages files also damages the next ones.
        for _ in range(2):
            run = Run(folder, introduction)
            if (status := run.execute(command, stream)) != RUN_AGAIN:
                break
    _check_interrupts(interrupts, status)
    if status:
        check_space(folder)
        raise run.failure()
    n_jobs, took = run.console.progress.n_jobs, _duration(time.monotonic() - began)
    done = f"[{'#' * 20}] {n_jobs} jobs done in {took}" if n_jobs else "All results are up to date"
    print(f"{done}   (log: {run.log})", file=sys.stderr, flush=True)


def run_visibly(command: Sequence[str]) -> None:
    """Run Snakemake with its own messages on the screen.

    Parameters
    ----------
    command : sequence of str
        Command of Snakemake.

    Raises
    ------
    StudyError
        If the run fails or is interrupted.
    """
    with _interrupts() as interrupts:
        status = subprocess.run(command, check=False).returncode
    _check_interrupts(interrupts, status)
    if status:
        raise StudyError(f"The study failed; see the messages above. {_CONTINUES}")


def _check_interrupts(interrupts: list[int], status: int) -> None:
    if interrupts and status:
        raise StudyError(f"The study was interrupted. {_CONTINUES}")


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect interrupts instead of raising them; they also reach Snakemake, which first ends its jobs."""
    found: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: found.append(number))
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, before)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
