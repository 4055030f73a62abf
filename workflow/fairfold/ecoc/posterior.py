"""Class posteriors from the probabilities of binary learners.

Learner j returns r_j, the probability of its positive side. The posteriors p imply the probability
q_j = P+_j / (P+_j + P-_j). Here, P+_j and P-_j are the sums of p over the classes on the two sides of the learner.

Differences from the sources
----------------------------
MATLAB's documentation (after Zadrozny) lowers the Kullback-Leibler divergence between r and q by the factors N_k / D_k.
N_k is sum_j w_j (r_j [m_kj = 1] + (1 - r_j) [m_kj = -1]), and D_k is the same sum for q. For pairs of classes, this is
the iteration of Hastie and Tibshirani, which never increases the divergence. For other designs, it may increase the
divergence, and its fixed point is generally not a minimum.

This module uses the factors A_k / B_k of Huang, Weng and Lin instead.
A_k is sum_j w_j (r_j [m_kj = 1] / P+_j + (1 - r_j) [m_kj = -1] / P-_j).
B_k is sum_j w_j [m_kj != 0] / (P+_j + P-_j). They are the same for pairs and never increase the divergence for any
design. ``update="page"`` uses the factors of the documentation. The multiplicative iteration is slow near confident
probabilities. :func:`kl_posterior` therefore tries a Newton step first. It uses the multiplicative step if the Newton
step does not lower the divergence.

For its second start, the documentation solves ``M_01 p = r``, where M_01 is the coding matrix of K rows with -1
replaced by 0. The shapes imply the transpose of M_01. The system states P+_j = r_j, which holds only for designs
without zeros.

The iteration of the documentation converges slowly. Consider three classes in pairs, a uniform start and a sample whose
class has full confidence from all its learners. After t iterations, the share of each other class is 1 / (1.5 t + 1.5).
MATLAB prints 0.0009972 for setosas, which corresponds to about 668 iterations. Its stopping rule is not documented.
``update="page"`` gives 0.00067 after the default ``max_iter`` of 1,000. The minimum is 0.

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
from numpy.typing import ArrayLike
from scipy.special import rel_entr
from sklearn.exceptions import ConvergenceWarning

from fairfold.core.arrays import quotient
from fairfold.core.compiled import njit
from fairfold.core.seeds import seed_sequence
from fairfold.core.validation import check_whole_number
from fairfold.ecoc.decoding import check_answers
from fairfold.errors import ModelError, check_name

UPDATES = ("bradley-terry", "page")
_START_FLOOR = 1e-3  # Share of the uniform start in each start. Factors cannot change an exact zero.
_PAGE_FLOOR = 100 * np.finfo(np.float64).eps  # MATLAB's documentation prints 2.22e-14 for its smallest posteriors.
_SMALLEST = 1e-200  # Lower bound of posteriors during the iteration. Its reciprocal is finite.
_RIDGE = 1e-10  # Relative ridge, which makes singular systems solvable.
_NEGATIVE = 1e-10  # Relative size of a negative pivot that is not a rounding error.
_DAMPINGS = (0.0, 1.0, 4.0, 16.0, 64.0, 256.0)  # 0 is Newton's step. A damping of d limits steps to about 1 / d.
_LONGEST_STEP = 4.0  # Longest Newton step, in the logarithm of a posterior.


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
    """Compute posteriors that minimize the weighted Kullback-Leibler divergence from the learners' probabilities.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix with entries -1, 0 and 1.
    r : array-like of shape (n_samples, n_learners)
        Probability of each learner's positive side. NaN marks a missing probability.
    weights : array-like of shape (n_learners,)
        Total weight of the training samples of each learner. Learners of weight 0 are ignored.
    num_kl_initializations : int, default=0
        Number of random starts, the same for all samples. They are added to the standard starts, see Notes. The result
        with the smallest divergence is kept.
    random_state : int, default=0
        Seed of the random starts.
    max_iter : int, default=1000
        Maximum number of iterations from each start.
    tol : float, default=1e-9
        Stopping tolerance. With ``"bradley-terry"``, iteration stops if the predicted decrease of the divergence is
        below `tol`, with the largest weight scaled to 1. With ``"page"``, it stops if no posterior changes by more than
        `tol`.
    update : {"bradley-terry", "page"}, default="bradley-terry"
        Iteration, see the module docstring.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Posteriors. Rows sum to 1. A class has a posterior of 0 if no learner with a probability uses it. Rows of
        samples without any probability are NaN.

    Raises
    ------
    ModelError
        If shapes do not fit, if probabilities are outside [0, 1], if weights are negative, infinite or all 0, if the
        update is unknown, or if the number of starts or iterations is not valid.

    Warns
    -----
    ConvergenceWarning
        If samples do not converge within `max_iter` iterations from any start.

    See Also
    --------
    qp_posterior : Least squares posteriors.
    kl_divergence : Divergence of given posteriors.

    Notes
    -----
    The standard starts are the uniform posteriors and the non-negative least squares solution. For designs without
    zeros and for pairs of classes, the divergence is convex and all starts lead to its minimum. The only standard start
    is then the result of :func:`qp_posterior`. ``update="page"`` always uses both standard starts, because it may not
    reach the minimum.
    """
    M, R = _check_probabilities(coding, r)
    w = _check_weights(weights, M.shape[1])
    R = np.where(w > 0, R, np.nan)
    check_name("update", update, UPDATES, ModelError)
    if max_iter < 1 or not tol > 0:
        raise ModelError(f"max_iter and tol: found {max_iter!r} and {tol!r}. Both must be positive.")
    starts = _starts(M, R, num_kl_initializations, random_state, update == "bradley-terry" and _has_one_minimum(M))
    answers, first = np.tile(R, (len(starts), 1)), np.concatenate(starts)
    if update == "bradley-terry":
        P, values, done = _kl_kernel((*_sides(M), w / w.max()), answers, first, max_iter, tol)
    else:
        P, values, done = _iterate_page(M, answers, w, first, max_iter, tol)
    P, values, done = (each.reshape(len(starts), len(R), *each.shape[1:]) for each in (P, values, done))
    best, converged = P[values.argmin(axis=0), np.arange(len(R))], done.any(axis=0)
    if not converged.all():
        found = f"{np.sum(~converged)} of {len(R)} posteriors have not converged after {max_iter} iterations"
        warnings.warn(f"{found}. Increase max_iter.", ConvergenceWarning, stacklevel=2)
    return best


def kl_divergence(coding: ArrayLike, r: ArrayLike, weights: ArrayLike, posteriors: ArrayLike) -> np.ndarray:
    """Compute the weighted Kullback-Leibler divergence of posteriors from the learners' probabilities.

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix with entries -1, 0 and 1.
    r : array-like of shape (n_samples, n_learners)
        Probability of each learner's positive side. NaN marks a missing probability.
    weights : array-like of shape (n_learners,)
        Weight of each learner.
    posteriors : array-like of shape (n_samples, n_classes)
        Posteriors of the classes.

    Returns
    -------
    ndarray of shape (n_samples,)
        Divergence in nats. Learners without a probability contribute 0.

    Raises
    ------
    ModelError
        If shapes do not fit, if probabilities are outside [0, 1], or if weights are negative, infinite or all 0.

    See Also
    --------
    kl_posterior : Posteriors that minimize the divergence.

    Notes
    -----
    The divergence is sum_j w_j (r_j log(r_j / q_j) + (1 - r_j) log((1 - r_j) / (1 - q_j))), where q_j is the
    probability that the posteriors imply for learner j.

    Examples
    --------
    The first posteriors agree with the probabilities of three one-vs-one learners.

    >>> from fairfold.ecoc import kl_divergence, make_coding
    >>> r = [[0.75, 0.75, 0.5], [0.75, 0.75, 0.5]]
    >>> kl_divergence(make_coding("onevsone", 3), r, [1, 1, 1], [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]]).round(3)
    array([0.   , 0.824])
    """
    M, R = _check_probabilities(coding, r)
    P = np.asarray(posteriors, dtype=float)
    if P.shape != (len(R), len(M)):
        raise ModelError(f"posteriors: found shape {P.shape}. Give shape {(len(R), len(M))}, as in r and coding.")
    positive, negative = P @ (M == 1).astype(float), P @ (M == -1).astype(float)
    total = positive + negative
    with np.errstate(invalid="ignore"):  # 0 / 0 occurs if neither side has any mass. Such learners have no probability.
        terms = rel_entr(R, positive / total) + rel_entr(1 - R, negative / total)
    return np.where(np.isnan(R), 0.0, terms) @ _check_weights(weights, M.shape[1])


def qp_posterior(coding: ArrayLike, r: ArrayLike) -> np.ndarray:
    """Compute least squares posteriors from the learners' probabilities.

    The posteriors minimize sum_j ((1 - r_j) P+_j - r_j P-_j)^2 on the simplex. For pairs of classes, this is the second
    approach of Wu, Lin and Weng (section 4.2).

    Parameters
    ----------
    coding : array-like of shape (n_classes, n_learners)
        Coding matrix with entries -1, 0 and 1.
    r : array-like of shape (n_samples, n_learners)
        Probability of each learner's positive side. NaN marks a missing probability.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Posteriors. Rows sum to 1. A class has a posterior of 0 if no learner with a probability uses it. Rows of
        samples without any probability are NaN.

    Raises
    ------
    ModelError
        If shapes do not fit, or if probabilities are outside [0, 1].

    See Also
    --------
    kl_posterior : Posteriors that minimize the Kullback-Leibler divergence.

    Notes
    -----
    Let Q = A'A for the linear system of a sample. The optimality conditions on the simplex are Q p = l 1 + mu with mu
    >= 0 and p'mu = 0. With x = p / l, they are the conditions of minimizing x'Qx / 2 - 1'x over x >= 0. Adding 11' to Q
    adds 1 to the objective on the simplex and makes l positive. The same solver for non-negative least squares can
    therefore be used.
    """
    M, R = _check_probabilities(coding, r)
    return _normalized(_least_squares(M, R, True), np.nan)


def _starts(M: np.ndarray, R: np.ndarray, n_random: int, random_state: int, one_minimum: bool) -> list[np.ndarray]:
    """Create starting posteriors (n_samples, n_classes) without zeros."""
    shape = (len(R), len(M))
    uniform = np.full(shape, 1 / len(M))
    check_whole_number("num_kl_initializations", n_random, 0)
    solution = _normalized(_least_squares(M, R, one_minimum), 1 / len(M))
    found = [solution] if one_minimum else [uniform, solution]
    rng = np.random.default_rng(seed_sequence(random_state, "kl_posterior"))
    found += [np.broadcast_to(start / start.sum(), shape) for start in rng.random((n_random, len(M)))]
    return [(1 - _START_FLOOR) * start + _START_FLOOR * uniform for start in found]


def _has_one_minimum(M: np.ndarray) -> bool:
    """Return whether the divergence is convex: in p for designs without zeros, in log p for pairs of classes."""
    return bool(M.all() or (np.abs(M).sum(axis=0) == 2).all())


def _iterate_page(
    M: np.ndarray, R: np.ndarray, w: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the same as ``_iterate`` by the iteration of the documentation."""
    plus, minus, has_answer = (M == 1).astype(float), (M == -1).astype(float), ~np.isnan(R)
    weights, r = np.where(has_answer, w, 0.0), np.where(has_answer, R, 0.0)
    known = has_answer @ (M != 0).T
    wanted = (weights * r) @ plus.T + (weights * (1 - r)) @ minus.T
    P, moving = _normalized(np.where(known, start, 0.0), np.nan), np.flatnonzero(has_answer.any(axis=1))
    for _ in range(max_iter):
        p, v = P[moving], weights[moving]
        positive, negative = p @ plus, p @ minus
        q = np.divide(positive, positive + negative, out=np.zeros(v.shape), where=v > 0)
        got = (v * q) @ plus.T + (v * (1 - q)) @ minus.T
        new = quotient(p * wanted[moving], got, 0.0)
        P[moving] = new = _normalized(np.where(known[moving], np.maximum(new, _PAGE_FLOOR), 0.0), np.nan)
        moving = moving[np.abs(new - p).max(axis=1) > tol]
        if not len(moving):
            break
    return P, kl_divergence(M, R, w, P), ~np.isin(np.arange(len(P)), moving)


