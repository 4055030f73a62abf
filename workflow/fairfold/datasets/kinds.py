"""Detection of a table's format from its content, packed or not."""

from __future__ import annotations

import codecs
import contextlib
import re
from pathlib import Path
from typing import Literal

from fairfold.datasets.rows import open_unpacked
from fairfold.errors import DataError

_BEGINNING = 1 << 16  # bytes
_LINES = 20
_COUNTS = re.compile(r"\d+ +\d+ +\d+")
_LABELS = r"[+-]?\d+(?:\.\d*)?(?:,[+-]?\d+(?:\.\d*)?)*"
_SVMLIGHT = re.compile(rf"(?:{_LABELS})?(?:\s+qid:\d+)?(?P<entries>(?:(?:^|\s+)\d+:[^\s:]+)*)\s*(?:#.*)?")


def format_of(path: Path) -> Literal["csv", "arff", "svmlight"]:
    """Return the format of a table that a user names.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    {"csv", "arff", "svmlight"}
        ``"svmlight"`` includes the text format of the Extreme Classification Repository. ``"csv"`` stands for all
        other files, including those that cannot be read.
    """
    lines = _first_lines(path)
    first = next((line for line in lines if not line.startswith("%")), "")
    if first.lower().split()[:1] == ["@relation"]:
        return "arff"
    lines = [line for line in lines if not line.startswith("#")]
    found = [_SVMLIGHT.fullmatch(line) for line in (lines[1:] if has_counts(lines[:1]) else lines)[:_LINES]]
    return "svmlight" if all(found) and any(one["entries"] for one in found) else "csv"


def has_counts(lines: list[str]) -> bool:
    """Return whether the first line contains the numbers of samples, features and labels.

    Examples
    --------
    >>> has_counts(["100 20 5"]), has_counts(["1,2 5:0.5"])
    (True, False)
    """
    return any(_COUNTS.fullmatch(line.strip()) for line in lines[:1])


def _first_lines(path: Path) -> list[str]:
    """Return the lines at the start of a file that are not blank, the last one up to a space."""
    head = b""
    with contextlib.suppress(DataError, OSError), open_unpacked(path) as stream:
        head = stream.read(_BEGINNING)
    encoding = "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    lines = head.decode(encoding, "ignore").splitlines()
    if len(head) == _BEGINNING and lines:
        lines[-1] = lines[-1].rpartition(" ")[0]
    return [line.strip() for line in lines if line.strip()]
