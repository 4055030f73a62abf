"""Errors that a user can act on.

A message states the location (key, file, row or column), the problem, the allowed values and a solution. All other
exceptions are bugs of this package.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Collection, Iterable, Sequence

CONTINUES = "Run the same command again to continue; finished results are kept."
"""Advice for a study that has stopped."""


class StudyError(Exception):
    """Base class of errors that the input of a study causes."""

    status = 1
    """Exit status of a command that ends with the error."""


class InterruptedStudyError(StudyError):
    """Error for a command that a signal has ended.

    Parameters
    ----------
    number : int
        Number of the signal.

    Examples
    --------
    >>> error = InterruptedStudyError(15)
    >>> print(error, error.status)
    The command was interrupted. Run the same command again to continue; finished results are kept. 143
    """

    def __str__(self) -> str:
        return f"The command was interrupted. {CONTINUES}"

    @property
    def status(self) -> int:  # type: ignore[override]
        """Exit status as shells state it for a signal."""
        return 128 + int(self.args[0])


class ConfigError(StudyError):
    """Error for a configuration or dataset catalog with unknown or invalid values."""


class DataError(StudyError):
    """Error for a data file that is missing, damaged or inconsistent with its catalog entry."""


class CellError(DataError):
    """Error for a cell that cannot be read as a number.

    Parameters
    ----------
    problem : str
        Location and content of the cell, as a sentence.
    advice : str
        What to do about it in a study, as a sentence.
    advice_if_needed : str, default=None
        What to do if the column is needed, as for a final model. By default, to write a number or to leave the cell
        empty.

    Examples
    --------
    >>> print(CellError("row 2, column 'leaf': found 'x', which is not a number.", "Correct the cell."))
    row 2, column 'leaf': found 'x', which is not a number. Correct the cell.
    """

    def __init__(self, problem: str, advice: str, advice_if_needed: str | None = None) -> None:
        super().__init__(problem, advice)
        self.advice_if_needed = advice_if_needed or "Write a number, or leave the cell empty."

    def __str__(self) -> str:
        return " ".join(self.args)


class DamagedFileError(DataError):
    """Error for a damaged file that a study or a command wrote.

    Parameters
    ----------
    path : str
        Damaged file.
    kind : str
        Expected content, such as ``"a dataset"``.
    flaw : str
        Reason why the file cannot be read.

    Examples
    --------
    >>> print(DamagedFileError("folds.npz", "an array file", "the file is empty"))
    folds.npz: expected an array file, found damage (the file is empty). Delete the file and run the same command again.
    """

    def __str__(self) -> str:
        path, kind, flaw = self.args
        return f"{path}: expected {kind}, found damage ({flaw}). Delete the file and run the same command again."


class SplitError(StudyError, ValueError):
    """Error for folds that cannot be made. It is also a ``ValueError``, as in scikit-learn."""


class ModelError(StudyError, ValueError):
    """Error for a model that cannot be built or fitted. It is also a ``ValueError``, as in scikit-learn."""


class UnevenFoldsWarning(UserWarning):
    """Warning about folds of uneven size, because groups stay whole."""


def first_sentence(error: BaseException) -> str:
    """Return the first line of an error message of another library, without the final period.

    Parameters
    ----------
    error : Exception
        Error of another library.

    Returns
    -------
    str
        First line, without general advice.

    Examples
    --------
    >>> first_sentence(ValueError("Input X contains NaN."))
    'Input X contains NaN'
    """
    return str(error).strip().split("\n")[0].rstrip(".:")


MOST_NAMES = 10  # Maximum number of names in a sentence, a line of the log or a cell of a table.
_LONGEST = 60  # characters of a text of the user in a message


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Build the sentence for an unknown name, with the most similar known names or with all of them.

    Parameters
    ----------
    kind : str
        Kind of the name, for example ``"dataset"``.
    name : str
        Unknown name.
    known : iterable of str
        Known names.

    Returns
    -------
    str
        Sentence.

    Examples
    --------
    >>> unknown_name("dataset", "yaest", ["flags", "yeast"])
    "unknown dataset 'yaest': did you mean 'yeast'?"
    """
    names = sorted(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    wanted = str(name).casefold()
    matches = difflib.get_close_matches(wanted, folded, n=1, cutoff=0.85) or difflib.get_close_matches(wanted, folded)
    near = [folded[match] for match in matches]
    if near:
        return f"unknown {kind} {name!r}: did you mean {' or '.join(map(repr, near))}?"
    return f"unknown {kind} {name!r}: known are {', '.join(names)}."


def check_name(kind: str, name: str, known: Collection[str], error: type[Exception], where: str = "") -> None:
    """Raise an error for an unknown name; see :func:`unknown_name`.

    Parameters
    ----------
    kind : str
        Kind of the name, for example ``"dataset"``.
    name : str
        Name to check.
    known : collection of str
        Known names.
    error : type
        Exception to raise.
    where : str, default=""
        Place of the name, which starts the message.

    Raises
    ------
    Exception
        ``error``, if the name is unknown.

    Examples
    --------
    >>> check_name("dataset", "yaest", ["flags", "yeast"], ConfigError, "config")
    Traceback (most recent call last):
    fairfold.errors.ConfigError: config: unknown dataset 'yaest': did you mean 'yeast'?
    """
    if name not in known:
        raise error((f"{where}: " if where else "") + unknown_name(kind, name, known))


def shortened(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Join names by commas, and abbreviate long lists.

    Parameters
    ----------
    names : sequence of str
        Names to join.
    most : int, default=10
        Maximum number of names to show.

    Returns
    -------
    str
        First names, followed by the number of other names.

    Examples
    --------
    >>> shortened(["flags", "scene", "yeast"], most=2)
    'flags, scene and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def abbreviated(text: str) -> str:
    """Abbreviate a text of the user for a message.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        At most 60 characters.

    Examples
    --------
    >>> abbreviated("Rosa " * 20)
    'Rosa Rosa Rosa Rosa Rosa Rosa Rosa Rosa Rosa Rosa Rosa [...]'
    """
    return textwrap.shorten(text, _LONGEST) or text[:_LONGEST]


def quoted(text: str) -> str:
    """Quote a text of the user in a message, abbreviated and without spaces around it.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        Quoted text.

    Examples
    --------
    >>> quoted(" Rosa   canina")
    "'Rosa canina'"
    """
    return repr(textwrap.shorten(text, _LONGEST))


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and".

    Parameters
    ----------
    names : sequence of str
        Names to join.

    Returns
    -------
    str
        Names in one phrase.

    Examples
    --------
    >>> listed(["flags", "scene", "yeast"])
    'flags, scene and yeast'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def same_for(places: Sequence[str], most: int = MOST_NAMES - 1) -> str:
    """Build the sentence that lists the places of further errors of the same kind.

    Parameters
    ----------
    places : sequence of str
        Places after the first one.
    most : int, default=9
        Maximum number of places to list.

    Returns
    -------
    str
        Sentence with a leading space. Empty without places.

    Examples
    --------
    >>> same_for(["row 3", "row 7", "row 9"], most=2)
    ' The same holds for row 3, row 7 and others.'
    """
    named = list(places[:most])
    if len(places) > most:
        named.append("others")
    return f" The same holds for {listed(named)}." if named else ""


def count(number: float, noun: str) -> str:
    """Return a number and a noun in the right form.

    Parameters
    ----------
    number : float
        Whole number.
    noun : str
        Noun in the singular.

    Returns
    -------
    str
        Number and noun.

    Examples
    --------
    >>> count(1060, "row")
    '1,060 rows'
    """
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"
