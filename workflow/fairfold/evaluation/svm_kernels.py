"""Compiled support vector machines for very many very small problems: whole procedures without leaving the kernel.

The machine is LIBSVM's C-SVC for two classes (Chang & Lin 2011): sequential minimal optimisation with second-order
working sets (Fan, Chen & Lin 2005), stopped at the same tolerance, with the same offset. What is saved is everything
around it: the kernel matrix of the data is there before (:func:`run_plan` re-indexes it for each order of the rows),
all C of a training part share its kernel sums, and no call, copy or check is paid per fit.

With a small C every multiplier is at its bound. When both classes are equally large that solution needs no
optimisation: its decision values are C times the difference of the kernel sums of the classes. :func:`_fit` tries it
first, tests it by LIBSVM's own stopping rule, and optimises from there only if the test fails.
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.evaluation.eigenvectors import leading_eigenvectors
from fairfold.evaluation.plans import TEST, TRAIN

TOLERANCE = 1e-3  # of the stopping rule, LIBSVM's and scikit-learn's default
_SMALLEST_CURVATURE = 1e-12  # LIBSVM's TAU
_EXPONENTIAL = tuple(1 / factorial(n) for n in range(11, -1, -1))


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})  # lets maxima be vectorised, changes no result
def _highest(allowed: np.ndarray, edge: np.ndarray, g: np.ndarray, sign: float) -> float:
    """Highest ``sign * g`` where ``sign * allowed < sign * edge``."""
    most = -np.inf
    for t in range(len(g)):
        value = sign * g[t] if sign * allowed[t] < sign * edge[t] else -np.inf
        most = value if value > most else most
    return most


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _gains(
    beta: np.ndarray, low: np.ndarray, g: np.ndarray, most: float, curvature: np.ndarray, out: np.ndarray
) -> float:
    """Fill ``out`` with twice the gain of a step with each partner, 0 where there is none; give the highest."""
    best = 0.0
    for t in range(len(g)):
        difference = most - g[t]
        gain = difference * difference / curvature[t]
        gain = gain if (beta[t] > low[t]) & (difference > 0) else 0.0
        out[t] = gain
        best = gain if gain > best else best
    return best


@njit(cache=True, nogil=True)
def _last(values: np.ndarray, value: float) -> int:
    """Last place of a value."""
    for t in range(len(values) - 1, -1, -1):
        if values[t] == value:
            return t
    return -1


@njit(cache=True, nogil=True)
def optimise(K: np.ndarray, y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> None:
    """Sequential minimal optimisation from a feasible start, in place.

    Parameters
    ----------
    K : ndarray, shape (m, m); kernel matrix of the training samples.
    y : ndarray of float64, shape (m,); 1 or -1.
    C : bound of the multipliers.
    beta : ndarray of float64, shape (m,); multipliers times ``y``, feasible: sum 0, each between 0 and ``C * y``.
    g : ndarray of float64, shape (m,); ``y - K @ beta``, kept so.
    """
    m = len(y)
    low, high = np.minimum(0, C * y), np.maximum(0, C * y)
    diagonal, curvature, gains = np.diag(K).copy(), np.empty(m), np.empty(m)
    for _ in range(max(10_000_000, 100 * m)):
        most = _highest(beta, high, g, 1)
        if most + _highest(beta, low, g, -1) < TOLERANCE:
            return
        i = m - 1
        while g[i] != most or beta[i] >= high[i]:
            i -= 1
        row_i = K[i]
        for t in range(m):
            curvature[t] = max(diagonal[i] + diagonal[t] - 2 * row_i[t], _SMALLEST_CURVATURE)
        j = _last(gains, _gains(beta, low, g, most, curvature, gains))
        room_i, room_j = high[i] - beta[i], beta[j] - low[j]
        step = min((most - g[j]) / curvature[j], room_i, room_j)
        # Bounds are set, not computed: a rounding error away from the bound would count as a free multiplier.
        beta[i] = high[i] if step == room_i else beta[i] + step
        beta[j] = low[j] if step == room_j else beta[j] - step
        row_j = K[j]
        for t in range(m):
            g[t] -= step * (row_i[t] - row_j[t])


@njit(cache=True, nogil=True)
def offset(y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> float:
    """Constant of the decision function: the mean over free multipliers, else the middle of what is optimal."""
    total, n_free, most, least = 0.0, 0, -np.inf, np.inf
    for t in range(len(y)):
        at_zero, at_bound = beta[t] == 0, beta[t] == C * y[t]
        if not (at_zero or at_bound):
            total += g[t]
            n_free += 1
        elif at_zero == (y[t] > 0):
            most = max(most, g[t])
        else:
            least = min(least, g[t])
    return total / n_free if n_free else (most + least) / 2


@njit(cache=True, nogil=True)
def _fit(
    K: np.ndarray, y: np.ndarray, sums: np.ndarray, train: np.ndarray, test: np.ndarray, C: float, values: np.ndarray
) -> None:
    """Decision values of ``test`` after training on ``train``, positions in ``K``; positive for ``y`` of 1.

    ``sums`` (n,) has ``K[:, train] @ y[train]`` at the positions of both.
    """
    m, n_positive = len(train), 0
    most, least = -np.inf, np.inf
    for t in train:
        g = y[t] - C * sums[t]
        if y[t] > 0:
            n_positive += 1
            least = min(least, g)
        else:
            most = max(most, g)
    is_balanced = 2 * n_positive == m
    if is_balanced and most - least < TOLERANCE:
        constant = (most + least) / 2
        for k in range(len(test)):
            values[k] = C * sums[test[k]] + constant
        return
    if n_positive in (0, m):
        values[: len(test)] = 1 if n_positive else -1
        return
    part_y = y[train]
    part_K = np.empty((m, m))
    for a in range(m):
        for b in range(m):
            part_K[a, b] = K[train[a], train[b]]
    beta = C * part_y if is_balanced else np.zeros(m)
    gradient = part_y - C * sums[train] if is_balanced else part_y.copy()
    optimise(part_K, part_y, C, beta, gradient)
    constant = offset(part_y, C, beta, gradient)
    for k in range(len(test)):
        row = K[test[k]]
        value = constant
        for a in range(m):
            value += beta[a] * row[train[a]]
        values[k] = value


@njit(cache=True, nogil=True)
def _kernel_sums(K: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """``K[train].T @ y[train]``, by rows of ``K``, because sums along a row cannot be vectorised in a fixed order."""
    sums = np.zeros(len(y))
    for t in train:
        row, sign = K[t], y[t]
        for k in range(len(y)):
            sums[k] += sign * row[k]
    return sums


@njit(cache=True, nogil=True)
def _grouped(is_member: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Members, those of the first class before the others, as LIBSVM orders them: ties in its search go by order."""
    return np.concatenate((np.flatnonzero(is_member & (y > 0)), np.flatnonzero(is_member & (y < 0))))


