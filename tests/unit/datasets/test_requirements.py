"""Datasets that a forest cannot learn from are refused, by the same rule as in the forests."""

import numpy as np
import pytest

from fairfold.datasets import Dataset
from fairfold.datasets.requirements import Requirement, check_requirements, requirements_of
from fairfold.errors import DataError
from fairfold.forests import make_model
from fairfold.study import check_config


def dataset(n_samples, Y=None):
    X = np.arange(2.0 * n_samples).reshape(-1, 2)
    Y = (np.arange(n_samples)[:, np.newaxis] % 2 == [0, 1]).astype(np.int8) if Y is None else np.array(Y)
    return Dataset("mine", "multilabel", X, Y, ("a", "b"), tuple(f"y{j}" for j in range(Y.shape[1])))


@pytest.mark.parametrize(
    ("requirement", "least"),
    [
        (Requirement("p", 5, 5), 25),
        (Requirement("p", 2, 5), 40),
        (Requirement("p", 10, 5), 23),
        (Requirement("p", 3, 1), 6),
        (Requirement("p", 5, 5, 0.5), 50),
        (Requirement("p", 5, 5, 0.2), 32),
    ],
)
def test_least_samples(requirement, least):
    assert requirement.least_samples == least
    check_requirements(dataset(least), [requirement])
    with pytest.raises(DataError, match=rf"{least - 1} samples are too few for p: .* Give at least {least},"):
        check_requirements(dataset(least - 1), [requirement])


def test_the_sentence_has_its_numbers():
    with pytest.raises(DataError) as caught:
        check_requirements(dataset(6), [Requirement("win_percentage.models", 3, 1), Requirement("weak_labels", 5, 5)])
    assert str(caught.value) == (
        "dataset mine: 6 samples are too few for weak_labels: with 5 folds, 4 are used for training, a tree draws "
        "half of them, and its first split needs two leaves of 5. Give at least 25, or lower "
        "weak_labels.forest.min_samples_leaf."
    )


@pytest.mark.parametrize("leaf", [1, 3, 5])
def test_forests_of_fewer_samples_make_no_split(leaf):
    """Below the minimum, no tree has two full leaves, with any seed. Well above it, trees do split."""
    least = Requirement("p", 2, leaf).least_samples // 2  # one half is in training
    for n_samples, may_split in ((least - 1, False), (3 * least, True)):
        data = dataset(n_samples)
        if n_samples < 2 * leaf:
            continue  # the models raise their own error
        split = False
        for seed in range(20):
            model = make_model("RF+ET", n_trees=5, min_samples_leaf=leaf, random_state=seed).fit(data.X, data.Y)
            split |= any((forest.feature_ >= 0).any() for forest in model.levels_[0].predictors)
        assert split == may_split


@pytest.mark.parametrize("column", [[1] + [0] * 39, [0] * 40, [1] * 40, [0] + [1] * 39])
def test_labels_of_which_nothing_can_be_learned(column):
    useless, useful = np.array([column]).T, np.arange(40)[:, np.newaxis] < 2
    with pytest.raises(DataError, match="no label has two positives and two negatives among its 40 samples"):
        check_requirements(dataset(40, useless), [Requirement("weak_labels", 5, 5)])
    check_requirements(dataset(40, np.hstack([useless, useful])), [Requirement("weak_labels", 5, 5)])
    check_requirements(dataset(40, useless), [])


def test_unmeasured_labels_are_no_negatives_and_take_no_positives_away():
    usual = np.array([[1] * 6 + [0] * 24 + [-1] * 10]).T  # the sum is below 0
    check_requirements(dataset(40, usual), [Requirement("weak_labels", 5, 5)])
    for column in ([1] * 6 + [0] + [np.nan] * 33, [1] + [0] * 29 + [np.nan] * 10):
        with pytest.raises(DataError, match="no label has two positives and two negatives"):
            check_requirements(dataset(40, np.array([column]).T), [Requirement("weak_labels", 5, 5)])


def test_nothing_is_asked_without_forests():
    check_requirements(dataset(2), [])


def test_demands_are_those_of_the_parts_that_train_on_a_users_data():
    config = {
        "seed": 1,
        "data": {"own": {"mine": {"path": "mine.csv", "format": "csv", "labels": {"last": 1}}}},
        "folds": {"n_splits": 4},
        "weak_labels": {"datasets": ["mine", "flags"], "forest": {"min_samples_leaf": 3}},
        "cross_testing": {"models": {"datasets": ["mine"], "n_splits": 2, "test_fraction": 0.25}},
        "win_percentage": {"models": {"datasets": ["flags"]}},
    }
    check_config(config)
    assert requirements_of(config, "flags") == []
    assert requirements_of(config, "mine") == [
        Requirement("weak_labels", 4, 3),
        Requirement("cross_testing.models", 2, 3, held_out=0.5),  # a fold has two samples, more than the test part
    ]
