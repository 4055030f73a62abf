import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import recall_score
from sklearn.naive_bayes import GaussianNB

from fairfold.errors import DataError, ModelError, SplitError
from fairfold.win_percentage.gaussians import GAUSSIAN_CLASSIFIERS, gaussian_classifiers
from fairfold.win_percentage.win import PerformanceHistogram
from fairfold.win_percentage.wrapper import (
    _folds,
    draw_feature_sets,
    evaluate_all_pairs,
    evaluate_feature_sets,
    gaussian_features,
    n_pairs,
    pairs_between,
)


def data(n=60, n_features=12, *, rounded=False, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, n_features)) + 0.8 * y[:, None] * (rng.random(n_features) < 0.5)
    return (np.round(2 * X) if rounded else X), y


def reference(X, y, feature_sets, n_splits, n_repeats, random_state):
    """One model after the other, recalls by scikit-learn; winners are those within rounding of the top."""
    fold_of = _folds(y, n_splits, n_repeats, random_state)
    performances = []
    for features in feature_sets:
        row = []
        for model in gaussian_classifiers().values():
            recalls = []
            for folds in fold_of:
                predicted = np.empty_like(y)
                for k in range(n_splits):
                    model.fit(X[folds != k][:, features], y[folds != k])
                    predicted[folds == k] = model.predict(X[folds == k][:, features])
                recalls.append(recall_score(y, predicted, average="macro"))
            row.append(np.mean(recalls))
        performances.append(row)
    performances = np.array(performances)
    return performances, performances >= performances.max(axis=1, keepdims=True) - 1e-12


@pytest.mark.parametrize(("n_splits", "n_repeats"), [(3, 2), (5, 1)])
def test_pairs_are_those_of_a_plain_loop(n_splits, n_repeats):
    X, y = data()
    pairs = list(itertools.combinations(range(12), 2))
    found = evaluate_feature_sets(X, y, pairs, n_splits=n_splits, n_repeats=n_repeats, random_state=3)
    performances, winners = reference(X, y, pairs, n_splits, n_repeats, 3)
    np.testing.assert_allclose(found.performances, performances, atol=1e-12)
    np.testing.assert_array_equal(found.winners, winners)
    np.testing.assert_allclose(found.performance, performances.max(axis=1), atol=1e-12)
    assert (found.winners.sum(axis=1) > 1).any()
    assert found.classifiers == tuple(GAUSSIAN_CLASSIFIERS)


def test_ties_are_kept_where_features_take_few_values():
    """The compiled kernel against the general path, which counts the same whole numbers from fitted models."""
    X, y = data(rounded=True)
    pairs = list(itertools.combinations(range(12), 2))
    fast = evaluate_feature_sets(X, y, pairs)
    plain = evaluate_feature_sets(X, y, pairs, classifiers=gaussian_classifiers())
    # samples on a boundary may fall either way by rounding; nearly all sets have none
    same = (fast.performances == plain.performances).all(axis=1)
    assert same.mean() > 0.8
    np.testing.assert_array_equal(fast.winners[same], plain.winners[same])
    assert (fast.winners.sum(axis=1) > 1).sum() >= 10


def test_thousands_of_random_pairs():
    X, y = data(90, 100, seed=4)
    sets = draw_feature_sets(100, 2, 3000, random_state=5)
    found = evaluate_feature_sets(X, y, sets)
    some = np.random.default_rng(0).choice(3000, 40, replace=False)
    performances, winners = reference(X, y, [sets[k] for k in some], 3, 2, 0)
    np.testing.assert_allclose(found.performances[some], performances, atol=1e-12)
    np.testing.assert_array_equal(found.winners[some], winners)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_other_sizes(size):
    X, y = data()
    sets = draw_feature_sets(12, size, 6, random_state=1)
    found = evaluate_feature_sets(X, y, sets)
    performances, winners = reference(X, y, sets, 3, 2, 0)
    np.testing.assert_allclose(found.performances, performances, atol=1e-12)
    np.testing.assert_array_equal(found.winners, winners)


