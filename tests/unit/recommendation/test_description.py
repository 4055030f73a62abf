"""Tables that describe a dataset."""

import numpy as np
import pytest

from fairfold.datasets import Dataset
from fairfold.recommendation.description import describe_dataset


@pytest.fixture
def make():
    def dataset(**attributes):
        X = np.random.default_rng(0).random((60, 3))
        Y = (X[:, :2] > [0.5, 0.75]).astype(np.int8)
        groups = np.arange(60) // 30
        return Dataset("toy", "multilabel", X, Y, tuple("abc"), tuple("xy"), groups=groups, **attributes)

    return dataset


def test_a_dataset_is_described_in_four_tables(make):
    data = make()
    found = describe_dataset(data, "complete", n_splits=2)
    (size,) = found.size.to_dict("records")
    cardinality = data.Y.sum(axis=1).mean()
    assert size == {
        **{"dataset": "toy", "n_samples": 60, "n_features": 3, "n_labels": 2},
        **{"label_cardinality": cardinality, "label_density": cardinality / 2, "labels_are": "complete"},
    }
    assert [*found.audit][:3] == ["dataset", "check", "severity"]
    assert (found.audit["dataset"] == "toy").all()


def test_groups_do_not_matter_to_folds_in_the_data(make):
    """Two groups are too few for five folds, unless the data define the folds."""
    drawn, given = (describe_dataset(data, "unknown", 5) for data in (make(), make(fold_of=np.arange(60) % 5)))
    assert drawn.audit["message"].str.contains("group").sum() > given.audit["message"].str.contains("group").sum()
