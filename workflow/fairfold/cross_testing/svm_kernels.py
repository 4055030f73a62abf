"""Compiled support vector machines for many small problems: whole procedures run inside compiled code.

The machine is LIBSVM's C-SVC for two classes (Chang & Lin 2011). It uses sequential minimal optimization with
second-order working sets (Fan, Chen & Lin 2005), with the same tolerance and offset as LIBSVM. The kernel matrix of
the data is computed once. All values of C share the kernel sums of a training part. Fits require no Python calls,
copies or checks.

With a small C, every multiplier is at its bound, except as many of the larger class as it has more samples. Such a
solution requires no optimization: the decision values are C times a difference of kernel sums. :func:`fill_decisions`
tries this solution first and checks it with LIBSVM's stopping rule. It optimizes from there only if the check fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfold.core.compiled import njit
from fairfold.cross_testing.plans import TEST, TRAIN

TOLERANCE = 1e-3  # Tolerance of the stopping rule, the default of LIBSVM and scikit-learn.
_SMALLEST_CURVATURE = 1e-12  # LIBSVM's TAU


class Problem(NamedTuple):
    """Data and candidates in the form that the kernels require.

    Attributes
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Kernel matrix of the rows without preprocessing.
    X : ndarray of shape (n_rows, n_features) or None
        Rows for the principal components, if a candidate uses them. With ``None``, Numba skips the compilation of this
        code.
    y : ndarray of float64 of shape (n_rows,)
        1 or -1 at each *position*.
    C : ndarray of float64 of shape (n_candidates,)
        Regularization parameter of each candidate.
    is_reduced : ndarray of bool of shape (n_candidates,)
        Whether a candidate uses principal components.
    kept_variance : float
        Share of the variance that the principal components keep.
    gamma : float
        Gamma of the kernel after preprocessing, 0 for 1 / components.
    """

    K: np.ndarray
    X: np.ndarray | None
    y: np.ndarray
    C: np.ndarray
    is_reduced: np.ndarray
    kept_variance: float
    gamma: float


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def optimize(K: np.ndarray, y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> None:
    """Run sequential minimal optimization from a feasible start, in place.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Kernel matrix of the training samples, with a diagonal of 1.
    y : ndarray of float64 of shape (m,)
        Classes, 1 or -1.
    C : float
        Bound of the multipliers.
    beta : ndarray of float64 of shape (m,)
        Multipliers times ``y``. They are feasible: their sum is 0, and each is between 0 and ``C * y``.
    g : ndarray of float64 of shape (m,)
        ``y - K @ beta``, updated together with ``beta``.

    Notes
    -----
    The run time is about m iterations of O(m). Among equal values the last is taken, as in LIBSVM. The values contain
    no NaN, and the sign of zero does not matter. The compiler flags state this, which allows vectorized maxima with the
    same results.
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
        # Bounds are assigned, because a rounding error would turn a multiplier at its bound into a free one.
        beta[i] = high[i] if step == room_i else beta[i] + step
        beta[j] = low[j] if step == room_j else beta[j] - step
        for t in range(m):
            g[t] -= step * (row_i[t] - row_j[t])


