"""The six Gaussian Bayes classifiers of Parry, Phan & Wang (2012), Table 4.

============  ================  ===============  ============
covariance    spherical         diagonal         full
============  ================  ===============  ============
pooled        NC                DLDA             LDA
per class     SDA               UDA              QDA
============  ================  ===============  ============
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.errors import ModelError, unknown_name
from fairfold.win_percentage.names import GAUSSIAN_CLASSIFIERS, MODELS

COVARIANCES = ("spherical", "diagonal", "full")

RIDGE = 1e-6  # share of a feature's total variance that is added to its variance within the classes
TIE = 1e-6  # log likelihoods this near to each other are equal: far above rounding, far below any evidence


@dataclass(eq=False, repr=False)
class GaussianBayes(ClassifierMixin, BaseEstimator):
    """Gaussian class densities with uniform priors; a sample goes to the class under which it is likeliest.

    Variances and covariances are unbiased: divided by n - 1 within a class and, pooled over K classes, by n - K. The
    spherical variance is the mean of the diagonal.

    The paper is silent on singular covariances. Here ``ridge`` times the variance that each feature has over all
    training samples (whatever their class) is added to the diagonal, always, so that no threshold decides; for
    spherical models that adds ``ridge`` times the mean of these variances. Thus no model depends on the units of a
    feature unless it is spherical. A feature that is constant over the training samples counts as of variance 1 there,
    and then says nothing of the class. Log likelihoods within 1e-6 of the highest are tied, and a tie goes to the
    first class in sorted order.

    Parameters
    ----------
    covariance : ``"spherical"``, ``"diagonal"`` or ``"full"``.
    pooled : one covariance for all classes, or one per class.
    ridge : share of each feature's total variance added to the diagonal, 0 or above.

    Attributes
    ----------
    classes_ : (n_classes,) the classes, sorted.
    means_ : (n_classes, n_features) the mean of each class.
    covariances_ : (n_classes, n_features, n_features) the covariance of each class, ridge included.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 4.
    """

    covariance: str = "full"
    pooled: bool = True
    ridge: float = RIDGE

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianBayes:
        """Estimate means and covariances.

        Parameters
        ----------
        X : (n_samples, n_features) features.
        y : (n_samples,) classes, two or more.

        Raises
        ------
        ModelError
            A parameter is not allowed, there is one class only, or a class has too few samples for its variance.
        """
        self._check_parameters()
        try:
            X, y = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(y)
        except ValueError as error:
            raise ModelError(str(error)) from error
        self.classes_, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes)
        self._check_sizes(sizes, len(y))
        self.means_ = np.stack([X[codes == k].mean(axis=0) for k in range(len(sizes))])
        deviations = X - self.means_[codes]
        scatters = np.stack([deviations[codes == k].T @ deviations[codes == k] for k in range(len(sizes))])
        if self.pooled:
            estimates = np.repeat(scatters.sum(axis=0, keepdims=True) / (len(y) - len(sizes)), len(sizes), axis=0)
        else:
            estimates = scatters / (sizes - 1)[:, None, None]
        self.covariances_ = self._shape(estimates + np.diag(self.ridge * total_variance(X)))
        if (np.linalg.eigvalsh(self.covariances_)[:, 0] <= 0).any():
            raise ModelError("A class covariance is singular: set ridge above 0 or leave out constant features.")
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log likelihood of each class; for two classes that of the second less that of the first.

        Parameters
        ----------
        X : (n_samples, n_features) features.

        Returns
        -------
        (n_samples, n_classes), or (n_samples,) for two classes, up to a constant per sample.
        """
        likelihoods = self._log_likelihoods(X)
        return likelihoods[:, 1] - likelihoods[:, 0] if len(self.classes_) == 2 else likelihoods

    def predict(self, X: ArrayLike) -> NDArray:
        """Likeliest class of each sample.

        Parameters
        ----------
        X : (n_samples, n_features) features.

        Returns
        -------
        (n_samples,) classes.
        """
        likelihoods = self._log_likelihoods(X)
        tied = likelihoods >= likelihoods.max(axis=1, keepdims=True) - TIE
        return self.classes_[tied.argmax(axis=1)]

    def _log_likelihoods(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        try:
            X = validate_data(self, X, dtype=np.float64, reset=False)
        except ValueError as error:
            raise ModelError(str(error)) from error
        columns = []
        for mean, covariance in zip(self.means_, self.covariances_, strict=True):
            factor = np.linalg.cholesky(covariance)
            whitened = np.linalg.solve(factor, (X - mean).T)
            columns.append(-0.5 * (whitened**2).sum(axis=0) - np.log(np.diag(factor)).sum())
        return np.stack(columns, axis=1)

    def _shape(self, covariances: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.covariance == "full":
            return covariances
        variances = np.diagonal(covariances, axis1=1, axis2=2)
        if self.covariance == "spherical":
            variances = np.broadcast_to(variances.mean(axis=1, keepdims=True), variances.shape)
        return variances[:, :, None] * np.eye(variances.shape[1])

    def _check_parameters(self) -> None:
        if self.covariance not in COVARIANCES:
            raise ModelError(unknown_name("covariance", self.covariance, COVARIANCES))
        if not isinstance(self.ridge, Real) or not 0 <= self.ridge < np.inf:
            raise ModelError(f"ridge is {self.ridge!r}: give a number of 0 or above.")

    def _check_sizes(self, sizes: NDArray[np.intp], n_samples: int) -> None:
        if len(sizes) < 2:
            raise ModelError("y holds one class only: give samples of two or more classes.")
        if not self.pooled and sizes.min() < 2:
            lone = self.classes_[sizes.argmin()]
            raise ModelError(f"Class {lone} has one sample, which has no variance: give two or more, or pool.")
        if n_samples <= len(sizes):
            raise ModelError("Each class has one sample, so there is no variance: give more samples.")


def make_gaussian(name: str) -> GaussianBayes:
    """The classifier of a name of Table 4.

    Parameters
    ----------
    name : one of ``GAUSSIAN_CLASSIFIERS``.

    Raises
    ------
    ModelError
        The name is unknown.
    """
    if name not in MODELS:
        raise ModelError(unknown_name("classifier", name, GAUSSIAN_CLASSIFIERS))
    return GaussianBayes(*MODELS[name])


def total_variance(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unbiased variance of each feature over all samples, 1 where the feature is constant.

    Parameters
    ----------
    X : (n_samples, n_features) features.
    """
    return np.where(np.ptp(X, axis=0) == 0, 1.0, X.var(axis=0, ddof=1))
