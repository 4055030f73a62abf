"""Linear ridge regression on many labels at once, of features weighted as words are, with leave-one-out predictions.

Where labels are many, features are mostly words, of which the rare ones tell most: sparse features that are never
negative are weighted by the inverse frequency of documents (Spärck Jones 1972), and samples are scaled to unit length;
other features are standardised. One decomposition of the features serves all labels and all strengths of the penalty,
and leave-one-out predictions follow as in :mod:`fairfold.models.kernel_ridge`. The strength with the least
leave-one-out error is found on a sketch of the labels, which keeps squared errors in expectation
(:mod:`fairfold.forests.sketches`). Probabilities are sparse: of noise around zero nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfold.arrays import Matrix
from fairfold.errors import ModelError
from fairfold.forests.sketched import MOST_KEPT
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.gaps import GapFiller
from fairfold.groups import group_codes, rows_of_groups
from fairfold.samples import ForgetsSamples
from fairfold.validation import check_binary, check_weights

PENALTIES = tuple(10.0 ** np.arange(-2, 2.25, 0.25))  # times the mean eigenvalue
LEAST = 0.01
"""Least probability that is kept."""
_AT_ONCE = 1024  # samples whose dense predictions are held

Members = Sequence[np.ndarray] | None
"""Rows of each group; None where every sample is left out alone."""


@dataclass(eq=False, repr=False)
class LinearRidge(ForgetsSamples, ClassifierMixin, BaseEstimator):
    """Ridge regression of all labels whose penalty has the least leave-one-out error.

    Missing features (NaN) are filled with medians, and marked, as :class:`~fairfold.gaps.GapFiller` does. Time grows
    with n · d · min(n, d) for n samples and d features, and n · d · n_labels; memory with d · n_labels and
    n · min(n, d).

    Parameters
    ----------
    random_state : whole number, of the sketch on which the penalty is chosen.

    Attributes
    ----------
    unseen_proba_ : (n_samples, n_labels) CSR float32, predictions of the training samples by models that did not see
        them, relative to the mean labels of the others; ``LEAST`` to 1.
    penalty_ : chosen, times the mean eigenvalue of the features' products.
    coef_ : (n_features, n_labels) float32, of the weighted features.
    intercept_ : (n_labels,).
    classes_ : numbers of the labels.
    """

    _: KW_ONLY
    random_state: int = 0

    def fit(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit on (n_samples, n_features) and (n_samples, n_labels) of 0/1, each dense or CSR.

        Of ``groups``, (n_samples,), a whole one is left out at a time, in place of one sample. ``sample_weight``,
        (n_samples,) above 0, is what squared errors count.

        Raises
        ------
        ModelError
            When labels are not 0/1 or of other samples.
        ValueError
            When features are infinite or no numbers.
        """
        X = self._checked(X, reset=True)
        self._gaps = GapFiller().fit(X)
        X = self._gaps.transform(X)
        Y = sparse.csr_array(check_binary(Y, "Y", ModelError)).astype(np.float64)
        if Y.shape[0] != X.shape[0] or 0 in Y.shape:
            raise ModelError(f"labels have shape {Y.shape}; they must be ({X.shape[0]}, n_labels), one row per sample.")
        weights = check_weights(sample_weight, X.shape[0], ModelError)
        s = np.ones(X.shape[0]) if weights is None else np.sqrt(weights)
        self.classes_ = np.arange(Y.shape[1]).astype(object)
        self._is_text = sparse.issparse(X) and X.data.min(initial=0) >= 0
        self._scale = _inverse_document_frequencies(X) if self._is_text else _inverse_deviations(X)
        directions = _Directions.of(self._weighted(X), s)
        members = None if groups is None else rows_of_groups(group_codes(groups, X.shape[0]))
        self.penalty_ = PENALTIES[int(np.argmin(self._errors(directions, Y, members)))]
        mean = directions.mean(Y)
        projected = directions.project(Y, mean)
        shrunk = projected / (directions.w + directions.strength(self.penalty_))[:, np.newaxis]
        self.coef_ = (directions.to_features @ shrunk).astype(np.float32)
        self.intercept_ = mean - directions.mean_row @ self.coef_
        self.unseen_proba_ = self._left_out(directions, Y, projected, members)
        return self

    def predict_proba(self, X: Matrix) -> sparse.csr_array:
        """(n_samples, n_labels) CSR float32 of predictions, ``LEAST`` to 1; not calibrated.

        Raises
        ------
        ValueError
            When features are infinite, or another number than in ``fit``.
        """
        check_is_fitted(self, "penalty_")
        Z = self._weighted(self._gaps.transform(self._checked(X, reset=False)))
        parts = [_highest(Z[rows] @ self.coef_ + self.intercept_) for rows in _parts(Z.shape[0])]
        return sparse.vstack(parts, format="csr")

    def _checked(self, X: Matrix, *, reset: bool) -> Matrix:
        finite = True if sparse.issparse(X) else "allow-nan"
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, reset=reset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def _weighted(self, X: Matrix) -> Matrix:
        scaled = sparse.csr_array(X.multiply(self._scale[np.newaxis])) if sparse.issparse(X) else X * self._scale
        return normalize(scaled) if self._is_text else scaled

    def _errors(self, directions: _Directions, Y: sparse.csr_array, members: Members) -> list[float]:
        """Squared error of left-out samples with each penalty, of a sketch of the labels."""
        targets = sketch(Y, N_SKETCHED, self.random_state).astype(np.float64)
        mean = directions.mean(targets)
        projected, scaled = directions.project(targets, mean), directions.s[:, np.newaxis] * (targets - mean)
        errors = []
        for penalty in PENALTIES:
            shrink = directions.shrink(penalty)
            residuals = scaled - directions.V @ (shrink[:, np.newaxis] * projected)
            parts = _parts(len(scaled)) if members is None else members
            left = (directions.without(rows, residuals[rows], shrink, members is not None) for rows in parts)
            errors.append(float(sum((part**2).sum() for part in left)))
        return errors

    def _left_out(
        self, directions: _Directions, Y: sparse.csr_array, projected: np.ndarray, members: Members
    ) -> sparse.csr_array:
        """Predictions by the model without the sample, beyond the mean of the others, which tells its labels."""
        mean, shrink, s = directions.mean(Y), directions.shrink(self.penalty_), directions.s
        shrunk, total = shrink[:, np.newaxis] * projected, s @ s
        parts, found = _parts(Y.shape[0]) if members is None else members, []
        for rows in parts:
            y, weights = Y[rows].toarray(), s[rows, np.newaxis] ** 2
            residuals = s[rows, np.newaxis] * (y - mean) - directions.V[rows] @ shrunk
            left = directions.without(rows, residuals, shrink, members is not None) / s[rows, np.newaxis]
            taken, of_labels = weights, weights * y
            if members is not None:
                taken, of_labels = weights.sum(axis=0), of_labels.sum(axis=0)
            of_others = (total * mean - of_labels) / np.maximum(total - taken, np.finfo(float).tiny)
            found.append(_highest(y - left - of_others + mean))
        whole = sparse.vstack(found, format="csr")
        return whole if members is None else whole[np.argsort(np.concatenate(members), kind="stable")]


