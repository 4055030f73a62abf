"""Gradient boosting of scikit-learn that accepts features whose values are all missing."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier


class MissingValueBoosting(HistGradientBoostingClassifier):
    """Gradient boosting of scikit-learn that accepts features whose values are all missing."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Replace features whose values are all missing by 0, and fit the classifier.

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