class Problem(NamedTuple):
    """Data and candidates in the form that the kernels take.

    K : ndarray, shape (n_rows, n_rows); kernel matrix of the rows without preprocessing.
    X : ndarray, shape (n_rows, n_features); rows for the principal components, without columns if no candidate asks.
    y : ndarray of float64, shape (n_rows,); 1 or -1 at each *position*.
    C : ndarray of float64, shape (n_candidates,).
    kept_variance : ndarray of float64, shape (n_candidates,); share of the variance whose principal components are
        kept, 0 for no preprocessing. Candidates with the same share stand in one ``group``.
    gamma : ndarray of float64, shape (n_candidates,); of the kernel after preprocessing, 0 for 1 / components.
    group : ndarray of int64, shape (n_candidates,); candidates of one group have the same kernel matrix.
    """

    K: np.ndarray
    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    kept_variance: np.ndarray
    gamma: np.ndarray
    group: np.ndarray


@njit(cache=True, nogil=True)
def principal_components(X: np.ndarray, kept_variance: float) -> np.ndarray:
    """Fewest leading components whose variances add up to more than the share, shape (n_features, n_components).

    Taken from the scatter matrix or, where there are fewer samples than features, from the Gram matrix of the centred
    samples; see :func:`~fairfold.evaluation.eigenvectors.leading_eigenvectors`.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features); centred.
    kept_variance : share of the variance, between 0 and 1.
    """
    wide = X.shape[1] > X.shape[0]
    scatter = X @ X.T if wide else X.T @ X
    leading = np.ascontiguousarray(leading_eigenvectors(scatter, kept_variance))
    if wide:
        leading = X.T @ leading
        for k in range(leading.shape[1]):
            leading[:, k] /= max(np.sqrt((leading[:, k] ** 2).sum()), 1e-150)
    return leading


