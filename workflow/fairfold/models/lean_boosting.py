"""Boosting of scikit-learn without work that no tree can come of."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.core.arrays import Matrix


class LeanBoosting(HistGradientBoostingClassifier):
    """The trees of scikit-learn, grown faster on features with few values and on features without any value.

    A feature is left out if fewer than ``min_samples_leaf`` samples differ from its most frequent value, or have a
    value at all: no split can be on it. scikit-learn fails on a feature whose values are all missing. The number of
    bins is the number of values of the feature that has most of them; further bins would be empty. Categorical
    features, if any, are given by their numbers.

    Attributes
    ----------
    searched_ : numbers of the features that a split can be on; the first feature if there is none.
    """

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit as :class:`sklearn.ensemble.HistGradientBoostingClassifier` does; dense features, NaN where missing."""
        given = {"max_bins": self.max_bins, "categorical_features": self.categorical_features}
        self.searched_ = slice(None)
        try:
            if not sparse.issparse(X):  # which scikit-learn refuses
                X = self._searchable(np.asarray(X), sample_weight)
            return super().fit(X, y, sample_weight)
        finally:
            self.set_params(**given)

    def _searchable(self, X: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
        """Choose the features to search and the number of bins; return these features."""
        n_values, largest_share = value_counts(X)
        gaps = np.isnan(X)
        # scikit-learn ignores samples of weight 0 when it chooses the bins of a feature.
        has_values = ~(gaps if sample_weight is None else gaps[np.asarray(sample_weight) != 0]).all(axis=0)
        differing = len(X) - np.maximum(largest_share, gaps.sum(axis=0))
        possible = np.flatnonzero((differing >= self.min_samples_leaf) & has_values)
        self.searched_ = possible if len(possible) else np.arange(min(1, X.shape[1]))
        self.max_bins = min(self.max_bins, max(2, n_values[self.searched_].max(initial=0)))
        if not isinstance(self.categorical_features, str | None):
            self.categorical_features = np.flatnonzero(np.isin(self.searched_, self.categorical_features))
        return X[:, self.searched_] if has_values[self.searched_].all() else np.zeros((len(X), len(self.searched_)))

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """As of :class:`sklearn.ensemble.HistGradientBoostingClassifier`."""
        return super().decision_function(X[:, self.searched_])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """As of :class:`sklearn.ensemble.HistGradientBoostingClassifier`."""
        return super().predict_proba(X[:, self.searched_])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """As of :class:`sklearn.ensemble.HistGradientBoostingClassifier`."""
        return super().predict(X[:, self.searched_])


def value_counts(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many values each feature has, and how many samples have the most frequent one; each NaN counts by itself."""
    n_samples, n_features = X.shape
    if not n_samples:
        return np.zeros(n_features, dtype=int), np.zeros(n_features, dtype=int)
    starts = np.ones((n_features, n_samples), dtype=bool)  # of runs of one value among the sorted ones
    in_order = np.sort(X.T, axis=1)
    starts[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    n_values = starts.sum(axis=1)
    runs = np.diff(np.flatnonzero(starts), append=starts.size)
    return n_values, np.maximum.reduceat(runs, np.cumsum(n_values) - n_values) if n_features else n_values
