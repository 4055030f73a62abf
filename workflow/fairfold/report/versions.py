"""Versions of what made a study."""

from __future__ import annotations

import os
import platform
import re
import tomllib
from importlib import metadata

import pandas as pd

from fairfold import __version__
from fairfold.core.home import PROJECT

NOT_INSTALLED = "not installed"


def gather_versions() -> pd.DataFrame:
    """Return the versions of fairfold, Python and the packages that studies need, and the kind of machine.

    Returns
    -------
    DataFrame with the columns ``software, version``
    """
    rows = [("fairfold", __version__), ("Python", platform.python_version())]
    rows += [(name, _version(name)) for name in dependencies()]
    rows.append(("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"))
    return pd.DataFrame(rows, columns=["software", "version"])


def dependencies() -> list[str]:
    """Return the names of the packages that the library and studies need, as ``pyproject.toml`` declares them."""
    declaration = PROJECT / "pyproject.toml"
    if declaration.exists():
        project = tomllib.loads(declaration.read_text(encoding="utf-8"))["project"]
        wanted = [*project["dependencies"], *project["optional-dependencies"]["study"]]
    else:  # installed from a wheel
        wanted = metadata.requires("fairfold") or []
        wanted = [each for each in wanted if "extra ==" not in each or 'extra == "study"' in each]
    return [re.split(r"[^\w-]", each, maxsplit=1)[0] for each in wanted]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
