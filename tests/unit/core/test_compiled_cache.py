"""Compiled functions on disk: never outdated, and compiled by one process where many start together."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import types

import fairfold
from fairfold.core import compiled_cache
from fairfold.core.compiled import inner_njit, njit

CALLEES = {  # what a compiled function takes from another file
    "function": "from fairfold.core.compiled import njit\n\nVALUE = 0\n\n\n@njit()\ndef inner():\n    return {}\n",
    "inner function": "from fairfold.core.compiled import inner_njit\n\n"
    "VALUE = 0\n\n\n@inner_njit()\ndef inner():\n    return {}\n",
    "maker of code": "from numba.extending import register_jitable\n\n"
    "VALUE = 0\n\n\n@register_jitable\ndef inner():\n    return {}\n",
    "constant": "VALUE = {}\n\n\ndef inner():\n    return 0\n",
}
CALLER = """from fairfold.callee import {}
from fairfold.core.compiled import njit


@njit()
def outer():
    return {}
"""
SLOW = """import numpy as np

from fairfold.core.compiled import njit


@njit()
def outer():
    return np.sort(np.arange(5) % 2.5).sum()
"""
COUNTED = "caller.outer.stats = caller.of_types.stats; "
CALL = "from fairfold.caller import outer; print(outer(), len(outer.stats.cache_hits))"


@pytest.fixture
def start(tmp_path):
    """Starter of processes that call ``outer``, and the folder of a package that has little else."""
    package = tmp_path / "library" / "fairfold"
    (package / "core").mkdir(parents=True)
    for name in ("__init__.py", "core/__init__.py", "core/compiled.py", "core/compiled_cache.py"):
        shutil.copy(Path(fairfold.__file__).parent / name, package / name)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "caches")
    started_in = tmp_path / "elsewhere"
    started_in.mkdir()

    def start_one(before="", library=package.parent, **more):
        command = [sys.executable, "-W", "always", "-c", before + CALL]
        pipes = ("stdin", "stdout", "stderr")
        paths = {"PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            command, env=environment | paths | more, **dict.fromkeys(pipes, subprocess.PIPE), cwd=started_in
        )

    return package, start_one


def printed(process, complaint=""):
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    assert complaint in errors.decode() if complaint else not errors
    return output.decode().split()


def folders_in(place):
    return sorted(path.name for path in place.glob("fairfold-compiled/*"))


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


@pytest.fixture
def constant(start):
    """The same starter, and its package, whose ``outer`` gives 1."""
    package, start_one = start
    (package / "caller.py").write_text(CALLER.format("VALUE", "VALUE"))
    (package / "callee.py").write_text(CALLEES["constant"].format(1))
    return package, start_one


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms have other folders for caches")
def test_it_is_kept_for_a_user_unless_a_folder_is_named(constant, tmp_path):
    _, start_one = constant
    assert printed(start_one(NUMBA_CACHE_DIR="")) == ["1", "0"]
    assert len(folders_in(tmp_path / "caches")) == 1
    assert printed(start_one(NUMBA_CACHE_DIR="mine")) == ["1", "0"]  # another one
    assert folders_in(tmp_path / "elsewhere/mine") == folders_in(tmp_path / "caches")
    assert printed(start_one(NUMBA_CACHE_DIR="")) == ["1", "1"]


def test_checkouts_with_the_same_code_share_it_and_others_do_not(constant, tmp_path):
    package, start_one = constant
    assert printed(start_one()) == ["1", "0"]
    other = tmp_path / "other"
    shutil.copytree(package, other / "fairfold")
    (other / "fairfold" / "prose.py").write_text('"""What is not compiled counts for nothing."""\n')
    assert printed(start_one(library=other)) == ["1", "1"]
    (other / "fairfold/callee.py").write_text(CALLEES["constant"].format(22))
    assert printed(start_one(library=other)) == ["22", "0"]
    assert printed(start_one()) == ["1", "1"]  # the one was kept beside the other


@pytest.mark.parametrize("version", ["numba.__version__ = '0'", "numpy.__version__ = '2.2.99'"])
def test_environments_that_compile_otherwise_do_not_share_it(constant, version):
    _, start_one = constant
    assert printed(start_one()) == ["1", "0"]
    assert printed(start_one(f"import numba, numpy; {version}; ")) == ["1", "0"]
    assert printed(start_one()) == ["1", "1"]


def test_a_library_that_may_only_be_read_is_compiled_once(start):
    package, start_one = start
    (package / "caller.py").write_text(SLOW)
    package.chmod(0o555)
    before = sorted(package.rglob("*"))
    assert sorted(map(printed, [start_one() for _ in range(2)])) == [["5.0", "0"], ["5.0", "1"]]
    assert sorted(package.rglob("*")) == before  # whom permissions do not bind has written nothing, too


def test_without_a_folder_every_process_compiles_and_says_so(constant, tmp_path):
    _, start_one = constant
    (tmp_path / "caches").write_text("no folder")
    assert printed(start_one(), "compiled code cannot be kept in") == ["1", "0"]


@pytest.mark.parametrize("kept", ["*.nbi", "*.nbc"])
def test_a_damaged_file_is_as_good_as_none(constant, tmp_path, kept):
    """A machine that stops while it writes leaves such."""
    _, start_one = constant
    assert printed(start_one()) == ["1", "0"]
    (path,) = (tmp_path / "caches").rglob(kept)
    path.write_bytes(path.read_bytes()[:40])
    assert printed(start_one()) == ["1", "0"]
    assert printed(start_one()) == ["1", "1"]


def test_a_user_without_a_home_compiles_anew(constant):
    """Where nothing is known of them, either, as in containers; nothing is read from where others may write."""
    _, start_one = constant
    nobody = "import os, pwd; del os.environ['HOME'], os.environ['XDG_CACHE_HOME']; pwd.getpwuid = {}.__getitem__; "
    assert printed(start_one(nobody), "compiled code cannot be kept in") == ["1", "0"]


def test_what_numba_warns_of_is_told(constant):
    package, start_one = constant
    big = "import numpy as np\nfrom fairfold.core.compiled import njit\n\nBIG = np.arange(300_000.0)\n\n\n@njit()\n"
    (package / "caller.py").write_text(f"{big}def outer():\n    return BIG[1]\n")
    assert printed(start_one(), "NumbaWarning") == ["1.0", "0"]


def test_code_that_no_one_uses_is_removed_when_there_is_new_code(constant, tmp_path):
    package, start_one = constant
    assert printed(start_one()) == ["1", "0"]
    caches = tmp_path / "caches/fairfold-compiled"
    (used,) = caches.iterdir()
    unused, recent, not_ours = (caches / name for name in ("0" * 16, "1" * 16, "notes"))
    for folder, days in ((unused, 31), (recent, 29), (not_ours, 31), (used, 31)):
        folder.mkdir(exist_ok=True)
        (folder / "file").touch()
        os.utime(folder, 2 * (time.time() - days * 24 * 3600,))
    assert printed(start_one()) == ["1", "1"]  # and is known to be used by now
    assert unused.exists()
    (package / "callee.py").write_text(CALLEES["constant"].format(22))
    assert printed(start_one()) == ["22", "0"]
    assert not unused.exists() and all(folder.exists() for folder in (used, recent, not_ours))


def test_of_processes_that_start_together_one_compiles(start):
    package, start_one = start
    (package / "caller.py").write_text(SLOW)
    assert sorted(map(printed, [start_one() for _ in range(3)])) == [["5.0", "0"], ["5.0", "1"], ["5.0", "1"]]


OF_TYPES = """from fairfold.core.compiled import njit


