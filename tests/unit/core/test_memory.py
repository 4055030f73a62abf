"""The cache of the working directory."""

import multiprocessing
import os
import shutil
import signal
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fairfold.core import memory as module
from fairfold.core.memory import key_of, key_of_job, memory, memory_of_all, prepare_cache, reused, trained
from fairfold.core.trainings import read

calls = []


def double(values):
    calls.append(values)
    return 2 * values


@pytest.fixture(autouse=True)
def caches(tmp_path, monkeypatch):
    """Return the folder of all caches, and work in the folder of a study next to it."""
    (study := tmp_path / "study").mkdir()
    monkeypatch.chdir(study)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    calls.clear()
    return tmp_path / "fairfold-results"


def test_a_finished_call_is_reused():
    for _ in range(2):
        np.testing.assert_array_equal(memory().cache(double)(np.arange(3)), [0, 2, 4])
    assert len(calls) == 1
    memory().cache(double)(np.arange(4))
    assert len(calls) == 2


@pytest.mark.parametrize(
    "change", [lambda content: content[: len(content) // 2], lambda content: content[:-9] + b"x" * 9]
)
def test_a_damaged_entry_is_recomputed(change, caches):
    values = np.arange(50_000.0)
    memory().cache(double)(values)
    (entry,) = caches.rglob("output.pkl")
    entry.write_bytes(change(entry.read_bytes()))
    np.testing.assert_array_equal(memory().cache(double)(values), 2 * values)
    assert len(calls) == 2


def test_without_a_place_nothing_is_kept():
    Path(".snakemake").write_text("a file")
    for _ in range(2):
        assert memory().cache(double)(1) == 2
    assert len(calls) == 2


def test_the_folder_of_a_study_contains_no_pickles_and_cannot_choose_another_cache(caches):
    memory().cache(double)(1)
    (name,) = (path for path in Path().rglob("*") if path.is_file())
    assert (caches / name.read_text()).is_dir() and caches.stat().st_mode & 0o077 == 0
    for other in ("../study", "", "0" * 31, "/" + "0" * 31):
        name.write_text(other)
        assert memory().location is None


def test_others_cannot_write_to_a_cache(caches, monkeypatch):
    caches.mkdir()
    caches.chmod(0o777)
    assert memory().location is None and memory_of_all().location is None
    caches.chmod(0o700)
    assert memory().location is not None
    monkeypatch.setattr("os.getuid", lambda: caches.stat().st_uid + 1)
    assert memory().location is None


def test_studies_have_their_own_caches_which_are_deleted_with_them(caches, tmp_path, monkeypatch):
    for name in ("study", "other"):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        memory().cache(double)(1)
    assert len(calls) == 2
    shutil.rmtree(tmp_path / "study")
    prepare_cache()
    assert len([*caches.glob("*/study.txt")]) == 2  # It may be a study of another machine.
    monkeypatch.setattr(module, "_SECONDS_KEPT", -1)
    prepare_cache()
    (place,) = caches.glob("*/study.txt")
    assert place.read_text() == str(tmp_path / "other")


def test_keys_depend_on_content_and_versions(monkeypatch):
    key = key_of(np.arange(3), {"a": 1, "b": 2}, "name")
    assert key == key_of(np.arange(3), {"b": 2, "a": 1}, "name")
    assert key not in {key_of(np.arange(4), {"a": 1, "b": 2}, "name"), key_of(np.arange(3), {"a": 1, "b": 3}, "name")}
    monkeypatch.setattr(module, "_versions", lambda: ["numpy 99"])
    assert key != key_of(np.arange(3), {"a": 1, "b": 2}, "name")


def test_a_job_is_reused_for_the_same_inputs_wildcards_and_parameters():
    Path("data").write_text("1,2")

    def run(rate=50, seed=1):
        job = SimpleNamespace(input=["data"], wildcards={"rate": rate}, params={"seed": seed})
        return reused(key_of_job(job), double, values=rate)

    assert run() == run() == 100
    assert len(calls) == 1
    run(rate=0)
    run(seed=2)
    Path("data").write_text("1,3")
    run()
    assert len(calls) == 4


def run_job(fails=False):
    """Run three trainings. If the job fails, its process kills itself during the last one."""

    def train(fold):
        if fails and fold == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return fold + 100 * fails

    return [trained("key", f"kNN on fold {fold}", lambda fold=fold: train(fold)) for fold in range(3)]


def test_a_killed_job_continues_with_the_training_that_it_was_running(capfd):
    job = multiprocessing.get_context("fork").Process(target=run_job, args=(True,))
    job.start()
    job.join()
    assert job.exitcode == -signal.SIGKILL
    capfd.readouterr()
    assert run_job() == [100, 101, 2]
    log = capfd.readouterr().err
    assert read(log).what == "kNN on fold 2" and read(log).n_begun == 1 and read(log).n_cached == 2
    assert [trained(None, "kNN", partial(abs, number)) for number in (1, -2)] == [1, 2]
