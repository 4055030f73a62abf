"""Kernel ridge regression on all labels at once, with exact leave-one-out predictions.

The regression targets are labels of 0/1, as in least-squares support vector machines [1]_. One eigendecomposition of
the centered kernel, with eigenvectors V and eigenvalues w, serves all labels and penalties. The leverages are
``h = 1/n + V**2 @ (w / (w + penalty))``. The leave-one-out prediction of sample i is
``(fitted[i] - h[i] * y[i]) / (1 - h[i])`` [2]_.

The term 1/n is the leverage of the intercept. Without it, predictions would leak the label of the sample, because
centered features sum to zero. For a sample of weight s**2, rows are multiplied by s, features are centered at their
weighted mean, and the leverage of the intercept is s**2 / sum(s**2). For many samples, the kernel is approximated by
landmarks (Nyström method) [3]_. From ``LARGE`` samples on, this approximation is in single precision, which halves
time and memory.

The decomposition also serves labels with unmeasured cells. The fit to the measured samples alone does not change if
each unmeasured cell contains its fitted value. Such values solve a linear system of the size of the unmeasured cells.

Features of unit variance give rare values, such as most words and annotations of genes, as much influence as frequent
ones. The kernel is therefore the mean of that of these features and that of the same features times Geary's ratio, the
mean absolute deviation divided by the standard deviation [4]_. This ratio is .8 for normal features. A binary feature
times its ratio is 0 and 2 in its two classes, whatever their frequency. Units of the features have no influence.

References
----------
.. [1] Suykens & Vandewalle (1999). "Least squares support vector machine classifiers".
.. [2] Allen (1974). "The relationship between variable selection and data augmentation and a method for prediction".
.. [3] Williams & Seeger (2001). "Using the Nyström method to speed up kernel machines".
.. [4] Geary (1935). "The ratio of the mean deviation to the standard deviation as a test of normality".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.groups import group_codes, rows_of_groups
from fairfold.core.missing_values import AcceptsMissingValues, MissingValueFiller
from fairfold.core.precision import DistinctValues
from fairfold.core.samples import DropTrainingDataMixin
from fairfold.core.validation import UNMEASURED, check_training_labels, check_weights, check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.trees import LARGE

LINEAR = 0.0
PENALTIES = tuple(10.0 ** np.arange(-3, 3.5, 0.5))  # multiples of the mean eigenvalue
_CHOSEN_ON = 800  # maximum number of samples for choosing the kernel width
_AT_ONCE = 4096  # samples per block of landmark kernels
_LEAST_SINGLE = 1e-6  # smallest relative eigenvalue in single precision


class _Kernel(NamedTuple):
    """Mean of the kernels of standardized features and of these features times ``factors``."""

    gamma: float
    factors: np.ndarray

    def __call__(self, A: Matrix, B: Matrix) -> np.ndarray:
        """Compute the kernel of the rows of A and B."""
        factors = self.factors.astype(A.dtype, copy=False)
        K = _kernel(A, B, self.gamma)
        K += _kernel(_times(A, factors), _times(B, factors), self.gamma)
        K /= 2
        return K


class _Basis(NamedTuple):
    """Orthonormal directions V of the centered kernel features with their eigenvalues w.

    A penalized fit has the weights ``to_landmarks @ (V.T @ y / (w + penalty))`` of the landmark kernels. The vector
    ``s`` of shape (n_samples,) holds square roots of the sample weights. V describes rows that are multiplied by s, and
    y must be multiplied by s, too.
    """

    V: np.ndarray
    w: np.ndarray
    to_landmarks: np.ndarray
    mean_kernel: np.ndarray
    s: np.ndarray

    def mean(self, Y: np.ndarray) -> np.ndarray:
        """Compute the weighted mean of each label."""
        return self.s**2 @ Y / (self.s @ self.s)


class Ridge(DropTrainingDataMixin, AcceptsMissingValues, ClassifierMixin, BaseEstimator):
    """Base class of ridge regressions on labels, with the shared preparation of data."""

    accepts_unmeasured: ClassVar[bool] = False

    def _start(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Matrix, Matrix, np.ndarray | None, np.ndarray | None, np.ndarray]:
        """Check and prepare features, labels, groups and weights; also return square roots of the weights."""
        X = self._checked(X, reset=True)
        self._preparation = make_pipeline(DistinctValues(moves=False), MissingValueFiller()).fit(X)
        X, n = self._preparation.transform(X), X.shape[0]
        Y = check_training_labels(Y, n, ModelError, unmeasured=self.accepts_unmeasured)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        weights = check_weights(sample_weight, n, ModelError)
        s = np.ones(n) if weights is None else np.sqrt(weights)
        return X, Y, None if groups is None else group_codes(groups, n), weights, s

    def _scaled(self, X: Matrix) -> Matrix:
        return _times(X, self._scale)


@dataclass(eq=False, repr=False)
class KernelRidgeClassifier(Ridge):
    """Kernel ridge regression that minimizes the leave-one-out error over kernels and penalties.

    The kernel is the mean of two kernels: of features of unit variance, and of these features times Geary's ratio,
    which reduces the influence of rare values. Missing features (NaN) are filled with medians, and indicator columns
    mark them; see :class:`~fairfold.core.missing_values.MissingValueFiller`.

    Parameters
    ----------
    gammas : sequence of float, default=(0.0, 0.1, 0.3, 1.0)
        Candidate parameters of the Gaussian kernel exp(-gamma · mean squared difference over features). 0 selects the
        linear kernel.
    max_exact : int, default=2500
        Maximum number of samples for an exact kernel.
    n_landmarks : int, default=1000
        Number of random landmarks if there are more samples.
    random_state : int, default=0
        Seed for the landmarks and for the samples on which the kernel is chosen.

    Attributes
    ----------
    out_of_fold_proba_ : ndarray of shape (n_samples, n_labels)
        Out-of-sample predictions of the training samples, clipped to [0, 1]. They use the mean label of all samples,
        because the mean of the other samples would reveal the label of the sample.
    gamma_ : float
        Chosen kernel parameter.
    penalty_ : float
        Chosen penalty in multiples of the mean eigenvalue.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Notes
    -----
    Run time grows with n_samples³ up to ``max_exact`` samples and with n_samples · n_landmarks² above. Memory grows
    with n_samples · min(n_samples, n_landmarks).

    The kernel and the penalty are the same for all labels. To choose them, unmeasured cells contain the mean of the
    label, and errors are those of the measured cells.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.kernel_ridge import KernelRidgeClassifier
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> Y = np.column_stack([X[:, 0] >= 10, X[:, 0] % 20 < 5]).astype(int)
    >>> model = KernelRidgeClassifier().fit(X, Y)
    >>> (model.predict_proba([[2.0], [17.0]]) > 0.5).astype(int)
    array([[0, 1],
           [1, 0]])
    """

    accepts_unmeasured: ClassVar[bool] = True

    _: KW_ONLY
    gammas: Sequence[float] = (LINEAR, 0.1, 0.3, 1.0)
    max_exact: int = 2500
    n_landmarks: int = 1000
    random_state: int = 0

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the kernel and the penalty, and fit the regression.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features; NaN is a missing value.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1; NaN is an unmeasured label, which is ignored.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples. If given, the error leaves out one group at a time instead of one sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Positive weights of the squared errors.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ModelError
            If a parameter is out of range, labels are not 0/1, or the numbers of samples differ.
        ValueError
            If features are infinite or not numeric.
        """
        self._check_parameters()
        X, Y, codes, weights, s = self._start(X, Y, groups, sample_weight)
        Y = to_dense(Y, "Y", ModelError).astype(np.float64)
        is_measured = Y != UNMEASURED
        Y = np.where(is_measured, Y, _measured_means(Y, is_measured, s))
        deviations = _deviations(X, weights)
        self._scale = _inverse(deviations)
        Z = self._scaled(X)
        order = np.random.default_rng(self.random_state).permutation(len(Y))
        few = np.sort(order[:_CHOSEN_ON])
        some = Z[few]
        of_few = None if codes is None else rows_of_groups(codes[few])
        self._factors = _factors(X, weights, deviations)
        kernels = [_Kernel(gamma, self._factors) for gamma in self.gammas]
        bases = (_basis(some, some, kernel, s[few]) for kernel in kernels)
        errors = [min(_errors(basis, Y[few], is_measured[few], of_few)) for basis in bases]
        kernel = kernels[int(np.argmin(errors))]
        self.gamma_ = kernel.gamma
        is_large = len(Y) >= max(LARGE, self.max_exact + 1)
        Z = Z.astype(np.float32) if is_large else Z
        self._landmarks = Z if len(Y) <= self.max_exact else Z[np.sort(order[: self.n_landmarks])]
        basis = (_large_basis if is_large else _basis)(Z, self._landmarks, kernel, s)
        del Z
        members = None if codes is None else rows_of_groups(codes)
        self.penalty_ = PENALTIES[int(np.argmin(_errors(basis, Y, is_measured, members)))]
        # The mean of the other samples is lower if the sample has the label.
        # Replacing it removes this leak.
        left_out = _left_out(basis, Y, self.penalty_, members) - _means_of_others(Y, s**2, members) + basis.mean(Y)
        for label in np.flatnonzero(~is_measured.all(axis=0)):
            Y[:, label], left_out[:, label] = _fit_measured(
                basis, Y[:, label], is_measured[:, label], self.penalty_, codes
            )
        self.out_of_fold_proba_ = np.clip(left_out, 0, 1)
        mean = basis.mean(Y)
        projected = basis.V.T @ (s[:, np.newaxis] * (Y - mean)).astype(basis.V.dtype)
        self._weights = basis.to_landmarks @ (projected / (basis.w + _strength(basis, self.penalty_))[:, np.newaxis])
        self._intercept = mean - basis.mean_kernel @ self._weights
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
            Predictions, clipped to [0, 1]. They are not calibrated.

        Raises
        ------
        ValueError
            If features are infinite, or their number differs from ``fit``.
        """
        check_is_fitted(self, "penalty_")
        Z = self._scaled(self._preparation.transform(self._checked(X, reset=False)))
        Z = Z.astype(self._landmarks.dtype, copy=False)
        batches = gen_batches(Z.shape[0], _AT_ONCE)
        kernel = _Kernel(self.gamma_, self._factors)
        parts = [kernel(Z[part], self._landmarks) @ self._weights for part in batches]
        return np.clip(np.concatenate(parts) + self._intercept, 0, 1)

    def _check_parameters(self) -> None:
        gammas = self.gammas
        if isinstance(gammas, str) or not len(gammas) or not all(0 <= gamma < np.inf for gamma in gammas):
            raise ModelError(f"gammas is {gammas!r}. Use numbers of at least 0, where 0 is the linear kernel.")
        for name in ("max_exact", "n_landmarks"):
            check_whole_number(name, getattr(self, name), 1)


def inverse_deviations(X: Matrix, weights: np.ndarray | None = None) -> np.ndarray:
    """Compute the inverse standard deviation of each feature.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Features.
    weights : ndarray of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    ndarray of shape (n_features,)
        Inverse standard deviations; 1 for constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.kernel_ridge import inverse_deviations
    >>> inverse_deviations(np.array([[0.0, 5.0], [4.0, 5.0]]))
    array([0.5, 1. ])
    """
    return _inverse(_deviations(X, weights))


def _inverse(deviations: np.ndarray) -> np.ndarray:
    """Invert standard deviations; 1 for constant features."""
    return 1 / np.where(deviations > 0, deviations, 1)


def _deviations(X: Matrix, weights: np.ndarray | None) -> np.ndarray:
    """Compute the standard deviation of each feature."""
    if sparse.issparse(X):
        return np.sqrt(mean_variance_axis(X.tocsr(), axis=0, weights=weights)[1])
    if weights is None:
        return np.std(X, axis=0)
    variance = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    return np.sqrt(variance)


def _factors(X: Matrix, weights: np.ndarray | None, deviations: np.ndarray) -> np.ndarray:
    """Compute Geary's ratio of each feature, divided by the root mean square of those that vary; 0 for the others."""
    share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    mean = share @ X
    if sparse.issparse(X):
        cells = X.tocoo()
        column, p, n = cells.coords[1], share[cells.coords[0]], X.shape[1]
        absolute = np.bincount(column, p * np.abs(cells.data - mean[column]), minlength=n)
        absolute += np.abs(mean) * (1 - np.bincount(column, p, minlength=n))
    else:
        absolute = share @ np.abs(X - mean)
    ratios = np.where(deviations > 0, absolute * _inverse(deviations), 0)
    return ratios / np.sqrt(np.mean(ratios[deviations > 0] ** 2)) if ratios.any() else ratios


