"""Snakemake logger plugin with finished and running jobs, the remaining time, and otherwise a quiet console.

It shows a progress bar on a terminal, and one line per finished job elsewhere. Warnings and errors keep Snakemake's
format, and log files are Snakemake's. Enable it with ``logger: fairfold`` in a profile or with ``--logger fairfold``.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter, defaultdict
from statistics import fmean

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

HIDDEN_MESSAGES = (
    *("Assuming unrestricted", "Building DAG", "Conda environments", "Provided cores", "Rules claiming more threads"),
    *("Select jobs", "Singularity containers", "Using shell", "Workflow defines that rule"),
)


class Progress:
    """Progress of a run, with an estimate of the remaining time."""

    def __init__(self) -> None:
        self.waiting: Counter[str] = Counter()
        self.started: dict[int, tuple[str, str, float]] = {}
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.n_jobs = self.n_done = 0
        self.began = time.monotonic()

    def plan(self, n_jobs_of_rule: dict[str, int]) -> None:
        """Set the number of jobs of each rule.

        Parameters
        ----------
        n_jobs_of_rule : dict of str to int
            Number of jobs by rule. The key ``total`` is ignored.
        """
        self.waiting = Counter({rule: n for rule, n in n_jobs_of_rule.items() if rule != "total"})
        self.n_jobs = self.waiting.total()

    def start(self, job: int, rule: str, message: str) -> None:
        """Record the start of a job.

        Parameters
        ----------
        job : int
            Id of the job.
        rule : str
            Name of the rule.
        message : str
            Message of the job.
        """
        self.started[job] = rule, message, time.monotonic()

    def finish(self, job: int) -> str:
        """Record the successful end of a job.

        Parameters
        ----------
        job : int
            Id of the job.

        Returns
        -------
        str
            Message of the job.
        """
        rule, message, began = self.started.pop(job, ("", f"job {job}", time.monotonic()))
        self.seconds[rule].append(time.monotonic() - began)
        self.waiting[rule] -= 1
        self.n_done += 1
        return message

    def remaining_seconds(self) -> float:
        """Estimate the remaining time from finished jobs of the same rule, or else of all rules.

        Returns
        -------
        float
            Seconds; NaN if no job is finished.

        Examples
        --------
        >>> progress = Progress()
        >>> progress.plan({"train": 2, "total": 2})
        >>> progress.remaining_seconds()
        nan
        """
        finished = [seconds for of_rule in self.seconds.values() for seconds in of_rule]
        if not finished:
            return float("nan")
        work = sum(n * fmean(self.seconds.get(rule) or finished) for rule, n in self.waiting.items() if n > 0)
        jobs_at_once = sum(finished) / max(time.monotonic() - self.began, 1e-9)
        return work / max(jobs_at_once, 1e-9)

    def __str__(self) -> str:
        running = f", {len(self.started)} running" if self.started else ""
        left = f", {duration(self.remaining_seconds())} left" if 0 < self.n_done < self.n_jobs else ""
        return f"{self.n_done}/{self.n_jobs} jobs{running}{left}"


class LogHandler(LogHandlerBase):
    """Console output of a run; Snakemake finds the class by its name."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.progress = Progress()
        self.bar = tqdm(bar_format="{desc} {bar}", file=self.stream, disable=not self.stream.isatty(), leave=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Update the progress with a record, and show the record unless it is hidden.

        Parameters
        ----------
        record : LogRecord
            Record of Snakemake.
        """
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.progress.plan(record.stats)
            self.bar.reset(self.progress.n_jobs)
        elif event == LogEvent.JOB_INFO:
            self.progress.start(record.jobid, record.rule_name, record.rule_msg or _describe(record))
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record.job_id)
        elif event == LogEvent.JOB_ERROR:
            _, message, _ = self.progress.started.pop(record.jobid, ("", None, 0.0))
            record.rule_msg = record.rule_msg or message  # Snakemake prints it, also if the rule has none.
        if self.common_settings.dryrun or not self._is_hidden(record, event):
            self._write(self.format(record))
        self.bar.set_description_str(str(self.progress))

    def _is_hidden(self, record: logging.LogRecord, event: LogEvent | None) -> bool:
        if event is None:
            return record.levelno < logging.ERROR and record.getMessage().startswith(HIDDEN_MESSAGES)
        return record.levelno < logging.WARNING

    def _finish(self, job: int) -> None:
        message = self.progress.finish(job)
        self.bar.update()
        if self.bar.disable:
            self._write(f"[{self.progress}] {message}")

    def _write(self, text: str) -> None:
        self.bar.write(text, file=self.stream)

    def close(self) -> None:
        """Remove the progress bar."""
        self.bar.close()
        super().close()


def duration(seconds: float) -> str:
    """Describe a time in minutes, hours or days.

    Parameters
    ----------
    seconds : float
        Time in seconds.

    Returns
    -------
    str
        Rounded time with its unit.

    Examples
    --------
    >>> duration(30)
    'less than a minute'
    >>> duration(7200)
    'about 2 hours'
    """
    minutes = seconds / 60
    if minutes < 1.5:
        return "about a minute" if minutes >= 0.75 else "less than a minute"
    if minutes < 100:
        return f"about {minutes:.0f} minutes"
    return f"about {minutes / 60:.0f} hours" if minutes < 48 * 60 else f"about {minutes / 60 / 24:.0f} days"


def _describe(record: logging.LogRecord) -> str:
    """Return the rule and the wildcards of a job."""
    wildcards = ", ".join(f"{name} {value}" for name, value in record.wildcards.items())
    return f"{record.rule_name}: {wildcards}" if wildcards else record.rule_name
