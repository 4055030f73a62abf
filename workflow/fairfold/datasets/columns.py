"""Roles of the columns of a file: feature, label, identifier, group, fold, weight, date, or ignored."""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import itertools
import logging
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import GAPS
from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets.categories import natural_order
from fairfold.datasets.dataset import LEFT_OUT, Dataset
from fairfold.datasets.names import composed
from fairfold.datasets.times import folds_by_time
from fairfold.errors import DataError, shortened, unknown_name

if TYPE_CHECKING:
    from fairfold.datasets.catalog import Entry

logger = logging.getLogger(__name__)

ROW_NAMES = "(row names)"
"""Name of a first column without a name, in which R and pandas write the names or numbers of rows."""

# These patterns match whole names in the form of plain_name().
_FLAG = r"((is|in)_?)?({})(_?(set|part|split|sample|flag|indicator))?"
_PARTS: Mapping[Literal["train", "test"], re.Pattern[str]] = {
    "test": re.compile(_FLAG.format("tests?|testing|tst|hold_?out|held_?out|validation|valid|val|evaluation|eval")),
    "train": re.compile(_FLAG.format("train|training|trn")),
}

MOST_FOLDS = 100

_REMEDIES = {
    "id": "Write a unique id, or leave the column out (ignore)",
    "groups": "Write the group of this row (a new one if it belongs to none)",
    "folds": "Write the fold of this row",
    "weights": "Write a number above 0",
    "dates": "Write the date of this row",
}
_FOLD_NAME = re.compile(r"((cv|k|outer|inner)_?)?folds?(_?(id|nr|no|number|index|of))?(_?\d+)?|cv")
_FLAGS = dict.fromkeys(["true", "yes", "t", "y"], True) | dict.fromkeys(["false", "no", "f", "n"], False)


@dataclasses.dataclass(frozen=True)
class Table:
    """Named columns of numbers and text from a file.

    Attributes
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


def plain_name(name: str) -> str:
    """Return a name in lower case with its words joined by ``_``.

    Parameters
    ----------
    name : str
        Name of a column.

    Returns
    -------
    str
        The simplified name.

    Examples
    --------
    >>> plain_name("patientID"), plain_name("Patient ID")
    ('patient_id', 'patient_id')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\W_]+", "_", parted).strip("_").casefold()


def part_of_name(name: str) -> Literal["train", "test"] | None:
    """Return the part of a hold-out that a column name stands for.

    Parameters
    ----------
    name : str
        Name of a column, or a value of a column of folds.

    Returns
    -------
    {"train", "test"} or None
        The part that "yes" means in a column of this name, or None if the name stands for no part.

    Examples
    --------
    >>> part_of_name("is_test"), part_of_name("In training set"), part_of_name("fold")
    ('test', 'train', None)
    """
    return next((part for part, names in _PARTS.items() if names.fullmatch(plain_name(name))), None)


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
                f"{source}: labels: {name!r} is a column, and the names of {len(below)} other columns start with it "
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


def _check_roles(labels: Collection[str], ignored: Collection[str], source: str, named: Mapping[str, str]) -> None:
    """Raise :class:`DataError` for a column with two roles. ``named`` maps configuration keys to column names."""
    roles = {"a label (labels)": set(labels)}
    for key, name in named.items():
        roles[f"the {'identifier' if key == 'id' else key.removesuffix('s')} ({key})"] = {name}
    roles["left out (ignore)"] = set(ignored)
    for one, other in itertools.combinations(roles, 2):
        if both := sorted(roles[one] & roles[other]):
            raise DataError(f"{source}: column {both[0]!r} cannot be both {one} and {other}. Choose one.")


def account_for_columns(data: Dataset) -> pd.DataFrame:
    """Count the columns of each kind.

    Parameters
    ----------
    data : Dataset
        A prepared dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``kind``, ``n_columns`` and ``names``, and a row for each kind that occurs. Features and
        labels always have a row. ``names`` lists the first names, separated by commas. One-label tasks have classes
        instead of labels.
    """
    kinds = {"features": data.feature_names, "labels" if data.task == "multilabel" else "classes": data.label_names}
    kinds |= {called: data.left_out[kind] for kind, called in LEFT_OUT.items() if data.left_out.get(kind)}
    rows = [(data.id, kind, len(names), shortened(names)) for kind, names in kinds.items()]
    return pd.DataFrame(rows, columns=["dataset", "kind", "n_columns", "names"])


