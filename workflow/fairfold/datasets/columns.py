"""Roles of the columns of a file: feature, label, identifier, group, fold, weight, date, or ignored."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import GAPS
from fairfold.datasets.categories import natural_order
from fairfold.datasets.dataset import LEFT_OUT, PLACE, Dataset
from fairfold.datasets.times import folds_by_time
from fairfold.errors import DataError, check_name, count, shortened
from fairfold.tables.names import composed
from fairfold.tables.table import Table

if TYPE_CHECKING:
    from fairfold.datasets.catalog import Entry

logger = logging.getLogger(__name__)

# These patterns match whole names in the form of plain_name().
_FLAG = r"((is|in)_?)?({})(_?(set|part|split|sample|flag|indicator))?"
_PARTS: Mapping[Literal["train", "test"], re.Pattern[str]] = {
    "test": re.compile(_FLAG.format("tests?|testing|tst|hold_?out|held_?out|validation|valid|val|evaluation|eval")),
    "train": re.compile(_FLAG.format("train|training|trn")),
}

_MOST_DEGREES = (90, 360)  # of latitude and longitude
MOST_FOLDS = 100
OF_THESE = "of these "
"""Start of the kinds that features have in the table of columns."""

_REMEDIES = {
    "id": "Write a unique id, or leave the column out (ignore)",
    "groups": "Write the group of this row (a new one if it belongs to none)",
    "folds": "Write the fold of this row",
    "weights": "Write a number above 0",
    "dates": "Write the date of this row",
    **dict.fromkeys(PLACE, "Write the coordinate in degrees"),
}
_FOLD_NAME = re.compile(r"((cv|k|outer|inner)_?)?folds?(_?(id|nr|no|number|index|of))?(_?\d+)?|cv")
_FLAGS = dict.fromkeys(["true", "yes", "t", "y"], True) | dict.fromkeys(["false", "no", "f", "n"], False)


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


def _check_roles(labels: Collection[str], table: Table, named: Mapping[str, str], declared: Collection[str]) -> None:
    """Raise :class:`DataError` for a column with two roles.

    ``named`` maps configuration keys to column names. ``declared`` are features with a declared role.
    """
    # Dates and coordinates may be features, too.
    roles = {"a label (labels)": set(labels), "a declared feature": {*declared} - {*named.values()}}
    for key, name in named.items():
        roles[f"the {'identifier' if key == 'id' else key.removesuffix('s')} ({key})"] = {name}
    roles["left out (ignore)"] = set(table.ignored)
    for one, other in itertools.combinations(roles, 2):
        if both := sorted(roles[one] & roles[other]):
            raise DataError(f"{table.source}: column {both[0]!r} cannot be both {one} and {other}. Choose one.")


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
    if data.typed is not None:
        for role in dict.fromkeys(each.role for each in data.typed.roles):
            kinds[f"{OF_THESE}{role}"] = tuple(each.column for each in data.typed.roles if each.role == role)
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
    '2 features, 3 labels, 1 of 2 cells of 1 feature missing'
    """
    table = account_for_columns(data)
    numbers = [
        f"{row.n_columns} {row.kind.removesuffix('s') if row.n_columns == 1 else row.kind}"
        for row in table[:2].itertuples()
    ]
    gaps = np.zeros(0) if sparse.issparse(data.X) else np.isnan(data.X).sum(axis=0)
    missing = []
    if gaps.any():
        missing.append(
            f"{gaps.sum()} of {data.X.size} cells of {count(int(np.count_nonzero(gaps)), 'feature')} missing"
        )
    if data.n_unmeasured:
        missing.append(f"{data.n_unmeasured} of {np.prod(data.Y.shape)} label cells unmeasured")
    return ", ".join([*numbers, *missing, *(f"{row.kind}: {row.names}" for row in table[2:].itertuples())])


# --- roles of the samples' columns ------------------------------------------------------------------------------------


def roles_of(entry: Entry, table: Table, labels: Collection[str]) -> dict[str, Any]:
    """Return the fields of a dataset that come from other columns than features and labels.

    Parameters
    ----------
    entry : Entry
        Entry with the names of these columns.
    table : Table
        Table with these columns as text.
    labels : collection of str
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
    _check_roles(labels, table, entry.roles, entry.features)
    for role, name in entry.roles.items():
        if role != "id":
            _check_no_gap(role, name, table)
    left_out = {role: (name,) for role, name in entry.roles.items()}
    parts: dict[str, Any] = {"left_out": left_out | ({"ignored": table.ignored} if table.ignored else {})}
    if entry.id_column is not None:
        parts["sample_ids"] = identifiers(entry.id_column, table)
    if entry.groups is not None:
        parts["groups"], parts["group_names"] = _groups(entry.groups, table)
    elif entry.groups_by_scaffold is not None:
        parts["groups"], parts["group_names"] = _groups_by_scaffold(entry.groups_by_scaffold, table)
    if entry.folds is not None:
        parts["fold_of"] = _folds(entry.folds, table, parts.get("groups"))
    if entry.dates is not None:
        dates = table.text[entry.dates], entry.hold_out, entry.dates, table.source
        parts["fold_of"] = folds_by_time(*dates, day_first=entry.day_first)
        if "groups" in parts:
            texts = (table.text[entry.dates], "have the dates", "on one side of each cut-off")
            _check_groups_are_whole(parts["fold_of"], parts["groups"], table.source, *texts)
    if entry.coordinates:
        parts["coordinates"] = _coordinates(entry.coordinates, table)
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


def _groups_by_scaffold(column: str, table: Table) -> tuple[np.ndarray, tuple[str, ...]]:
    from fairfold.features.molecules import scaffolds  # Few tables have molecules.

    check_name("column of text", column, table.text, DataError, table.source)
    try:
        found = scaffolds(pd.Series(table.text[column], name=column))
    except DataError as error:
        raise DataError(f"{table.source}: {error}") from None
    return _groups(column, dataclasses.replace(table, text={column: found}))


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


def _coordinates(columns: Sequence[str], table: Table) -> np.ndarray:
    texts = [pd.Series(table.text[column]).str.replace(table.decimal_mark, ".", regex=False) for column in columns]
    found = np.column_stack([pd.to_numeric(each, errors="coerce") for each in texts])
    is_wrong = ~(np.abs(found) <= _MOST_DEGREES)
    if is_wrong.any():
        row, number = np.argwhere(is_wrong)[0]
        column, role = columns[number], PLACE[number]
        cell = f"data row {row + 1}, column {column!r} ({role}): found {str(table.text[column][row])!r}"
        allowed = f"but a {role} is a number of degrees within ±{_MOST_DEGREES[number]}"
        is_swapped = (np.abs(found[:, ::-1]) <= _MOST_DEGREES).all()
        remedy = "Name the latitude first, then the longitude" if is_swapped else "Correct it or remove the row"
        raise DataError(f"{table.source}, {cell}, {allowed}. {remedy}.")
    return found


def _check_groups_are_whole(
    fold_of: np.ndarray, groups: np.ndarray, source: str, values: np.ndarray, found: str, allowed: str
) -> None:
    first_row = np.unique(groups, return_index=True)[1][groups]  # of the group of each row
    divided = np.flatnonzero(fold_of != fold_of[first_row])
    if divided.size:
        one, other = first_row[divided[0]], divided[0]
        raise DataError(
            f"{source}: data rows {one + 1} and {other + 1} are in one group but {found} {str(values[one])!r} and "
            f"{str(values[other])!r}. A group must be {allowed}. Correct one of the rows."
        )
