"""Compiled functions on disk: never outdated, and compiled by one process where many start together."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairfold

CALLEE = "from fairfold.compiled import njit\n\n\n@njit()\ndef inner():\n    return {}\n"
CALLER = """from fairfold.callee import inner
from fairfold.compiled import njit


@njit()
def outer():
    return inner()
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
    return package, lambda: subprocess.Popen([sys.executable, "-c", CALL], env=environment, stdout=subprocess.PIPE)


def printed(process):
    output, _ = process.communicate()
    assert process.returncode == 0
    return output.decode().split()


def test_a_change_in_a_compiled_function_reaches_its_callers_in_other_files(start):
    package, start_one = start
    (package / "caller.py").write_text(CALLER)
    seen = []
    for value in (1, 1, 22):
        (package / "callee.py").write_text(CALLEE.format(value))
        seen.append(printed(start_one()))
    assert seen == [["1", "0"], ["1", "1"], ["22", "0"]]


def test_of_processes_that_start_together_one_compiles(start):
    package, start_one = start
    (package / "caller.py").write_text(SLOW)
    assert sorted(map(printed, [start_one() for _ in range(3)])) == [["5.0", "0"], ["5.0", "1"], ["5.0", "1"]]
