"""Ridge regression on many labels at once, with leave-one-out predictions.

Sparse features that are never negative are treated as words. They are weighted by inverse document frequency [1]_, and
samples are scaled to unit length. Other features are scaled by their standard deviations. One decomposition of the
features serves all labels and penalties. Leave-one-out predictions follow :mod:`fairfold.models.kernel_ridge`. The
penalty minimizes the leave-one-out error on a sketch of the labels, which preserves squared errors in expectation
(:mod:`fairfold.forests.sketches`). Predictions are sparse: values below ``LEAST`` are dropped.

If the features are fewer than ``N_LANDMARKS`` words, they are replaced by Gaussian kernels with that number of samples
(Nyström method) [2]_. Kernels capture combinations of words. They are computed for blocks of rows and never stored.

The decomposition uses the smaller of the products of the features and of the samples. If both exceed
``MOST_DECOMPOSED``, subspace iteration [3]_ finds only the first ``N_LEADING`` directions. The penalty would shrink the
omitted directions most. docs/evidence/many-labels.md reports the effect on scores.

References
----------
.. [1] Spärck Jones (1972). "A statistical interpretation of term specificity and its application in retrieval".
.. [2] Williams & Seeger (2001). "Using the Nyström method to speed up kernel machines".
.. [3] Halko, Martinsson & Tropp (2011). "Finding structure with randomness", Algorithm 4.4.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from fairfold.core.arrays import Matrix
from fairfold.core.groups import rows_of_groups
from fairfold.core.sparse_rows import add_rows, joined_rows
from fairfold.core.usage import NEVER_TOO_MUCH, free_memory, release_memory
from fairfold.core.validation import check_whole_number
from fairfold.errors import ModelError
from fairfold.forests.sketched import MOST_KEPT, n_kept
from fairfold.forests.sketches import N_SKETCHED, sketch
from fairfold.models.kernel_ridge import Ridge, inverse_deviations, row_squares

logger = logging.getLogger(__name__)

PENALTIES = tuple(10.0 ** np.arange(-2, 2.25, 0.25))  # multiples of the mean eigenvalue
LEAST = 0.01
"""Smallest prediction that is stored."""
MOST_DECOMPOSED = 4096
"""Number of features and of samples above which only the leading directions are computed."""
N_LEADING = 1024
N_LANDMARKS = 1500
"""Number of landmarks. Kernels with them replace the features if there are fewer words."""
GAMMA = 0.5  # width of these kernels, for samples of unit length
_PASSES = 3  # passes of subspace iteration; more passes hardly change P@1
_RIDGE_OF_LANDMARKS = 1e-5  # The diagonal of the kernel is 1. A smaller ridge is lost in single precision.
_CELLS_AT_ONCE = 2**19  # cells of dense rows per block

Members = Sequence[np.ndarray] | None
"""Rows of each group. None leaves out single samples."""


@dataclass(eq=False, repr=False)
class ManyLabelRidge(Ridge):
    """Ridge regression on all labels that minimizes the leave-one-out error over penalties.

    Missing features (NaN) are filled with medians, and indicator columns mark them; see
    :class:`~fairfold.core.missing_values.MissingValueFiller`.

    Parameters
    ----------
    n_landmarks : int, default=1500
        Number of landmarks, which are random samples. If the features are words and fewer than the landmarks, kernels
        with the landmarks replace them. 0 disables kernels.
    random_state : int, default=0
        Seed for the sketch on which the penalty is chosen, for the landmarks and for the search for directions.

    Attributes
    ----------
    out_of_fold_proba_ : csr_array of shape (n_samples, n_labels)
        Out-of-sample predictions of the training samples in single precision, from ``LEAST`` to 1. They use the mean
        label of all samples, because the mean of the other samples would reveal the label of the sample.
    penalty_ : float
        Chosen penalty in multiples of the mean eigenvalue.
    coef_ : ndarray of shape (n_features, n_labels) or (n_landmarks, n_labels)
        Coefficients of the weighted features or of the kernels, in single precision.
    landmarks_ : csr_array of shape (n_landmarks, n_features) or None
        Weighted features of the landmarks in single precision. None if kernels are not used.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    classes_ : ndarray of shape (n_labels,)
        Column numbers of the labels, from 0.

    Notes
    -----
    For n samples, d features or landmarks and k directions, run time grows with n · d · k, k³ and n · k · n_labels.
    Memory grows with k · min(n, d) and d · n_labels.

    Examples
    --------
    >>> import numpy as np
    >>> from fairfold.models.many_label_ridge import ManyLabelRidge
    >>> X = np.arange(20.0)[:, np.newaxis]
    >>> Y = np.column_stack([X[:, 0] >= 10, X[:, 0] < 10]).astype(int)
    >>> model = ManyLabelRidge().fit(X, Y)
    >>> model.predict_proba([[1.0], [18.0]]).toarray().round(1)
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """

    _: KW_ONLY
    n_landmarks: int = N_LANDMARKS
    random_state: int = 0

    def fit(
        self, X: Matrix, Y: Matrix, groups: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Choose the penalty and fit the regression.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features; NaN is a missing value.
        Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels of 0/1.
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
            If labels are not 0/1, the numbers of samples differ, or the regression does not fit into memory.
        ValueError
            If features are infinite or not numeric.
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
        release_memory()
        members = None if codes is None else rows_of_groups(codes)
        self.penalty_ = PENALTIES[int(np.argmin(self._errors(directions, Y, members)))]
        mean = directions.mean(Y)
        projected = directions.project(Y, mean)
        self.coef_ = directions.coefficients(projected, self.penalty_)
        release_memory()
        self.intercept_ = mean - directions.mean_row @ self.coef_
        left_out = self._left_out(directions, Y, projected, members)
        del directions, projected
        self.out_of_fold_proba_ = joined_rows(left_out, Y.shape[1])
        if members is not None:
            self.out_of_fold_proba_ = self.out_of_fold_proba_[np.argsort(np.concatenate(members), kind="stable")]
        return self

    def predict_proba(self, X: Matrix) -> sparse.csr_array:
        """Predict the probability that each label is positive.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        csr_array of shape (n_samples, n_labels)
            Predictions in single precision, from ``LEAST`` to 1. They are not calibrated.

        Raises
        ------
        ValueError
            If features are infinite, or their number differs from ``fit``.
        """
        check_is_fitted(self, "penalty_")
        Z = self._weighted(self._preparation.transform(self._checked(X, reset=False))).astype(np.float32)
        S = Z if self.landmarks_ is None else _Kernels(Z, self.landmarks_)
        n_labels = self.coef_.shape[1]
        parts = _parts(Z.shape[0], n_labels + len(self.coef_) * (self.landmarks_ is not None))
        most = n_kept(n_labels)
        return joined_rows([_highest(S[rows] @ self.coef_ + self.intercept_, most) for rows in parts], n_labels)

    def _weighted(self, X: Matrix) -> Matrix:
        return normalize(self._scaled(X), copy=False) if self._is_text else self._scaled(X)

    def _chosen_landmarks(self, Z: Matrix) -> sparse.csr_array | None:
        """Draw random samples as landmarks if the features are words and fewer than the landmarks."""
        n_chosen = min(self.n_landmarks, Z.shape[0])
        if not self._is_text or Z.shape[1] >= n_chosen:
            return None
        chosen = np.random.default_rng(self.random_state).choice(Z.shape[0], n_chosen, replace=False)
        return Z[np.sort(chosen)].astype(np.float32)

    def _errors(self, directions: _Directions, Y: sparse.csr_array, members: Members) -> list[float]:
        """Compute the squared leave-one-out error of each penalty on a sketch of the labels."""
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
        """Predict each sample without it, with the mean of the other samples replaced by the overall mean.

        The mean of the others would leak the labels of the sample. The result consists of parts for
        :func:`~fairfold.core.sparse_rows.joined_rows`, in the order of the samples or of the groups. The projections of
        the labels are shrunk in place.
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
            found.append(_highest(y - left - of_others + mean, MOST_KEPT))
        return found


