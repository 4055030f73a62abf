"""The few leading eigenvectors of many small matrices, in half the time of all of them.

The matrix is made tridiagonal, by a few steps of Lanczos' method where those suffice, else by Householder reflections;
bisection on Sturm sequences finds its largest eigenvalues, all at once; inverse iteration their vectors (Golub & Van
Loan, Matrix Computations, sections 8.3, 8.4 and 10.1). Whatever is too many or not exact enough is left to LAPACK.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MOST = 12  # eigenvalues that are looked for; of more, LAPACK finds all in no more time
_STEPS = 14  # of Lanczos' method
_EXACT = 1e-12  # residual of an eigenvector, relative to the largest eigenvalue
_BISECTIONS = 36  # leave an error that two steps of inverse iteration square away
_TINY = 1e-300


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
        if not len(vectors):
            vectors = _from_reflections(A, least)
        if len(vectors):
            return vectors.T
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
    """The eigenvectors as rows, by Lanczos' method; no rows where its few steps do not find them."""
    p = len(A)
    diagonal, beside, basis = np.empty(_STEPS), np.empty(_STEPS), np.empty((_STEPS, p))
    w = np.sin(np.arange(1, p + 1) * 1.0)  # like no eigenvector in particular
    for j in range(_STEPS):
        norm = np.sqrt((w * w).sum())
        if j:
            beside[j - 1] = norm
        # what six steps see of the trace falls short where many eigenvalues are needed
        if norm == 0 or (j == 6 and diagonal[:j].sum() < least):
            return np.empty((0, p))
        basis[j] = w / norm
        w = A @ basis[j]
        diagonal[j] = (w * basis[j]).sum()
        for _ in range(2):  # orthogonal to rounding, against all vectors before
            w -= (basis[: j + 1] @ w) @ basis[: j + 1]
    values = _largest_eigenvalues(diagonal, beside[:-1])
    k = n_kept(values, least)
    if k > _STEPS // 4:
        return np.empty((0, p))
    vectors = _inverse_iteration(diagonal, beside[:-1], values[:k])
    rest = np.sqrt((w * w).sum())
    for vector in vectors:
        if abs(vector[-1]) * rest > 10 * _EXACT * values[0]:
            return np.empty((0, p))
    return vectors @ basis


@njit(cache=True, nogil=True)
def _from_reflections(A: np.ndarray, least: float) -> np.ndarray:
    """The eigenvectors as rows, by Householder reflections; no rows where they are too many or not exact."""
    p = len(A)
    diagonal, beside, reflections = _tridiagonal(A)
    values = _largest_eigenvalues(diagonal, beside)
    k = n_kept(values, least)
    if k > _MOST:
        return np.empty((0, p))
    vectors = _inverse_iteration(diagonal, beside, values[:k])
    for vector in vectors:
        for i in range(p - 2, -1, -1):
            u, projection = reflections[i, i + 1 :], 0.0
            for t in range(len(u)):
                projection += u[t] * vector[i + 1 + t]
            for t in range(len(u)):
                vector[i + 1 + t] -= projection * u[t]
    return vectors


@njit(cache=True, nogil=True)
def _tridiagonal(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Diagonal, what stands beside it, and reflections u with A = H0 H1 ... T ... H1 H0, H = 1 - u uᵀ."""
    p, A = len(A), A.copy()
    diagonal, beside, reflections = np.empty(p), np.zeros(p - 1), np.zeros((p, p))
    for i in range(p - 1):
        diagonal[i] = A[i, i]
        u = reflections[i, i + 1 :]
        u[:] = A[i, i + 1 :]
        m = len(u)
        norm = np.sqrt((u * u).sum())
        beside[i] = -norm if u[0] > 0 else norm
        u[0] -= beside[i]
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
    return diagonal, beside, reflections


@njit(cache=True, nogil=True)
def _largest_eigenvalues(diagonal: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """The ``_MOST`` largest eigenvalues of a tridiagonal matrix without negative ones, the largest first."""
    p = len(diagonal)
    highest = diagonal[p - 1] + abs(beside[p - 2])
    for i in range(p - 1):
        highest = max(highest, diagonal[i] + abs(beside[i]) + (abs(beside[i - 1]) if i else 0.0))
    low, high = np.zeros(_MOST), np.full(_MOST, highest)
    middle, q, n_above = np.empty(_MOST), np.empty(_MOST), np.empty(_MOST)
    for _ in range(_BISECTIONS):
        for s in range(_MOST):
            middle[s] = 0.5 * (low[s] + high[s])
            q[s], n_above[s] = np.inf, 0
        for i in range(p):
            square = beside[i - 1] * beside[i - 1] if i else 0.0
            for s in range(_MOST):
                value = diagonal[i] - middle[s] - square / q[s]
                q[s] = value if abs(value) > _TINY else _TINY
                n_above[s] += 1.0 if q[s] > 0 else 0.0
        for s in range(_MOST):
            if n_above[s] > s:
                low[s] = middle[s]
            else:
                high[s] = middle[s]
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _inverse_iteration(diagonal: np.ndarray, beside: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Eigenvectors of a tridiagonal matrix as rows; no rows if one of them is not exact enough."""
    p, k = len(diagonal), len(values)
    vectors = np.empty((k, p))
    scale = max(values[0], _TINY)
    for a in range(k):
        x = np.sin(np.arange(1, p + 1) * (1.0 + a))  # like no eigenvector in particular
        for _ in range(2):
            _solve(diagonal - values[a], beside, x, 1e-17 * scale)
            for b in range(a):
                x -= (x * vectors[b]).sum() * vectors[b]
            x /= np.sqrt((x * x).sum())
        vectors[a] = x
        residual = diagonal * x
        residual[1:] += beside * x[:-1]
        residual[:-1] += beside * x[1:]
        residual -= (residual * x).sum() * x
        if not np.abs(residual).max() <= _EXACT * scale:
            return np.empty((0, p))
    return vectors


@njit(cache=True, nogil=True)
def _solve(diagonal: np.ndarray, beside: np.ndarray, x: np.ndarray, smallest: float) -> None:
    """Solve the tridiagonal system in place, with row exchanges; pivots below ``smallest`` are set to it."""
    p = len(diagonal)
    pivot, right, second = diagonal.copy(), np.append(beside, 0.0), np.zeros(p)
    for i in range(p - 1):
        below = beside[i]
        if abs(below) > abs(pivot[i]):
            factor = pivot[i] / below
            pivot[i], right[i], pivot[i + 1], second[i], right[i + 1] = (
                below,
                pivot[i + 1],
                right[i] - factor * pivot[i + 1],
                right[i + 1],
                -factor * right[i + 1],
            )
            x[i], x[i + 1] = x[i + 1], x[i] - factor * x[i + 1]
        else:
            if abs(pivot[i]) < smallest:
                pivot[i] = smallest
            factor = below / pivot[i]
            pivot[i + 1] -= factor * right[i]
            x[i + 1] -= factor * x[i]
    if abs(pivot[p - 1]) < smallest:
        pivot[p - 1] = smallest
    x[p - 1] /= pivot[p - 1]
    x[p - 2] = (x[p - 2] - right[p - 2] * x[p - 1]) / pivot[p - 2]
    for i in range(p - 3, -1, -1):
        x[i] = (x[i] - right[i] * x[i + 1] - second[i] * x[i + 2]) / pivot[i]
