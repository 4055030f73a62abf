"""Multi-label k nearest neighbors (ML-kNN)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors

from fairfold.core.arrays import Matrix
from fairfold.errors import ModelError


@dataclass(eq=False, repr=False)
class MLkNN(ClassifierMixin, BaseEstimator):
    """Multi-label k nearest neighbors (ML-kNN) [1]_.

    For each label, the classifier counts the positives among the k nearest neighbors of a sample. Bayes' rule converts
    the count to a probability. The prior is the share of positives in the training data. The likelihood of each count
    is estimated from the training samples and their own neighbors. A pseudo-count smooths both.

    All labels must be measured.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors k.
    smoothing : float, default=1.0
        Pseudo-count of prior and likelihood. The default is Laplace smoothing, as in the paper.
    n_jobs : int or None, default=None
        Number of threads for the neighbor search.

    Attributes
    ----------
    prior_ : ndarray of shape (n_labels,)
        Prior probability of each label (Equation 5 of the paper).
    likelihood_ : ndarray of shape (2, k + 1, n_labels)
        Probability of each number of neighbors, given that the label is negative or positive (Equation 6).
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Notes
    -----
    The run time of a prediction grows with n_train · n_features for the search and with k · n_labels for counting.

    References
    ----------
    .. [1] Zhang & Zhou (2007). "ML-KNN: A lazy learning approach to multi-label learning".

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.ml_knn import MLkNN
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> Y = np.array([[0, 1], [0, 1], [0, 1], [1, 1], [1, 0], [1, 1]])
    >>> MLkNN(n_neighbors=2).fit(X, Y).predict_proba([[0.1], [1.1]]).round(2)
    array([[0.2 , 0.75],
           [0.8 , 0.82]])
    """

    n_neighbors: int = 10
    _: KW_ONLY
    smoothing: float = 1.0
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: np.ndarray) -> Self:
        """Estimate the prior and the likelihood from the training samples and their neighbors.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Labels of 0/1.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If ``n_neighbors`` or ``smoothing`` is not positive, or there are too few samples.
        """
        k, s = self.n_neighbors, self.smoothing
        if k < 1 or s <= 0:
            raise ModelError(f"n_neighbors is {k} and smoothing is {s}. Both must be positive.")
        if len(Y) <= k:
            raise ModelError(f"{len(Y)} training samples are too few for n_neighbors={k}. Reduce n_neighbors.")
        self.Y_ = np.asarray(Y, dtype=np.int8)
        self.search_ = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(X)
        self.prior_ = (s + self.Y_.sum(axis=0)) / (2 * s + len(Y))
        of_samples = self._count(self.search_.kneighbors(return_distance=False))  # A sample is not its own neighbor.
        counts = np.empty((2, k + 1, Y.shape[1]))
        for positive, n in np.ndindex(2, k + 1):
            counts[positive, n] = ((of_samples == n) & (positive == self.Y_)).sum(axis=0)
        self.likelihood_ = (s + counts) / (s * (k + 1) + counts.sum(axis=1, keepdims=True))
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probability that each label is positive.
        """
        of_samples = self._count(self.search_.kneighbors(X, return_distance=False))
        labels = np.arange(of_samples.shape[1])
        negative, positive = (likelihood[of_samples, labels] for likelihood in self.likelihood_)
        positive, negative = self.prior_ * positive, (1 - self.prior_) * negative
        return positive / (positive + negative)

    def predict(self, X: Matrix) -> np.ndarray:
        """Predict the labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Labels of 0/1, 1 where the probability is above 0.5.
        """
        return (self.predict_proba(X) > 0.5).astype(np.int8)

    def _count(self, neighbors: np.ndarray) -> np.ndarray:
        """Count the neighbors that have each label; the loop over neighbors avoids a large intermediate array."""
        return sum(self.Y_[each].astype(np.int64) for each in neighbors.T)
