"""Datasets that a forest cannot learn from are refused, by the same rule as in the forests."""

import dataclasses

import numpy as np
import pytest

from fairfold.core.folds import BEFORE
from fairfold.datasets import Dataset
from fairfold.datasets.requirements import check_requirements, least_samples
from fairfold.errors import DataError
from fairfold.forests import make_model
from fairfold.planning.check import check_config


def dataset(n_samples, Y=None):
    X = np.arange(2.0 * n_samples).reshape(-1, 2)
    Y = (np.arange(n_samples)[:, np.newaxis] % 2 == [0, 1]).astype(np.int8) if Y is None else np.array(Y)
    return Dataset("mine", "multilabel", X, Y, ("a", "b"), tuple(f"y{j}" for j in range(Y.shape[1])))


def study(leaf=5, n_splits=5, **parts):
    own = {"mine": {"path": "mine.csv", "format": "csv", "labels": {"last": 1}}}
    config = {"seed": 1, "data": {"own": own}, "folds": {"n_splits": n_splits}, **parts}
    config.setdefault("weak_labels", {"datasets": ["mine"]})["forest"] = {"min_samples_leaf": leaf}
    check_config(config)
    return config


@pytest.mark.parametrize(
    ("n_splits", "leaf", "held_out", "least"),
    [(5, 5, 0, 25), (2, 5, 0, 40), (10, 5, 0, 23), (3, 1, 0, 6), (5, 5, 0.5, 50), (5, 5, 0.2, 32)],
)
def test_least_samples(n_splits, leaf, held_out, least):
    assert least_samples(n_splits, leaf, held_out) == least
    if not held_out:
        check_requirements(dataset(least), study(leaf, n_splits))
        with pytest.raises(DataError, match=rf"{least - 1} samples are too few for weak_labels\. .* at least {least} "):
            check_requirements(dataset(least - 1), study(leaf, n_splits))


def test_samples_before_the_first_cut_off_count():
    folds = np.repeat([BEFORE, 0], [19, 30])
    with pytest.raises(DataError, match=r"19 samples up to the first cut-off of hold_out are too few .* at least 20 "):
        check_requirements(dataclasses.replace(dataset(49), fold_of=folds), study())


@pytest.mark.parametrize("leaf", [1, 3, 5])
def test_forests_of_fewer_samples_make_no_split(leaf):
    """Below the minimum, no tree has two full leaves, with any seed. Well above it, trees do split."""
    least = least_samples(2, leaf) // 2  # one half is in training
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
        check_requirements(dataset(40, useless), study())
    check_requirements(dataset(40, np.hstack([useless, useful])), study())
    check_requirements(dataset(40, useless), study(weak_labels={"datasets": ["flags"]}))


def test_unmeasured_labels_are_no_negatives_and_take_no_positives_away():
    usual = np.array([[1] * 6 + [0] * 24 + [-1] * 10]).T  # the sum is below 0
    check_requirements(dataset(40, usual), study())
    for column in ([1] * 6 + [0] + [np.nan] * 33, [1] + [0] * 29 + [np.nan] * 10):
        with pytest.raises(DataError, match="no label has two positives and two negatives"):
            check_requirements(dataset(40, np.array([column]).T), study())


def test_each_part_that_trains_on_the_data_has_its_own_minimum():
    cross_testing = {"models": {"datasets": ["mine"], "n_splits": 2, "test_fraction": 0.25}}
    config = study(3, weak_labels={"datasets": ["flags"]}, cross_testing=cross_testing)
    with pytest.raises(DataError, match=r"47 samples are too few for cross_testing\.models\. .* at least 48 samples"):
        check_requirements(dataset(47), config)  # a fold has two samples, more than the test part
    check_requirements(dataset(48), config)


def test_a_study_without_features_is_refused():
    data = dataclasses.replace(dataset(40), X=np.empty((40, 0)), feature_names=())
    with pytest.raises(DataError, match=r"^dataset mine: no column is left as a feature\. Add features, or leave out"):
        check_requirements(data, study())
