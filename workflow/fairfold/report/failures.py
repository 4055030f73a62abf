"""Failed computations and their reasons."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import pandas as pd

from fairfold.errors import ModelError
from fairfold.report.results import read_results

_UNITS = ("dataset", "missing_rate", "hidden_rate", "splitter", "mechanism", "model", "part", "procedure")
_PARTS = ("repeat", "training", "fold", "repetition")
_ALL_MODELS = "all models"
_SCORES = ("value", "score", "mean", "complete")  # Columns of scores in the tables of a study.


def failures_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a reason instead of numbers, grouped by reason.

    A metric that is undefined on a fold has the same reason for all models. It has one row, with "all models" as the
    model.

    Parameters
    ----------
    table : DataFrame
        Table with the column ``reason``, which is empty for rows with numbers. Other columns may be dataset, missing
        rate, model and the like, a fold or repetition, or the number of failures, ``n_failed``.

    Returns
    -------
    DataFrame
        The columns of `table` that identify the failure, ``times`` (number of folds, of repetitions, or ``n_failed``)
        and ``reason``, in order of first appearance.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"dataset": "flags", "model": "a", "fold": [0, 1, 2], "reason": ["", "No.", "No."]})
    >>> failures_of(table).values.tolist()
    [['flags', 'a', 2, 'No.']]
    """
    units = [name for name in _UNITS if name in table]
    failed = table[table["reason"] != ""]
    if {"metric", "model", "fold"} <= {*table}:
        places = [table[name] for name in (*units, *_PARTS) if name in table]
        has_others = table["reason"].eq("").groupby(places, dropna=False).transform("any")
        failed = failed.assign(model=failed["model"].mask(has_others[failed.index], _ALL_MODELS))
    if "n_failed" not in table:  # All metrics of a fold fail together.
        failed = failed[[*units, *(name for name in _PARTS if name in table), "reason"]].drop_duplicates()
        failed = failed.groupby([*units, "reason"], sort=False).size().rename("n_failed").reset_index()
    counts = failed.groupby([*units, "reason"], sort=False)["n_failed"].max().rename("times").reset_index()
    return counts[[*units, "times", "reason"]]


def check_scored(tables: Mapping[str, Sequence[str | os.PathLike[str]]], report: str | None = None) -> None:
    """Raise an error if no model could be scored on a dataset.

    Parameters
    ----------
    tables : mapping of str to sequence of path-like
        CSV files of each part of the study, with the columns ``dataset``, ``reason`` and a column of scores, as in
        :func:`failures_of`.
    report : str or None, default=None
        Location of the full list of reasons, for the message. None refers to the first table without scores.

    Raises
    ------
    ModelError
        If all rows of a dataset have a reason instead of a score. The message lists these datasets, the affected parts
        of the study and the first reason of each.
    """
    failed: dict[str, pd.DataFrame] = {}
    parts: dict[str, list[str]] = {}
    for part, paths in tables.items():
        table = pd.concat(map(read_results, paths), ignore_index=True)
        for dataset, rows in table.groupby("dataset", sort=False):
            if not _has_score(rows):
                report = report or f"the column 'reason' of {paths[0]}"
                failed[dataset] = pd.concat([failed.get(dataset), failures_of(rows)])
                parts.setdefault(dataset, []).append(part)
    if failed:
        fates = [_fate(dataset, parts[dataset], failures) for dataset, failures in failed.items()]
        raise ModelError(f"No model could be scored on {'; nor on '.join(fates)}; see {report}.")


def _has_score(rows: pd.DataFrame) -> bool:
    scores = next(rows[name] for name in _SCORES if name in rows)
    return bool((pd.to_numeric(scores, errors="coerce").notna() | (rows["reason"] == "")).any())


def _fate(dataset: str, parts: Sequence[str], failures: pd.DataFrame) -> str:
    first = failures["reason"].iloc[0].rstrip(".")
    return f"{dataset!r} in {', '.join(parts)} (all {failures['times'].sum()} attempts failed, the first thus: {first})"


def check_target(target: str, parts: Sequence[str], paths: Sequence[str]) -> None:
    """Raise an error if no model of a target could be scored on a dataset.

    Parameters
    ----------
    target : str
        Name of the target, such as ``"study"``, which has a report.
    parts, paths : sequence of str
        Parts of the study, and a table of each; see :func:`check_scored`.

    Raises
    ------
    ModelError
        As in :func:`check_scored`.
    """
    tables: dict[str, list[str]] = {}
    for part, path in zip(parts, paths, strict=True):
        tables.setdefault(part, []).append(path)
    check_scored(tables, "'Not computed' in results/report.html" if target == "study" else None)
