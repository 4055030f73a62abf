"""Class posteriors from the answers of binary learners.

Learner j answers r_j, the probability of its positive side. With posteriors p it should have answered
q_j = P+_j / (P+_j + P-_j), where P+_j and P-_j are the sums of p over the classes of its two sides.

Where the sources differ
------------------------
MATLAB's page (after Zadrozny) lowers the Kullback-Leibler divergence between r and q by the factors N_k / D_k, with
N_k = sum_j w_j (r_j [m_kj = 1] + (1 - r_j) [m_kj = -1]) and D_k the same of q. For pairs of classes this is the
iteration of Hastie and Tibshirani, which never raises the divergence. For other designs it may raise it, and where it
comes to rest is in general no minimum. The factors of Huang, Weng and Lin,
A_k = sum_j w_j (r_j [m_kj = 1] / P+_j + (1 - r_j) [m_kj = -1] / P-_j) over B_k = sum_j w_j [m_kj != 0] / (P+_j + P-_j),
are the same for pairs, and never raise the divergence for any design. They are taken here; the page's are
``update="page"``. The multiplicative iteration creeps near confident answers, so :func:`kl_posterior` tries Newton's
step first, and takes the multiplicative one where that does not lower the divergence.

The page solves ``M_01 p = r`` for its second start, with M_01 the coding matrix of K rows and -1 turned to 0; by the
shapes its transpose is meant. The system says P+_j = r_j, which holds for designs without zeros only.

The page's iteration creeps: of a sample of a class that all its learners are sure of, the other classes' share is
1 / (1.5 t + 1.5) after t iterations from the uniform start, for three classes in pairs. The page prints setosas with
0.0009972, which is t = 668 or so; its rule to stop is not printed. Ours has 0.00067 after the 1,000 iterations of
``max_iter``; the minimum is 0.

References
----------
- MATLAB documentation, ``kfoldPredict`` for ``ClassificationPartitionedECOC``, section "Posterior probability".
- T. Hastie and R. Tibshirani, Classification by pairwise coupling, Annals of Statistics 26 (1998).
- B. Zadrozny, Reducing multiclass to binary by coupling probability estimates, NIPS 14 (2001).
- T.-F. Wu, C.-J. Lin and R. C. Weng, Probability estimates for multi-class classification by pairwise coupling,
  Journal of Machine Learning Research 5 (2004).
- T.-K. Huang, R. C. Weng and C.-J. Lin, Generalized Bradley-Terry models and multi-class probability estimates,
  Journal of Machine Learning Research 7 (2006).
- J. J. Júdice and F. M. Pires, A block principal pivoting algorithm for large-scale strictly monotone linear
  complementarity problems, Computers & Operations Research 21 (1994).
"""

from __future__ import annotations

import warnings

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.special import rel_entr
from sklearn.exceptions import ConvergenceWarning

from fairfold.core.seeds import seed_sequence
from fairfold.ecoc.decoding import check_answers
from fairfold.errors import ModelError, unknown_name

UPDATES = ("bradley-terry", "page")
_START_FLOOR = 1e-3  # share of the uniform start in every other one: no factor leaves an exact zero
_PAGE_FLOOR = 100 * np.finfo(np.float64).eps  # the page prints 2.22e-14 for its smallest posteriors
_SMALLEST = 1e-200  # of a class's posterior on the way; its reciprocal is finite
_RIDGE = 1e-10  # relative, so that singular systems have an answer
_NEGATIVE = 1e-10  # relative: a pivot below minus this is more than rounding
_DAMPINGS = (0.0, 1.0, 4.0, 16.0, 64.0, 256.0)  # 0 is Newton's own step; d allows steps of about 1 / d
_LONGEST_STEP = 4.0  # of Newton's, in the logarithm of a posterior


