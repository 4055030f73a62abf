"""Signals end a study with all its processes, with a sentence and the exit status of the signal."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import psutil
import pytest

import fairfold

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Stands for Snakemake: it starts a job, and takes half a second to end, which a second signal would cut short.
SNAKEMAKE = """
import subprocess, sys, time
job = "import signal, time; {job}; print('job', flush=True); time.sleep(100)"
try:
    subprocess.Popen([sys.executable, "-c", job])
    time.sleep(100)
except KeyboardInterrupt:
    time.sleep(0.5)
    print("ended", flush=True)
    raise SystemExit(1)
"""
ORDINARY, STUBBORN = "signal.signal(signal.SIGINT, signal.SIG_DFL)", "signal.signal(signal.SIGINT, signal.SIG_IGN)"
# The command without the modules that it does not need here.
COMMAND = """
import sys
from fairfold.console.stopping import stopped_by_signals
from fairfold.errors import StudyError
try:
    with stopped_by_signals() as stopper, open("log", "w") as log:
        stopper.start([sys.executable, "snakemake.py"], stdout=log).wait()
except StudyError as error:
    print(error, file=sys.stderr)
    sys.exit(error.status)
"""
ENDS = "The command was interrupted. Run the same command again to continue; finished results are kept.\n"


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a command, and waits for the job of the stand-in for Snakemake."""
    started = []

    def started_with(*words, job=ORDINARY, log="log", ignored=(), **options):
        (tmp_path / "snakemake.py").write_text(SNAKEMAKE.replace("{job}", job))
        paths = os.pathsep.join([str(tmp_path), str(Path(fairfold.__file__).parents[1])])
        command = [sys.executable, *(words or ["-c", COMMAND])]
        options = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True, **options}
        environment = {**os.environ, "PYTHONPATH": paths}
        handlers = partial(set_signals, ignored)
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, preexec_fn=handlers, **options)
        started.append(process)
        while "job" not in (path.read_text() if (path := tmp_path / log).exists() else ""):
            assert process.poll() is None
            time.sleep(0.02)
        return process, psutil.Process(process.pid).children(recursive=True)

    yield started_with
    for process in started:
        process.kill()


def set_signals(ignored):
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


def has_ended(process):
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("is_of_terminal", [False, True])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_all_processes_once(start, tmp_path, number, is_of_terminal):
    process, others = start()
    assert len(others) == 2
    (os.killpg if is_of_terminal else os.kill)(process.pid, number)
    assert process.communicate(timeout=60)[1] == ENDS and process.returncode == 128 + number
    assert all(map(has_ended, others))
    assert (tmp_path / "log").read_text() == "job\nended\n"


def test_a_second_signal_is_not_patient(start):
    process, others = start(job=STUBBORN)
    process.terminate()
    time.sleep(1)
    assert not has_ended(others[-1])
    process.terminate()
    assert process.communicate(timeout=60)[1] == ENDS and all(map(has_ended, others))


def test_ignored_signals_stay_ignored(start, tmp_path):
    """Scripts start background jobs with SIGINT ignored, which Snakemake needs to end, and nohup ignores SIGHUP."""
    process, others = start(ignored=[signal.SIGINT, signal.SIGHUP])
    for number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(process.pid, number)
    time.sleep(0.3)
    assert process.poll() is None and not any(map(has_ended, others))
    process.terminate()
    assert process.communicate(timeout=60)[1] == ENDS and process.returncode == 143
    assert all(map(has_ended, others)) and (tmp_path / "log").read_text() == "job\nended\n"


def test_the_command_ends_if_its_terminal_is_closed(start, tmp_path):
    table = pd.DataFrame({"a": range(30), "label_a": [0, 1] * 15, "label_b": [0, 0, 1] * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    words, log = ["-m", "fairfold", "study", "t.csv", "--labels", "label_"], "t-study/logs/study.log"
    terminal, other_end = os.openpty()
    process, others = start(*words, log=log, stdout=other_end, stderr=other_end)
    os.close(other_end)
    os.close(terminal)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 129 and all(map(has_ended, others))
    (tmp_path / log).unlink()
    process, others = start(*words, log=log)
    process.terminate()
    assert process.communicate(timeout=60)[1] == f"InterruptedStudyError: {ENDS}" and process.returncode == 143
    assert all(map(has_ended, others))
