"""Columns of text, categories and dates, which a dataset keeps as they are until a model is trained."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

import numpy as np
import pandas as pd

from fairfold.errors import DataError
from fairfold.features.cells import find_format
from fairfold.features.roles import LEFT_OUT, ColumnRole, Declared, find_roles

MISSING = ""
"""Text of a missing cell."""


@dataclass(frozen=True)
class TypedColumns:
    """Cells of the last columns of a matrix of features, which contains only their positions.

    A matrix of numbers can be divided, permuted and saved in one piece. Its last columns number the different cells of
    columns that contain text, categories or dates. Each training part then makes features from the cells.

    Attributes
    ----------
    roles : tuple of ColumnRole
        Role of each column, in the order of the matrix.
    cells : mapping of str to tuple of str
        Different cells of each column, sorted. A missing cell has no position, and is NaN in the matrix.
    without_use : tuple of ColumnRole
        Roles of identifiers and constants, which give no features and are not in the matrix.
    day_first : bool
        Whether dates such as 1/2/2021 start with the day.

    Examples
    --------
    >>> columns = TypedColumns.find({"soil": ["wet", "dry", "wet", ""]}, source="plants.csv")
    >>> codes = columns.positions({"soil": ["wet", "dry", "wet", ""]})
    >>> codes.T
    array([[ 1.,  0.,  1., nan]])
    >>> columns.frame(codes[:2], [])["soil"].tolist()
    ['wet', 'dry']
    """

    roles: tuple[ColumnRole, ...]
    cells: Mapping[str, tuple[str, ...]]
    without_use: tuple[ColumnRole, ...] = ()
    day_first: bool = False

    @classmethod
    def find(
        cls,
        text: Mapping[str, Sequence[str] | np.ndarray],
        *,
        source: str,
        declared: Declared | None = None,
        day_first: bool = False,
    ) -> Self:
        """Find the role and the different cells of each column.

        Parameters
        ----------
        text : mapping of str to sequence of str
            Cells of each column. Missing ones are empty.
        source : str
            Name of the file, for messages.
        declared : mapping of str to (str or sequence), default=None
            Roles that the user declares; see :func:`~fairfold.features.roles.find_roles`.
        day_first : bool, default=False
            Whether dates such as 1/2/2021 start with the day.

        Returns
        -------
        TypedColumns
            The columns.

        Raises
        ------
        DataError
            If a declared role cannot be used.
        """
        frame = pd.DataFrame({name: np.asarray(cells, dtype=object) for name, cells in text.items()})
        try:
            found = find_roles(frame, declared=declared, day_first=day_first)
        except DataError as error:
            raise DataError(f"{source}: {error}") from None
        kept = tuple(role for role in found if role.role not in LEFT_OUT)
        cells = {role.column: tuple(sorted({*frame[role.column]} - {MISSING})) for role in kept}
        return cls(kept, cells, tuple(role for role in found if role.role in LEFT_OUT), day_first)

    @property
    def all_roles(self) -> tuple[ColumnRole, ...]:
        """Roles of all columns."""
        return *self.roles, *self.without_use

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.cells)

    @cached_property
    def key(self) -> str:
        """Checksum of roles and cells."""
        return sha256(
            repr((self.roles, *self.cells.items(), self.day_first)).encode("utf-8", "backslashreplace")
        ).hexdigest()

    @property
    def declared(self) -> dict[str, str | tuple[str, ...]]:
        """Roles in the form that :class:`~fairfold.features.TableEncoder` takes."""
        return {role.column: role.order or role.role for role in self.roles}

    @cached_property
    def with_day_first(self) -> tuple[str, ...]:
        """Columns of dates in which the day comes first. Training parts may lack the cells that show this."""
        dates = [role.column for role in self.roles if role.role == "date"]
        found = {
            name: find_format(np.array(self.cells[name], dtype=object), day_first=self.day_first) for name in dates
        }
        return tuple(name for name, form in found.items() if form and 0 <= form[0].find("%d") < form[0].find("%m"))

    def only(self, names: Collection[str]) -> Self:
        """Return some of the columns.

        Parameters
        ----------
        names : collection of str
            Names of the columns.

        Returns
        -------
        TypedColumns
            The columns in their order.
        """
        roles = tuple(role for role in self.roles if role.column in names)
        return replace(self, roles=roles, cells={role.column: self.cells[role.column] for role in roles})

    def positions(self, text: Mapping[str, Sequence[str] | np.ndarray]) -> np.ndarray:
        """Return the positions of cells among the different ones.

        Parameters
        ----------
        text : mapping of str to sequence of str of length n_samples
            Cells, all of which are among ``cells`` or missing.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Position of each cell, or NaN if it is missing.
        """
        if not self.names:
            return np.empty((len(next(iter(text.values()), ())), 0))
        numbers = [pd.Index(self.cells[name]).get_indexer(np.asarray(text[name], dtype=object)) for name in self.names]
        return np.where(np.array(numbers).T < 0, np.nan, np.array(numbers, dtype=np.float64).T)

    def frame(self, X: np.ndarray, numbers: Sequence[str]) -> pd.DataFrame:
        """Return the cells that a matrix stands for.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_numbers + n_columns)
            Columns of numbers, and positions.
        numbers : sequence of str of length n_numbers
            Names of the columns of numbers.

        Returns
        -------
        DataFrame
            Columns of numbers and of cells.
        """
        columns: dict[str, Any] = {name: X[:, j] for j, name in enumerate(numbers)}
        for j, (name, cells) in enumerate(self.cells.items(), start=len(numbers)):
            columns[name] = np.array([*cells, MISSING], dtype=object)[np.nan_to_num(X[:, j], nan=-1).astype(np.int64)]
        return pd.DataFrame(columns)

    def as_dict(self) -> dict[str, Any]:
        """Return a description that JSON can store."""
        roles = {"roles": [*map(vars, self.roles)], "without_use": [*map(vars, self.without_use)]}
        return {**roles, "cells": dict(self.cells), "day_first": self.day_first}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the columns that :meth:`as_dict` described.

        Parameters
        ----------
        stored : mapping
            Result of :meth:`as_dict`.

        Returns
        -------
        TypedColumns
            The columns.
        """
        roles, without_use = (
            tuple(ColumnRole(**{**role, "order": tuple(role["order"])}) for role in stored[kind])
            for kind in ("roles", "without_use")
        )
        cells = {str(name): tuple(map(str, stored["cells"][name])) for name in stored["cells"]}
        return cls(roles, cells, without_use, bool(stored["day_first"]))