@dataclass(frozen=True)
class _Directions:
    """Orthonormal directions V of centered and weighted rows, with the eigenvalues w of their products.

    Rows contain features, or kernels with landmarks, which are treated as features. They are multiplied by s, the
    square roots of the sample weights.

    V of shape (n, k) is stored only if samples are fewer than features. Otherwise Q of shape (d, k) is stored, and rows
    of V are computed on request; ``center`` is the mean row times Q. A penalized fit has the coefficients ``V.T @ y /
    (w + penalty)`` in these directions. ``mean_row`` is the mean of the features, and ``S`` holds their weighted rows.
    """

    S: Matrix | _Kernels
    V: np.ndarray | None
    Q: np.ndarray | None
    center: np.ndarray
    w: np.ndarray
    mean_row: np.ndarray
    s: np.ndarray

    @classmethod
    def of(cls, Z: Matrix, s: np.ndarray, seed: int, landmarks: sparse.csr_array | None) -> Self:
        """Decompose the smaller product of Z, centered at the weighted mean, or find its leading directions."""
        if landmarks is not None:
            R = whitening(landmarks)
            release_memory()
            return cls._within(_Kernels(Z.astype(np.float32), landmarks, s), s, R)
        n, d = Z.shape
        mean_row = np.asarray(s**2 @ Z).ravel() / (s @ s)
        S = sparse.diags_array(s).tocsr() @ Z if sparse.issparse(Z) else s[:, np.newaxis] * Z
        if min(n, d) > MOST_DECOMPOSED:
            logger.info("Ridge regression in %d directions of %d features.", N_LEADING, d)
            return cls._within(S, s, leading_directions(S, N_LEADING, seed))
        if d <= n:
            products = safe_sparse_dot(S.T, S, dense_output=True)
            products -= (s @ s) * np.outer(mean_row, mean_row)
            w, Q = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
            return cls(S, None, Q, mean_row @ Q, w, mean_row, s)
        products = safe_sparse_dot(S, S.T, dense_output=True)
        across = s * np.asarray(Z @ mean_row).ravel() - mean_row @ mean_row * s / 2
        products -= np.outer(across, s)
        products -= np.outer(s, across)
        w, V = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
        return cls(S, V, None, np.zeros(0), w, mean_row, s)

    @classmethod
    def _within(cls, S: Matrix | _Kernels, s: np.ndarray, R: np.ndarray) -> Self:
        """Decompose S within the span of R, of shape (n_features, k), a few rows at a time."""
        mean_row = sum(s[rows] @ S[rows] for rows in _parts(*S.shape)) / (s @ s)
        products, center = np.zeros((R.shape[1], R.shape[1]), dtype=np.float32), mean_row @ R
        for rows in _parts(*S.shape):
            part = np.asarray(S[rows] @ R, dtype=np.float32) - np.outer(s[rows], center).astype(np.float32)
            products += part.T @ part
        w, Q = _largest(*linalg.eigh(products, driver="evd", overwrite_a=True))
        Q = R @ Q
        return cls(S, None, Q, mean_row @ Q, w, mean_row, s)

    def parts(self, n_columns: int) -> list[slice]:
        """Split the rows into blocks with room for these columns and for the directions."""
        return _parts(len(self.s), n_columns + len(self.w) + len(self.mean_row) * isinstance(self.S, _Kernels))

    def rows(self, rows: slice | np.ndarray) -> np.ndarray:
        """Compute some rows of V."""
        if self.V is not None:
            return self.V[rows]
        V = np.asarray(self.S[rows] @ self.Q)
        V -= np.outer(self.s[rows], self.center)
        V /= np.sqrt(self.w)
        return V

    def project(self, Y: Matrix, mean: np.ndarray) -> np.ndarray:
        """Project centered and weighted labels on the directions; the result has shape (k, n_labels)."""
        found, total = np.zeros((Y.shape[1], len(self.w))), np.zeros(len(self.w))
        for rows in self.parts(0):
            weighted = self.rows(rows) * self.s[rows, np.newaxis]
            total += weighted.sum(axis=0)
            _add_product(Y[rows], weighted, found)
        found -= np.outer(mean, total)
        return found.T

    def coefficients(self, projected: np.ndarray, penalty: float) -> np.ndarray:
        """Compute coefficients of shape (n_features, n_labels) from projected labels."""
        found = np.empty((len(self.mean_row), projected.shape[1]), dtype=np.float32)
        of_directions = (1 if self.Q is None else np.sqrt(self.w)) / (self.w + self.strength(penalty))
        for labels in _parts(projected.shape[1], max(self.S.shape)):
            shrunk = of_directions[:, np.newaxis] * projected[:, labels]
            if self.Q is not None:
                found[:, labels] = self.Q @ shrunk
            else:
                of_samples = self.V @ shrunk
                S = cast(Matrix, self.S)  # Directions of kernels have Q.
                found[:, labels] = S.T @ of_samples - np.outer(self.mean_row, self.s @ of_samples)
        return found

    def mean(self, Y: Matrix) -> np.ndarray:
        """Compute the weighted mean of each label."""
        return self.s**2 @ Y / (self.s @ self.s)

    def strength(self, penalty: float) -> float:
        """Convert a penalty to the scale of the eigenvalues."""
        return penalty * float(self.w.mean())

    def shrink(self, penalty: float) -> np.ndarray:
        """Compute the shrinkage factor of each direction."""
        return self.w / (self.w + self.strength(penalty))

    def without(
        self, V: np.ndarray, rows: slice | np.ndarray, residuals: np.ndarray, shrink: np.ndarray, together: bool
    ) -> np.ndarray:
        """Compute weighted residuals of rows under the fit without these rows, together or one at a time.

        The result is (I - H)⁻¹ times the residuals. H includes the intercept, which is not penalized.
        """
        s, total = self.s[rows], self.s @ self.s
        if together:
            rest = np.eye(len(s)) - np.outer(s, s) / total - (V * shrink) @ V.T
            return linalg.lstsq(rest, residuals, cond=1e-12)[0]
        leverage = s**2 / total + np.einsum("ij,ij,j->i", V, V, shrink)
        return residuals / np.maximum(1 - leverage, 1e-12)[:, np.newaxis]


