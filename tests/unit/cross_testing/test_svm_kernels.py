import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fairfold.cross_testing.svm_kernels import (
    TOLERANCE,
    component_scores,
    fill_decisions,
    kernel_sums,
    offset,
    optimize,
)


def problem(seed, n, n_features=4, effect=0.8):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2, 1.0, -1.0)
    X = rng.random((n, n_features)) + effect * (y > 0)[:, None] * rng.random(n_features)
    return X, y


def decide(K, y, train, test, C):
    values = np.empty(len(y))
    fill_decisions(K, y, kernel_sums(K, y, train), train, test, C, values)
    return values[: len(test)]


@pytest.mark.parametrize("C", [1e-4, 0.01, 1.0, 100.0])
def test_decisions_are_those_of_libsvm(C):
    """Signs may differ only where the decision value is within LIBSVM's tolerance."""
    n_seen = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 150))
        X, y = problem(seed, n, effect=rng.choice([0, 0.3, 2]))
        gamma = rng.choice([0.01, 0.25, 20])
        train, test = np.split(rng.permutation(n), [2 * n // 3])
        train = np.sort(train)[np.argsort(-y[np.sort(train)], kind="stable")]
        if len(set(y[train])) == 1:
            continue
        expected = SVC(C=C, gamma=gamma).fit(X[np.sort(train)], y[np.sort(train)]).decision_function(X[test])
        found = decide(rbf_kernel(X, gamma=gamma), y, train, test, C)
        clear = np.abs(expected) >= TOLERANCE
        np.testing.assert_array_equal(found[clear] > 0, expected[clear] > 0)
        np.testing.assert_allclose(found, expected, atol=10 * TOLERANCE)
        n_seen += clear.sum()
    assert n_seen > 500


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_solution_is_that_of_a_general_solver(C):
    X, y = problem(3, 24)
    K = rbf_kernel(X, gamma=2)
    beta, g = np.zeros(24), y.copy()
    optimize(K, y, C, beta, g)
    np.testing.assert_allclose(g, y - K @ beta, atol=1e-12)
    assert abs(beta.sum()) < 1e-12
    assert (beta * y >= 0).all()
    assert (beta * y <= C).all()
    general = minimize(
        lambda b: 0.5 * b @ K @ b - b @ y,
        np.zeros(24),
        jac=lambda b: K @ b - y,
        bounds=[(min(0, C * sign), max(0, C * sign)) for sign in y],
        constraints=LinearConstraint(np.ones((1, 24)), 0, 0),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    ours = 0.5 * beta @ K @ beta - beta @ y
    assert ours <= general.fun + TOLERANCE * C * 24  # the duality gap that the stopping rule allows
    if C == 0.01:
        assert (beta == C * y).all()


def test_multipliers_near_a_bound_are_at_it():
    """A multiplier within rounding error of a bound would count as free and determine the offset."""
    n_at_bound = 0
    for seed in range(30):
        X, y = problem(seed, 60, effect=0.3)
        K, C = rbf_kernel(X, gamma=2), 0.1 + seed / 7
        beta, g = np.zeros(60), y.copy()
        optimize(K, y, C, beta, g)
        for bound in (0, C):
            distance = np.abs(np.abs(beta) - bound)
            assert not ((distance > 0) & (distance < 1e-9)).any()
            n_at_bound += (distance == 0).sum()
    assert n_at_bound > 300


def test_the_offset_is_the_mean_over_free_multipliers_or_the_middle():
    y, C = np.array([1.0, 1, -1, -1]), 1.0
    assert offset(y, C, np.array([0.5, 1, -1, -0.5]), np.array([0.2, 9, -9, 0.4])) == pytest.approx(0.3)
    # All multipliers are at their bounds: negatives can still go up, positives down.
    assert offset(y, C, np.array([1.0, 1, -1, -1]), np.array([0.3, 0.7, -0.5, -0.9])) == pytest.approx(-0.1)
    # No multiplier is used: positives can go up, negatives down.
    assert offset(y, C, np.zeros(4), np.array([0.3, 0.7, -0.5, -0.9])) == pytest.approx((0.7 - 0.9) / 2)


def test_multipliers_at_their_bounds_need_no_optimization():
    """The shortcut equals the optimization from zero and is not taken with a larger C."""
    X, y = problem(5, 40, effect=0)
    K, everyone = rbf_kernel(X, gamma=0.25), np.argsort(-y, kind="stable")
    for C, at_bounds in ((0.01, True), (50.0, False)):
        beta, g = np.zeros(40), y.copy()
        optimize(K, y, C, beta, g)
        assert (np.abs(beta) == C).all() == at_bounds
        expected = K @ beta + offset(y, C, beta, g)
        np.testing.assert_allclose(decide(K, y, everyone, np.arange(40), C), expected, atol=10 * TOLERANCE)


@pytest.mark.parametrize("n_features", [5, 30, 59, 60, 61, 200])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("decay", [0, 0.5])
def test_component_scores_are_those_of_scikit_learn(n_features, share, decay):
    """Cover few and many components, and more and fewer features than samples."""
    rng = np.random.default_rng(1)
    X = 3 + rng.normal(size=(90, n_features)) * np.exp(-decay * np.arange(n_features))
    X -= X.mean(axis=0)
    train = rng.permutation(90)[:60]
    pca = PCA(share, svd_solver="full").fit(X[train])
    expected, found = pca.transform(X), component_scores(X, train, share)
    assert found.shape == (90, pca.n_components_)
    found -= found[train].mean(axis=0)
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(signs * found, expected, atol=1e-7 * np.abs(expected).max())
