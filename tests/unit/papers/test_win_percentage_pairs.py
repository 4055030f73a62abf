import numpy as np
import pytest

from fairfold.errors import DataError
from fairfold.papers.win_percentage_pairs import Setting, evaluate_part, evaluate_permuted
from fairfold.win_percentage import PairEvaluation, PerformanceHistogram, evaluate_feature_sets
from fairfold.win_percentage.pair_evaluation import histograms_from_arrays, histograms_to_arrays

SETTING = Setting(kurtosis_multiple=3, n_best=5)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 9)) + 0.8 * y[:, None] * rng.random(9)
    X[:, 4] = 7.0
    X[:, 6] = rng.standard_cauchy(40) ** 3
    return X, y


def test_parts_merge_to_all_pairs_of_gaussian_features(data):
    kept = [0, 1, 2, 3, 5, 7, 8]
    parts = [evaluate_part(*data, part, 4, SETTING, seed=1, name="a") for part in range(4)]
    merged = PairEvaluation.merged(parts)
    assert merged.histogram.n_sets == 21
    assert sum(part.histogram.n_sets for part in parts) == 21
    assert set(merged.best_pairs.ravel()) <= set(kept)
    whole = evaluate_part(*data, 0, 1, SETTING, seed=1, name="a")
    for name, array in whole.to_arrays().items():
        np.testing.assert_array_equal(merged.to_arrays()[name], array)


def test_best_pairs_are_columns_of_the_data(data):
    """Each pair evaluated alone with the same folds reaches its stated performance."""
    from fairfold.core.seeds import seed_for

    found = evaluate_part(*data, 0, 1, SETTING, seed=1, name="a")
    seed = seed_for(1, "a", "folds of pairs")
    X = np.delete(data[0], 4, axis=1)  # the constant feature is refused
    pairs = [[column - (column > 4) for column in pair] for pair in found.best_pairs.tolist()]
    alone = evaluate_feature_sets(X, data[1], pairs, random_state=seed)
    np.testing.assert_array_equal(alone.performance, found.best_performance)


def test_permutations_depend_on_their_numbers_only(data):
    together = evaluate_permuted(*data, range(3), SETTING, seed=1, name="a")
    (alone,) = evaluate_permuted(*data, [2], SETTING, seed=1, name="a")
    np.testing.assert_array_equal(together[2].performance, alone.performance)
    np.testing.assert_array_equal(together[2].counts, alone.counts)
    assert not np.array_equal(together[0].performance, together[1].performance)
    other = evaluate_permuted(*data, [2], SETTING, seed=2, name="a")[0]
    assert not np.array_equal(other.performance, alone.performance)


def test_permuted_labels_lose_what_there_is_to_find():
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 6)) + 3 * y[:, None]
    observed = evaluate_part(X, y, 0, 1, SETTING, seed=0, name="a").histogram
    permuted = PerformanceHistogram.merged(evaluate_permuted(X, y, range(20), SETTING, seed=0, name="a"))
    assert observed.performance.min() > 0.9  # six standard deviations above chance
    # This is the best of six classifiers. A single one has mean 0.5 and standard deviation 0.06.
    assert 0.5 < np.average(permuted.performance, weights=permuted.counts) < 0.6


def test_histograms_survive_as_arrays(data):
    histograms = evaluate_permuted(*data, range(3), SETTING, seed=1, name="a")
    for one, other in zip(histograms, histograms_from_arrays(histograms_to_arrays(histograms)), strict=True):
        for name in ("performance", "winners", "counts"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(("multiple", "n_parts"), [(1e-9, 1), (3, 22)])
def test_too_few_pairs_are_refused(data, multiple, n_parts):
    with pytest.raises(DataError, match=r"'a'.*kurtosis.*jobs_per_dataset"):
        evaluate_part(*data, 0, n_parts, Setting(kurtosis_multiple=multiple), seed=0, name="a")
