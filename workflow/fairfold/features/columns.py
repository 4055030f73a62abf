"""Encoders of single columns of numbers, booleans, categories and dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.features.cells import as_numbers, as_texts, as_times, find_format, refuse
from fairfold.features.molecules import MoleculeEncoder
from fairfold.features.roles import LEFT_OUT, ColumnRole
from fairfold.features.text import Components, TextEncoder

LEAST_SAMPLES = 2
"""Minimum number of training samples of a category with a feature of its own. Rarer categories share one."""
MOST_FEATURES = 100
"""Maximum number of features of a category."""
_RARE = "infrequent_sklearn"  # scikit-learn's name of the feature of rare categories
_EPOCH, _DAY = pd.Timestamp("1970-01-01"), pd.Timedelta(days=1)
_PARTS: dict[str, Callable[[pd.Series], Any]] = {
    "year": lambda times: times.dt.year,
    "month": lambda times: times.dt.month,
    "weekday": lambda times: times.dt.day_of_week,
    "day of year": lambda times: times.dt.day_of_year,
    "days": lambda times: (times - _EPOCH) / _DAY,
    "hour": lambda times: times.dt.hour,
}


class ColumnEncoder(Protocol):
    """Encoder of one column. Its attributes are plain data, so that it can be stored."""

    def fit_transform(self, column: pd.Series) -> Matrix:
        """Fit the encoder, and encode the training samples."""

    def transform(self, column: pd.Series) -> Matrix:
        """Encode a column, with one row per sample."""

    def names(self, column: str) -> list[str]:
        """Return the names of the features."""


@dataclass
class NumberEncoder:
    """Encoder of numbers, numbers as text, booleans and durations; NaN for a missing cell.

    Parameters
    ----------
    truths : bool, default=False
        Whether the words true, false, yes and no are numbers.

    Examples
    --------
    >>> NumberEncoder().fit_transform(pd.Series([True, None], dtype="boolean")).tolist()
    [[1.0], [nan]]
    """

    truths: bool = False

    def fit_transform(self, column: pd.Series) -> np.ndarray:
        """Encode the training samples."""
        return self.transform(column)

    def transform(self, column: pd.Series) -> np.ndarray:
        """Encode a column as one number per sample."""
        return as_numbers(column, truths=self.truths)[:, np.newaxis]

    def names(self, column: str) -> list[str]:
        """Return the name of the column."""
        return [column]


@dataclass
class CategoryEncoder:
    """One-hot encoder of a category whose rare values share a feature.

    A missing cell is a category. Unknown categories count as rare, or have zeros only if training had no rare category.

    Attributes
    ----------
    encoder_ : OneHotEncoder
        Fitted encoder of scikit-learn.

    Examples
    --------
    >>> encoder = CategoryEncoder()
    >>> encoder.fit_transform(pd.Series(["red", "red", "blue", "blue", "green", "pink"]))[3:].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    >>> encoder.names("color")
    ['color=blue', 'color=red', 'color=rare']
    """

    encoder_: Any = field(default=None, init=False)

    def fit_transform(self, column: pd.Series) -> np.ndarray:
        """Find the categories, and encode the training samples."""
        from sklearn.preprocessing import OneHotEncoder

        texts = _stripped(column)
        self.encoder_ = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=LEAST_SAMPLES,
            max_categories=MOST_FEATURES,
            sparse_output=False,
            feature_name_combiner=named,
        )
        return self.encoder_.fit_transform(texts)

    def transform(self, column: pd.Series) -> np.ndarray:
        """Encode a column as one feature per category."""
        return self.encoder_.transform(_stripped(column))

    def names(self, column: str) -> list[str]:
        """Return a name for each category, with ``?`` for a missing cell."""
        return list(self.encoder_.get_feature_names_out([column]))


@dataclass
class OrderEncoder:
    """Encoder of ordered categories as their positions; NaN for missing and unknown categories.

    Parameters
    ----------
    order : sequence of str
        Categories in ascending order.

    Examples
    --------
    >>> OrderEncoder(("low", "high")).fit_transform(pd.Series(["high", "low", None])).tolist()
    [[1.0], [0.0], [nan]]
    """

    order: Sequence[str]

    def fit_transform(self, column: pd.Series) -> np.ndarray:
        """Encode the training samples."""
        return self.transform(column)

    def transform(self, column: pd.Series) -> np.ndarray:
        """Encode a column as one number per sample."""
        position = {value: float(number) for number, value in enumerate(self.order)}
        return np.array([[position.get(text, np.nan)] for (text,) in _stripped(column)]).reshape(len(column), 1)

    def names(self, column: str) -> list[str]:
        """Return the name of the column."""
        return [column]


@dataclass
class DateEncoder:
    """Encoder of dates and times as year, month, weekday, day of year and days since 1970, and the hour if it varies.

    Weekdays are 0 (Monday) to 6. All features are NaN for a missing cell. Times of a known zone are in UTC.

    Parameters
    ----------
    day_first : bool, default=False
        Whether the day comes before the month if both orders are possible.

    Attributes
    ----------
    format_ : str or None
        Format of text.
    parts_ : list of str
        Names of the features.

    Examples
    --------
    >>> encoder = DateEncoder()
    >>> encoder.fit_transform(pd.Series(["1970-01-01", "1971-02-01"])).tolist()
    [[1970.0, 1.0, 3.0, 1.0, 0.0], [1971.0, 2.0, 0.0, 32.0, 396.0]]
    >>> encoder.names("seen")
    ['seen: year', 'seen: month', 'seen: weekday', 'seen: day of year', 'seen: days']
    """

    day_first: bool = False
    format_: str | None = field(default=None, init=False)
    parts_: list[str] = field(default_factory=list, init=False)

    def fit_transform(self, column: pd.Series) -> np.ndarray:
        """Find the format, and encode the training samples."""
        self.format_ = None
        if not pd.api.types.is_datetime64_any_dtype(column.dtype) and not isinstance(column.dtype, pd.PeriodDtype):
            found = find_format(as_texts(column), day_first=self.day_first)
            if found is None and (rows := np.flatnonzero(_stripped(column)[:, 0] != "")).size:
                raise refuse(column, rows[0], "dates of one format", "Write all dates as in 2021-01-31.")
            self.format_ = found[0] if found else None
        times = as_times(column, self.format_)
        varies = times.dt.hour.nunique() > 1
        self.parts_ = [part for part in _PARTS if part != "hour" or varies]
        return self._parts_of(times)

    def transform(self, column: pd.Series) -> np.ndarray:
        """Encode a column as one feature per part of the date."""
        return self._parts_of(as_times(column, self.format_))

    def names(self, column: str) -> list[str]:
        """Return a name for each part of the date."""
        return [f"{column}: {part}" for part in self.parts_]

    def _parts_of(self, times: pd.Series) -> np.ndarray:
        return np.column_stack(
            [_PARTS[part](times).to_numpy(dtype=np.float64, na_value=np.nan) for part in self.parts_]
        )


@dataclass
class TextColumnEncoder:
    """Encoder of a column of text.

    Parameters
    ----------
    encoder : TextEncoder
        Encoder of cells as frequencies of terms.
    components : Components or None, default=None
        Dense features that are computed from the frequencies.
    keeps_terms : bool, default=True
        Whether the frequencies are features.

    Examples
    --------
    >>> from fairfold.features.text import Components, TextEncoder
    >>> encoder = TextColumnEncoder(TextEncoder(), Components(1), keeps_terms=False)
    >>> encoder.fit_transform(pd.Series(["oak", "ash", "oak"])).shape
    (3, 1)
    >>> encoder.names("tree")
    ['tree: component 1']
    """

    encoder: TextEncoder
    components: Components | None = None
    keeps_terms: bool = True

    def fit_transform(self, column: pd.Series) -> Matrix:
        """Choose the terms, and encode the training samples."""
        frequencies = self.encoder.fit_transform(as_texts(column))
        if self.components is not None:
            self.components.fit(frequencies)
        return self._features(frequencies)

    def transform(self, column: pd.Series) -> Matrix:
        """Encode a column as components, frequencies of terms, or both."""
        return self._features(self.encoder.transform(as_texts(column)))

    def names(self, column: str) -> list[str]:
        """Return a name for each component and each term."""
        terms = self.encoder.names()
        names = [] if self.components is None else self.components.names(terms)
        if self.keeps_terms:
            names = [*names, *terms]
        return [f"{column}: {name}" for name in names]

    @property
    def n_terms(self) -> int:
        """Number of frequencies, which are the last features."""
        return len(self.encoder.names()) if self.keeps_terms else 0

    def _features(self, frequencies: Matrix) -> Matrix:
        if self.components is None:
            return frequencies
        dense = self.components.transform(frequencies)
        return sparse.hstack([dense, frequencies], format="csr") if self.keeps_terms else dense


def encoder_for(
    role: ColumnRole, *, most: int, text: str = "sparse", n_components: int = 100, day_first: bool = False
) -> ColumnEncoder | None:
    """Create the encoder of a role.

    Parameters
    ----------
    role : ColumnRole
        Role of the column.
    most : int
        Maximum number of terms of each kind in a text.
    text : {"sparse", "dense", "both"}, default="sparse"
        Features of a text: frequencies of terms, components, or both.
    n_components : int, default=100
        Number of components of a text.
    day_first : bool, default=False
        Whether the day comes before the month in dates.

    Returns
    -------
    ColumnEncoder or None
        Unfitted encoder; None for a column that gives no features.

    Examples
    --------
    >>> from fairfold.features import ColumnRole
    >>> encoder_for(ColumnRole("a", "number"), most=100)
    NumberEncoder(truths=False)
    """
    match role:
        case _ if role.role in LEFT_OUT:
            return None
        case ColumnRole(role="category", order=order) if order:
            return OrderEncoder(order)
        case ColumnRole(role="category"):
            return CategoryEncoder()
        case ColumnRole(role="date"):
            return DateEncoder(day_first)
        case ColumnRole(role="molecule"):
            return MoleculeEncoder()
        case ColumnRole(role="text" | "short text"):
            terms = TextEncoder(most, with_words=role.role == "text")
            components = None if text == "sparse" else Components(n_components)
            return TextColumnEncoder(terms, components, keeps_terms=text != "dense")
    return NumberEncoder(truths=role.role == "boolean")


def _stripped(column: pd.Series) -> np.ndarray:
    """Return the cells as one column of text without spaces at the ends."""
    return np.array([text.strip() for text in as_texts(column)], dtype=object).reshape(-1, 1)


def named(column: str, category: str) -> str:
    """Name the feature of a category.

    Parameters
    ----------
    column : str
        Name of the column.
    category : str
        Category; ``""`` is missing.

    Returns
    -------
    str
        Name of the feature.

    Examples
    --------
    >>> named("color", "")
    'color=?'
    """
    return f"{column}={'rare' if category == _RARE else category or '?'}"