@njit()
def of_types(value):
    return value + value
"""
COMPILING = """import sys

from numba import types

from fairfold.caller import of_types
from fairfold.core.compiled_cache import alone

outer = of_types
with alone(of_types.py_func, [(types.int64,)]):
    print("as if", flush=True)
    sys.stdin.read()
sys.exit()
"""


def test_for_other_types_a_function_is_compiled_meanwhile(start):
    package, start_one = start
    (package / "caller.py").write_text(OF_TYPES)

    def called_with(value):
        return f"from fairfold import caller; caller.outer = lambda: caller.of_types({value}); " + COUNTED

    compiling = start_one(COMPILING)
    assert compiling.stdout.readline() == b"as if\n"
    same, others = start_one(called_with("3")), [start_one(called_with(value)) for value in ("1.5", "1.5", "1j")]
    assert sorted(map(printed, others)) == [["2j", "0"], ["3.0", "0"], ["3.0", "1"]]
    assert same.poll() is None
    compiling.communicate()
    assert printed(same) == ["6", "0"]
    again = [start_one(called_with(value)) for value in ("3", "1.5", "1j")]
    assert [printed(each)[1] for each in again] == ["1", "1", "1"]  # none is lost that was kept beside others


def test_an_inner_function_that_python_calls_is_kept_too(start):
    package, start_one = start
    (package / "caller.py").write_text(
        "from fairfold.core.compiled import inner_njit\n\n\n@inner_njit()\ndef inner():\n    return 3\n\n\n"
        "inner()\nouter = inner._on_its_own\n"
    )
    assert [printed(start_one()) for _ in range(2)] == [["3", "0"], ["3", "1"]]


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
    monkeypatch.setattr(compiled_cache, "FOLDER", tmp_path)  # nothing is known from an earlier run

    def halved():
        return njit(siblings=lambda signature: [(types.float64,)] if signature == (types.int64,) else [])(half)

    first, again = halved(), halved()
    assert first(3) == 1.5 and [*first.overloads] == [(types.int64,), (types.float64,)]
    assert again(3.0) == 1.5 and again.stats.cache_hits.total() == 1


def half(value):
    return value / 2
