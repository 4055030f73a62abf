"""Missing numbers among features, filled from the training samples of a model and from no others.

A NaN is a gap. Sparse features have none.
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


class TakesGaps:
    """Of estimators whose features may be sparse, or dense with gaps. A base class, before scikit-learn's."""

    def _checked(self, X: Matrix, *, reset: bool) -> Matrix:
        """(n_samples, n_features) in double precision; those of ``reset`` say how many features others have."""
        finite = True if sparse.issparse(X) else "allow-nan"
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, reset=reset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class GapFiller(TransformerMixin, BaseEstimator):
    """Features without gaps. Those that have gaps in training become two columns, so that a gap can tell something.

    A gap in another feature, which no training sample could teach anything of, is filled with its median. Data without
    gaps pass as they are, without a copy.

    Parameters
    ----------
    for_trees : whether one column has its gaps below all values and the other above them, so that a split puts them on
        the side where they help, or apart from all values, as trees do that know of gaps. They are as far off as
        thresholds drawn at random between the extremes need, to tell them from values as often as gaps are met.
        Otherwise gaps are filled with the median, and the other column says where they were.

    Attributes
    ----------
    medians_ : (n_features,) of the training samples; 0 where all are missing, or features are sparse.
    gapped_ : (n_gapped,) features with gaps in training.
    below_, above_ : (n_gapped,) what stands for a gap among trees.
    """

    _: KW_ONLY
    for_trees: bool = False

    def fit(self, X: Matrix, y: object = None) -> Self:
        """Learn from (n_samples, n_features)."""
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
        least = 1e-6 * np.maximum(np.abs(lowest), np.abs(highest))  # that single precision can tell
        offset = np.where(offset > least, offset, np.maximum(least, highest == lowest))
        self.below_, self.above_ = lowest - offset, highest + offset
        return self

    def transform(self, X: Matrix) -> Matrix:
        """(n_samples, n_features + n_gapped), the further columns last."""
        check_is_fitted(self, "medians_")
        if sparse.issparse(X):
            return X
        X = np.asarray(X)
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


def takes_gaps(estimator: object) -> bool:
    """Whether an estimator says that it takes features with gaps as they are."""
    return isinstance(estimator, BaseEstimator) and get_tags(estimator).input_tags.allow_nan
