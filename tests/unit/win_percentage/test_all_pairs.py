"""All pairs, counted in any chunks, equal a list of every pair."""

from itertools import combinations

import numpy as np
import pytest

from fairfold.core.files import write_arrays
from fairfold.errors import DataError, SplitError
from fairfold.win_percentage import PairEvaluation, all_pairs, evaluate_all_pairs
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import evaluate_feature_sets

N_FEATURES, N_PAIRS = 30, 435


def samples(n=40, *, whole=True):
    """Return features with few distinct values and many ties."""
    rng = np.random.default_rng(n)
    y = (np.arange(n) < 0.4 * n).astype(int)
    X = 2 * rng.normal(size=(n, N_FEATURES)) + y[:, None] * rng.normal(size=N_FEATURES)
    return (np.round(X) if whole else X), y


def listed(X, y, start=0, stop=N_PAIRS, *, n_best, **options):
    """Evaluate a list of all pairs."""
    pairs = np.array(list(combinations(range(N_FEATURES), 2)))[start:stop]
    found = evaluate_feature_sets(X, y, pairs, **options)
    order = sorted(range(len(pairs)), key=lambda k: (-found.performance[k], k))[:n_best]
    return PairEvaluation(
        histogram=PerformanceHistogram.from_sets(found.performance, found.winners),
        best_pairs=pairs[order],
        best_performance=found.performance[order],
        n_best=n_best,
    )


def assert_same(one, other):
    ours, theirs = one.to_arrays(), other.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name, strict=True)


@pytest.mark.parametrize("block", [7, 1 << 16])  # pairs in memory at the same time
@pytest.mark.parametrize(("n", "whole", "n_best"), [(40, True, 1), (40, True, 20), (47, False, 1000)])
def test_all_pairs_are_what_a_list_of_pairs_gives(monkeypatch, n, whole, n_best, block):
    monkeypatch.setattr(all_pairs, "BLOCK", block)
    X, y = samples(n, whole=whole)
    found = evaluate_all_pairs(X, y, n_best=n_best)
    assert_same(found, listed(X, y, n_best=n_best))
    assert found.histogram.n_sets == N_PAIRS
    assert len(found.best_pairs) == min(n_best, N_PAIRS)


def test_options_reach_the_folds():
    X, y = samples()
    options = {"n_splits": 4, "n_repeats": 3, "random_state": 8}
    assert_same(evaluate_all_pairs(X, y, **options), listed(X, y, n_best=100, **options))


def test_equal_pairs_stay_in_their_order(monkeypatch):
    monkeypatch.setattr(all_pairs, "BLOCK", 3)
    X, y = samples()
    X = X[:, np.arange(N_FEATURES) % 3]  # ten copies each of three features
    found = evaluate_all_pairs(X, y, n_best=60)
    assert_same(found, listed(X, y, n_best=60))
    assert len(np.unique(found.best_performance)) == 1


@pytest.mark.parametrize("size", [100, 434])
def test_chunks_merge_to_the_whole(size):
    X, y = samples()
    chunks = [(start, min(start + size, N_PAIRS)) for start in range(0, N_PAIRS, size)]
    parts = [evaluate_all_pairs(X, y, start=start, stop=stop) for start, stop in chunks]
    assert_same(parts[-1], listed(X, y, *chunks[-1], n_best=100))
    whole = listed(X, y, n_best=100)
    assert_same(PairEvaluation.merged(parts), whole)
    assert_same(PairEvaluation.merged([PairEvaluation.merged(parts[1:]), parts[0]]), whole)  # in any order


def test_a_saved_one_is_read_back(tmp_path):
    X, y = samples()
    found = evaluate_all_pairs(X, y, n_best=5)
    write_arrays(tmp_path / "pairs.npz", **found.to_arrays())
    with np.load(tmp_path / "pairs.npz") as arrays:
        again = PairEvaluation.from_arrays(arrays)
    assert_same(again, found)
    assert isinstance(again.n_best, int)
    n_draws = [1, 10, 1000]
    np.testing.assert_array_equal(
        again.histogram.win_percentage(n_draws), listed(X, y, n_best=5).histogram.win_percentage(n_draws)
    )


def test_two_features_are_one_pair():
    X, y = samples(whole=False)
    found = evaluate_all_pairs(X[:, :2], y)
    assert found.best_pairs.tolist() == [[0, 1]] and found.histogram.n_sets == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 0, "stop": 436}, "found 0 and 436. Give a range of the 435 pairs"),
        ({"start": 9, "stop": 9}, "start and stop: found 9 and 9"),
        ({"start": -1}, "start: found -1"),
        ({"stop": 2.5}, "stop: found 2.5"),
        ({"n_best": 0}, "n_best: found 0"),
        ({"random_state": "a"}, "random_state: found 'a'"),
        ({"y": np.arange(40) % 3}, "found 3 classes, expected two"),
        ({"y": np.arange(39)}, "one class per sample"),
    ],
)
def test_mistakes_are_named(options, message):
    X, y = samples()
    with pytest.raises(DataError, match=message):
        evaluate_all_pairs(**{"X": X, "y": y, **options})


def test_too_few_samples_for_the_folds():
    X, y = samples()
    with pytest.raises(SplitError, match="each of 20 training parts needs at least two"):
        evaluate_all_pairs(X, y, n_splits=20)
