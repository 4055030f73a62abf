"""Compiled cross-validation of the six Gaussian classifiers on pairs of features, two classes.

Per feature, fold and class the sums and sums of squares are there before; a pair adds one sum of products per fold and
class. The statistics of a training part are then those of all folds less one, and each classifier is a quadratic in the
two features with six coefficients, which are counted over the test part without a branch. Costs O(n_samples) per pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.win_percentage.gaussians import RIDGE

N_CLASSIFIERS = 6


class FoldedData(NamedTuple):
    """Samples of each repetition in order of fold, then class.

    features : ndarray, shape (n_repeats, n_features, n_samples); centred.
    bounds : ndarray of int64, shape (n_repeats, n_splits, 3); where a fold begins, where its class 1 does, its end.
    sums, squares : ndarray, shape (n_repeats, n_features, n_splits, 2); of each fold and class.
    """

    features: np.ndarray
    bounds: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


def fold_data(X: np.ndarray, codes: np.ndarray, fold_of: np.ndarray) -> FoldedData:
    """Data as the kernel takes them.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features).
    codes : ndarray, shape (n_samples,); 0 or 1.
    fold_of : ndarray, shape (n_repeats, n_samples).
    """
    n_repeats, n_splits = len(fold_of), int(fold_of.max()) + 1
    centred = X - X.mean(axis=0)
    orders = np.array([np.lexsort((codes, folds)) for folds in fold_of])
    features = np.ascontiguousarray(centred[orders].transpose(0, 2, 1))
    sizes = np.array([[[np.sum((f == k) & (codes == c)) for c in (0, 1)] for k in range(n_splits)] for f in fold_of])
    ends = sizes.reshape(n_repeats, -1).cumsum(axis=1)
    starts = np.column_stack((np.zeros(n_repeats, dtype=ends.dtype), ends[:, :-1])).reshape(sizes.shape)
    bounds = np.concatenate((starts, ends.reshape(sizes.shape)[:, :, 1:]), axis=2)
    shape = (n_repeats, X.shape[1], n_splits, 2)
    sums, squares = np.empty(shape), np.empty(shape)
    for r, k, c in np.ndindex(n_repeats, n_splits, 2):
        part = features[r, :, bounds[r, k, c] : bounds[r, k, c + 1]]
        sums[r, :, k, c], squares[r, :, k, c] = part.sum(axis=1), (part**2).sum(axis=1)
    return FoldedData(features, bounds, sums, squares)


@njit(cache=True, nogil=True)
def count_correct(data: FoldedData, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Correct predictions over all folds and repetitions, shape (n_pairs, 6, 2): by classifier and true class.

    Parameters
    ----------
    data : see :func:`fold_data`.
    first, second : ndarray of int64, shape (n_pairs,); the features of each pair.
    """
    n_repeats, n_splits, _ = data.bounds.shape
    correct = np.zeros((len(first), N_CLASSIFIERS, 2), np.int64)
    products, totals, q = np.empty((n_splits, 2)), np.empty((2, 6)), np.empty((N_CLASSIFIERS, 6))
    for pair in range(len(first)):
        a, b = first[pair], second[pair]
        for r in range(n_repeats):
            x, y = data.features[r, a], data.features[r, b]
            for k in range(n_splits):
                for c in range(2):
                    products[k, c] = _dot(x, y, data.bounds[r, k, c], data.bounds[r, k, c + 1])
            for k in range(n_splits):
                _training_totals(data, products, r, a, b, k, totals)
                _coefficients(totals, q)
                start, middle, end = data.bounds[r, k]
                _count(x, y, start, middle, q, correct[pair, :, 0], False)
                _count(x, y, middle, end, q, correct[pair, :, 1], True)
    return correct


@njit(cache=True, nogil=True)
def _dot(x: np.ndarray, y: np.ndarray, start: int, end: int) -> float:
    """Sum of products by four partial sums, a fixed order that does not wait for each addition."""
    s0 = s1 = s2 = s3 = 0.0
    whole = start + (end - start) // 4 * 4
    for i in range(start, whole, 4):
        s0 += x[i] * y[i]
        s1 += x[i + 1] * y[i + 1]
        s2 += x[i + 2] * y[i + 2]
        s3 += x[i + 3] * y[i + 3]
    for i in range(whole, end):
        s0 += x[i] * y[i]
    return (s0 + s1) + (s2 + s3)


@njit(cache=True, nogil=True)
def _training_totals(
    data: FoldedData, products: np.ndarray, r: int, a: int, b: int, left_out: int, totals: np.ndarray
) -> None:
    """Samples, sums of both features, their squares and products of each class without one fold, shape (2, 6)."""
    for c in range(2):
        totals[c] = 0
        for k in range(len(products)):
            if k != left_out:
                totals[c, 0] += data.bounds[r, k, c + 1] - data.bounds[r, k, c]
                totals[c, 1] += data.sums[r, a, k, c]
                totals[c, 2] += data.sums[r, b, k, c]
                totals[c, 3] += data.squares[r, a, k, c]
                totals[c, 4] += data.squares[r, b, k, c]
                totals[c, 5] += products[k, c]