def test_any_classifiers_classes_and_scorer():
    rng = np.random.default_rng(0)
    y = np.repeat([4, 7, 9], 20)
    X = rng.normal(size=(60, 4)) + 0.5 * y[:, None]
    models = {"naive": GaussianNB(), "linear": LinearDiscriminantAnalysis()}
    plain = evaluate_feature_sets(X, y, [[0, 1], [2]], classifiers=models)
    assert plain.performances.shape == (2, 2)
    assert (plain.performances > 0.5).all()
    scored = evaluate_feature_sets(X, y, [[0, 1], [2]], classifiers=models, scoring="accuracy")
    np.testing.assert_allclose(scored.performances, plain.performances, atol=0.05)
    assert scored.winners.any(axis=1).all()


def test_results_do_not_depend_on_the_number_of_threads():
    X, y = data()
    sets = draw_feature_sets(12, 2, 500)
    one, two = (evaluate_feature_sets(X, y, sets, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.performances, two.performances)


def test_all_pairs_are_counted_in_any_chunks():
    X, y = data(60, 30)
    sets = list(itertools.combinations(range(30), 2))
    found = evaluate_feature_sets(X, y, sets)
    expected = PerformanceHistogram.from_sets(found.performance, found.winners)
    parts = [evaluate_all_pairs(X, y, start=a, stop=b) for a, b in ((0, 100), (100, 101), (101, 435))]
    for histogram in (evaluate_all_pairs(X, y), PerformanceHistogram.merged(parts)):
        np.testing.assert_array_equal(histogram.performance, expected.performance)
        np.testing.assert_array_equal(histogram.winners, expected.winners)
        np.testing.assert_array_equal(histogram.counts, expected.counts)


@pytest.mark.parametrize("n_features", [2, 3, 17])
def test_pairs_by_number(n_features):
    pairs = list(itertools.combinations(range(n_features), 2))
    assert n_pairs(n_features) == len(pairs)
    assert list(zip(*pairs_between(0, len(pairs), n_features), strict=True)) == pairs
    assert list(zip(*pairs_between(1, len(pairs), n_features), strict=True)) == pairs[1:]


def test_feature_sets_are_drawn_as_asked():
    sets = draw_feature_sets(5, {1: 1, 3: 3}, 2000, weights=[1, 1, 1, 1, 0], random_state=2)
    sizes = np.array([len(each) for each in sets])
    assert abs((sizes == 3).mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 2000)
    assert not any(4 in each for each in sets)
    assert all(len(set(each)) == len(each) for each in sets)
    singles = np.concatenate([each for each in sets if len(each) == 1])
    assert stats.chisquare(np.bincount(singles, minlength=4)).pvalue > 1e-4


def test_gaussian_features_are_kept():
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=(300, 200)), rng.exponential(size=(300, 20)) ** 2))
    kept = gaussian_features(X, 2)
    assert not (kept >= 200).any()
    assert abs((kept < 200).sum() / 200 - 0.95) < 0.06


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.zeros(60)}, DataError, "the class 0.0 only"),
        ({"X": np.ones((60, 12))}, DataError, "12 features are constant, the first is column 0"),
        ({"X": np.where(np.arange(12) == 2, np.nan, data()[0])}, DataError, "X holds nan in row 0, column 2"),
        ({"y": np.arange(60) >= 58}, SplitError, "class number 1 has 2 samples, too few for 3 folds"),
        ({"n_splits": 1}, SplitError, "of 1 folds"),
        ({"feature_sets": [[0, 12]]}, ModelError, "outside 0 to 11"),
        ({"feature_sets": [range(13)]}, ModelError, "no set of 1 to 12 different columns"),
        ({"feature_sets": [[1, 1]]}, ModelError, "no set of 1 to 12 different columns"),
        ({"feature_sets": []}, ModelError, "0 feature sets"),
        ({"classifiers": ["NCC"]}, ModelError, "unknown Gaussian classifier 'NCC': did you mean 'NC'"),
    ],
)
def test_mistakes_are_told(change, error, message):
    X, y = data()
    arguments = {"X": X, "y": y, "feature_sets": [[0, 1]], **change}
    with pytest.raises(error, match=message):
        evaluate_feature_sets(**arguments)


def test_sizes_that_cannot_be_drawn():
    with pytest.raises(ModelError, match="size 6 are asked of 5 features"):
        draw_feature_sets(5, 6, 1)
    with pytest.raises(ModelError, match="weights has shape"):
        draw_feature_sets(5, 2, 1, weights=[1, -1, 1, 1, 1])
