"""One file of a dataset, and whether a copy is it, by size and digests."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path

from fairfold.errors import DataError

_GIT_BLOB = "git blob SHA-1"


@dataclasses.dataclass(frozen=True)
class DataFile:
    """One file of a dataset: where it can be had and how to know that it is the right one.

    Attributes
    ----------
    name : plain file name, without folders.
    urls : http or https addresses, in order of preference.
    size : length in bytes.
    sha256 : SHA-256 of the content, in hexadecimal as all digests.
    git_blob : SHA-1 that git gives the file, ``sha1(b"blob <size>\\0" + content)``.
    record_sha256 : when no digest is published, record the SHA-256 of the first copy in the cache beside it, in
        ``<name>.sha256`` as ``sha256sum`` writes, and hold all later copies to it.
    """

    name: str
    urls: tuple[str, ...] = ()
    size: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    record_sha256: bool = False

    def digests(self) -> dict[str, str]:
        """The digests that are given, by the name of their algorithm."""
        known = {"SHA-256": self.sha256, _GIT_BLOB: self.git_blob}
        return {algorithm: digest for algorithm, digest in known.items() if digest is not None}

    @property
    def needs_record(self) -> bool:
        """Whether the SHA-256 of a copy is to be recorded, because no digest is known."""
        return self.record_sha256 and not self.digests()


def verify(path: str | os.PathLike[str], file: DataFile) -> None:
    """Check that ``path`` holds ``file``: first its size, then every digest that is given.

    Raises
    ------
    DataError
        When it cannot be read, or a size or digest differs; names the algorithm, what was found and what is expected.
    """
    try:
        flaw = flaw_of(Path(path), file)
    except OSError as error:
        flaw = f"it cannot be read ({error.strerror})"
    if flaw:
        raise DataError(f"{path} is not the file that its entry describes: {flaw}. Replace it by the right one.")


def flaw_of(path: Path, file: DataFile) -> str | None:
    """What tells the content of ``path`` from ``file``, first its size; None when nothing does.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    if not path.is_file():
        return "there is no such file"
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        return f"its size is {size} bytes, expected {file.size}"
    for algorithm, expected in file.digests().items():
        git_header = b"blob %d\0" % size
        digest = hashlib.sha1(git_header, usedforsecurity=False) if algorithm == _GIT_BLOB else hashlib.sha256()
        with path.open("rb") as stream:
            hashlib.file_digest(stream, lambda digest=digest: digest)
        if digest.hexdigest() != expected.lower():
            return f"its {algorithm} is {digest.hexdigest()}, expected {expected}"
    return None
