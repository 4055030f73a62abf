"""Random folds have even sizes and random members."""

import numpy as np

from fairfold.splitting import RandomSplit
from fairfold.splitting.spread import spread


def test_sizes_differ_by_one_row_at_most_and_left_over_rows_fall_anywhere():
    Y = np.ones((23, 1), dtype=int)
    sizes = np.array([np.bincount(RandomSplit(random_state=seed).assign(Y)) for seed in range(3)])
    assert sizes.min() == 4
    assert sizes.max() == 5


def test_every_row_gets_every_fold():
    Y = np.ones((10, 1), dtype=int)
    draws = np.array([RandomSplit(2, random_state=seed).assign(Y) for seed in range(400)])
    # Each row is in fold 0 with probability 1/2. The tolerance is five standard errors of a mean of 400.
    assert np.abs(draws.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(400)


def test_heavy_rows_are_dealt_first():
    weights = np.array([1, 1, 1, 1, 4, 4])
    fold_of = spread(np.full(6, -1), weights, np.array([0.5, 0.5]), np.random.default_rng(0))
    assert np.bincount(fold_of, weights).tolist() == [6, 6]


def test_shares_are_kept_and_ties_go_to_the_smallest_fold():
    fold_of = np.array([0, 0, 1, -1])
    assert spread(fold_of, np.ones(4, dtype=np.int64), np.array([0.5, 0.5]), np.random.default_rng(0))[3] == 1
    fold_of = spread(np.full(40, -1), np.ones(40, dtype=np.int64), np.array([0.75, 0.25]), np.random.default_rng(0))
    assert np.bincount(fold_of).tolist() == [30, 10]
