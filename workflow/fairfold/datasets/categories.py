"""Columns of text as features: a column of 0/1 for each value, or the values' numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
import pandas as pd

from fairfold.datasets.names import composed
from fairfold.errors import DataError, shortened

Encoding = Literal["one-hot", "ordinal", "as-is"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
MOST_VALUES = 100  # of a column; with more, it is a name or a note


@dataclass(frozen=True)
class Categories:
    """Which values each column of text has, and how they become numbers.

    Attributes
    ----------
    encoding : ``"one-hot"``, a feature ``column=value`` of 0/1 for each value; ``"ordinal"``, one feature, the place of
        the value among the column's sorted ones, from 0; ``"as-is"``, those of ``"one-hot"``, of which models that know
        categories make one again.
    values : column -> its values, sorted: numbers by size, text by the alphabet.
    """

    encoding: Encoding
    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, encoding: Encoding, text: Mapping[str, np.ndarray], source: str) -> Self:
        """Those of columns of text.

        Raises
        ------
        DataError
            When a column has more than ``MOST_VALUES`` values.
        """
        values = {}
        for column, texts in text.items():
            cells = _composed_cells(texts)
            found = np.unique(cells[cells != ""] if encoding == "ordinal" else cells)
            values[column] = tuple(map(str, found[natural_order(found)]))
            if len(found) > MOST_VALUES:
                raise DataError(
                    f"{source}: column {column!r} holds {len(found)} texts ({shortened(values[column], 3)}), but a "
                    f"category has {MOST_VALUES} at most: leave the column out (ignore), or make it the id."
                )
        return cls(encoding, values)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the columns become."""
        if self.encoding == "ordinal":
            return tuple(self.values)
        return tuple(f"{column}={value or '?'}" for column, values in self.values.items() for value in values)

    def encode(self, text: Mapping[str, Sequence[str]], source: str, *, before: int = 0) -> np.ndarray:
        """(n_samples, n_features) numbers of the columns' cells.

        An empty cell is a value of its own where the columns held one when they were first read, one-hot; otherwise its
        numbers are missing, NaN.

        Parameters
        ----------
        text : column -> its cells; others may be there.
        source : where they are from, for messages.
        before : rows that stand before these.

        Raises
        ------
        DataError
            When a cell holds another value.
        """
        parts = []
        for column, values in self.values.items():
            cells = _composed_cells(text[column])
            codes = pd.Index(values).get_indexer(cells)
            unknown = np.flatnonzero((codes < 0) & (cells != ""))
            if unknown.size:
                first = unknown[0]
                raise DataError(
                    f"{source}, data row {before + first + 1}, column {column!r}: found {str(cells[first])!r}, "
                    f"but known are {shortened(values, 10)}; correct it, or leave the row out."
                )
            numbers = codes[:, np.newaxis] if self.encoding == "ordinal" else codes[:, np.newaxis] == range(len(values))
            numbers = np.where(codes[:, np.newaxis] < 0, np.nan, numbers)
            parts.append(numbers)
        n_samples = len(next(iter(text.values()), ()))
        return np.hstack(parts) if parts else np.empty((n_samples, 0))


def _composed_cells(cells: Sequence[str]) -> np.ndarray:
    return np.array([composed(str(cell)) for cell in cells], dtype=str)


def natural_order(names: np.ndarray) -> np.ndarray:
    """Indices that sort numbers by value (``2`` before ``10``) and anything else alphabetically."""
    try:
        return np.argsort(names.astype(float), kind="stable")
    except ValueError:
        return np.argsort(names, kind="stable")
