"""Many small jobs in one process: each in a child that has the packages loaded, or taken from an earlier run.

A job of seconds waits for Python and its packages as long as it works. Here they are loaded once, and every piece runs
in a copy of the process. What a piece made is kept under a key of all that it depends on, by content, so that one more
model, or a run that was cut off, makes no other anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from importlib.metadata import version
from multiprocessing import connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from fairfold.core.files import atomic_open, disk_faults
from fairfold.core.usage import cpu_seconds, max_rss
from fairfold.errors import StudyError

LIBRARIES = ("lightgbm", "numba", "numpy", "pandas", "scikit-learn", "scipy")
PACKAGES = ("numba", "pandas", "scipy.sparse", "scipy.stats", "sklearn.linear_model")
_KEY = "key.json"
_FORKS = sys.platform == "linux"
_CONTEXT = multiprocessing.get_context("fork" if _FORKS else "spawn")


class Piece(NamedTuple):
    """A job as its script sees it, ``snakemake`` there.

    script : file of Python that is run.
    given : ``input, output, params, wildcards, log, threads`` and ``config``.
    benchmark : file for its seconds and memory, in Snakemake's format; None where none is wanted.
    """

    script: str
    given: Mapping[str, Any]
    benchmark: str | None


def run_pieces(
    stages: Iterable[Sequence[Piece]],
    n_at_once: int,
    store: Path,
    loading: Callable[[], AbstractContextManager] = contextlib.nullcontext,
) -> list[str]:
    """Run the pieces of each stage, some side by side, when those of the stages before are done.

    Parameters
    ----------
    stages : a piece reads only what no piece makes, or one of an earlier stage.
    n_at_once : processes.
    store : folder in which what they make is kept.
    loading : context in which packages are loaded, once and only where something is made.

    Returns
    -------
    list of str
        Log of each piece that failed, and how it ended. Others of its stage are done all the same, those of later
        stages are not begun.
    """

    @cache
    def load_packages() -> None:
        with loading():
            _load_packages()

    for stage in stages:
        if failed := _run_stage(stage, n_at_once, store, load_packages):
            return failed
    return []


def _run_stage(stage: Sequence[Piece], n_at_once: int, store: Path, load_packages: Callable[[], None]) -> list[str]:
    # keys are of what is there before a piece is run: whoever changes a file meanwhile has it run once more
    keyed = [(piece, _key(piece)) for piece in stage]
    waiting, running, failed = [(piece, key) for piece, key in keyed if not _take(piece, key, store)], {}, []
    if waiting and _FORKS:
        load_packages()
    while waiting or running:
        while waiting and len(running) < n_at_once:
            process = _CONTEXT.Process(target=_run, args=(waiting[0][0], os.getpid()))
            process.start()
            running[process.sentinel] = process, waiting.pop(0)
        for sentinel in connection.wait(running):
            process, (piece, key) = running.pop(sentinel)
            process.join()
            if process.exitcode:
                failed.append(f"{piece.given['log'][0]} ({_end(process.exitcode)})")
            else:
                _keep(piece, key, store)
    return failed


def _load_packages() -> None:
    """Load what most pieces need, which copies of this process have then."""
    for package in PACKAGES:
        import_module(package)


def _end(status: int) -> str:
    """How a process ended that did not end well."""
    return f"exit status {status}" if status > 0 else f"ended by {signal.Signals(-status).name}"


def _run(piece: Piece, job: int) -> None:
    _end_with(job)
    try:
        with disk_faults():
            _run_and_measure(piece)
    except StudyError as error:
        sys.exit(f"{type(error).__name__}: {error}")


def _end_with(parent: int) -> None:
    """End this process when its parent does, however that ends; where the system cannot say so, it ends by itself."""
    if sys.platform == "linux":
        set_signal_of_parents_death = 1
        ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)
        if os.getppid() != parent:  # which has ended before the system was told
            os.kill(os.getpid(), signal.SIGKILL)


def _run_and_measure(piece: Piece) -> None:
    begun = time.monotonic()
    for path in (*piece.given["log"], *piece.given["output"]):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    try:
        runpy.run_path(piece.script, init_globals={"snakemake": SimpleNamespace(**piece.given)})
    finally:
        if piece.benchmark is not None:
            _write_benchmark(Path(piece.benchmark), time.monotonic() - begun)


def _write_benchmark(path: Path, seconds: float) -> None:
    """What this process took, in the columns of Snakemake's benchmarks."""
    row = {
        "s": f"{seconds:.4f}",
        "h:m:s": time.strftime("%H:%M:%S", time.gmtime(seconds)),
        "max_rss": f"{max_rss():.2f}",
        **dict.fromkeys(("max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load"), "NA"),
        "cpu_time": f"{cpu_seconds():.2f}",
    }
    with atomic_open(path, "w", encoding="utf-8") as stream:
        stream.writelines("\t".join(each) + "\n" for each in (row, row.values()))


def _take(piece: Piece, key: str | None, store: Path) -> bool:
    """Put the kept files in place, where they are of this key and as they were when they were kept."""
    kept, outputs = _place(piece, store), piece.given["output"]
    files = [kept / str(number) for number in range(len(outputs))]
    try:
        known = json.loads((kept / _KEY).read_text("utf-8"))
        if key is None or known["key"] != key or [_digest(path) for path in files] != known["files"]:
            return False
        for path, output in zip(files, outputs, strict=True):
            _link(path, Path(output))
            os.utime(output)  # newer than its inputs, by whose dates Snakemake goes
    except (OSError, ValueError, KeyError):
        return False
    return True


def _keep(piece: Piece, key: str | None, store: Path) -> None:
    """Keep what a piece made; where that cannot be, or another run does the same at this moment, it is made anew."""
    if key is None:
        return
    kept, outputs = _place(piece, store), piece.given["output"]
    new = kept.with_name(f"{kept.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        for number, output in enumerate(outputs):
            _link(Path(output), new / str(number))
        text = json.dumps({"key": key, "files": [_digest(Path(output)) for output in outputs]})
        (new / _KEY).write_text(text, "utf-8")
        shutil.rmtree(kept, ignore_errors=True)
        new.rename(kept)
    shutil.rmtree(new, ignore_errors=True)


def _place(piece: Piece, store: Path) -> Path:
    """Folder of what the piece made last, whatever its key: so that nothing old piles up."""
    return store / hashlib.sha256(repr(list(piece.given["output"])).encode()).hexdigest()[:24]


def _key(piece: Piece) -> str | None:
    """Checksum of all that the outputs of a piece depend on; None where an input is missing, as it will say itself."""
    named = ("output", "params", "wildcards")
    parts = [[kind, sorted(map(repr, piece.given[kind].items())), list(piece.given[kind])] for kind in named]
    try:
        inputs = list(map(_digest_now, piece.given["input"]))
    except OSError:
        return None
    text = json.dumps([Path(piece.script).name, parts, inputs, _versions()], default=repr, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _versions() -> list[str]:
    """Of Python and of the libraries that compute; other versions of these may give other numbers."""
    return [sys.version, *(f"{name} {version(name)}" for name in LIBRARIES)]


def _link(source: Path, target: Path) -> None:
    """One file under two names, which takes no space; results are replaced as a whole, so that neither changes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)


def _digest_now(path: str) -> str:
    status = Path(path).stat()
    return _digest_as_it_is(path, status.st_size, status.st_mtime_ns)


@cache
def _digest_as_it_is(path: str, size: int, date: int) -> str:
    return _digest(Path(path))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
