"""The cache of the working directory."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fairfold.core import memory as module
from fairfold.core.memory import FOLDER, key_of, key_of_job, memory, reused

calls = []


def double(values):
    calls.append(values)
    return 2 * values


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls.clear()


def test_a_finished_call_is_reused():
    for _ in range(2):
        np.testing.assert_array_equal(memory().cache(double)(np.arange(3)), [0, 2, 4])
    assert len(calls) == 1
    memory().cache(double)(np.arange(4))
    assert len(calls) == 2


@pytest.mark.parametrize(
    "change", [lambda content: content[: len(content) // 2], lambda content: content[:-9] + b"x" * 9]
)
def test_a_damaged_entry_is_recomputed(change):
    values = np.arange(50_000.0)
    memory().cache(double)(values)
    (entry,) = FOLDER.rglob("output.pkl")
    entry.write_bytes(change(entry.read_bytes()))
    np.testing.assert_array_equal(memory().cache(double)(values), 2 * values)
    assert len(calls) == 2


def test_without_a_place_nothing_is_kept(tmp_path):
    (tmp_path / ".snakemake").write_text("a file")
    for _ in range(2):
        assert memory().cache(double)(1) == 2
    assert len(calls) == 2


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
        return reused(key_of_job(job), lambda: double(rate))

    assert run() == run() == 100
    assert len(calls) == 1
    run(rate=0)
    run(seed=2)
    Path("data").write_text("1,3")
    run()
    assert len(calls) == 4
