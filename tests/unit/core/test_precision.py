"""Distinct values stay distinct in single precision, and features that it represents exactly stay unchanged."""

import numpy as np
import pytest
from scipy import sparse

from fairfold.core.missing_values import MissingValueFiller
from fairfold.core.precision import SCIKIT_LEARN_GAP, DistinctValues
from fairfold.datasets import load_catalog, prepare

N = 290
RNG = np.random.default_rng(0)
TIMES = 20240112131400 + RNG.choice(2_000_000, N, replace=False)
NORMAL = RNG.normal(size=N)
CASES = {
    "times": TIMES,
    "negative times": -TIMES,
    "times of two years": np.concatenate([TIMES, TIMES - 1_0000_000000]),
    "times and a code for none": np.append(TIMES, 0),
    "times between codes": np.append(TIMES, [-1e14, 0, 3, 99999999999999]),
    "prices in cents": 1e9 + np.arange(N) / 100,
    "prices of every size": np.append(1e9 + np.arange(N) / 100, [0.01, 1, 2]),
    "too large": NORMAL * 1e39,
    "far too large": NORMAL * 1e300,
    "nearly too large": np.array([-1, 3.39999998e38, 3.39999999e38, 3.4e38]),
    "small": NORMAL * 1e-9,
    "small and a code for none": np.append(NORMAL * 1e-9, 999),
    "too small": NORMAL * 1e-50,
    "denormal": NORMAL * 1e-310,
    "denormal beside ordinary": np.append(NORMAL * 1e-310, 1),
    "everything": np.array([-1.7e308, -1e300, -1e-300, 0, 5e-324, 1, 1.7e308]),
    "one by one in double precision": 1 + np.arange(100) * 2.0**-52,
    "one value": np.array([1e300]),
    "many by chance": RNG.normal(size=30_000),
}


def told_apart(numbers, least_gap):
    rounded = np.asarray(numbers).astype(np.float32)
    return np.isfinite(rounded).all() and (np.diff(rounded) > least_gap).all()


@pytest.mark.parametrize("least_gap", [0.0, SCIKIT_LEARN_GAP])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("case", CASES)
def test_values_stay_distinct_and_in_order(case, form, least_gap):
    values = np.unique(CASES[case].astype(float))
    X = form(np.column_stack([values, np.ones(len(values))]))
    found = DistinctValues(least_gap=least_gap).fit_transform(X)
    assert isinstance(found, np.ndarray) if form is np.asarray else found.format == X.format
    found = found if isinstance(found, np.ndarray) else found.toarray()
    assert told_apart(found[:, 0], least_gap)
    np.testing.assert_array_equal(found[:, 1], 1)
    if form is not np.asarray:
        np.testing.assert_array_equal(found[:, 0] == 0, values == 0)


@pytest.mark.parametrize("case", CASES)
def test_new_values_lie_where_they_are_among_the_old(case):
    values = np.unique(CASES[case].astype(float))[:, np.newaxis]
    distinct = DistinctValues().fit(values)
    old = distinct.transform(values).astype(np.float32)
    between = distinct.transform(values[:-1] / 2 + values[1:] / 2).astype(np.float32)
    assert (old[:-1] <= between).all() and (between <= old[1:]).all()
    below, above = distinct.transform(np.array([[-1.79e308], [1.79e308]])).astype(np.float32).ravel()
    assert np.isfinite([below, above]).all() and below <= old[0] and above >= old[-1]


def test_a_new_value_goes_to_the_nearest_of_moved_ones():
    values = np.append(TIMES, 0).astype(float)[:, np.newaxis]
    distinct, ordered = DistinctValues().fit(values), np.sort(TIMES).astype(float)
    low, high = ordered[:-1], ordered[1:]
    images = distinct.transform(ordered[:, np.newaxis]).astype(np.float32).ravel()
    for share, nearest in ((0.2, images[:-1]), (0.8, images[1:])):
        new = distinct.transform((low + share * (high - low))[:, np.newaxis]).astype(np.float32).ravel()
        np.testing.assert_array_equal(new, nearest)


