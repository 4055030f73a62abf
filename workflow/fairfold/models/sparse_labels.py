"""Labels that a classifier is handed as a sparse matrix: where they are thousands, an array of all is too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import fit_arguments
from fairfold.core.probabilities import label_probabilities
from fairfold.errors import ModelError


@dataclass(eq=False, repr=False)
class SparseLabels(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of several labels that gets them as a CSR array, whatever they come as.

    Parameters
    ----------
    estimator : unfitted, whose ``fit`` takes CSR labels; its probabilities may be CSR, too.

    Attributes
    ----------
    estimator_ : fitted.
    classes_ : numbers of the labels.
    """

    takes_sparse_labels: ClassVar[bool] = True

    estimator: BaseEstimator

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1."""
        given = fit_arguments(self.estimator, groups, sample_weight)
        self.estimator_ = clone(self.estimator).fit(X, sparse.csr_array(Y), **given)
        self.classes_, self._are_many = np.arange(Y.shape[1]).astype(object), sparse.issparse(Y)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """(n_samples, n_labels) probability that each label is positive, an array where labels came as one."""
        P = label_probabilities(self.estimator_, X, len(self.classes_))
        return P if self._are_many else to_dense(P, "predicted probabilities", ModelError)


def takes_sparse_labels(estimator: BaseEstimator) -> bool:
    """Whether a classifier, or the one that a search fits, says that its ``fit`` takes labels as a CSR array."""
    if isinstance(estimator, (GridSearchCV, RandomizedSearchCV)):
        return takes_sparse_labels(estimator.estimator)
    return getattr(estimator, "takes_sparse_labels", False)
