"""Posteriors compared with numbers computed by hand, exact recovery and SciPy's general optimizers."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from scipy.special import rel_entr, softmax
from sklearn.exceptions import ConvergenceWarning

from fairfold.ecoc import posterior
from fairfold.ecoc.coding import DESIGNS, make_coding
from fairfold.ecoc.posterior import kl_divergence, kl_posterior, qp_posterior
from fairfold.errors import ModelError

PAIRS = make_coding("onevsone", 3)
ONE_VS_ALL = make_coding("onevsall", 3)
# The divergence of this design has several minima. From the answers of row 0, the uniform start leads to the
# smaller minimum; from those of row 1, the least squares start does.
SEVERAL_MINIMA = np.array(
    [
        [1, 0, 1, 0, 0, 0],
        [0, -1, 1, -1, 0, 1],
        [-1, 1, -1, 1, -1, 0],
        [-1, 0, -1, -1, 1, -1],
        [0, -1, -1, -1, -1, 1],
        [0, 1, -1, 0, 1, -1],
    ]
)
ANSWERS = np.array([[0.7, 0.1, 0.6, 0.9, 0.3, 0.7], [0.1, 0.1, 0.3, 0.9, 0.4, 0.3]])


def draw(design, n_classes, n, noise=1.0, seed=0):
    """Return a coding matrix, true posteriors, the learners' noisy answers and their weights."""
    rng = np.random.default_rng(seed)
    M = make_coding(design, n_classes, n_candidates=50)
    P = rng.dirichlet(np.full(n_classes, 0.5), size=n) * 0.99 + 0.01 / n_classes
    logits = np.log(P @ (M == 1)) - np.log(P @ (M == -1)) + noise * rng.normal(size=(n, M.shape[1]))
    return M, P, 1 / (1 + np.exp(-logits)), rng.random(M.shape[1]) + 0.5


def slow_divergence(M, r, w, p):
    """Compute the divergence by definition for one sample, one learner at a time."""
    total = 0.0
    for j in range(M.shape[1]):
        if not np.isnan(r[j]):
            positive, negative = p[M[:, j] == 1].sum(), p[M[:, j] == -1].sum()
            q = positive / (positive + negative)
            total += w[j] * (r[j] * np.log(r[j] / q) + (1 - r[j]) * np.log((1 - r[j]) / (1 - q)))
    return total


def test_divergence_is_that_of_the_definition():
    M, P, R, w = draw("sparserandom", 5, 10)
    R[0, 0] = R[3, 2] = np.nan
    expected = [slow_divergence(M, *row) for row in zip(R, [w] * 10, P, strict=True)]
    np.testing.assert_allclose(kl_divergence(M, R, w, P), expected, rtol=1e-12)


def test_divergence_by_hand():
    # p = (1/2, 1/4, 1/4): q = 2/3, 2/3, 1/2; r log(r / q) + ... with r = 1, 0, 1/2
    expected = 2 * np.log(1.5) + 3 * np.log(3)
    np.testing.assert_allclose(
        kl_divergence(PAIRS, [[1, 0, 0.5]], [2, 3, 5], [[0.5, 0.25, 0.25]]), [expected], rtol=1e-12
    )


@pytest.mark.parametrize("solve", [lambda M, R: kl_posterior(M, R, np.ones(M.shape[1])), qp_posterior])
@pytest.mark.parametrize("design", DESIGNS)
def test_consistent_answers_give_their_posteriors_back(design, solve):
    M, P, R, _ = draw(design, 5, 40, noise=0)
    # KL: a divergence below 1e-9 bounds each answer's error by sqrt(1e-9 / 2). QP: rounding and the ridge.
    np.testing.assert_allclose(solve(M, R), P, atol=1e-4 if solve is not qp_posterior else 1e-6)


@pytest.mark.parametrize("solve", [lambda M, R: kl_posterior(M, R, [4.0]), qp_posterior])
def test_one_learner_of_two_classes_is_the_posterior(solve):
    found = solve([[1], [-1]], [[0.8], [0.0], [0.25], [np.nan]])
    np.testing.assert_allclose(found[:3], [[0.8, 0.2], [0, 1], [0.25, 0.75]], atol=1e-4)
    assert np.isnan(found[3]).all()


