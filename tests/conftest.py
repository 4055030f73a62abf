"""Fixtures shared by several test folders."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# As in jobs of a study. Waiting threads of matrix products would use most of the processor time of small inputs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
SLOW = ROOT / "tests" / "slow.txt"  # tests with slow cases (half a second or more)


# The first file compiles all code. Meanwhile, another worker runs the files that need little of it.
FIRST = ("study", "planning", "package", "configuration", "software", "module", "commands")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Return the folder with real data files, or skip the test if it is missing."""
    folder = os.environ.get("FAIRFOLD_MIRROR", "").split(os.pathsep)[0]
    if not folder or not Path(folder).is_dir():
        pytest.skip("no real data: FAIRFOLD_MIRROR names no folder with data files")
    return Path(folder)


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="of each test its first case only, and none of tests/slow.txt")


def pytest_collection_modifyitems(config, items):
    first = {f"test_{name}.py": rank - len(FIRST) for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: first.get(item.path.name, 0) if "workflow" in item.path.parts else 0)
    if not config.getoption("fast"):
        return
    slow = {*SLOW.read_text().split()}
    first = {}
    for item in items:
        first.setdefault(item.nodeid.partition("[")[0], item)
    kept = {item for name, item in first.items() if name not in slow}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]
