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

from fairfold.cross_testing.plans import TEST, TRAIN

TOLERANCE = 1e-3  # of the stopping rule, LIBSVM's and scikit-learn's default
_SMALLEST_CURVATURE = 1e-12  # LIBSVM's TAU
_EXPONENTIAL = tuple(1 / factorial(n) for n in range(11, -1, -1))


@njit(cache=True, nogil=True)
def _step(
    g: np.ndarray,
    row_i: np.ndarray,
    row_j: np.ndarray,
    step: float,
    beta: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
) -> None:
    """Take a step of two multipliers; fill ``up`` with ``g`` where it can rise, ``down`` with ``-g`` where it can fall.

    Elsewhere they are minus infinity.
    """
    for t in range(len(g)):
        value = g[t] - step * (row_i[t] - row_j[t])
        g[t] = value
        up[t] = value if beta[t] < high[t] else -np.inf
        down[t] = -value if beta[t] > low[t] else -np.inf


@njit(cache=True, nogil=True, error_model="numpy")  # a check for division by zero would hinder vectorisation
def _fill_gains(
    down: np.ndarray, most: float, diagonal: np.ndarray, row: np.ndarray, own: float, out: np.ndarray
) -> None:
    """Fill ``out`` with twice the gain of a step with each partner, 0 where there is none.

    ``row`` and ``own`` are of the kernel matrix, of the sample that seeks a partner.
    """
    for t in range(len(out)):
        curvature = own + diagonal[t] - 2 * row[t]
        curvature = curvature if curvature > _SMALLEST_CURVATURE else _SMALLEST_CURVATURE
        difference = most + down[t]
        difference = difference if difference > 0 else 0.0
        out[t] = difference * difference / curvature


@njit(cache=True, nogil=True)
def _largest(values: np.ndarray) -> float:
    """Largest value; four at a time, because each comparison waits for the one before."""
    a = b = c = d = -np.inf
    whole = len(values) // 4 * 4
    for t in range(0, whole, 4):
        a = values[t] if values[t] > a else a
        b = values[t + 1] if values[t + 1] > b else b
        c = values[t + 2] if values[t + 2] > c else c
        d = values[t + 3] if values[t + 3] > d else d
    for t in range(whole, len(values)):
        a = values[t] if values[t] > a else a
    a, c = a if a > b else b, c if c > d else d
    return a if a > c else c


@njit(cache=True, nogil=True)
def _last(values: np.ndarray, value: float) -> int:
    """Last place of a value that is there, as LIBSVM takes it of equal ones; four at a time."""
    t = len(values) - 1
    while t >= 4:
        if (values[t] == value) | (values[t - 1] == value) | (values[t - 2] == value) | (values[t - 3] == value):
            break
        t -= 4
    while values[t] != value:
        t -= 1
    return t


@njit(cache=True, nogil=True)
def optimise(K: np.ndarray, train: np.ndarray, y: np.ndarray, C: float, beta: np.ndarray, g: np.ndarray) -> None:
    """Sequential minimal optimisation from a feasible start, in place.

    Costs some m iterations of O(m); rows of ``K`` are gathered when they are first needed, a third of them or so.

    Parameters
    ----------
    K : ndarray, shape (n, n) or (m, n); kernel matrix, read where row number <= column number only if ``train`` rises.
    train : ndarray of int64, shape (m,); positions of the training samples in ``K``.
    y : ndarray of float64, shape (m,); 1 or -1.
    C : bound of the multipliers.
    beta : ndarray of float64, shape (m,); multipliers times ``y``, feasible: sum 0, each between 0 and ``C * y``.
    g : ndarray of float64, shape (m,); ``y - K[train][:, train] @ beta``, kept so.
    """
    m = len(y)
    low, high = np.minimum(0, C * y), np.maximum(0, C * y)
    rows, is_known = np.empty((m, m)), np.zeros(m, np.bool_)
    diagonal, gains, up, down = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for t in range(m):
        diagonal[t] = K[train[t], train[t]]
    _step(g, g, g, 0.0, beta, low, high, up, down)
    for _ in range(max(10_000_000, 100 * m)):
        most = _largest(up)
        if most + _largest(down) < TOLERANCE:
            return
        i = _last(up, most)
        row_i = _row(K, train, i, rows, is_known)
        _fill_gains(down, most, diagonal, row_i, diagonal[i], gains)
        j = _last(gains, _largest(gains))
        row_j = _row(K, train, j, rows, is_known)
        curvature = max(diagonal[i] + diagonal[j] - 2 * row_i[j], _SMALLEST_CURVATURE)
        room_i, room_j = high[i] - beta[i], beta[j] - low[j]
        step = min((most - g[j]) / curvature, room_i, room_j)
        # Bounds are set, not computed: a rounding error away from the bound would count as a free multiplier.
        beta[i] = high[i] if step == room_i else beta[i] + step
        beta[j] = low[j] if step == room_j else beta[j] - step
        _step(g, row_i, row_j, step, beta, low, high, up, down)


