"""Rows of new tables, whose columns are matched by name with those of a training table."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import with_sparsity
from fairfold.datasets.categories import Categories
from fairfold.datasets.dataset import Dataset
from fairfold.errors import DataError, shortened
from fairfold.tables.arff import read_arff_columns
from fairfold.tables.decimals import Learned
from fairfold.tables.delimited import read_csv_parts
from fairfold.tables.names import composed
from fairfold.tables.svmlight import FEATURE, format_of, read_svmlight
from fairfold.tables.table import Table

logger = logging.getLogger(__name__)

ROWS = 10_000  # rows per part


class TrainingColumns:
    """Columns of a training table, by which new tables are read.

    Attributes
    ----------
    features, identifier, categories, missing_value, learned, typed
        As in :class:`~fairfold.final.FinalModel`.
    advice : str
        What to do if columns are missing, for messages.
    """

    features: tuple[str, ...]
    identifier: str | None
    categories: Categories | None
    missing_value: str | None
    learned: Learned | None
    typed: Mapping[str, str]
    advice: ClassVar[str] = "add or rename them"

    @property
    def users(self) -> str:
        """What uses the columns, for messages."""
        return "the study uses"

    @property
    def numeric(self) -> tuple[str, ...]:
        """Names of the numerical columns that the model needs, in the order of its features."""
        made = self.categories.features if self.categories else self.typed
        return self.features[: len(self.features) - len(made)]

    @property
    def text(self) -> tuple[str, ...]:
        """Names of the text columns that the model needs."""
        return tuple(self.categories.values if self.categories else self.typed)

    def check_columns(self, columns: Sequence[str], source: str, *, allow_missing: bool = False) -> list[str]:
        """Check that every feature has a column.

        Parameters
        ----------
        columns : sequence of str
            Columns of a table.
        source : str
            Name of the table in error messages.
        allow_missing : bool, default=False
            Whether columns may be missing, except all.

        Returns
        -------
        list of str
            Names of the missing columns.

        Raises
        ------
        DataError
            If columns are missing that may not.
        """
        wanted, known = [*self.numeric, *self.text], set(map(composed, columns))
        missing = [name for name in wanted if name not in known]
        if missing and not (allow_missing and len(missing) < len(wanted)):
            raise DataError(
                f"{source} lacks {len(missing)} of the {len(wanted)} columns that {self.users} "
                f"({shortened(missing, 5)}). Columns are matched by name: {self.advice}."
            )
        return missing

    def with_gaps(self, X: np.ndarray) -> np.ndarray:
        """Replace the number that stands for a missing value by NaN.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Numeric features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Features with NaN for missing values.
        """
        with contextlib.suppress(ValueError):  # The text for missing values may not be a number.
            X = np.where(float(self.missing_value or "nan") == X, np.nan, X)
        return X

    def with_text(
        self,
        X: np.ndarray,
        text: Mapping[str, np.ndarray],
        source: str,
        *,
        before: int = 0,
        unknown: Literal["error", "missing"] = "error",
    ) -> Any:
        """Join numbers and text as the model takes them.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_numeric)
            Values of the numerical columns.
        text : mapping of str to ndarray of shape (n_samples,)
            Cells of the text columns.
        source : str
            Name of the table in error messages.
        before : int, default=0
            Number of rows of the table before these rows, for messages.
        unknown : {"error", "missing"}, default="error"
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or DataFrame of shape (n_samples, n_columns)
            Features, or columns of which the model makes features.
        """
        if self.categories is not None:
            return np.hstack([X, self.categories.encode(text, source, before=before, unknown=unknown)])
        if not self.typed:
            return X
        cells = {name: np.asarray(text[name], dtype=object) for name in self.typed}
        table = pd.DataFrame({**dict(zip(self.numeric, X.T, strict=True)), **cells})
        table.attrs = {"source": source, "before": before}
        return table


@dataclass(frozen=True)
class ColumnsOfDataset(TrainingColumns):
    """Columns of a dataset, by which new tables are read.

    Examples
    --------
    >>> X, Y = np.array([[1.0, 2.0]]), np.array([[1]])
    >>> data = Dataset("plants", "multilabel", X, Y, ("height", "width"), ("shade",))
    >>> ColumnsOfDataset.of(data).numeric
    ('height', 'width')
    """

    features: tuple[str, ...]
    categories: Categories | None
    missing_value: str | None
    learned: Learned | None
    typed: Mapping[str, str]
    identifier: str | None = None

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the columns of a dataset.

        Parameters
        ----------
        data : Dataset
            The data.

        Returns
        -------
        ColumnsOfDataset
            Columns of its features.
        """
        typed = {} if data.typed is None else {role.column: role.role for role in data.typed.roles}
        return cls(data.feature_names, data.categories, data.missing_value, learned_from(data), typed)


