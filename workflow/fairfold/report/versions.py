"""Versions of what made a study."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import pandas as pd

from fairfold import __version__

LIBRARY = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "numba",
    "llvmlite",
    "psutil",
    "joblib",
    "threadpoolctl",
    "platformdirs",
    "requests",
    "urllib3",
    "tenacity",
    "tqdm",
    "rdata",
    "liac-arff",
    "skops",
    "defusedxml",
    "pydantic",
    "pyyaml",
)
STUDIES = (
    "snakemake",
    "lightgbm",
    "matplotlib",
    "pillow",
    "pyarrow",
    "openpyxl",
    "zstandard",
    "jinja2",
    "docutils",
    "pygments",
)
"""What the library needs, and what studies need besides: the extra ``study``."""

NOT_INSTALLED = "not installed"


def gather_versions() -> pd.DataFrame:
    """Versions of fairfold, Python and the packages that fairfold builds on, and the kind of machine.

    Returns
    -------
    DataFrame with the columns ``software, version``
    """
    rows = [("fairfold", __version__), ("Python", platform.python_version())]
    rows += [(name, _version(name)) for name in (*LIBRARY, *STUDIES)]
    rows.append(("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"))
    return pd.DataFrame(rows, columns=["software", "version"])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
