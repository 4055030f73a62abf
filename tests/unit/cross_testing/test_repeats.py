import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from fairfold.core.folds import unstratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing import cross_validate_and_cross_test, cross_validate_and_test, nested_cross_validate
from fairfold.cross_testing.permutation import combine_p_values
from fairfold.cross_testing.plans import TEST, TRAIN, holdout_plans
from fairfold.cross_testing.repeats import repeat_procedure
from fairfold.errors import DataError, ModelError, SplitError

PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)
Y = np.arange(24) % 2
CENTROIDS = {"euclidean": NearestCentroid(), "manhattan": NearestCentroid(metric="manhattan")}


def features(seed, effect=0.0):
    return np.random.default_rng(seed).normal(size=(len(Y), 3)) + effect * Y[:, None]


def test_twice_the_median_is_valid_under_any_dependence():
    rng, n, alpha = np.random.default_rng(0), 4000, 0.1
    shared = rng.random((n, 1))
    for p in (rng.random((n, 5)), np.repeat(shared, 5, axis=1), np.hstack([shared, 1 - shared, shared])):
        level = np.mean([combine_p_values(row) <= alpha for row in p])
        assert level < alpha + 3 * np.sqrt(alpha * (1 - alpha) / n)
    assert combine_p_values([1, 1]) == 1


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_repeats_keep_their_level_and_find_an_effect(procedure):
    settings = {"n_repeats": 3, "n_permutations": 9, "n_splits": 2}
    n, alpha = 60, 0.4
    p = [
        repeat_procedure(procedure, [GaussianNB()], features(s), Y, random_state=s, **settings).p_value
        for s in range(n)
    ]
    assert np.mean(np.array(p) <= alpha) < alpha + 3 * np.sqrt(alpha * (1 - alpha) / n)
    found = repeat_procedure(procedure, [GaussianNB()], features(0, effect=3), Y, **settings)
    assert found.p_value == pytest.approx(0.2) and found.score == np.mean([each.score for each in found.outcomes])


def test_each_repeat_draws_its_own_test_part():
    first, second = repeat_procedure(cross_validate_and_test, CENTROIDS, features(0), Y, n_repeats=2).outcomes
    assert not np.array_equal(first.tested, second.tested)
    assert np.bincount(Y[first.tested]).tolist() == np.bincount(Y[second.tested]).tolist() == [6, 6]
    last = repeat_procedure(cross_validate_and_test, CENTROIDS, features(0), Y, n_repeats=2, test_part="last")
    assert last.p_value is None and all((each.tested >= 12).all() for each in last.outcomes)


def test_groups_are_drawn_whole():
    groups = np.repeat(np.arange(8), 3)
    labels = np.column_stack([Y, 1 - Y])
    settings = {"scoring": lambda Y, P: -np.mean((Y - P) ** 2), "groups": groups, "n_splits": 2, "random_state": 3}
    outcome = cross_validate_and_test([KNeighborsClassifier(3)], features(0), labels, test_part="drawn", **settings)
    tested = np.isin(groups, groups[outcome.tested])
    np.testing.assert_array_equal(np.flatnonzero(tested), outcome.tested)
    assert len(outcome.tested) == 12 and not np.array_equal(outcome.tested, np.arange(12, 24))


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_inner_folds_have_their_own_number(procedure):
    found = procedure(CENTROIDS, features(1), Y, n_splits=3, n_inner_splits=2, random_state=0)
    n_tests, n_choices = (1 if procedure is cross_validate_and_test else 3), (3 if procedure is PROCEDURES[0] else 1)
    assert found.n_fits == n_tests + n_choices * 2 * len(CENTROIDS)
    with pytest.raises(SplitError, match=r"n_inner_splits: found 1\."):
        procedure(CENTROIDS, features(1), Y, n_inner_splits=1)
    with pytest.raises(SplitError, match="fewer than the 11 folds"):
        procedure(CENTROIDS, features(1), Y, n_splits=2, n_inner_splits=11)


def test_regressors_are_chosen_and_tested_by_their_score():
    X = features(2)
    y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=24)
    ridges = {alpha: Ridge(alpha=alpha) for alpha in (1000.0, 0.1)}
    found = cross_validate_and_cross_test(ridges, X, y, scoring="r2", n_splits=3, n_permutations=19, random_state=5)
    folds = np.random.default_rng(seed_sequence(5, "folds"))
    _, plan = holdout_plans(y, 3, 12, folds, unstratified_folds)
    expected = [
        r2_score(y[r == TEST], Ridge(alpha=0.1).fit(X[r == TRAIN], y[r == TRAIN]).predict(X[r == TEST]))
        for r in plan.role
    ]
    assert found.parameters == 0.1 and found.score == pytest.approx(np.mean(expected)) and np.isnan(found.accuracy)
    assert found.p_value == pytest.approx(0.05) and np.corrcoef(found.predictions, y[found.tested])[0, 1] > 0.9
    for settings, error, message in (
        ({}, ModelError, "regressors have no accuracy"),
        ({"scoring": "r2", "n_splits": 20}, SplitError, "is empty"),
        ({"scoring": "r2", "sample_weight": y}, DataError, "need several labels"),
        ({"scoring": "r2", "test_part": "first"}, SplitError, "Give 'last' or 'drawn'"),
    ):
        with pytest.raises(error, match=message):
            cross_validate_and_test(ridges, X, y, **settings)
    for wrong in (np.where(y > 0, np.nan, y), np.column_stack([y, y]), np.full(24, "a")):
        with pytest.raises(DataError, match=r"y: .*one finite number per sample"):
            cross_validate_and_test(ridges, X, wrong, scoring="r2")
