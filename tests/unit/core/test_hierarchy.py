"""Hierarchies of labels: implied relations, and labels and probabilities that follow the true-path rule."""

import copy

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from fairfold.core.hierarchy import Hierarchy
from fairfold.errors import DataError


@pytest.fixture
def diamond():
    """Term 3 is below 1 and 2, which are below 0; 4 is isolated; 5 is below 3."""
    return Hierarchy([[3, 1], [3, 2], [1, 0], [2, 0], [5, 3], [5, 0]], 6)


def random_hierarchy(rng, n=12, second=0.4):
    edges = [(j, p) for j in range(1, n) for p in {int(rng.integers(j)) for _ in range(1 + (rng.random() < second))}]
    return Hierarchy(edges, n)


def test_what_follows_from_what(diamond):
    assert diamond.edges.tolist() == [[1, 0], [2, 0], [3, 1], [3, 2], [5, 3]]  # 5 below 0 is implied
    assert [np.flatnonzero(row).tolist() for row in diamond.ancestors.toarray()] == [
        *([], [0], [0], [0, 1, 2], [], [0, 1, 2, 3])
    ]
    place = np.argsort(diamond.order)
    assert (place[diamond.edges[:, 0]] < place[diamond.edges[:, 1]]).all()
    assert copy.deepcopy(diamond).edges.tolist() == diamond.edges.tolist()


def test_labels_left_out_still_join_others(diamond):
    assert diamond.of([5, 0, 4]).edges.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([[0, 3]], "has label 3, but labels go from 0 to 2"),
        ([[1, 1]], "label 1 above itself"),
        ([[0, 1], [1, 2], [2, 0]], "labels 0, 1, 2 above each other, in a cycle"),
    ],
)
def test_what_is_no_hierarchy_is_refused(edges, sentence):
    with pytest.raises(DataError, match=sentence):
        Hierarchy(edges, 3)


@pytest.mark.parametrize("seed", range(10))
def test_labels_get_all_that_follows_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_hierarchy(rng)
    Y = rng.choice([np.nan, 0, 1], p=[0.2, 0.6, 0.2], size=(30, 12)).astype(np.float32)
    whole = Y.copy()
    for row in range(30):  # plain reference
        for label in np.flatnonzero(Y[row] == 1):
            whole[row, hierarchy.ancestors[[label]].indices] = 1
    np.testing.assert_array_equal(hierarchy.with_ancestors(Y), whole)
    stored = hierarchy.with_ancestors(sparse.csr_array(Y))
    np.testing.assert_array_equal(stored.toarray(), whole)
    assert stored.dtype == Y.dtype
    assert hierarchy.n_violations(whole) == 0 and hierarchy.first_violation(whole) is None
    row, label, above = hierarchy.first_violation(Y)
    assert Y[row, label] == 1 and Y[row, above] != 1 and hierarchy.ancestors[label, above]
    np.testing.assert_array_equal(whole[:row], Y[:row])


@pytest.mark.parametrize("by", ["isotonic", "maximum"])
@pytest.mark.parametrize("seed", range(5))
def test_probabilities_keep_the_rule_and_nothing_moves_without_need(by, seed):
    rng = np.random.default_rng(seed)
    hierarchy = random_hierarchy(rng)
    P = np.round(rng.random((200, 12)), 2)  # with ties
    reconciled = hierarchy.reconcile(P, by)
    assert hierarchy.n_violations(P) > 0 == hierarchy.n_violations(reconciled)
    np.testing.assert_array_equal(hierarchy.reconcile(reconciled, by), reconciled)
    if by == "maximum":
        below = hierarchy.ancestors.toarray().T + np.eye(12) > 0
        np.testing.assert_array_equal(reconciled, [[row[each].max() for each in below] for row in P])


def test_a_chain_is_that_of_scikit_learn():
    P = np.random.default_rng(0).random((20, 8))
    chain = Hierarchy([[j, j + 1] for j in range(7)], 8)
    expected = [IsotonicRegression().fit_transform(np.arange(8), row) for row in P]
    np.testing.assert_allclose(chain.reconcile(P, "isotonic"), expected, atol=1e-12)


@pytest.mark.parametrize(("second", "excess"), [(0.0, 1e-6), (0.6, 0.1)])
def test_isotonic_is_the_nearest_in_a_tree_and_near_that_elsewhere(second, excess):
    rng = np.random.default_rng(3)
    for _ in range(5):
        hierarchy, p = random_hierarchy(rng, 8, second), rng.random(8)
        rule = {"type": "ineq", "fun": lambda z, e=hierarchy.edges: z[e[:, 1]] - z[e[:, 0]]}
        best = minimize(lambda z, p=p: ((z - p) ** 2).sum(), p, constraints=rule, options={"ftol": 1e-12}).fun
        found = ((hierarchy.reconcile(p[np.newaxis], "isotonic")[0] - p) ** 2).sum()
        assert best - 1e-6 <= found <= best * (1 + excess) + 1e-6


def test_other_probabilities_and_reconciliations_are_refused(diamond):
    with pytest.raises(DataError, match="the hierarchy has 6 labels"):
        diamond.reconcile(np.zeros((2, 5)))
    with pytest.raises(DataError, match="unknown reconciliation 'mean'"):
        diamond.reconcile(np.zeros((2, 6)), "mean")
