"""Strength of the relation between features and labels for any order of the label rows."""

from __future__ import annotations

import copy

import numpy as np

from fairfold.core.arrays import Matrix, positives_by_label, with_sparsity

_N_COMPONENTS = 40
_N_DIRECTIONS = 12  # of labels
_N_LANDMARKS = 200
_MOST_FEATURES = 1000
_MOST_LABELS = 200


class Alignment:
    """Low-dimensional features and labels of the same rows.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features; NaN is missing.
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of 0/1; NaN is unmeasured.
    rng : Generator
        Random numbers.

    Attributes
    ----------
    features : ndarray of shape (n_samples, n_components)
        Principal components of standardized features and of a Gaussian kernel, shrunken as in a ridge regression.
    scores : ndarray of shape (n_samples, n_components)
        Principal components of standardized features, not shrunken.
    labels : ndarray of shape (n_samples, n_directions)
        Principal directions of centered labels. Their squares sum to 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> alignment = Alignment(X, X[:, :2] > 0, rng)
    >>> alignment.strength(alignment.labels) > 2 * alignment.strength(alignment.labels[::-1])
    True
    """

    def __init__(self, X: Matrix, Y: Matrix, rng: np.random.Generator) -> None:
        self.scores, self.features = _features(X, rng)
        self.labels = _labels(Y, rng)

    def __len__(self) -> int:
        return len(self.labels)

    def reordered(self, features: np.ndarray | None = None, labels: np.ndarray | None = None) -> Alignment:
        """Return a copy with features or labels in another row order.

        Parameters
        ----------
        features : ndarray of int of shape (n_samples,), default=None
            Order of the rows of the features.
        labels : ndarray of int of shape (n_samples,), default=None
            Order of the rows of the labels.

        Returns
        -------
        Alignment
            The copy.
        """
        other = copy.copy(self)
        if features is not None:
            other.features, other.scores = self.features[features], self.scores[features]
        if labels is not None:
            other.labels = self.labels[labels]
        return other

    def strength(self, labels: np.ndarray) -> float:
        """Return the share of the variance of the labels that a ridge regression explains.

        Parameters
        ----------
        labels : ndarray of shape (n_samples, n_directions)
            Rows of ``labels`` in any order.

        Returns
        -------
        float
            Share from 0 to 1.
        """
        return float(((self.features.T @ labels) ** 2).sum())

    def profile(self, labels: np.ndarray) -> np.ndarray:
        """Compute the strength for all circular shifts by fast Fourier transforms.

        Parameters
        ----------
        labels : ndarray of shape (n_samples, n_directions)
            Rows of ``labels`` in any order.

        Returns
        -------
        ndarray of shape (n_samples,)
            Entry ``s`` is the strength if the features of row ``i`` belong to the labels of row ``i + s``.
        """
        from scipy import fft  # slow to import

        x, found = fft.rfft(self.features, axis=0).conj(), np.zeros(len(self))
        for column in fft.rfft(labels, axis=0).T:
            found += (fft.irfft(x * column[:, np.newaxis], len(self), axis=0) ** 2).sum(axis=1)
        return found

    def predictions(self, labels: np.ndarray) -> np.ndarray:
        """Predict each row of the labels by a ridge regression on the other rows.

        Parameters
        ----------
        labels : ndarray of shape (n_samples, n_directions)
            Rows of ``labels`` in any order.

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
            Leave-one-out predictions.
        """
        leverage = (self.features**2).sum(axis=1, keepdims=True)
        return (self.features @ (self.features.T @ labels) - leverage * labels) / (1 - leverage + 1e-9)


def standardized(X: Matrix, rng: np.random.Generator) -> np.ndarray:
    """Return centered and scaled features without gaps, constant columns and outliers.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features; NaN is missing. Of more than 1,000 columns, a random sample is used.
    rng : Generator
        Random numbers.

    Returns
    -------
    ndarray of shape (n_samples, n_kept)
        Features.
    """
    if X.shape[1] > _MOST_FEATURES:
        X = X[:, np.sort(rng.choice(X.shape[1], _MOST_FEATURES, replace=False))]
    X = np.asarray(with_sparsity(X, False), dtype=np.float64)
    X = np.where(np.isfinite(X), X, np.nan)
    X = X[:, ~np.isnan(X).all(axis=0)]
    center = np.nanmean(X, axis=0) if len(X) else np.zeros(X.shape[1])
    Z = np.where(np.isnan(X), 0, X - center)
    scale = np.sqrt((Z**2).mean(axis=0))
    varies = scale > 1e-12 * (1 + np.abs(center))
    Z = np.clip(Z[:, varies] / scale[varies], -4, 4)
    return Z - Z.mean(axis=0)


def _features(X: Matrix, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return principal components, and those together with a kernel, shrunken."""
    Z = standardized(X, rng)
    if not Z.shape[1]:
        return np.zeros((X.shape[0], 0)), np.zeros((X.shape[0], 0))
    n, scores = len(Z), np.multiply(*_principal(Z, _N_COMPONENTS, rng))
    landmarks = scores[rng.choice(n, min(n, _N_LANDMARKS), replace=False)]
    squares = (scores**2).sum(axis=1)[:, np.newaxis] + (landmarks**2).sum(axis=1) - 2 * scores @ landmarks.T
    kernel = np.exp(-np.maximum(squares, 0) / max(np.median(squares), 1e-12))
    kernel -= kernel.mean(axis=0)
    both = np.hstack([scores / np.linalg.norm(scores), kernel / max(np.linalg.norm(kernel), 1e-12)])
    vectors, values = _principal(both, min(_N_COMPONENTS, max(n // 4, 1)), rng)
    penalty = values[min(len(values) - 1, n // 10, 20)]
    return scores, vectors * values / np.hypot(values, penalty)


def _labels(Y: Matrix, rng: np.random.Generator) -> np.ndarray:
    if Y.shape[1] > _MOST_LABELS:  # the most frequent ones
        Y = Y[:, np.argsort(-positives_by_label(Y), kind="stable")[:_MOST_LABELS]]
    Y = np.asarray(with_sparsity(Y, False), dtype=np.float64)
    Y = Y[:, ~np.isnan(Y).all(axis=0)]
    Z = np.where(np.isnan(Y), 0, Y - np.nanmean(Y, axis=0)) if Y.size else np.zeros((len(Y), 0))
    spread = Z.std(axis=0)
    Z = Z[:, spread > 0] / np.sqrt(spread[spread > 0])  # Rare labels count less than with a variance of 1.
    Z -= Z.mean(axis=0)
    if Z.shape[1] > _N_DIRECTIONS:
        Z = np.multiply(*_principal(Z, _N_DIRECTIONS, rng))
    return Z / max(np.linalg.norm(Z), 1e-12)


def _principal(Z: np.ndarray, n_components: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the first left singular vectors and their singular values."""
    from sklearn.utils.extmath import randomized_svd

    size, seed = min(n_components, *Z.shape), int(rng.integers(2**31))
    U, values, _ = randomized_svd(Z, size, n_iter=3, power_iteration_normalizer="QR", random_state=seed)
    kept = values > 1e-6 * values.max(initial=0)
    return U[:, kept], values[kept]
