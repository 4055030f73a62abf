"""Fill missing feature values (NaN) with values from the training samples of a model.

Sparse features have no missing values.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError


class AcceptsMissingValues:
    """Mixin of estimators that accept sparse features or dense features with NaN.

    It must precede the base classes of scikit-learn.
    """

    def _checked(self, X: Matrix, *, reset: bool) -> Matrix:
        """Return checked features in double precision. ``reset`` sets the expected number of features."""
        finite = True if sparse.issparse(X) else "allow-nan"
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, reset=reset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # The next base class is an estimator.
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class MissingValueFiller(TransformerMixin, BaseEstimator):
    """Imputer that turns each feature with missing values into two columns.

    The second column keeps the information that a value is missing. Features without missing values in training stay
    one column, and later gaps are filled with the median. Data without missing values pass without a copy.

    Parameters
    ----------
    for_trees : bool, default=False
        Encoding of a missing value. If True, one column has a value below all others and the second column a value
        above all others, so a split can put missing values on either side or separate them. Their distance grows with
        the share of missing values, so random thresholds between the extremes separate missing values as often as they
        occur. If False, missing values become the median and the second column indicates them.

    Attributes
    ----------
    medians_ : ndarray of shape (n_features,)
        Medians of the training samples, 0 if all values are missing or the features are sparse.
    gapped_ : ndarray of shape (n_gapped,)
        Indices of the features with missing values in training.
    below_ : ndarray of shape (n_gapped,)
        Value below all others of each such feature.
    above_ : ndarray of shape (n_gapped,)
        Value above all others of each such feature.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0], [np.nan]])
    >>> MissingValueFiller().fit_transform(X)
    array([[1., 0.],
           [3., 0.],
           [2., 1.]])
    """

    _: KW_ONLY
    for_trees: bool = False

    def fit(self, X: Matrix, y: object = None) -> Self:
        """Compute the values that replace missing ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training features.
        y : object
            Ignored.

        Returns
        -------
        MissingValueFiller
            Fitted imputer.
        """
        self.n_features_in_ = X.shape[1]
        self.gapped_, self.below_, self.above_ = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        if sparse.issparse(X):
            self.medians_ = np.zeros(X.shape[1])
            return self
        X = np.asarray(X, dtype=np.float64)
        gaps = np.isnan(X)
        self.gapped_ = np.flatnonzero(gaps.any(axis=0))
        self.medians_ = np.median(X, axis=0)
        known = [X[~gaps[:, feature], feature] for feature in self.gapped_]
        self.medians_[self.gapped_] = [np.median(values) if len(values) else 0.0 for values in known]
        lowest = np.array([values.min() if len(values) else 0.0 for values in known])
        highest = np.array([values.max() if len(values) else 0.0 for values in known])
        share = gaps[:, self.gapped_].mean(axis=0)
        offset = (highest - lowest) * share / np.maximum(1 - share, 1 / len(X))
        least = 1e-6 * np.maximum(np.abs(lowest), np.abs(highest))  # Smallest offset that single precision resolves.
        offset = np.where(offset > least, offset, np.maximum(least, highest == lowest))
        self.below_, self.above_ = lowest - offset, highest + offset
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Fill missing values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_features + n_gapped)
            Features without missing values. The additional columns come last.
        """
        check_is_fitted(self, "medians_")
        if sparse.issparse(X):
            return X
        X = np.asarray(X)
        if X.dtype.kind not in "fiub":  # data frames of Python objects
            X = X.astype(np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.medians_):
            raise ModelError(f"X has shape {X.shape}; it must be (n_samples, {len(self.medians_)}), as in training.")
        gaps = np.isnan(X)
        if not len(self.gapped_) and not gaps.any():
            return X
        filled = np.where(gaps, self.medians_, X)
        if not len(self.gapped_):
            return filled
        missing = gaps[:, self.gapped_]
        if not self.for_trees:
            return np.hstack([filled, missing.astype(filled.dtype)])
        values = X[:, self.gapped_]
        filled[:, self.gapped_] = np.where(missing, self.below_, values)
        return np.hstack([filled, np.where(missing, self.above_, values)])


def accepts_missing_values(estimator: object) -> bool:
    """Return whether an estimator declares that it accepts NaN.

    Parameters
    ----------
    estimator : object
        Estimator.

    Returns
    -------
    bool
        Value of scikit-learn's tag ``allow_nan``, False for other objects.
    """
    return isinstance(estimator, BaseEstimator) and get_tags(estimator).input_tags.allow_nan