@njit(cache=True, nogil=True)
def exponentiate(x: np.ndarray) -> None:
    """Replace each x ≤ 0 by exp(x), to two units in the last place; loops that compilers can vectorise.

    exp(x) = 2^k exp(r) for the whole number k next to x / ln 2. Adding 1.5 · 2^52 rounds to k and leaves k in the low
    bits; the power of two is then added to the exponent's bits.
    """
    rounding, lowest, n_low = 6755399441055744.0, -708.0, 0
    shifted, result = np.empty_like(x), np.empty_like(x)
    for i in range(len(x)):
        n_low += x[i] < lowest
        value = x[i] if x[i] > lowest else lowest
        shifted[i] = value * 1.4426950408889634 + rounding
        k = shifted[i] - rounding
        r = (value - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6  # ln 2 in two parts
        series = 1 / 479001600 + r * (1 / 6227020800)
        for coefficient in _EXPONENTIAL:
            series = coefficient + r * series
        result[i] = series
    bits, powers = result.view(np.int64), shifted.view(np.int64)
    for i in range(len(x)):
        bits[i] += powers[i] << 52
    if n_low:
        for i in range(len(x)):
            if x[i] < lowest:
                result[i] = np.exp(x[i])
    x[:] = result


@njit(cache=True, nogil=True)
def _pca_kernel(X: np.ndarray, train: np.ndarray, test: np.ndarray, kept_variance: float, gamma: float) -> np.ndarray:
    """Kernel matrix after principal components of ``train``, samples in the order ``train``, ``test``.

    Where neither row nor column is of ``train`` it holds anything.
    """
    part = X[train]
    mean = part.sum(0) / len(part)
    components = principal_components(part - mean, kept_variance)
    if gamma == 0:
        gamma = 1 / components.shape[1]
    scores = (X[np.concatenate((train, test))] - mean) @ components
    n, m = len(scores), len(train)
    part_K, squares = scores[:m] @ scores.T, (scores * scores).sum(1)
    for a in range(m):
        for b in range(n):
            exponent = gamma * (2 * part_K[a, b] - squares[a] - squares[b])
            part_K[a, b] = exponent if exponent < 0 else 0.0
        part_K[a, a] = 0
    exponentiate(part_K.ravel())
    K = np.empty((n, n))
    K[:m] = part_K
    K[m:, :m] = part_K[:, m:].T
    return K


@njit(cache=True, nogil=True)
def _decide(
    problem: Problem,
    candidate: int,
    K: np.ndarray,
    X: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    values: np.ndarray,
) -> None:
    """Decision values of one candidate; ``K`` and ``X`` are in order of positions."""
    y = problem.y
    if problem.kept_variance[candidate] > 0:
        K = _pca_kernel(X, train, test, problem.kept_variance[candidate], problem.gamma[candidate])
        y = y[np.concatenate((train, test))]
        train, test = np.arange(len(train)), np.arange(len(train), len(y))
    _fit(K, y, _kernel_sums(K, y, train), train, test, problem.C[candidate], values)


@njit(cache=True, nogil=True)
def _choose(problem: Problem, fold_of: np.ndarray, n_folds: int, K: np.ndarray, X: np.ndarray) -> int:
    """Candidate with the most correct predictions in the cross-validation by ``fold_of``; the first of the best."""
    y = problem.y
    correct, values = np.zeros(len(problem.C), np.int64), np.empty(len(y))
    fold_sums = np.empty((n_folds, len(y)))
    for fold in range(n_folds):
        fold_sums[fold] = _kernel_sums(K, y, np.flatnonzero(fold_of == fold))
    total_sums = fold_sums.sum(0)
    for fold in range(n_folds):
        train, test = _grouped((fold_of >= 0) & (fold_of != fold), y), np.flatnonzero(fold_of == fold)
        if not len(test):
            continue
        members = np.concatenate((train, test))
        renamed = np.arange(len(members))
        for group in range(problem.group.max() + 1):
            candidates = np.flatnonzero(problem.group == group)
            share = problem.kept_variance[candidates[0]]
            if share > 0:
                G, own_y = _pca_kernel(X, train, test, share, problem.gamma[candidates[0]]), y[members]
                own_train, own_test = renamed[: len(train)], renamed[len(train) :]
                sums = _kernel_sums(G, own_y, own_train)
            else:
                G, own_y, own_train, own_test, sums = K, y, train, test, total_sums - fold_sums[fold]
            for candidate in candidates:
                _fit(G, own_y, sums, own_train, own_test, problem.C[candidate], values)
                for k in range(len(test)):
                    correct[candidate] += (values[k] > 0) == (y[test[k]] > 0)
    return np.argmax(correct)


@njit(cache=True, nogil=True)
def run_plan(
    problem: Problem, inner_fold: np.ndarray, choice_of: np.ndarray, role: np.ndarray, orders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Totals and choices of a :class:`~fairfold.evaluation.engines.Run`; see there and at ``Plan``.

    Each order costs the kernel sums of every training part, O(n²) each; optimisation where multipliers are not at
    their bounds, some m iterations of O(m) for m training samples; and the components of every training part.
    """
    y, n = problem.y, len(problem.y)
    n_folds = inner_fold.max() + 1
    chosen = np.empty((len(orders), len(inner_fold)), np.int64)
    correct = np.zeros((len(orders), len(role)))
    values, K = np.empty(n), np.empty((n, n))
    for o in range(len(orders)):
        _reorder(problem.K, orders[o], K)
        X = problem.X[orders[o]]
        for c in range(len(inner_fold)):
            chosen[o, c] = _choose(problem, inner_fold[c], n_folds, K, X)
        for s in range(len(role)):
            train, test = _grouped(role[s] == TRAIN, y), np.flatnonzero(role[s] == TEST)
            if len(test):
                _decide(problem, chosen[o, choice_of[s]], K, X, train, test, values)
            for k in range(len(test)):
                correct[o, s] += (values[k] > 0) == (y[test[k]] > 0)
    return correct, chosen


@njit(cache=True, nogil=True)
def decision_values(
    problem: Problem, choice_of: np.ndarray, role: np.ndarray, order: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Decision value of each position in each test, shape (n_tests, n_samples), NaN where a test does not ask."""
    n = len(problem.y)
    result = np.full(role.shape, np.nan)
    values, K = np.empty(n), np.empty((n, n))
    _reorder(problem.K, order, K)
    X = problem.X[order]
    for s in range(len(role)):
        train, test = _grouped(role[s] == TRAIN, problem.y), np.flatnonzero(role[s] == TEST)
        if len(test):
            _decide(problem, chosen[choice_of[s]], K, X, train, test, values)
        for k in range(len(test)):
            result[s, test[k]] = values[k]
    return result


@njit(cache=True, nogil=True)
def _reorder(K: np.ndarray, order: np.ndarray, out: np.ndarray) -> None:
    for a in range(len(order)):
        row = K[order[a]]
        for b in range(len(order)):
            out[a, b] = row[order[b]]