def _times(X: Matrix, factors: np.ndarray) -> Matrix:
    """Multiply each feature by its factor."""
    if sparse.issparse(X):
        return sparse.csr_array(X.multiply(factors[np.newaxis, :]))
    return X * factors


def _kernel(A: Matrix, B: Matrix, gamma: float) -> np.ndarray:
    """Compute the linear kernel (mean product over features) or the Gaussian kernel of the rows of A and B."""
    inner = safe_sparse_dot(A, B.T, dense_output=True) / A.shape[1]
    if gamma == LINEAR:
        return inner
    squares = [row_squares(M) / M.shape[1] for M in (A, B)]
    return np.exp(-gamma * np.maximum(squares[0][:, np.newaxis] + squares[1] - 2 * inner, 0))


def row_squares(M: Matrix) -> np.ndarray:
    """Compute the squared norm of each row.

    Parameters
    ----------
    M : {ndarray, sparse matrix} of shape (n_rows, n_columns)
        Matrix.

    Returns
    -------
    ndarray of shape (n_rows,)
        Sums of squares.
    """
    return np.asarray((M.multiply(M) if sparse.issparse(M) else M * M).sum(axis=1)).ravel()


def _basis(Z: Matrix, landmarks: Matrix, kernel: _Kernel, s: np.ndarray) -> _Basis:
    """Decompose the kernel of the samples; exact if every sample is a landmark."""
    if Z is landmarks:
        K = kernel(Z, Z)
        share = s**2 / (s @ s)
        mean_kernel = share @ K
        centered = K - mean_kernel - mean_kernel[:, np.newaxis] + share @ mean_kernel
        w, V = linalg.eigh(s * centered * s[:, np.newaxis], driver="evd", overwrite_a=True)
        return _Basis(V, np.maximum(w, 0), s[:, np.newaxis] * V, mean_kernel, s)
    # The inner products of F approximate the kernel. Then find the principal directions of F.
    w, Q = linalg.eigh(kernel(landmarks, landmarks), driver="evd")
    real = w > w[-1] * 1e-10
    root = Q[:, real] / np.sqrt(w[real])
    F, mean_kernel = np.empty((Z.shape[0], root.shape[1])), np.zeros(len(root))
    for part in gen_batches(Z.shape[0], _AT_ONCE):
        K = kernel(Z[part], landmarks)
        mean_kernel += s[part] ** 2 @ K / (s @ s)
        F[part] = K @ root
    F = s[:, np.newaxis] * (F - s**2 @ F / (s @ s))
    w, Q = linalg.eigh(F.T @ F, driver="evd")
    real = w > w[-1] * 1e-12
    w, Q = w[real], Q[:, real]
    return _Basis(F @ (Q / np.sqrt(w)), w, root @ (Q * np.sqrt(w)), mean_kernel, s)