@njit(cache=True, nogil=True)
def _row(K: np.ndarray, train: np.ndarray, i: int, rows: np.ndarray, is_known: np.ndarray) -> np.ndarray:
    """Row of the training samples' kernel matrix, gathered once."""
    row = rows[i]
    if not is_known[i]:
        is_known[i] = True
        for t in range(i):
            row[t] = K[train[t], train[i]]
        from_i = K[train[i]]
        for t in range(i, len(train)):
            row[t] = from_i[train[t]]
    return row


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

    ``sums`` (n,) has ``K[:, train] @ y[train]`` at the positions of both. See ``optimise`` for what is read of ``K``.
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
    beta = C * part_y if is_balanced else np.zeros(m)
    gradient = part_y - C * sums[train] if is_balanced else part_y.copy()
    optimise(K, train, part_y, C, beta, gradient)
    values[: len(test)] = offset(part_y, C, beta, gradient)
    for a in range(m):
        if beta[a] != 0:
            row = K[train[a]]
            for k in range(len(test)):
                values[k] += beta[a] * row[test[k]]


@njit(cache=True, nogil=True)
def _kernel_sums(K: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """``K[train].T @ y[train]``, by rows of ``K``, because sums along a row cannot be vectorised in a fixed order."""
    sums = np.zeros(len(y))
    for t in train:
        row, sign = K[t], y[t]
        for k in range(len(y)):
            sums[k] += sign * row[k]
    return sums


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _upper_kernel_sums(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The same for the first ``len(K)`` samples, from what is at and above the diagonal of ``K``."""
    sums = np.zeros(len(y))
    for a in range(len(K)):
        row, signs, part, sign = K[a, a + 1 :], y[a + 1 : len(K)], sums[a + 1 :], y[a]
        for b in range(len(row)):
            part[b] += sign * row[b]
        of_others = 0.0
        for b in range(len(signs)):
            of_others += signs[b] * row[b]
        sums[a] += of_others + sign * K[a, a]
    return sums


@njit(cache=True, nogil=True)
def _grouped(is_member: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Members, those of the first class before the others, as LIBSVM orders them: ties in its search go by order."""
    return np.concatenate((np.flatnonzero(is_member & (y > 0)), np.flatnonzero(is_member & (y < 0))))


class Problem(NamedTuple):
    """Data and candidates in the form that the kernels take.

    K : ndarray, shape (n_rows, n_rows); kernel matrix of the rows without preprocessing.
    X : ndarray, shape (n_rows, n_features), or None; rows for the principal components, if a candidate asks for them.
        Numba drops the code behind None, which is half of what there is to compile.
    G : ndarray, shape (n_rows, n_rows), or None; inner products of these rows.
    y : ndarray of float64, shape (n_rows,); 1 or -1 at each *position*.
    C : ndarray of float64, shape (n_candidates,).
    kept_variance : ndarray of float64, shape (n_candidates,); share of the variance whose principal components are
        kept, 0 for no preprocessing. Candidates with the same share stand in one ``group``.
    gamma : ndarray of float64, shape (n_candidates,); of the kernel after preprocessing, 0 for 1 / components.
    group : ndarray of int64, shape (n_candidates,); candidates of one group have the same kernel matrix.
    """

    K: np.ndarray
    X: np.ndarray | None
    G: np.ndarray | None
    y: np.ndarray
    C: np.ndarray
    kept_variance: np.ndarray
    gamma: np.ndarray
    group: np.ndarray


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentiate(x: np.ndarray) -> None:
    """Replace each x ≤ 0 by exp(x), to two units in the last place, and by 0 below -708; a loop that vectorises.

    exp(x) = 2^k exp(r) for the whole number k next to x / ln 2. Adding 1.5 · 2^52 rounds to k and leaves k in the low
    bits; the power of two is then added to the exponent's bits.
    """
    rounding = 6755399441055744.0
    for i in range(len(x)):
        shifted = x[i] * 1.4426950408889634 + rounding
        k = shifted - rounding
        r = (x[i] - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6  # ln 2 in two parts
        series = 1 / 479001600 + r * (1 / 6227020800)
        for coefficient in _EXPONENTIAL:
            series = coefficient + r * series
        bits = np.float64(series).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
        x[i] = np.int64(bits).view(np.float64) if x[i] >= -708 else 0.0


@njit(cache=True, nogil=True)
def _leading_eigenvectors(A: np.ndarray, share: float) -> np.ndarray:
    """Return the eigenvectors of the fewest largest eigenvalues that add up to more than a share of the trace."""
    values, vectors = np.linalg.eigh(A)
    n_needed = np.count_nonzero(np.cumsum(values[::-1]) <= share * np.trace(A)) + 1
    return vectors[:, ::-1][:, :n_needed]


@njit(cache=True, nogil=True)
def component_scores(
    X: np.ndarray, G: np.ndarray, train: np.ndarray, test: np.ndarray, kept_variance: float
) -> np.ndarray:
    """Scores of ``train`` and ``test``, one after the other, on principal components of ``train``.

    The components are the fewest leading ones whose variances add up to more than the share, the largest first. They
    are taken from the scatter matrix or, where there are fewer samples than features, from inner products alone.

    Parameters
    ----------
    X : ndarray, shape (n_samples, n_features); centred, though not on ``train``, lest scatter be lost in rounding.
    G : ndarray, shape (n_samples, n_samples); ``X @ X.T``.
    train, test : ndarrays of int64, positions.
    kept_variance : share of the variance, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_train + n_test, n_components)
        About any origin.
    """
    members, m = np.concatenate((train, test)), len(train)
    if X.shape[1] <= m:
        rows = X[members]
        part, total = rows[:m], rows[:m].sum(0)
        scatter = part.T @ part
        for a in range(len(total)):
            scatter[a] -= total[a] / m * total
        return rows @ np.ascontiguousarray(_leading_eigenvectors(scatter, kept_variance))
    products = np.empty((len(members), m))
    for a in range(len(members)):
        row = G[members[a]]
        for b in range(m):
            products[a, b] = row[train[b]]
        products[a] -= products[a].sum() / m
    products -= products[:m].sum(0) / m
    # The matrix of centred products is U Λ Uᵀ for scores U √Λ.
    scores = products @ np.ascontiguousarray(_leading_eigenvectors(products[:m], kept_variance))
    for k in range(scores.shape[1]):
        scores[:, k] /= max(np.sqrt(np.sqrt((scores[:m, k] ** 2).sum())), 1e-150)
    return scores


@njit(cache=True, nogil=True)
def _pca_kernel(
    X: np.ndarray | None, G: np.ndarray | None, train: np.ndarray, test: np.ndarray, kept_variance: float, gamma: float
) -> np.ndarray:
    """Kernel matrix after principal components of ``train``, samples in the order ``train``, ``test``.

    Rows are those of ``train``; valid where the row number is not above the column number.
    """
    if X is None:
        return np.empty((0, 0))  # never run
    scores = component_scores(X, G, train, test, kept_variance)
    if gamma == 0:
        gamma = 1 / scores.shape[1]
    m, squares = len(train), gamma * (scores * scores).sum(1)
    K = scores[:m] @ (2 * gamma * scores.T)
    for a in range(m):
        row, square = K[a, a:], squares[a]
        for b in range(len(row)):
            exponent = row[b] - square - squares[a + b]
            row[b] = exponent if exponent < 0 else 0.0
        row[0] = 0
        exponentiate(row)
    return K


@njit(cache=True, nogil=True)
def _decide(
    problem: Problem,
    candidate: int,
    K: np.ndarray,
    X: np.ndarray | None,
    G: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
    values: np.ndarray,
) -> None:
    """Decision values of one candidate; ``K``, ``X`` and ``G`` are in order of positions."""
    y = problem.y
    if problem.kept_variance[candidate] > 0:
        K = _pca_kernel(X, G, train, test, problem.kept_variance[candidate], problem.gamma[candidate])
        y = y[np.concatenate((train, test))]
        train, test = np.arange(len(train)), np.arange(len(train), len(y))
        sums = _upper_kernel_sums(K, y)
    else:
        sums = _kernel_sums(K, y, train)
    _fit(K, y, sums, train, test, problem.C[candidate], values)


@njit(cache=True, nogil=True)
def _choose(
    problem: Problem, fold_of: np.ndarray, n_folds: int, K: np.ndarray, X: np.ndarray | None, G: np.ndarray | None
) -> int:
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
                part_K, own_y = _pca_kernel(X, G, train, test, share, problem.gamma[candidates[0]]), y[members]
                own_train, own_test = renamed[: len(train)], renamed[len(train) :]
                sums = _upper_kernel_sums(part_K, own_y)
            else:
                part_K, own_y, own_train, own_test, sums = K, y, train, test, total_sums - fold_sums[fold]
            for candidate in candidates:
                _fit(part_K, own_y, sums, own_train, own_test, problem.C[candidate], values)
                for k in range(len(test)):
                    correct[candidate] += (values[k] > 0) == (y[test[k]] > 0)
    return np.argmax(correct)


@njit(cache=True, nogil=True)
def run_plan(
    problem: Problem, inner_fold: np.ndarray, choice_of: np.ndarray, role: np.ndarray, orders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Totals and choices of a :class:`~fairfold.cross_testing.engines.Run`; see there and at ``Plan``.

    Each order costs the kernel sums of every training part, O(n²) each; optimisation where multipliers are not at
    their bounds, some m iterations of O(m) for m training samples; and the components of every training part.
    """
    y, n = problem.y, len(problem.y)
    n_folds = inner_fold.max() + 1
    chosen = np.empty((len(orders), len(inner_fold)), np.int64)
    correct = np.zeros((len(orders), len(role)))
    values = np.empty(n)
    for o in range(len(orders)):
        K, G, X = _reordered(problem.K, orders[o]), _reordered(problem.G, orders[o]), _taken(problem.X, orders[o])
        for c in range(len(inner_fold)):
            chosen[o, c] = _choose(problem, inner_fold[c], n_folds, K, X, G)
        for s in range(len(role)):
            train, test = _grouped(role[s] == TRAIN, y), np.flatnonzero(role[s] == TEST)
            if len(test):
                _decide(problem, chosen[o, choice_of[s]], K, X, G, train, test, values)
            for k in range(len(test)):
                correct[o, s] += (values[k] > 0) == (y[test[k]] > 0)
    return correct, chosen


def decision_values(
    problem: Problem, choice_of: np.ndarray, role: np.ndarray, order: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Decision value of each position in each test, shape (n_tests, n_samples), NaN where a test does not ask.

    Not compiled: it is called once for a procedure, and all that takes time is compiled for :func:`run_plan` already.
    """
    result = np.full(role.shape, np.nan)
    values = np.empty(len(problem.y))
    K, G, X = _reordered(problem.K, order), _reordered(problem.G, order), _taken(problem.X, order)
    for choice, roles, row in zip(choice_of, role, result, strict=True):
        train, test = _grouped(roles == TRAIN, problem.y), np.flatnonzero(roles == TEST)
        if len(test):
            _decide(problem, chosen[choice], K, X, G, train, test, values)
            row[test] = values[: len(test)]
    return result


@njit(cache=True, nogil=True)
def _reordered(K: np.ndarray | None, order: np.ndarray) -> np.ndarray | None:
    """Rows and columns of a matrix in another order."""
    if K is None:
        return K  # not a plain None, by which Numba would take a matrix for one that may be None, and compile both
    out = np.empty_like(K)
    for a in range(len(out)):
        row = K[order[a]]
        for b in range(len(out)):
            out[a, b] = row[order[b]]
    return out


@njit(cache=True, nogil=True)
def _taken(X: np.ndarray | None, order: np.ndarray) -> np.ndarray | None:
    return X if X is None else X[order]
