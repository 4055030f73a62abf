"""Evaluation of models on feature sets of a dataset in a file."""

import numpy as np
import pandas as pd

from fairfold.datasets import Dataset
from fairfold.win_percentage.steps import evaluate_on_sets


def test_sets_do_not_depend_on_their_job(tmp_path):
    X = np.random.default_rng(0).random((60, 4))
    Dataset("toy", "multilabel", X, (X[:, :2] > 0.5).astype(np.int8), tuple("abcd"), tuple("xy")).save(
        tmp_path / "toy.npz"
    )

    def run(*sets):
        options = {"threshold": 0.5, "exchange": "within", "set_size": 2, "seed": 1, "permutations": [0, 1]}
        options |= {"folds": {"splitter": "random", "n_splits": 2}, "models": {"logistic": {}, "dummy": {}}}
        return evaluate_on_sets(str(tmp_path / "toy.npz"), 50, sets=sets, **options)

    whole = run(0, 3)
    by_set, parts = (
        table.sort_values([*whole], ignore_index=True) for table in (whole, pd.concat([run(0, 1), run(1, 3)]))
    )
    pd.testing.assert_frame_equal(by_set, parts)
    assert (whole["dataset"] == "toy").all() and (whole["missing_rate"] == 50).all()