@dataclass(frozen=True, eq=False)
class TypedSamples:
    """Samples with text, categories or dates, of which rows and columns are selected as from an array.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Columns of numbers, and positions of cells.
    numbers : tuple of str
        Names of the columns of numbers.
    typed : TypedColumns
        The other columns.

    Examples
    --------
    >>> columns = TypedColumns.find({"soil": ["wet", "dry", "wet"]}, source="plants.csv")
    >>> samples = TypedSamples(np.array([[1.0], [0.0], [1.0]]), (), columns)
    >>> samples[[0, 1]].frame()
      soil
    0  wet
    1  dry
    """

    X: np.ndarray
    numbers: tuple[str, ...]
    typed: TypedColumns

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of samples and of columns."""
        return self.X.shape

    @property
    def roles(self) -> dict[str, str | tuple[str, ...]]:
        """Role of each column, in the form that :class:`~fairfold.features.TableEncoder` takes."""
        return dict.fromkeys(self.numbers, "number") | self.typed.declared

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, key: Any) -> Self:
        """Return some samples; for a pair of indices, some samples and columns. Columns keep their order."""
        if not isinstance(key, tuple):
            return replace(self, X=self.X[key])
        rows, columns = key[0], np.sort(key[1])
        names = [(*self.numbers, *self.typed.names)[column] for column in columns]
        numbers = tuple(name for name in names if name in self.numbers)
        return replace(self, X=self.X[rows][:, columns], numbers=numbers, typed=self.typed.only(names))

    def frame(self) -> pd.DataFrame:
        """Return the samples as a table.

        Returns
        -------
        DataFrame of shape (n_samples, n_columns)
            Columns of numbers and of cells.
        """
        return self.typed.frame(self.X, self.numbers)
