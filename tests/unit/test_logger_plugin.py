"""Test the console output of a run: finished and running jobs, the remaining time and errors."""

import contextlib
import io
import json
import logging
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from fairfold.core.trainings import announce, begin, find_in_cache
from snakemake_logger_plugin_fairfold import EVENT, EVENTS, Console, LogHandler


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that only the test advances."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr("snakemake_logger_plugin_fairfold.time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


@pytest.fixture
def console(monkeypatch, clock):
    """Return a factory of functions that log a record and return the printed text."""

    def make(dryrun=False):
        stream = io.StringIO()
        monkeypatch.setattr("sys.stderr", stream)
        handler = LogHandler(SimpleNamespace(stdout=False, dryrun=dryrun), None)

        def log(text="", level=logging.INFO, **extra):
            stream.seek(0)
            stream.truncate()
            record = logging.LogRecord("snakemake", level, __file__, 1, text, None, None)
            vars(record).update(extra)
            handler.emit(record)
            return stream.getvalue()

        return log

    return make


def test_snakemake_finds_it():
    assert LoggerPluginRegistry().get_plugin("fairfold").log_handler is LogHandler


def test_a_line_for_each_finished_job(console, clock):
    log = console()
    assert log("Job stats", event=LogEvent.RUN_INFO, stats={"read": 1, "train": 2, "total": 3}) == ""
    assert log(event=LogEvent.JOB_INFO, jobid=1, rule_name="read", rule_msg="Read flags") == ""
    clock.seconds = 60
    assert log(event=LogEvent.JOB_FINISHED, job_id=1) == "[1/3 jobs, 02:00 left] Read flags\n"
    log(event=LogEvent.JOB_INFO, jobid=2, rule_name="train", rule_msg=None, wildcards={"rate": "50", "part": "0"})
    log(event=LogEvent.JOB_INFO, jobid=3, rule_name="train", rule_msg=None, wildcards={})
    clock.seconds = 70
    left = "[2/3 jobs, 1 running, 00:02 left]"  # the other job took as long, so this one ends soon
    assert log(event=LogEvent.JOB_FINISHED, job_id=2) == f"{left} train: rate 50, part 0\n"
    assert log(event=LogEvent.JOB_FINISHED, job_id=3) == "[3/3 jobs] train\n"


def test_what_matters_is_shown_and_the_rest_is_not(console):
    log = console()
    assert log("Select jobs to execute...") == ""
    assert log("SNAKEMAKE", event=LogEvent.WORKFLOW_STARTED) == ""
    assert log("Nothing to be done") == "Nothing to be done\n"
    assert log("No space", logging.WARNING) == "No space\n"
    failed = {"event": LogEvent.JOB_ERROR, "jobid": 3, "rule_name": "train", "rule_msg": None, "log": []}
    assert "Error in rule" in log("Error in rule train", logging.ERROR, **failed)