@njit(cache=True, nogil=True)
def _coefficients(totals: np.ndarray, q: np.ndarray) -> None:
    """Quadratics x², xy, y², x, y, 1 of the six classifiers, positive for class 1, in order of the classifiers."""
    n0, n1 = totals[0, 0], totals[1, 0]
    m0a, m0b, m1a, m1b = totals[0, 1] / n0, totals[0, 2] / n0, totals[1, 1] / n1, totals[1, 2] / n1
    s0aa, s0bb = totals[0, 3] - n0 * m0a * m0a, totals[0, 4] - n0 * m0b * m0b
    s1aa, s1bb = totals[1, 3] - n1 * m1a * m1a, totals[1, 4] - n1 * m1b * m1b
    s0ab, s1ab = totals[0, 5] - n0 * m0a * m0b, totals[1, 5] - n1 * m1a * m1b
    free = n0 + n1 - 2
    paa, pbb, pab = (s0aa + s1aa) / free, (s0bb + s1bb) / free, (s0ab + s1ab) / free
    ridge = RIDGE * (paa + pbb)
    if ridge <= 0:
        ridge = RIDGE
    spherical = 0.5 * (paa + pbb) + ridge
    _gaussian_pair(q[0], m0a, m0b, m1a, m1b, spherical, spherical, 0.0, spherical, spherical, 0.0)
    paa += ridge
    pbb += ridge
    _gaussian_pair(q[1], m0a, m0b, m1a, m1b, paa, pbb, 0.0, paa, pbb, 0.0)
    _gaussian_pair(q[2], m0a, m0b, m1a, m1b, paa, pbb, pab, paa, pbb, pab)
    v0aa, v0bb, v0ab = s0aa / (n0 - 1) + ridge, s0bb / (n0 - 1) + ridge, s0ab / (n0 - 1)
    v1aa, v1bb, v1ab = s1aa / (n1 - 1) + ridge, s1bb / (n1 - 1) + ridge, s1ab / (n1 - 1)
    v0, v1 = 0.5 * (v0aa + v0bb), 0.5 * (v1aa + v1bb)
    _gaussian_pair(q[3], m0a, m0b, m1a, m1b, v0, v0, 0.0, v1, v1, 0.0)
    _gaussian_pair(q[4], m0a, m0b, m1a, m1b, v0aa, v0bb, 0.0, v1aa, v1bb, 0.0)
    _gaussian_pair(q[5], m0a, m0b, m1a, m1b, v0aa, v0bb, v0ab, v1aa, v1bb, v1ab)


@njit(cache=True, nogil=True)
def _gaussian_pair(
    q: np.ndarray,
    m0a: float,
    m0b: float,
    m1a: float,
    m1b: float,
    c0aa: float,
    c0bb: float,
    c0ab: float,
    c1aa: float,
    c1bb: float,
    c1ab: float,
) -> None:
    """Twice the log density of class 1 less that of class 0, as a quadratic."""
    d0, d1 = c0aa * c0bb - c0ab * c0ab, c1aa * c1bb - c1ab * c1ab
    i0aa, i0bb, i0ab = c0bb / d0, c0aa / d0, -c0ab / d0
    i1aa, i1bb, i1ab = c1bb / d1, c1aa / d1, -c1ab / d1
    w0a, w0b = i0aa * m0a + i0ab * m0b, i0ab * m0a + i0bb * m0b
    w1a, w1b = i1aa * m1a + i1ab * m1b, i1ab * m1a + i1bb * m1b
    q[0], q[1], q[2] = i0aa - i1aa, 2 * (i0ab - i1ab), i0bb - i1bb
    q[3], q[4] = 2 * (w1a - w0a), 2 * (w1b - w0b)
    q[5] = (w0a * m0a + w0b * m0b) - (w1a * m1a + w1b * m1b)
    if d0 != d1:
        q[5] += np.log(d0 / d1)


@njit(cache=True, nogil=True)
def _count(
    x: np.ndarray, y: np.ndarray, start: int, end: int, q: np.ndarray, correct: np.ndarray, is_class_1: bool
) -> None:
    """Add how many samples each classifier gives to the class."""
    for m in range(N_CLASSIFIERS):
        xx, xy, yy, qx, qy, constant = q[m, 0], q[m, 1], q[m, 2], q[m, 3], q[m, 4], q[m, 5]
        n_1 = 0
        for i in range(start, end):
            value = x[i] * (xx * x[i] + (xy * y[i] + qx)) + (y[i] * (yy * y[i] + qy) + constant)
            n_1 += value > 0
        correct[m] += n_1 if is_class_1 else end - start - n_1
