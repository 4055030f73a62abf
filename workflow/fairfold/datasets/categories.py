"""Encoding of text columns as features, one-hot or ordinal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
import pandas as pd

from fairfold.errors import MOST_NAMES, DataError, abbreviated, same_for, shortened
from fairfold.tables.cells import unknown_category
from fairfold.tables.names import composed

Encoding = Literal["one-hot", "ordinal", "as-is"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
MOST_VALUES = 100  # Maximum per column. A column with more values probably holds names or notes.


@dataclass(frozen=True)
class Categories:
    """Values of text columns and their encoding as numbers.

    Attributes
    ----------
    encoding : {"one-hot", "ordinal", "as-is"}
        ``"one-hot"`` makes a 0/1 feature ``column=value`` for each value. ``"ordinal"`` makes one feature per column,
        the position of the value among the sorted values, from 0. ``"as-is"`` makes the features of ``"one-hot"``,
        which models with native support for categories convert back to one feature.
    values : mapping of str to tuple of str
        Sorted values of each column. Numbers are sorted by size, text alphabetically.

    Examples
    --------
    >>> colors = {"color": np.array(["red", "blue", "red"])}
    >>> categories = Categories.of("one-hot", colors, "my.csv")
    >>> categories.features
    ('color=blue', 'color=red')
    >>> categories.encode({"color": ["blue", "red"]}, "my.csv").tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    encoding: Encoding
    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, encoding: Encoding, text: Mapping[str, np.ndarray], source: str) -> Self:
        """Find the values of text columns.

        Parameters
        ----------
        encoding : {"one-hot", "ordinal", "as-is"}
            Encoding of the values.
        text : mapping of str to ndarray of shape (n_samples,)
            Cells of each column.
        source : str
            Name of the file, for messages.

        Returns
        -------
        Categories
            The values and their encoding.

        Raises
        ------
        DataError
            If a column has more than ``MOST_VALUES`` values.
        """
        values = {}
        for column, texts in text.items():
            cells = _composed_cells(texts)
            found = np.unique(cells[cells != ""] if encoding == "ordinal" else cells)
            values[column] = tuple(map(str, found[natural_order(found)]))
            if len(found) > MOST_VALUES:
                count = f"{len(found)} values ({_shown(values[column], 3)}), but {MOST_VALUES} at most are allowed"
                raise DataError(f"{source}: column {column!r} has {count}. Leave it out (ignore), or use it as id.")
        return cls(encoding, values)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that encode the columns."""
        if self.encoding == "ordinal":
            return tuple(self.values)
        return tuple(f"{column}={value or '?'}" for column, values in self.values.items() for value in values)

    def encode(
        self,
        text: Mapping[str, Sequence[str] | np.ndarray],
        source: str,
        *,
        before: int = 0,
        unknown: Literal["error", "missing"] = "error",
    ) -> np.ndarray:
        """Encode the cells of the columns as numbers.

        An empty cell counts as a value in one-hot encoding if the column contained empty cells when its values were
        found. Otherwise its numbers are NaN.

        Parameters
        ----------
        text : mapping of str to sequence of str
            Cells of each column. Further columns are ignored.
        source : str
            Name of the file, for messages.
        before : int, default=0
            Number of rows of the file before these rows, for messages.
        unknown : {"error", "missing"}, default="error"
            Whether values that were not found before are an error or count as empty cells.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Encoded features.

        Raises
        ------
        DataError
            If a cell has a value that was not found before.
        """
        parts, faults = [], list[tuple[int, str, str]]()
        for column, values in self.values.items():
            cells = _composed_cells(text[column])
            codes = pd.Index(values).get_indexer(cells)
            is_unknown = (codes < 0) & (cells != "")
            faults += [(row, column, str(cells[row])) for row in np.flatnonzero(is_unknown).tolist()]
            codes[is_unknown] = values.index("") if "" in values else -1
            numbers = codes[:, np.newaxis] if self.encoding == "ordinal" else codes[:, np.newaxis] == range(len(values))
            parts.append(np.where(codes[:, np.newaxis] < 0, np.nan, numbers))
        if faults and unknown == "error":
            (row, column, cell), *others = sorted(faults)
            message = unknown_category(f"{source}, data row {before + row + 1}", column, cell, self.values[column])
            places = [f"data row {before + row + 1}, column {column!r} ({cell!r})" for row, column, cell in others]
            raise DataError(message + same_for(places))
        n_samples = len(next(iter(text.values()), ()))
        return np.hstack(parts) if parts else np.empty((n_samples, 0))

    def decode(self, encoded: np.ndarray) -> dict[str, np.ndarray]:
        """Return the cells that :meth:`encode` encoded.

        Parameters
        ----------
        encoded : ndarray of shape (n_samples, n_features)
            Encoded features.

        Returns
        -------
        dict of str to ndarray of shape (n_samples,)
            Cells of each column, ``""`` where missing.

        Examples
        --------
        >>> Categories("ordinal", {"size": ("small", "tall")}).decode(np.array([[1.0], [np.nan]]))["size"].tolist()
        ['tall', '']
        """
        text, is_ordinal = {}, self.encoding == "ordinal"
        for column, values in self.values.items():
            numbers, encoded = np.split(encoded, [1 if is_ordinal else len(values)], axis=1)
            codes = numbers[:, 0] if is_ordinal else numbers.argmax(axis=1)
            positions = np.where(np.isnan(numbers).any(axis=1), -1, codes).astype(int)
            text[column] = np.array([*values, ""], dtype=object)[positions]
        return text


def _shown(values: Sequence[str] | np.ndarray, most: int = MOST_NAMES) -> str:
    """Join the first values, of which long texts are abbreviated."""
    return shortened([abbreviated(str(value)) for value in values], most)


def _composed_cells(cells: Sequence[str] | np.ndarray) -> np.ndarray:
    return np.array([composed(str(cell)) for cell in cells], dtype=str)


def natural_order(names: np.ndarray) -> np.ndarray:
    """Return the indices that sort numbers by value (``2`` before ``10``) and other names alphabetically.

    Parameters
    ----------
    names : ndarray of shape (n_names,)
        Names as text.

    Returns
    -------
    ndarray of shape (n_names,)
        Indices of the names in sorted order.

    Examples
    --------
    >>> natural_order(np.array(["10", "2"])).tolist()
    [1, 0]
    >>> natural_order(np.array(["b", "a"])).tolist()
    [1, 0]
    """
    try:
        return np.argsort(names.astype(float), kind="stable")
    except ValueError:
        return np.argsort(names, kind="stable")
