"""Adapter for classifiers that are trained on sparse labels, which data with thousands of labels need."""

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
    """Classifier of several labels that always receives them as a CSR array.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier whose ``fit`` accepts CSR labels. Its probabilities may be sparse, too.

    Attributes
    ----------
    estimator_ : estimator object
        Fitted classifier.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.
    """

    accepts_sparse_labels: ClassVar[bool] = True

    estimator: BaseEstimator

    def fit(
        self, X: Matrix, Y: Matrix, groups: np.ndarray | None = None, sample_weight: np.ndarray | None = None
    ) -> Self:
        """Fit the classifier to CSR labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1.
        groups : ndarray of shape (n_samples,), default=None
            Groups of the samples, passed to the classifier if its ``fit`` accepts them.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If weights are given and the classifier does not accept them.
        """
        arguments = fit_arguments(self.estimator, groups, sample_weight)
        self.estimator_ = clone(self.estimator).fit(X, sparse.csr_array(Y), **arguments)
        self.classes_, self._are_many = np.arange(Y.shape[1]).astype(object), sparse.issparse(Y)
        return self

    def predict_proba(self, X: Matrix) -> Matrix:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Probability that each label is positive. Dense if the training labels were dense.

        Raises
        ------
        ModelError
            If the classifier returns invalid probabilities.
        """
        P = label_probabilities(self.estimator_, X, len(self.classes_))
        return P if self._are_many else to_dense(P, "predicted probabilities", ModelError)


def accepts_sparse_labels(estimator: BaseEstimator) -> bool:
    """Return whether a classifier declares that its ``fit`` accepts labels as a CSR array.

    Parameters
    ----------
    estimator : estimator object
        Classifier, or a search for its hyperparameters.

    Returns
    -------
    bool
        Value of its attribute ``accepts_sparse_labels``; False without this attribute.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from fairfold.models.sparse_labels import SparseLabels, accepts_sparse_labels
    >>> accepts_sparse_labels(DecisionTreeClassifier()), accepts_sparse_labels(SparseLabels(DecisionTreeClassifier()))
    (False, True)
    """
    if isinstance(estimator, (GridSearchCV, RandomizedSearchCV)):
        return accepts_sparse_labels(estimator.estimator)
    return getattr(estimator, "accepts_sparse_labels", False)
