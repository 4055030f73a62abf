"""Test folds of whole groups: group rows, sizes compared with all assignments, and warnings about uneven folds."""

import itertools
import warnings

import numpy as np
import pytest

from fairfold.errors import UnevenFoldsWarning
from fairfold.splitting import IterativeStratification, OptiSplit, RandomSplit
from fairfold.splitting.group_folds import (
    SizeBand,
    collapse_groups,
    exchange_groups,
    folds_of_large_groups,
    size_band,
)
from fairfold.splitting.labels import check_labels

Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [0, 0], [0, 1]])
SITES = np.repeat(["Lima", "Accra", "Zagreb", "Bern", "Oslo"], [28, 26, 20, 12, 4])


def some_labels(n, q=6, seed=0):
    labels = (np.random.default_rng(seed).random((n, q)) < 0.3).astype(int)
    labels[0] = 1
    return labels


def all_assignments(n_groups, n_splits):
    """Yield every assignment without an empty fold."""
    every = (np.array(each) for each in itertools.product(range(n_splits), repeat=n_groups))
    return [fold_of for fold_of in every if len(set(fold_of)) == n_splits]


def test_groups_become_rows_with_weights_and_amounts():
    rows, row_of, names = collapse_groups(check_labels(Y), ["b", "a", "a", "b", "c", "c"], 2)
    assert names.tolist() == ["a", "b", "c"]
    assert row_of.tolist() == [1, 0, 0, 1, 2, 2]
    assert rows.weights.tolist() == [2, 2, 2]
    assert rows.labels.toarray().tolist() == [[True, True], [True, False], [False, True]]
    assert rows.amounts.tolist() == [1, 2, 2, 1]
    part = rows.of(np.array([2, 0]))
    assert part.labels.toarray().tolist() == [[False, True], [True, True]]
    assert part.amounts.tolist() == [1, 1, 2] and part.weights.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("weights", "proportions", "expected"),
    [
        ([5, 5, 5, 5], [0.5, 0.5], [-1, -1, -1, -1]),
        ([2, 90, 3, 5], [1 / 3] * 3, [-1, 0, -1, -1]),  # Without the 90, a fair fold has 5 rows.
        ([90, 6, 3, 1], [1 / 3] * 3, [0, 1, -1, -1]),
        ([28, 4], [0.8, 0.2], [0, -1]),
        ([28, 26, 20, 12, 4], [0.2] * 5, [0, 1, 2, 3, -1]),
    ],
)
def test_a_group_larger_than_a_fold_has_one_of_its_own(weights, proportions, expected):
    assert folds_of_large_groups(np.array(weights), np.array(proportions)).tolist() == expected


@pytest.mark.parametrize("seed", range(12))
def test_sizes_are_the_most_even_of_all_assignments(seed):
    rng, n_splits = np.random.default_rng(seed), 2 + seed % 3
    weights = rng.integers(1, 40, 7)
    fair = weights.sum() / n_splits
    band = size_band(weights, np.full(n_splits, 1 / n_splits), np.random.default_rng(0))
    largest = min(np.bincount(fold_of, weights).max() for fold_of in all_assignments(7, n_splits))
    # Within a slack of 5 % of the fair size, or 1 row, no search is needed.
    assert band.largest.max() <= max(largest, fair + max(1, 0.05 * fair))
    sizes = np.bincount(band.fold_of, weights, n_splits)
    assert (band.smallest <= sizes).all() and (sizes <= band.largest).all() and sizes.min() > 0


def test_exchanges_spread_labels_within_the_band():
    groups = np.repeat(np.arange(8), [5, 9, 7, 7, 3, 8, 6, 5])
    labels = some_labels(len(groups))
    rows, _, _ = collapse_groups(check_labels(labels), groups, 2)
    halves = np.full(2, 0.5)
    band = size_band(rows.weights, halves, np.random.default_rng(0))

    def loss(fold_of):
        return np.abs(labels[fold_of[groups] == 0].sum(axis=0) / labels.sum(axis=0) - 0.5).sum()

    found = exchange_groups(rows, band.fold_of, halves, band)
    in_band = [
        fold_of
        for fold_of in all_assignments(8, 2)
        if (np.abs(np.bincount(fold_of, rows.weights) - 25) <= band.largest[0] - 25).all()
    ]
    assert any(np.array_equal(found, fold_of) for fold_of in in_band)
    losses = np.sort([loss(fold_of) for fold_of in in_band])
    assert loss(found) < loss(band.fold_of)
    # A local search among about a dozen assignments finds one of the best eighth.
    assert loss(found) <= losses[len(losses) // 8]


def test_exchanges_with_similarities_end_where_no_move_or_swap_lowers_the_loss():
    rng, groups = np.random.default_rng(3), np.repeat(np.arange(10), [5, 9, 7, 7, 3, 8, 6, 5, 4, 6])
    labels, points = some_labels(len(groups)), rng.normal(size=(10, 3))
    rows, _, _ = collapse_groups(check_labels(labels), groups, 2)
    band = SizeBand(np.arange(10) % 2, np.full(2, 25), np.full(2, 35))
    shares = np.array([labels[groups == group].sum(axis=0) for group in range(10)]) / labels.sum(axis=0)

    def loss(fold_of):
        of_folds = [np.abs(shares[fold_of == fold].sum(axis=0) - 0.5).mean() for fold in (0, 1)]
        return sum(of_folds) - 0.2 * sum((points[fold_of == fold].sum(axis=0) ** 2).sum() for fold in (0, 1))

    found = exchange_groups(rows, band.fold_of, np.full(2, 0.5), band, 0.2 * points @ points.T)
    assert loss(found) < loss(band.fold_of)
    changes = [[group] for group in range(10)] + [[*pair] for pair in np.argwhere(found[:, np.newaxis] < found)]
    for change in changes:
        other = found.copy()
        other[change] = 1 - other[change]
        if (np.abs(np.bincount(other, rows.weights) - 30) <= 5).all():
            assert loss(other) > loss(found) - 1e-8


def test_uneven_folds_are_warned_of_by_the_names_of_the_groups():
    labels = some_labels(len(SITES))
    with pytest.warns(UnevenFoldsWarning) as given:
        folds = OptiSplit(random_state=0).assign(labels, SITES)
    assert sorted(np.bincount(folds)) == [4, 12, 20, 26, 28]
    assert len(given) == 1
    text = str(given[0].message)
    assert "because of Lima (28 rows), Accra (26 rows), Zagreb (20 rows); use fewer folds" in text
    assert "instead of 18, 18, 18, 18, 18" in text
    with pytest.warns(UnevenFoldsWarning, match="rows instead of 81, 9.*; choose another test_size"):
        RandomSplit(random_state=0).train_test(labels[SITES != "Oslo"].repeat(2, axis=0)[:90], 0.1, SITES)


def test_even_folds_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = IterativeStratification(3, random_state=0).assign(some_labels(len(SITES)), SITES)
        IterativeStratification(5, random_state=0).assign(some_labels(90), np.arange(90) // 3)
    assert sorted(np.bincount(folds)) == [28, 30, 32]


def test_a_group_that_holds_all_positives_leaves_the_others_to_be_divided_by_size():
    groups = np.repeat(np.arange(6), [50, 5, 4, 3, 2, 1])
    with pytest.warns(UnevenFoldsWarning):
        folds = OptiSplit(3, random_state=0).assign((groups == 0)[:, np.newaxis], groups)
    assert sorted(np.bincount(folds)) == [7, 8, 50]
