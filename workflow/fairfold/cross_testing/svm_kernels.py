"""Compiled support vector machines for very many very small problems: whole procedures without leaving the kernel.

The machine is LIBSVM's C-SVC for two classes (Chang & Lin 2011): sequential minimal optimisation with second-order
working sets (Fan, Chen & Lin 2005), stopped at the same tolerance, with the same offset. The kernel matrix of the data
is computed once, all C of a training part share its kernel sums, and no fit pays for a call, a copy or a check.

With a small C every multiplier is at its bound. When both classes are equally large that solution needs no
optimisation: its decision values are C times the difference of the kernel sums of the classes. :func:`fill_decisions`
tries it first, tests it by LIBSVM's own stopping rule, and optimises from there only if the test fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from fairfold.cross_testing.plans import TEST, TRAIN

TOLERANCE = 1e-3  # of the stopping rule, LIBSVM's and scikit-learn's default
_SMALLEST_CURVATURE = 1e-12  # LIBSVM's TAU


class Problem(NamedTuple):
    """Data and candidates in the form that the kernels take.

    K : ndarray, shape (n_rows, n_rows); kernel matrix of the rows without preprocessing.
    X : ndarray, shape (n_rows, n_features), or None; rows for the principal components, if a candidate asks for them.
        Numba drops the code behind None, which is half of what there is to compile.
    y : ndarray of float64, shape (n_rows,); 1 or -1 at each *position*.
    C : ndarray of float64, shape (n_candidates,).
    is_reduced : ndarray of bool, shape (n_candidates,); whether a candidate keeps principal components only.
    kept_variance : share of the variance that these keep.
    gamma : of the kernel after preprocessing, 0 for 1 / components.
    """

    K: np.ndarray
    X: np.ndarray | None
    y: np.ndarray
    C: np.ndarray
    is_reduced: np.ndarray
    kept_variance: float
    gamma: float


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def optimise(K: np.ndarray, y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> None:
    """Sequential minimal optimisation from a feasible start, in place; some m iterations of O(m).

    Of equal values the last is taken, as LIBSVM does. There are no NaN, and no sign of zero matters: saying so to the
    compiler lets it vectorise maxima without a change of the results.

    Parameters
    ----------
    K : ndarray, shape (m, m); kernel matrix of the training samples, with a diagonal of 1.
    y : ndarray of float64, shape (m,); 1 or -1.
    C : bound of the multipliers.
    beta : ndarray of float64, shape (m,); multipliers times ``y``, feasible: sum 0, each between 0 and ``C * y``.
    g : ndarray of float64, shape (m,); ``y - K @ beta``, kept so.
    """
    m = len(y)
    low, high, gains = np.minimum(0, C * y), np.maximum(0, C * y), np.empty(m)
    for _ in range(max(10_000_000, 100 * m)):
        most, least = -np.inf, np.inf
        for t in range(m):
            most = max(most, g[t] if beta[t] < high[t] else -np.inf)
            least = min(least, g[t] if beta[t] > low[t] else np.inf)
        if most - least < TOLERANCE:
            return
        i = j = m - 1
        while g[i] != most or beta[i] >= high[i]:
            i -= 1
        best, row_i = 0.0, K[i]
        for t in range(m):
            difference = max(most - g[t] if beta[t] > low[t] else 0.0, 0.0)
            gains[t] = difference * difference / max(2 - 2 * row_i[t], _SMALLEST_CURVATURE)
            best = max(best, gains[t])
        while gains[j] != best:
            j -= 1
        room_i, room_j, row_j = high[i] - beta[i], beta[j] - low[j], K[j]
        step = min((most - g[j]) / max(2 - 2 * row_i[j], _SMALLEST_CURVATURE), room_i, room_j)
        # Bounds are set, not computed: a rounding error away from the bound would count as a free multiplier.
        beta[i] = high[i] if step == room_i else beta[i] + step
        beta[j] = low[j] if step == room_j else beta[j] - step
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
def kernel_sums(K: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """``K[train].T @ y[train]``, by rows of ``K``, because sums along a row cannot be vectorised in a fixed order."""
    sums = np.zeros(len(K))
    for t in train:
        row, sign = K[t], y[t]
        for k in range(len(sums)):
            sums[k] += sign * row[k]
    return sums


@njit(cache=True, nogil=True)
def fill_decisions(
    K: np.ndarray, y: np.ndarray, sums: np.ndarray, train: np.ndarray, test: np.ndarray, C: float, values: np.ndarray
) -> None:
    """Fill ``values`` with the decision values of ``test`` after training on ``train``; positive for ``y`` of 1.

    ``train`` and ``test`` are rows of ``K``, and ``sums`` (n_rows,) is ``kernel_sums(K, y, train)``.
    """
    n_positive, most, least = 0, -np.inf, np.inf
    for t in train:
        g = y[t] - C * sums[t]
        if y[t] > 0:
            n_positive += 1
            least = min(least, g)
        else:
            most = max(most, g)
    is_balanced = 2 * n_positive == len(train)
    if is_balanced and most - least < TOLERANCE:
        for k in range(len(test)):
            values[k] = C * sums[test[k]] + (most + least) / 2
        return
    if n_positive in (0, len(train)):
        values[: len(test)] = 1 if n_positive else -1
        return
    part_y = y[train]
    beta = C * part_y if is_balanced else np.zeros(len(train))
    gradient = part_y - C * sums[train] if is_balanced else part_y.copy()
    optimise(K[train][:, train], part_y, C, beta, gradient)
    values[: len(test)] = offset(part_y, C, beta, gradient)
    for a in range(len(train)):
        if beta[a] != 0:
            row = K[train[a]]
            for k in range(len(test)):
                values[k] += beta[a] * row[test[k]]


@njit(cache=True, nogil=True)
def component_scores(X: np.ndarray, train: np.ndarray, kept_variance: float) -> np.ndarray:
    """Scores of all rows on principal components of ``train``, about any origin, shape (n_rows, n_components).

    The components are the fewest leading ones whose variances add up to more than the share of the total. ``X`` is
    centred, though not on ``train``, lest scatter be lost in rounding.
    """
    part = X[train]
    part -= part.sum(0) / len(train)
    scatter = part.T @ part
    values, vectors = np.linalg.eigh(scatter)
    n_kept = np.count_nonzero(np.cumsum(values[::-1]) <= kept_variance * np.trace(scatter)) + 1
    return X @ np.ascontiguousarray(vectors[:, ::-1][:, :n_kept])


@njit(cache=True, nogil=True)
def _reduced_kernel(X: np.ndarray | None, train: np.ndarray, kept_variance: float, gamma: float) -> np.ndarray:
    """Kernel matrix of all rows after principal components of ``train``."""
    if X is None:
        return np.empty((0, 0))  # Never run.
    scores = component_scores(X, train, kept_variance)
    gamma = gamma if gamma > 0 else 1 / scores.shape[1]
    squares = (scores * scores).sum(1)
    distances = squares.reshape(-1, 1) + squares - 2 * (scores @ scores.T)
    return np.exp(-gamma * np.maximum(distances, 0))


@njit(cache=True, nogil=True)
def _training_rows(is_member: np.ndarray, y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows of the members, the first class before the other, as LIBSVM orders them: ties in its search go by order."""
    return order[np.concatenate((np.flatnonzero(is_member & (y > 0)), np.flatnonzero(is_member & (y < 0))))]


