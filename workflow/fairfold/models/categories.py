"""Category codes for classifiers with native support for categorical features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from fairfold.core.arrays import Matrix


@dataclass(eq=False, repr=False)
class CategoryCodes(TransformerMixin, BaseEstimator):
    """Transformer that joins one-hot columns into category codes.

    The codes come first, followed by all other features in their order. A code is the position of the value among the
    columns of its category. It is NaN if no column contains a 1.

    Parameters
    ----------
    categories : sequence of sequence of int
        One-hot columns of each category. They contain 0/1, or NaN in all columns of a missing category.

    Examples
    --------
    Columns 1 to 3 encode one category, which is missing in the last sample.

    >>> import numpy as np
    >>> from fairfold.models.categories import CategoryCodes
    >>> X = np.array([[0.5, 0, 0, 1], [0.7, 1, 0, 0], [0.9, np.nan, np.nan, np.nan]])
    >>> CategoryCodes([[1, 2, 3]]).fit_transform(X)
    array([[2. , 0.5],
           [0. , 0.7],
           [nan, 0.9]])
    """

    categories: Sequence[Sequence[int]]

    def fit(self, X: Matrix, y: np.ndarray | None = None) -> Self:
        """Return the transformer unchanged; there is nothing to learn.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray, default=None
            Ignored.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Replace one-hot columns with codes.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Dense features.

        Returns
        -------
        ndarray of shape (n_samples, n_categories + n_other_features)
            Codes and other features.
        """
        codes = np.empty((len(X), len(self.categories)))
        for number, columns in enumerate(self.categories):
            values = X[:, list(columns)] == 1
            codes[:, number] = np.where(values.any(axis=1), values.argmax(axis=1), np.nan)
        taken = [column for columns in self.categories for column in columns]
        return np.hstack([codes, np.delete(X, taken, axis=1)])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
