"""Gaussian Bayes classifiers of Parry, Phan & Wang (2012), Table 4.

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

from fairfold.errors import ModelError, check_name
from fairfold.win_percentage.names import MODELS

COVARIANCES = ("spherical", "diagonal", "full")

RIDGE = 1e-6  # Share of a feature's total variance that is added to its variance within the classes.
TIE = 1e-6  # Log likelihoods within this distance are tied. It is far above rounding errors and far below evidence.


@dataclass(eq=False, repr=False)
class GaussianBayes(ClassifierMixin, BaseEstimator):
    """Bayes classifier with Gaussian class densities and uniform priors.

    Each sample is assigned to the class with the highest likelihood.

    Parameters
    ----------
    covariance : {"spherical", "diagonal", "full"}, default="full"
        Shape of the covariance matrices.
    pooled : bool, default=True
        Whether all classes share one covariance matrix. If False, each class has its own.
    ridge : float, default=1e-6
        Share of each feature's total variance that is added to the diagonal, at least 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted classes.
    means_ : ndarray of shape (n_classes, n_features)
        Mean of each class.
    covariances_ : ndarray of shape (n_classes, n_features, n_features)
        Covariance matrix of each class, including the ridge.

    See Also
    --------
    make_gaussian : Create one of the six classifiers by name.

    Notes
    -----
    Parry, Phan & Wang (2012), Table 4. Variances and covariances are unbiased. The divisor is n - 1 within a class, and
    n - K if pooled over K classes. The spherical variance is the mean of the diagonal.

    The paper does not define a treatment of singular covariance matrices. Here, `ridge` times the variance of each
    feature over all training samples is always added to the diagonal, without a threshold. Spherical models add `ridge`
    times the mean of these variances. Models that are not spherical therefore do not depend on the units of the
    features. A constant feature counts as having variance 1 in the ridge, and does not affect the prediction.

    Log likelihoods within 1e-6 of the highest are tied. Ties go to the first class in sorted order.

    Examples
    --------
    >>> from fairfold.win_percentage import GaussianBayes
    >>> X = [[0.0, 0.1], [0.2, 0.0], [0.1, 0.3], [2.0, 2.1], [2.2, 1.9], [2.1, 2.3]]
    >>> model = GaussianBayes(covariance="diagonal").fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[0.3, 0.2], [1.9, 2.0]]).tolist()
    ['a', 'b']
    """

    covariance: str = "full"
    pooled: bool = True
    ridge: float = RIDGE

    def fit(self, X: ArrayLike, y: ArrayLike) -> GaussianBayes:
        """Estimate means and covariances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes of the samples, at least two.

        Returns
        -------
        GaussianBayes
            The fitted classifier.

        Raises
        ------
        ModelError
            If a parameter is not allowed, if there is only one class, or if a class has too few samples for its
            variance.
        """
        self._check_parameters()
        try:
            values, labels = validate_data(self, X, y, dtype=np.float64)
            check_classification_targets(labels)
        except ValueError as error:
            raise ModelError(str(error)) from error
        self.classes_, codes = np.unique(labels, return_inverse=True)
        sizes = np.bincount(codes)
        self._check_sizes(sizes)
        self.means_ = np.stack([values[codes == k].mean(axis=0) for k in range(len(sizes))])
        deviations = values - self.means_[codes]
        scatters = np.stack([deviations[codes == k].T @ deviations[codes == k] for k in range(len(sizes))])
        if self.pooled:
            estimates = np.repeat(scatters.sum(axis=0, keepdims=True) / (len(codes) - len(sizes)), len(sizes), axis=0)
        else:
            estimates = scatters / (sizes - 1)[:, None, None]
        self.covariances_ = self._shape(estimates + np.diag(self.ridge * total_variance(values)))
        if (np.linalg.eigvalsh(self.covariances_)[:, 0] <= 0).any():
            raise ModelError("X: a class covariance is singular. Set ridge above 0 or leave out constant features.")
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute log likelihoods of the classes, up to a constant per sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Log likelihood of each class. For two classes, that of the second class minus that of the first.

        Raises
        ------
        ModelError
            If `X` is not finite or has another number of features than the training data.
        """
        likelihoods = self._log_likelihoods(X)
        return likelihoods[:, 1] - likelihoods[:, 0] if len(self.classes_) == 2 else likelihoods

    def predict(self, X: ArrayLike) -> NDArray:
        """Predict the class with the highest likelihood.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.

        Raises
        ------
        ModelError
            If `X` is not finite or has another number of features than the training data.
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
        check_name("covariance", self.covariance, COVARIANCES, ModelError)
        if not isinstance(self.ridge, Real) or not 0 <= self.ridge < np.inf:
            raise ModelError(f"ridge: found {self.ridge!r}. Give a number of at least 0.")

    def _check_sizes(self, sizes: NDArray[np.intp]) -> None:
        if len(sizes) < 2:
            raise ModelError("y: found only one class. Give samples of two or more classes.")
        if (sizes.max() if self.pooled else sizes.min()) < 2:
            single = self.classes_[sizes.argmin()]
            raise ModelError(f"y: class {single} has one sample, which has no variance. Add samples or pool classes.")


def make_gaussian(name: str) -> GaussianBayes:
    """Create a Gaussian classifier by its name in Table 4 of Parry, Phan & Wang (2012).

    Parameters
    ----------
    name : {"NC", "DLDA", "LDA", "SDA", "UDA", "QDA"}
        One of ``GAUSSIAN_CLASSIFIERS``.

    Returns
    -------
    GaussianBayes
        Unfitted classifier.

    Raises
    ------
    ModelError
        If the name is unknown.

    Examples
    --------
    >>> from fairfold.win_percentage import make_gaussian
    >>> model = make_gaussian("QDA")
    >>> model.covariance, model.pooled
    ('full', False)
    """
    check_name("classifier", name, MODELS, ModelError)
    _, covariance, pooled = MODELS[name]
    return GaussianBayes(covariance, pooled)


def total_variance(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the unbiased variance of each feature over all samples.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.

    Returns
    -------
    ndarray of shape (n_features,)
        Variances, 1 for constant features.
    """
    return np.where(np.ptp(X, axis=0) == 0, 1.0, X.var(axis=0, ddof=1))
