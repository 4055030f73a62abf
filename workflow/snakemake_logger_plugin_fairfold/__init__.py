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
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

# Snakemake loads plugins before the Snakefile, which loads the fairfold beside it. The plugin must not load another.
if TYPE_CHECKING:
    from fairfold.core.trainings import Trainings

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

_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_OF_SILENCE = 60.0


def _trainings(log: str) -> Trainings:
    from fairfold.core.trainings import read

    return read(log)


@dataclass
class Job:
    """A running job.

    Attributes
    ----------
    rule : str
        Name of the rule.
    message : str
        Message of the job.
    began : float
        Time of its start.
    log : str or None
        Its log file.
    trainings : Trainings
        What the log states.
    trained_since, last_begun : float or None
        Times when the first training was noticed, and the last one.
    """

    rule: str
    message: str
    began: float
    log: str | None = None
    trainings: Trainings = field(default_factory=lambda: _trainings(""))
    trained_since: float | None = None
    last_begun: float = 0.0

    def look(self, now: float) -> None:
        """Read the log."""
        before = self.trainings.n_begun
        with suppress(OSError):
            self.trainings = _trainings(Path(self.log or "").read_text("utf-8", errors="replace"))
        if self.trainings.n_begun > before:
            self.last_begun = now
            self.trained_since = now if self.trained_since is None else self.trained_since


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
        self.started: dict[int, Job] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.expected: Mapping[str, int] = {}
        self.n_jobs = self.n_done = self.n_trained = self.n_cached = 0
        self.seconds_of_trained = 0.0
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

    def expect(self, trainings: Mapping[str, int]) -> None:
        """Set the number of trainings of a job of each rule. A job may announce more when it begins.

        Parameters
        ----------
        trainings : mapping of str to int
            Number of trainings by rule.
        """
        self.expected = trainings
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
        self.started[job] = Job(rule, message, time.monotonic(), next(iter(logs or ()), None))
        self.redraw()

    def finish(self, job: int) -> None:
        """Record the successful end of a job.

        Parameters
        ----------
        job : int
            Id of the job.
        """
        now = time.monotonic()
        done = self.started.pop(job, None) or Job("", f"job {job}", now)
        since = done.trained_since or done.began
        done.look(now)
        self.seconds[done.rule].append(now - done.began)
        self.waiting[done.rule] -= 1
        self.n_done += 1
        self.n_cached += done.trainings.n_cached
        if done.trainings.n_begun:
            self.n_trained += done.trainings.n_begun
            self.seconds_of_trained += now - since
        self.redraw()
        if self.bar.disable and now >= self.last_line + self.seconds_between_lines:
            self.last_line = now
            self.write(f"[{self}] {done.message}")

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
        """Update the bar and the text beside it."""
        text = str(self)  # This reads the logs.
        shares = (min(job.trainings.n_begun / (self._n_trainings(job) + 1), 1) for job in [*self.started.values()])
        self.bar.n = self.n_done + sum(shares)
        self.bar.set_description_str(text)

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

    def _n_trainings(self, job: Job) -> int:
        """Return the number of trainings of a running job without those in the cache."""
        found = job.trainings
        n = max(self.expected.get(job.rule, 0) - found.n_cached, found.n_announced)
        return max(n, found.n_begun)

    def _n_waiting(self) -> dict[str, int]:
        """Return the number of jobs of each rule that have not begun."""
        n_running = Counter(job.rule for job in [*self.started.values()])
        return {rule: n - n_running[rule] for rule, n in [*self.waiting.items()] if n > n_running[rule]}

    def remaining_seconds(self) -> float | None:
        """Estimate the remaining time from measured trainings, and for other jobs from finished ones.

        Returns
        -------
        float or None
            Seconds. None if trainings remain and none has begun, or nothing is finished.
        """
        now, running = time.monotonic(), [*self.started.values()]
        waiting, training = self._n_waiting(), [job for job in running if job.trained_since is not None]
        n_ended = self.n_trained + sum(job.trainings.n_begun - 1 for job in training)
        seconds = self.seconds_of_trained + sum(job.last_begun - (job.trained_since or now) for job in training)
        others = [each for rule, found in self.seconds.items() if rule not in self.expected for each in found]
        others = others or [each for found in self.seconds.values() for each in found]
        is_measured = n_ended > 0 or not {*waiting, *(job.rule for job in running)} & {*self.expected}
        if not is_measured or not (others or training):
            return None
        of_training, of_other = seconds / n_ended if n_ended else 0.0, fmean(others) if others else 0.0

        def expected(rule: str) -> float:
            known = self.seconds.get(rule)
            return fmean(known) if known else of_other + self.expected.get(rule, 0) * of_training

        def left(job: Job) -> float:
            if job.trained_since is None:  # A job that takes longer than others is not about to end.
                return max(expected(job.rule) - (now - job.began), (now - job.began) / 4)
            n, passed = job.trainings.n_begun, now - job.last_begun
            own = (job.last_begun - job.trained_since) / (n - 1) if n > 1 else of_training
            return (self._n_trainings(job) - n) * own + max(own - passed, passed / 4)

        of_running = [left(job) for job in running]
        work = sum(n * expected(rule) for rule, n in waiting.items()) + sum(of_running)
        busy = sum(map(sum, self.seconds.values())) + sum(now - job.began for job in running)
        jobs_at_once = max(min(busy / max(now - self.began, 1e-9), sum(waiting.values()) + len(running)), 1.0)
        return max(work / jobs_at_once, *of_running, 0.0)

    def __str__(self) -> str:
        running, trained = [*self.started.values()], ""
        for job in running:
            job.look(time.monotonic())
        if of_running := sum(map(self._n_trainings, running)):
            n_cached = self.n_cached + sum(job.trainings.n_cached for job in running)
            n_begun = self.n_trained + n_cached + sum(job.trainings.n_begun for job in running)
            n_waiting = sum(n * self.expected.get(rule, 0) for rule, n in self._n_waiting().items())
            now = next((f": {job.trainings.what}" for job in reversed(running) if job.trainings.what), "")
            trained = f" (training {n_begun} of {self.n_trained + n_cached + of_running + n_waiting}{now})"
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