def _large_basis(Z: Matrix, landmarks: Matrix, kernel: _Kernel, s: np.ndarray) -> _Basis:
    """Decompose the kernel of the samples by landmarks, in single precision and with one large array."""
    w, Q = linalg.eigh(kernel(landmarks, landmarks).astype(np.float64), driver="evd")
    real = w > w[-1] * _LEAST_SINGLE
    root = (Q[:, real] / np.sqrt(w[real])).astype(np.float32)
    F, mean_kernel = np.empty((Z.shape[0], root.shape[1]), dtype=np.float32), np.zeros(len(root))
    batches = list(gen_batches(Z.shape[0], _AT_ONCE))
    for part in batches:
        K = kernel(Z[part], landmarks)
        mean_kernel += s[part] ** 2 @ K / (s @ s)
        F[part] = K @ root
    F -= (s**2 / (s @ s)).astype(np.float32) @ F
    F *= s[:, np.newaxis].astype(np.float32)
    w, Q = linalg.eigh(_gram(F), driver="evd")
    real = w > w[-1] * _LEAST_SINGLE
    w, Q = w[real], Q[:, real]
    to_directions = (Q / np.sqrt(w)).astype(np.float32)
    for part in batches:
        F[part, : len(w)] = F[part] @ to_directions
    return _Basis(F[:, : len(w)], w, root @ (Q * np.sqrt(w)), mean_kernel, s)


