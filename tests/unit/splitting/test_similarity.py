"""Test folds of clusters: how unlike their samples are, balance, distances and messages."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import pairwise_distances

from fairfold.errors import SplitError, UnevenFoldsWarning
from fairfold.splitting import RandomSplit, SimilarityFolds
from fairfold.splitting.matching import best_match
from fairfold.splitting.measures import relative_label_distribution

RANDOM = np.random.default_rng(0)
SITES = RANDOM.normal(size=(24, 3)) * 4
X = np.repeat(SITES, 10, axis=0) + RANDOM.normal(size=(240, 3)) * (
    1,
    1,
    100,
)  # Only the third feature is spread widely.
X[:, 2] /= 100
Y = (RANDOM.random((240, 4)) < 0.3).astype(int)


def nearest(fold_of, distances):
    """Return the mean distance from a test sample to the nearest training sample."""
    is_other = fold_of[:, np.newaxis] != fold_of
    return np.where(is_other, distances, np.inf).min(axis=1).mean()


def test_test_samples_are_unlike_the_training_samples_and_labels_are_balanced():
    fold_of = SimilarityFolds(4, random_state=0).assign(Y, X=X)
    assert np.bincount(fold_of).min() >= 54 and np.bincount(fold_of).max() <= 66
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    distances, random = pairwise_distances(standardized), RandomSplit(4, random_state=0).assign(Y)
    assert nearest(fold_of, distances) > 1.5 * nearest(random, distances)
    with pytest.warns(UnevenFoldsWarning, match="because of cluster "):
        larger = SimilarityFolds(4, size=0.25, random_state=0).assign(Y, X=X)
    assert nearest(larger, distances) > 1.3 * nearest(fold_of, distances)
    assert relative_label_distribution(fold_of, Y) < relative_label_distribution(random, Y)


def test_separation_puts_similar_clusters_into_one_fold():
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    distances, folds = pairwise_distances(standardized), {}
    for separation in (0, 2, 50):
        splitter = SimilarityFolds(4, size=0.02, separation=separation, random_state=0)
        folds[separation] = splitter.assign(Y, X=X)
        assert np.bincount(folds[separation]).min() >= 54 and np.bincount(folds[separation]).max() <= 66
    apart = [nearest(fold_of, distances) for fold_of in folds.values()]
    assert apart[0] < apart[1] < apart[2]
    balance = [relative_label_distribution(fold_of, Y) for fold_of in folds.values()]
    assert balance[0] < balance[1] < balance[2]
    train, test = SimilarityFolds(4, separation=50, random_state=0).train_test(Y, 0.25, X=X)
    by_labels = SimilarityFolds(4, size=0.005, random_state=0).train_test(Y, 0.25, X=X)[1]
    assert distances[np.ix_(test, train)].min(axis=1).mean() > distances[by_labels][:, train].min(axis=1).mean()
    assert len(train) + len(test) == 240 and 54 <= len(test) <= 66


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_features_have_the_clusters_of_dense_ones(metric):
    counts = np.random.default_rng(1).poisson(0.7, (80, 5))
    splitter = SimilarityFolds(3, metric=metric, random_state=0)
    np.testing.assert_array_equal(splitter.clusters(counts), splitter.clusters(sparse.csr_array(counts)))


def test_no_cluster_is_larger_than_its_size_unless_rows_are_equal():
    splitter = SimilarityFolds(4, size=0.05, random_state=0)
    assert np.bincount(splitter.clusters(X)).max() <= 12
    outliers = np.vstack([X, 1e3 * np.eye(3)])  # A cut that separates a single row hardly makes a cluster smaller.
    assert np.bincount(splitter.clusters(outliers)).max() <= 12
    copies = np.vstack([X, np.zeros((30, 3))])
    assert len(set(splitter.clusters(copies)[-30:])) == 1


def test_each_distance_finds_what_is_close():
    degrees = [[0, 179], [1, -179], [0, 90], [1, 91], [0, 0], [2, 1], [89, 0], [89, 180]]
    where = SimilarityFolds(2, metric="haversine", size=0.25, random_state=0).clusters(degrees)
    assert all(where[row] == where[row + 1] for row in (0, 2, 4, 6)) and where.max() == 3
    rows = [[1, 1, 0, 0], [9, 9, 0, 0], [0, 0, 1, 2], [0, 0, 5, 10]]
    for metric in ("cosine", "jaccard"):
        where = SimilarityFolds(2, metric=metric, size=0.5, random_state=0).clusters(rows)
        assert where[0] == where[1] != where[2] == where[3]


def test_groups_stay_together_and_folds_are_repeatable():
    groups = np.arange(240) // 5
    splitter = SimilarityFolds(4, random_state=0)
    for train, test in splitter.split(X, Y, groups):
        assert not set(groups[train]) & set(groups[test]) and len(train) + len(test) == 240
    np.testing.assert_array_equal(splitter.assign(Y, X=X), splitter.assign(Y, X=pd.DataFrame(X)))
    assert (splitter.assign(Y, X=X) != SimilarityFolds(4, random_state=1).assign(Y, X=X)).any()
    gaps = np.where(RANDOM.random(X.shape) < 0.1, np.nan, X)
    assert sorted(set(splitter.assign(Y, X=gaps))) == [0, 1, 2, 3]
    train, test = splitter.train_test(Y, 0.25, X=X)
    assert len(train) + len(test) == 240 and 50 <= len(test) <= 70


@pytest.mark.parametrize(
    ("options", "features", "message"),
    [
        ({}, None, "X: the features are missing"),
        ({}, [["a"]] * 240, "X: could not convert string"),
        ({}, sparse.csr_array(np.full((240, 2), np.nan)), "X: Input contains NaN. Give numbers"),
        ({}, np.ones((240, 2)), "X: 1 different rows or groups cannot fill 4 folds"),
        ({"metric": "manhattan"}, X, "metric: found 'manhattan'. Use 'euclidean' or"),
        ({"size": 0.5}, X, "size: found 0.5. Give a share of at most 0.25"),
        ({"separation": -1}, X, "separation: found -1. Give 0, or a positive number"),
        ({"metric": "haversine"}, X, "X: found 3 features. For haversine, give latitude and longitude"),
        ({"metric": "haversine"}, np.full((240, 2), 120), "X: row 1 has the coordinates 120, 120. Give latitudes"),
    ],
)
def test_what_is_wrong_is_said(options, features, message):
    with pytest.raises(SplitError, match=message):
        SimilarityFolds(4, **options, random_state=0).assign(Y, X=features)


def test_a_group_larger_than_a_cluster_stays_whole():
    groups = np.repeat([0, 1, 2], [180, 30, 30])
    assert len(np.unique(SimilarityFolds(2, random_state=0).clusters(X, groups))) == 3


@pytest.mark.parametrize(("distance", "number", "kind"), [(0.4, 0, "nearer"), (9.0, 1, "alike"), (30.0, 1, "further")])
def test_folds_match_the_distances_of_a_new_table(distance, number, kind):
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    match = best_match([np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])], X, X[2:] + distance)
    assert (match.number, match.kind) == (number, kind)
