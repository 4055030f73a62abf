"""Gower's distance between rows of numbers and categories."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype
from scipy import sparse
from scipy.spatial.distance import cdist

from fairfold.errors import SplitError

_ROWS_AT_ONCE = 500


def gower_distances(X: Any, Y: Any = None) -> np.ndarray:
    """Compute Gower's distance between rows of numbers and categories.

    Parameters
    ----------
    X : {array-like, DataFrame} of shape (n_samples, n_columns)
        Rows. Columns of a data frame that contain no numbers are categories. NaN, None and ``""`` are missing.
    Y : {array-like, DataFrame} of shape (n_others, n_columns) or None, default=None
        Other rows, whose categories that `X` lacks are missing. None compares the rows of `X` with each other.

    Returns
    -------
    ndarray of shape (n_samples, n_others)
        Mean over the columns that both rows have. A column of numbers contributes the absolute difference divided by
        the range of `X`, and a category 0 or 1. Rows that share no column have the distance 1.

    Raises
    ------
    SplitError
        If a number is infinite, `X` is sparse, or `Y` has other columns.

    References
    ----------
    J. C. Gower (1971), A general coefficient of similarity and some of its properties, Biometrics 27.

    Examples
    --------
    >>> plants = pd.DataFrame({"height": [1.0, 3.0, None], "soil": ["wet", "dry", "dry"]})
    >>> gower_distances(plants).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    rows = MixedRows.of(X)
    return rows.distances(rows if Y is None else MixedRows.of(Y, like=X))


def check_feature_weights(weights: ArrayLike, n_features: int) -> np.ndarray:
    """Check the weights of features.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        Weights.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_features,)
        Weights as numbers.

    Raises
    ------
    SplitError
        If the number of weights is wrong, a weight is negative or no finite number, or all are 0.
    """
    try:
        found = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_features,):
        raise SplitError(f"feature_weights: expected {n_features} numbers, one for each feature. Give them, or None.")
    if not (np.isfinite(found).all() and found.min() >= 0 and found.max() > 0):
        raise SplitError("feature_weights: a weight is negative, infinite or missing, or all are 0. Give others.")
    return found


