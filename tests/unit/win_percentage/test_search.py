import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score

from fairfold.core.folds import stratified_folds
from fairfold.core.seeds import seed_sequence
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.win_percentage import (
    draw_feature_sets,
    evaluate_feature_sets,
    gaussian_features,
    make_gaussian,
    search_feature_sets,
)

SETS = draw_feature_sets(12, 2, 60)


def samples(shift):
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 12))
    X[:, [3, 7]] += shift * y[:, None]
    return X, y


def test_the_search_returns_the_best_set_its_score_and_its_classifier():
    X, y = samples(1.0)
    found, all_sets = search_feature_sets(X, y, SETS, n_permutations=0), evaluate_feature_sets(X, y, SETS)
    set_number, classifier = np.unravel_index(all_sets.performances.argmax(), all_sets.performances.shape)
    assert found.features.tolist() == SETS[set_number].tolist()
    assert found.classifier == all_sets.classifiers[classifier]
    assert found.performance == all_sets.performances.max()
    assert np.isnan(found.p_value) and np.isnan(found.n_independent)


def test_a_strong_label_passes_and_a_random_one_fails():
    """Both controls: the positive one beats all permutations, and nested performance confirms it."""
    strong, random = (search_feature_sets(*samples(shift), SETS, n_permutations=39) for shift in (3.0, 0.0))
    assert strong.p_value == 1 / 40 and strong.nested_performance > 0.9
    assert random.p_value > 0.1 and random.nested_performance < 0.65
    assert random.performance > 0.6  # The best of many is far above chance.
    assert 1 <= random.n_independent < 60


@pytest.mark.parametrize(("control", "finds"), [("sex", 6), ("random", 0)])
def test_every_classifier_finds_the_positive_control_and_none_the_random_labels(control, finds):
    data = prepare(f"neuroblastoma-{control}-like")
    kept = gaussian_features(data.X, 2)
    found = evaluate_feature_sets(data.X[:, kept], data.Y, draw_feature_sets(len(kept), 2, 20_000))
    # The standard error of a random classifier's performance is 0.03, and 20,000 pairs reach about 4 of them.
    assert np.count_nonzero(found.performances.max(axis=0) > 0.75) == finds


def test_p_values_are_valid_for_random_labels():
    """Of 40 searches with random labels, a level of 0.2 rejects 8 on average, with a standard deviation of 2.5."""
    rng, X = np.random.default_rng(1), samples(0)[0]
    found = [search_feature_sets(X, rng.permutation(60) % 2, SETS, n_permutations=9).p_value for _ in range(40)]
    assert np.count_nonzero(np.array(found) <= 0.2) <= 15


def test_nested_performance_is_a_plain_loop():
    X, y = samples(1.0)
    fold_of = stratified_folds(y, 5, np.random.default_rng(seed_sequence(0, "outer folds")))
    predicted = np.empty_like(y)
    for fold in range(5):
        training = fold_of != fold
        inner = search_feature_sets(X[training], y[training], SETS, n_permutations=0)
        model = make_gaussian(inner.classifier).fit(X[training][:, inner.features], y[training])
        predicted[~training] = model.predict(X[~training][:, inner.features])
    expected = recall_score(y, predicted, average="macro")
    assert search_feature_sets(X, y, SETS, n_permutations=0).nested_performance == expected


def test_sets_of_other_sizes_and_other_classifiers():
    X, y = samples(3.0)
    models = {"logistic": LogisticRegression()}
    found = search_feature_sets(X, y, [[0, 1, 2], [3, 7]], classifiers=models, n_permutations=2)
    assert (found.features.tolist(), found.classifier) == ([3, 7], "logistic")


def test_a_set_that_is_constant_without_an_outer_fold_is_left_out():
    X, y = samples(3.0)
    X[:, 0] = 0
    X[5, 0] = 1
    assert search_feature_sets(X, y, [[0, 1], [3, 7]], n_permutations=0).nested_performance > 0.9
    with pytest.raises(DataError, match="all feature sets have a constant feature"):
        search_feature_sets(X, y, [[0, 1]], n_permutations=0)