@dataclass(frozen=True)
class _Directions:
    """Orthonormal directions V of centred rows times s, (n, k), with eigenvalues w of their products.

    A penalised fit has the coefficients ``to_features @ (V'y / (w + penalty))``; ``mean_row`` is of the features.
    """

    V: np.ndarray
    w: np.ndarray
    to_features: np.ndarray
    mean_row: np.ndarray
    s: np.ndarray

    @classmethod
    def of(cls, Z: Matrix, s: np.ndarray) -> Self:
        """By the smaller of the two products of Z, centred about the mean of weight s²."""
        n, d = Z.shape
        mean_row = np.asarray(s**2 @ Z).ravel() / (s @ s)
        S = sparse.diags_array(s).tocsr() @ Z if sparse.issparse(Z) else s[:, np.newaxis] * Z
        if d <= n:
            products = S.T @ S
            products = products.toarray() if sparse.issparse(products) else products
            w, Q = linalg.eigh(products - (s @ s) * np.outer(mean_row, mean_row), driver="evd", overwrite_a=True)
            w, Q = _largest(w, Q)
            V = (S @ Q - np.outer(s, mean_row @ Q)) / np.sqrt(w)
            return cls(V, w, Q * np.sqrt(w), mean_row, s)
        products = S @ S.T
        products = products.toarray() if sparse.issparse(products) else products
        across = np.outer(s * np.asarray(Z @ mean_row).ravel(), s)
        w, V = linalg.eigh(products - across - across.T + mean_row @ mean_row * np.outer(s, s), driver="evd")
        w, V = _largest(w, V)
        to_features = np.asarray(S.T @ V) - np.outer(mean_row, s @ V)
        return cls(V, w, to_features, mean_row, s)

    def project(self, Y: Matrix, mean: np.ndarray) -> np.ndarray:
        """(k, n_labels) of labels about their mean, times s, in the directions."""
        weighted = self.V * self.s[:, np.newaxis]
        return np.asarray((Y.T @ weighted).T) - np.outer(weighted.sum(axis=0), mean)

    def mean(self, Y: Matrix) -> np.ndarray:
        """(n_labels,) weighted mean."""
        return self.s**2 @ Y / (self.s @ self.s)

    def strength(self, penalty: float) -> float:
        """Penalty in units of the eigenvalues."""
        return penalty * float(self.w.mean())

    def shrink(self, penalty: float) -> np.ndarray:
        """How much is left of each direction."""
        return self.w / (self.w + self.strength(penalty))

    def without(
        self, rows: slice | np.ndarray, residuals: np.ndarray, shrink: np.ndarray, together: bool
    ) -> np.ndarray:
        """Residuals of rows, times s, by the model that saw none of them, or each by the one that did not see it alone.

        That is (I - H)⁻¹ of the residuals; the intercept, which is not penalised, has a part of H, too.
        """
        V, s, total = self.V[rows], self.s[rows], self.s @ self.s
        if together:
            rest = np.eye(len(s)) - np.outer(s, s) / total - (V * shrink) @ V.T
            return linalg.lstsq(rest, residuals, cond=1e-12)[0]
        leverage = s**2 / total + np.einsum("ij,ij,j->i", V, V, shrink)
        return residuals / np.maximum(1 - leverage, 1e-12)[:, np.newaxis]


