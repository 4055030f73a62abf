"""Compare our decoding and posteriors of many classes with a SciPy loop over samples.

    python benchmarks/ecoc.py [--samples 100000] [--classes 20] [--scipy 200]

The coding is one-vs-one, with 190 learners for 20 classes. Learner outputs come from drawn posteriors with noise in
their logits. `ours`: CPU seconds of one thread for all samples. `SciPy`: extrapolated from some samples, one at a time.
The SciPy side computes the average loss of each class in NumPy. It minimizes the Kullback-Leibler divergence with
L-BFGS-B in log p with its gradient, from the uniform start alone and from both starts of the method, and the least
squares with SLSQP. For pairs of classes, all starts lead to one minimum, so ours uses one. The results of both sides
are compared to detect a loss of accuracy.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # set before NumPy is imported: both sides use one core

import numpy as np
from _record import record
from scipy.optimize import minimize, nnls

from fairfold.ecoc import kl_divergence, kl_posterior, make_coding, neg_loss, qp_posterior


def draw(n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a coding matrix, learner outputs and weights."""
    rng = np.random.default_rng(0)
    M = make_coding("onevsone", n_classes)
    P = rng.dirichlet(np.full(n_classes, 0.3), size=n) + 1e-6
    logits = np.log(P @ (M == 1)) - np.log(P @ (M == -1)) + rng.normal(size=(n, M.shape[1]))
    return M, 1 / (1 + np.exp(-logits)), rng.random(M.shape[1]) + 0.5


def scipy_loss(M: np.ndarray, s: np.ndarray) -> np.ndarray:
    seen = np.abs(M)
    return -(seen * (1 - M * (2 * s - 1)) ** 2 / 2).sum(axis=1) / seen.sum(axis=1)


def scipy_kl(M: np.ndarray, r: np.ndarray, w: np.ndarray, both: bool) -> np.ndarray:
    plus, minus = (M == 1).astype(float), (M == -1).astype(float)

    def value_and_gradient(theta: np.ndarray) -> tuple[float, np.ndarray]:
        p = np.exp(theta - theta.max())
        positive, negative = p @ plus, p @ minus
        total = positive + negative
        value = -w @ (r * np.log(positive / total) + (1 - r) * np.log(negative / total))
        gradient = plus @ (w * (1 / total - r / positive)) + minus @ (w * (1 / total - (1 - r) / negative))
        return value, p * gradient

    options = {"ftol": 1e-13, "gtol": 1e-8, "maxiter": 1000}
    starts = [np.zeros(len(M))]
    if both:
        solution = nnls(plus.T, r)[0]
        starts.append(np.log(0.999 * solution / solution.sum() + 0.001 / len(M)))
    runs = [minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options) for start in starts]
    theta = min(runs, key=lambda run: run.fun).x
    p = np.exp(theta - theta.max())
    return p / p.sum()


def scipy_qp(M: np.ndarray, r: np.ndarray) -> np.ndarray:
    A = ((M == 1) * (1 - r) - (M == -1) * r).T
    Q, n_classes = A.T @ A, len(M)
    total = {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}
    found = minimize(
        lambda p: p @ Q @ p,
        np.full(n_classes, 1 / n_classes),
        jac=lambda p: 2 * Q @ p,
        bounds=[(0, 1)] * n_classes,
        constraints=[total],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


def timed(function, *arguments) -> tuple[np.ndarray, float]:
    start = time.process_time()
    found = function(*arguments)
    return found, time.process_time() - start


def report(what: str, ours: float, theirs: float, n: int, n_some: int) -> None:
    whole = theirs * n / n_some
    print(f"{what}: ours {ours:.2f} s, SciPy {whole:,.0f} s (from {n_some} samples): {whole / ours:,.0f}x")
    record(f"{what}, SciPy", whole / ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--scipy", type=int, default=200)
    options = parser.parse_args()
    M, R, w = draw(options.samples, options.classes)
    n_some = min(options.scipy, options.samples)
    some = R[:n_some]
    kl_posterior(M, R[:2], w)  # compile before timing
    qp_posterior(M, R[:2])
    print(f"{options.samples:,} samples, {options.classes} classes, {M.shape[1]} learners, one thread")

    _, decoding = timed(neg_loss, M, R, "quadratic")
    _, their_decoding = timed(lambda: [scipy_loss(M, r) for r in some])
    report("decoding", decoding, their_decoding, options.samples, n_some)
    P, kl = timed(kl_posterior, M, R, w)
    for both in (False, True):
        their_P, their_kl = timed(lambda both=both: np.array([scipy_kl(M, r, w, both) for r in some]))
        starts = f"SciPy's from {'two starts' if both else 'one start'}"
        report(f"KL posteriors, {starts}", kl, their_kl, options.samples, n_some)
        report(f"with decoding, {starts}", decoding + kl, their_decoding + their_kl, options.samples, n_some)
    Q, qp = timed(qp_posterior, M, R)
    their_Q, their_qp = timed(lambda: np.array([scipy_qp(M, r) for r in some]))
    report("QP posteriors", qp, their_qp, options.samples, n_some)

    excess = kl_divergence(M, some, w, P[:n_some]) - kl_divergence(M, some, w, their_P)
    print(f"KL divergence less SciPy's: {excess.min():.1e} to {excess.max():.1e}; ", end="")
    print(f"QP posteriors differ by at most {np.abs(Q[:n_some] - their_Q).max():.1e}")


if __name__ == "__main__":
    main()
