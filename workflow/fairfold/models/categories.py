"""Categories for classifiers that know them: one feature of codes in the place of a column of 0/1 for each value."""

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
    """The codes of categories, the first features, and then all other features, in order.

    A code is the place of the value among the columns, missing (NaN) where they hold none.

    Parameters
    ----------
    categories : of each category its columns, of 0/1, or NaN in all.
    """

    categories: Sequence[Sequence[int]]

    def fit(self, X: Matrix, y: np.ndarray | None = None) -> Self:
        """Nothing is learned."""
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """(n_samples, n_categories + other features) of dense features."""
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
    """A classifier whose ``fit`` is given further arguments, always the same.

    Parameters
    ----------
    estimator : unfitted, of one label.
    options : arguments by name.
    """

    estimator: BaseEstimator
    options: Mapping[str, Any]

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """As of the estimator."""
        given = {**self.options, **fit_arguments(self.estimator, None, sample_weight)}
        self.estimator_ = clone(self.estimator).fit(X, y, **given)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, 2) probabilities of 0 and 1."""
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)
