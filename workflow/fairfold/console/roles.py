"""Guess the roles of the columns of a table, as options of a command."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfold.console.options import OF_A_TABLE
from fairfold.core.arrays import with_sparsity
from fairfold.core.defaults import N_SPLITS
from fairfold.datasets.audit.columns import kind_of_name
from fairfold.datasets.columns import plain_name
from fairfold.errors import StudyError

if TYPE_CHECKING:
    from fairfold.datasets import Dataset

# These patterns match whole names in the form of plain_name().
_GROUPS = re.compile(
    r"(\w+_)?(patient|subject|participant|donor|person|animal|site|station|plot|transect|region|area|district|country"
    r"|county|location|locality|field|farm|forest|island|lake|river|block|batch|plate|lab|laboratory|hospital|clinic"
    r"|centre|center|school|family|herd|cluster|group|cohort)s?(_(id|name|code|no|nr|number))?"
)
_ORDER = ("--ignore", "--id", "--groups", "--weights", "--dates")
_WEIGHTS = re.compile(r"(sample|case|instance|survey)_?weights?")
SCORES_TOO_GOOD = "Without them, scores may be too good for new groups or later dates."
"""Line on groups or dates that are not declared."""


class Guess(NamedTuple):
    """Role that a column probably has.

    Attributes
    ----------
    option : str
        Option of the role.
    column : str
        Name of the column.
    reason : str
        What the column contains, as a phrase after its name.
    """

    option: str
    column: str
    reason: str


def guess_roles(
    data: Dataset, options: argparse.Namespace, read: Callable[[argparse.Namespace], Dataset]
) -> tuple[list[Guess], list[Guess]]:
    """Guess which columns identify, group, date or weight the samples.

    Parameters
    ----------
    data : Dataset
        Dataset of the table, with the roles that options declare.
    options : argparse.Namespace
        Parsed arguments. An option that is given is not guessed.
    read : callable
        Function of options that reads the table.

    Returns
    -------
    guesses : list of Guess
        Guesses that fit together, at most one column for each option except ``--ignore``.
    others : list of Guess
        Guesses that the table does not allow together with these.
    """
    found: dict[str, list[Guess]] = {option: [] for option in _ORDER}
    for guess in _guesses(data, options):
        found[guess.option].append(guess)
    # Of nested groups, the larger ones keep the smaller ones together.
    found["--groups"].sort(key=lambda guess: len(np.unique(_codes(data, guess.column))))
    guesses = [each for option, some in found.items() for each in (some if option == "--ignore" else some[:1])]
    others: list[Guess] = []
    while guesses:
        with contextlib.suppress(StudyError):
            read(with_guesses(options, guesses))
            break
        others.append(guesses.pop())
    return guesses, others


def with_guesses(options: argparse.Namespace, guesses: Sequence[Guess]) -> argparse.Namespace:
    """Return options with guessed roles.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments.
    guesses : sequence of Guess
        Guesses of :func:`guess_roles`.

    Returns
    -------
    argparse.Namespace
        Arguments.
    """
    arguments = argparse.Namespace(**vars(options))
    for guess in guesses:
        name = guess.option.removeprefix("--")
        setattr(arguments, name, [*arguments.ignore, guess.column] if name == "ignore" else guess.column)
    return arguments


def lines_on_roles(
    options: argparse.Namespace, guesses: Sequence[Guess], others: Sequence[Guess], further: Sequence[str] = ()
) -> Iterator[str]:
    """Describe guessed roles, and the command of a study that declares them.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed arguments with ``table``.
    guesses, others : sequence of Guess
        Result of :func:`guess_roles`.
    further : sequence of str, default=()
        Names of arguments that the command repeats, beside those of the table.

    Yields
    ------
    str
        A line. There are none without guesses.
    """
    if not guesses:
        return
    yield "Some columns may have a role that is not declared:"
    for guess in (*guesses, *others):
        alone = " (not together with the options above)" if guess in others else ""
        yield f"  {guess.option} {shlex.quote(guess.column)}: the column {guess.reason}{alone}"
    arguments = with_guesses(options, guesses)
    words = ["fairfold", "study", str(options.table)]
    for name in (*OF_A_TABLE, *further):
        value, option = getattr(arguments, name, None), f"--{name.replace('_', '-')}"
        if value not in (None, []):
            values = value if isinstance(value, list) else [] if value is True else [value]
            words += [option, *map(str, values)]
    words += ["-d", str(folder)] if (folder := getattr(options, "directory", None)) else []
    words += ["--no-final"] if getattr(options, "final", None) is False else []
    if {"--groups", "--dates"} & {guess.option for guess in guesses}:
        yield SCORES_TOO_GOOD
    yield "If this is right, use this command instead:"
    yield f"  {shlex.join(words)}"


def _is_given(options: argparse.Namespace, *names: str) -> bool:
    return any(getattr(options, name, None) not in (None, []) for name in names)


def _guesses(data: Dataset, options: argparse.Namespace) -> Iterator[Guess]:
    """Yield all guesses by names and content, those of columns of text first."""
    names = ("text", "categorical", "numeric", "dates_as_features", "molecules")
    declared = {column for name in names for column in getattr(options, name, None) or ()}
    needed = {option for option in _ORDER if not _is_given(options, option.removeprefix("--"))}
    needed -= {"--groups"} if _is_given(options, "groups_by_scaffold") else set()
    roles = {role.column: role.role for role in (() if data.typed is None else data.typed.all_roles)}
    for name in [*roles, *data.numbers]:
        guess = None if name in declared else _guess(data, name, roles.get(name, "number"))
        if guess is not None and guess.option in {*needed, "--ignore"}:
            yield guess


def _guess(data: Dataset, name: str, role: str) -> Guess | None:
    """Guess the role of a column that is a feature, or left out."""
    plain = plain_name(name)
    if role == "date":
        return Guess("--dates", name, "contains dates; models are then tested on later samples")
    if role == "identifier":
        return Guess("--id", name, "has another value in each row")
    if role not in ("number", "category", "short text"):
        return None
    codes, kind = _codes(data, name), kind_of_name(plain)
    if role == "number" and kind == "fold":
        return Guess("--ignore", name, "is named like a fold of samples")
    if role == "number" and _WEIGHTS.fullmatch(plain) and (codes > 0).all():
        return Guess("--weights", name, "is named like weights of samples")
    is_named = kind == "identifier" or _GROUPS.fullmatch(plain)
    if not is_named or np.isnan(codes).any() or (codes % 1 != 0).any():
        return None
    n_values = len(np.unique(codes))
    if n_values == len(codes):
        return Guess("--id", name, "has another value in each row")
    if N_SPLITS <= n_values <= len(codes) / 2:
        return Guess("--groups", name, f"puts rows into {n_values} groups, which folds then keep together")
    return None


def _codes(data: Dataset, name: str) -> np.ndarray:
    """Return the numbers of a column, or the positions of its cells."""
    return np.ravel(with_sparsity(data.X[:, [data.feature_names.index(name)]], False))
