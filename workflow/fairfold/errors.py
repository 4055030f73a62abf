"""Errors that a user can act on.

Every message is one sentence or two: what is wrong, where (key, file, row, column), what is allowed and what to do.
Anything else that is raised is a bug of ours.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class StudyError(Exception):
    """Base of all errors that are caused by the study's input rather than by a bug."""


class ConfigError(StudyError):
    """The configuration or the dataset catalog asks for something that does not exist or is not allowed."""


class DataError(StudyError):
    """A data file is missing, damaged, or does not hold what its entry says."""


class DamagedFileError(DataError):
    """A file that a study or a command wrote cannot be read back.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        The expected content, such as ``"a dataset"``.
    flaw : str
        The reason why the file cannot be read.

    Examples
    --------
    >>> print(DamagedFileError("folds.npz", "an array file", "the file is empty"))
    folds.npz: expected an array file, found damage (the file is empty). Delete the file and run the same command again.
    """

    def __init__(self, path: str, kind: str, flaw: str) -> None:
        super().__init__(path, kind, flaw)
        self.path = path

    def __str__(self) -> str:
        path, kind, flaw = self.args
        return f"{path}: expected {kind}, found damage ({flaw}). Delete the file and run the same command again."


class SplitError(StudyError, ValueError):
    """Folds cannot be made as asked. A ``ValueError`` too, as scikit-learn's splitters raise."""


class ModelError(StudyError, ValueError):
    """A model cannot be built or fitted as asked. A ``ValueError`` too, as scikit-learn's estimators raise."""


class UnevenFoldsWarning(UserWarning):
    """Groups that stay whole make folds of uneven size."""


def first_sentence(error: Exception) -> str:
    """What another library says before it goes on with general advice, without a full stop."""
    return str(error).strip().split("\n")[0].rstrip(".:")


MOST_NAMES = 10  # in a sentence, a line of the log or a cell of a table


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Sentence for a misspelt name: the nearest known ones, or all of them when none is near.

    Parameters
    ----------
    kind : what the name stands for, for example ``"dataset"``.
    name : the name that was given.
    known : the names that exist.
    """
    names = sorted(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    wanted = str(name).casefold()
    matches = difflib.get_close_matches(wanted, folded, n=1, cutoff=0.85) or difflib.get_close_matches(wanted, folded)
    near = [folded[match] for match in matches]
    if near:
        return f"unknown {kind} {name!r}: did you mean {' or '.join(map(repr, near))}?"
    return f"unknown {kind} {name!r}: known are {', '.join(names)}."


def shortened(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names joined by commas; of many only the first, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