@dataclass(frozen=True)
class _Kernels:
    """Gaussian kernels of rows with landmarks in single precision, times s, computed on request."""

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
        K -= row_squares(Z)[:, np.newaxis]
        K -= self._of_landmarks
        K *= np.float32(GAMMA)
        np.exp(K, out=K)
        if self.s is not None:
            K *= self.s[rows, np.newaxis].astype(np.float32)
        return K

    @cached_property
    def _by_feature(self) -> np.ndarray:
        return self.landmarks.T.toarray()  # A dense array is small here: features are fewer than landmarks.

    @cached_property
    def _of_landmarks(self) -> np.ndarray:
        return row_squares(self.landmarks)


def whitening(landmarks: sparse.csr_array) -> np.ndarray:
    """Compute a whitening matrix for kernels with landmarks.

    Kernels with landmarks, multiplied by this matrix, have inner products that approximate the full kernel. The matrix
    is the inverse of a Cholesky factor of the landmark kernel. A small ridge on its diagonal allows for duplicate
    landmarks.

    Parameters
    ----------
    landmarks : csr_array of shape (n_landmarks, n_features)
        Features of the landmarks.

    Returns
    -------
    ndarray of shape (n_landmarks, n_landmarks)
        Whitening matrix in single precision.
    """
    K = _Kernels(landmarks, landmarks)[:].astype(np.float64)
    K.flat[:: len(K) + 1] += _RIDGE_OF_LANDMARKS
    root = linalg.cholesky(K, lower=True, overwrite_a=True)
    return linalg.lapack.dtrtri(root, lower=1, overwrite_c=1)[0].T.astype(np.float32)


