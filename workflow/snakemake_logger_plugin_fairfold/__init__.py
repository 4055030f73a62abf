"""Snakemake logger plugin with finished and running jobs, the remaining time, and otherwise a quiet console.

It shows a progress bar on a terminal, and one line per finished job elsewhere. Warnings and errors keep Snakemake's
format, and log files are Snakemake's. Enable it with ``logger: fairfold`` in a profile or with ``--logger fairfold``.

If the environment variable ``FAIRFOLD_EVENTS`` is set, the plugin writes events instead, as lines that start with
``EVENT``. The command ``fairfold study`` reads them and draws the progress bar.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

HIDDEN_MESSAGES = (
    "Assuming unrestricted",
    "Building DAG",
    "Conda environments",
    "Provided cores",
    "Rules claiming more threads",
    "Select jobs",
    "Singularity containers",
    "Using shell",
    "Workflow defines that rule",
)
EVENTS = "FAIRFOLD_EVENTS"
EVENT = "\x02"
"""Start of a line with an event: a JSON list of the name and arguments of a method of :class:`Console`, or ``"log"``
and a text that belongs in the log file only."""


TRAININGS = "Trainings of this job: "
TRAINING = "Training: "
"""Starts of lines in the log file of a job: the number of its trainings, and the start of one of them."""
_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_OF_SILENCE = 60.0


class RunningJob(NamedTuple):
    """A job that runs.

    Attributes
    ----------
    rule : str
        Name of the rule.
    message : str
        Message of the job.
    began : float
        Time of its start.
    logs : tuple of str
        Its log files.
    """

    rule: str
    message: str
    began: float
    logs: tuple[str, ...] = ()

    def trainings(self) -> tuple[int, int]:
        """Count the trainings that have begun, and all of them; 0 and 0 if the log does not state them."""
        try:
            text = Path(self.logs[0]).read_text("utf-8", errors="replace") if self.logs else ""
        except OSError:
            text = ""
        total = re.search(rf"^{TRAININGS}(\d+)", text, re.MULTILINE)
        return (len(re.findall(rf"^{TRAINING}", text, re.MULTILINE)), int(total[1])) if total else (0, 0)


class Console:
    """Number of finished and running jobs with the remaining time: a bar on a terminal, and lines elsewhere.

    Parameters
    ----------
    stream : file object
        Stream to write to.
    seconds_between_lines : float, default=0
        Minimum time between two lines if the stream is not a terminal.
    """

    def __init__(self, stream: TextIO, seconds_between_lines: float = 0) -> None:
        self.waiting: Counter[str] = Counter()
        self.started: dict[int, RunningJob] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.n_jobs = self.n_done = 0
        self.began = self.last_line = time.monotonic()
        self.stream, self.seconds_between_lines = stream, seconds_between_lines
        is_terminal = stream.isatty()
        self.bar = tqdm(bar_format="[{bar:20}] {desc}", ascii=" #", leave=False, file=stream, disable=not is_terminal)

    def plan(self, n_jobs_of_rule: dict[str, int]) -> None:
        """Set the number of jobs of each rule.

        Parameters
        ----------
        n_jobs_of_rule : dict of str to int
            Number of jobs by rule. The key ``total`` is ignored.
        """
        self.waiting = Counter({rule: n for rule, n in n_jobs_of_rule.items() if rule != "total"})
        self.n_jobs = self.waiting.total()
        self.bar.reset(self.n_jobs)
        self.redraw()

    def start(self, job: int, rule: str, message: str, logs: list[str] | None = None) -> None:
        """Record the start of a job.

        Parameters
        ----------
        job : int
            Id of the job.
        rule : str
            Name of the rule.
        message : str
            Message of the job.
        logs : list of str or None, default=None
            Its log files.
        """
        self.started[job] = RunningJob(rule, message, time.monotonic(), tuple(logs or ()))
        self.redraw()

    def finish(self, job: int) -> None:
        """Record the successful end of a job.

        Parameters
        ----------
        job : int
            Id of the job.
        """
        now = time.monotonic()
        rule, message, began, _ = self.started.pop(job, RunningJob("", f"job {job}", now))
        self.seconds[rule].append(now - began)
        self.waiting[rule] -= 1
        self.n_done += 1
        self.bar.update()
        self.redraw()
        if self.bar.disable and now >= self.last_line + self.seconds_between_lines:
            self.last_line = now
            self.write(f"[{self}] {message}")

    def fail(self, job: int, rule: str, logs: list[str]) -> None:
        """Record the failure of a job.

        Parameters
        ----------
        job : int
            Id of the job.
        rule : str
            Name of the rule, which is not shown here.
        logs : list of str
            Log files of the job, which are not shown here.
        """
        self.started.pop(job, None)
        self.redraw()

    def write(self, text: str) -> None:
        """Write text above the progress bar.

        Parameters
        ----------
        text : str
            Text without a final line break.
        """
        self.bar.write(text, file=self.stream)

    def redraw(self) -> None:
        """Update the text beside the progress bar."""
        self.bar.set_description_str(str(self))

    @contextmanager
    def refreshed(self) -> Iterator[None]:
        """Update the bar, or write a line now and then, while no job begins or ends."""
        is_done = threading.Event()

        def look() -> None:
            while not is_done.wait(_SECONDS_BETWEEN_LOOKS):
                self.redraw()
                if self.bar.disable and self.started and time.monotonic() >= self.last_line + _SECONDS_OF_SILENCE:
                    self.last_line = time.monotonic()
                    self.write(f"[{self}]")

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()

    def remaining_seconds(self) -> float | None:
        """Estimate the remaining time from finished jobs of the same rule, trainings that have ended, or all jobs.

        Returns
        -------
        float or None
            Seconds. None if nothing is finished.
        """
        now, running = time.monotonic(), list(self.started.values())
        finished = [seconds for of_rule in self.seconds.values() for seconds in of_rule]
        expected: dict[str, list[float]] = defaultdict(list)
        for job in running:
            n_begun, n_trainings = job.trainings()
            if n_begun > 1:
                expected[job.rule].append((now - job.began) * n_trainings / (n_begun - 1))
        known = finished or [each for of_rule in expected.values() for each in of_rule]
        if not known:
            return None
        of_rule = {rule: fmean(self.seconds.get(rule) or expected[rule] or known) for rule in [*self.waiting]}
        work = sum(n * of_rule[rule] for rule, n in list(self.waiting.items()) if n > 0)
        work -= sum(min(now - job.began, of_rule.get(job.rule, 0.0)) for job in running)
        jobs_at_once = (sum(finished) + sum(now - job.began for job in running)) / max(now - self.began, 1e-9)
        return max(work, 0.0) / max(jobs_at_once, 1e-9)

    def __str__(self) -> str:
        running, trained = list(self.started.values()), ""
        n_begun, n_trainings = (sum(each) for each in zip((0, 0), *(job.trainings() for job in running), strict=True))
        if n_trainings:
            trained = f" (training {n_begun} of {n_trainings})"
        seconds = self.remaining_seconds() if self.n_done < self.n_jobs else None
        left = "" if seconds is None else f", {tqdm.format_interval(seconds)} left"
        return f"{self.n_done}/{self.n_jobs} jobs{f', {len(running)} running{trained}' if running else ''}{left}"


class LogHandler(LogHandlerBase):
    """Console output of a run; Snakemake finds the class by its name."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.console = None if EVENTS in os.environ else Console(self.stream)
        self.messages: dict[int, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Update the progress with a record, and show the record unless it is hidden.

        Parameters
        ----------
        record : LogRecord
            Record of Snakemake.
        """
        event, job = getattr(record, "event", None), vars(record)
        if event == LogEvent.RUN_INFO:
            self._send("plan", job["stats"])
        elif event == LogEvent.JOB_INFO:
            self.messages[job["jobid"]] = job["rule_msg"] or _describe(job)
            logs = [str(Path(each).resolve()) for each in job.get("log") or ()]  # the console has another directory
            self._send("start", job["jobid"], job["rule_name"], self.messages[job["jobid"]], logs)
        elif event == LogEvent.JOB_FINISHED:
            self._send("finish", job["job_id"])
        elif event == LogEvent.JOB_ERROR:
            # Snakemake prints `rule_msg`, which is None for a rule without a message.
            job["rule_msg"] = job.get("rule_msg") or self.messages.get(job["jobid"])
            self._send("fail", job["jobid"], job["rule_name"], [*map(str, job["log"])])
        if self.common_settings.dryrun or not self._is_hidden(record, event):
            self._write(self.format(record))
        elif self.console is None:
            self._send("log", self.format(record))

    def _is_hidden(self, record: logging.LogRecord, event: LogEvent | None) -> bool:
        if event is None:
            return record.levelno < logging.ERROR and record.getMessage().startswith(HIDDEN_MESSAGES)
        return record.levelno < logging.WARNING

    def _send(self, method: str, *arguments: object) -> None:
        """Call a method of the console, or write the call as an event."""
        if self.console is None:
            self._write(EVENT + json.dumps([method, *arguments]))
        else:
            getattr(self.console, method)(*arguments)

    def _write(self, text: str) -> None:
        if self.console is None:
            print(text, file=self.stream, flush=True)
        else:
            self.console.write(text)

    def close(self) -> None:
        """Remove the progress bar."""
        if self.console is not None:
            self.console.bar.close()
        super().close()


def _describe(job: dict[str, Any]) -> str:
    """Return the rule and the wildcards of a job."""
    wildcards = ", ".join(f"{name} {value}" for name, value in job["wildcards"].items())
    return f"{job['rule_name']}: {wildcards}" if wildcards else job["rule_name"]
