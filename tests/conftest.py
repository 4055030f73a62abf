"""Fixtures that several test folders share."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Folder with real data files; the test is skipped where there is none."""
    folder = os.environ.get("FAIRFOLD_MIRROR", "").split(os.pathsep)[0]
    if not folder or not Path(folder).is_dir():
        pytest.skip("no real data: FAIRFOLD_MIRROR names no folder with data files")
    return Path(folder)
