"""Predictions for files, in parts that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from fairfold.core.formulas import protect_table
from fairfold.core.output import check_output, open_output
from fairfold.datasets.new_rows import ROWS, read_new_rows
from fairfold.errors import CellError, DataError
from fairfold.evaluation.certified import Certified
from fairfold.final.explanation import Rows, explain, find_samples
from fairfold.final.model import FinalModel, Threshold
from fairfold.final.unlike import TableComparison
from fairfold.tables.table import Table


def predict_file(
    final: FinalModel,
    source: str | Path,
    target: str | Path,
    *,
    top: int | None = None,
    objective: str | Certified | None = None,
    by: Literal["pooled", "label"] | None = None,
    threshold: Threshold = None,
    allow_missing: bool = False,
    unknown: Literal["error", "missing"] = "error",
    rows_at_once: int = ROWS,
    look: Callable[[dict[str, pd.DataFrame]], None] | None = None,
    comparison: TableComparison | None = None,
) -> int:
    """Predict the rows of a table file, and write the predictions to a CSV file.

    A regular file is written completely or not at all; see :func:`~fairfold.core.output.open_output`.

    Parameters
    ----------
    final : FinalModel
        The model.
    source : str or Path
        File in any format that a study reads. Columns are matched by name in any order, and other columns are ignored.
        The identifier column of the model is copied if the file has it. Otherwise rows are numbered from 1.
    target : str or Path
        CSV file to write, or ``"-"`` for the standard output, with one row per sample: ``probability_<label>`` of all
        labels, then ``posterior_<label>`` if the model corrects for missing labels, then ``decision_<label>``; see
        :meth:`~fairfold.final.model.FinalModel.predict`. The last columns are those of `comparison`. Names that a
        spreadsheet would run as formulas get an apostrophe; see :mod:`fairfold.core.formulas`.
    top : int or None, default=None
        Number of most likely labels to write for each sample, instead of all labels. Each label has its own row with
        the columns ``rank, label, probability, decision``, and ``posterior`` with a correction, the most likely first.
        Identifiers in a column of such a name are written as ``sample``.
    objective : str, Certified or None, default=None
        Metric that decisions maximize, or certified precision of decisions. None uses the model's default threshold.
    by, threshold, allow_missing, unknown
        As in :meth:`~fairfold.final.model.FinalModel.predict`.
    rows_at_once : int, default=10000
        Number of rows per part. It does not affect results.
    look : callable or None, default=None
        Function that is called with the tables of each part; see :meth:`~fairfold.final.model.FinalModel.predict`.
    comparison : TableComparison or None, default=None
        Comparison to which the rows are added, from :meth:`~fairfold.final.model.FinalModel.comparison`. None writes no
        columns of it.

    Returns
    -------
    int
        Number of samples.

    Raises
    ------
    DataError
        If ``top`` is below 1, or the file is not a table, lacks a feature, or contains an infinite or non-numeric cell.
        Missing cells are allowed, except in all rows of a column that was complete in the training table. Also if the
        number format may differ from that of the training table, or the target
        cannot be written, is the source, or has the name of another format. The target is not written in these cases.

    Notes
    -----
    The logger ``fairfold.tables.decimals`` reports how decimal numbers are read, and ``fairfold.datasets.new_rows``
    reports missing columns.
    """
    if top is not None and top < 1:
        raise DataError(f"top is {top}; it must be at least 1.")
    if threshold is not None:
        final.thresholds(threshold)  # Check it before the predictions.
    n_samples, source = 0, Path(source)
    empty = {*final.numeric, *final.text}
    check_output(target, source)  # Check the target before the predictions.
    with _advice_for_cells(), open_output(target) as stream:
        tables = read_new_rows(final, source, rows_at_once, allow_missing=allow_missing, unknown=unknown)
        for part, table in enumerate(tables):
            empty &= final.empty_columns(table.values, table.text)
            ids = _identifiers(final, table, n_samples)
            X = final.with_text(table.values, table.text, str(source), before=n_samples, unknown=unknown)
            found = final.predicted(X, objective=objective, by=by, threshold=threshold)
            if look is not None:
                look(found)
            wide = [ids, *(found[kind].add_prefix(f"{kind}_") for kind in found)]
            rows = pd.concat(wide, axis=1) if top is None else _likeliest(ids, found, top)
            if comparison is not None:
                of_rows = np.repeat(np.arange(len(ids)), len(rows) // len(ids))
                rows = pd.concat([rows, comparison.add(X).iloc[of_rows].reset_index(drop=True)], axis=1)
            protect_table(rows).to_csv(stream, index=False, header=part == 0, lineterminator="\n")
            n_samples += len(ids)
        if not allow_missing:
            final.check_filled([name for name in (*final.numeric, *final.text) if name in empty], str(source))
    return n_samples


def explain_file(
    final: FinalModel,
    source: str | Path,
    samples: Sequence[str] | None = None,
    *,
    background: str | Path | None = None,
    allow_missing: bool = False,
    unknown: Literal["error", "missing"] = "error",
) -> pd.DataFrame:
    """Explain predictions of samples of a table file.

    Parameters
    ----------
    final : FinalModel
        The model.
    source : str or Path
        File as of :func:`predict_file`.
    samples : sequence of str or None, default=None
        Identifiers, or row numbers from 1, of the samples to explain. None explains the first ten.
    background : str or Path or None, default=None
        File with typical rows to compare them with. None compares with the other rows of `source`. Only the first
        10,000 rows are used.
    allow_missing, unknown
        As in :meth:`~fairfold.final.model.FinalModel.predict`.

    Returns
    -------
    DataFrame
        As of :meth:`~fairfold.final.model.FinalModel.explain`.

    Raises
    ------
    DataError
        As in :meth:`~fairfold.final.model.FinalModel.explain`.
    """

    def rows_of(path: Path) -> Iterator[Rows]:
        n_before = 0
        for table in read_new_rows(final, path, ROWS, allow_missing=allow_missing, unknown=unknown):
            names = _identifiers(final, table, n_before)
            n_before += len(names)
            yield Rows(table, names.to_numpy())

    with _advice_for_cells():
        first = next(parts := rows_of(Path(source)))
        others = first.background()
        if background is not None:
            typical = next(rows_of(Path(background)))
            others = replace(typical, names=np.full(len(typical.names), None)).background()
        chosen = find_samples(chain([first], parts), samples)
        explained = [
            explain(final, part, others, unknown=unknown, shows_progress=True) for part in chosen if len(part.names)
        ]
    return pd.concat(explained, ignore_index=True)


@contextmanager
def _advice_for_cells() -> Iterator[None]:
    """Replace advice about the columns of a study: the columns of a final model are fixed."""
    try:
        yield
    except CellError as error:
        raise DataError(f"{error.args[0]} {error.advice_if_needed}") from None


def _identifiers(final: FinalModel, table: Table, before: int) -> pd.Series:
    if (ids := table.text.get(final.identifier or "")) is not None:
        return pd.Series(ids, name=final.identifier)
    return pd.Series(np.arange(before + 1, before + len(table.values) + 1), name="row")


def _likeliest(ids: pd.Series, found: dict[str, pd.DataFrame], top: int) -> pd.DataFrame:
    """Build one row for each of the most likely labels; ties are resolved by the order of the labels."""
    likely = found.get("posterior", found["probability"])
    order = np.argsort(-likely.to_numpy(), axis=1, kind="stable")[:, :top]
    labels = np.asarray(likely.columns)
    name = "sample" if ids.name in {"rank", "label", *found} else ids.name
    columns = {name: np.repeat(ids.to_numpy(), order.shape[1])}
    columns |= {"rank": np.tile(np.arange(1, order.shape[1] + 1), len(ids)), "label": labels[order].ravel()}
    columns |= {kind: np.take_along_axis(found[kind].to_numpy(), order, axis=1).ravel() for kind in found}
    return pd.DataFrame(columns)
