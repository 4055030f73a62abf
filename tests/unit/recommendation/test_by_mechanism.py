"""Scores after labels of a dataset in a file are hidden by a mechanism."""

import numpy as np
import pandas as pd
import pytest

from fairfold.core.files import write_arrays
from fairfold.core.trainings import read
from fairfold.datasets import Dataset
from fairfold.recommendation.by_mechanism import score_mechanism
from fairfold.recommendation.steps import score_by_samples


@pytest.fixture
def score(tmp_path):
    """Return a function that saves a dataset, with the given attributes, and scores a mechanism on it."""

    def run(mechanism, wrong=0, *, by=None, key=None, **attributes):
        X = np.random.default_rng(0).random((80, 3))
        Y = (X[:, :2] > 0.5).astype(np.int8)
        Dataset("toy", "multilabel", X, Y, tuple("abc"), tuple("xy"), **attributes).save(tmp_path / "toy.npz")
        write_arrays(tmp_path / "folds.npz", fold_of=np.arange(80)[np.newaxis] % 2)
        given = {"compared": ["logistic"], "reference": "kNN", "difficulty_by": by, "models": {}, "threshold": 0.5}
        files = str(tmp_path / "toy.npz"), str(tmp_path / "folds.npz")
        return score_mechanism(*files, mechanism, wrong, missing_rate=50, splitter="IS", seed=1, key=key, **given)

    return run


@pytest.mark.parametrize(
    ("mechanism", "attributes", "reason"),
    [
        ("random", {"labels_are": "complete"}, "zeros of these labels are confirmed"),
        ("group", {}, "the data have no groups"),
    ],
)
def test_mechanisms_that_do_not_apply_have_a_reason(score, mechanism, attributes, reason):
    (row,) = score(mechanism, **attributes).itertuples()
    assert row.reason.startswith(reason)
    assert (row.dataset, row.mechanism, row.wrong_positives) == ("toy", mechanism, 0)


def test_half_of_the_positives_are_hidden(score):
    table = score("random", 10)
    assert [*table][:4] == ["dataset", "missing_rate", "mechanism", "wrong_positives"]
    assert table["model"].unique().tolist() == ["logistic"]
    assert table["hidden_share"].between(45, 55).all()
    assert table["complete"].notna().all()
    pd.testing.assert_frame_equal(table, score("random", 10))


def test_an_interrupted_job_finds_its_trainings_in_the_cache(score, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    tables = [score("difficulty", by="dummy", key="key") for _ in range(2)]
    found = read(capfd.readouterr().err)
    assert (found.n_begun, found.n_announced, found.n_cached) == (6, 6, 6)  # three models in two folds, twice
    pd.testing.assert_frame_equal(*tables)
    curve = {"model": "logistic", "missing_rate": 0, "settings": {}, "shares": [0.5, 1.0], "n_splits": 2}
    curve |= {"threshold": 0.5, "seed": 1, "key": "key"}
    for name in ("first", "second"):
        made = {kind: f"{name}_{kind}.csv" for kind in ("scores", "curve")}
        score_by_samples("toy.npz", "folds.npz", made, **curve)
    found = read(capfd.readouterr().err)
    assert (found.n_begun, found.n_announced, found.n_cached) == (4, 4, 4)  # two shares in two folds, twice
    assert (tmp_path / "first_scores.csv").read_bytes() == (tmp_path / "second_scores.csv").read_bytes()


def test_difficult_labels_are_those_of_the_named_model(score):
    assert not score("difficulty", by="logistic").equals(score("difficulty", by="dummy"))
