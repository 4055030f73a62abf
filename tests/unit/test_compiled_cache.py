"""Compiled functions on disk: never outdated, and compiled by one process where many start together."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import types

import fairfold
from fairfold.compiled import inner_njit, njit

CALLEES = {  # what a compiled function takes from another file
    "function": "from fairfold.compiled import njit\n\nVALUE = 0\n\n\n@njit()\ndef inner():\n    return {}\n",
    "inner function": "from fairfold.compiled import inner_njit\n\n"
    "VALUE = 0\n\n\n@inner_njit()\ndef inner():\n    return {}\n",
    "maker of code": "from numba.extending import register_jitable\n\n"
    "VALUE = 0\n\n\n@register_jitable\ndef inner():\n    return {}\n",
    "constant": "VALUE = {}\n\n\ndef inner():\n    return 0\n",
}
CALLER = """from fairfold.callee import {}
from fairfold.compiled import njit


@njit()
def outer():
    return {}
"""
SLOW = """import numpy as np

from fairfold.compiled import njit


@njit()
def outer():
    return np.sort(np.arange(5) % 2.5).sum()
"""
CALL = "from fairfold.caller import outer; print(outer(), len(outer.stats.cache_hits))"


@pytest.fixture
def start(tmp_path):
    """Starter of processes that call ``outer``, and the folder of a package that has little else."""
    package = tmp_path / "fairfold"
    package.mkdir()
    for name in ("__init__.py", "compiled.py"):
        shutil.copy(Path(fairfold.__file__).with_name(name), package)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["PYTHONPATH"] = str(tmp_path)

    def start_one(before="", **more):
        command = [sys.executable, "-c", before + CALL]
        return subprocess.Popen(command, env=environment | more, stdout=subprocess.PIPE, cwd=tmp_path)

    return package, start_one


def printed(process):
    output, _ = process.communicate()
    assert process.returncode == 0
    return output.decode().split()


@pytest.mark.parametrize("kind", CALLEES)
def test_a_change_of_what_is_compiled_in_from_other_files_is_seen(start, kind):
    package, start_one = start
    taken = ("VALUE", "VALUE") if kind == "constant" else ("inner", "inner()")
    (package / "caller.py").write_text(CALLER.format(*taken))
    seen = []
    for value in (1, 1, 22):
        (package / "callee.py").write_text(CALLEES[kind].format(value))
        seen.append(printed(start_one()))
    assert seen == [["1", "0"], ["1", "1"], ["22", "0"]]


def test_nor_is_it_missed_where_numba_was_loaded_first(start):
    package, start_one = start
    (package / "caller.py").write_text(CALLER.format("VALUE", "VALUE"))
    for value in (1, 22):
        (package / "callee.py").write_text(CALLEES["constant"].format(value))
        assert printed(start_one("import numba; ")) == [str(value), "0"]
    assert not list((package / "__pycache__").glob("*.nbi"))  # beside the sources, where Numba would put it


def test_an_empty_name_of_a_folder_is_none(start):
    package, start_one = start
    (package / "caller.py").write_text(CALLER.format("VALUE", "VALUE"))
    (package / "callee.py").write_text(CALLEES["constant"].format(1))
    assert printed(start_one(NUMBA_CACHE_DIR="")) == ["1", "0"]
    assert [path.name for path in package.parent.iterdir()] == ["fairfold"]  # nothing where it was started


def test_of_processes_that_start_together_one_compiles(start):
    package, start_one = start
    (package / "caller.py").write_text(SLOW)
    assert sorted(map(printed, [start_one() for _ in range(3)])) == [["5.0", "0"], ["5.0", "1"], ["5.0", "1"]]


@inner_njit()
def doubled(values):
    if len(values) == 0:
        raise ValueError("nothing to double")
    return values * 2


@inner_njit(counted=False)
def first(values):
    return values[0]


@njit()
def first_doubled(values):
    return first(doubled(doubled(values)))


@pytest.mark.parametrize("dtype", [float, np.int32])
def test_inner_functions_are_part_of_their_callers(dtype):
    assert first_doubled(np.array([3, 4], dtype)) == 12
    first_doubled.recompile()  # an earlier run of this test may have kept it, and what it is made of is not kept
    assert first_doubled(np.array([3, 4], dtype)) == 12
    with pytest.raises(ValueError, match="nothing to double"):
        first_doubled(np.empty(0, dtype))
    for function in (doubled, first):
        (compiled, *_) = function.overloads.values()
        assert not function.stats.cache_path  # nowhere on disk, nor anywhere else from where it could be run
        assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_inner_functions_can_be_called():
    np.testing.assert_array_equal(doubled(np.arange(3)), [0, 2, 4])
    assert first(np.array([5.0])) == 5
    with pytest.raises(ValueError, match="nothing to double"):
        doubled(np.empty(0))


def test_what_is_needed_together_is_compiled_together(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing is known from an earlier run

    def halved():
        return njit(siblings=lambda signature: [(types.float64,)] if signature == (types.int64,) else [])(half)

    first, again = halved(), halved()
    assert first(3) == 1.5 and [*first.overloads] == [(types.int64,), (types.float64,)]
    assert again(3.0) == 1.5 and again.stats.cache_hits.total() == 1


def half(value):
    return value / 2
