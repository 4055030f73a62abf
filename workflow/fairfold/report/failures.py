"""What could not be computed, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import pandas as pd

from fairfold.errors import ModelError
from fairfold.report.results import read_results

_UNITS = ("dataset", "missing_rate", "hidden_rate", "splitter", "mechanism", "model", "part", "procedure")
_PARTS = ("repeat", "training", "fold", "repetition")
_ALL_MODELS = "all models"
_SCORES = ("value", "score", "mean", "complete")  # the column of scores in each table of a study


def failures_of(table: pd.DataFrame) -> pd.DataFrame:
    """Rows that have a reason in place of numbers; folds and repetitions with the same reason are put together.

    A metric that is undefined on a fold has the same reason for all models. It has one row, which names no model.

    Parameters
    ----------
    table : any of dataset, missing rate, model and the like, a fold or repetition, or how many failed, ``n_failed``,
        and the column ``reason``, which is empty where there are numbers.

    Returns
    -------
    DataFrame with the columns of ``table`` that say what failed, ``times`` (folds, repetitions or ``n_failed``), and
    ``reason``, in order of first appearance.
    """
    units = [name for name in _UNITS if name in table]
    failed = table[table["reason"] != ""]
    if {"metric", "model", "fold"} <= {*table}:
        places = [table[name] for name in (*units, *_PARTS) if name in table]
        has_others = table["reason"].eq("").groupby(places, dropna=False).transform("any")
        failed = failed.assign(model=failed["model"].mask(has_others[failed.index], _ALL_MODELS))
    if "n_failed" not in table:  # metrics of a fold share its fate
        failed = failed[[*units, *(name for name in _PARTS if name in table), "reason"]].drop_duplicates()
        failed = failed.groupby([*units, "reason"], sort=False).size().rename("n_failed").reset_index()
    counts = failed.groupby([*units, "reason"], sort=False)["n_failed"].max().rename("times").reset_index()
    return counts[[*units, "times", "reason"]]


def check_scored(tables: Mapping[str, Sequence[str | os.PathLike[str]]], report: str | None = None) -> None:
    """Refuse a study that has a dataset on which no model could be scored.

    Parameters
    ----------
    tables : part of the study, as its configuration calls it -> CSV files with the columns ``dataset``, ``reason`` and
        one of scores, as for :func:`failures_of`.
    report : where all reasons stand; None sends the reader to the first table without scores.

    Raises
    ------
    ModelError
        Naming the datasets whose every row has a reason in place of a score, the parts in which that is so, and the
        first reason of each.
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
