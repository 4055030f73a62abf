"""The six Gaussian Bayes classifiers of Parry, Phan & Wang (2012), Table 4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.errors import ModelError, unknown_name


class Kind(NamedTuple):
    """Shape of the covariance, and whether all classes share one."""

    covariance: str
    pooled: bool


GAUSSIAN_CLASSIFIERS = {
    "NC": Kind("spherical", pooled=True),
    "DLDA": Kind("diagonal", pooled=True),
    "LDA": Kind("full", pooled=True),
    "SDA": Kind("spherical", pooled=False),
    "UDA": Kind("diagonal", pooled=False),
    "QDA": Kind("full", pooled=False),
}
RIDGE = 1e-9  # added to each variance, relative to the mean variance of all samples around their class means


class GaussianBayes(ClassifierMixin, BaseEstimator):
    """Assigns a sample to the class whose Gaussian has the highest density there, all classes being equally likely.

    Covariances are unbiased: each class's sum of squares around its mean over n - 1, pooled ones the sum over classes
    over n - K. A diagonal covariance keeps the variances, a spherical one their mean over features.

    A singular covariance is no error: ``RIDGE`` times the mean pooled variance of the features is added to every
    variance, of all covariances alike, so that a feature that is constant within the classes decides by its means
    alone. The paper is silent on this.

    Parameters
    ----------
    covariance : {"spherical", "diagonal", "full"}
    pooled : bool
        Whether all classes share one covariance.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    means_ : ndarray, shape (n_classes, n_features)
    covariances_ : ndarray, shape (n_classes, n_features, n_features)

    Notes
    -----
    With ``pooled`` these are the nearest centroid classifier (NC), diagonal (DLDA) and full (LDA) linear discriminant
    analysis; without, spherical (SDA), uncorrelated (UDA, naive Bayes) and full (QDA) quadratic discriminant analysis.
    """

    def __init__(self, covariance: str = "full", *, pooled: bool = True) -> None:
        self.covariance = covariance
        self.pooled = pooled

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianBayes:
        """Estimate means and covariances.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
        y : array-like, shape (n_samples,)
            At least two classes of two samples each.

        Raises
        ------
        ModelError
            For an unknown covariance, or a class with fewer than two samples.
        """
        if self.covariance not in ("spherical", "diagonal", "full"):
            raise ModelError(f"covariance is {self.covariance!r}: give 'spherical', 'diagonal' or 'full'.")
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, code, sizes = np.unique(y, return_inverse=True, return_counts=True)
        if len(self.classes_) < 2 or sizes.min() < 2:
            raise ModelError(
                f"{len(self.classes_)} classes with {sizes.min()} samples in the smallest: a Gaussian for each of two "
                "classes or more needs two samples of each."
            )
        self.means_ = np.array([X[code == k].mean(axis=0) for k in range(len(sizes))])
        centred = X - self.means_[code]
        scatters = np.array([centred[code == k].T @ centred[code == k] for k in range(len(sizes))])
        pooled = scatters.sum(axis=0) / (len(y) - len(sizes))
        own = scatters / (sizes - 1)[:, None, None]
        ridge = RIDGE * (np.trace(pooled) / X.shape[1] or 1.0)
        covariances = np.broadcast_to(pooled, own.shape) if self.pooled else own
        self.covariances_ = np.array([self._shaped(matrix) for matrix in covariances]) + ridge * np.eye(X.shape[1])
        return self

    def _shaped(self, covariance: np.ndarray) -> np.ndarray:
        if self.covariance == "full":
            return covariance
        variances = np.diag(covariance)
        return np.diag(variances if self.covariance == "diagonal" else np.full_like(variances, variances.mean()))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Log density of each class, shape (n_samples, n_classes); for two classes their difference, (n_samples,).

        Terms that all classes share are left out.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        scores = np.empty((len(X), len(self.classes_)))
        for k, (mean, covariance) in enumerate(zip(self.means_, self.covariances_, strict=True)):
            half = np.linalg.solve(np.linalg.cholesky(covariance), (X - mean).T)
            scores[:, k] = -0.5 * (half**2).sum(axis=0) - 0.5 * np.linalg.slogdet(covariance)[1]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Class of the highest density, shape (n_samples,); the first of them on ties."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def gaussian_classifiers(names: Iterable[str] = tuple(GAUSSIAN_CLASSIFIERS)) -> dict[str, GaussianBayes]:
    """Unfitted classifiers by name.

    Raises
    ------
    ModelError
        For a name that is not in ``GAUSSIAN_CLASSIFIERS``.
    """
    names = list(names)
    if unknown := [name for name in names if name not in GAUSSIAN_CLASSIFIERS]:
        raise ModelError(unknown_name("Gaussian classifier", unknown[0], GAUSSIAN_CLASSIFIERS))
    kinds = {name: GAUSSIAN_CLASSIFIERS[name] for name in names}
    return {name: GaussianBayes(kind.covariance, pooled=kind.pooled) for name, kind in kinds.items()}
