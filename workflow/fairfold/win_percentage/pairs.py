"""Compiled evaluation of the six Gaussian classifiers on pairs of features, for two classes.

Statistics of single features (means, variances and the coefficients of models without covariances) are computed once
per feature and fold. Each pair adds one cross product per class and fold. Decisions are then quadratic functions of the
two features. Samples are sorted by fold, so the test samples of a fold are contiguous and need no mask.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfold.core.compiled import njit
from fairfold.win_percentage.gaussians import RIDGE, TIE, total_variance

LANES = 8  # Samples of each fold are padded to a multiple of this, to avoid scalar remainders of vector loops.
N_CLASSIFIERS = 6
N_MASKS = 1 << N_CLASSIFIERS

# Columns of ``statistics``, per feature and fold.
M0, M1, S0, S1, SP, DIAGONAL_1, DIAGONAL_0, UNPOOLED_2, UNPOOLED_1, UNPOOLED_0 = range(10)


class PairData(NamedTuple):
    """Samples sorted by fold, and statistics of each feature in the training part of each fold.

    Attributes
    ----------
    values : ndarray of shape (n_features, width)
        Centered features. The test samples of each fold are contiguous, first class first, padded by 0.
    weights : ndarray of shape (width,)
        Change of a classifier's score if it predicts the second class, 0 in the padding.
    runs : ndarray of shape (n_folds, 4)
        Columns in ``values`` where the first class, the second class and the padding of a fold start, and where the
        fold ends.
    sizes : ndarray of shape (n_folds, 2)
        Number of training samples in each class.
    statistics : ndarray of shape (n_features, n_folds, 10)
        Means, variances and coefficients.
    n_splits : int
        Number of folds in each repeat.
    base : int
        Score of a classifier that always predicts the first class.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.int64]
    runs: NDArray[np.int64]
    sizes: NDArray[np.int64]
    statistics: NDArray[np.float64]
    n_splits: int
    base: int


def prepare_pairs(
    X: NDArray[np.float64], codes: NDArray[np.intp], fold_of: NDArray[np.int8], class_weights: NDArray[np.int64]
) -> PairData:
    """Sort the samples by fold and compute statistics of each feature in each fold.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    codes : ndarray of shape (n_samples,)
        Class of each sample, 0 or 1.
    fold_of : ndarray of shape (n_repeats, n_samples)
        Test fold of each sample.
    class_weights : ndarray of shape (2,)
        Score of one correct prediction in each class.

    Returns
    -------
    PairData
        Samples in fold order and statistics of the features.
    """
    X = X - X.mean(axis=0)
    n_splits = int(fold_of.max()) + 1
    pieces, weights, runs, sizes, statistics = [], [], [], [], []
    start = 0
    for folds in fold_of:
        for fold in range(n_splits):
            tests = [np.flatnonzero((folds == fold) & (codes == k)) for k in (0, 1)]
            counts = [len(test) for test in tests]
            padding = -sum(counts) % LANES
            pieces += [X[tests[0]], X[tests[1]], np.zeros((padding, X.shape[1]))]
            weights.append(np.repeat([-class_weights[0], class_weights[1], 0], [*counts, padding]))
            runs.append(np.cumsum([start, *counts, padding]))
            start = runs[-1][-1]
            training = folds != fold
            sizes.append(np.bincount(codes[training], minlength=2))
            statistics.append(_feature_statistics(X[training], codes[training]))
    return PairData(
        values=np.ascontiguousarray(np.concatenate(pieces).T),
        weights=np.concatenate(weights).astype(np.int64),
        runs=np.array(runs, dtype=np.int64),
        sizes=np.array(sizes, dtype=np.int64),
        statistics=np.ascontiguousarray(np.stack(statistics).transpose(1, 0, 2)),
        n_splits=n_splits,
        base=int(len(fold_of) * class_weights[0] * np.count_nonzero(codes == 0)),
    )