def test_least_squares_of_one_against_all_is_the_projection_on_the_simplex():
    found = qp_posterior(ONE_VS_ALL, [[0.9, 0.6, 0.0], [0.2, 0.2, 0.2], [1, 0, 0]])
    np.testing.assert_allclose(found, [[0.65, 0.35, 0], [1 / 3] * 3, [1, 0, 0]], atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("design", DESIGNS)
def test_least_squares_equal_a_general_solver_s(design, missing):
    M, _, R, _ = draw(design, 5, 25, noise=1.5, seed=3)
    R[np.random.default_rng(0).random(R.shape) < missing] = np.nan
    P = qp_posterior(M, R)
    for r, p in zip(R, P, strict=True):
        A = ((M == 1) * (1 - r) - (M == -1) * r)[:, ~np.isnan(r)].T
        known = A.any(axis=0)
        found = minimize(
            lambda p, A=A: np.sum((A @ p) ** 2),
            known / known.sum(),
            jac=lambda p, A=A: 2 * A.T @ (A @ p),
            bounds=[(0, float(k)) for k in known],
            constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        assert np.sum((A @ p) ** 2) <= found.fun + 1e-9
        if np.linalg.matrix_rank(np.vstack([A, np.ones(5)])[:, known]) == known.sum():  # unique minimizer
            np.testing.assert_allclose(p, found.x, atol=1e-6)


def test_least_squares_of_many_classes_are_optimal():
    M = make_coding("denserandom", 12, n_candidates=20)
    R = np.random.default_rng(0).random((300, M.shape[1]))
    for r, p in zip(R, qp_posterior(M, R), strict=True):
        A = ((M == 1) * (1 - r) - (M == -1) * r).T
        slack = A.T @ (A @ p) - p @ A.T @ A @ p  # 0 for classes with mass, nonnegative for others
        assert slack.min() > -1e-7 and abs(slack[p > 0]).max() < 1e-7


def general_minimum(M, r, w, starts):
    known = ~np.isnan(r)
    positive, negative, r, w = (M[:, known] == 1).T, (M[:, known] == -1).T, r[known], w[known]

    def divergence(theta):
        p = softmax(theta)
        q = positive @ p / (positive @ p + negative @ p)
        return w @ (rel_entr(r, q) + rel_entr(1 - r, 1 - q))

    return min(minimize(divergence, start, method="BFGS", options={"gtol": 1e-8}).fun for start in starts)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("design", DESIGNS)
def test_divergence_is_within_a_millionth_of_a_general_optimizer_s(design, missing):
    M, _, R, w = draw(design, 4, 8, noise=1.5, seed=5)
    R[np.random.default_rng(1).random(R.shape) < missing] = np.nan
    R = R[~np.isnan(R).all(axis=1)]
    found = kl_divergence(M, R, w, kl_posterior(M, R, w))
    starts = np.random.default_rng(2).normal(size=(3, 4))
    starts[0] = 0
    assert all(mine <= general_minimum(M, r, w, starts) + 1e-6 for r, mine in zip(R, found, strict=True))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("design", DESIGNS)
def test_no_iteration_raises_the_divergence(design):
    M, _, R, w = draw(design, 6, 60, noise=3, seed=7)
    for start in (0, 1):
        values = [
            kl_divergence(M, R, w, kl_posterior(M, R, w, num_kl_initializations=start, max_iter=m))
            for m in range(1, 30)
        ]
        assert (np.diff(values, axis=0) <= 1e-12 * M.shape[1]).all()
        assert (values[0] - values[-1]).max() > 1e-3


@pytest.mark.parametrize("M", [make_coding("onevsone", 6), SEVERAL_MINIMA], ids=["pairs", "mixed"])
def test_gradient_and_hessian_are_those_of_finite_differences(M):
    rng = np.random.default_rng(4)
    r, w, theta = rng.random(M.shape[1]), rng.random(M.shape[1]) + 0.5, rng.normal(size=6)
    learners = (*posterior._sides(M), w)

    def derivatives(theta, damping=0.0):
        gradient, _, _, H = posterior._derivatives(learners, r, np.exp(theta), damping)
        return gradient, np.tril(H) + np.tril(H, -1).T

    def differences(function, h=1e-5):  # errors of h^2 and of rounding / h, below 1e-8
        return np.array([(function(theta + h * e) - function(theta - h * e)) / (2 * h) for e in np.eye(6)])

    gradient, hessian = derivatives(theta)
    value = differences(lambda t: posterior._cross_entropy(learners, r, np.exp(t)))
    np.testing.assert_allclose(gradient, value, atol=1e-8)
    np.testing.assert_allclose(hessian, differences(lambda t: derivatives(t)[0]), atol=1e-8)
    assert np.linalg.eigvalsh(derivatives(theta, 1.0)[1]).min() > -1e-12


def multiplicative_step(M, r, w, p):
    """Compute the factors A / B of the module docstring, one learner at a time."""
    A, B = np.zeros(len(p)), np.zeros(len(p))
    for j in range(M.shape[1]):
        positive, negative = p[M[:, j] == 1].sum(), p[M[:, j] == -1].sum()
        A += w[j] * (r[j] * (M[:, j] == 1) / positive + (1 - r[j]) * (M[:, j] == -1) / negative)
        B += w[j] * (M[:, j] != 0) / (positive + negative)
    return p * A / B / np.sum(p * A / B)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("design", ["onevsone", "denserandom", "sparserandom"])
def test_without_newton_each_iteration_is_the_multiplicative_step(monkeypatch, design):
    M, _, R, w = draw(design, 4, 10)
    uniform = np.full((10, 4), 0.25)
    monkeypatch.setattr(posterior, "_starts", lambda *_: [uniform])
    monkeypatch.setattr(posterior, "_kl_kernel", posterior._kl_kernel.py_func)
    monkeypatch.setattr(posterior, "_lowered", posterior._lowered.py_func)
    monkeypatch.setattr(posterior, "_solve", lambda *_: (False, None))
    expected = [multiplicative_step(M, r, w, multiplicative_step(M, r, w, p)) for r, p in zip(R, uniform, strict=True)]
    np.testing.assert_allclose(kl_posterior(M, R, w, max_iter=2), expected, rtol=1e-12)
    assert (kl_divergence(M, R, w, expected) < kl_divergence(M, R, w, uniform)).all()


def test_the_page_s_iteration_by_hand():
    # from 1/3: N = (0.6 + 0.5 + 0.8, 0.4 + 0.5 + 0.8, 0.4 + 0.5 + 0.2), all D equal
    uniform = np.full((1, 3), 1 / 3)
    found = posterior._iterate_page(ONE_VS_ALL, np.array([[0.6, 0.5, 0.2]]), np.ones(3), uniform, 1, 1e-9)[0]
    np.testing.assert_allclose(found, [[1.9 / 4.7, 1.7 / 4.7, 1.1 / 4.7]], rtol=1e-14)
    # learner 0 has no answer, learner 1 weighs 2: N = (0.5 * 2 + 0.8, 0.5 * 2 + 0.8, 0.5 * 2 + 0.2), D = 2, 4/3, 5/3
    w = np.array([1.0, 2.0, 1.0])
    found = posterior._iterate_page(ONE_VS_ALL, np.array([[np.nan, 0.5, 0.2]]), w, uniform, 1, 1e-9)[0]
    factors = np.array([1.8 / 2, 1.8 / (4 / 3), 1.2 / (5 / 3)])
    np.testing.assert_allclose(found, [factors / factors.sum()], rtol=1e-14)


def page_iteration(M, r, w, p, max_iter, tol):
    """Run the documented iteration for one sample, in matrix form."""
    has_answer = ~np.isnan(r)
    M, r, w = M[:, has_answer], r[has_answer], w[has_answer]
    known = (M != 0).any(axis=1)
    p = np.where(known, p, 0.0) / p[known].sum()
    wanted = (M == 1) @ (w * r) + (M == -1) @ (w * (1 - r))
    for _ in range(max_iter):
        q = p @ (M == 1) / (p @ (M != 0))
        got = (M == 1) @ (w * q) + (M == -1) @ (w * (1 - q))
        new = np.divide(p * wanted, got, out=np.zeros(len(p)), where=got > 0)
        new = np.where(known, np.maximum(new, 100 * np.finfo(float).eps), 0.0)
        new /= new.sum()
        change, p = np.abs(new - p).max(), new
        if change <= tol:
            return p, True
    return p, False


@pytest.mark.parametrize("design", ["onevsone", "onevsall", "sparserandom", "ordinal"])
@pytest.mark.parametrize("max_iter", [1, 30, 1000])
def test_the_page_s_iteration_equals_that_of_matrices(design, max_iter):
    M, _, R, w = draw(design, 5, 40, noise=2)
    rng = np.random.default_rng(1)
    R[rng.random(R.shape) < 0.2] = np.nan
    R[:3] = rng.integers(0, 2, (3, R.shape[1]))  # certain of one side
    R = R[~np.isnan(R).all(axis=1)]
    start = rng.dirichlet(np.ones(5), size=len(R))
    expected = [page_iteration(M, r, w, p, max_iter, 1e-7) for r, p in zip(R, start, strict=True)]
    found, _, done = posterior._iterate_page(M, R, w, start, max_iter, 1e-7)
    np.testing.assert_allclose(found, [p for p, _ in expected], rtol=1e-9)
    np.testing.assert_array_equal(done, [rests for _, rests in expected])


def test_the_page_s_iteration_rests_at_the_minimum_for_pairs_only():
    M, _, R, w = draw("onevsone", 4, 20)
    pairs = kl_posterior(M, R, w, update="page", tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(pairs, kl_posterior(M, R, w, tol=1e-14), atol=1e-6)
    M, _, R, w = draw("denserandom", 5, 50)
    page, ours = (
        kl_divergence(M, R, w, kl_posterior(M, R, w, update=u, max_iter=10_000)) for u in posterior.UPDATES[::-1]
    )
    assert (ours <= page + 1e-6).all() and (page - ours).max() > 1e-2


def test_non_negative_least_squares_equal_scipy_s():
    for design, missing in [("denserandom", 0.0), ("sparserandom", 0.1)]:
        M, _, R, _ = draw(design, 5, 40, noise=3)
        R[np.random.default_rng(0).random(R.shape) < missing] = np.nan
        found = posterior._least_squares(M, R, False)
        for r, x in zip(R, found, strict=True):
            A = (M == 1)[:, ~np.isnan(r)].T.astype(float)
            np.testing.assert_allclose(x, nnls(A, r[~np.isnan(r)])[0], atol=1e-7)
        assert (found == 0).any()


def test_both_starts_are_run_and_the_smaller_divergence_is_kept():
    M, R, w = SEVERAL_MINIMA, ANSWERS, np.ones(6)
    uniform, least_squares = posterior._starts(M, R, 0, 0, False)
    np.testing.assert_array_equal(uniform, np.full((2, 6), 1 / 6))
    solution = posterior._least_squares(M, R, False)
    solution /= solution.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(least_squares, 0.999 * solution + 0.001 / 6, rtol=1e-12)
    learners = (*posterior._sides(M), w / w.max())
    answers = [posterior._kl_kernel(learners, R, start, 1000, 1e-9)[0] for start in (uniform, least_squares)]
    first, second = (kl_divergence(M, R, w, P) for P in answers)
    assert first[0] < second[0] - 0.01 and second[1] < first[1] - 0.01
    np.testing.assert_array_equal(kl_posterior(M, R, w), [answers[0][0], answers[1][1]])


@pytest.mark.parametrize("design", ["onevsone", "onevsall", "denserandom", "ordinal"])
def test_convex_divergences_have_one_minimum_from_all_starts(design):
    M, _, R, w = draw(design, 6, 100, noise=3, seed=2)
    assert posterior._has_one_minimum(M) and not posterior._has_one_minimum(SEVERAL_MINIMA)
    np.testing.assert_allclose(
        posterior._starts(M, R, 0, 0, True), [0.999 * qp_posterior(M, R) + 0.001 / 6], rtol=1e-12
    )
    found = [kl_divergence(M, R, w, kl_posterior(M, R, w, num_kl_initializations=1, random_state=s)) for s in (0, 1)]
    found.append(kl_divergence(M, R, w, kl_posterior(M, R, w)))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=1e-7)


def test_random_starts_are_added_to_the_fixed_ones_and_never_hurt():
    M, R, w = SEVERAL_MINIMA, ANSWERS, np.ones(6)
    fixed, starts = posterior._starts(M, R, 0, 5, False), posterior._starts(M, R, 3, 5, False)
    assert len(fixed) == 2 and len(starts) == 5
    np.testing.assert_array_equal(starts[:2], fixed)
    assert np.abs(starts[3] - posterior._starts(M, R, 3, 6, False)[3]).max() > 0
    for start in starts[2:]:
        np.testing.assert_allclose(start.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_array_equal(start[0], start[1])
    found = [kl_divergence(M, R, w, kl_posterior(M, R, w, num_kl_initializations=m)) for m in (0, 1, 20)]
    assert (found[1] <= found[0]).all() and (found[2] <= found[1]).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("setosa", "versicolor", "virginica"),
    [(0.999, 0.00022837, 0.00076884), (0.999, 0.00028329, 0.00071382), (0.999, 0.00013558, 0.00086196)],
)
def test_the_page_s_setosas_are_an_iteration_that_stops_early(setosa, versicolor, virginica):
    """With learners certain of setosa, 668 iterations give the published digits; the minimum is at 1."""
    M, w = make_coding("onevsone", 3), np.full(3, 90.0)
    r = [[1.0, 1.0, versicolor / (versicolor + virginica)]]
    uniform = np.full((1, 3), 1 / 3)
    page = posterior._iterate_page(M, np.array(r), w, uniform, 668, 1e-9)[0][0]
    assert f"{page[0]:.3f}" == f"{setosa:.3f}"
    # The published starts are random, so a row may stop one step earlier or later, with an error of one part in 668.
    np.testing.assert_allclose(page[1:], [versicolor, virginica], rtol=1.5 / 668)
    assert kl_posterior(M, r, w)[0, 0] > 1 - 1e-6


def test_a_sample_does_not_depend_on_its_batch():
    M, _, R, w = draw("sparserandom", 5, 12)
    R[2, 1] = np.nan
    for solve in (lambda R: kl_posterior(M, R, w), lambda R: qp_posterior(M, R)):
        np.testing.assert_array_equal(solve(R)[2:5], np.vstack([solve(R[i : i + 1]) for i in range(2, 5)]))


@pytest.mark.parametrize("update", posterior.UPDATES)
def test_unknown_classes_get_zero_and_samples_without_answers_nan(update):
    R = [[np.nan, np.nan, 0.3], [np.nan] * 3, [0.5, 0.5, 0.5]]
    found = kl_posterior(PAIRS, R, np.ones(3), update=update, tol=1e-12)
    np.testing.assert_allclose(found, [[0, 0.3, 0.7], [np.nan] * 3, [1 / 3] * 3], atol=1e-6)
    found = kl_posterior(PAIRS, [[0.9, 0.8, 0.3]], [0, 0, 2.0], update=update, tol=1e-12)  # untrained learners
    np.testing.assert_allclose(found, [[0, 0.3, 0.7]], atol=1e-6)
    np.testing.assert_allclose(qp_posterior(PAIRS, R), [[0, 0.3, 0.7], [np.nan] * 3, [1 / 3] * 3], atol=1e-8)


@pytest.mark.parametrize("design", DESIGNS)
def test_certain_answers_are_finite_and_sum_to_one(design):
    M = make_coding(design, 5, n_candidates=50)
    R = np.random.default_rng(0).integers(2, size=(100, M.shape[1])).astype(float)
    for P in (kl_posterior(M, R, np.ones(M.shape[1])), qp_posterior(M, R)):
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
        assert (P >= 0).all()
    code = (M[2] + 1) / 2  # the positive sides of class 2
    assert kl_posterior(M, [np.where(M[2] == 0, 0.5, code)], np.ones(M.shape[1])).argmax() == 2


def test_weights_pull_towards_the_heavier_learner():
    r = [[0.9, 0.9, 0.9]]  # the answers contradict each other
    light, heavy = (kl_posterior(ONE_VS_ALL, r, [w, 1, 1])[0] for w in (1, 100))
    np.testing.assert_allclose(light, 1 / 3, atol=1e-6)
    assert heavy[0] > 0.8
    for scale in (1e-9, 1e9):  # the scale has no effect
        np.testing.assert_allclose(heavy, kl_posterior(ONE_VS_ALL, r, [100 * scale, scale, scale])[0], rtol=1e-9)


def test_too_few_iterations_warn():
    M, _, R, w = draw("onevsall", 5, 10)
    with pytest.warns(ConvergenceWarning, match="10 of 10 posteriors have not converged after 1 iterations"):
        kl_posterior(M, R, w, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="not converged after 2 iterations"):
        kl_posterior(M, R, w, max_iter=2, update="page")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((PAIRS, [[0.1, 0.2, 1.5]], np.ones(3)), {}, r"row 0, column 2: found 1\.5"),
        ((PAIRS, [[0.1, -0.2, 1]], np.ones(3)), {}, r"row 0, column 1: found -0\.2"),
        ((PAIRS, [[0.1, 0.2]], np.ones(3)), {}, r"probabilities: found shape \(1, 2\)"),
        ((PAIRS, [[0.1, 0.2, 0.3]], np.ones(2)), {}, r"weights: found shape \(2,\)\. Give 3"),
        ((PAIRS, [[0.1, 0.2, 0.3]], [1, -1, 1]), {}, r"weights: found -1\.0 to 1\.0"),
        ((PAIRS, [[0.1, 0.2, 0.3]], [0, 0, 0]), {}, r"weights: found 0\.0 to 0\.0"),
        ((PAIRS, [[0.1, 0.2, 0.3]], [1, np.nan, 1]), {}, "weights: found nan"),
        ((PAIRS, [[0.1, 0.2, 0.3]], np.ones(3)), {"update": "zzz"}, "bradley-terry, page"),
        ((PAIRS, [[0.1, 0.2, 0.3]], np.ones(3)), {"num_kl_initializations": -1}, "num_kl_initializations is -1"),
        (
            (PAIRS, [[0.1, 0.2, 0.3]], np.ones(3)),
            {"num_kl_initializations": 1.5},
            r"num_kl_initializations is 1\.5",
        ),
        ((PAIRS, [[0.1, 0.2, 0.3]], np.ones(3)), {"max_iter": 0}, "max_iter and tol: found 0"),
        ((PAIRS, [[0.1, 0.2, 0.3]], np.ones(3)), {"tol": 0}, "tol: found 1000 and 0"),
    ],
)
def test_bad_input_states_what_is_wrong(arguments, options, message):
    with pytest.raises(ModelError, match=message):
        kl_posterior(*arguments, **options)


def test_bad_input_of_the_others():
    with pytest.raises(ModelError, match=r"column 2: found 1\.5"):
        qp_posterior(PAIRS, [[0.1, 0.2, 1.5]])
    with pytest.raises(ModelError, match=r"posteriors: found shape \(1, 2\).*\(1, 3\)"):
        kl_divergence(PAIRS, [[0.1, 0.2, 0.5]], np.ones(3), [[0.5, 0.5]])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_page_s_smallest_posteriors():
    """With a step of 0 for setosa against both others, the floor and its scaling give 2.2197e-14 and 2.2194e-14."""
    M, w = make_coding("onevsone", 3), np.full(3, 90.0)
    for versicolor, printed in ((0.12448, 2.2197e-14), (0.98916, 2.2194e-14)):
        found = kl_posterior(M, [[0.0, 0.0, versicolor]], w, update="page")[0]
        np.testing.assert_allclose(found, [printed, versicolor, 1 - versicolor], rtol=1e-3)
    certain = kl_posterior(ONE_VS_ALL, [[1.0, 0.0, 0.0], [1e-300, 1e-200, 1.0]], w, update="page")
    np.testing.assert_allclose(certain.sum(axis=1), 1, rtol=1e-12)
