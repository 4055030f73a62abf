"""Helpers that share the compiled code of the library with copies of it."""

import contextlib
import hashlib
from pathlib import Path

from fairfold.core.compiled import cache_folder


@contextlib.contextmanager
def shared_with(library: Path, original: Path):
    """Share the original's compiled code with a copy of the library, except for sources that differ."""
    links = []
    for package in {path.parent.name for path in library.glob("*/*.py") if "import njit" in path.read_text("utf-8")}:
        link, folder = numba_folder(library / package), numba_folder(original / package)
        folder.mkdir(exist_ok=True)
        link.symlink_to(folder)
        links.append(link)
    try:
        yield
    finally:
        for link in links:
            link.unlink()


def numba_folder(package: Path) -> Path:
    """Return the folder of a package's compiled code, which Numba names after the path of its sources."""
    digest = hashlib.sha1(str(package).encode()).hexdigest()
    return Path(cache_folder(), f"{package.name}_{digest}")
