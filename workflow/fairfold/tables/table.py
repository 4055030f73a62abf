"""A table of a user: named columns of numbers and text, and how they are chosen by name."""

from __future__ import annotations

import dataclasses
import fnmatch
import logging
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import DataError, count, shortened, unknown_name
from fairfold.tables.names import composed

logger = logging.getLogger(__name__)

ROW_NAMES = "(row names)"
"""Name of a first column without a name, in which R and pandas write the names or numbers of rows."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Named columns of numbers and text from a file.

    Parameters
    ----------
    columns : tuple of str of length n_columns
        Unique names of the columns of numbers.
    values : {ndarray, csr_array} of shape (n_rows, n_columns)
        Numbers as float64, dense or sparse like the file.
    source : str
        Name of the file, for messages.
    text : mapping of str to ndarray of shape (n_rows,)
        Cells of the columns that were read as text. They are not among ``columns``.
    ignored : tuple of str
        Columns that were not read. They are not among ``columns``.
    header : tuple of str
        Names of all columns in the order of the file.
    decimal_mark : {".", ","}
        Decimal mark of the numbers in the file.
    mixed_codings : mapping of str to tuple of str
        Columns of truth values in several spellings, with the spellings.
    unavailable : frozenset of str
        Columns with the error ``#N/A`` of Excel, which is read as missing.
    weights : ndarray of shape (n_rows,) or None
        Sample weights that rows of an ARFF file contain.
    label_lists : mapping of str to tuple of str
        Columns of the header whose cells list labels, with the columns of their labels.
    hierarchy : Hierarchy or None
        Hierarchy of the labels that the file declares.

    Examples
    --------
    >>> table = Table(("height",), np.array([[0.5], [1.5]]), "plants.csv", text={"id": np.array(["a", "b"])})
    >>> table.columns, list(table.text)
    (('height',), ['id'])
    """

    columns: tuple[str, ...]
    values: np.ndarray | sparse.csr_array
    source: str
    text: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    decimal_mark: str = "."
    mixed_codings: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    unavailable: frozenset[str] = frozenset()
    weights: np.ndarray | None = None
    label_lists: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        if not self.header:  # All columns contain numbers.
            object.__setattr__(self, "header", self.columns)


def ignored_columns(patterns: Collection[str], columns: Sequence[str], source: str | Path) -> list[str]:
    """Find the columns that match the patterns of ``ignore``, in the order of the file.

    A column named ``ROW_NAMES`` is always ignored.

    Parameters
    ----------
    patterns : collection of str
        Names, or patterns such as ``meta_*`` with ``*``, ``?`` and ``[...]`` as in file names. Case matters.
    columns : sequence of str
        Names of all columns of the file.
    source : str or Path
        Name of the file, for messages.

    Returns
    -------
    list of str
        Names of the ignored columns.

    Raises
    ------
    DataError
        If a name or pattern matches no column.

    Examples
    --------
    >>> ignored_columns(["meta_*"], ["meta_site", "height", "meta_date"], "plants.csv")
    ['meta_site', 'meta_date']
    """
    found = {ROW_NAMES} & set(columns)
    for pattern in map(composed, patterns):
        is_pattern = any(character in pattern for character in "*?[")
        matches = {pattern} & set(columns) or set(fnmatch.filter(columns, pattern) if is_pattern else ())
        if not matches and is_pattern:
            raise DataError(f"{source}: ignore: no column matches the pattern {pattern!r}. Correct or remove it.")
        if not matches:
            raise DataError(f"{source}: ignore: {textwrap.shorten(unknown_name('column', pattern, columns), 400)}")
        found |= matches
    return [column for column in columns if column in found]


def label_columns(named: Sequence[str], columns: Sequence[str], source: str) -> list[str]:
    """Find the label columns that names, prefixes and patterns select, in the order of the file.

    A name of a column selects this column only. Any other text is a prefix, or a pattern as in
    :func:`ignored_columns`.

    Parameters
    ----------
    named : sequence of str
        Names of columns, prefixes such as ``label_``, and patterns such as ``label_*``.
    columns : sequence of str
        Names of all columns of the file.
    source : str
        Name of the file, for messages.

    Returns
    -------
    list of str
        Names of the label columns.

    Raises
    ------
    DataError
        If a text is given twice or selects no column. Also if it is the name of a column, ends like a prefix, and other
        columns start with it.

    Examples
    --------
    >>> label_columns(["T1", "NR-"], ["height", "NR-a", "NR-b", "T1", "T10"], "plants.csv")
    ['NR-a', 'NR-b', 'T1']
    """
    found: set[str] = set()
    for place, name in enumerate(named):
        if name in named[:place]:
            raise DataError(f"{source}: labels: {name!r} is given twice. Give it once.")
        below = [column for column in columns if column.startswith(name) and column != name]
        if name in columns and below and not name[-1:].isalnum():
            raise DataError(
                f"{source}: labels: {name!r} is a column and the start of {count(len(below), 'other name')} "
                f"({shortened(below, 3)}). Write '{name}*' for all of them, or '{name[:-1]}[{name[-1:]}]' for this "
                "column only."
            )
        if name in columns and below:
            logger.info("%s: labels: %r is one column. Write '%s*' for all %d.", source, name, name, len(below) + 1)
        matches = {name} & set(columns) or set(below) or set(fnmatch.filter(columns, name))
        if not matches:
            near = textwrap.shorten(unknown_name("label", name, columns), 400)
            raise DataError(f"{source}: labels: no column name is or starts with {name!r} ({near}). Correct it.")
        found |= matches
    return [column for column in columns if column in found]


def position_of(columns: Sequence[str], wanted: str | int, path: Path) -> int:
    """Return the index of a column given by name or position.

    Parameters
    ----------
    columns : sequence of str
        Names of all columns.
    wanted : str or int
        Name or position of the column. Negative positions count from the end.
    path : Path
        The file, for messages.

    Returns
    -------
    int
        Index of the column, from 0.

    Raises
    ------
    DataError
        If there is no such column.

    Examples
    --------
    >>> columns = ["height", "width", "color"]
    >>> position_of(columns, "width", Path("plants.csv")), position_of(columns, -1, Path("plants.csv"))
    (1, 2)
    """
    if isinstance(wanted, str):
        wanted = composed(wanted)
        if wanted not in columns:
            raise DataError(f"{path}: {textwrap.shorten(unknown_name('column', wanted, columns), 400)}")
        return columns.index(wanted)
    if not -len(columns) <= wanted < len(columns):
        raise DataError(f"{path}: no column at position {wanted}, only {len(columns)} columns. Correct the position.")
    return wanted % len(columns)


def first_cell(values: Matrix, is_wrong: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int] | None:
    """Find the first stored number that is wrong.

    Parameters
    ----------
    values : {ndarray, csr_array} of shape (n_rows, n_columns)
        The numbers.
    is_wrong : callable
        Function of an array that returns a Boolean array of the same shape.

    Returns
    -------
    tuple of (int, int) or None
        Row and column of the number, or None if all numbers are right.

    Examples
    --------
    >>> first_cell(np.array([[0, 1], [2, 1]]), lambda cells: cells > 1)
    (1, 0)
    """
    if sparse.issparse(values):
        entries = values.tocoo()
        found = np.stack(entries.coords, axis=1)[is_wrong(entries.data)]
    else:
        found = np.argwhere(is_wrong(values))
    return (int(found[0, 0]), int(found[0, 1])) if len(found) else None
