"""Software versions of a study."""

from __future__ import annotations

import os
import platform
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pandas as pd
import psutil

from fairfold import __version__
from fairfold.core.project import PROJECT

NOT_INSTALLED = "not installed"


def gather_versions() -> pd.DataFrame:
    """Return the versions of fairfold, Python and required packages, and the kind of machine.

    Returns
    -------
    DataFrame
        Columns ``software, version``.

    Examples
    --------
    >>> gather_versions()["software"].head(2).tolist()
    ['fairfold', 'Python']
    """
    rows = [("fairfold", __version__), ("Python", platform.python_version())]
    library, studies = dependencies()
    rows += [(name, _version(name)) for name in library + studies]
    system, memory = f"{platform.system()} {platform.release()}", psutil.virtual_memory().total / 2**30
    kind = " ".join(filter(None, [system, platform.machine(), _processor()]))
    rows.append(("machine", f"{kind}, {os.cpu_count()} cores, {memory:.0f} GiB of memory"))
    return pd.DataFrame(rows, columns=["software", "version"])


def dependencies() -> tuple[list[str], list[str]]:
    """Return the packages that fairfold requires.

    They are read from ``pyproject.toml``, or from the metadata of the installed package.

    Returns
    -------
    library : list of str
        Names of the packages that the library requires.
    studies : list of str
        Names of the additional packages that studies require.

    Examples
    --------
    >>> library, studies = dependencies()
    >>> "numpy" in library
    True
    """
    declaration = PROJECT / "pyproject.toml"
    if declaration.exists():
        project = tomllib.loads(declaration.read_text(encoding="utf-8"))["project"]
        library, studies = project["dependencies"], project["optional-dependencies"]["study"]
    else:
        wanted = metadata.requires("fairfold") or []
        library = [each for each in wanted if "extra ==" not in each]
        studies = [each for each in wanted if 'extra == "study"' in each]
    return _names(library), _names(studies)


def _names(requirements: list[str]) -> list[str]:
    return [re.split(r"[^\w-]", each, maxsplit=1)[0] for each in requirements]


def _processor() -> str:
    """Return the name of the processor in parentheses, or nothing if the system does not give it."""
    listing = Path("/proc/cpuinfo")
    text = listing.read_text(encoding="utf-8") if listing.is_file() else f"model name : {platform.processor()}"
    found = re.search(r"^model name\s*: *(.+)$", text, re.MULTILINE)
    return f"({found[1].strip()})" if found else ""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
