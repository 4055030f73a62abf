"""Test Gower's distance against a plain reference, and folds and distances that use it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.errors import SplitError
from fairfold.splitting import SimilarityFolds
from fairfold.splitting.gower import MixedRows, gower_distances
from fairfold.splitting.similarity import distances_of_new, nearest_distances

RANDOM = np.random.default_rng(0)
N = 40


def table(n_rows, seed):
    """Return rows of numbers and categories, of which some are missing."""
    rng = np.random.default_rng(seed)
    height, width = rng.normal(size=n_rows), rng.integers(0, 5, n_rows).astype(float)
    soil, is_wet = rng.choice(["wet", "dry", "sand", ""], n_rows), rng.random(n_rows) < 0.5
    slope = pd.Categorical(rng.choice(["flat", "steep"], n_rows))
    frame = pd.DataFrame(
        {"height": height, "soil": soil, "width": width, "is_wet": is_wet, "slope": slope, "same": 1.0}
    )
    return frame.mask(rng.random(frame.shape) < 0.15)


def reference(X, Y, like):
    """Compute Gower's distance cell by cell."""
    found = np.ones((len(X), len(Y)))
    for row in range(len(X)):
        for other in range(len(Y)):
            parts = []
            for name in X:
                x, y = X[name].iloc[row], Y[name].iloc[other]
                if any(pd.isna(cell) or cell == "" for cell in (x, y)):
                    continue
                if name in ("soil", "slope"):
                    parts.append(float(x != y))
                else:
                    known = like[name].dropna().astype(float)
                    parts.append(abs(float(x) - float(y)) / (known.max() - known.min() or 1))
            found[row, other] = np.mean(parts) if parts else 1
    return found


def test_distances_equal_the_reference():
    X, Y = (table(n_rows, seed).astype({"is_wet": float}) for n_rows, seed in ((25, 1), (12, 2)))
    X.iloc[3], Y.iloc[4] = np.nan, np.nan
    np.testing.assert_allclose(gower_distances(X), reference(X, X, X), atol=1e-12)
    np.testing.assert_allclose(gower_distances(X, Y), reference(X, Y, X), atol=1e-12)
    nearest = MixedRows.of(Y, like=X).nearest(MixedRows.of(X))
    np.testing.assert_allclose(nearest, reference(Y, X, X).min(axis=1), atol=1e-12)


def test_weights_repeat_columns():
    X = table(20, 3).astype({"is_wet": float})
    twice = X.assign(again=X["soil"], third=X["soil"])
    weighted = MixedRows.of(X, weights=[1, 3, 1, 1, 1, 1])
    np.testing.assert_allclose(weighted.distances(weighted), gower_distances(twice), atol=1e-12)
    points, repeated = weighted.points(), MixedRows.of(twice).points()
    assert (points**2).sum() == pytest.approx((repeated**2).sum())


def test_categories_count_as_much_as_numbers():
    rare = pd.DataFrame({"height": np.linspace(0, 1, N), "soil": ["wet"] + ["dry"] * (N - 1)})
    fold_of = np.arange(N) % 4
    expected = reference(rare, rare, rare)
    expected[fold_of[:, np.newaxis] == fold_of] = np.inf
    wanted = np.concatenate([expected[fold_of == fold].min(axis=1) for fold in range(4)])
    np.testing.assert_allclose(nearest_distances(rare, fold_of, metric="gower"), wanted)
    new = pd.DataFrame({"height": [2.0], "soil": ["ice"]})  # An unknown category is missing.
    assert distances_of_new(rare, new, metric="gower").tolist() == [1.0]
    kinds = pd.DataFrame({"kind": np.repeat(["a", "b", "c", "d"], 10), "noise": RANDOM.normal(size=N)})
    clusters = SimilarityFolds(4, metric="gower", size=0.25, random_state=0).clusters(kinds)
    assert pd.crosstab(clusters, kinds["kind"]).gt(0).sum(axis=1).eq(1).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "jaccard", "gower"])
def test_features_of_weight_zero_have_no_effect(metric):
    X = RANDOM.poisson(0.8, (N, 4)).astype(float)
    other = X.copy()
    other[:, 2] = RANDOM.permutation(X[:, 2])
    options = {"metric": metric, "feature_weights": [1, 2, 0, 1], "random_state": 0}
    splitter = SimilarityFolds(3, **options)
    np.testing.assert_array_equal(splitter.clusters(X), splitter.clusters(other))
    if metric != "gower":
        both = [splitter.clusters(sparse.csr_array(each)) for each in (X, other)]
        np.testing.assert_array_equal(*both)


@pytest.mark.parametrize(
    ("options", "features", "message"),
    [
        ({}, sparse.csr_array(np.eye(N)), "X: found sparse features. For Gower's distance, give a data frame"),
        ({}, np.full((N, 2), np.inf), "X: column 0 contains an infinite number"),
        ({"feature_weights": [1]}, np.ones((N, 2)), "feature_weights: expected 2 numbers"),
        ({"feature_weights": [1, -1]}, np.ones((N, 2)), "feature_weights: a weight is negative"),
        ({"feature_weights": ["a", 1], "metric": "euclidean"}, np.ones((N, 2)), "feature_weights: expected 2 numbers"),
        ({"feature_weights": [1, 2], "metric": "haversine"}, np.ones((N, 2)), "coordinates cannot be weighted"),
    ],
)
def test_what_is_wrong_is_said(options, features, message):
    with pytest.raises(SplitError, match=message):
        SimilarityFolds(4, **{"metric": "gower", **options}, random_state=0).clusters(features)


def test_new_rows_have_the_columns_and_kinds_of_the_others():
    with pytest.raises(SplitError, match="the columns differ from those of the other rows"):
        gower_distances(pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]}))
    with pytest.raises(SplitError, match="column 'a' has no numbers in these rows, but in others"):
        gower_distances(pd.DataFrame({"a": [1.0]}), pd.DataFrame({"a": ["wet"]}))


def test_clusters_compare_squared_differences_and_unequal_categories():
    """A column counts by its weight, and a number relative to its range."""
    X = pd.DataFrame({"size": [0.0, 4.0, 1.0], "soil": ["sand", "clay", "sand"], "land": ["a", "b", "c"]})
    points = MixedRows.of(X, weights=[2, 3, 1]).points()
    found = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    np.testing.assert_allclose(found[0, 1:], [2 * 1 + 3 + 1, 2 / 16 + 0 + 1])