@dataclass
class MixedRows:
    """Rows of numbers and categories, encoded such that absolute differences add up to Gower's distance.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Numbers divided by their range, and one-hot categories with 1/2 instead of 1. NaN is missing.
    column_of : ndarray of int of shape (n_features,)
        Column of each feature.
    weights : ndarray of shape (n_columns,)
        Weight of each column.
    """

    values: np.ndarray
    column_of: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, X: Any, *, like: Any = None, weights: ArrayLike | None = None) -> Self:
        """Encode rows.

        Parameters
        ----------
        X : {array-like, DataFrame} of shape (n_rows, n_columns)
            Rows, as for :func:`gower_distances`.
        like : {array-like, DataFrame} or None, default=None
            Rows with the ranges and categories. None uses those of `X`.
        weights : array-like of shape (n_columns,) or None, default=None
            Weight of each column. None weighs all equally.

        Returns
        -------
        MixedRows
            Encoded rows.

        Raises
        ------
        SplitError
            As for :func:`gower_distances`.
        """
        frame = _frame(X)
        known = frame if like is None else _frame(like)
        if [*frame] != [*known]:
            raise SplitError("X: the columns differ from those of the other rows. Give the same columns.")
        parts = [_encoded(frame[name], known[name]) for name in frame]
        column_of = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        of_columns = np.ones(len(parts)) if weights is None else check_feature_weights(weights, len(parts))
        return cls(np.hstack(parts), column_of, of_columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.values), len(self.weights)

    @property
    def is_category(self) -> np.ndarray:
        """Whether each feature belongs to a category, which has two or more features."""
        return np.bincount(self.column_of)[self.column_of] > 1

    def __getitem__(self, rows: np.ndarray) -> Self:
        """Select rows."""
        return replace(self, values=self.values[rows])

    def points(self) -> np.ndarray:
        """Return points whose squared Euclidean distances add squared differences of numbers and unequal categories.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            Centered points. Missing cells are 0, the mean of the feature.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # columns without a value
            means = np.nan_to_num(np.nanmean(self.values, axis=0))
        scale = np.where(self.is_category, np.sqrt(2), 1) * np.sqrt(self.weights[self.column_of])
        return np.nan_to_num(self.values - means) * scale

    def distances(self, others: Self) -> np.ndarray:
        """Compute Gower's distances to other rows.

        Parameters
        ----------
        others : MixedRows
            Rows with the same encoding.

        Returns
        -------
        ndarray of shape (n_rows, n_others)
            Distances.
        """
        first, is_category = np.unique(self.column_of, return_index=True)[1], self.is_category
        has_x, has_y = (1.0 - np.isnan(rows.values[:, first]) for rows in (self, others))
        shared = (has_x * self.weights) @ has_y.T
        X, Y = (np.nan_to_num(rows.values) for rows in (self, others))
        of_features = self.weights[self.column_of]
        # Products of one-hot features are 1/4 for equal categories, which takes less time than differences.
        of_categories = (has_x * self.weights * is_category[first]) @ has_y.T
        equal = (4 * X * of_features)[:, is_category] @ Y[:, is_category].T
        X, Y = ((rows * of_features)[:, ~is_category] for rows in (X, Y))
        differences = of_categories - equal + (cdist(X, Y, "cityblock") if X.shape[1] else 0)
        # A difference from a missing cell, here 0, is the absolute value of the other cell.
        has_x, has_y = (has[:, ~is_category[first]] for has in (has_x, has_y))
        if not (has_x.all() and has_y.all()):
            differences -= np.abs(X) @ (1 - has_y).T + (1 - has_x) @ np.abs(Y).T
        return np.divide(np.maximum(differences, 0), shared, out=np.ones_like(shared), where=shared > 0)

    def nearest(self, others: Self) -> np.ndarray:
        """Return the distance of each row to the nearest of other rows.

        Parameters
        ----------
        others : MixedRows
            Rows with the same encoding.

        Returns
        -------
        ndarray of shape (n_rows,)
            Distances.
        """
        starts = range(0, len(self.values), _ROWS_AT_ONCE)
        parts = [self[np.arange(start, min(start + _ROWS_AT_ONCE, len(self.values)))] for start in starts]
        return np.concatenate([part.distances(others).min(axis=1) for part in parts])


def _frame(X: Any) -> pd.DataFrame:
    if X is None:
        raise SplitError("X: the features are missing. Pass them as split(X, Y) or assign(Y, X=X).")
    if sparse.issparse(X):
        raise SplitError("X: found sparse features. For Gower's distance, give a data frame, or use another metric.")
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))


def _encoded(column: pd.Series, known: pd.Series) -> np.ndarray:
    """Return one feature of a number, or two or more of a category."""
    if is_numeric_dtype(known.dtype):
        try:
            values, all_known = (each.to_numpy(dtype=float, na_value=np.nan) for each in (column, known))
        except (TypeError, ValueError):
            raise SplitError(f"X: column {column.name!r} has no numbers in these rows, but in others.") from None
        if np.isinf(values).any():
            raise SplitError(f"X: column {column.name!r} contains an infinite number. Replace it, or leave it empty.")
        filled = all_known[np.isfinite(all_known)]
        extent = float(np.ptp(filled)) if len(filled) else 0.0
        return (values / extent if extent else np.where(np.isnan(values), np.nan, 0.0))[:, np.newaxis]
    cells, known_cells = (each.astype(object).where(each.notna(), "").astype(str) for each in (column, known))
    categories = pd.Index(sorted({*known_cells} - {""}))
    codes = categories.get_indexer(cells)[:, np.newaxis]
    one_hot = (codes == np.arange(max(len(categories), 2))) / 2
    return np.where(codes < 0, np.nan, one_hot)
