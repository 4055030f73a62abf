"""Test the models of a study and their settings."""

import copy

from fairfold.core.settings import ForestPart
from fairfold.planning.check import check_config, check_study
from fairfold.planning.models import first_level, hyperparameters, model_settings, used_models

CONFIG = {"seed": 1, "weak_labels": {"datasets": ["simulated-multilabel"]}}


def checked(**changes):
    config = copy.deepcopy(CONFIG)
    for part, values in changes.items():
        config.setdefault(part, {}).update(values)
    return check_study(config)


def test_models_are_those_of_all_parts_each_once():
    study = checked(
        weak_labels={"models": ["CaFE", "RF+ET"], "rank_stability": {"models": ["RF+ET", "gcForest"]}},
        cross_testing={"models": {"candidates": ["FLAForest"]}},
        win_percentage={"models": {"models": ["CaFE", "SLCForest+"]}},
    )
    assert used_models(study) == ["CaFE", "RF+ET", "gcForest", "SLCForest+", "FLAForest"]


def test_settings_of_a_part_win_and_only_models_with_variants_have_one():
    study = checked(weak_labels={"variant": "authors-code", "forest": {"n_trees": 9, "max_levels": 4}})
    part = ForestPart(forest={"n_trees": 2})
    expected = {**study.weak_labels.forest.model_dump(), "n_trees": 2, "variant": "authors-code"}
    of_ours = {name: expected.pop(name) for name in ("shape",)}
    expected.pop("minutes")
    assert model_settings(study, "CaFE", part) == expected
    assert model_settings(study, "CaFE-FLA+", part).items() >= of_ours.items()
    assert model_settings(study, "logistic+") == {}
    assert model_settings(study, "logistic") == {}
    assert "variant" not in model_settings(study, "CaFE-FLA+")
    assert [first_level(study, name) for name in ("CaFE", "CaFE-FLA+")] == ["authors-code", "chosen-shapes"]
    study.weak_labels.forest.shape = "paper"
    assert [first_level(study, name) for name in ("CaFE", "CaFE-FLA+")] == ["authors-code", "text"]


def test_own_models_of_a_finished_study_are_listed():
    """Its configuration is read without adding them to the registry."""
    own = {"stump": {"class": "sklearn.tree.DecisionTreeClassifier", "tune": {"max_depth": [1]}}}
    own |= {"tree": {"class": "sklearn.tree.DecisionTreeClassifier"}}
    study = check_config({**copy.deepcopy(CONFIG), "models": {"own": own}})
    study.weak_labels.models = ["stump", "kNN"]
    assert {*hyperparameters(study)["model"]} == {"stump", "kNN"}
    assert study.models.entries(["stump+", "kNN"]).keys() == {"stump"}
    searches = {name: entry["tuning"] for name, entry in study.models.entries().items()}
    assert searches == {"stump": study.models.tuning.model_dump(), "tree": {}}