def _strength(basis: _Basis, penalty: float) -> float:
    return penalty * basis.w.sum() / len(basis.V)


def _left_out(basis: _Basis, Y: np.ndarray, penalty: float, members: Sequence[np.ndarray] | None) -> np.ndarray:
    """Predict each sample from the fit without it, or without its group.

    Intercepts are not penalized. The prediction of a group is y - (I - H_gg)⁻¹ (y - fitted).
    """
    V, s, total = basis.V, basis.s, basis.s @ basis.s
    shrink = (basis.w / (basis.w + _strength(basis, penalty))).astype(V.dtype, copy=False)
    scaled = (s[:, np.newaxis] * (Y - basis.mean(Y))).astype(V.dtype, copy=False)
    residuals = scaled - V @ (shrink[:, np.newaxis] * (V.T @ scaled))
    if members is None:
        leverage = s**2 / total + np.einsum("ij,ij,j->i", V, V, shrink)
        return Y - residuals / (s * np.maximum(1 - leverage, 1e-12))[:, np.newaxis]
    found = np.empty(Y.shape)
    for rows in members:
        of_group = V[rows]
        rest = np.eye(len(rows)) - np.outer(s[rows], s[rows]) / total - (of_group * shrink) @ of_group.T
        found[rows] = Y[rows] - linalg.lstsq(rest, residuals[rows], cond=1e-12)[0] / s[rows, np.newaxis]
    return found


