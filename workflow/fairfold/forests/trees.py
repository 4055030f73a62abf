"""Forests that predict all labels at once, with their out-of-bag predictions.

The trees are scikit-learn's. What is added is a sum over trees in a fixed order, so that any number of threads gives
the same bytes, and out-of-bag predictions that say what they do for samples without a vote.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

Matrix = np.ndarray | sparse.csr_array
ForestKind = Literal["random_forest", "extra_trees"]

_ESTIMATORS = {"random_forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}


class MultilabelForest:
    """Random forest or extra trees on 0/1 labels; predicts probabilities.

    A split reduces the summed variance of all labels, which for 0/1 labels is half their summed Gini impurity. Every
    tree sees a bootstrap of half the samples and tries sqrt(n_features) features per split (Ilidio et al. 2024,
    Section 4.3).

    Parameters
    ----------
    kind : ``"random_forest"`` (best split per feature) or ``"extra_trees"`` (one random split per feature).
    n_trees : number of trees.
    min_samples_leaf : training samples per leaf.
    n_jobs : threads.
    random_state : seed.

    Attributes
    ----------
    oob_proba_ : (n_samples, n_labels) mean prediction of the trees that did not see the sample. A sample that every
        tree saw (likely only with few trees) gets the label's share of positives.
    """

    def __init__(
        self, kind: ForestKind, *, n_trees: int, min_samples_leaf: int, n_jobs: int | None, random_state: int
    ) -> None:
        self._forest = _ESTIMATORS[kind](
            n_estimators=n_trees,
            min_samples_leaf=min_samples_leaf,
            max_features="sqrt",
            bootstrap=True,
            max_samples=0.5,
            n_jobs=n_jobs,
            random_state=random_state,
        )

    def fit(self, X: Matrix, Y: np.ndarray) -> MultilabelForest:
        """Grow the trees. Time grows with trees · sqrt(n_features) · n·log(n) · n_labels."""
        X = _as_tree_input(X)
        self._forest.fit(X, Y if Y.shape[1] > 1 else Y.ravel())
        total, votes = np.zeros(Y.shape), np.zeros((len(Y), 1))
        for tree, sample in zip(self._forest.estimators_, self._forest.estimators_samples_, strict=True):
            unseen = np.ones(len(Y), dtype=bool)
            unseen[sample] = False
            total[unseen] += _predict_tree(tree, X[unseen], Y.shape[1])
            votes[unseen] += 1
        self.oob_proba_ = np.where(votes > 0, total / np.maximum(votes, 1), Y.mean(axis=0))
        self._n_labels = Y.shape[1]
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Mean prediction of all trees, (n_samples, n_labels)."""
        X = _as_tree_input(X)
        total = np.zeros((X.shape[0], self._n_labels))
        for tree in self._forest.estimators_:
            total += _predict_tree(tree, X, self._n_labels)
        return total / len(self._forest.estimators_)


def _as_tree_input(X: Matrix) -> Matrix:
    """float32, which is what scikit-learn's trees work on; converted once instead of once per tree."""
    return X.astype(np.float32)


def _predict_tree(tree: object, X: Matrix, n_labels: int) -> np.ndarray:
    return tree.predict(X, check_input=False).reshape(X.shape[0], n_labels)
