"""Folds are checked once on input and are ascending indices from then on."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from fairfold.core.folds import (
    BEFORE,
    check_folds,
    check_parts,
    check_repeats,
    fold_of_parts,
    fold_that_tests,
    parts_by,
    parts_of,
)
from fairfold.errors import SplitError

UNTESTED = [1, -1, 0, 1]


def as_lists(parts):
    return [(train.tolist(), test.tolist()) for train, test in parts]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, list])
def test_folds_are_integers_from_0(dtype):
    given = [1, 0, 2, 0] if dtype is list else np.array([1, 0, 2, 0], dtype=dtype)
    folds, n_folds = check_folds(given, 4)
    assert (folds.tolist(), folds.dtype, n_folds) == ([1, 0, 2, 0], np.int64, 3)
    assert check_folds(given, 4, 3)[1] == 3


def test_minus_1_is_a_sample_that_is_never_tested_where_that_is_allowed():
    folds, n_folds = check_folds(UNTESTED, 4, untested=True)
    assert (folds.tolist(), n_folds) == (UNTESTED, 2)
    assert as_lists(parts_of(UNTESTED, 4)) == [([0, 1, 3], [2]), ([1, 2], [0, 3])]
    assert as_lists(parts_of([-1, 0], 2)) == [([0], [1])]
    with pytest.raises(SplitError, match=r"^fold_of contains -1: fold numbers are integers from 0\.$"):
        check_folds(UNTESTED, 4)


@pytest.mark.parametrize("n_splits", [2, 3, 6])
def test_periods_of_time_train_on_what_is_before_them(n_splits):
    expected = list(TimeSeriesSplit(n_splits).split(np.zeros(23)))
    folds = np.full(23, BEFORE)
    for fold, (_, test) in enumerate(expected):
        folds[test] = fold
    assert as_lists(parts_of(folds, 23)) == as_lists(expected)
    moved = np.random.default_rng(0).permutation(23)  # the order of the samples is arbitrary
    for (train, test), (before, after) in zip(parts_of(folds[moved], 23), expected, strict=True):
        assert sorted(moved[train]) == before.tolist() and sorted(moved[test]) == after.tolist()


def test_some_samples_before_the_first_period_and_others_always_trained_on_are_refused():
    with pytest.raises(
        SplitError, match="contains -1 and -2: number all samples before the first period -2, or all -1"
    ):
        parts_of([-1, -2, 0], 3)


@pytest.mark.parametrize(
    ("bad", "n_splits", "message"),
    [
        ([0, 1], 2, r"^given has shape \(2,\): give one fold number for each of the 3 samples\.$"),
        ([[0, 1, 1]], 2, r"shape \(1, 3\)"),
        (5, None, "the type int: give one"),
        (KFold(3), None, "the type KFold: give one"),
        ([[0], [1, 2]], None, "the type list: give one"),
        ([0, 1, -3], 2, "^given contains -3: fold numbers are integers from 0"),
        ([0.0, 1.0, 1.0], 2, "^given contains values of type float64: fold numbers are integers"),
        ([False, True, True], 2, "values of type bool"),
        (["0", "1", "1"], 2, "values of type <U1"),
        ([0, 1, 5], 2, "^given contains fold 5: there are 2 folds, 0 to 1"),
        ([0, 0, 0], 2, "^given has no sample in fold 1: number the folds from 0 without gaps"),
        ([0, 2, 2], None, "no sample in fold 1"),
        ([0, 10**15, 0], None, "no sample in fold 1"),  # no table of that size is allocated
        ([0, 0, 0], None, "^given has all samples in fold 0, which leaves none to train on: give two folds or more"),
    ],
)
@pytest.mark.parametrize("untested", [False, True])
def test_what_is_no_split_is_refused(bad, n_splits, message, untested):
    with pytest.raises(SplitError, match=message):
        check_folds(bad, 3, n_splits, untested=untested, name="given")


def test_folds_that_test_nothing_are_refused():
    with pytest.raises(SplitError, match="no sample in fold 0"):
        check_folds([-1, -1, -1], 3, untested=True)
    with pytest.raises(SplitError, match="no sample in fold 0"):
        check_folds(np.array([], dtype=int), 0)


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ([3, 0], [2, 1]),
        (np.array([3, 0], dtype=np.uint8), np.array([2, 1], dtype=np.uint8)),
        ([True, False, False, True], [False, True, True, False]),
        (np.array([True, False, False, True]), [2, 1]),
    ],
    ids=["lists", "bytes", "masks", "both"],
)
def test_parts_become_ascending_indices_whatever_they_come_as(train, test):
    parts = check_parts([(train, test)], 4)
    assert as_lists(parts) == [([0, 3], [1, 2])]
    assert {part.dtype for part in parts[0]} == {np.dtype(np.intp)}
    assert fold_that_tests(parts, 4).tolist() == [-1, 0, 0, -1]


def test_a_sample_may_be_trained_on_repeatedly_or_not_at_all():
    assert as_lists(check_parts([([3, 0, 3], [1])], 4)) == [([0, 3, 3], [1])]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ([0, 4], "^the test part of fold 0 contains 4: indices go from 0 to 3"),
        ([-1], "^the test part of fold 0 contains -1: indices go from 0 to 3"),
        ([0.0, 1.0], "^the test part of fold 0 is float64 of shape .*: give indices of samples, or a mask"),
        (["a"], "is <U1 of shape"),
        (1, r"is int64 of shape \(\)"),
        ([[0, 1]], r"int64 of shape \(1, 2\)"),
        ([[0], [1, 2]], "is list: give indices"),
        ([True, False], r"is a mask of shape \(2,\): give one for 4 samples"),
        ([1, 0, 1], "^sample 1 is repeated in the test part of fold 0: test it once"),
        ([0, 2], "^sample 2 is in the training and the test part of fold 0: put it in one"),
        ([], "^fold 0 has 2 training and 0 test samples: it needs both"),
        ([False] * 4, "^fold 0 has 2 training and 0 test samples"),
    ],
)
def test_what_is_no_part_is_refused(part, message):
    with pytest.raises(SplitError, match=message):
        check_parts([([2, 3], part)], 4)


def test_what_are_no_pairs_is_refused():
    with pytest.raises(SplitError, match=r"^fold 0: expected a pair of training and test samples, found ndarray"):
        check_parts([np.array([1, 2, 3])], 4)
    with pytest.raises(SplitError, match=r"^fold 1: expected a pair of training and test samples, found int"):
        check_parts([([0], [1]), 3], 4)
    with pytest.raises(SplitError, match="returned no folds"):
        check_parts([], 4)


def test_parts_of_scikit_learns_splitters_as_test_folds():
    X = np.zeros((10, 1))
    splitter = KFold(3, shuffle=True, random_state=0)
    fold_of = fold_of_parts(splitter.split(X), 10)
    assert [np.flatnonzero(fold_of == fold).tolist() for fold in range(3)] == [
        test.tolist() for _, test in splitter.split(X)
    ]
    given = np.array([1, -1, 0, 1, 0, 1, -1, 0, 1, 0])
    np.testing.assert_array_equal(fold_of_parts(PredefinedSplit(given).split(), 10), given)
    once = ShuffleSplit(1, test_size=3, random_state=0)
    np.testing.assert_array_equal(np.flatnonzero(fold_of_parts(once.split(X), 10) == 0), sorted(next(once.split(X))[1]))


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), "is in the test parts of folds .* must not overlap"),
        (ShuffleSplit(3, test_size=0.5, random_state=0), "is in the test parts of folds .* must not overlap"),
        (TimeSeriesSplit(3), "^fold 0 trains on 4 samples and does not test 8: a fold must train once on each"),
        (ShuffleSplit(1, test_size=2, train_size=5), "^fold 0 trains on 5 samples and does not test 8"),
    ],
)
def test_parts_that_test_folds_cannot_state_are_refused(splitter, message):
    with pytest.raises(SplitError, match=message):
        fold_of_parts(splitter.split(np.zeros((10, 1))), 10)


def test_what_splitters_refuse_is_reported_in_one_sentence():
    with pytest.raises(
        SplitError, match=r"^cannot split the data: Cannot have number of splits n_splits=5 .*own folds\.$"
    ):
        parts_by(KFold(5), np.zeros((3, 1)), np.zeros(3))
    with pytest.raises(SplitError, match=r"^KFold is a class: pass an instance, such as KFold\(5\)"):
        parts_by(KFold, np.zeros((3, 1)), np.zeros(3))


def test_folds_of_several_splits_follow_each_other():
    splits = [[0, 1, 0, 1], [1, 1, 0, 0]]
    assert as_lists(parts_of(splits, 4)) == [*as_lists(parts_of(splits[0], 4)), *as_lists(parts_of(splits[1], 4))]
    assert as_lists(parts_of([UNTESTED], 4)) == as_lists(parts_of(UNTESTED, 4))
    with pytest.raises(SplitError, match="fold_of contains splits into 2 and 3 folds: all splits need"):
        parts_of([[0, 1, 2], [0, 1, 1]], 3)
    with pytest.raises(SplitError, match=r"fold_of\[1\] has no sample in fold 1"):
        parts_of([[0, 1, 2], [0, 2, 2]], 3)


def test_a_split_is_counted_once():
    check_repeats(np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]))
    check_repeats(np.array([UNTESTED]))
    with pytest.raises(SplitError, match=r"dataset mine: splits 0 and 2 are the same\. "):
        check_repeats(np.array([[0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]]), "dataset mine")