def _means_of_others(Y: np.ndarray, weights: np.ndarray, members: Sequence[np.ndarray] | None) -> np.ndarray:
    """Compute the weighted mean labels of all other samples, or of all other groups."""
    weighted, least = weights[:, np.newaxis] * Y, np.finfo(float).tiny
    sums, total = weighted.sum(axis=0), weights.sum()
    if members is None:
        return (sums - weighted) / np.maximum(total - weights, least)[:, np.newaxis]
    found = np.empty(Y.shape)
    for rows in members:
        found[rows] = (sums - weighted[rows].sum(axis=0)) / max(total - weights[rows].sum(), least)
    return found


def _errors(basis: _Basis, Y: np.ndarray, is_measured: np.ndarray, members: Sequence[np.ndarray] | None) -> list[float]:
    """Compute the mean squared leave-one-out error of measured cells for each penalty."""
    errors = (is_measured * (Y - _left_out(basis, Y, penalty, members)) ** 2 for penalty in PENALTIES)
    return [float(np.mean(basis.mean(each))) for each in errors]


def _measured_means(Y: np.ndarray, is_measured: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Compute the weighted mean of the measured cells of each label; 0 without any."""
    total = s**2 @ is_measured
    return s**2 @ np.where(is_measured, Y, 0) / np.where(total > 0, total, 1)


def _fit_measured(
    basis: _Basis, y: np.ndarray, is_measured: np.ndarray, penalty: float, codes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Fit one label to its measured samples.

    Return the label with fitted values in its unmeasured cells, and the out-of-sample prediction of each sample. The
    matrix E below is a root of the hat matrix of the fit: the fitted values are ``E @ E[rows].T @ y[rows]``.
    """
    if not is_measured.any():
        return np.zeros(len(y)), np.zeros(len(y))
    s, rows = basis.s, np.flatnonzero(is_measured)
    shrink = basis.w / (basis.w + _strength(basis, penalty))
    E = np.column_stack([s / np.linalg.norm(s), basis.V * np.sqrt(shrink)]).astype(basis.V.dtype, copy=False)
    rest = E[~is_measured]
    if len(rest) <= E.shape[1]:
        E = np.hstack([E, linalg.solve_triangular(_root_of_rest(rest.T), rest @ E.T, lower=True).T])
    else:
        E = linalg.solve_triangular(_root_of_rest(rest), E.T, lower=True).T
    fitted = E @ (E[rows].T @ (s * y)[rows]) / s
    left_out, members = fitted.copy(), None if codes is None else rows_of_groups(codes[rows])
    residuals = (s * (y - fitted))[rows]
    if members is None:
        residuals /= np.maximum(1 - row_squares(E[rows]), 1e-12)
    else:
        for group in members:
            of_group = E[rows[group]]
            rest = np.eye(len(group)) - of_group @ of_group.T
            residuals[group] = linalg.lstsq(rest, residuals[group], cond=1e-12)[0]
    others = _means_of_others(y[rows, np.newaxis], s[rows] ** 2, members)[:, 0]
    left_out[rows] = y[rows] - residuals / s[rows] - others + np.average(y[rows], weights=s[rows] ** 2)
    return np.where(is_measured, y, fitted), left_out


def _root_of_rest(A: np.ndarray) -> np.ndarray:
    """Compute the lower Cholesky factor of I - A'A."""
    return linalg.cholesky(np.eye(A.shape[1]) - _gram(A), lower=True).astype(A.dtype, copy=False)


def _gram(A: np.ndarray) -> np.ndarray:
    """Compute A'A; the sum over all rows is in double precision."""
    gram = np.zeros((A.shape[1],) * 2)
    for part in gen_batches(len(A), _AT_ONCE):
        gram += A[part].T @ A[part]
    return gram