def _normalized(rows: np.ndarray, otherwise: float) -> np.ndarray:
    """Divide rows by their sums and fill rows of zeros with a number."""
    return quotient(rows, rows.sum(axis=1, keepdims=True), otherwise)


def _check_probabilities(coding: ArrayLike, r: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    M, R = check_answers(coding, r, "probabilities")
    if len(wrong := np.argwhere((R < 0) | (R > 1))):
        row, column = wrong[0]
        raise ModelError(f"probabilities, row {row}, column {column}: found {R[row, column]}. Use 0 to 1, or NaN.")
    return M, np.ascontiguousarray(R)


def _check_weights(weights: ArrayLike, n_learners: int) -> np.ndarray:
    w = np.asarray(weights, dtype=float)
    if w.shape != (n_learners,):
        raise ModelError(f"weights: found shape {w.shape}. Give {n_learners} weights, one per learner.")
    if not (np.isfinite(w).all() and w.min() >= 0 and w.max() > 0):
        raise ModelError(f"weights: found {w.min()} to {w.max()}. Give finite weights of at least 0, not all 0.")
    return w


def _sides(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of each learner, positive before negative.

    The positive side of learner j is ``classes[offsets[2 * j] : offsets[2 * j + 1]]``. The negative side follows it.
    """
    sides = [np.flatnonzero(column == sign) for column in M.T for sign in (1, -1)]
    offsets = np.concatenate(([0], np.cumsum([len(side) for side in sides])))
    return offsets.astype(np.int64), np.concatenate(sides).astype(np.int64)


@njit(cache=True, nogil=True)
def _kl_kernel(learners, R, start, max_iter, tol):  # noqa: ANN001, ANN202
    """Minimize the divergence for each sample from its start.

    ``learners`` contains the arrays of :func:`_sides` and the weights. The results are the posteriors, the divergence
    up to a constant, and whether each sample converged.
    """
    P, values, done = np.full(start.shape, np.nan), np.full(len(start), np.inf), np.zeros(len(start), np.bool_)
    for i in range(len(start)):
        r = R[i]
        inside = _known(learners, r, start.shape[1])
        if not inside.any():
            done[i] = True
            continue
        p = _cleaned(start[i] * inside, inside)
        value = _cross_entropy(learners, r, p)
        for _ in range(max_iter):
            p, value, done[i] = _lowered(learners, r, p, value, inside, tol)
            if done[i]:
                break
        P[i], values[i] = p, value
    return P, values, done


@njit(cache=True, nogil=True)
def _lowered(learners, r, p, value, inside, tol):  # noqa: ANN001, ANN202
    """Compute the next posteriors and divergence, or return the current ones with True if they converged.

    The first step that lowers the divergence is used. Candidates are Newton's step in log p, if the Hessian is positive
    semidefinite, then steps with increasingly damped Hessians, which are always positive semidefinite. The last
    candidate is the multiplicative step p A / B, which never increases the divergence.
    """
    for damping in _DAMPINGS:
        gradient, A, B, H = _derivatives(learners, r, p, damping)
        is_solved, step = _solve(H, gradient, inside)
        if not is_solved:
            continue
        # The sum is the decrease that Newton's step predicts from a quadratic approximation.
        if damping <= 1 and (gradient * step / 2).sum() < tol:
            return p, value, True
        new = _cleaned(p * np.exp(np.minimum(np.maximum(-step, -_LONGEST_STEP), _LONGEST_STEP)), inside)
        new_value = _cross_entropy(learners, r, new)
        if new_value < value:
            return new, new_value, False
    new = np.zeros(len(p))
    for k in range(len(p)):
        if inside[k]:
            new[k] = p[k] * A[k] / B[k]
    new = _cleaned(new, inside)
    return new, _cross_entropy(learners, r, new), False


@njit(cache=True, nogil=True)
def _known(learners, r, n_classes):  # noqa: ANN001, ANN202
    """Return whether each class is used by a learner with a probability."""
    offsets, classes, _ = learners
    known = np.zeros(n_classes, np.bool_)
    for j in range(len(r)):
        if not np.isnan(r[j]):
            known[classes[offsets[2 * j] : offsets[2 * j + 2]]] = True
    return known


@njit(cache=True, nogil=True)
def _cleaned(p, inside):  # noqa: ANN001, ANN202
    """Scale posteriors to a sum of 1, with a lower bound that keeps reciprocals of allowed classes finite."""
    cleaned, total = np.zeros(len(p)), p.sum()
    for k in range(len(p)):
        if inside[k]:  # np.where compiles for seconds.
            cleaned[k] = max(p[k] / total, _SMALLEST)
    return cleaned


@njit(cache=True, nogil=True)
def _side_sums(learners, j, p):  # noqa: ANN001, ANN202
    """Sum posteriors of the classes on the positive and on the negative side of a learner."""
    offsets, classes, _ = learners
    positive = negative = 0.0
    for m in range(offsets[2 * j], offsets[2 * j + 1]):
        positive += p[classes[m]]
    for m in range(offsets[2 * j + 1], offsets[2 * j + 2]):
        negative += p[classes[m]]
    return positive, negative


@njit(cache=True, nogil=True)
def _cross_entropy(learners, r, p):  # noqa: ANN001, ANN202
    """Compute the divergence without its constant part."""
    value = 0.0
    for j in range(len(r)):
        if not np.isnan(r[j]):
            positive, negative = _side_sums(learners, j, p)
            logs = r[j] * np.log(positive) + (1 - r[j]) * np.log(negative) - np.log(positive + negative)
            value -= learners[2][j] * logs
    return value


@njit(cache=True, nogil=True)
def _derivatives(learners, r, p, damping):  # noqa: ANN001, ANN202
    """Compute the gradient in log p, A and B of the multiplicative step, and the lower triangle of the Hessian.

    Let u and v be the shares of p within the two sides of learner j, and d = u - v. The Hessian is
    sum_j w_j (q_j (1 - q_j) dd' + (r_j - q_j) (uu' - vv')), with the gradient added to its diagonal. The damped Hessian
    omits the terms in r_j - q_j and adds multiples of the absolute gradient, so it is positive semidefinite.
    """
    offsets, classes, w = learners
    A, B, H = np.zeros(len(p)), np.zeros(len(p)), np.zeros((len(p), len(p)))
    slope = np.empty(len(p))  # Derivative of the logit of q with respect to the logarithm of each posterior.
    for j in range(len(r)):
        if np.isnan(r[j]):
            continue
        first, middle, last = offsets[2 * j], offsets[2 * j + 1], offsets[2 * j + 2]
        positive, negative = _side_sums(learners, j, p)
        per_positive, per_negative, per_total = 1 / positive, 1 / negative, 1 / (positive + negative)
        q = positive * per_total
        off = w[j] * q * negative * per_total
        miss = 0.0 if damping else w[j] * (r[j] - q)
        is_pair = last - first == 2  # Slopes of pairs are exactly 1 and -1.
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
    """Solve Q x = b for the variables inside, with x = 0 outside, and return whether Q is positive semidefinite there.

    The solver uses a Cholesky decomposition of the lower triangle with a small ridge. Inner loops run along rows, which
    allows vector instructions. They also update variables outside, but these values are never read.
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
    """Minimize x'Qx / 2 - b'x over x >= 0, with x = 0 where not allowed, by block principal pivoting.

    All allowed variables start inside. Variables of the wrong sign change sides together while their number decreases.
    After three steps without a decrease, only the last of them changes sides, which prevents cycles.
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
    """Compute least squares solutions over the learners with a probability, zeros if there are none.

    The result solves :func:`qp_posterior` up to a factor per sample, or P+_j = r_j with non-negative p.
    """
    X, n_classes, a = np.zeros((len(R), len(M))), len(M), np.empty(len(M))
    for i in range(len(R)):
        one = 1.0 if on_simplex else 0.0
        Q, b = np.full((n_classes, n_classes), one), np.full(n_classes, one)
        allowed = np.full(n_classes, not on_simplex)
        for j in np.flatnonzero(~np.isnan(R[i])):
            r = R[i, j]
            of_positive, of_negative = (1 - r, -r) if on_simplex else (1.0, 0.0)
            for k in range(n_classes):
                a[k] = of_positive if M[k, j] > 0 else of_negative if M[k, j] < 0 else 0.0
                allowed[k] |= M[k, j] != 0
                if not on_simplex:
                    b[k] += r * a[k]
            for k in range(n_classes):
                if a[k] != 0:
                    for c in range(n_classes):
                        Q[k, c] += a[k] * a[c]
        X[i] = _nonnegative_quadratic(Q, b, allowed)
    return X
