"""``python -m fairfold doctor``: whether this machine has what a study needs, and what is where."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil

from fairfold.errors import ConfigError, StudyError
from fairfold.files import check_writable
from fairfold.home import PROJECT

_LOCK = PROJECT / "envs" / "requirements.lock"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_TOOLS = {"git": "changes of your own", "apptainer": "containers", "conda": "its environments", "sbatch": "Slurm"}


def add_to(commands: argparse._SubParsersAction) -> None:
    """What the command takes."""
    parser = commands.add_parser(
        "doctor",
        help="versions, threads, caches and mirrors of this machine, and what is wrong with them",
        description="Say what a study finds on this machine. Ends with 1 where something would stop or change it.",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print what there is; what is wrong comes last.

    Raises
    ------
    ConfigError
        When something is wrong.
    """
    wrong: list[str] = []
    for title, lines in (
        ("Versions", _versions(wrong)),
        ("Machine", _machine(wrong)),
        ("Folders", _folders(wrong)),
        ("Tools that some studies use", _tools()),
    ):
        print(f"{title}\n" + "".join(f"  {name:<24} {value}\n" for name, value in lines))
    if wrong:
        raise ConfigError(" ".join(wrong))
    print("Nothing is wrong.")


def _versions(wrong: list[str]) -> Iterator[tuple[str, str]]:
    """What is installed; what the lock has another version of changes last digits, and may change more."""
    from fairfold.report.versions import gather_versions

    locked = (
        dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", _LOCK.read_text(), re.MULTILINE)) if _LOCK.is_file() else {}
    )
    others, missing = [], []
    for software, version in gather_versions().itertuples(index=False):
        expected = locked.get(software, version)
        if version == "not installed":
            missing.append(software)
        elif version != expected:
            others.append(software)
        yield software, version if version == expected else f"{version} (the lock has {expected})"
    if missing:
        wrong.append(f"{', '.join(missing)} is missing; install what envs/requirements.lock names.")
    if others:
        wrong.append(
            f"{', '.join(others)} has another version than the lock: results may differ from those of others; "
            "`make study` installs the lock's."
        )


def _machine(wrong: list[str]) -> Iterator[tuple[str, str]]:
    memory, space = psutil.virtual_memory(), shutil.disk_usage(Path.cwd())
    yield (
        "cores",
        f"{len(psutil.Process().cpu_affinity())} of {os.cpu_count()}" if _has_affinity() else str(os.cpu_count()),
    )
    yield "memory", f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB are free"
    yield "disk here", f"{space.free / 2**30:.1f} GiB are free"
    for name in _THREADS:
        if name in os.environ:
            yield name, os.environ[name]
    if memory.total < 2 * 2**30:
        wrong.append("the machine has less than 2 GiB of memory, which the quick study needs.")


def _has_affinity() -> bool:
    return hasattr(psutil.Process, "cpu_affinity")


def _folders(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from fairfold.datasets.fetch import default_cache
    from fairfold.datasets.preparation import environment_mirrors

    cache, compiled = default_cache(), Path(os.environ["NUMBA_CACHE_DIR"])
    for name, folder in (("downloaded data", cache), ("compiled code", compiled)):
        yield name, f"{folder} ({_size(folder)})"
        try:
            check_writable(folder)
        except StudyError as error:
            wrong.append(str(error))
    for mirror in environment_mirrors():
        yield "FAIRFOLD_MIRROR", f"{mirror} ({_size(Path(mirror))})"
        if not Path(mirror).is_dir():
            wrong.append(f"FAIRFOLD_MIRROR names {mirror}, which is no folder; mend or unset it.")


def _size(folder: Path) -> str:
    if not folder.is_dir():
        return "not there yet"
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return f"{len(sizes)} files, {sum(sizes) / 2**20:.0f} MiB"


def _tools() -> Iterator[tuple[str, str]]:
    for tool, use in _TOOLS.items():
        yield tool, shutil.which(tool) or f"not found ({use})"
