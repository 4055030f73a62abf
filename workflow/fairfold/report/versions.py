"""Versions of what made a study."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import pandas as pd

from fairfold import __version__

PACKAGES = (
    "snakemake",
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "pandas",
    "matplotlib",
    "pillow",
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
    "pyarrow",
    "openpyxl",
    "zstandard",
    "skops",
    "defusedxml",
    "jsonschema",
    "pyyaml",
    "jinja2",
    "docutils",
    "pygments",
)


def gather_versions() -> pd.DataFrame:
    """Versions of fairfold, Python and the packages that fairfold builds on, and the kind of machine.

    Returns
    -------
    DataFrame with the columns ``software, version``
    """
    rows = [("fairfold", __version__), ("Python", platform.python_version())]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows.append(("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"))
    return pd.DataFrame(rows, columns=["software", "version"])


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
