"""Scikit-learn ensembles accept features that they would otherwise merge or refuse."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from fairfold.models.exact_forests import MissingValueBoosting


def test_a_feature_without_values_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[::7, 1] = np.nan
    y = X[:, 0] > 0
    expected = HistGradientBoostingClassifier(max_iter=5).fit(X, y).predict_proba(X)
    with_empty = np.insert(X, 2, np.nan, axis=1)
    found = MissingValueBoosting(max_iter=5).fit(with_empty, y).predict_proba(with_empty)
    np.testing.assert_array_equal(found, expected)