def account_line(data: Dataset) -> str:
    """Summarize the columns and missing values of a dataset in one line.

    Parameters
    ----------
    data : Dataset
        A prepared dataset.

    Returns
    -------
    str
        A line such as ``58 features, 30 labels, ignored: sample_id``.

    Examples
    --------
    >>> X, Y = np.array([[1.0, np.nan]]), np.array([[1, 0, 1]], dtype=np.int8)
    >>> account_line(Dataset("plants", "multilabel", X, Y, ("height", "width"), ("shade", "water", "soil")))
    '2 features, 3 labels, 1 of 2 cells of 1 features missing'
    """
    table = account_for_columns(data)
    numbers = [
        f"{row.n_columns} {row.kind.removesuffix('s') if row.n_columns == 1 else row.kind}"
        for row in table[:2].itertuples()
    ]
    gaps = np.zeros(0) if sparse.issparse(data.X) else np.isnan(data.X).sum(axis=0)
    missing = [f"{gaps.sum()} of {data.X.size} cells of {np.count_nonzero(gaps)} features missing"] * bool(gaps.any())
    if data.n_unmeasured:
        missing.append(f"{data.n_unmeasured} of {np.prod(data.Y.shape)} label cells unmeasured")
    return ", ".join([*numbers, *missing, *(f"{row.kind}: {row.names}" for row in table[2:].itertuples())])


# --- roles of the samples' columns ------------------------------------------------------------------------------------


