"""Pieces are run in their order, each in a process of its own, and taken as they are where nothing has changed."""

import os
import signal
import subprocess
import sys
import time
from collections import UserList
from pathlib import Path

import pandas as pd
import pytest

from fairfold.core.pieces import Piece, run_pieces

SCRIPT = """
import os, sys
from pathlib import Path
text = "".join(Path(path).read_text() for path in snakemake.input)
if snakemake.params["word"] == "fail":
    sys.exit("a sentence for the user")
if snakemake.params["word"] == "die":
    os.kill(os.getpid(), 9)
with open("runs.txt", "a") as stream:
    stream.write(f"{snakemake.wildcards['name']} {os.getpid()}\\n")
for path in snakemake.output:
    Path(path).write_text(text + snakemake.params["word"])
"""


class Named(UserList):
    """As Snakemake's lists of files and parameters: values, some of which have names."""

    def __init__(self, names):
        super().__init__(names.values())
        self.names = dict(names)

    def items(self):
        return self.names.items()

    def __getitem__(self, key):
        return self.names[key] if isinstance(key, str) else self.data[key]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(SCRIPT)
    Path("data").write_text("data ")
    return tmp_path


def piece(name, word, reads=("data",), benchmark=None):
    lists = {
        "input": Named(dict(enumerate(reads))),
        "output": Named({"made": f"out/{name}", "more": f"out/{name}.more"}),
        "params": Named({"word": word}),
        "wildcards": Named({"name": name}),
        "log": Named({0: f"logs/{name}.log"}),
    }
    return Piece("script.py", {**lists, "threads": 1, "config": {}}, benchmark)


def run(*stages, n_at_once=2):
    return run_pieces(stages, n_at_once, Path("store"))


def runs():
    """Names of what was run since the last call, each of which had a process of its own."""
    path = Path("runs.txt")
    lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    path.unlink(missing_ok=True)
    assert len({process for _, process in lines} | {str(os.getpid())}) == len(lines) + 1
    return sorted(name for name, _ in lines)


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_stages_follow_each_other(n_at_once):
    first = [piece(name, name) for name in "abcd"]
    last = piece("end", "!", reads=[f"out/{name}" for name in "abcd"])
    assert run(first, [last], n_at_once=n_at_once) == []
    assert Path("out/end").read_text() == "data adata bdata cdata d!"
    assert runs() == ["a", "b", "c", "d", "end"]
    assert Path("logs").is_dir()


def test_only_what_changed_is_made_anew():
    stages = [[piece("a", "x"), piece("b", "y")], [piece("c", "z", reads=["out/a"])]]
    assert run(*stages) == []
    made = {path: path.read_bytes() for path in Path("out").iterdir()}
    runs()
    for path in made:  # as Snakemake does before it runs a job
        path.unlink()
    assert run(*stages) == [] and runs() == []
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == made
    assert run([*stages[0], piece("new", "x")], stages[1]) == [] and runs() == ["new"]
    assert run([piece("a", "other"), stages[0][1]], stages[1]) == [] and runs() == ["a", "c"]  # by content, c too
    Path("data").write_text("other data ")
    assert run(*stages) == [] and runs() == ["a", "b", "c"]
    assert len(list(Path("store").iterdir())) == 4  # of each output one


def test_what_is_kept_is_newer_than_its_inputs_and_true():
    stage = [piece("a", "x")]
    assert run(stage) == []
    os.utime("data")
    assert run(stage) == []
    assert Path("out/a").stat().st_mtime_ns >= Path("data").stat().st_mtime_ns
    runs()
    with Path("out/a").open("a") as stream:  # by hand, in the kept file as well, which is the same
        stream.write("changed")
    assert run(stage) == [] and runs() == ["a"]
    assert Path("out/a").read_text() == "data x"


def test_other_versions_of_libraries_make_it_anew(monkeypatch):
    stage = [piece("a", "x")]
    assert run(stage) == [] and runs() == ["a"]
    monkeypatch.setattr("fairfold.core.pieces._versions", lambda: ["scikit-learn 99"])
    assert run(stage) == [] and runs() == ["a"]
    assert run(stage) == [] and runs() == []


