"""Adapter for classifiers of other packages that are fitted to all labels at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone

from fairfold.core.arrays import Matrix
from fairfold.core.groups import fit_arguments
from fairfold.errors import ModelError, first_sentence


@dataclass(eq=False, repr=False)
class JointLabels(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that fits the labels that vary together, and predicts the others as they are.

    Parameters
    ----------
    estimator : estimator object
        Unfitted classifier whose ``fit`` accepts a dense array of at least two labels, and whose ``predict_proba``
        returns an array of shape (n_samples, n_labels). It has a parameter ``random_state``, a whole number.
    least_seed : int, default=0
        Smallest seed that the classifier accepts. A smaller one is raised to it.

    Attributes
    ----------
    estimator_ : estimator object or None
        Fitted classifier. None if no label varies.
    shares_ : ndarray of shape (n_labels,)
        Share of positives of each label.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neural_network import MLPClassifier
    >>> from fairfold.models.joint_labels import JointLabels
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[0, 0], [1, 0]])
    >>> JointLabels(MLPClassifier(random_state=0, max_iter=1)).fit(X, Y).predict_proba(X)[:, 1]
    array([0., 0.])
    """

    estimator: BaseEstimator
    least_seed: int = 0

    def fit(self, X: Matrix, Y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Labels of 0/1.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If the classifier rejects the data.
        """
        Y = np.asarray(Y)
        self.shares_, self.estimator_ = Y.mean(axis=0), None
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        self._varied = np.flatnonzero((self.shares_ > 0) & (self.shares_ < 1))
        if len(self._varied):
            # A single label would be treated as two classes.
            columns = np.resize(self._varied, max(len(self._varied), 2))
            arguments = fit_arguments(self.estimator, None, sample_weight)
            estimator = clone(self.estimator)
            estimator.set_params(random_state=max(estimator.get_params()["random_state"], self.least_seed))
            try:
                self.estimator_ = estimator.fit(X, Y[:, columns].astype(np.int32), **arguments)
            except Exception as error:  # Packages raise errors of their own.
                name = type(self.estimator).__name__
                raise ModelError(f"{name} cannot be fitted: {first_sentence(error)}.") from error
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each label.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities.
        """
        P = np.tile(self.shares_, (X.shape[0], 1))
        if self.estimator_ is not None:
            found = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
            P[:, self._varied] = np.clip(found[:, : len(self._varied)], 0, 1)
        return P
