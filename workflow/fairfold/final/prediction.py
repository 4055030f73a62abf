"""Predictions for a file, part by part, so that it may be larger than memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.files import atomic_open, check_target
from fairfold.datasets.formats import Table, arff_columns_of, read_arff, read_csv_parts
from fairfold.datasets.svmlight import FEATURE, format_of, read_svmlight
from fairfold.errors import DataError
from fairfold.final.model import KINDS, FinalModel

ROWS = 10_000  # at once


def predict_file(
    final: FinalModel,
    source: str | Path,
    target: str | Path,
    *,
    top: int | None = None,
    objective: str | None = None,
    by: Literal["pooled", "label"] = "pooled",
    rows_at_once: int = ROWS,
) -> int:
    """Write what a model says of the rows of a table; whole, or not at all.

    Parameters
    ----------
    final : the model.
    source : a file of any kind that a study reads. Columns are matched by name, in any order, and further ones are
        left out. The column of the model's identifier is copied if it is there; otherwise rows are numbered from 1.
    target : the CSV to write. A row per sample: ``probability_<label>`` of all labels, then ``posterior_<label>``, then
        ``decision_<label>``, see :meth:`~fairfold.final.model.FinalModel.predict`.
    top : write so many labels of each sample in place of all, a row each, with the columns ``rank, label, probability,
        posterior, decision``, the likeliest first.
    objective, by : what decisions are for.
    rows_at_once : that are predicted, and of text in memory; any number gives the same.

    Returns
    -------
    Number of samples.

    Raises
    ------
    DataError
        When the file is not a table, lacks a feature, or contains a cell that is infinite or not a number (it may be
        missing); when its numbers may be written in another way than those that the model learned from; or when the
        target cannot be written. Nothing is written then.

    Notes
    -----
    The logger ``fairfold.datasets.decimals`` receives how decimals are read.
    """
    if top is not None and top < 1:
        raise DataError(f"top is {top}; it must be at least 1.")
    n_samples = 0
    check_target(target)  # before the work, not after it
    with atomic_open(target, "w", newline="", encoding="utf-8") as stream:
        for part, table in enumerate(_tables(final, Path(source), rows_at_once)):
            ids = _identifiers(final, table, n_samples)
            X = table.values
            if final.categories is not None:
                X = np.hstack([X, final.categories.encode(table.text, str(source), before=n_samples)])
            found = final.predict(X, objective=objective, by=by)
            wide = [ids, *(found[kind].add_prefix(f"{kind}_") for kind in KINDS)]
            rows = pd.concat(wide, axis=1) if top is None else _likeliest(ids, found, top)
            rows.to_csv(stream, index=False, header=part == 0, lineterminator="\n")
            n_samples += len(ids)
    return n_samples


def _tables(final: FinalModel, source: Path, rows_at_once: int) -> Iterator[Table]:
    """Parts of the file: numbers in the model's order, and text, the identifier where it is there."""
    kind = format_of(source)
    if kind == "arff":
        return _parts(final, _arff_table(final, source), rows_at_once)
    if kind == "svmlight":
        return _parts(final, _svmlight_table(final, source), rows_at_once)

    def choose(header: list[str]) -> tuple[list[str], list[str], list[str]]:
        final.check_columns(header, str(source))
        identifier = [final.identifier] if final.identifier in header else []
        return list(final.numeric), identifier, list(final.text)

    options = {"missing": final.missing_value, "gaps": True, "learned": final.learned}
    return read_csv_parts(source, choose, rows=rows_at_once, **options)


def _arff_table(final: FinalModel, source: Path) -> Table:
    header = arff_columns_of(source)
    final.check_columns(header, str(source))
    identifier = [final.identifier] if final.identifier in header else []
    wanted = {*final.numeric, *identifier, *final.text}
    ignored = [name for name in header if name not in wanted]
    return read_arff(source, gaps=True, text_columns=identifier, categorical=final.text, ignored=ignored)


def _svmlight_table(final: FinalModel, source: Path) -> Table:
    """Read an svmlight file, in which features that no sample has are absent, and are zero."""
    read = read_svmlight(source, with_labels=False)
    known = {*read.columns}
    absent = [name for name in final.numeric if name not in known and name.startswith(FEATURE)]
    columns = (*read.columns, *absent)
    final.check_columns(columns, str(source))
    n_samples = read.values.shape[0]
    return Table(columns, sparse.hstack([read.values, sparse.csr_array((n_samples, len(absent)))], "csr"), read.source)


def _parts(final: FinalModel, read: Table, rows_at_once: int) -> Iterator[Table]:
    """Parts of a file that is read whole."""
    place = {name: at for at, name in enumerate(read.columns)}
    order = [place[name] for name in final.numeric]
    for start in range(0, read.values.shape[0], rows_at_once):
        part = slice(start, start + rows_at_once)
        values = (read.values[part].toarray() if sparse.issparse(read.values) else read.values[part])[:, order]
        with contextlib.suppress(TypeError, ValueError):  # there is none, or it is no number
            values = np.where(float(final.missing_value) == values, np.nan, values)
        text = {name: cells[part] for name, cells in read.text.items()}
        text |= {name: np.where(text[name] == final.missing_value, "", text[name]) for name in final.text}
        yield Table(columns=final.numeric, values=values, source=read.source, text=text)


def _identifiers(final: FinalModel, table: Table, before: int) -> pd.Series:
    if final.identifier in table.text:
        return pd.Series(table.text[final.identifier], name=final.identifier)
    return pd.Series(np.arange(before + 1, before + len(table.values) + 1), name="row")


def _likeliest(ids: pd.Series, found: dict[str, pd.DataFrame], top: int) -> pd.DataFrame:
    """Rows ``id, rank, label, probability, posterior, decision``; of equals the first label."""
    order = np.argsort(-found["posterior"].to_numpy(), axis=1, kind="stable")[:, :top]
    labels = np.asarray(found["posterior"].columns)
    columns = {ids.name: np.repeat(ids.to_numpy(), order.shape[1])}
    columns |= {"rank": np.tile(np.arange(1, order.shape[1] + 1), len(ids)), "label": labels[order].ravel()}
    columns |= {kind: np.take_along_axis(found[kind].to_numpy(), order, axis=1).ravel() for kind in KINDS}
    return pd.DataFrame(columns)