def learned_from(data: Dataset) -> Learned:
    """Return the number format of a dataset, which determines how new tables are read.

    Parameters
    ----------
    data : Dataset
        The data.

    Returns
    -------
    Learned
        The decimal mark, and the features with only whole numbers.
    """
    X = sparse.csc_array(data.X[:, : len(data.numbers)])
    stored = np.split(X.data, X.indptr[1:-1])
    whole = tuple(name for name, values in zip(data.numbers, stored, strict=False) if not (values % 1 > 0).any())
    return Learned(data.decimal_mark, whole)


def read_new_rows(
    known: TrainingColumns,
    source: Path,
    rows_at_once: int = ROWS,
    *,
    allow_missing: bool = False,
    unknown: Literal["error", "missing"] = "error",
) -> Iterator[Table]:
    """Read a table with the columns of a training table.

    Parameters
    ----------
    known : TrainingColumns
        The columns.
    source : Path
        File in any format that a study reads. Other columns are ignored.
    rows_at_once : int, default=10000
        Number of rows per part. It does not affect results.
    allow_missing : bool, default=False
        Whether missing columns count as empty.
    unknown : {"error", "missing"}, default="error"
        Whether categories that the training table lacks are an error or count as empty cells.

    Yields
    ------
    Table
        The next part, with numbers in the order of the training table, columns of text, and the identifier.

    Raises
    ------
    DataError
        If the file is not a table, lacks a column, or contains a cell that does not fit its column.
    """

    def present(header: Sequence[str]) -> tuple[list[str], list[str]]:
        missing = {*known.check_columns(header, str(source), allow_missing=allow_missing)}
        if missing:
            names = shortened(sorted(missing))
            logger.warning("%s lacks columns, which are treated as empty: %s.", source, names)
        numeric, text = ([name for name in names if name not in missing] for names in (known.numeric, known.text))
        return numeric, text

    def choose(header: list[str]) -> tuple[list[str], list[str], list[str]]:
        numeric, text = present(header)
        return numeric, [known.identifier] if known.identifier in header else [], text

    kind = format_of(source)
    if kind == "svmlight":
        parts = _parts(known, _svmlight_table(known, source, present), rows_at_once)
    elif kind == "arff":
        parts = _parts(known, read_arff_columns(source, choose), rows_at_once)
    else:
        values = known.categories.values if known.categories else None
        notation: dict[str, Any] = {"missing": known.missing_value, "learned": known.learned, "values": values}
        parts = read_csv_parts(source, choose, rows=rows_at_once, gaps=True, **notation, unknown=unknown)
    return (_completed(known, part) for part in parts)


def _svmlight_table(known: TrainingColumns, source: Path, check: Callable[[Sequence[str]], object]) -> Table:
    """Read an svmlight file; features without an entry in any sample are absent, and are set to zero."""
    read = read_svmlight(source, with_labels=False)
    present = {*read.columns}
    absent = [name for name in known.numeric if name not in present and name.startswith(FEATURE)]
    columns = (*read.columns, *absent)
    check(columns)
    n_samples = read.values.shape[0]
    return Table(columns, sparse.hstack([read.values, sparse.csr_array((n_samples, len(absent)))], "csr"), read.source)


def _parts(known: TrainingColumns, read: Table, rows_at_once: int) -> Iterator[Table]:
    """Split a file that was read completely into parts."""
    place = {name: column for column, name in enumerate(read.columns)}
    names = tuple(name for name in known.numeric if name in place)
    order = [place[name] for name in names]
    for start in range(0, read.values.shape[0], rows_at_once):
        part = slice(start, start + rows_at_once)
        values = known.with_gaps(with_sparsity(read.values[part], False)[:, order])
        text = {name: cells[part] for name, cells in read.text.items()}
        for name in filter(text.__contains__, known.text):
            text[name] = np.where(text[name] == known.missing_value, "", text[name])
        yield Table(columns=names, values=values, source=read.source, text=text)


def _completed(known: TrainingColumns, part: Table) -> Table:
    """Add empty columns for the missing ones."""
    if len(part.columns) == len(known.numeric) and part.text.keys() >= {*known.text}:
        return part
    n_samples = len(part.values)
    values = pd.DataFrame(part.values, columns=list(part.columns)).reindex(columns=list(known.numeric)).to_numpy()
    text = {name: np.full(n_samples, "", dtype=object) for name in known.text} | dict(part.text)
    return replace(part, columns=known.numeric, values=values, text=text)
