"""``fairfold doctor``: check whether this machine can run a study."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from fairfold.commands.study import CONFIGURATION
from fairfold.core.files import check_writable
from fairfold.core.project import IS_CHECKOUT, PROJECT
from fairfold.errors import ConfigError, StudyError

if TYPE_CHECKING:
    from fairfold.datasets.settings import Data

_LOCK = PROJECT / "envs" / "requirements.lock"
_CONFIGURATIONS = (CONFIGURATION, "config/config.yaml")  # default configuration files, in order of precedence


def add_to(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse._SubParsersAction
        Subparsers of the command line.
    """
    parser = commands.add_parser(
        "doctor",
        help="check versions, memory, caches and mirrors of this machine",
        description="Check whether this machine can run a study. The exit status is 1 if something would stop a study "
        "or change its results.",
    )
    parser.add_argument(
        "--configfile",
        type=Path,
        metavar="FILE",
        help=f"configuration with mirrors and a cache (default: {' or '.join(_CONFIGURATIONS)}, if it exists)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the state of the machine, then notes, then problems.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.

    Raises
    ------
    ConfigError
        If there is a problem.
    """
    notes: list[str] = []
    wrong: list[str] = []
    folders = _folders(options.configfile, wrong)
    for title, lines in (("Versions", _versions(notes, wrong)), ("Machine", _machine(wrong)), ("Folders", folders)):
        print(f"{title}\n" + "".join(f"  {name:<24} {value}\n" for name, value in lines))
    for note in notes:
        print(f"Note: {note}")
    if wrong:
        raise ConfigError(" ".join(wrong))
    print("Nothing is wrong.")


def _versions(notes: list[str], wrong: list[str]) -> Iterator[tuple[str, str]]:
    """Yield installed versions; versions other than the locked ones may change results."""
    from fairfold.core.versions import NOT_INSTALLED, dependencies, gather_versions

    lock = _LOCK.read_text() if _LOCK.is_file() else ""
    locked = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE))
    others, missing = [], []
    for software, version in gather_versions().itertuples(index=False):
        expected = locked.get(software, version)
        if version == NOT_INSTALLED:
            missing.append(software)
        elif version != expected:
            others.append(software)
        yield software, version if version == expected else f"{version} (the lock has {expected})"
    _, studies = dependencies()
    if of_studies := [name for name in missing if name in studies]:
        notes.append(f"studies also need {', '.join(of_studies)}. Run `pip install 'fairfold[study]'`.")
    if of_library := [name for name in missing if name not in studies]:
        wrong.append(f"the library needs {', '.join(of_library)}. Run `pip install fairfold`.")
    if others and IS_CHECKOUT:
        wrong.append(
            f"versions of {', '.join(others)} differ from the lock file, so results may differ. Run `make study` to "
            "install the locked versions."
        )
    elif others:
        notes.append(
            f"versions of {', '.join(others)} differ from the tested ones in {_LOCK}, so the last digits of results "
            "may differ."
        )


def _machine(wrong: list[str]) -> Iterator[tuple[str, str]]:
    from joblib import cpu_count

    memory, space = psutil.virtual_memory(), shutil.disk_usage(Path.cwd())
    yield "cores", f"{cpu_count()} of {os.cpu_count()}"
    yield "memory", f"{memory.available / 2**30:.1f} of {memory.total / 2**30:.1f} GiB are free"
    yield "disk here", f"{space.free / 2**30:.1f} GiB are free"
    if memory.total < 2 * 2**30:
        wrong.append("the machine has less than the 2 GiB of memory that the quick study needs.")


def _folders(configuration: Path | None, wrong: list[str]) -> Iterator[tuple[str, str]]:
    from fairfold.core.compiled import cache_folder
    from fairfold.datasets.fetch import default_cache
    from fairfold.datasets.preparation import environment_mirrors

    settings = _data_settings(configuration, wrong)
    cache = Path(settings.cache or default_cache()).expanduser()
    for name, folder in (("downloaded data", cache), ("compiled code", Path(cache_folder()))):
        yield name, str(folder)
        try:
            check_writable(folder)
        except StudyError as error:
            wrong.append(str(error))
    for name, mirrors in (("data.mirrors", settings.mirrors), ("FAIRFOLD_MIRROR", environment_mirrors())):
        for mirror in mirrors:
            yield name, str(mirror)
            if not Path(mirror).expanduser().is_dir():
                wrong.append(f"{name} names {mirror}, which is not a folder. Correct or unset it.")
        if not mirrors:
            yield name, "none"


def _data_settings(configuration: Path | None, wrong: list[str]) -> Data:
    """Read the data section of the configuration; the defaults without a configuration."""
    from fairfold.core.config import load_yaml
    from fairfold.datasets.settings import Data
    from fairfold.planning.check import check_config

    if path := configuration or next(filter(Path.is_file, map(Path, _CONFIGURATIONS)), None):
        try:
            return check_config(load_yaml(path), [path]).data
        except StudyError as error:
            wrong.append(str(error))
    return Data()