@njit(cache=True, nogil=True)
def offset(y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> float:
    """Compute the constant of the decision function.

    Parameters
    ----------
    y : ndarray of float64 of shape (m,)
        Classes, 1 or -1.
    C : float
        Bound of the multipliers.
    beta : ndarray of float64 of shape (m,)
        Multipliers times ``y``.
    g : ndarray of float64 of shape (m,)
        ``y - K @ beta``.

    Returns
    -------
    float
        Mean over free multipliers or, if all are at a bound, the middle of the optimal interval.
    """
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
def _bounds(y: np.ndarray, beta: np.ndarray, g: np.ndarray) -> tuple[float, float]:
    """Return the largest gradient of multipliers that may rise and the smallest of those that may fall, none free."""
    most, least = -np.inf, np.inf
    for t in range(len(y)):
        if (beta[t] == 0) == (y[t] > 0):
            most = max(most, g[t])
        else:
            least = min(least, g[t])
    return most, least


@njit(cache=True, nogil=True)
def kernel_sums(K: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Compute ``K[train].T @ y[train]``.

    The sums run over rows of ``K``, because sums along a row cannot be vectorized in a fixed order.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Kernel matrix.
    y : ndarray of float64 of shape (n_rows,)
        Classes of the rows, 1 or -1.
    train : ndarray of int of shape (m,)
        Training rows.

    Returns
    -------
    ndarray of float64 of shape (n_rows,)
        Signed kernel sum of each row.

    Examples
    --------
    >>> import numpy as np
    >>> K, y = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]), np.array([1.0, -1.0, 1.0])
    >>> kernel_sums(K, y, np.array([0, 1]))
    array([ 0.5 , -0.5 , -0.25])
    """
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
    """Fill ``values`` with the decision values of the test rows after training.

    Decision values are positive for ``y`` of 1.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Kernel matrix.
    y : ndarray of float64 of shape (n_rows,)
        Classes of the rows, 1 or -1.
    sums : ndarray of float64 of shape (n_rows,)
        Result of ``kernel_sums(K, y, train)``.
    train : ndarray of int of shape (m,)
        Training rows.
    test : ndarray of int of shape (n_test,)
        Test rows.
    C : float
        Bound of the multipliers.
    values : ndarray of float64 of shape (n_values,)
        Array to fill. The first ``n_test`` elements are set.
    """
    part_y = y[train]
    n_positive = np.count_nonzero(part_y > 0)
    if n_positive in (0, len(train)):
        values[: len(test)] = 1 if n_positive else -1
        return
    beta, gradient = C * part_y, part_y - C * sums[train]
    for k in range(len(test)):
        values[k] = C * sums[test[k]]
    larger = 1.0 if 2 * n_positive > len(train) else -1.0
    for _ in range(abs(2 * n_positive - len(train))):
        t, smallest = 0, np.inf  # np.argmin and np.where compile for seconds.
        for k in range(len(train)):
            if beta[k] * larger > 0 and larger * gradient[k] < smallest:
                t, smallest = k, larger * gradient[k]
        beta[t] = 0
        row = K[train[t]]
        for k in range(len(train)):
            gradient[k] += C * larger * row[train[k]]
        for k in range(len(test)):
            values[k] -= C * larger * row[test[k]]
    most, least = _bounds(part_y, beta, gradient)
    if most - least < TOLERANCE:
        values[: len(test)] += (most + least) / 2
        return
    optimize(K[train][:, train], part_y, C, beta, gradient)
    values[: len(test)] = offset(part_y, C, beta, gradient)
    for a in range(len(train)):
        if beta[a] != 0:
            row = K[train[a]]
            for k in range(len(test)):
                values[k] += beta[a] * row[test[k]]


@njit(cache=True, nogil=True)
def component_scores(X: np.ndarray, train: np.ndarray, kept_variance: float) -> np.ndarray:
    """Compute the scores of all rows on the principal components of the training rows, up to a constant shift.

    The components are the fewest leading ones with a sum of variances above the share of the total.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Centered rows, which limit rounding errors. The center may differ from the mean of the training rows.
    train : ndarray of int of shape (m,)
        Training rows.
    kept_variance : float
        Share of the total variance.

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        Scores.
    """
    part = X[train]
    part -= part.sum(0) / len(train)
    scatter = part.T @ part
    values, vectors = np.linalg.eigh(scatter)
    n_kept = np.count_nonzero(np.cumsum(values[::-1]) <= kept_variance * np.trace(scatter)) + 1
    return X @ np.ascontiguousarray(vectors[:, ::-1][:, :n_kept])


@njit(cache=True, nogil=True)
def _reduced_kernel(X: np.ndarray | None, train: np.ndarray, kept_variance: float, gamma: float) -> np.ndarray:
    """Compute the kernel matrix of all rows after reduction to the principal components of the training rows."""
    if X is None:
        return np.empty((0, 0))  # Never reached: X is None only if no candidate is reduced.
    scores = component_scores(X, train, kept_variance)
    gamma = gamma if gamma > 0 else 1 / scores.shape[1]
    squares = (scores * scores).sum(1)
    distances = squares.reshape(-1, 1) + squares - 2 * (scores @ scores.T)
    return np.exp(-gamma * np.maximum(distances, 0))


@njit(cache=True, nogil=True)
def _training_rows(is_member: np.ndarray, y: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the rows of the members, the first class first; LIBSVM uses this order to break ties."""
    return order[np.concatenate((np.flatnonzero(is_member & (y > 0)), np.flatnonzero(is_member & (y < 0))))]


