"""Selection of models on a dataset in a file."""

import numpy as np
import pandas as pd
import pytest

from fairfold.cross_testing.steps import select_models
from fairfold.datasets import Dataset

OPTIONS = {
    "models": {"logistic": {}, "dummy": {}},
    "unit": {"missing_rate": 50, "scoring": "average_precision"},
    "setting": {"n_splits": 2, "test_fraction": 0.5, "n_permutations": 2},
    "splitter": "random",
    "seed": 1,
}


@pytest.fixture
def dataset(tmp_path):
    X = np.random.default_rng(0).random((60, 3))
    data = Dataset("toy", "multilabel", X, (X[:, :2] > 0.5).astype(np.int8), tuple("abc"), tuple("xy"))
    data.save(tmp_path / "toy.npz")
    return str(tmp_path / "toy.npz")


def test_repetitions_do_not_depend_on_their_job(dataset):
    whole = select_models(dataset, repetitions=[0, 2], **OPTIONS)
    parts = [select_models(dataset, repetitions=[first, first + 1], **OPTIONS)["scores"] for first in (0, 1)]
    assert [*whole] == ["scores", "seconds"]
    pd.testing.assert_frame_equal(whole["scores"], pd.concat(parts, ignore_index=True))
    for table in whole.values():
        assert [*table][:4] == ["dataset", "missing_rate", "scoring", "repetition"]
    assert whole["scores"]["reason"].isna().all()
    nested = whole["scores"].query("procedure == 'nested'")["chosen"]
    assert nested.str.split(";").explode().isin(["logistic", "dummy"]).all()
