"""Ridge regression on many labels at once, of features weighted as words are, with leave-one-out predictions.

Where labels are many, features are mostly words, of which the rare ones tell most: sparse features that are never
negative are weighted by the inverse frequency of documents (Spärck Jones 1972), and samples are scaled to unit length;
other features are standardised. One decomposition of the features serves all labels and all strengths of the penalty,
and leave-one-out predictions follow as in :mod:`fairfold.models.kernel_ridge`. The strength with the least
leave-one-out error is found on a sketch of the labels, which keeps squared errors in expectation
(:mod:`fairfold.forests.sketches`). Probabilities are sparse: of noise around zero nothing is kept.

The regression is linear in the features. Where these are words, and fewer than ``N_LANDMARKS``, it is linear in
Gaussian kernels with as many samples (Nyström; Williams & Seeger 2001), in which few words say more together. Kernels
are made for some rows at a time, whenever they are asked for, and never held.

The decomposition is that of the features' products or of the samples', whichever are fewer. Where both are more than
``MOST_DECOMPOSED``, it would take too long, and the first ``N_LEADING`` directions stand for all, which subspace
iteration finds (Halko, Martinsson & Tropp 2011, Algorithm 4.4): those that are left out are the ones that a penalty
shrinks most. docs/how-it-works/many-labels.md says what that costs.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix
from fairfold.core.groups import rows_of_groups
from fairfold.core.sparse_rows import add_rows, joined_rows
from fairfold.core.usage import NEVER_TOO_MUCH, free_memory, give_back_memory
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.sketched import MOST_KEPT
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.models.kernel_ridge import Ridge, inverse_deviations

logger = logging.getLogger(__name__)

PENALTIES = tuple(10.0 ** np.arange(-2, 2.25, 0.25))  # times the mean eigenvalue
LEAST = 0.01
"""Least probability that is kept."""
MOST_DECOMPOSED = 4096
"""Of more features than this, and more samples, only the leading directions are found."""
N_LEADING = 1024
N_LANDMARKS = 1500
"""Words that are fewer than this are replaced by kernels with so many samples."""
GAMMA = 0.5  # of these kernels; words have unit length
_PASSES = 3  # of subspace iteration; with five, P@1 of left-out samples on bibtex differs by .003 at most
_RIDGE_OF_LANDMARKS = 1e-5  # beside kernels of 1; single precision tells nothing below
_CELLS_AT_ONCE = 2**19  # of dense rows that are held

Members = Sequence[np.ndarray] | None
"""Rows of each group; None where every sample is left out alone."""


@dataclass(eq=False, repr=False)
class ManyLabelRidge(Ridge):
    """Ridge regression of all labels whose penalty has the least leave-one-out error.

    Missing features (NaN) are filled with medians, and marked, as :class:`~fairfold.core.gaps.GapFiller` does.
    Time grows with n · d · k for n samples and d features or landmarks, of which k directions are found, k³ and
    n · k · n_labels; memory with k · min(n, d) and d · n_labels.

    Parameters
    ----------
    n_landmarks : whole number, samples whose kernels replace words that are fewer; 0 for none.
    random_state : whole number, of the sketch on which the penalty is chosen, of the landmarks, and of the search for
        directions.

    Attributes
    ----------
    unseen_proba_ : (n_samples, n_labels) CSR float32, predictions of the training samples by models that did not see
        them, relative to the mean labels of the others; ``LEAST`` to 1.
    penalty_ : chosen, times the mean eigenvalue of the features' products.
    coef_ : (n_features, n_labels) float32, of the weighted features, or (n_landmarks, n_labels) of the kernels.
    landmarks_ : (n_landmarks, n_features) CSR float32 of weighted features; None where features are not replaced.
    intercept_ : (n_labels,).
    classes_ : numbers of the labels.
    """

    _: KW_ONLY
    n_landmarks: int = N_LANDMARKS
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
            When labels are not 0/1 or of other samples, or numbers would not fit into memory.
        ValueError
            When features are infinite or no numbers.
        """
        check_whole_number("n_landmarks", self.n_landmarks, 0)
        X, Y, codes, _, s = self._start(X, Y, groups, sample_weight)
        Y = sparse.csr_array(Y).astype(np.float64)
        self._is_text = sparse.issparse(X) and X.data.min(initial=0) >= 0
        self._scale = _inverse_document_frequencies(X) if self._is_text else inverse_deviations(X)
        Z = self._weighted(X)
        self.landmarks_ = self._chosen_landmarks(Z)
        _check_room(len(s), Z.shape[1] if self.landmarks_ is None else self.landmarks_.shape[0], Y.shape[1])
        directions = _Directions.of(Z, s, self.random_state, self.landmarks_)
        give_back_memory()
        members = None if codes is None else rows_of_groups(codes)
        self.penalty_ = PENALTIES[int(np.argmin(self._errors(directions, Y, members)))]
        mean = directions.mean(Y)
        projected = directions.project(Y, mean)
        self.coef_ = directions.coefficients(projected, self.penalty_)
        give_back_memory()
        self.intercept_ = mean - directions.mean_row @ self.coef_
        left_out = self._left_out(directions, Y, projected, members)
        del directions, projected
        self.unseen_proba_ = joined_rows(left_out, Y.shape[1])
        if members is not None:
            self.unseen_proba_ = self.unseen_proba_[np.argsort(np.concatenate(members), kind="stable")]
        return self

    def predict_proba(self, X: Matrix) -> sparse.csr_array:
        """(n_samples, n_labels) CSR float32 of predictions, ``LEAST`` to 1; not calibrated.

        Raises
        ------
        ValueError
            When features are infinite, or another number than in ``fit``.
        """
        check_is_fitted(self, "penalty_")
        Z = self._weighted(self._preparation.transform(self._checked(X, reset=False))).astype(np.float32)
        S = Z if self.landmarks_ is None else _Kernels(Z, self.landmarks_)
        parts = _parts(Z.shape[0], self.coef_.shape[1] + len(self.coef_) * (self.landmarks_ is not None))
        return joined_rows([_highest(S[rows] @ self.coef_ + self.intercept_) for rows in parts], self.coef_.shape[1])

    def _weighted(self, X: Matrix) -> Matrix:
        return normalize(self._scaled(X), copy=False) if self._is_text else self._scaled(X)

    def _chosen_landmarks(self, Z: Matrix) -> sparse.csr_array | None:
        """Samples drawn at random, if features are words and fewer than these."""
        n_chosen = min(self.n_landmarks, Z.shape[0])
        if not self._is_text or Z.shape[1] >= n_chosen:
            return None
        chosen = np.random.default_rng(self.random_state).choice(Z.shape[0], n_chosen, replace=False)
        return Z[np.sort(chosen)].astype(np.float32)

    def _errors(self, directions: _Directions, Y: sparse.csr_array, members: Members) -> list[float]:
        """Squared error of left-out samples with each penalty, of a sketch of the labels."""
        targets = sketch(Y, N_SKETCHED, self.random_state).astype(np.float64)
        mean = directions.mean(targets)
        projected, errors = directions.project(targets, mean), np.zeros(len(PENALTIES))
        shrinks = [directions.shrink(penalty) for penalty in PENALTIES]
        for rows in directions.parts(targets.shape[1]) if members is None else members:
            V, scaled = directions.rows(rows), directions.s[rows, np.newaxis] * (targets[rows] - mean)
            for number, shrink in enumerate(shrinks):
                residuals = scaled - V @ (shrink[:, np.newaxis] * projected)
                left = directions.without(V, rows, residuals, shrink, members is not None)
                errors[number] += (left**2).sum()
        return errors.tolist()

    def _left_out(
        self, directions: _Directions, Y: sparse.csr_array, projected: np.ndarray, members: Members
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Predictions by the model without the sample, beyond the mean of the others, which tells its labels.

        As parts of :func:`~fairfold.core.sparse_rows.joined_rows`, in order of the samples or of the members. The
        labels' projections are shrunk in place.
        """
        mean, shrink, s = directions.mean(Y), directions.shrink(self.penalty_), directions.s
        projected *= shrink[:, np.newaxis]
        total, found = s @ s, []
        for rows in directions.parts(Y.shape[1]) if members is None else members:
            V, y, weights = directions.rows(rows), Y[rows].toarray(), s[rows, np.newaxis] ** 2
            residuals = s[rows, np.newaxis] * (y - mean) - V @ projected
            left = directions.without(V, rows, residuals, shrink, members is not None) / s[rows, np.newaxis]
            taken, of_labels = weights, weights * y
            if members is not None:
                taken, of_labels = weights.sum(axis=0), of_labels.sum(axis=0)
            of_others = (total * mean - of_labels) / np.maximum(total - taken, np.finfo(float).tiny)
            found.append(_highest(y - left - of_others + mean))
        return found


@dataclass(frozen=True)
class _Directions:
    """Orthonormal directions V of centred rows times s, (n, k), with eigenvalues w of their products.

    Rows are of features, or of kernels with landmarks, which stand for features from here on.

    Of few samples V is held. Otherwise the features' coefficients Q, (d, k), are, from which some of its rows are made
    when they are asked for; ``centre`` is the part of the mean row in each. A penalised fit has the coefficients
    V'y / (w + penalty) in these directions; ``mean_row`` is of the features, ``S`` their rows times s.
    """

    S: Matrix | _Kernels
    V: np.ndarray | None
    Q: np.ndarray | None
    centre: np.ndarray
    w: np.ndarray
    mean_row: np.ndarray
    s: np.ndarray

    @classmethod
    def of(cls, Z: Matrix, s: np.ndarray, seed: int, landmarks: sparse.csr_array | None) -> Self:
        """By the smaller of the two products of Z, centred about the mean of weight s², or its leading directions."""
        if landmarks is not None:
            R = whitening(landmarks)
            give_back_memory()
            return cls._within(_Kernels(Z.astype(np.float32), landmarks, s), s, R)
        n, d = Z.shape
        mean_row = np.asarray(s**2 @ Z).ravel() / (s @ s)
        S = sparse.diags_array(s).tocsr() @ Z if sparse.issparse(Z) else s[:, np.newaxis] * Z
        if min(n, d) > MOST_DECOMPOSED:
            logger.info("ridge regression in %d directions of %d features.", N_LEADING, d)
            return cls._within(S, s, leading_directions(S, N_LEADING, seed))
        if d <= n:
            products = S.T @ S
            products = products.toarray() if sparse.issparse(products) else products
            products -= (s @ s) * np.outer(mean_row, mean_row)
            w, Q = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
            return cls(S, None, Q, mean_row @ Q, w, mean_row, s)
        products = S @ S.T
        products = products.toarray() if sparse.issparse(products) else products
        across = s * np.asarray(Z @ mean_row).ravel() - mean_row @ mean_row * s / 2
        products -= np.outer(across, s)
        products -= np.outer(s, across)
        w, V = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
        return cls(S, V, None, np.zeros(0), w, mean_row, s)

    @classmethod
    def _within(cls, S: Matrix | _Kernels, s: np.ndarray, R: np.ndarray) -> Self:
        """Of what there is in the directions R, (n_features, k) float32; rows of S are made a few at a time."""
        mean_row = sum(s[rows] @ S[rows] for rows in _parts(*S.shape)) / (s @ s)
        products, centre = np.zeros((R.shape[1], R.shape[1]), dtype=np.float32), mean_row @ R
        for rows in _parts(*S.shape):
            part = np.asarray(S[rows] @ R, dtype=np.float32) - np.outer(s[rows], centre).astype(np.float32)
            products += part.T @ part
        w, Q = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
        Q = R @ Q
        return cls(S, None, Q, mean_row @ Q, w, mean_row, s)

    def parts(self, n_columns: int) -> list[slice]:
        """Rows of which so many columns, and directions, are held at once."""
        return _parts(len(self.s), n_columns + len(self.w) + len(self.mean_row) * isinstance(self.S, _Kernels))

    def rows(self, rows: slice | np.ndarray) -> np.ndarray:
        """Some rows of V."""
        if self.V is not None:
            return self.V[rows]
        V = np.asarray(self.S[rows] @ self.Q)
        V -= np.outer(self.s[rows], self.centre)
        V /= np.sqrt(self.w)
        return V

    def project(self, Y: Matrix, mean: np.ndarray) -> np.ndarray:
        """(k, n_labels) of labels about their mean, times s, in the directions."""
        found, total = np.zeros((Y.shape[1], len(self.w))), np.zeros(len(self.w))
        for rows in self.parts(0):
            weighted = self.rows(rows) * self.s[rows, np.newaxis]
            total += weighted.sum(axis=0)
            if sparse.issparse(Y):
                part = Y[rows]
                add_rows(part.indptr, part.indices, part.data, weighted, found)
            else:
                found += Y[rows].T @ weighted
        found -= np.outer(mean, total)
        return found.T

    def coefficients(self, projected: np.ndarray, penalty: float) -> np.ndarray:
        """(n_features, n_labels) float32 of the fit with a penalty, from (k, n_labels) projected labels."""
        found = np.empty((len(self.mean_row), projected.shape[1]), dtype=np.float32)
        if self.Q is not None:
            of_directions = np.sqrt(self.w) / (self.w + self.strength(penalty))
        else:
            of_directions = 1 / (self.w + self.strength(penalty))
        for labels in _parts(projected.shape[1], max(self.S.shape)):
            shrunk = of_directions[:, np.newaxis] * projected[:, labels]
            if self.Q is not None:
                found[:, labels] = self.Q @ shrunk
            else:
                of_samples = self.V @ shrunk
                found[:, labels] = self.S.T @ of_samples - np.outer(self.mean_row, self.s @ of_samples)
        return found

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
        self, V: np.ndarray, rows: slice | np.ndarray, residuals: np.ndarray, shrink: np.ndarray, together: bool
    ) -> np.ndarray:
        """Residuals of rows, times s, by the model that saw none of them, or each by the one that did not see it alone.

        That is (I - H)⁻¹ of the residuals, of rows V; the intercept, which is not penalised, has a part of H, too.
        """
        s, total = self.s[rows], self.s @ self.s
        if together:
            rest = np.eye(len(s)) - np.outer(s, s) / total - (V * shrink) @ V.T
            return linalg.lstsq(rest, residuals, cond=1e-12)[0]
        leverage = s**2 / total + np.einsum("ij,ij,j->i", V, V, shrink)
        return residuals / np.maximum(1 - leverage, 1e-12)[:, np.newaxis]


@dataclass(frozen=True)
class _Kernels:
    """(n, n_landmarks) float32 Gaussian kernels of rows with landmarks, times s; made of rows that are asked for."""

    Z: sparse.csr_array
    landmarks: sparse.csr_array
    s: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.Z.shape[0], self.landmarks.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        Z = self.Z[rows]
        K = Z @ self._by_feature
        K *= 2
        K -= _squares(Z)[:, np.newaxis]
        K -= self._of_landmarks
        K *= np.float32(GAMMA)
        np.exp(K, out=K)
        if self.s is not None:
            K *= self.s[rows, np.newaxis].astype(np.float32)
        return K

    @cached_property
    def _by_feature(self) -> np.ndarray:
        return self.landmarks.T.toarray()  # dense: features are fewer than landmarks

    @cached_property
    def _of_landmarks(self) -> np.ndarray:
        return _squares(self.landmarks)


def whitening(landmarks: sparse.csr_array) -> np.ndarray:
    """(n_landmarks, n_landmarks) float32: kernels with landmarks, times this, have products like all kernels.

    It is the inverse of a root of the landmarks' own kernels, of which some may be of the same sample: a little is
    added to the diagonal.
    """
    K = _Kernels(landmarks, landmarks)[:].astype(np.float64)
    K.flat[:: len(K) + 1] += _RIDGE_OF_LANDMARKS
    root = linalg.cholesky(K, lower=True, overwrite_a=True)
    return linalg.lapack.dtrtri(root, lower=1, overwrite_c=1)[0].T.astype(np.float32)


def _squares(Z: sparse.csr_array) -> np.ndarray:
    """(n,) squared lengths of rows: 1, or 0 of those without words."""
    return np.asarray(Z.multiply(Z).sum(axis=1)).ravel()


def leading_directions(S: Matrix, k: int, seed: int) -> np.ndarray:
    """(n_features, k) float32 orthonormal columns that span about what the first k right singular vectors do.

    Parameters
    ----------
    S : (n_samples, n_features) of at least k features.
    k : how many.
    seed : of the random start.
    """
    S = S.astype(np.float32)
    R = np.random.default_rng(seed).standard_normal((S.shape[1], k), dtype=np.float32)
    for _ in range(_PASSES):
        found = np.zeros_like(R)
        for rows in _parts(S.shape[0], k // 8):
            part = S[rows]
            if sparse.issparse(part):
                add_rows(part.indptr, part.indices, part.data, part @ R, found)
            else:
                found += part.T @ (part @ R)
        del R
        R = linalg.qr(found, mode="economic", overwrite_a=True, check_finite=False)[0]
    return R


def _check_room(n: int, d: int, n_labels: int) -> None:
    """Raise where the decomposition and the coefficients of d features or landmarks would not fit into memory."""
    k = N_LEADING if min(n, d) > MOST_DECOMPOSED else min(n, d)
    needed = 8 * k * (3 * min(n, d) + 2 * n_labels) + 4 * d * n_labels
    if needed <= NEVER_TOO_MUCH or needed <= (free := free_memory()):
        return
    raise ModelError(
        f"ridge regression of {n_labels:,} labels on {d:,} features of {n:,} samples needs about "
        f"{needed / 2**30:.0f} GiB, and {free / 2**30:.1f} GiB of memory are free: give fewer labels or features, or "
        "take a model of forests alone, such as gcForest+."
    )


def _largest(w: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues above rounding, at least one, and their vectors."""
    least = np.finfo(w.dtype).tiny
    real = w > max(w[-1], least) * (1e-10 if w.dtype == np.float64 else 1e-6)
    real[-1] = True
    return np.maximum(w[real], least).astype(np.float64), Q[:, real]


def _inverse_document_frequencies(X: sparse.csr_array) -> np.ndarray:
    """(n_features,) 1 + log((1 + n) / (1 + samples with the feature))."""
    documents = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return 1 + np.log((1 + X.shape[0]) / (1 + documents))


def _parts(n: int, n_columns: int) -> list[slice]:
    """Stretches of n rows, of so many columns that a few of their dense copies are no load."""
    size = max(_CELLS_AT_ONCE // max(n_columns, 1), 1)
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _highest(P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ``MOST_KEPT`` highest of each row, from ``LEAST`` on, at most 1: numbers of them, columns and values."""
    is_kept = P >= LEAST
    if P.shape[1] > MOST_KEPT:
        is_kept &= np.partition(P, -MOST_KEPT, axis=1)[:, -MOST_KEPT, np.newaxis] <= P
    rows, columns = np.nonzero(is_kept)
    counts = np.bincount(rows, minlength=len(P))
    return counts, columns.astype(np.int32), np.minimum(P[is_kept], 1).astype(np.float32)
