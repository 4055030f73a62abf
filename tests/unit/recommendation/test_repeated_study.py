"""Repeated trainings on a dataset in a file."""

import numpy as np
import pandas as pd

from fairfold.datasets import Dataset
from fairfold.recommendation.repeated_study import repeat_on_splits


def test_splits_do_not_depend_on_their_job(tmp_path):
    X = np.random.default_rng(0).random((60, 3))
    data = Dataset("toy", "multilabel", X, (X[:, :2] > 0.5).astype(np.int8), tuple("abc"), tuple("xy"))
    data.save(tmp_path / "toy.npz")

    def run(*repeats):
        given = {
            "models": {"RF+ET": {"n_trees": 2}, "logistic": {}},
            "first_levels": {"RF+ET": "text", "logistic": None},
        }
        folds = {"n_splits": 2, "n_repeats": 2}
        options = {"folds": folds, "forest": {"n_trees": 2}, "n_trainings": 1, "seed": 1}
        return repeat_on_splits(str(tmp_path / "toy.npz"), 50, "random", repeats=repeats, **given, **options)

    whole = run(0, 2)
    pd.testing.assert_frame_equal(whole, pd.concat([run(0, 1), run(1, 2)], ignore_index=True))
    assert [*whole][:3] == ["dataset", "missing_rate", "splitter"]
    assert set(whole["repeat"]) == {0, 1} and (whole["reason"] == "").all()
