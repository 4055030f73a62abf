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
    iterate = _iterate if update == "bradley-terry" else _iterate_page
    best = np.full((len(R), len(M)), np.nan)
    smallest, converged = np.full(len(R), np.inf), np.zeros(len(R), dtype=bool)
    one_minimum = update == "bradley-terry" and _has_one_minimum(M)
    for start in _starts(M, R, num_kl_initializations, random_state, one_minimum):
        P, values, done = iterate(M, R, w, start, max_iter, tol)
        better = values < smallest
        best[better], smallest[better] = P[better], values[better]
        converged |= done
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
    return _normalised(_simplex_kernel(M, R), np.nan)


def _starts(M: np.ndarray, R: np.ndarray, n_random: int, random_state: int, one_minimum: bool) -> list[np.ndarray]:
    """Starting posteriors, each (n_samples, n_classes) and without zeros."""
    shape = (len(R), len(M))
    uniform = np.full(shape, 1 / len(M))
    if not isinstance(n_random, (int, np.integer)) or n_random < 0:
        raise ModelError(f"num_kl_initializations is {n_random!r}: give the number of random starts, or 0.")
    if one_minimum:
        found = [_normalised(_simplex_kernel(M, R), 1 / len(M))]
    else:
        found = [uniform, _normalised(_least_squares_kernel(M, R), 1 / len(M))]
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
    offsets, classes = _sides(M)
    return _kl_kernel(offsets, classes, R, w / w.max(), np.ascontiguousarray(start), max_iter, tol)


