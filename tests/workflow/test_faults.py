"""Faults, each injected for real: kills, a full disk, a read-only one, a broken download, NaN inside a model.

After each, no file in the place of a result is anything but whole, and a rerun ends with the bytes of a run that nothing
disturbed.
"""

import contextlib
import functools
import http.server
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

KILLS = 20
TARGET = "results/tables/split_quality.csv"


def toy_table():
    """60 samples of two features and three labels, the last with few positives."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 2)).round(3)
    labels = {f"y{j}": (X[:, j % 2] > 0.5 + 0.15 * j).astype(int) for j in range(3)}
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **labels})


SMALL = {
    "seed": 1,
    "data": {"own": {"toy": {"path": "toy.csv", "format": "csv", "labels": {"last": 3}}}},
    "folds": {"n_splits": 2},
    "splitting": {"datasets": ["toy"], "methods": ["random", "SOIS", "OptiSplit-rLD"], "repeats": 2},
    "weak_labels": {
        "datasets": ["toy"],
        "missing_rates": [50],
        "models": ["RF+ET", "CaFE-SLC"],
        "forest": {"n_trees": 2, "max_levels": 1},
    },
}


@pytest.fixture
def toy(study):
    """Maker of small studies of a small dataset, each job of which takes about a second."""

    def make(name="study"):
        made = study(SMALL, name)
        toy_table().to_csv(made.folder / "toy.csv", index=False)
        return made

    return make


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, root, study_class):
    """Checksums of the results of the small study's target."""
    whole = study_class(tmp_path_factory.mktemp("undisturbed") / "study", root, SMALL)
    toy_table().to_csv(whole.folder / "toy.csv", index=False)
    code, output = whole.run(TARGET)
    assert code == 0, output
    return whole.results()


def assert_whole(study, undisturbed):
    """Whatever lies in the place of a result is that result; temporary files begin with a dot."""
    found = {name: digest for name, digest in study.results().items() if not Path(name).name.startswith(".")}
    assert found == {name: undisturbed.get(name) for name in found}


def finish(study, undisturbed):
    code, output = study.run(TARGET)
    assert code == 0, output
    assert study.results() == undisturbed


# --- kills ------------------------------------------------------------------------------------------------------------


def kill_the_run(process, moments):
    """SIGKILL of everything at a random moment; whether it was still running."""
    time.sleep(moments.uniform(0.5, 6))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_a_job(process, moments):
    """SIGKILL of one job's process at a random moment after its start; the run goes on without it, and must say so."""
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            jobs = psutil.Process(process.pid).children(recursive=True)
            if jobs:
                time.sleep(moments.uniform(0, 1))
                moments.choice(jobs).kill()
                break
        time.sleep(0.01)
    output, _ = process.communicate(timeout=300)
    return process.returncode != 0 or "Nothing to be done" not in output


def test_kills_at_random_moments(toy, undisturbed):
    killed, hits = toy(), 0
    for seed in range(KILLS):
        moments = random.Random(seed)
        done = sorted(killed.folder.glob("results/*/**/*.*"))
        for path in moments.sample(done, len(done) // 2):  # so that there is always something left to do
            path.unlink()
        kill = kill_the_run if seed % 4 else kill_a_job
        hits += kill(killed.start(TARGET), moments)
        assert_whole(killed, undisturbed)
    assert hits > KILLS // 2
    finish(killed, undisturbed)


# --- disks ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(folder, *arguments):
    """A file system mounted on a folder; the test is skipped where that is not allowed."""
    folder.mkdir(exist_ok=True)
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, *arguments, folder], capture_output=True, text=True, check=False)
    if not done or done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip() if done else 'there is no mount'}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def told(output, sentence):
    """The line with the sentence, without a traceback anywhere."""
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if sentence in line]
    assert lines, output
    return lines


def test_a_full_disk(toy, undisturbed):
    full = toy()
    results = full.folder / "results"
    with mounted(results, "-t", "tmpfs", "-o", "size=256k", "tmpfs"):
        ballast = results / "ballast"
        for free in (0, 12, 40):  # KiB: too little for anything, for the first results, for the last ones
            ballast.write_bytes(b"")
            space = shutil.disk_usage(results).free - free * 1024
            ballast.write_bytes(bytes(space))
            code, output = full.run(TARGET)
            assert code != 0, f"{free} KiB were enough"
            told(output, "cannot be written to: No space left on device. Free space")
            ballast.unlink()
            assert_whole(full, undisturbed)
        finish(full, undisturbed)


def test_read_only_results(toy, undisturbed):
    protected = toy()
    (protected.folder / "results").mkdir()
    with mounted(protected.folder / "results", "-t", "tmpfs", "-o", "ro", "tmpfs"):
        code, output = protected.run(TARGET)
        assert code != 0
        (line,) = told(output, "results cannot be written to: Read-only file system.")
        assert line == output.strip().splitlines()[-1]
        assert list((protected.folder / "results").iterdir()) == []
    finish(protected, undisturbed)


# --- a broken download ------------------------------------------------------------------------------------------------
