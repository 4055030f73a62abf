"""ML-kNN, which learns from the labels of a sample's neighbours how likely each label is."""

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
    """Multi-label k nearest neighbours (Zhang & Zhou 2007, "ML-KNN: A lazy learning approach to multi-label learning").

    By Bayes' rule a label has the probability P(H) P(E | H) over its sum for H = positive and negative, where P(H) is
    the label's share in training (Equation 5), E is how many of the k nearest neighbours have it, and P(E | H) is
    counted over the training samples with their own neighbours (Equation 6); both are smoothed.

    Finding neighbours takes time n_train · n_features per sample, counting k · n_labels.

    Parameters
    ----------
    n_neighbors : k.
    smoothing : pseudo-count s of both, Laplace's 1 in the paper.
    n_jobs : threads of the search for neighbours.

    Attributes
    ----------
    prior_ : (n_labels,) P(H = positive).
    likelihood_ : (2, k + 1, n_labels) P(E | H), of negatives and positives.

    Raises
    ------
    ModelError
        When there are no more than k training samples, or k or the smoothing is not positive.
    """

    n_neighbors: int = 10
    _: KW_ONLY
    smoothing: float = 1.0
    n_jobs: int | None = None

    def fit(self, X: Matrix, Y: np.ndarray) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1."""
        k, s = self.n_neighbors, self.smoothing
        if k < 1 or s <= 0:
            raise ModelError(f"n_neighbors is {k} and smoothing is {s}; both must be positive.")
        if len(Y) <= k:
            raise ModelError(f"{len(Y)} training samples are too few for {k} neighbours of each: lower n_neighbors.")
        self.Y_ = np.asarray(Y, dtype=np.int8)
        self.search_ = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(X)
        self.prior_ = (s + self.Y_.sum(axis=0)) / (2 * s + len(Y))
        of_samples = self._count(self.search_.kneighbors(return_distance=False))  # a sample is no neighbour of its own
        counts = np.empty((2, k + 1, Y.shape[1]))
        for positive, n in np.ndindex(2, k + 1):
            counts[positive, n] = ((of_samples == n) & (positive == self.Y_)).sum(axis=0)
        self.likelihood_ = (s + counts) / (s * (k + 1) + counts.sum(axis=1, keepdims=True))
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) probability that each label is positive."""
        of_samples = self._count(self.search_.kneighbors(X, return_distance=False))
        labels = np.arange(of_samples.shape[1])
        negative, positive = (likelihood[of_samples, labels] for likelihood in self.likelihood_)
        positive, negative = self.prior_ * positive, (1 - self.prior_) * negative
        return positive / (positive + negative)

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) of 0/1."""
        return (self.predict_proba(X) > 0.5).astype(np.int8)

    def _count(self, neighbours: np.ndarray) -> np.ndarray:
        """(n_samples, n_labels) neighbours that have each label, neighbour by neighbour to hold no third axis."""
        return sum(self.Y_[each].astype(np.int64) for each in neighbours.T)
