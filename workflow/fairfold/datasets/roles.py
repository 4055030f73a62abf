"""What columns say of samples that is neither a feature nor a label: their ids, groups, folds, dates and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.datasets.catalog import Entry
from fairfold.datasets.columns import check_roles
from fairfold.datasets.formats import Table
from fairfold.datasets.times import folds_by_time
from fairfold.errors import DataError, shortened

MOST_FOLDS = 100


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
        When a column is to be two things at once, or does not hold what it is said to.
    """
    columns = {"id": entry.id_column, "groups": entry.groups, "folds": entry.folds, "weights": entry.weights}
    columns |= {"dates": entry.dates}
    check_roles(labels, table.ignored, table.source, columns)
    left_out = {kind: (name,) for kind, name in columns.items() if name is not None}
    parts: dict[str, Any] = {"left_out": left_out | ({"ignored": table.ignored} if table.ignored else {})}
    if entry.id_column is not None:
        parts["sample_ids"] = identifiers(entry, table)
    if entry.groups is not None:
        parts["groups"] = _groups(entry.groups, table)
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


def identifiers(entry: Entry, table: Table) -> np.ndarray:
    """Ids of the rows, which must differ."""
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


def _groups(column: str, table: Table) -> np.ndarray:
    names, codes = np.unique(table.text[column], return_inverse=True)
    if len(names) < 2:
        raise DataError(
            f"{table.source}: column {column!r} (groups) holds {str(names[0])!r} in all rows; groups are held out "
            "whole, so that two or more are needed."
        )
    return codes.astype(np.int64)


def _folds(column: str, table: Table, groups: np.ndarray | None) -> np.ndarray:
    """Fold of each row: the order of the names, numbers by size; of ``train`` and ``test``, test is the only fold."""
    values = table.text[column]
    names, codes = np.unique(values, return_inverse=True)
    parts = {name.casefold() for name in names}
    if parts == {"train", "test"}:
        fold_of = np.where(np.char.lower(values) == "test", 0, -1)
    elif 2 <= len(names) <= MOST_FOLDS and not parts & {"train", "test"}:
        fold_of = np.argsort(natural_order(names), kind="stable")[codes]
    else:
        raise DataError(
            f"{table.source}: column {column!r} (folds) holds {shortened(list(map(str, names)), 5)}; it must name from "
            f"2 to {MOST_FOLDS} folds, or be train or test in each row."
        )
    if groups is not None:
        _check_groups_are_whole(fold_of, groups, table.source, values)
    return fold_of.astype(np.int64)


def _weights(column: str, table: Table) -> np.ndarray:
    texts = table.text[column]
    weights = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        raise DataError(
            f"{table.source}, data row {wrong[0] + 1}, column {column!r} (weights): found {str(texts[wrong[0]])!r}; "
            "a weight is a finite number above 0: correct it, or leave the row out."
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
