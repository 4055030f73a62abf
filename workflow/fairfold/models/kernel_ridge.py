"""Kernel ridge regression on all labels at once, with exact leave-one-out predictions.

Labels of 0/1 are regressed on, as in least-squares support vector machines (Suykens & Vandewalle 1999). One
eigendecomposition of the centred kernel serves all labels and all strengths of the penalty; with eigenvectors V and
eigenvalues w, the prediction of a sample by the model without it follows from the leverage h_ii, which the intercept
has a share of: (fitted_i - h_ii y_i) / (1 - h_ii), h = 1/n + V² w / (w + penalty) (Allen 1974). Without that 1/n,
centred features tell a sample's label, as they sum to zero. Samples of weight s² are rows times s, of features that are
centred about the weighted mean, and the intercept's share of the leverage is s² / Σ s². Where samples are many, the
kernel is approximated by those of some landmarks (Nyström; Williams & Seeger 2001), and all else is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.gaps import GapFiller, TakesGaps
from fairfold.core.groups import group_codes, rows_of_groups
from fairfold.core.precision import DistinctValues
from fairfold.core.samples import ForgetsSamples
from fairfold.core.validation import check_training_labels, check_weights, check_whole_number
from fairfold.errors import ModelError

LINEAR = 0.0
PENALTIES = tuple(10.0 ** np.arange(-3, 3.5, 0.5))  # times the mean eigenvalue
_CHOSEN_ON = 800  # samples; the kernel's width matters more than who of them it is chosen on
_AT_ONCE = 4096  # samples whose kernels with the landmarks are held


class _Basis(NamedTuple):
    """Orthonormal directions of the centred kernel features, their eigenvalues, and how landmarks give them.

    A penalised fit has the weights ``to_landmarks @ (V'y / (w + penalty))`` of the landmarks' kernels. ``s``
    (n_samples,) are square roots of the samples' weights; V is of rows times s, and y is to be.
    """

    V: np.ndarray
    w: np.ndarray
    to_landmarks: np.ndarray
    mean_kernel: np.ndarray
    s: np.ndarray

    def mean(self, Y: np.ndarray) -> np.ndarray:
        """(n_labels,) weighted mean."""
        return self.s**2 @ Y / (self.s @ self.s)


class Ridge(ForgetsSamples, TakesGaps, ClassifierMixin, BaseEstimator):
    """Ridge regression on labels, and what it does before fitting."""

    def _start(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Matrix, Matrix, np.ndarray | None, np.ndarray | None, np.ndarray]:
        """Checked features without gaps, labels, groups and weights, and the square roots of the weights."""
        X = self._checked(X, reset=True)
        self._preparation = make_pipeline(DistinctValues(moves=False), GapFiller()).fit(X)
        X, n = self._preparation.transform(X), X.shape[0]
        Y = check_training_labels(Y, n, ModelError, unmeasured=False)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        weights = check_weights(sample_weight, n, ModelError)
        s = np.ones(n) if weights is None else np.sqrt(weights)
        return X, Y, None if groups is None else group_codes(groups, n), weights, s

    def _scaled(self, X: Matrix) -> Matrix:
        if sparse.issparse(X):
            return sparse.csr_array(X.multiply(self._scale[np.newaxis, :]))
        return X * self._scale


@dataclass(eq=False, repr=False)
class KernelRidgeClassifier(Ridge):
    """Kernel ridge regression whose kernel and penalty have the least leave-one-out error.

    Missing features (NaN) are filled with medians, and marked, as :class:`~fairfold.core.gaps.GapFiller` does.
    Features are scaled to unit variance. Time grows with n_samples³ up to ``max_exact`` samples, then with
    n_samples · n_landmarks²; memory with n_samples · 8 bytes times samples or landmarks, some three times at the most.

    Parameters
    ----------
    gammas : of Gaussian kernels exp(-gamma · mean squared difference over features); 0 is the linear kernel.
    max_exact : most samples of which all are landmarks.
    n_landmarks : of more samples, drawn at random.
    random_state : whole number, of the landmarks and of the samples on which the kernel is chosen.

    Attributes
    ----------
    unseen_proba_ : (n_samples, n_labels) predictions of the training samples by models that did not see them, 0 to 1,
        relative to the mean labels of the others.
    gamma_, penalty_ : chosen.
    classes_ : numbers of the labels.
    """

    _: KW_ONLY
    gammas: Sequence[float] = (LINEAR, 0.1, 0.3, 1.0)
    max_exact: int = 2500
    n_landmarks: int = 1000
    random_state: int = 0

    def fit(
        self, X: Matrix, Y: np.ndarray, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit on (n_samples, n_features), dense or CSR, and (n_samples, n_labels) of 0/1.

        Of ``groups``, (n_samples,), a whole one is left out at a time, in place of one sample. ``sample_weight``,
        (n_samples,) above 0, is what squared errors count.

        Raises
        ------
        ModelError
            When a parameter is out of range, or labels are not 0/1 or of other samples.
        ValueError
            When features are infinite or no numbers.
        """
        self._check_parameters()
        X, Y, codes, weights, s = self._start(X, Y, groups, sample_weight)
        Y = to_dense(Y, "Y", ModelError).astype(np.float64)
        self._scale = inverse_deviations(X, weights)
        Z = self._scaled(X)
        order = np.random.default_rng(self.random_state).permutation(len(Y))
        few = np.sort(order[:_CHOSEN_ON])
        some = Z[few]
        of_few = None if codes is None else rows_of_groups(codes[few])
        errors = [min(_errors(_basis(some, some, gamma, s[few]), Y[few], of_few)) for gamma in self.gammas]
        self.gamma_ = self.gammas[int(np.argmin(errors))]
        self._landmarks = Z if len(Y) <= self.max_exact else Z[np.sort(order[: self.n_landmarks])]
        basis = _basis(Z, self._landmarks, self.gamma_, s)
        members = None if codes is None else rows_of_groups(codes)
        self.penalty_ = PENALTIES[int(np.argmin(_errors(basis, Y, members)))]
        mean = basis.mean(Y)
        # The mean of the others is lower for a sample with a label: what is said beyond it does not depend on that.
        left_out = _left_out(basis, Y, self.penalty_, members)
        self.unseen_proba_ = np.clip(left_out - _means_of_others(Y, s**2, members) + mean, 0, 1)
        projected = basis.V.T @ (s[:, np.newaxis] * (Y - mean))
        self._weights = basis.to_landmarks @ (projected / (basis.w + _strength(basis, self.penalty_))[:, np.newaxis])
        self._intercept = mean - basis.mean_kernel @ self._weights
        return self

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_labels) predictions, 0 to 1; not calibrated.

        Raises
        ------
        ValueError
            When features are infinite, or another number than in ``fit``.
        """
        check_is_fitted(self, "penalty_")
        Z = self._scaled(self._preparation.transform(self._checked(X, reset=False)))
        parts = [_kernel(Z[part], self._landmarks, self.gamma_) @ self._weights for part in _parts(Z.shape[0])]
        return np.clip(np.concatenate(parts) + self._intercept, 0, 1)

    def _check_parameters(self) -> None:
        gammas = self.gammas
        if isinstance(gammas, str) or not len(gammas) or not all(0 <= gamma < np.inf for gamma in gammas):
            raise ModelError(f"gammas is {gammas!r}; it must hold numbers of at least 0, where 0 is the linear kernel.")
        for name in ("max_exact", "n_landmarks"):
            check_whole_number(name, getattr(self, name), 1)


def inverse_deviations(X: Matrix, weights: np.ndarray | None = None) -> np.ndarray:
    """(n_features,) one over the standard deviation; constant features are left as they are."""
    if sparse.issparse(X):
        variance = mean_variance_axis(X.tocsr(), axis=0, weights=weights)[1]
    elif weights is None:
        variance = np.var(X, axis=0)
    else:
        variance = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    return 1 / np.sqrt(np.where(variance > 0, variance, 1))


def _kernel(A: Matrix, B: Matrix, gamma: float) -> np.ndarray:
    """(len(A), len(B)) products of mean over features, or Gaussian of the mean squared difference."""
    inner = safe_sparse_dot(A, B.T, dense_output=True) / A.shape[1]
    if gamma == LINEAR:
        return inner
    squares = [_row_squares(M) / M.shape[1] for M in (A, B)]
    return np.exp(-gamma * np.maximum(squares[0][:, np.newaxis] + squares[1] - 2 * inner, 0))


def _row_squares(M: Matrix) -> np.ndarray:
    return np.asarray((M.multiply(M) if sparse.issparse(M) else M * M).sum(axis=1)).ravel()


def _basis(Z: Matrix, landmarks: Matrix, gamma: float, s: np.ndarray) -> _Basis:
    """Directions of the samples' kernel features, exact where every sample is a landmark."""
    if Z is landmarks:
        K = _kernel(Z, Z, gamma)
        share = s**2 / (s @ s)
        mean_kernel = share @ K
        centred = K - mean_kernel - mean_kernel[:, np.newaxis] + share @ mean_kernel
        w, V = linalg.eigh(s * centred * s[:, np.newaxis], driver="evd", overwrite_a=True)
        return _Basis(V, np.maximum(w, 0), s[:, np.newaxis] * V, mean_kernel, s)
    # features whose products are the approximated kernel, then their principal directions
    w, Q = linalg.eigh(_kernel(landmarks, landmarks, gamma), driver="evd")
    real = w > w[-1] * 1e-10
    root = Q[:, real] / np.sqrt(w[real])
    F, mean_kernel = np.empty((Z.shape[0], root.shape[1])), np.zeros(len(root))
    for part in _parts(Z.shape[0]):
        K = _kernel(Z[part], landmarks, gamma)
        mean_kernel += s[part] ** 2 @ K / (s @ s)
        F[part] = K @ root
    F = s[:, np.newaxis] * (F - s**2 @ F / (s @ s))
    w, Q = linalg.eigh(F.T @ F, driver="evd")
    real = w > w[-1] * 1e-12
    w, Q = w[real], Q[:, real]
    return _Basis(F @ (Q / np.sqrt(w)), w, root @ (Q * np.sqrt(w)), mean_kernel, s)


