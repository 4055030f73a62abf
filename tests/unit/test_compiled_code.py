"""Compiled code is stored in a folder named after the sources of all kernels."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fairfold

INNER = """from fairfold.core.compiled import njit


@njit(cache=True)
def inner():
    return {}
"""
OUTER = """from fairfold.core.compiled import njit
from fairfold.core.inner import inner


@njit(cache=True)
def outer():
    return inner()
"""
CALL = "from fairfold.core.outer import outer; print(outer(), sum(outer.stats.cache_hits.values()))"


@pytest.fixture
def call(tmp_path):
    """Return a function that starts a process that calls ``outer``, whose inner function returns a value."""
    package = tmp_path / "library" / "fairfold"
    (package / "core").mkdir(parents=True)
    for name in ("__init__.py", "__init__.pyi", "core/compiled.py", "core/private.py"):
        shutil.copy(Path(fairfold.__file__).parent / name, package / name)
    (package / "core" / "outer.py").write_text(OUTER)
    caches = tmp_path / "caches"

    def run(value=1, before="", code=CALL, inner=INNER, **more):
        (package / "core" / "inner.py").write_text(inner.format(value))
        environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        environment |= {"XDG_CACHE_HOME": str(caches), "PYTHONPATH": str(package.parent), **more}
        done = subprocess.run(
            [sys.executable, "-c", before + code], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    return run


def test_a_change_of_an_inner_function_is_noticed(call):
    """The change is also noticed if Numba is imported first."""
    assert [call(1), call(1, "import numba; "), call(22, "import numba; ")] == [["1", "0"], ["1", "1"], ["22", "0"]]


def test_a_change_of_a_constant_of_another_module_is_noticed(call, tmp_path):
    outer = OUTER.replace("import inner", "import VALUE").replace("inner()", "VALUE")
    (tmp_path / "library" / "fairfold" / "core" / "outer.py").write_text(outer)
    assert [call(value, inner="VALUE = {}\n") for value in (1, 22)] == [["1", "0"], ["22", "0"]]


def test_a_folder_may_be_named(call, tmp_path):
    code = "from fairfold.core.compiled import cache_folder; print(cache_folder())"
    (folder,) = call(code=code, NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    assert Path(folder).parent == tmp_path / "mine"


def test_without_a_writable_folder_processes_share_a_temporary_one(call, tmp_path):
    (tmp_path / "caches").write_text("not a folder")
    assert [call(TMPDIR=str(tmp_path)) for _ in range(2)] == [["1", "0"], ["1", "1"]]
    assert list(tmp_path.glob("fairfold-compiled-*"))


def test_two_processes_that_need_a_function_compile_it_once(call):
    at_once = CALL.replace("; print", "; import os; os.fork(); print", 1)
    assert sorted(zip(*[iter(call(code=at_once))] * 2, strict=True)) == [("1", "0"), ("1", "1")]
