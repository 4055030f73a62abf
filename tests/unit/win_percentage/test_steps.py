"""Evaluation of models on feature sets of a dataset in a file."""

import numpy as np
import pandas as pd

from fairfold.core.files import write_arrays
from fairfold.datasets import Dataset
from fairfold.win_percentage.steps import evaluate_on_sets


def test_sets_do_not_depend_on_their_job(tmp_path):
    X = np.random.default_rng(0).random((60, 4))
    Dataset("toy", "multilabel", X, (X[:, :2] > 0.5).astype(np.int8), tuple("abcd"), tuple("xy")).save(
        tmp_path / "toy.npz"
    )
    write_arrays(tmp_path / "folds.npz", fold_of=np.arange(60)[np.newaxis] % 2)

    def run(*sets):
        files = str(tmp_path / "toy.npz"), str(tmp_path / "folds.npz")
        options = {"threshold": 0.5, "exchange": "within", "set_size": 2, "seed": 1, "permutations": [0, 1]}
        return evaluate_on_sets(*files, 50, models={"logistic": {}, "dummy": {}}, sets=sets, **options)

    whole = run(0, 3)
    by_set, parts = (
        table.sort_values([*whole], ignore_index=True) for table in (whole, pd.concat([run(0, 1), run(1, 3)]))
    )
    pd.testing.assert_frame_equal(by_set, parts)
    assert (whole["dataset"] == "toy").all() and (whole["missing_rate"] == 50).all()