def _iterate_page(
    M: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by the page's iteration to the letter."""
    offsets, classes = _sides(M)
    P, done = _page_kernel(offsets, classes, R, w, start, max_iter, tol)
    return P, kl_divergence(M, R, w, P), done


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
def _kl_kernel(
    offsets: np.ndarray, classes: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimiser of the divergence for each sample, from its start; the divergence less a constant; whether it is final.

    Per iteration the first that lowers the divergence: Newton's step in log p where the Hessian is positive
    semidefinite; the same with Hessians damped more and more, which always are; the multiplicative step p A / B, which
    never raises it.
    """
    n, n_classes = start.shape
    P, values, done = np.full((n, n_classes), np.nan), np.full(n, np.inf), np.zeros(n, np.bool_)
    new, step, gradient = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    A, B = np.empty(n_classes), np.empty(n_classes)
    H, factor = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    inside = np.empty(n_classes, np.bool_)
    for i in range(n):
        p, r = P[i], R[i]
        if not _mark_known(offsets, classes, r, inside):
            done[i] = True
            continue
        for k in range(n_classes):
            p[k] = start[i, k] if inside[k] else 0.0
        _clean(p, inside)
        values[i] = _cross_entropy(offsets, classes, r, w, p)
        for _ in range(max_iter):
            lower = False
            for damping in _DAMPINGS:
                _derivatives(offsets, classes, r, w, p, damping, gradient, A, B, H)
                if not _solve(H, gradient, inside, factor, step):
                    continue
                done[i] = damping <= 1 and _promise(gradient, step) < tol
                if done[i]:
                    break
                _take_newton_step(p, step, inside, new)
                new_value = _cross_entropy(offsets, classes, r, w, new)
                lower = new_value < values[i]
                if lower:
                    break
            if done[i]:
                break
            if not lower:
                _take_multiplicative_step(p, A, B, inside, new)
                new_value = _cross_entropy(offsets, classes, r, w, new)
            p[:], values[i] = new, new_value
    return P, values, done


@njit(cache=True, nogil=True)
def _page_kernel(
    offsets: np.ndarray, classes: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where the page's iteration leads each sample from its start, and whether it rests there."""
    n, n_classes = start.shape
    P, done = np.full((n, n_classes), np.nan), np.zeros(n, np.bool_)
    wanted, got, new = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    known = np.empty(n_classes, np.bool_)
    for i in range(n):
        p, r = P[i], R[i]
        if not _mark_known(offsets, classes, r, known):
            done[i] = True
            continue
        for k in range(n_classes):
            p[k] = start[i, k] if known[k] else 0.0
        p /= p.sum()
        wanted[:] = 0.0
        for j in range(len(r)):
            _give(offsets, classes, j, w[j], r[j], wanted)
        for _ in range(max_iter):
            done[i] = _take_page_step(offsets, classes, r, w, p, wanted, known, got, new) <= tol
            if done[i]:
                break
    return P, done


@njit(cache=True, nogil=True)
def _take_page_step(
    offsets: np.ndarray,
    classes: np.ndarray,
    r: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    wanted: np.ndarray,
    known: np.ndarray,
    got: np.ndarray,
    new: np.ndarray,
) -> float:
    """Scale each posterior by N / D of the page, and say by how much one changed at most."""
    got[:] = 0.0
    for j in range(len(r)):
        if not np.isnan(r[j]):
            first, middle, last = offsets[2 * j], offsets[2 * j + 1], offsets[2 * j + 2]
            positive, negative = _side_sum(p, classes, first, middle), _side_sum(p, classes, middle, last)
            _give(offsets, classes, j, w[j], positive / (positive + negative), got)
    total, change = 0.0, 0.0
    for k in range(len(p)):
        new[k] = max(p[k] * wanted[k] / got[k] if got[k] > 0 else 0.0, _PAGE_FLOOR) if known[k] else 0.0
        total += new[k]
    for k in range(len(p)):
        value = new[k] / total
        change = max(change, abs(value - p[k]))
        p[k] = value
    return change


@njit(cache=True, nogil=True)
def _give(offsets: np.ndarray, classes: np.ndarray, j: int, weight: float, answer: float, sums: np.ndarray) -> None:
    """Add a learner's answer to the classes of its positive side, and what is left of 1 to those of the other."""
    if not np.isnan(answer):
        for m in range(offsets[2 * j], offsets[2 * j + 1]):
            sums[classes[m]] += weight * answer
        for m in range(offsets[2 * j + 1], offsets[2 * j + 2]):
            sums[classes[m]] += weight * (1 - answer)


@njit(cache=True, nogil=True)
def _promise(gradient: np.ndarray, step: np.ndarray) -> float:
    """By how much Newton's step would lower the divergence, were that quadratic."""
    promise = 0.0
    for k in range(len(step)):
        promise += gradient[k] * step[k] / 2
    return promise


@njit(cache=True, nogil=True)
def _take_newton_step(p: np.ndarray, step: np.ndarray, inside: np.ndarray, new: np.ndarray) -> None:
    for k in range(len(p)):
        new[k] = p[k] * np.exp(min(max(-step[k], -_LONGEST_STEP), _LONGEST_STEP))
    _clean(new, inside)


@njit(cache=True, nogil=True)
def _take_multiplicative_step(p: np.ndarray, A: np.ndarray, B: np.ndarray, inside: np.ndarray, new: np.ndarray) -> None:
    for k in range(len(p)):
        new[k] = p[k] * A[k] / B[k] if inside[k] else 0.0
    _clean(new, inside)


@njit(cache=True, nogil=True)
def _mark_known(offsets: np.ndarray, classes: np.ndarray, r: np.ndarray, known: np.ndarray) -> bool:
    """Mark the classes that a learner with an answer was trained on, and say whether there is any."""
    known[:] = False
    found = False
    for j in range(len(r)):
        if not np.isnan(r[j]):
            found = True
            for m in range(offsets[2 * j], offsets[2 * j + 2]):
                known[classes[m]] = True
    return found


@njit(cache=True, nogil=True)
def _clean(p: np.ndarray, inside: np.ndarray) -> None:
    """Scale to sum 1, and keep the reciprocals of what is inside finite."""
    total = 0.0
    for k in range(len(p)):
        total += p[k]
    for k in range(len(p)):
        p[k] = max(p[k] / total, _SMALLEST) if inside[k] else 0.0


@njit(cache=True, nogil=True)
def _side_sum(p: np.ndarray, classes: np.ndarray, start: int, stop: int) -> float:
    total = 0.0
    for m in range(start, stop):
        total += p[classes[m]]
    return total


@njit(cache=True, nogil=True)
def _cross_entropy(offsets: np.ndarray, classes: np.ndarray, r: np.ndarray, w: np.ndarray, p: np.ndarray) -> float:
    """The divergence less the part that does not depend on p."""
    logs = np.empty(len(p))
    for k in range(len(p)):
        logs[k] = np.log(p[k]) if p[k] > 0 else 0.0
    value = 0.0
    for j in range(len(r)):
        if not np.isnan(r[j]):
            first, middle, last = offsets[2 * j], offsets[2 * j + 1], offsets[2 * j + 2]
            positive, negative = _side_sum(p, classes, first, middle), _side_sum(p, classes, middle, last)
            # logarithms are the cost: those of single classes are there already
            log_positive = logs[classes[first]] if middle - first == 1 else np.log(positive)
            log_negative = logs[classes[middle]] if last - middle == 1 else np.log(negative)
            value -= w[j] * (r[j] * log_positive + (1 - r[j]) * log_negative - np.log(positive + negative))
    return value


@njit(cache=True, nogil=True)
def _derivatives(
    offsets: np.ndarray,
    classes: np.ndarray,
    r: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    damping: float,
    gradient: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    H: np.ndarray,
) -> None:
    """Gradient and lower triangle of the Hessian in log p, and the A and B of the multiplicative step.

    With u and v the shares of p within the two sides of learner j, and d = u - v, the Hessian is
    sum_j w_j (q_j (1 - q_j) dd' + (r_j - q_j) (uu' - vv')) with the gradient added to its diagonal. Damped, it lacks
    the terms in r_j - q_j and takes multiples of the gradient's absolute values: positive semidefinite.
    """
    A[:], B[:], H[:] = 0.0, 0.0, 0.0
    slope = np.empty(len(p))  # of the logit of q in the logarithm of each posterior
    for j in range(len(r)):
        if np.isnan(r[j]):
            continue
        first, middle, last = offsets[2 * j], offsets[2 * j + 1], offsets[2 * j + 2]
        positive, negative = _side_sum(p, classes, first, middle), _side_sum(p, classes, middle, last)
        per_positive, per_negative, per_total = 1 / positive, 1 / negative, 1 / (positive + negative)
        q = positive * per_total
        off = w[j] * q * negative * per_total
        miss = 0.0 if damping else w[j] * (r[j] - q)
        if last - first == 2:  # a pair of classes, whose slopes are 1 and -1: the commonest design, without its loops
            k, c = classes[first], classes[middle]
            A[k] += w[j] * r[j] * per_positive
            A[c] += w[j] * (1 - r[j]) * per_negative
            B[k] += w[j] * per_total
            B[c] += w[j] * per_total
            H[k, k] += off + miss
            H[c, c] += off - miss
            H[max(k, c), min(k, c)] -= off
            continue
        for m in range(first, middle):
            k = classes[m]
            A[k] += w[j] * r[j] * per_positive
            B[k] += w[j] * per_total
            slope[k] = p[k] * per_positive
            for other in range(first, m + 1):
                H[k, classes[other]] += (off + miss) * slope[k] * slope[classes[other]]
        for m in range(middle, last):
            k = classes[m]
            A[k] += w[j] * (1 - r[j]) * per_negative
            B[k] += w[j] * per_total
            slope[k] = -p[k] * per_negative
            for other in range(middle, m + 1):
                H[k, classes[other]] += (off - miss) * slope[k] * slope[classes[other]]
            for other in range(first, middle):
                c = classes[other]
                H[max(k, c), min(k, c)] += off * slope[k] * slope[c]
    for k in range(len(p)):
        gradient[k] = p[k] * (B[k] - A[k])
        H[k, k] += damping * abs(gradient[k]) if damping else gradient[k]


@njit(cache=True, nogil=True)
def _solve(Q: np.ndarray, b: np.ndarray, inside: np.ndarray, factor: np.ndarray, x: np.ndarray) -> bool:
    """Solve Q x = b for the variables inside, x = 0 outside, and say whether Q is positive semidefinite there.

    Cholesky on the lower triangle, with a small ridge. Inner loops run along rows, so that they become vector
    instructions; what they do to variables outside is never read.
    """
    n = len(b)
    column = np.empty(n)
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(Q[k, k]))
        x[k] = b[k]
        for c in range(k + 1):
            factor[k, c] = Q[k, c]
    for c in range(n):
        if not inside[c]:
            continue
        if factor[c, c] < -_NEGATIVE * largest:
            return False
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
    return True


@njit(cache=True, nogil=True)
def _nonnegative_quadratic(Q: np.ndarray, b: np.ndarray, allowed: np.ndarray, x: np.ndarray) -> None:
    """Minimise x'Qx / 2 - b'x over x >= 0, x = 0 where not allowed: block principal pivoting.

    Q needs its lower triangle only. All variables begin inside. Those of the wrong sign change sides together while
    that makes them fewer; the last one alone after three times that it did not, which cannot cycle.
    """
    n = len(b)
    factor, inside, wrong = np.empty((n, n)), allowed.copy(), np.empty(n, np.bool_)
    fewest, patience = n + 1, 3
    while True:
        _solve(Q, b, inside, factor, x)
        n_wrong, last = 0, -1
        for k in range(n):
            slack = -b[k]
            for c in range(n):
                slack += Q[max(k, c), min(k, c)] * x[c]
            wrong[k] = x[k] < 0 if inside[k] else allowed[k] and slack < -1e-12 * (1 + abs(b[k]))
            if wrong[k]:
                n_wrong, last = n_wrong + 1, k
        if n_wrong == 0:
            return
        if n_wrong < fewest:
            fewest, patience = n_wrong, 3
        else:
            patience -= 1
        for k in range(n):
            if wrong[k] and (patience > 0 or k == last):
                inside[k] = not inside[k]


@njit(cache=True, nogil=True)
def _simplex_kernel(M: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Least squares solutions on the simplex, up to a factor per sample; zeros without any answer."""
    n_classes, n_learners = M.shape
    X = np.zeros((len(R), n_classes))
    b, known = np.ones(n_classes), np.empty(n_classes, np.bool_)
    a, Q = np.empty(n_classes), np.empty((n_classes, n_classes))
    for i in range(len(R)):
        known[:], Q[:] = False, 1.0
        for j in range(n_learners):
            if np.isnan(R[i, j]):
                continue
            for k in range(n_classes):
                a[k] = 0.0
                if M[k, j]:
                    known[k] = True
                    a[k] = 1 - R[i, j] if M[k, j] > 0 else -R[i, j]
                    for c in range(k + 1):
                        Q[k, c] += a[k] * a[c]
        if known.any():
            _nonnegative_quadratic(Q, b, known, X[i])
    return X


@njit(cache=True, nogil=True)
def _least_squares_kernel(M: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Non-negative least squares solutions of P+_j = r_j over the learners with an answer."""
    n_classes, n_learners = M.shape
    X = np.zeros((len(R), n_classes))
    b, allowed = np.empty(n_classes), np.ones(n_classes, np.bool_)
    Q = np.empty((n_classes, n_classes))
    for i in range(len(R)):
        b[:], Q[:] = 0.0, 0.0
        for j in range(n_learners):
            if np.isnan(R[i, j]):
                continue
            for k in range(n_classes):
                if M[k, j] > 0:
                    b[k] += R[i, j]
                    for c in range(k + 1):
                        if M[c, j] > 0:
                            Q[k, c] += 1.0
        _nonnegative_quadratic(Q, b, allowed, X[i])
    return X
