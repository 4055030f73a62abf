"""Test random sets of features, and pairs by number."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fairfold.errors import DataError
from fairfold.win_percentage.feature_sets import draw_feature_sets, pair_at


@pytest.mark.parametrize("n_features", [2, 3, 10])
def test_pairs_are_numbered_row_by_row(n_features):
    pairs = list(combinations(range(n_features), 2))
    assert [pair_at(number, n_features) for number in range(len(pairs))] == pairs


def test_pair_numbers_stay_exact_when_large():
    n = 3_000_000_000
    assert pair_at(n * (n - 1) // 2 - 1, n) == (n - 2, n - 1) and pair_at(n - 1, n) == (1, 2)


def test_draws_are_uniform():
    sets = draw_feature_sets(5, 2, 4000, random_state=0)
    assert (np.diff(sets) > 0).all()
    times = np.unique(sets, axis=0, return_counts=True)[1]
    # Ten pairs have a chance of 1/10 each. Of all draws, 1e-4 exceed this bound.
    assert len(times) == 10 and stats.chisquare(times).pvalue > 1e-4


def test_draws_follow_the_seed():
    one, same, other = (draw_feature_sets(30, 2, 50, random_state=seed) for seed in (-1, -1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(("size", "message"), [(6, "found 6 for 5 features"), (0, "size: found 0")])
def test_draws_name_mistakes(size, message):
    with pytest.raises(DataError, match=message):
        draw_feature_sets(5, size, 3)
