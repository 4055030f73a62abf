"""The few leading eigenvectors of many small matrices, in half the time of all of them.

The matrix is made tridiagonal, by a few steps of Lanczos' method where those suffice, else by Householder reflections
(Golub & Van Loan, Matrix Computations, sections 8.3 and 10.1). Sturm sequences enclose its largest eigenvalues (8.4),
twisted factorisations refine them and give their vectors (Dhillon & Parlett 2004, Multiple representations to compute
orthogonal eigenvectors of symmetric tridiagonal matrices), all at once in vectorised loops. Whatever is too many or
not exact enough is left to LAPACK.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MOST = 12  # eigenvalues that are looked for; of more, LAPACK finds all in no more time
_STEPS = 14  # of Lanczos' method
_EXACT = 1e-12  # residual of an eigenvector, relative to the largest eigenvalue
_OVERLAP = 1e-9  # of two eigenvectors: two intervals held one eigenvalue
_INSIDE = 3  # points that a sweep of Sturm sequences puts into each interval
_SWEEPS = 8  # leave intervals of 2e-6; three twisted factorisations then converge cubically
_ROUNDS = 3
_TINY = 1e-30  # takes the place of a pivot of 0


@njit(cache=True, nogil=True)
def leading_eigenvectors(A: np.ndarray, share: float) -> np.ndarray:
    """Eigenvectors of the fewest largest eigenvalues that add up to more than a share of them all.

    Parameters
    ----------
    A : ndarray, shape (p, p); symmetric, no negative eigenvalue.
    share : between 0 and 1.

    Returns
    -------
    ndarray, shape (p, k)
        Largest eigenvalue first; all of them where no number suffices. Costs (4/3)·p³ and little besides, or some 15·p²
        where very few vectors are needed.
    """
    p = len(A)
    least = share * np.trace(A)
    if p > 2 * _MOST:
        vectors = _from_krylov(A, least)
        if not vectors.shape[1]:
            vectors = _from_reflections(A, least)
        if vectors.shape[1]:
            return vectors
    values, all_vectors = np.linalg.eigh(A)
    return all_vectors[:, ::-1][:, : min(n_kept(values[::-1], least), p)]


@njit(cache=True, nogil=True)
def n_kept(values: np.ndarray, least: float) -> int:
    """How many of the first values add up to more than ``least``; one too many if all do not."""
    kept = 0.0
    for k in range(len(values)):
        kept += values[k]
        if kept > least:
            return k + 1
    return len(values) + 1


@njit(cache=True, nogil=True)
def _from_krylov(A: np.ndarray, least: float) -> np.ndarray:
    """The eigenvectors, by Lanczos' method; none where its few steps do not find them."""
    p = len(A)
    diagonal, off_diagonal, basis = np.empty(_STEPS), np.empty(_STEPS), np.empty((_STEPS, p))
    w = np.sin(np.arange(1, p + 1) * 1.0)  # like no eigenvector in particular
    for j in range(_STEPS):
        norm = np.sqrt((w * w).sum())
        if j:
            off_diagonal[j - 1] = norm
        # what six steps see of the trace falls short where many eigenvalues are needed
        if norm == 0 or (j == 6 and diagonal[:j].sum() < least):
            return np.empty((p, 0))
        basis[j] = w / norm
        w = A @ basis[j]
        diagonal[j] = (w * basis[j]).sum()
        for _ in range(2):  # orthogonal to rounding, against all vectors before
            w -= (basis[: j + 1] @ w) @ basis[: j + 1]
    vectors, k, highest = _leading(diagonal, off_diagonal[:-1], least)
    rest = np.sqrt((w * w).sum())
    if not 0 < k <= _STEPS // 4 or np.abs(vectors[-1, :k]).max() * rest > 10 * _EXACT * highest:
        return np.empty((p, 0))
    return basis.T @ np.ascontiguousarray(vectors[:, :k])


