import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid

from fairfold.cross_testing.estimator_engine import EstimatorEngine
from fairfold.cross_testing.plans import TEST, draw_orders, holdout_plans, nested_plan
from fairfold.errors import ModelError

Y = np.arange(20) % 2
X = np.random.default_rng(0).normal(size=(20, 3)) + Y[:, None]


class Constant(ClassifierMixin, BaseEstimator):
    """Classifier that predicts a constant class and counts its fits over all copies."""

    fits = 0

    def __init__(self, label):
        self.label = label

    def fit(self, X, y):
        Constant.fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_chooses_the_best_of_the_inner_folds_and_the_first_on_ties():
    plan, _ = holdout_plans(Y, 2, 10, np.random.default_rng(0))
    order = np.arange(20)[None]
    for candidates, chosen in [
        ([Constant(0), Constant(1), NearestCentroid()], 2),
        ([Constant(1), Constant(0)], 0),
        ([Constant(7), Constant(0), Constant(1)], 1),
    ]:
        assert EstimatorEngine(candidates, X, Y).run(plan, order).chosen.tolist() == [[chosen]]


def test_a_tie_up_to_rounding_is_a_tie():
    plan, _ = holdout_plans(Y, 2, 10, np.random.default_rng(0))
    engine = EstimatorEngine(
        [Constant(0), Constant(1)], X, Y, scoring=lambda model, X, y: 0.3 if model.label == 0 else 0.1 + 0.2
    )
    assert engine.run(plan, np.arange(20)[None]).chosen.item() == 0


def test_the_scores_of_inner_folds_are_weighted_by_their_samples():
    """Folds of four and three: 0.9 and 0 beat 0.5 and 0.5 by samples (0.51), but not by folds (0.45)."""
    y = np.array([0, 1, 0, 1, 0, 1, 1, 0, 1])
    plan, _ = holdout_plans(y, 2, 2, np.random.default_rng(0))
    assert np.bincount(plan.inner_fold[0, :7]).tolist() == [4, 3]

    def scoring(model, X, y):
        return 0.5 if model.label == 0 else 0.9 * (len(y) == 4)

    engine = EstimatorEngine([Constant(0), Constant(1)], X[:9], y, scoring=scoring)
    assert engine.run(plan, np.arange(9)[None]).chosen.item() == 1


def test_a_single_candidate_needs_no_choice():
    plan = nested_plan(Y, 5, np.random.default_rng(0))
    Constant.fits = 0
    run = EstimatorEngine([Constant(1)], X, Y).run(plan, np.arange(20)[None])
    assert Constant.fits == 5
    assert run.totals.tolist() == [[2] * 5]


def test_an_empty_fold_counts_zero():
    """Five folds of a test part of two samples: the empty folds have a total of zero."""
    _, plan = holdout_plans(Y, 5, 2, np.random.default_rng(0))
    run = EstimatorEngine([NearestCentroid()], X, Y).run(plan, np.arange(20)[None])
    sizes = (plan.role == TEST).sum(axis=1)
    assert sorted(sizes) == [0, 0, 0, 0, 2]
    assert run.totals[0][sizes == 0].tolist() == [0] * 4


def test_predicts_where_a_test_asks_on_rows_in_their_order():
    plan = nested_plan(Y, 5, np.random.default_rng(0))
    order = draw_orders(plan.part, 1, np.random.default_rng(1))
    engine = EstimatorEngine([NearestCentroid()], X, np.array(["b", "a"])[Y])
    run = engine.run(plan, order)
    predicted = engine.predict(plan, order[0], run.chosen[0])
    np.testing.assert_array_equal(predicted == -1, plan.role != TEST)
    # "a" is class 0, where Y is 1.
    np.testing.assert_array_equal(((predicted == 1 - Y) & (plan.role == TEST)).sum(axis=1), run.totals[0])


def test_results_do_not_depend_on_the_company_of_an_order():
    plan = nested_plan(Y, 2, np.random.default_rng(0))
    orders = draw_orders(plan.part, 4, np.random.default_rng(1))
    engine = EstimatorEngine([NearestCentroid(), Constant(1)], X, Y)
    together = engine.run(plan, orders)
    for index in range(4):
        alone = engine.run(plan, orders[index : index + 1])
        np.testing.assert_array_equal(alone.totals[0], together.totals[index])
        np.testing.assert_array_equal(alone.chosen[0], together.chosen[index])


def test_an_unknown_scorer():
    with pytest.raises(ModelError, match="unknown scorer 'f2': "):
        EstimatorEngine([NearestCentroid()], X, Y, scoring="f2")
