import numpy as np
import pytest

from fairfold.cross_testing.eigenvectors import (
    _count_above,
    _enclose,
    _from_krylov,
    _from_reflections,
    _refine,
    _tridiagonal,
    leading_eigenvectors,
)


def scatter(p, decay, seed=0):
    X = np.random.default_rng(seed).normal(size=(2 * p, p)) * np.exp(-decay * np.arange(p))
    return X.T @ X


@pytest.mark.parametrize("p", [1, 2, 24, 25, 61, 90])
@pytest.mark.parametrize("decay", [0, 0.05, 0.5])
@pytest.mark.parametrize("share", [0.2, 0.7, 0.999])
def test_equal_to_lapack(p, decay, share):
    A = scatter(p, decay)
    values, vectors = np.linalg.eigh(A)
    k = int(np.searchsorted(np.cumsum(values[::-1]), share * values.sum(), side="right")) + 1
    found = leading_eigenvectors(A, share)
    assert found.shape == (p, min(k, p))
    overlap = vectors[:, ::-1][:, :k].T @ found
    np.testing.assert_allclose(np.abs(overlap), np.eye(min(k, p)), atol=1e-8)


def test_the_short_way_is_taken_and_exact():
    A = scatter(61, 0.05)
    diagonal, beside, reflections = _tridiagonal(A)
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    H = np.eye(61)
    for u in reflections:
        H = H @ (np.eye(61) - np.outer(u, u))
    np.testing.assert_allclose(H @ T @ H.T, A, atol=1e-12 * A.max())


def tridiagonal_with_eigenvalues_to_one(p=61):
    diagonal, beside, _ = _tridiagonal(scatter(p, 0.05))
    scale = np.abs(diagonal).max() + 2 * np.abs(beside).max()
    diagonal, beside = diagonal / scale, beside / scale
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    return diagonal, beside, T, np.linalg.eigvalsh(T)[::-1]


@pytest.mark.parametrize("p", [13, 61, 400])
def test_eigenvalues_above_points_are_counted(p):
    diagonal, beside, _, values = tridiagonal_with_eigenvalues_to_one(p)
    points = np.random.default_rng(0).uniform(0, 1, 36)
    expected = (values[:, None] > points).sum(0)
    np.testing.assert_array_equal(_count_above(diagonal, beside**2, points), expected)


def test_an_eigenvalue_at_a_point_is_counted():
    points = np.full(36, 0.5)
    np.testing.assert_array_equal(_count_above(np.array([0.5, 0.7, 0.5, 0.2]), np.zeros(3), points), 3)


def test_intervals_hold_the_largest_eigenvalues_one_each():
    diagonal, beside, T, expected = tridiagonal_with_eigenvalues_to_one()
    low, high = _enclose(diagonal, beside)
    assert (low <= expected[:12]).all()
    assert (expected[:12] <= high).all()
    assert (high - low).max() < 1e-5
    values, vectors, residuals = _refine(diagonal, beside, low, high)
    np.testing.assert_allclose(values, expected[:12], atol=1e-14)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-12)
    np.testing.assert_allclose(T @ vectors, values * vectors, atol=1e-14)
    assert residuals.max() < 1e-14


@pytest.mark.parametrize("matrix", [np.zeros((30, 30)), np.eye(30), np.diag(np.repeat([3.0, 1.0], [5, 25]))])
def test_equal_eigenvalues_are_left_to_lapack(matrix):
    found = leading_eigenvectors(matrix, 0.3)
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-12)
    ratios = np.diag(found.T @ matrix @ found)
    np.testing.assert_allclose(ratios, np.sort(np.diag(matrix))[::-1][: len(ratios)], atol=1e-12)


@pytest.mark.parametrize(
    ("decay", "share", "by_krylov", "by_reflections"), [(0.7, 0.7, 1, 1), (0.05, 0.6, 0, 8), (0, 0.9, 0, 0)]
)
def test_each_way_is_taken_where_it_can(decay, share, by_krylov, by_reflections):
    A = scatter(61, decay)
    least = share * np.trace(A)
    assert _from_krylov(A, least).shape[1] == by_krylov
    assert _from_reflections(A, least).shape[1] == by_reflections
