"""Random sets of features, and pairs by their number."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fairfold.errors import DataError, StudyError
from fairfold.win_percentage.feature_sets import draw_feature_sets, pair_at, pair_chunks


@pytest.mark.parametrize("n_features", [2, 3, 10])
def test_pairs_are_numbered_row_by_row(n_features):
    pairs = list(combinations(range(n_features), 2))
    assert [pair_at(number, n_features) for number in range(len(pairs))] == pairs


def test_pair_numbers_stay_exact_when_large():
    n = 3_000_000_000
    assert pair_at(n * (n - 1) // 2 - 1, n) == (n - 2, n - 1) and pair_at(n - 1, n) == (1, 2)


def test_chunks_cover_all_pairs():
    assert pair_chunks(5, 4) == [(0, 4), (4, 8), (8, 10)]
    assert pair_chunks(2, 100) == [(0, 1)]
    with pytest.raises(DataError, match="size is 0"):
        pair_chunks(5, 0)
    with pytest.raises(DataError, match="n_features is 1"):
        pair_chunks(1, 5)


def test_draws_without_weights_are_uniform():
    sets = draw_feature_sets(5, 2, 4000, random_state=0)
    assert (np.diff(sets) > 0).all()
    times = np.unique(sets, axis=0, return_counts=True)[1]
    # Ten pairs of chance 1/10; 1e-4 of all draws exceed this bound
    assert len(times) == 10 and stats.chisquare(times).pvalue > 1e-4


def test_draws_follow_the_seed():
    one, same, other = (draw_feature_sets(30, 2, 50, random_state=seed) for seed in (-1, -1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_draws_are_distinct_features_and_follow_the_weights():
    sets = draw_feature_sets(5, 2, 4000, weights=[1, 1, 1, 0, 5], random_state=0)
    assert sets.shape == (4000, 2) and (np.diff(sets) > 0).all() and not (sets == 3).any()
    # Drawn first with 5/8, or second after one of the three others: 5/8 + 3/8 · 5/7; four standard errors allowed
    share = 5 / 8 + 3 / 8 * 5 / 7
    assert abs((sets == 4).any(axis=1).mean() - share) < 4 * np.sqrt(share * (1 - share) / 4000)


def test_sizes_follow_their_prior():
    sets = draw_feature_sets(9, {1: 3, 4: 1}, 2000, random_state=0)
    sizes = np.array([len(chosen) for chosen in sets])
    assert set(sizes) == {1, 4} and abs((sizes == 1).mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 2000)


@pytest.mark.parametrize(
    ("size", "options", "message"),
    [
        (6, {}, "size 6 cannot be drawn from 5"),
        (3, {"weights": [1, 1, 0, 0, 0]}, "from 2 features"),
        (0, {}, "size is 0"),
        ({1: -1}, {}, "probabilities"),
        ({}, {}, "probabilities"),
        (2, {"weights": [1, 2]}, "weights"),
        (2, {"weights": [1, 1, 1, 1, -1]}, "weights"),
        (2, {"weights": ["a"] * 5}, "weights holds values"),
        (2, {"random_state": None}, "random_state is None"),
    ],
)
def test_draws_name_mistakes(size, options, message):
    with pytest.raises(StudyError, match=message):
        draw_feature_sets(5, size, 3, **options)