@njit(cache=True, nogil=True, fastmath={"contract"})
def _from_reflections(A: np.ndarray, least: float) -> np.ndarray:
    """The eigenvectors, by Householder reflections; none where they are too many or not exact."""
    diagonal, off_diagonal, reflections = _tridiagonal(A)
    vectors, k, _ = _leading(diagonal, off_diagonal, least)
    projections = np.empty(_MOST)
    for i in range(len(A) - 2, -1, -1):
        projections[:] = 0
        for r in range(i + 1, len(A)):
            row, factor = vectors[r], reflections[i, r]
            for s in range(_MOST):
                projections[s] += factor * row[s]
        for r in range(i + 1, len(A)):
            row, factor = vectors[r], reflections[i, r]
            for s in range(_MOST):
                row[s] -= factor * projections[s]
    return vectors[:, :k]


@njit(cache=True, nogil=True)
def _tridiagonal(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Diagonal, what stands beside it, and reflections u with A = H0 H1 ... T ... H1 H0, H = 1 - u uᵀ."""
    p, A = len(A), A.copy()
    diagonal, off_diagonal, reflections = np.empty(p), np.zeros(p - 1), np.zeros((p, p))
    for i in range(p - 1):
        diagonal[i] = A[i, i]
        u = reflections[i, i + 1 :]
        u[:] = A[i, i + 1 :]
        m = len(u)
        norm = np.sqrt((u * u).sum())
        off_diagonal[i] = -norm if u[0] > 0 else norm
        u[0] -= off_diagonal[i]
        length = np.sqrt((u * u).sum())
        if length == 0:
            continue
        u *= np.sqrt(2) / length
        q = np.zeros(m)
        for r in range(m):
            row, factor = A[i + 1 + r, i + 1 :], u[r]
            for t in range(m):
                q[t] += factor * row[t]
        q -= 0.5 * (q * u).sum() * u
        for r in range(m):
            row, u_r, q_r = A[i + 1 + r, i + 1 :], u[r], q[r]
            for t in range(m):
                row[t] -= u_r * q[t] + q_r * u[t]
    diagonal[p - 1] = A[p - 1, p - 1]
    return diagonal, off_diagonal, reflections


@njit(cache=True, nogil=True)
def _leading(diagonal: np.ndarray, off_diagonal: np.ndarray, least: float) -> tuple[np.ndarray, int, float]:
    """Eigenvectors of a tridiagonal matrix, how many are needed, and the largest eigenvalue.

    None are of use where more than there are would be needed, or those needed are not exact enough.
    """
    scale = np.abs(diagonal).max() + 2 * np.abs(off_diagonal).max()
    scale = scale if scale > 0 else 1.0
    diagonal, off_diagonal = diagonal / scale, off_diagonal / scale
    low, high = _enclose(diagonal, off_diagonal)
    values, vectors, residuals = _refine(diagonal, off_diagonal, low, high)
    k = n_kept(values, least / scale)
    if k > _MOST or not residuals[:k].max() <= _EXACT * values[0]:
        return vectors, 0, 0.0
    for a in range(k):
        for b in range(a):
            if not abs((vectors[:, a] * vectors[:, b]).sum()) <= _OVERLAP:
                return vectors, 0, 0.0
    return vectors, k, values[0] * scale


@njit(cache=True, nogil=True)
def _enclose(diagonal: np.ndarray, off_diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of the ``_MOST`` largest eigenvalues of a tridiagonal matrix with eigenvalues from 0 to 1."""
    n_points = _INSIDE * _MOST
    low, high, squares = np.zeros(_MOST), np.ones(_MOST), off_diagonal * off_diagonal
    points = np.arange(1, n_points + 1) / (n_points + 1)
    for _ in range(_SWEEPS):
        n_above = _count_above(diagonal, squares, points)
        for s in range(_MOST):
            for t in range(n_points):
                if n_above[t] > s:
                    low[s] = max(low[s], points[t])
                else:
                    high[s] = min(high[s], points[t])
        for s in range(_MOST):
            for t in range(_INSIDE):
                points[_INSIDE * s + t] = low[s] + (high[s] - low[s]) * (t + 1) / (_INSIDE + 1)
    return low, high


@njit(cache=True, nogil=True, fastmath={"contract"})
def _count_above(diagonal: np.ndarray, squares: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Number of eigenvalues at or above each point: how often leading minors of T - point keep their sign."""
    before, now, n_above = np.ones(_INSIDE * _MOST), np.empty(_INSIDE * _MOST), np.empty(_INSIDE * _MOST)
    for s in range(_INSIDE * _MOST):
        now[s] = diagonal[0] - points[s] if diagonal[0] != points[s] else _TINY
        n_above[s] = 1.0 if now[s] > 0 else 0.0
    for i in range(1, len(diagonal)):
        d, e = diagonal[i], squares[i - 1]
        for s in range(_INSIDE * _MOST):
            minor = (d - points[s]) * now[s] - e * before[s]
            minor = minor if minor != 0 else _TINY * now[s]
            n_above[s] += 0.0 if (minor > 0) ^ (now[s] > 0) else 1.0
            before[s] = now[s]
            now[s] = minor
        if i % 8 == 0:  # signs are all that counts: keep clear of underflow
            for s in range(_INSIDE * _MOST):
                factor = 1 / max(abs(now[s]), abs(before[s]))
                now[s] *= factor
                before[s] *= factor
    return n_above


@njit(cache=True, nogil=True, fastmath={"contract"})
def _refine(
    diagonal: np.ndarray, off_diagonal: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues in the intervals, their vectors as columns, and the residuals of these.

    Elimination from above and from below meet at the row where they leave least, the twist; solving from there gives
    the vector, and its Rayleigh quotient the next value.
    """
    p = len(diagonal)
    values, residuals = 0.5 * (low + high), np.empty(_MOST)
    above, below, z = np.zeros((p, _MOST)), np.empty((p, _MOST)), np.empty((p, _MOST))
    pivot, left, twist, norm = np.empty(_MOST), np.empty(_MOST), np.empty(_MOST), np.empty(_MOST)
    for _ in range(_ROUNDS):
        pivot[:] = diagonal[0] - values
        for i in range(p - 1):
            for s in range(_MOST):
                q = pivot[s] if abs(pivot[s]) > _TINY else _TINY
                above[i, s] = off_diagonal[i] / q
                pivot[s] = diagonal[i + 1] - values[s] - off_diagonal[i] * above[i, s]
        left[:], twist[:] = pivot, p - 1
        pivot[:] = diagonal[p - 1] - values
        for i in range(p - 2, -1, -1):
            e = off_diagonal[i - 1] if i else 0.0
            for s in range(_MOST):
                q = pivot[s] if abs(pivot[s]) > _TINY else _TINY
                below[i, s] = off_diagonal[i] / q
                pivot[s] = diagonal[i] - values[s] - off_diagonal[i] * below[i, s]
                here = pivot[s] - e * above[i - 1, s]
                is_less = abs(here) < abs(left[s])
                left[s] = here if is_less else left[s]
                twist[s] = i if is_less else twist[s]
        for s in range(_MOST):
            z[p - 1, s] = 1.0
            norm[s] = 0.0
        for i in range(p - 2, -1, -1):
            for s in range(_MOST):
                z[i, s] = -above[i, s] * z[i + 1, s] if i < twist[s] else 1.0
        for i in range(p - 1):
            for s in range(_MOST):
                z[i + 1, s] = -below[i, s] * z[i, s] if i >= twist[s] else z[i + 1, s]
        for i in range(p):
            for s in range(_MOST):
                norm[s] += z[i, s] * z[i, s]
        residuals[:] = np.abs(left) / np.sqrt(norm)
        values = np.minimum(np.maximum(values + left / norm, low), high)
    return values, z / np.sqrt(norm), residuals
