"""Tree ensembles of scikit-learn that handle feature values which scikit-learn merges or rejects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from fairfold.core.arrays import Matrix
from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues


class _ExactFeatures:
    """Mixin that keeps distinct feature values distinct; it precedes the scikit-learn class."""

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit on features whose distinct values stay distinct."""
        self.distinct_values_ = DistinctValues(least_gap=SCIKIT_LEARN_GAP).fit(X)
        return super().fit(self.distinct_values_.transform(X), y, sample_weight)

    def predict_proba(self, X: Matrix) -> Any:
        """Predict from transformed features."""
        return super().predict_proba(self.distinct_values_.transform(X))


class ExactRandomForest(_ExactFeatures, RandomForestClassifier):
    """Random forest of scikit-learn that keeps distinct feature values apart."""


class ExactExtraTrees(_ExactFeatures, ExtraTreesClassifier):
    """Extremely randomized trees of scikit-learn that keep distinct feature values apart."""


class GapTolerantBoosting(HistGradientBoostingClassifier):
    """Gradient boosting of scikit-learn that accepts features without any value."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit after setting features without any value to 0.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Label of 0/1.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return super().fit(np.where(np.isnan(X).all(axis=0), 0, X), y, sample_weight)