def test_differences_and_ratios_are_kept_where_that_suffices():
    for values, expected in ((TIMES, TIMES - TIMES.min()), (NORMAL * 2.0**200, NORMAL)):
        found = DistinctValues().fit_transform(values.astype(float)[:, np.newaxis]).ravel()
        ratio = found[np.abs(expected).argmax()] / expected[np.abs(expected).argmax()]
        np.testing.assert_array_equal(found, expected * ratio)


@pytest.mark.parametrize(
    "values",
    [
        NORMAL,
        np.round(NORMAL, 2),
        NORMAL * 1e30,
        np.arange(N) + 1e6,
        np.where(NORMAL > 1, np.nan, NORMAL),
        [np.nan] * 9,
    ],
)
@pytest.mark.parametrize("least_gap", [0.0, SCIKIT_LEARN_GAP])
def test_what_single_precision_holds_passes_as_it_is(values, least_gap):
    X = np.asarray(values)[:, np.newaxis]
    assert DistinctValues(least_gap=least_gap).fit_transform(X) is X
    if not np.isnan(X).any():
        X = sparse.csr_array(X)
        assert DistinctValues(least_gap=least_gap).fit_transform(X) is X


def test_values_that_chance_merges_are_moved_and_no_others():
    values = np.sort(RNG.normal(size=30_000))
    found = DistinctValues().fit_transform(values[:, np.newaxis]).ravel()
    is_moved = found.astype(np.float32) != values.astype(np.float32)
    assert 0 < is_moved.sum() < 100 and told_apart(found, 0)
    with_no_moves = DistinctValues(moves=False).fit_transform(values[:, np.newaxis]).ravel()
    np.testing.assert_array_equal(with_no_moves, values)


def test_missing_and_infinite_values_stay():
    X = np.append(TIMES, [np.nan, np.inf, -np.inf])[:, np.newaxis]
    for more in ([], [0]):
        found = DistinctValues().fit(np.append(X, more)[:, np.newaxis]).transform(X).ravel()
        assert told_apart(np.sort(found[:N]), 0)
        np.testing.assert_array_equal(found[N:], [np.nan, np.inf, -np.inf])


def test_large_values_leave_room_for_missing_ones():
    X = np.where(np.arange(N) % 20 == 0, np.abs(NORMAL) * 1e38, np.nan)[:, np.newaxis]
    filled = MissingValueFiller(for_trees=True).fit_transform(DistinctValues().fit_transform(X))
    assert np.isfinite(filled.astype(np.float32)).all()


def test_sparse_entries_of_a_cell_are_added_up():
    halves, starts = np.repeat(TIMES / 2, 2), np.arange(0, 2 * N + 1, 2)
    X = sparse.csr_array((halves, np.zeros(2 * N, dtype=int), starts), shape=(N, 1))
    found = DistinctValues().fit_transform(X).toarray().ravel()
    assert told_apart(found[np.argsort(TIMES)], 0)


def test_single_precision_passes_models_of_double_precision_without_warning():
    X = np.array([[1.5], [np.finfo(np.float32).max]], dtype=np.float32)
    assert DistinctValues(dtype="float64", moves=False).fit_transform(X) is X


def test_whole_numbers_are_exact_for_models_of_double_precision():
    X = TIMES[:, np.newaxis]
    distinct = DistinctValues(dtype="float64", least_gap=1e-34, moves=False)
    found = distinct.fit_transform(X)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, X)
    small = distinct.fit_transform(np.sort(NORMAL)[:, np.newaxis] * 1e-60)
    assert (np.diff(small[:, 0]) > 1e-34).all()


PUBLISHED = ["birds", "CAL500", "emotions", "enron", "flags", "scene", "yeast", "VirusPseAAC"]


@pytest.mark.parametrize("dataset", PUBLISHED)
def test_published_data_pass_as_they_are(dataset, mirror):
    X = prepare(dataset, catalog=load_catalog(), mirrors=[mirror], offline=True, progress=False).X
    for least_gap in (0.0, SCIKIT_LEARN_GAP):
        assert DistinctValues(least_gap=least_gap).fit_transform(X) is X
