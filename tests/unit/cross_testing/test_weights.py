"""Procedures on weighted samples: a sample of weight 2 counts as two samples in training and in scores."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier

from fairfold.cross_testing.models import repeat_on_weak_labels
from fairfold.cross_testing.procedures import (
    compare_procedures,
    cross_validate_and_cross_test,
    cross_validate_and_test,
    nested_cross_validate,
)
from fairfold.errors import DataError, ModelError
from fairfold.models import make_model

PROCEDURES = (nested_cross_validate, cross_validate_and_test, cross_validate_and_cross_test)


class Shares(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the weighted share of each label on either side of zero in one feature."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, Y, sample_weight=None):
        weight = np.ones(len(Y)) if sample_weight is None else sample_weight
        sides = (side(X, self.feature) == which for which in (0, 1))
        shares = np.array([np.average(Y[of], axis=0, weights=weight[of]) for of in sides])
        self.shares_ = shares.round(9)  # equal shares tie regardless of summation order
        return self

    def predict_proba(self, X):
        return self.shares_[side(X, self.feature)]


def side(X, feature):
    return (X[:, feature] > 0).astype(int)


CANDIDATES = {"first": Shares(0), "second": Shares(1)}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60).astype(float)
    Y = np.column_stack([(X[:, 0] > 0) != (weights > 2), X[:, 1] + rng.normal(size=60) > 0]).astype(int)
    return X, Y, weights


@pytest.mark.parametrize("scoring", ["average_precision", "accuracy", "hamming_loss"])
@pytest.mark.parametrize("procedure", PROCEDURES)
def test_a_sample_of_weight_two_is_like_two(samples, procedure, scoring):
    X, Y, weights = samples
    copies = np.repeat(np.arange(60), weights.astype(int))

    def by_origin(Y, seed, groups=None):  # the same samples stay together in both forms of the data
        origin = np.searchsorted(np.unique(groups), groups)
        return origin % 3

    options = {"n_splits": 3, "scoring": scoring, "splitter": by_origin, "random_state": 0}
    weighted = procedure(CANDIDATES, X, Y, **options, sample_weight=weights * 7, groups=np.arange(60))
    repeated = procedure(CANDIDATES, X[copies], Y[copies], **options, groups=copies)
    assert weighted.score == pytest.approx(repeated.score, abs=1e-12)
    assert weighted.accuracy == pytest.approx(repeated.accuracy, abs=1e-12)
    assert weighted.observed_score == pytest.approx(repeated.observed_score, abs=1e-12)
    assert weighted.parameters == repeated.parameters
    assert weighted.scores == pytest.approx(repeated.scores, abs=1e-12)
    alike = procedure(CANDIDATES, X, Y, **options, groups=np.arange(60))
    assert alike.score != pytest.approx(weighted.score, abs=1e-3)


def test_equal_weights_are_none(samples):
    X, Y, _ = samples
    options = {"n_splits": 3, "scoring": "average_precision", "n_permutations": 9, "random_state": 0}
    weighted = compare_procedures(CANDIDATES, X, Y, **options, sample_weight=[3] * 60)
    alike = compare_procedures(CANDIDATES, X, Y, **options)
    for procedure, expected in alike.items():
        found = weighted[procedure]
        assert found.score == expected.score and found.p_values == expected.p_values
        np.testing.assert_array_equal(found.permutation_scores, expected.permutation_scores)


def test_what_is_chosen_is_what_heavy_samples_state():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    heavy = np.arange(120) % 4 == 0
    Y = np.where(heavy, X[:, 0] > 0, X[:, 1] > 0).astype(int)[:, None]
    options = {"n_splits": 3, "scoring": "average_precision", "random_state": 0}
    chosen = [
        cross_validate_and_cross_test(CANDIDATES, X, Y, **options, **each).parameters
        for each in ({}, {"sample_weight": np.where(heavy, 20, 1)})
    ]
    assert chosen == ["second", "first"]


def test_weights_stay_with_the_labels_in_permutation_tests(samples):
    X, Y, weights = samples
    seen = []

    def score(labels, P, weights):
        seen.append({(*row, weight) for row, weight in zip(labels, weights.round(9), strict=True)})
        return average_precision_score(labels.ravel(), P.ravel(), sample_weight=np.repeat(weights, labels.shape[1]))

    own = {"n_splits": 3, "random_state": 0, "n_permutations": 5, "sample_weight": weights}
    found = nested_cross_validate(CANDIDATES, X, Y, scoring=score, **own)
    known = {(*row, weight) for row, weight in zip(Y, (weights / weights.mean()).round(9), strict=True)}
    assert set().union(*seen) == known and found.n_permutations == 5
    named = nested_cross_validate(CANDIDATES, X, Y, scoring="average_precision", **own)
    assert found.score == pytest.approx(named.score, abs=1e-12)


def test_repetitions_draw_weights_with_their_rows(samples):
    X, Y, weights = samples
    given = []

    class Noting(Shares):
        def fit(self, X, Y, sample_weight=None):
            given.extend(zip(map(tuple, X), sample_weight, strict=True))
            return super().fit(X, Y, sample_weight)

    repeat_on_weak_labels(
        *(lambda seed: {"noting": Noting()}, X, Y, [0, 1]),
        **{"n_splits": 2, "n_permutations": 0, "n_samples": 50, "scoring": "average_precision"},
        **{"hide": lambda Y, seed: Y, "sample_weight": weights, "seed": 0},
    )
    of_row = dict(zip(map(tuple, X), weights, strict=True))
    ratios = np.array([weight / of_row[row] for row, weight in given])
    assert len(np.unique(ratios.round(9))) == 2  # the mean of each repetition is 1


def test_models_of_ours_take_weights(samples):
    X, Y, weights = samples
    options = {"n_splits": 3, "scoring": "average_precision", "random_state": 0, "sample_weight": weights}
    candidates = {name: make_model(name, n_trees=5, max_levels=1, random_state=0) for name in ("RF+ET", "gcForest+")}
    assert 0 < nested_cross_validate(candidates, X, Y, **options).score <= 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), "weights have shape"),
        (np.zeros(60), "weights must be finite and above zero"),
        (["heavy"] * 60, "weights of samples: expected a finite number"),
    ],
)
def test_weights_that_are_none_are_refused(samples, weights, message):
    with pytest.raises(ModelError, match=message):
        nested_cross_validate(CANDIDATES, *samples[:2], scoring="average_precision", sample_weight=weights)


def test_who_takes_no_weights_is_refused(samples):
    X, Y, weights = samples
    with pytest.raises(ModelError, match="KNeighborsClassifier does not accept sample weights"):
        nested_cross_validate([KNeighborsClassifier()], X, Y, scoring="average_precision", sample_weight=weights)


def test_classes_have_no_weights(samples):
    X, Y, weights = samples
    with pytest.raises(DataError, match="sample_weight need several labels"):
        nested_cross_validate([KNeighborsClassifier()], X, Y[:, 0], sample_weight=weights)
