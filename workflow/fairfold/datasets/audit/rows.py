"""Describe rows for the figures of the audit: where features and labels change, and which rows are copies."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairfold.core.threads import one_thread_each
from fairfold.datasets.audit.changes import change_points, changes, window
from fairfold.datasets.audit.duplicates import exact_copies, must_repeat, near_copies_of
from fairfold.datasets.audit.spec import Audited
from fairfold.datasets.dataset import Dataset

ROW_COLUMNS = ("kind", "row", "of_row", "change", "is_point", "n_rows", "fold", "of_fold")
"""Columns of the table of rows."""

_FEWEST_ROWS = 40
_MOST_ROWS = 30_000
_MOST_POINTS = 400


def row_table(data: Dataset, *, random_state: int = 0) -> pd.DataFrame:
    """Tabulate changes of features and labels along the rows, and copies of rows.

    Parameters
    ----------
    data : Dataset
        Prepared dataset.
    random_state : int, default=0
        Seed of samples and permutations.

    Returns
    -------
    DataFrame
        Columns ``ROW_COLUMNS``; rows count from 1. For the kinds "features" and "labels", ``change`` is the strength of
        a change before a row. It is rarely above 1 in permuted rows. ``is_point`` marks the strongest changes. For the
        kinds "copy" and "near copy", ``of_row`` is the first row that the row repeats, and the folds are those of the
        data, if any.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> X[79] = X[0]
    >>> data = Dataset("plants", "multilabel", X, (X[:, :1] > 0).astype(np.int8), ("a", "b", "c"), ("shade",))
    >>> row_table(data).query("kind == 'copy'")[["row", "of_row"]].to_numpy().tolist()
    [[80, 1]]
    """
    table = Audited(data, random_state=random_state)
    with one_thread_each(), np.errstate(all="ignore"):
        parts = [_changes(table), _copies(table)] if data.X.shape[1] else []
    found = pd.concat([pd.DataFrame(columns=list(ROW_COLUMNS)), *parts])
    return found[list(ROW_COLUMNS)].assign(n_rows=table.n_samples).reset_index(drop=True)


def _changes(table: Audited) -> pd.DataFrame:
    n = min(table.n_samples, _MOST_ROWS)
    if n < _FEWEST_ROWS:
        return pd.DataFrame()
    aligned, rng = table.alignment(n), table.rng("changes")
    width, parts = window(n), []
    even = np.linspace(width, n - width, min(_MOST_POINTS, n - 2 * width + 1)).astype(int)
    for kind, values in (("features", aligned.scores), ("labels", aligned.labels)):
        strengths = changes(values, rng)
        points = change_points(strengths, n)
        rows = np.union1d(even, np.array(points, dtype=int))
        columns = {"row": rows + 1, "change": strengths[rows - width], "is_point": np.isin(rows, points)}
        parts.append(pd.DataFrame({"kind": kind, **columns}))
    return pd.concat(parts)


def _copies(table: Audited) -> pd.DataFrame:
    X, fold_of = table.data.X, table.data.fold_of
    if must_repeat(X):
        return pd.DataFrame()
    firsts, kind = exact_copies(table), "copy"
    rows = np.flatnonzero(firsts >= 0)
    if not len(rows) and table.n_samples >= _FEWEST_ROWS and table.data.groups is None:
        drawn, close, near = near_copies_of(table)
        firsts[drawn[: len(near)]] = near
        rows, kind = close[firsts[close] < close], "near copy"
    found = pd.DataFrame({"kind": kind, "row": rows + 1, "of_row": firsts[rows] + 1})
    return found if fold_of is None else found.assign(fold=fold_of[rows], of_fold=fold_of[firsts[rows]])
