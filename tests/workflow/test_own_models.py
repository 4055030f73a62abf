"""A study runs a user's own models next to ours, each in a separate process that isolates failures."""

import re
import sys

import pandas as pd
import pytest

MINE = '''"""Two classifiers, one of which has no luck."""

import os

from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression


class Unlucky(LogisticRegression):
    def fit(self, X, y):
        print("about to end")
        if len(y) > 100:  # not when it is tried out
            os._exit(3)
        return super().fit(X, y)


def some_trees(n):
    return ExtraTreesClassifier(n)
'''
MODELS = ["trees", "trees+", "unlucky", "RF+ET"]


@pytest.fixture
def mine(study):
    """Return a factory of small studies with models in a file of the folder."""

    def make(**changes):
        trees = {"class": "some_trees", "file": "mine.py", "parameters": {"n": 3}, "labels": "together", **changes}
        config = {
            "seed": 1,
            "models": {"own": {"trees": trees, "unlucky": {"class": "Unlucky", "file": "mine.py"}}},
            "folds": {"n_splits": 2},
            "weak_labels": {
                "datasets": ["simulated-multilabel"],
                "missing_rates": [50],
                "models": MODELS,
                "forest": {"n_trees": 2, "max_levels": 1},
            },
        }
        made = study(config)
        (made.folder / "mine.py").write_text(MINE)
        return made

    return make


def trained(study):
    """Return the models that a rerun trains, from its log."""
    log = study.folder / "results/logs/train_and_score/simulated-multilabel_50_0.log"
    code, output = study.run("results/tables/weak_label_scores.csv")
    assert code == 0, output
    return set(re.search("^Train (.*)\\.$", log.read_text(), re.MULTILINE)[1].split(", "))


def test_it_is_scored_and_stops_no_other(mine):
    study = mine()
    code, output = study.run("results/tables/weak_label_scores.csv", "results/tables/models.csv", "results/legend.csv")
    assert code == 0, output
    results = study.folder / "results"
    scores = pd.read_csv(results / "tables/weak_label_scores.csv", keep_default_na=False)
    reasons = scores.groupby("model")["reason"].agg(set).to_dict()
    crashed = "unlucky terminated its process. It crashed or ran out of memory."
    assert reasons == {model: {""} for model in MODELS} | {"unlucky": {crashed}}
    assert "about to end" in (results / "logs/train_and_score/simulated-multilabel_50_0.log").read_text()
    seconds = pd.read_csv(results / "timings/models/simulated-multilabel_50_0.csv").query("model == 'trees'")
    assert (seconds["seconds"] > 0).all() and (seconds["max_rss"] > 50).all()
    assert pd.read_csv(results / "tables/models.csv").set_index("model")["parameters"].to_dict() == dict.fromkeys(
        MODELS, "as is"
    )
    legend = pd.read_csv(results / "legend.csv").set_index("name")
    assert legend.loc["trees+", "family"] == "trees"

    # Only its own results depend on its code and its entry.
    assert trained(mine(parameters={"n": 4})) == {"trees", "trees+"}
    study = mine(parameters={"n": 4})
    (study.folder / "mine.py").write_text(MINE.replace("> 100", "> 200"))
    assert trained(study) == {"trees", "trees+", "unlucky"}


def test_a_mistake_ends_the_run_before_the_first_job(mine):
    study = mine(parameters={"m": 3})
    code, output = study.run("weak_labels", python=sys.executable)
    assert code != 0, output
    assert "config.models.own.trees.parameters: some_trees has no parameter 'm'. Its parameters: n." in output
    assert "Traceback" not in output
    assert study.results() == {}


def test_equal_models_share_a_place_on_the_leaderboard(study):
    one = {"class": "Pair", "file": "pair.py", "labels": "together"}
    config = {
        "seed": 1,
        "models": {"own": {"one": one, "other": one}},
        "folds": {"n_splits": 2},
        "weak_labels": {"datasets": ["simulated-multilabel"], "missing_rates": [0], "models": ["one", "other"]},
    }
    made = study(config)
    (made.folder / "pair.py").write_text("from sklearn.neighbors import KNeighborsClassifier as Pair\n")
    code, output = made.run("results/recommendation/leaderboard.csv")
    assert code == 0, output
    board = pd.read_csv(made.folder / "results/recommendation/leaderboard.csv", keep_default_na=False)
    assert board.set_index("model")["verdict"].to_dict()["other"] == "same as one"