def roles_of(entry: Entry, table: Table, labels: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a dataset that come from other columns than features and labels.

    Parameters
    ----------
    entry : Entry
        Entry with the names of these columns.
    table : Table
        Table with these columns as text.
    labels : sequence of str
        Names of the label columns.

    Returns
    -------
    dict of str to Any
        Values of the fields of :class:`~fairfold.datasets.dataset.Dataset` by name, such as ``groups`` and ``weights``.

    Raises
    ------
    DataError
        If a column has two roles, lacks a value, or has a value that does not fit its role.
    """
    _check_roles(labels, table.ignored, table.source, entry.roles)
    for role, name in entry.roles.items():
        if role != "id":
            _check_no_gap(role, name, table)
    left_out = {role: (name,) for role, name in entry.roles.items()}
    parts: dict[str, Any] = {"left_out": left_out | ({"ignored": table.ignored} if table.ignored else {})}
    if entry.id_column is not None:
        parts["sample_ids"] = identifiers(entry.id_column, table)
    if entry.groups is not None:
        parts["groups"], parts["group_names"] = _groups(entry.groups, table)
    if entry.folds is not None:
        parts["fold_of"] = _folds(entry.folds, table, parts.get("groups"))
    if entry.dates is not None:
        dates = table.text[entry.dates], entry.hold_out, entry.dates, table.source
        parts["fold_of"] = folds_by_time(*dates, day_first=entry.day_first)
        if "groups" in parts:
            texts = (table.text[entry.dates], "have the dates", "on one side of each cut-off")
            _check_groups_are_whole(parts["fold_of"], parts["groups"], table.source, *texts)
    if entry.weights is not None:
        parts["weights"] = _weights(entry.weights, table)
    elif table.weights is not None:
        logger.info("%s: rows contain sample weights, such as %g.", table.source, table.weights[0])
        parts["weights"] = table.weights
    return parts


def _check_no_gap(role: str, column: str, table: Table) -> None:
    texts = table.text[column]
    gaps = [row for row, text in enumerate(texts, start=1) if text.casefold() in GAPS]
    if gaps:
        more = f" ({len(gaps)} rows lack one)" if len(gaps) > 1 else ""
        found = f"column {column!r} ({role}): found {str(texts[gaps[0] - 1])!r}, which means a missing value{more}"
        raise DataError(f"{table.source}, data row {gaps[0]}, {found}. {_REMEDIES[role]}, or remove the row.")


def identifiers(column: str, table: Table) -> np.ndarray:
    """Return the ids of the rows.

    Parameters
    ----------
    column : str
        Name of the id column.
    table : Table
        Table with the id column as text.

    Returns
    -------
    ndarray of shape (n_rows,)
        Ids as text.

    Raises
    ------
    DataError
        If a row has no id, or two rows have the same id.
    """
    _check_no_gap("id", column, table)
    ids = table.text[column]
    repeated = pd.Series(ids)[pd.Series(ids).duplicated(keep=False)]
    if len(repeated):
        rows = np.flatnonzero(ids == repeated.iloc[0])[:2] + 1
        raise DataError(
            f"{table.source}: the id {str(repeated.iloc[0])!r} in column {column!r} is given twice, in data "
            f"rows {rows[0]} and {rows[1]} ({repeated.nunique()} ids are repeated). Correct them or ignore the column."
        )
    return ids


def _groups(column: str, table: Table) -> tuple[np.ndarray, tuple[str, ...]]:
    names, codes = np.unique([composed(name) for name in table.text[column]], return_inverse=True)
    if len(names) < 2:
        found = f"column {column!r} (groups): all rows are in group {str(names[0])!r}"
        raise DataError(f"{table.source}, {found}. Name a column with at least two groups, or leave groups out.")
    return codes.astype(np.int64), tuple(map(str, names))


def _folds(column: str, table: Table, groups: np.ndarray | None) -> np.ndarray:
    """Return the test fold of each row in the order of the fold names, or -1 in the training part of a hold-out."""
    values = table.text[column]
    names, codes = np.unique(values, return_inverse=True)
    where = f"{table.source}: column {column!r} (folds)"
    is_test = _test_part(names, column, where)
    if is_test is not None:
        fold_of = np.where(is_test[codes], 0, -1)
        n_test = np.count_nonzero(fold_of == 0)
        logger.info("%s is a hold-out: %d test rows, %d training rows.", where, n_test, len(fold_of) - n_test)
    elif 2 <= len(names) <= MOST_FOLDS:
        fold_of = np.argsort(natural_order(names), kind="stable")[codes]
    else:
        raise _no_folds(names, where)
    if groups is not None:
        _check_groups_are_whole(fold_of, groups, table.source, values, "in folds", "in one fold")
    return fold_of.astype(np.int64)


def _test_part(names: np.ndarray, column: str, where: str) -> np.ndarray | None:
    """Return for each value whether it is the test part of a hold-out, or None if the values name folds."""
    words = [str(name).casefold() for name in names]
    parts = [part_of_name(word) for word in words]
    if any(parts):
        if len({*words}) == 2 and {*parts} == {"train", "test"}:
            return np.array(parts) == "test"
        raise _no_folds(names, where)
    flags = [_flag(word) for word in words]
    if set(flags) != {True, False}:
        return None
    part = part_of_name(column)
    if part is not None:
        return np.array(flags) == (part == "test")
    if _FOLD_NAME.fullmatch(plain_name(column)) and not any(word in _FLAGS for word in words):
        return None
    raise DataError(
        f"{where} contains {' and '.join(names)}, which may be two folds or a training and a test part. "
        "Write train and test for a hold-out, or a and b for two folds."
    )


def _flag(word: str) -> bool | None:
    with contextlib.suppress(ValueError):
        return {0.0: False, 1.0: True}.get(float(word))
    return _FLAGS.get(word)


def _no_folds(names: np.ndarray, where: str) -> DataError:
    return DataError(
        f"{where} contains {shortened(list(map(str, names)), 5)}. Write in each row the name of its fold, one of 2 to "
        f"{MOST_FOLDS}, or for a hold-out either train or test."
    )


def _weights(column: str, table: Table) -> np.ndarray:
    texts = table.text[column]
    weights = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        found = f"data row {wrong[0] + 1}, column {column!r} (weights): found {str(texts[wrong[0]])!r}"
        raise DataError(
            f"{table.source}, {found}, but a weight is a finite number above 0. Correct it or remove the row."
        )
    return weights


def _check_groups_are_whole(
    fold_of: np.ndarray, groups: np.ndarray, source: str, values: np.ndarray, found: str, allowed: str
) -> None:
    first = np.unique(groups, return_index=True)[1]
    elsewhere = np.flatnonzero(fold_of != fold_of[first][groups])
    if elsewhere.size:
        row, other = first[groups[elsewhere[0]]], elsewhere[0]
        found = f"{found} {str(values[row])!r} and {str(values[other])!r}"
        raise DataError(
            f"{source}: data rows {row + 1} and {other + 1} are in one group but {found}. A group must be {allowed}. "
            "Correct one of the rows."
        )