def _parts(n: int) -> list[slice]:
    return [slice(first, first + _AT_ONCE) for first in range(0, n, _AT_ONCE)]


def _strength(basis: _Basis, penalty: float) -> float:
    return penalty * basis.w.sum() / len(basis.V)


def _left_out(basis: _Basis, Y: np.ndarray, penalty: float, members: Sequence[np.ndarray] | None) -> np.ndarray:
    """(n_samples, n_labels) predictions by models that did not see the sample, or none of its group.

    Intercepts are not penalised. Of a group, the prediction is y - (I - H_gg)⁻¹ (y - fitted).
    """
    V, s, total = basis.V, basis.s, basis.s @ basis.s
    shrink = basis.w / (basis.w + _strength(basis, penalty))
    scaled = s[:, np.newaxis] * (Y - basis.mean(Y))
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
    """(n_samples, n_labels) mean labels of all samples but this one, or but those of its group."""
    weighted, least = weights[:, np.newaxis] * Y, np.finfo(float).tiny
    sums, total = weighted.sum(axis=0), weights.sum()
    if members is None:
        return (sums - weighted) / np.maximum(total - weights, least)[:, np.newaxis]
    found = np.empty(Y.shape)
    for rows in members:
        found[rows] = (sums - weighted[rows].sum(axis=0)) / max(total - weights[rows].sum(), least)
    return found


def _errors(basis: _Basis, Y: np.ndarray, members: Sequence[np.ndarray] | None) -> list[float]:
    """Mean squared error of left-out samples with each penalty."""
    errors = ((Y - _left_out(basis, Y, penalty, members)) ** 2 for penalty in PENALTIES)
    return [float(np.mean(basis.mean(each))) for each in errors]
