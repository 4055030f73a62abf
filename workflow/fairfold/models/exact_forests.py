"""Tree ensembles of scikit-learn, protected against feature values that they merge or refuse."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier

from fairfold.core.arrays import Matrix
from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues


class _ExactFeatures:
    """A base class, before that of scikit-learn."""

    def fit(self, X: Matrix, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit as the class of scikit-learn does."""
        self.distinct_values_ = DistinctValues(least_gap=SCIKIT_LEARN_GAP).fit(X)
        return super().fit(self.distinct_values_.transform(X), y, sample_weight)

    def predict_proba(self, X: Matrix) -> Any:
        """Predict as the class of scikit-learn does."""
        return super().predict_proba(self.distinct_values_.transform(X))


class ExactRandomForest(_ExactFeatures, RandomForestClassifier):
    """Random forest of scikit-learn that keeps distinct feature values apart."""


class ExactExtraTrees(_ExactFeatures, ExtraTreesClassifier):
    """Extremely randomized trees of scikit-learn that keep distinct feature values apart."""


class GapTolerantBoosting(HistGradientBoostingClassifier):
    """Gradient boosting of scikit-learn that ignores features without any value, on which scikit-learn fails."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit as the class of scikit-learn does."""
        return super().fit(np.where(np.isnan(X).all(axis=0), 0, X), y, sample_weight)