@njit(cache=True, nogil=True)
def _choose(problem: Problem, fold_of: np.ndarray, order: np.ndarray, y: np.ndarray) -> int:
    """Candidate with the most correct predictions in the cross-validation by ``fold_of``; the first of the best.

    ``y`` is of the rows, ``fold_of`` and ``problem.y`` are of the positions.
    """
    n_folds = fold_of.max() + 1
    correct, values = np.zeros(len(problem.C), np.int64), np.empty(len(y))
    fold_sums = np.empty((n_folds, len(y)))
    for fold in range(n_folds):
        fold_sums[fold] = kernel_sums(problem.K, y, order[np.flatnonzero(fold_of == fold)])
    total_sums = fold_sums.sum(0)
    for fold in range(n_folds):
        train = _training_rows((fold_of >= 0) & (fold_of != fold), problem.y, order)
        test = order[np.flatnonzero(fold_of == fold)]
        K, sums = problem.K, total_sums - fold_sums[fold]
        reduced_K, reduced_sums = K, sums
        if problem.is_reduced.any():
            reduced_K = _reduced_kernel(problem.X, train, problem.kept_variance, problem.gamma)
            reduced_sums = kernel_sums(reduced_K, y, train)
        for candidate, C in enumerate(problem.C):
            if problem.is_reduced[candidate]:
                fill_decisions(reduced_K, y, reduced_sums, train, test, C, values)
            else:
                fill_decisions(K, y, sums, train, test, C, values)
            correct[candidate] += np.count_nonzero((values[: len(test)] > 0) == (y[test] > 0))
    return np.argmax(correct)


@njit(cache=True, nogil=True)
def decision_values(problem: Problem, candidate: int, role: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Decision value of each tested position in one test, NaN elsewhere, after training as ``role`` says."""
    y, values, result = np.empty_like(problem.y), np.empty(len(role)), np.full(len(role), np.nan)
    y[order] = problem.y
    tested = np.flatnonzero(role == TEST)
    if len(tested):
        train = _training_rows(role == TRAIN, problem.y, order)
        K = problem.K
        if problem.is_reduced[candidate]:
            K = _reduced_kernel(problem.X, train, problem.kept_variance, problem.gamma)
        fill_decisions(K, y, kernel_sums(K, y, train), train, order[tested], problem.C[candidate], values)
        result[tested] = values[: len(tested)]
    return result


@njit(cache=True, nogil=True)
def run_plan(
    problem: Problem, inner_fold: np.ndarray, choice_of: np.ndarray, role: np.ndarray, orders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Totals and choices of a :class:`~fairfold.cross_testing.plans.Run`; see there and at ``Plan``.

    Each order costs the kernel sums of every training part, O(n²) each; optimisation where multipliers are not at
    their bounds, some m iterations of O(m) for m training samples; and the components of every training part.
    """
    chosen = np.empty((len(orders), len(inner_fold)), np.int64)
    correct = np.zeros((len(orders), len(role)))
    y = np.empty_like(problem.y)
    for o in range(len(orders)):
        y[orders[o]] = problem.y
        for c in range(len(inner_fold)):
            chosen[o, c] = _choose(problem, inner_fold[c], orders[o], y)
        for s in range(len(role)):
            values = decision_values(problem, chosen[o, choice_of[s]], role[s], orders[o])
            correct[o, s] = np.count_nonzero((role[s] == TEST) & ((values > 0) == (problem.y > 0)))
    return correct, chosen
