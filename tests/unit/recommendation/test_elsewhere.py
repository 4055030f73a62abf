"""Scores on folds of clusters, from files to a table."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairfold.core.files import read_table, write_arrays
from fairfold.datasets import Dataset
from fairfold.datasets.similarity import comparable_features
from fairfold.errors import SplitError
from fairfold.models.registry import settings_of
from fairfold.recommendation.elsewhere import cluster_steps, leading_models, score_elsewhere
from fairfold.splitting.methods import study_folds
from fairfold.splitting.similarity import nearest_distances

RANDOM = np.random.default_rng(0)
SITE_OF = np.arange(240) % 12
PLACES = np.column_stack([RANDOM.uniform(45, 60, 12), RANDOM.uniform(5, 25, 12)])
OFFSETS = RANDOM.normal(size=(12, 3))
SIGNAL = RANDOM.normal(size=(240, 3))
DATA = Dataset(
    "sites",
    "multilabel",
    SIGNAL + 2 * OFFSETS[SITE_OF],  # An offset of each site hides the signal elsewhere.
    (SIGNAL + OFFSETS[SITE_OF][:, ::-1] > 0.5).astype(np.int8),
    tuple("abc"),
    ("x", "y", "z"),
    coordinates=PLACES[SITE_OF] + RANDOM.normal(scale=0.1, size=(240, 2)),
)


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Return the table of scores of kNN, whose score on the folds of the study is given."""

    def score(data=DATA, **changes):
        monkeypatch.chdir(tmp_path)
        data.save("data.npz")
        write_arrays("folds.npz", fold_of=np.arange(data.shape[0])[None] // 12 % 4)
        write_arrays("frequency.npz", frequencies=np.ones(1), probabilities=np.ones(1))
        rows = {"dataset": data.id, "metric": "average_precision", "model": ["kNN", "guessing"], "score": [0.9, 0.4]}
        board = pd.DataFrame(rows).assign(verdict=["best", "guessing"])
        board.to_csv("board.csv", index=False)
        numbers = board[:1].rename(columns={"score": "mean"}).assign(low=0.8, high=0.95, n_folds=4)
        numbers.to_csv("numbers.csv", index=False)
        names = {"dataset": "data.npz", "folds": "folds.npz", "frequency": "frequency.npz"}
        files = SimpleNamespace(**names, leaderboard="board.csv", numbers="numbers.csv")
        params = {"sizes": [1.0, 0.25], "most_models": 3, "n_splits": 4, "rate": 0, "seed": 1, "own": {}, "unit": {}}
        params["predict_on"] = None
        params["models"] = [{"name": "kNN", "settings": settings_of("kNN", {}, "text")}]
        score_elsewhere(files, "elsewhere.csv", SimpleNamespace(**params | changes))
        return read_table("elsewhere.csv")

    return score


def test_scores_fall_where_places_are_new(scored):
    table = scored()
    own = table[table["model"] == "kNN"].set_index("step")
    assert own["score"][0] == 0.9 and own["score"][2] < own["score"][0]
    assert own["distance"][0] == 1 and own["distance"][2] > 2
    assert own["size"][1:].tolist() == [0.0625, 0.25] and own["n_clusters"][1] > own["n_clusters"][2]
    assert (own["low"] < own["score"]).all() and (own["high"] > own["score"]).all()
    assert set(table["model"]) == {"kNN", "guessing"} and set(table["compared_by"]) == {"haversine"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"coordinates": None, "X": np.zeros((240, 3))}, "features divide the samples into fewer clusters than 4"),
        ({"coordinates": None, "X": np.vstack([np.zeros((200, 3)), SIGNAL[:40]])}, "cannot be divided holds 83 %"),
        ({"coordinates": None, "X": np.repeat(np.eye(3), 80, axis=0)}, "fewer clusters than 4 folds need"),
        ({"fold_of": np.repeat([-2, 0, 1], 80)}, "later than the training samples"),
    ],
)
def test_data_without_clusters_give_a_reason(scored, changes, reason):
    table = scored(replace(DATA, **changes))
    assert table["step"].tolist() == [0, 0] and table["reason"].str.contains(reason).all()


NOT_ALIKE = replace(DATA, coordinates=None)


@pytest.mark.parametrize(
    ("change", "match"),
    [(lambda X: X, "nearer"), (lambda X: X + OFFSETS[0] * 0.7, "alike"), (lambda X: X + 50, "further")],
)
def test_folds_match_a_new_table(change, match, scored, tmp_path):
    new = pd.DataFrame(change(NOT_ALIKE.X[::4] + RANDOM.normal(scale=0.01, size=(60, 3))), columns=list("abc"))
    new.assign(x="?", note="any").to_csv(tmp_path / "new.csv", index=False)  # Labels and other columns are ignored.
    table = scored(NOT_ALIKE, predict_on="new.csv")
    own = table[table["model"] == "kNN"].set_index("step")
    assert own["new_table"].fillna("").tolist() == ["", "", "", "new.csv"] and own["match"][3] == match
    if match == "nearer":
        assert own["score"][3] == 0.9 and own["new_distance"][3] < 0.5
    else:
        assert own["distance"][3] > 1 and own["score"][3] < 0.9
        assert own["new_distance"][3] > own["distance"][3] or match == "alike"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (pd.DataFrame(np.ones((1, 3)), columns=list("abc")), "found 1 row, but folds are matched to at least 10 rows"),
        (pd.DataFrame({"a": np.ones(20)}), r"lacks 2 of the 3 columns that the study uses \(b, c\)"),
    ],
)
def test_new_tables_that_fit_no_folds_give_a_reason(new, reason, scored, tmp_path):
    new.to_csv(tmp_path / "new.csv", index=False)
    table = scored(NOT_ALIKE, predict_on="new.csv").set_index("step")
    assert table.loc[3, "reason"].str.contains(reason).all() and table.loc[3, "score"].isna().all()
    assert (table.loc[:2, "reason"].fillna("") == "").all()


def test_a_study_can_use_folds_of_clusters():
    numbers = {"n_splits": 4, "n_repeats": 2, "seed": 1, "compared": comparable_features}
    in_turn = np.arange(240) // 12 % 4
    folds = np.vstack([in_turn, study_folds(DATA, "clusters", **numbers)])
    near = [np.median(nearest_distances(DATA.coordinates, each, metric="haversine")) for each in folds]
    assert len(near) == 3 and min(near[1:]) > 2 * near[0]


def test_groups_stay_whole():
    data = replace(DATA, groups=np.arange(240) // 8)
    for step in cluster_steps(data, *comparable_features(data), [0.25, 1.0], n_splits=4, seed=1):
        pairs = pd.DataFrame({"group": data.groups, "cluster": step.cluster_of, "fold": step.fold_of})
        assert (pairs.groupby("group").nunique() == 1).all(axis=None)
        assert (pairs.groupby("cluster")["fold"].nunique() == 1).all()


def test_two_groups_make_two_folds_at_most():
    data = replace(DATA, groups=(np.arange(240) >= 200).astype(int))
    with pytest.raises(SplitError, match="holds 83 %"):
        cluster_steps(data, *comparable_features(data), [1.0], n_splits=4, seed=1)


def test_models_that_are_worse_are_left_out():
    board = pd.DataFrame({"model": list("ABCDE"), "verdict": ["best", "equivalent", "worse", "not different", "worse"]})
    assert leading_models(board, 3) == ["A", "B", "D"] and leading_models(board, 2) == ["A", "B"]
    assert leading_models(board[1:], 3) == []