def _add_product(part: Matrix, rows: np.ndarray, found: np.ndarray) -> None:
    """Add ``part.T @ rows`` to ``found``."""
    if sparse.issparse(part):
        add_rows(part.indptr, part.indices, part.data, rows, found)
    else:
        found += part.T @ rows


def leading_directions(S: Matrix, k: int, seed: int) -> np.ndarray:
    """Approximate the span of the leading right singular vectors.

    Parameters
    ----------
    S : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Matrix with at least k columns.
    k : int
        Number of directions.
    seed : int
        Seed of the random start.

    Returns
    -------
    ndarray of shape (n_features, k)
        Orthonormal columns in single precision.

    Examples
    --------
    The second feature dominates.

    >>> import numpy as np
    >>> from fairfold.models.many_label_ridge import leading_directions
    >>> S = np.array([[0.1, 5.0, 0.0], [0.0, 9.0, 0.1], [0.1, 7.0, 0.0]])
    >>> np.abs(leading_directions(S, 1, seed=0)).round(1).ravel()
    array([0., 1., 0.], dtype=float32)
    """
    S = S.astype(np.float32)
    R = np.random.default_rng(seed).standard_normal((S.shape[1], k), dtype=np.float32)
    for _ in range(_PASSES):
        found = np.zeros_like(R)
        for rows in _parts(S.shape[0], k // 8):
            part = S[rows]
            _add_product(part, part @ R, found)
        del R
        R = linalg.qr(found, mode="economic", overwrite_a=True, check_finite=False)[0]
    return R


def _check_room(n: int, d: int, n_labels: int) -> None:
    """Raise an error if the decomposition and the coefficients would not fit into memory."""
    k = N_LEADING if min(n, d) > MOST_DECOMPOSED else min(n, d)
    needed = 8 * k * (3 * min(n, d) + 2 * n_labels) + 4 * d * n_labels
    if needed <= NEVER_TOO_MUCH or needed <= (free := free_memory()):
        return
    raise ModelError(
        f"ridge regression of {n_labels:,} labels on {d:,} features of {n:,} samples needs about "
        f"{needed / 2**30:.0f} GiB, but {free / 2**30:.1f} GiB of memory are free. Use fewer labels or features, or "
        "a model that consists of forests only, such as gcForest+."
    )


def _largest(w: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Select the eigenvalues above rounding error, at least one, and their eigenvectors."""
    least = np.finfo(w.dtype).tiny
    real = w > max(w[-1], least) * (1e-10 if w.dtype == np.float64 else 1e-6)
    real[-1] = True
    return np.maximum(w[real], least).astype(np.float64), Q[:, real]


def _inverse_document_frequencies(X: sparse.csr_array) -> np.ndarray:
    """Compute 1 + log((1 + n) / (1 + number of samples with the feature)) of each feature."""
    documents = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return 1 + np.log((1 + X.shape[0]) / (1 + documents))


def _parts(n: int, n_columns: int) -> list[slice]:
    """Split n rows into blocks whose dense copies need little memory."""
    return list(gen_batches(n, max(_CELLS_AT_ONCE // max(n_columns, 1), 1)))


def _highest(P: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Select the ``most`` highest values of each row from ``LEAST`` on; return counts, columns and values."""
    is_kept = P >= LEAST
    if P.shape[1] > most:
        is_kept &= np.partition(P, -most, axis=1)[:, -most, np.newaxis] <= P
    rows, columns = np.nonzero(is_kept)
    counts = np.bincount(rows, minlength=len(P))
    return counts, columns.astype(np.int32), np.minimum(P[is_kept], 1).astype(np.float32)
