"""Columns of a table that are neither features nor labels: ids, groups, folds, dates and weights of the samples."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import GAPS
from fairfold.datasets.catalog import Entry
from fairfold.datasets.columns import check_roles, part_of_name, plain_name
from fairfold.datasets.formats import Table
from fairfold.datasets.names import composed
from fairfold.datasets.times import folds_by_time
from fairfold.errors import DataError, shortened

logger = logging.getLogger(__name__)

MOST_FOLDS = 100

_REMEDIES = {
    "id": "Write an id of its own, or leave the column out (ignore)",
    "groups": "Write the group of this row (one of its own if it belongs to none)",
    "folds": "Write the fold of this row",
    "weights": "Write a number above 0",
    "dates": "Write the date of this row",
}
_FOLD_NAME = re.compile(r"((cv|k|outer|inner)_?)?folds?(_?(id|nr|no|number|index|of))?(_?\d+)?|cv")
_PARTS = dict.fromkeys(["train", "training", "trn"], "train") | dict.fromkeys(
    ["test", "testing", "tst", "holdout", "hold-out", "hold_out", "validation", "valid", "val", "eval", "evaluation"],
    "test",
)
_FLAGS = dict.fromkeys(["true", "yes", "t", "y"], True) | dict.fromkeys(["false", "no", "f", "n"], False)


def roles_of(entry: Entry, table: Table, labels: Sequence[str]) -> dict[str, Any]:
    """What a dataset has besides features and labels, by the names of its attributes.

    Parameters
    ----------
    entry : with the columns' names.
    table : with these columns as text.
    labels : names of the label columns.

    Raises
    ------
    DataError
        When a column has two roles, lacks a value, or holds a value that does not fit its role.
    """
    columns = {"id": entry.id_column, "groups": entry.groups, "folds": entry.folds, "weights": entry.weights}
    columns |= {"dates": entry.dates}
    check_roles(labels, table.ignored, table.source, columns)
    for role, name in columns.items():
        if name is not None and role != "id":
            _check_no_gap(role, name, table)
    left_out = {kind: (name,) for kind, name in columns.items() if name is not None}
    parts: dict[str, Any] = {"left_out": left_out | ({"ignored": table.ignored} if table.ignored else {})}
    if entry.id_column is not None:
        parts["sample_ids"] = identifiers(entry, table)
    if entry.groups is not None:
        parts["groups"], parts["group_names"] = _groups(entry.groups, table)
    if entry.folds is not None:
        parts["fold_of"] = _folds(entry.folds, table, parts.get("groups"))
    if entry.dates is not None:
        parts["fold_of"] = folds_by_time(table.text[entry.dates], entry.hold_out, entry.dates, table.source)
        if "groups" in parts:
            told = (table.text[entry.dates], "of", "on one side of each cut-off")
            _check_groups_are_whole(parts["fold_of"], parts["groups"], table.source, *told)
    if entry.weights is not None:
        parts["weights"] = _weights(entry.weights, table)
    return parts


def _check_no_gap(role: str, column: str, table: Table) -> None:
    texts = table.text[column]
    gaps = [row for row, text in enumerate(texts, start=1) if text.casefold() in GAPS]
    if gaps:
        more = f" ({len(gaps)} rows have none)" if len(gaps) > 1 else ""
        raise DataError(
            f"{table.source}, data row {gaps[0]}, column {column!r} ({role}): found {str(texts[gaps[0] - 1])!r}, which "
            f"stands for a missing value{more}. {_REMEDIES[role]}, or remove the row."
        )


def identifiers(entry: Entry, table: Table) -> np.ndarray:
    """Return the ids of the rows.

    Raises
    ------
    DataError
        When a row has no id, or two rows have the same.
    """
    _check_no_gap("id", entry.id_column, table)
    ids = table.text[entry.id_column]
    values, first, counts = np.unique(ids, return_index=True, return_counts=True)
    if (counts > 1).any():
        repeated = values[counts > 1][np.argmin(first[counts > 1])]
        rows = np.flatnonzero(ids == repeated)[:2] + 1
        raise DataError(
            f"{table.source}: the id {str(repeated)!r} in column {entry.id_column!r} is given twice, in data rows "
            f"{rows[0]} and {rows[1]} ({int((counts > 1).sum())} ids are repeated); ids must differ: mend the file, "
            "or leave the column out (ignore)."
        )
    return ids


def natural_order(names: np.ndarray) -> np.ndarray:
    """Indices that sort numbers by value (``2`` before ``10``) and anything else alphabetically."""
    try:
        return np.argsort(names.astype(float), kind="stable")
    except ValueError:
        return np.argsort(names, kind="stable")


def _groups(column: str, table: Table) -> tuple[np.ndarray, tuple[str, ...]]:
    names, codes = np.unique([composed(name) for name in table.text[column]], return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"{table.source}, column {column!r} (groups): all rows are in group {str(names[0])!r}, which cannot be "
            "held out whole. Name a column with at least two groups, or leave the groups option out."
        )
    return codes.astype(np.int64), tuple(map(str, names))


def _folds(column: str, table: Table, groups: np.ndarray | None) -> np.ndarray:
    """Return the test fold of each row, in the order of the folds' names; -1 in the training part of a hold-out."""
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
        _check_groups_are_whole(fold_of, groups, table.source, values)
    return fold_of.astype(np.int64)


def _test_part(names: np.ndarray, column: str, where: str) -> np.ndarray | None:
    """Return for each value whether it stands for the test part of a hold-out; None if the values name folds."""
    words = [str(name).casefold() for name in names]
    if any(word in _PARTS for word in words):
        parts = [_PARTS.get(word) for word in words]
        if len(set(words)) == 2 and set(parts) == {"train", "test"}:
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
        f"{where} holds {' and '.join(names)}, which may be two folds or a training and a test part. "
        "Write train and test for a hold-out, or a and b for two folds."
    )


def _flag(word: str) -> bool | None:
    with contextlib.suppress(ValueError):
        return {0.0: False, 1.0: True}.get(float(word))
    return _FLAGS.get(word)


def _no_folds(names: np.ndarray, where: str) -> DataError:
    return DataError(
        f"{where} holds {shortened(list(map(str, names)), 5)}. Write in each row the name of its fold, one of 2 to "
        f"{MOST_FOLDS}, or for a hold-out either train or test."
    )


def _weights(column: str, table: Table) -> np.ndarray:
    texts = table.text[column]
    weights = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        raise DataError(
            f"{table.source}, data row {wrong[0] + 1}, column {column!r} (weights): found {str(texts[wrong[0]])!r}; "
            "a weight is a finite number above 0. Correct it or remove the row."
        )
    return weights


def _check_groups_are_whole(
    fold_of: np.ndarray,
    groups: np.ndarray,
    source: str,
    values: np.ndarray,
    found: str = "in folds",
    allowed: str = "in one fold",
) -> None:
    first = np.unique(groups, return_index=True)[1]
    elsewhere = np.flatnonzero(fold_of != fold_of[first][groups])
    if elsewhere.size:
        other = elsewhere[0]
        row = first[groups[other]]
        raise DataError(
            f"{source}: data rows {row + 1} and {other + 1} are of one group but {found} {str(values[row])!r} and "
            f"{str(values[other])!r}; a group must be {allowed}: correct one."
        )