def kl_posterior(
    coding: ArrayLike,
    r: ArrayLike,
    weights: ArrayLike,
    *,
    num_kl_initializations: int = 0,
    random_state: int = 0,
    max_iter: int = 1000,
    tol: float = 1e-9,
    update: str = "bradley-terry",
) -> np.ndarray:
    """Posteriors of the smallest weighted Kullback-Leibler divergence from the learners' answers.

    Parameters
    ----------
    coding : array-like, shape (n_classes, n_learners); entries -1, 0 and 1.
    r : array-like, shape (n_samples, n_learners); probability of each learner's positive side, NaN for no answer.
    weights : array-like, shape (n_learners,); total weight of the samples that each learner was trained on. The answers
        of a learner of weight 0 count as none.
    num_kl_initializations : random starts, the same for all samples, beside the two that are always taken: the uniform
        posteriors and the non-negative least squares solution. The answer of the smallest divergence is kept.
        Where a design has no zeros, or pairs of classes only, the divergence is convex and all starts lead to its
        minimum: then the two are one, the nearest at hand, which is the answer of :func:`qp_posterior` (not for the
        page's update, which need not lead there).
    random_state : seed of the random starts.
    max_iter : most iterations from one start.
    tol : an answer is final when another step promises to lower the divergence, with the largest weight scaled to 1,
        by less than this. For ``update="page"``: when no posterior changes by more.
    update : ``"bradley-terry"`` or ``"page"``; see the head of this module.

    Returns
    -------
    ndarray, shape (n_samples, n_classes); rows sum to 1. A class of which no answering learner knows gets 0. A sample
    without any answer gets NaN.

    Raises
    ------
    ModelError
        Shapes that do not fit, answers outside [0, 1], weights that are negative, infinite or all 0, an unknown update,
        or a number of starts or iterations that is none.

    Warns
    -----
    ConvergenceWarning
        Some samples took ``max_iter`` iterations from every start.
    """
    M, R = _check_probabilities(coding, r)
    w = _check_weights(weights, M.shape[1])
    R = np.where(w > 0, R, np.nan)
    check_update(update)
    if max_iter < 1 or not tol > 0:
        raise ModelError(f"max_iter is {max_iter!r} and tol {tol!r}: both must be positive.")
    starts = _starts(M, R, num_kl_initializations, random_state, update == "bradley-terry" and _has_one_minimum(M))
    iterate = _iterate if update == "bradley-terry" else _iterate_page
    P, values, done = iterate(M, np.tile(R, (len(starts), 1)), w, np.concatenate(starts), max_iter, tol)
    P, values, done = (each.reshape(len(starts), len(R), *each.shape[1:]) for each in (P, values, done))
    best, converged = P[values.argmin(axis=0), np.arange(len(R))], done.any(axis=0)
    if not converged.all():
        warnings.warn(
            f"{np.sum(~converged)} of {len(R)} posteriors are not final after {max_iter} iterations: raise max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return best


def check_update(update: str) -> None:
    """Raise a ``ModelError`` unless it is one of ``UPDATES``."""
    if update not in UPDATES:
        raise ModelError(unknown_name("update", update, UPDATES))


def kl_divergence(coding: ArrayLike, r: ArrayLike, weights: ArrayLike, posteriors: ArrayLike) -> np.ndarray:
    """Weighted Kullback-Leibler divergence sum_j w_j (r_j log(r_j / q_j) + (1 - r_j) log((1 - r_j) / (1 - q_j))).

    Parameters
    ----------
    coding, r, weights : as :func:`kl_posterior` takes them.
    posteriors : array-like, shape (n_samples, n_classes).

    Returns
    -------
    ndarray, shape (n_samples,), in nats; learners without an answer add nothing.

    Raises
    ------
    ModelError
        Shapes that do not fit, answers outside [0, 1], or weights that are negative, infinite or all 0.
    """
    M, R = _check_probabilities(coding, r)
    P = np.asarray(posteriors, dtype=float)
    if P.shape != (len(R), len(M)):
        raise ModelError(f"the posteriors have shape {P.shape}: the other arguments ask for {(len(R), len(M))}.")
    positive, negative = P @ (M == 1).astype(float), P @ (M == -1).astype(float)
    total = positive + negative
    with np.errstate(invalid="ignore"):  # 0 / 0 where neither side has any mass, and such learners have no answer
        terms = rel_entr(R, positive / total) + rel_entr(1 - R, negative / total)
    return np.where(np.isnan(R), 0.0, terms) @ _check_weights(weights, M.shape[1])


def qp_posterior(coding: ArrayLike, r: ArrayLike) -> np.ndarray:
    """Posteriors of the least squares sum_j ((1 - r_j) P+_j - r_j P-_j)^2 on the simplex.

    For pairs of classes this is the second approach of Wu, Lin and Weng (section 4.2).

    Parameters
    ----------
    coding : array-like, shape (n_classes, n_learners); entries -1, 0 and 1.
    r : array-like, shape (n_samples, n_learners); probability of each learner's positive side, NaN for no answer.

    Returns
    -------
    ndarray, shape (n_samples, n_classes); rows sum to 1. A class of which no answering learner knows gets 0. A sample
    without any answer gets NaN.

    Raises
    ------
    ModelError
        Shapes that do not fit, or answers outside [0, 1].

    Notes
    -----
    With Q = A'A of a sample's system, the conditions of optimality on the simplex, Q p = l 1 + mu with mu >= 0 and
    p'mu = 0, are those of minimising x'Qx / 2 - 1'x over x >= 0 for x = p / l. Adding 11' to Q adds 1 to the objective
    on the simplex, and makes l positive. So one solver of non-negative least squares serves here too.
    """
    M, R = _check_probabilities(coding, r)
    return _normalised(_least_squares(M, R, True), np.nan)


def _starts(M: np.ndarray, R: np.ndarray, n_random: int, random_state: int, one_minimum: bool) -> list[np.ndarray]:
    """Starting posteriors, each (n_samples, n_classes) and without zeros."""
    shape = (len(R), len(M))
    uniform = np.full(shape, 1 / len(M))
    if not isinstance(n_random, (int, np.integer)) or n_random < 0:
        raise ModelError(f"num_kl_initializations is {n_random!r}: give the number of random starts, or 0.")
    solution = _normalised(_least_squares(M, R, one_minimum), 1 / len(M))
    found = [solution] if one_minimum else [uniform, solution]
    rng = np.random.default_rng(seed_sequence(random_state, "kl_posterior"))
    found += [np.broadcast_to(start / start.sum(), shape) for start in rng.random((n_random, len(M)))]
    return [(1 - _START_FLOOR) * start + _START_FLOOR * uniform for start in found]


def _has_one_minimum(M: np.ndarray) -> bool:
    """Whether the divergence is convex: in p without zeros, in log p if each learner tells one class from another."""
    return bool(M.all() or (np.abs(M).sum(axis=0) == 2).all())


def _iterate(
    M: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posteriors, their divergences less a constant per sample, and which of them are final."""
    return _kl_kernel((*_sides(M), w / w.max()), R, start, max_iter, tol)


def _iterate_page(
    M: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by the page's iteration to the letter; it is final where it rests."""
    plus, minus, has_answer = (M == 1).astype(float), (M == -1).astype(float), ~np.isnan(R)
    weights, r = np.where(has_answer, w, 0.0), np.where(has_answer, R, 0.0)
    known = has_answer @ (M != 0).T
    wanted = (weights * r) @ plus.T + (weights * (1 - r)) @ minus.T
    P, moving = _normalised(np.where(known, start, 0.0), np.nan), np.flatnonzero(has_answer.any(axis=1))
    for _ in range(max_iter):
        p, v = P[moving], weights[moving]
        positive, negative = p @ plus, p @ minus
        q = np.divide(positive, positive + negative, out=np.zeros(v.shape), where=v > 0)
        got = (v * q) @ plus.T + (v * (1 - q)) @ minus.T
        new = np.divide(p * wanted[moving], got, out=np.zeros(p.shape), where=got > 0)
        P[moving] = new = _normalised(np.where(known[moving], np.maximum(new, _PAGE_FLOOR), 0.0), np.nan)
        moving = moving[np.abs(new - p).max(axis=1) > tol]
        if not len(moving):
            break
    return P, kl_divergence(M, R, w, P), ~np.isin(np.arange(len(P)), moving)


def _normalised(rows: np.ndarray, otherwise: float) -> np.ndarray:
    """Rows divided by their sums; rows of zeros filled with a number."""
    sums = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, sums, out=np.full(rows.shape, otherwise), where=sums > 0)


def _check_probabilities(coding: ArrayLike, r: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    M, R = check_answers(coding, r, "learners' probabilities")
    wrong = np.argwhere((R < 0) | (R > 1))
    if len(wrong):
        row, column = wrong[0]
        raise ModelError(
            f"the learners' probability in row {row}, column {column} is {R[row, column]}: use 0 to 1, or NaN."
        )
    return M, np.ascontiguousarray(R)


def _check_weights(weights: ArrayLike, n_learners: int) -> np.ndarray:
    w = np.asarray(weights, dtype=float)
    if w.shape != (n_learners,):
        raise ModelError(f"the learners' weights have shape {w.shape}: give {n_learners}, one per learner.")
    if not (np.isfinite(w).all() and w.min() >= 0 and w.max() > 0):
        raise ModelError(f"the learners' weights go from {w.min()} to {w.max()}: give finite ones, positive or 0.")
    return w


def _sides(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Classes of each learner, positive before negative: they are ``classes[offsets[2j]:offsets[2j+1]]``, and on."""
    sides = [np.flatnonzero(column == sign) for column in M.T for sign in (1, -1)]
    offsets = np.concatenate(([0], np.cumsum([len(side) for side in sides])))
    return offsets.astype(np.int64), np.concatenate(sides).astype(np.int64)


@njit(cache=True, nogil=True)
def _kl_kernel(learners, R, start, max_iter, tol):  # noqa: ANN001, ANN202
    """Minimiser of the divergence for each sample, from its start; the divergence less a constant; whether it is final.

    ``learners`` are :func:`_sides` and weights.
    """
    P, values, done = np.full(start.shape, np.nan), np.full(len(start), np.inf), np.zeros(len(start), np.bool_)
    for i in range(len(start)):
        r = R[i]
        inside = _known(learners, r, start.shape[1])
        if not inside.any():
            done[i] = True
            continue
        p = _cleaned(np.where(inside, start[i], 0.0), inside)
        value = _cross_entropy(learners, r, p)
        for _ in range(max_iter):
            p, value, done[i] = _lowered(learners, r, p, value, inside, tol)
            if done[i]:
                break
        P[i], values[i] = p, value
    return P, values, done


@njit(cache=True, nogil=True)
def _lowered(learners, r, p, value, inside, tol):  # noqa: ANN001, ANN202
    """Posteriors and divergence after one more iteration, or the same as before and that they are final.

    The first step that lowers the divergence: Newton's step in log p where the Hessian is positive semidefinite; the
    same with Hessians damped more and more, which always are; the multiplicative step p A / B, which never raises it.
    """
    for damping in _DAMPINGS:
        gradient, A, B, H = _derivatives(learners, r, p, damping)
        is_solved, step = _solve(H, gradient, inside)
        if not is_solved:
            continue
        # By how much Newton's step would lower the divergence, were that quadratic.
        if damping <= 1 and (gradient * step / 2).sum() < tol:
            return p, value, True
        new = _cleaned(p * np.exp(np.minimum(np.maximum(-step, -_LONGEST_STEP), _LONGEST_STEP)), inside)
        new_value = _cross_entropy(learners, r, new)
        if new_value < value:
            return new, new_value, False
    new = _cleaned(np.where(inside, p * A / B, 0.0), inside)
    return new, _cross_entropy(learners, r, new), False


@njit(cache=True, nogil=True)
def _known(learners, r, n_classes):  # noqa: ANN001, ANN202
    """Whether a learner with an answer was trained on each class."""
    offsets, classes, _ = learners
    known = np.zeros(n_classes, np.bool_)
    for j in range(len(r)):
        if not np.isnan(r[j]):
            known[classes[offsets[2 * j] : offsets[2 * j + 2]]] = True
    return known


@njit(cache=True, nogil=True)
def _cleaned(p, inside):  # noqa: ANN001, ANN202
    """Scaled to sum 1, reciprocals of what is inside finite."""
    return np.where(inside, np.maximum(p / p.sum(), _SMALLEST), 0.0)


@njit(cache=True, nogil=True)
def _side_sums(learners, j, p):  # noqa: ANN001, ANN202
    """Posteriors of the classes on the positive and on the negative side of a learner."""
    offsets, classes, _ = learners
    positive = negative = 0.0
    for m in range(offsets[2 * j], offsets[2 * j + 1]):
        positive += p[classes[m]]
    for m in range(offsets[2 * j + 1], offsets[2 * j + 2]):
        negative += p[classes[m]]
    return positive, negative


@njit(cache=True, nogil=True)
def _cross_entropy(learners, r, p):  # noqa: ANN001, ANN202
    """The divergence less the part that does not depend on p."""
    value = 0.0
    for j in range(len(r)):
        if not np.isnan(r[j]):
            positive, negative = _side_sums(learners, j, p)
            logs = r[j] * np.log(positive) + (1 - r[j]) * np.log(negative) - np.log(positive + negative)
            value -= learners[2][j] * logs
    return value


@njit(cache=True, nogil=True)
def _derivatives(learners, r, p, damping):  # noqa: ANN001, ANN202
    """Gradient in log p, the A and B of the multiplicative step, and the lower triangle of the Hessian.

    With u and v the shares of p within the two sides of learner j, and d = u - v, the Hessian is
    sum_j w_j (q_j (1 - q_j) dd' + (r_j - q_j) (uu' - vv')) with the gradient added to its diagonal. Damped, it lacks
    the terms in r_j - q_j and takes multiples of the gradient's absolute values: positive semidefinite.
    """
    offsets, classes, w = learners
    A, B, H = np.zeros(len(p)), np.zeros(len(p)), np.zeros((len(p), len(p)))
    slope = np.empty(len(p))  # of the logit of q in the logarithm of each posterior
    for j in range(len(r)):
        if np.isnan(r[j]):
            continue
        first, middle, last = offsets[2 * j], offsets[2 * j + 1], offsets[2 * j + 2]
        positive, negative = _side_sums(learners, j, p)
        per_positive, per_negative, per_total = 1 / positive, 1 / negative, 1 / (positive + negative)
        q = positive * per_total
        off = w[j] * q * negative * per_total
        miss = 0.0 if damping else w[j] * (r[j] - q)
        is_pair = last - first == 2  # whose slopes are 1 and -1, without rounding
        for m in range(first, last):
            k, is_positive = classes[m], m < middle
            A[k] += w[j] * r[j] * per_positive if is_positive else w[j] * (1 - r[j]) * per_negative
            B[k] += w[j] * per_total
            share = 1.0 if is_pair else p[k] * (per_positive if is_positive else per_negative)
            slope[k] = share if is_positive else -share
            own_side = off + miss if is_positive else off - miss
            for other in range(first if is_positive else middle, m + 1):
                H[k, classes[other]] += own_side * slope[k] * slope[classes[other]]
            for other in range(first, first if is_positive else middle):
                c = classes[other]
                H[max(k, c), min(k, c)] += off * slope[k] * slope[c]
    gradient = p * (B - A)
    for k in range(len(p)):
        H[k, k] += damping * abs(gradient[k]) if damping else gradient[k]
    return gradient, A, B, H


@njit(cache=True, nogil=True)
def _solve(Q, b, inside):  # noqa: ANN001, ANN202
    """Whether Q is positive semidefinite for the variables inside, and the solution of Q x = b there, x = 0 outside.

    Cholesky on the lower triangle, with a small ridge. Inner loops run along rows, so that they become vector
    instructions; what they do to variables outside is never read.
    """
    n = len(b)
    x, factor, column = b.copy(), Q.copy(), np.empty(n)
    largest = np.abs(np.diag(Q)).max()
    for c in range(n):
        if not inside[c]:
            continue
        if factor[c, c] < -_NEGATIVE * largest:
            return False, x
        factor[c, c] = np.sqrt(max(factor[c, c], 0.0) + _RIDGE * largest + _SMALLEST)
        inverse = 1 / factor[c, c]
        x[c] *= inverse
        for k in range(c + 1, n):
            factor[k, c] *= inverse
            column[k] = factor[k, c]
        for k in range(c + 1, n):
            x[k] -= column[k] * x[c]
            scale = column[k]
            for m in range(c + 1, k + 1):
                factor[k, m] -= scale * column[m]
    for k in range(n - 1, -1, -1):
        x[k] = x[k] / factor[k, k] if inside[k] else 0.0
        for c in range(k):
            x[c] -= factor[k, c] * x[k]
    return True, x


@njit(cache=True, nogil=True)
def _nonnegative_quadratic(Q, b, allowed):  # noqa: ANN001, ANN202
    """Minimise x'Qx / 2 - b'x over x >= 0, x = 0 where not allowed: block principal pivoting.

    All variables begin inside. Those of the wrong sign change sides together while that makes them fewer; the last one
    alone after three times that it did not, which cannot cycle.
    """
    inside, wrong = allowed.copy(), np.empty(len(b), np.bool_)
    fewest, patience = len(b) + 1, 3
    while True:
        _, x = _solve(Q, b, inside)
        for k in range(len(b)):
            slack = -b[k]
            for c in range(len(b)):
                slack += Q[k, c] * x[c]
            wrong[k] = x[k] < 0 if inside[k] else allowed[k] and slack < -1e-12 * (1 + abs(b[k]))
        n_wrong = wrong.sum()
        if n_wrong == 0:
            return x
        fewest, patience = (n_wrong, 3) if n_wrong < fewest else (fewest, patience - 1)
        if patience <= 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong


@njit(cache=True, nogil=True)
def _least_squares(M, R, on_simplex):  # noqa: ANN001, ANN202
    """Least squares solutions over the learners with an answer; zeros without any.

    Those of :func:`qp_posterior`, up to a factor per sample, or non-negative ones of P+_j = r_j.
    """
    X, n_classes = np.zeros((len(R), len(M))), len(M)
    for i in range(len(R)):
        one = 1.0 if on_simplex else 0.0
        Q, b = np.full((n_classes, n_classes), one), np.full(n_classes, one)
        allowed = np.full(n_classes, not on_simplex)
        for j in np.flatnonzero(~np.isnan(R[i])):
            r, m = R[i, j], M[:, j]
            a = np.where(m > 0, 1 - r, np.where(m < 0, -r, 0.0)) if on_simplex else np.where(m > 0, 1.0, 0.0)
            if not on_simplex:
                b += r * a
            for k in np.flatnonzero(a):
                Q[k] += a[k] * a
            allowed |= m != 0
        X[i] = _nonnegative_quadratic(Q, b, allowed)
    return X