def _feature_statistics(X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Compute statistics (n_features, 10) of the training samples of a fold.

    As in GaussianBayes, decision values are those of the second class minus those of the first.
    """
    first, second = X[codes == 0], X[codes == 1]
    m0, m1 = first.mean(axis=0), second.mean(axis=0)
    scatter0, scatter1 = ((first - m0) ** 2).sum(axis=0), ((second - m1) ** 2).sum(axis=0)
    ridge = RIDGE * total_variance(X)
    s0, s1 = scatter0 / (len(first) - 1) + ridge, scatter1 / (len(second) - 1) + ridge
    sp = (scatter0 + scatter1) / (len(X) - 2) + ridge
    columns = [m0, m1, s0, s1, sp]
    columns += [(m1 - m0) / sp, (m0**2 - m1**2) / (2 * sp)]
    columns += [(1 / s0 - 1 / s1) / 2, m1 / s1 - m0 / s0, (m0**2 / s0 - m1**2 / s1 + np.log(s0 / s1)) / 2]
    return np.stack(columns, axis=1)


@njit(cache=True, nogil=True)
def _cross(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Compute the sum of products with four independent partial sums, which the processor can add in parallel."""
    a = b = c = d = 0.0
    whole = x.size // 4 * 4
    for k in range(0, whole, 4):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
    for k in range(whole, x.size):
        a += x[k] * y[k]
    return (a + b) + (c + d)


@njit(cache=True, nogil=True)
def _score_pair(data: PairData, i: int, j: int, crosses: NDArray[np.float64], scores: NDArray[np.int64]) -> None:
    """Compute the scores (6,) of the classifiers on the pair (i, j), with ``crosses`` (n_folds, 2) as a work array."""
    x, y, of_x, of_y = data.values[i], data.values[j], data.statistics[i], data.statistics[j]
    weights, runs, sizes, n_splits = data.weights, data.runs, data.sizes, data.n_splits
    scores[:] = data.base
    total0 = total1 = 0.0
    for g in range(len(runs)):
        crosses[g, 0] = _cross(x[runs[g, 0] : runs[g, 1]], y[runs[g, 0] : runs[g, 1]])
        crosses[g, 1] = _cross(x[runs[g, 1] : runs[g, 2]], y[runs[g, 1] : runs[g, 2]])
        if g < n_splits:  # Each repeat contains every sample once, so one repeat gives the totals.
            total0 += crosses[g, 0]
            total1 += crosses[g, 1]
    for g in range(len(runs)):
        u, v = of_x[g], of_y[g]
        scatter0 = total0 - crosses[g, 0] - sizes[g, 0] * (u[M0] * v[M0])
        scatter1 = total1 - crosses[g, 1] - sizes[g, 1] * (u[M1] * v[M1])
        n0, nx, ny = _nearest_centroid(u, v)
        l0, lx, ly = _pooled(u, v, (scatter0 + scatter1) / (sizes[g, 0] + sizes[g, 1] - 2))
        s0, sx, sy, sq = _spherical(u, v)
        q0, qx, qy, qxx, qyy, qxy = _quadratic(u, v, scatter0 / (sizes[g, 0] - 1), scatter1 / (sizes[g, 1] - 1))
        # DLDA and UDA sum over the features.
        ex, ey, e0 = u[DIAGONAL_1], v[DIAGONAL_1], u[DIAGONAL_0] + v[DIAGONAL_0]
        uxx, uyy = u[UNPOOLED_2], v[UNPOOLED_2]
        ux, uy, u0 = u[UNPOOLED_1], v[UNPOOLED_1], u[UNPOOLED_0] + v[UNPOOLED_0]

        xs, ys, ws = x[runs[g, 0] : runs[g, 3]], y[runs[g, 0] : runs[g, 3]], weights[runs[g, 0] : runs[g, 3]]
        nc = dlda = lda = sda = uda = qda = 0
        for k in range(xs.size):
            a, b, w = xs[k], ys[k], ws[k]
            nc += w if n0 + nx * a + ny * b > TIE else 0
            dlda += w if e0 + ex * a + ey * b > TIE else 0
            lda += w if l0 + lx * a + ly * b > TIE else 0
            sda += w if s0 + (sx + sq * a) * a + (sy + sq * b) * b > TIE else 0
            uda += w if u0 + (ux + uxx * a) * a + (uy + uyy * b) * b > TIE else 0
            qda += w if q0 + (qx + qxx * a + qxy * b) * a + (qy + qyy * b) * b > TIE else 0
        scores[0] += nc
        scores[1] += dlda
        scores[2] += lda
        scores[3] += sda
        scores[4] += uda
        scores[5] += qda


# Decisions consist of the constant, the coefficients of x and y, then those of the squares and of the product.
# They are positive for the second class. ``u`` and ``v`` are the statistics of the two features in a fold.


@njit(cache=True, nogil=True, forceinline=True)
def _nearest_centroid(u: np.ndarray, v: np.ndarray) -> tuple[float, float, float]:
    """Compute the decision of NC, with the mean of the two variances."""
    i = 2.0 / (u[SP] + v[SP])
    norm0, norm1 = u[M0] * u[M0] + v[M0] * v[M0], u[M1] * u[M1] + v[M1] * v[M1]
    return (norm0 - norm1) * (0.5 * i), (u[M1] - u[M0]) * i, (v[M1] - v[M0]) * i


@njit(cache=True, nogil=True, forceinline=True)
def _pooled(u: np.ndarray, v: np.ndarray, c: float) -> tuple[float, float, float]:
    """Compute the decision of LDA, with the pooled covariance ``c``."""
    dx, dy = u[M1] - u[M0], v[M1] - v[M0]
    i = 1.0 / (u[SP] * v[SP] - c * c)
    x, y = (v[SP] * dx - c * dy) * i, (u[SP] * dy - c * dx) * i
    return -0.5 * (x * (u[M0] + u[M1]) + y * (v[M0] + v[M1])), x, y


@njit(cache=True, nogil=True, forceinline=True)
def _spherical(u: np.ndarray, v: np.ndarray) -> tuple[float, float, float, float]:
    """Compute the decision of SDA, with one variance for each class."""
    t0, t1 = 0.5 * (u[S0] + v[S0]), 0.5 * (u[S1] + v[S1])
    i0, i1 = 1.0 / t0, 1.0 / t1
    norm0, norm1 = u[M0] * u[M0] + v[M0] * v[M0], u[M1] * u[M1] + v[M1] * v[M1]
    constant = 0.5 * (norm0 * i0 - norm1 * i1) + math.log(t0 * i1)
    return constant, u[M1] * i1 - u[M0] * i0, v[M1] * i1 - v[M0] * i0, 0.5 * (i0 - i1)


@njit(cache=True, nogil=True, forceinline=True)
def _quadratic(u: np.ndarray, v: np.ndarray, c0: float, c1: float) -> tuple[float, float, float, float, float, float]:
    """Compute the decision of QDA, with the covariances ``c0`` and ``c1`` of the classes."""
    det0, det1 = u[S0] * v[S0] - c0 * c0, u[S1] * v[S1] - c1 * c1
    i0, i1 = 1.0 / det0, 1.0 / det1
    xx, yy, xy = 0.5 * (v[S0] * i0 - v[S1] * i1), 0.5 * (u[S0] * i0 - u[S1] * i1), c1 * i1 - c0 * i0
    px0, py0 = (v[S0] * u[M0] - c0 * v[M0]) * i0, (u[S0] * v[M0] - c0 * u[M0]) * i0
    px1, py1 = (v[S1] * u[M1] - c1 * v[M1]) * i1, (u[S1] * v[M1] - c1 * u[M1]) * i1
    constant = 0.5 * (px0 * u[M0] + py0 * v[M0] - px1 * u[M1] - py1 * v[M1] + math.log(det0 * i1))
    return constant, px1 - px0, py1 - py0, xx, yy, xy


@njit(cache=True, nogil=True)
def score_listed(data: PairData, pairs: NDArray[np.int64], scores: NDArray[np.int64]) -> None:
    """Compute the score of each classifier on each pair of a list.

    Indices are not checked.

    Parameters
    ----------
    data : PairData
        Samples prepared by :func:`prepare_pairs`.
    pairs : ndarray of shape (n_pairs, 2), dtype=int64
        Feature indices of each pair.
    scores : ndarray of shape (n_pairs, 6), dtype=int64
        Array that the function fills with the scores. The columns are in the order of ``GAUSSIAN_CLASSIFIERS``. A
        score is the sum of the ``class_weights`` of :func:`prepare_pairs` over the correctly classified samples.
    """
    crosses = np.empty((data.runs.shape[0], 2))
    for t in range(len(pairs)):
        _score_pair(data, pairs[t, 0], pairs[t, 1], crosses, scores[t])


@njit(cache=True, nogil=True)
def count_range(
    data: PairData,
    pair: tuple[int, int],
    winners: NDArray[np.int64],
    is_level: NDArray[np.bool_],
    tops: NDArray[np.int64],
) -> None:
    """Evaluate consecutive pairs and count the winning classifiers.

    The winners of a pair are the classifiers with the top score. Pairs (i, j) are ordered by i, then by j > i.

    Parameters
    ----------
    data : PairData
        Samples prepared by :func:`prepare_pairs`.
    pair : tuple of int
        First pair. The number of pairs is the length of `tops`.
    winners : ndarray of shape (max_score + 1, 64), dtype=int64
        Number of pairs by top score and set of winners. Bit k of the second index states whether classifier k wins.
        Updated in place.
    is_level : ndarray of shape (max_score + 1,), dtype=bool
        Whether each score is the top score of a pair. Updated in place.
    tops : ndarray of shape (n_pairs,), dtype=int64
        Array that the function fills with the top score of each pair.
    """
    i, j = pair
    crosses = np.empty((data.runs.shape[0], 2))
    scores = np.empty(N_CLASSIFIERS, np.int64)
    for t in range(tops.size):
        _score_pair(data, i, j, crosses, scores)
        top = scores.max()
        mask = np.int64(0)
        for m in range(N_CLASSIFIERS):
            mask |= np.int64(scores[m] == top) << m
        winners[top, mask] += 1
        is_level[top] = True
        tops[t] = top
        j += 1
        if j == len(data.values):
            i += 1
            j = i + 1