def test_a_failed_job_is_described(monkeypatch):
    """Snakemake prints `rule_msg`, which is None for rules without a message."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    handler = LogHandler(SimpleNamespace(stdout=False, dryrun=False), None)
    handler.setFormatter(logging.Formatter("%(message)s (%(rule_msg)s)"))
    events = (
        (LogEvent.JOB_INFO, {"rule_name": "train", "wildcards": {"rate": "50"}}),
        (LogEvent.JOB_ERROR, {"rule_name": "train", "log": []}),
    )
    for event, of_event in events:
        level = logging.ERROR if event == LogEvent.JOB_ERROR else logging.INFO
        record = logging.LogRecord("snakemake", level, __file__, 1, "Error in rule train", None, None)
        vars(record).update(event=event, jobid=3, rule_msg=None, **of_event)
        handler.emit(record)
    assert stream.getvalue() == "Error in rule train (train: rate 50)\n"


def test_a_dry_run_shows_all(console):
    log = console(dryrun=True)
    assert log("Job stats", event=LogEvent.RUN_INFO, stats={"total": 0}) == "Job stats\n"
    assert log("Job 1", event=LogEvent.JOB_INFO, jobid=1, rule_name="read", rule_msg="Read flags") == "Job 1\n"


def test_events_instead_of_progress(console, monkeypatch):
    monkeypatch.setenv(EVENTS, "1")
    log = console()

    def events(*arguments, **record):
        return [json.loads(line.removeprefix(EVENT)) for line in log(*arguments, **record).splitlines()]

    assert events("Stats", event=LogEvent.RUN_INFO, stats={"read": 1}) == [["plan", {"read": 1}], ["log", "Stats"]]
    started = events("Job 1", event=LogEvent.JOB_INFO, jobid=1, rule_name="read", rule_msg="Read flags")
    assert started == [["start", 1, "read", "Read flags", []], ["log", "Job 1"]]
    assert events("Done", event=LogEvent.JOB_FINISHED, job_id=1) == [["finish", 1], ["log", "Done"]]
    failed = {"event": LogEvent.JOB_ERROR, "jobid": 1, "rule_name": "read", "log": ["read.log"]}
    event, text = log("Error", logging.ERROR, **failed).splitlines()
    assert json.loads(event.removeprefix(EVENT)) == ["fail", 1, "read", ["read.log"]]
    assert text == "Error"  # to be shown


def test_a_line_now_and_then(clock):
    console = Console(stream := io.StringIO(), seconds_between_lines=15)
    console.plan({"train": 4})
    for job, seconds in enumerate((10, 20, 30, 40)):
        console.start(job, "train", f"Train {job}")
        clock.seconds = seconds
        console.finish(job)
    assert [line[-7:] for line in stream.getvalue().splitlines()] == ["Train 1", "Train 3"]


def test_a_bar_on_a_terminal(clock):
    stream = io.StringIO()
    stream.isatty = lambda: True
    console = Console(stream)
    console.plan({"train": 4})
    for job in range(2):
        console.start(job, "train", f"Train {job}")
        console.finish(job)
    console.write("A warning")
    console.bar.close()
    assert "[##########          ] 2/4 jobs, 00:00 left" in stream.getvalue()
    assert "A warning\n" in stream.getvalue()


@pytest.fixture
def train(tmp_path):
    """Return a function that writes the log of a job with some trainings that have begun."""

    def write(n_begun, n=10, n_cached=0, name="train"):
        (log := tmp_path / f"{name}.log").write_text("Train kNN.\n")
        with log.open("a") as stream, contextlib.redirect_stderr(stream):
            announce(n, n_cached)
            begin("first level", is_training=False)
            for number in range(n_begun):
                begin(f"kNN on fold {number + 1}")
        return [str(log)]

    return write


def test_trainings_of_a_long_job_are_counted(clock, train):
    console = Console(io.StringIO())
    console.plan({"train": 2})
    console.start(1, "train", "Train", train(0))
    assert str(console) == "0/2 jobs, 1 running (training 0 of 10: first level)"
    train(1)
    console.redraw()
    clock.seconds = 60
    train(3)
    # Two of ten trainings took 60 s, so the other eight take 240 s. The other job has not announced its trainings.
    assert str(console) == "0/2 jobs, 1 running (training 3 of 10: kNN on fold 3), 04:00 left"


def test_expected_trainings_of_all_jobs_are_counted_from_the_start(clock, train):
    console = Console(io.StringIO())
    console.plan({"train": 1, "final": 1, "draw": 1})
    console.expect({"train": 20, "final": 5})
    clock.seconds = 10
    console.start(1, "draw", "Draw")
    console.finish(1)
    assert str(console) == "1/3 jobs"  # no training is measured
    console.start(2, "train", "Train", train(1))
    console.redraw()
    clock.seconds = 110
    train(11, n_cached=5)
    # Announced 10, expected 20, and 5 of them are cached: 10 s for each of the other 5, and 5 of the final model.
    assert str(console) == "1/3 jobs, 1 running (training 16 of 25: kNN on fold 11), 01:40 left"
    train(15, n_cached=5)
    console.finish(2)
    console.start(3, "final", "Final", train(2, n=5, name="final"))
    assert "(training 22 of 25: kNN on fold 2)" in str(console)


def test_folds_in_the_cache_of_a_killed_run_are_counted(clock, train):
    console = Console(io.StringIO())
    console.plan({"train": 1})
    console.expect({"train": 20})
    (log,) = train(0, n_cached=10)
    with Path(log).open("a") as stream, contextlib.redirect_stderr(stream):
        for number in range(3):
            find_in_cache(f"kNN on fold {number + 1}")
        for number in range(3, 10):
            begin(f"kNN on fold {number + 1}")
    console.start(1, "train", "Train", [log])
    assert str(console) == "0/1 jobs, 1 running (training 20 of 20: kNN on fold 10), 00:00 left"


def test_the_remaining_time_moves_while_a_training_or_a_job_lasts(clock, train):
    console, seen = Console(io.StringIO()), []
    console.plan({"read": 1, "train": 1})
    console.expect({"train": 3})
    clock.seconds = 5
    console.start(1, "train", "Train", train(1, n=3))
    clock.seconds = 100
    train(2, n=3)
    str(console)
    for minutes in range(2, 6):
        clock.seconds = 60 * minutes
        seen.append(console.remaining_seconds())
    train(3, n=3)
    console.finish(1)
    console.start(2, "read", "Read")
    for minutes in range(9, 12):
        clock.seconds = 60 * minutes
        seen.append(console.remaining_seconds())
    assert len({*seen}) == len(seen)


def test_a_failed_job_no_longer_runs(clock):
    console = Console(io.StringIO())
    console.plan({"read": 2})
    console.start(1, "read", "Read flags")
    assert str(console) == "0/2 jobs, 1 running"
    console.fail(1, "read", [])
    assert str(console) == "0/2 jobs"


def test_the_estimate_counts_jobs_at_once(clock):
    console = Console(io.StringIO())
    console.plan({"train": 6})
    for job in (1, 2):
        console.start(job, "train", "Train")
    clock.seconds = 100
    console.finish(1)
    console.finish(2)
    assert console.remaining_seconds() == 200  # four jobs of 100 seconds, two in parallel
