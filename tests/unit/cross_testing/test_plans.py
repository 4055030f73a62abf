import numpy as np
import pytest

from fairfold.core.folds import crossvalind_folds
from fairfold.cross_testing.plans import (
    TEST,
    TRAIN,
    UNUSED,
    draw_orders,
    draw_test_part,
    holdout_plans,
    holdout_size,
    nested_plan,
    stratified_folds,
)
from fairfold.errors import SplitError

LABELS = {
    "balanced": np.arange(40) % 2,
    "skewed": np.repeat(["a", "b", "c"], [23, 11, 7]),
    "few": np.array([0, 1, 1, 0, 1]),
}


@pytest.fixture(params=LABELS)
def y(request):
    return np.random.default_rng(3).permutation(LABELS[request.param])


def rng(seed=0):
    return np.random.default_rng(seed)


def plans(y, n_splits=5):
    return [nested_plan(y, n_splits, rng()), *holdout_plans(y, n_splits, len(y) // 2, rng())]


def counts(fold_of, y, n_splits):
    return np.array([[np.sum((fold_of == fold) & (y == c)) for c in np.unique(y)] for fold in range(n_splits)])


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_folds_are_stratified_in_each_class(y, n_splits):
    per_fold = counts(stratified_folds(y, n_splits, rng()), y, n_splits)
    assert per_fold.sum() == len(y)
    assert (np.ptp(per_fold, axis=0) <= 1).all()


@pytest.mark.parametrize("n", [4, 10, 26, 36, 98])
def test_classes_of_equal_size_are_equal_in_every_fold(n):
    y = np.arange(n) % 2
    nested = nested_plan(y, 5, rng())
    for fold_of in [stratified_folds(y, 5, rng()), *nested.inner_fold]:
        per_fold = counts(fold_of, y, 5)
        np.testing.assert_array_equal(per_fold[:, 0], per_fold[:, 1])
    for role in nested.role:
        assert y[role == TRAIN].mean() == 0.5


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_folds_of_crossvalind_leave_the_rest_to_chance(n_splits):
    """Each class follows MATLAB's formula, ceil(K (1 ... h) / h), with folds permuted separately for each class."""
    y = np.repeat([0, 1], [17, 17])
    formula = np.sort(np.bincount(np.ceil(n_splits * np.arange(1, 18) / 17).astype(int))[1:])
    drawn = [counts(crossvalind_folds(y, n_splits, rng(seed)), y, n_splits) for seed in range(200)]
    for per_fold in drawn:
        np.testing.assert_array_equal(np.sort(per_fold, axis=0), np.column_stack([formula, formula]))
    np.testing.assert_array_equal(np.unique([per_fold[0] for per_fold in drawn], axis=0).shape, (4, 2))
    assert (crossvalind_folds(y, n_splits, rng(1)) != crossvalind_folds(y, n_splits, rng(2))).any()


def test_folds_are_random_but_for_their_seed():
    y = np.arange(40) % 2
    np.testing.assert_array_equal(stratified_folds(y, 5, rng(1)), stratified_folds(y, 5, rng(1)))
    assert (stratified_folds(y, 5, rng(1)) != stratified_folds(y, 5, rng(2))).any()


def test_nested_tests_each_sample_once(y):
    plan = nested_plan(y, 5, rng())
    np.testing.assert_array_equal((plan.role == TEST).sum(axis=0), 1)
    np.testing.assert_array_equal(plan.choice_of, np.arange(5))
    assert not plan.part.any()


def test_cross_testing_tests_each_sample_of_the_test_part_once_and_trains_on_all_others(y):
    testing, cross = holdout_plans(y, 5, 2, rng())
    expected = np.arange(len(y)) >= len(y) - 2
    for plan in (testing, cross):
        np.testing.assert_array_equal((plan.role == TEST).sum(axis=0), expected)
        np.testing.assert_array_equal(plan.part, expected)
    np.testing.assert_array_equal(testing.role[0], np.where(expected, TEST, TRAIN))
    assert not (cross.role == UNUSED).any()
    np.testing.assert_array_equal(testing.inner_fold, cross.inner_fold)


def test_no_choice_sees_what_is_tested_with_it(y):
    for plan in plans(y):
        for choice, role in zip(plan.choice_of, plan.role, strict=True):
            assert (plan.inner_fold[choice][role == TEST] == -1).all()


def test_a_choice_sees_all_that_may_be_seen_in_stratified_folds(y):
    nested, testing, _ = plans(y)
    for plan in (nested, testing):
        for choice, role in zip(plan.choice_of, plan.role, strict=True):
            inner = plan.inner_fold[choice]
            np.testing.assert_array_equal(inner >= 0, role == TRAIN)
            assert (np.ptp(counts(inner, y, 5), axis=0) <= 1).all()


def test_plans_with_the_same_choice_add_up(y):
    testing, cross = holdout_plans(y, 5, len(y) // 2, rng())
    both = testing + cross
    np.testing.assert_array_equal(both.role, np.concatenate([testing.role, cross.role]))
    assert len(both.choice_of) == 6
    with pytest.raises(ValueError, match="same choices"):
        testing + nested_plan(y, 5, rng())


@pytest.mark.parametrize(("n", "fraction", "size"), [(100, 0.29, 29), (100, 0.57, 57), (50, 0.5, 25), (9, 0.5, 4)])
def test_holdout_size_is_the_floor_of_the_decimal_fraction(n, fraction, size):
    assert holdout_size(n, fraction) == size


@pytest.mark.parametrize("n_test", [0, 5])
def test_both_parts_need_samples(n_test):
    with pytest.raises(SplitError, match=f"test part has {n_test} of 5 samples"):
        holdout_plans(LABELS["few"], 2, n_test, rng())


def test_orders_permute_within_parts_only():
    part = np.repeat([0, 1, 0], [4, 3, 2])
    orders = draw_orders(part, 500, rng())
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(9), (500, 1)))
    np.testing.assert_array_equal(part[orders], np.tile(part, (500, 1)))
    # All 3! orders of the middle part are equally frequent: 83 ± 8.3, within 5 standard deviations.
    _, seen = np.unique(orders[:, part == 1], axis=0, return_counts=True)
    assert len(seen) == 6
    assert abs(seen - 500 / 6).max() < 5 * np.sqrt(500 * 5 / 36)


def test_inner_and_outer_folds_differ_in_number():
    y = np.arange(40) % 2
    plan = nested_plan(y, 4, rng(), n_inner_splits=3)
    assert plan.role.shape == (4, 40) and plan.inner_fold.max() == 2
    testing, cross = holdout_plans(y, 4, 20, rng(), n_inner_splits=3)
    assert cross.role.shape == (4, 40) and testing.inner_fold.max() == cross.inner_fold.max() == 2


def test_a_drawn_test_part_is_stratified_and_uniform():
    y = np.repeat(np.array(["a", "b", "c"], dtype=object), [30, 12, 1])
    drawn = np.array([draw_test_part(y, 14, np.random.default_rng(seed)) for seed in range(600)])
    assert (drawn.sum(axis=1) == 14).all()
    assert {*drawn[:, :30].sum(axis=1)} <= {9, 10, 11} and {*drawn[:, 30:42].sum(axis=1)} <= {3, 4, 5}
    assert abs(drawn.mean(axis=0) - 14 / 43).max() < 4.5 * np.sqrt(14 / 43 * 29 / 43 / 600)
    testing, _ = holdout_plans(y, 2, 14, rng(), is_test=drawn[0])
    np.testing.assert_array_equal(testing.role[0] == TEST, drawn[0])
    np.testing.assert_array_equal(testing.inner_fold[0] < 0, drawn[0])