@njit(cache=True, nogil=True)
def _choose(problem: Problem, fold_of: np.ndarray, order: np.ndarray, y: np.ndarray) -> int:
    """Return the candidate with the most correct predictions in cross-validation, the first one for ties.

    ``y`` is indexed by row. ``fold_of`` and ``problem.y`` are indexed by position.
    """
    n_folds = fold_of.max() + 1
    correct, values = np.zeros(len(problem.C), np.int64), np.empty(len(y))
    fold_sums, total_sums = np.empty((n_folds, len(y))), np.zeros(len(y))
    for fold in range(n_folds):
        fold_sums[fold] = kernel_sums(problem.K, y, order[np.flatnonzero(fold_of == fold)])
        total_sums += fold_sums[fold]
    for fold in range(n_folds):
        train = _training_rows((fold_of >= 0) & (fold_of != fold), problem.y, order)
        test = order[np.flatnonzero(fold_of == fold)]
        K, sums = problem.K, total_sums - fold_sums[fold]
        reduced_K, reduced_sums = K, sums
        if problem.is_reduced.any():
            reduced_K = _reduced_kernel(problem.X, train, problem.kept_variance, problem.gamma)
            reduced_sums = kernel_sums(reduced_K, y, train)
        for candidate, C in enumerate(problem.C):
            own_K, own_sums = (reduced_K, reduced_sums) if problem.is_reduced[candidate] else (K, sums)
            fill_decisions(own_K, y, own_sums, train, test, C, values)
            correct[candidate] += np.count_nonzero((values[: len(test)] > 0) == (y[test] > 0))
    return int(np.argmax(correct))


@njit(cache=True, nogil=True)
def decision_values(problem: Problem, candidate: int, role: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Compute the decision values of the tested positions in one test.

    Parameters
    ----------
    problem : Problem
        Data and candidates.
    candidate : int
        Index of the candidate.
    role : ndarray of int8 of shape (n_samples,)
        Role of each position in the test.
    order : ndarray of int64 of shape (n_samples,)
        Row at each position.

    Returns
    -------
    ndarray of float64 of shape (n_samples,)
        Decision value of each tested position, NaN elsewhere.
    """
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
    """Run a plan for several orders of the rows.

    Parameters
    ----------
    problem : Problem
        Data and candidates.
    inner_fold : ndarray of int8 of shape (n_choices, n_samples)
        See :class:`~fairfold.cross_testing.plans.Plan`.
    choice_of : ndarray of int64 of shape (n_tests,)
        See :class:`~fairfold.cross_testing.plans.Plan`.
    role : ndarray of int8 of shape (n_tests, n_samples)
        See :class:`~fairfold.cross_testing.plans.Plan`.
    orders : ndarray of int64 of shape (n_orders, n_samples)
        Orders of the rows: the row at each position.

    Returns
    -------
    totals : ndarray of float64 of shape (n_orders, n_tests)
        Numbers of correct predictions, see :class:`~fairfold.cross_testing.plans.Run`.
    chosen : ndarray of int64 of shape (n_orders, n_choices)
        Index of the candidate of each choice.

    Notes
    -----
    Each order requires the kernel sums of every training part, O(n²) each. If multipliers are not at their bounds, it
    also requires about m iterations of O(m) for m training samples. Candidates with principal components add their
    computation for every training part.
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