def _largest(w: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues above rounding, at least one, and their vectors."""
    real = w > max(w[-1], np.finfo(float).tiny) * 1e-10
    real[-1] = True
    return np.maximum(w[real], np.finfo(float).tiny), Q[:, real]


def _inverse_document_frequencies(X: sparse.csr_array) -> np.ndarray:
    """(n_features,) 1 + log((1 + n) / (1 + samples with the feature))."""
    documents = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return 1 + np.log((1 + X.shape[0]) / (1 + documents))


def _inverse_deviations(X: Matrix) -> np.ndarray:
    """(n_features,) one over the standard deviation; constant features are left as they are."""
    variance = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else np.var(X, axis=0)
    return 1 / np.sqrt(np.where(variance > 0, variance, 1))


def _parts(n: int) -> list[slice]:
    return [slice(first, min(first + _AT_ONCE, n)) for first in range(0, n, _AT_ONCE)]


def _highest(P: np.ndarray) -> sparse.csr_array:
    """The ``MOST_KEPT`` highest of each row, from ``LEAST`` on, at most 1."""
    if P.shape[1] > MOST_KEPT:
        least = np.partition(P, -MOST_KEPT, axis=1)[:, -MOST_KEPT, np.newaxis]
        P = np.where(least > P, 0, P)
    return sparse.csr_array(np.where(P >= LEAST, np.minimum(P, 1), 0).astype(np.float32))
