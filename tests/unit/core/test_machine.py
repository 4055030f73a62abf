import shutil
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from fairfold.core.machine import check_machine, check_space, check_threads
from fairfold.errors import DataError


def test_a_usual_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    n_threads = threading.active_count()
    check_machine(tmp_path / "study")
    assert (tmp_path / "study" / ".snakemake").is_dir()
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_cache_folder_that_cannot_be_made(tmp_path, monkeypatch, name):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    with pytest.raises(DataError, match=r"cannot create this folder \(Not a directory\).*XDG_CACHE_HOME"):
        check_machine(tmp_path / "study")


def test_snakemakes_folder_is_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / ".snakemake").touch()
    with pytest.raises(DataError, match=r"\.snakemake: cannot create this folder \(File exists\).*--directory"):
        check_machine(tmp_path)


def test_a_limit_of_threads(monkeypatch):
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    check_threads(3)
    started.clear()
    with pytest.raises(DataError, match=r"limit of processes.*--cores 1"):
        check_threads(4)
    assert not any(thread.is_alive() for thread in started)


def test_a_full_disk(tmp_path, monkeypatch):
    check_space(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(DataError, match="the disk is full"):
        check_space(tmp_path)


@pytest.mark.parametrize("length", [1, 10**6])
def test_a_reader_of_the_output_may_end(length):
    code = f"with ignore_closed_output():\n    print('x' * {length})"
    command = [sys.executable, "-c", f"from fairfold.core.machine import ignore_closed_output\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