def test_an_input_that_changes_meanwhile_is_read_once_more():
    Path("script.py").write_text(SCRIPT + "\nPath('data').write_text('newer ')\n")
    assert run([piece("a", "x")]) == [] and runs() == ["a"]
    assert Path("out/a").read_text() == "data x"
    assert run([piece("a", "x")]) == [] and runs() == ["a"]
    assert Path("out/a").read_text() == "newer x"


def test_a_piece_fails_by_itself_where_an_input_is_missing(capfd):
    assert run([piece("a", "x", reads=["nowhere"])]) == ["logs/a.log (exit status 1)"]
    assert "nowhere" in capfd.readouterr().err
    Path("nowhere").write_text("now ")
    assert run([piece("a", "x", reads=["nowhere"])]) == [] and runs() == ["a"]


def test_a_piece_that_fails_stops_later_stages_only(capfd):
    stages = [[piece("a", "fail"), piece("b", "y"), piece("c", "fail")], [piece("d", "z", reads=["out/b"])]]
    assert run(*stages) == ["logs/a.log (exit status 1)", "logs/c.log (exit status 1)"]
    assert runs() == ["b"] and not Path("out/d").exists()
    assert capfd.readouterr().err.count("a sentence for the user") == 2
    assert run([piece("a", "mended"), *stages[0][1:2]], stages[1]) == []
    assert runs() == ["a", "d"]


def test_a_piece_that_is_killed_is_one_that_failed():
    assert run([piece("a", "die"), piece("b", "y")]) == ["logs/a.log (ended by SIGKILL)"]
    assert runs() == ["b"]


def test_seconds_and_memory_are_those_of_the_piece():
    assert run([piece("a", "x", benchmark="benchmarks/a.tsv")]) == []
    table = pd.read_csv("benchmarks/a.tsv", sep="\t")
    assert list(table)[:3] == ["s", "h:m:s", "max_rss"] and list(table)[-1] == "cpu_time"
    assert 0 <= table.loc[0, "cpu_time"] < 60 and table.loc[0, "max_rss"] > 10


LOADED = """
import sys
from pathlib import Path
asked = ("pandas", "sklearn.linear_model", "numba", "numba.cpython.listobj")
Path(snakemake.output[0]).write_text(" ".join(name for name in asked if name in sys.modules))
"""
LOADING = """
import sys
from contextlib import contextmanager
from pathlib import Path
from fairfold.core.pieces import Piece, run_pieces
class Named(list):
    def items(self):
        return list(enumerate(self))
@contextmanager
def loading():
    print("pandas" in sys.modules)
    yield
    print("pandas" in sys.modules)
given = dict.fromkeys(("input", "params", "wildcards"), Named())
stages = [[Piece("loaded.py", given | {"output": Named([name]), "log": ["log"]}, None)] for name in ("one", "two")]
assert run_pieces(stages, 1, Path("store"), loading) == []
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_pieces_find_packages_loaded_and_what_is_kept_needs_none():
    """Once for all stages, in the context that is given."""
    Path("loaded.py").write_text(LOADED)
    command = [sys.executable, "-c", LOADING]
    assert subprocess.check_output(command, text=True).split() == ["False", "True"]
    assert (
        Path("one").read_text() == Path("two").read_text() == "pandas sklearn.linear_model numba numba.cpython.listobj"
    )
    assert subprocess.check_output(command, text=True) == ""


LONG = """
import os, time
from pathlib import Path
Path("begun.new").write_text(str(os.getpid()))
Path("begun.new").rename("begun")
time.sleep(60)
"""
JOB = """
from pathlib import Path
from fairfold.core.pieces import Piece, run_pieces
given = {"input": [], "output": {}, "params": {}, "wildcards": {}, "log": ["log"]}
run_pieces([[Piece("long.py", given, None)]], 1, Path("store"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say that a parent has ended")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_piece_outlives_the_job(number):
    Path("long.py").write_text(LONG)
    job = subprocess.Popen([sys.executable, "-c", JOB])
    wait_until(lambda: Path("begun").exists())
    job.send_signal(number)
    assert job.wait() == -number
    wait_until(lambda: not is_running(int(Path("begun").read_text())))


def wait_until(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(process):
    """Whether it is there, and more than an entry that whoever took it over has not looked at."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"
