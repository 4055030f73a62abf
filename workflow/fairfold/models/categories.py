"""Category codes for classifiers with native support for categorical features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags

from fairfold.core.arrays import Matrix
from fairfold.core.groups import fit_arguments


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


@dataclass(eq=False, repr=False)
class FittedWith(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Binary classifier with fixed extra arguments of ``fit``.

    Parameters
    ----------
    estimator : estimator object
        Unfitted binary classifier.
    options : mapping of str -> object
        Extra arguments by name.

    Attributes
    ----------
    estimator_ : estimator object
        Fitted classifier.
    classes_ : ndarray
        Classes of the fitted classifier.
    """

    estimator: BaseEstimator
    options: Mapping[str, Any]

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the classifier with the extra arguments.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Label of 0/1.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        given = {**self.options, **fit_arguments(self.estimator, None, sample_weight)}
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probabilities of both classes.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities of 0 and 1.
        """
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)
