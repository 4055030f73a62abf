"""Test the descriptions of the models."""

import numpy as np
import pytest

from fairfold.errors import ModelError
from fairfold.forests import MODEL_NAMES as DEEP_FORESTS
from fairfold.models import MODEL_NAMES, make_model
from fairfold.models.description import chosen_settings, describe_models, hyperparameter_table
from fairfold.models.registry import spec_of


def test_table_3():
    """Table 3 of Ilidio et al. (2024) comes first, and our own models follow."""
    table = describe_models(DEEP_FORESTS).set_index("model")
    assert tuple(table.index) == DEEP_FORESTS
    parts = ["new_features", "crossing_over", "imputation", "length_control"]
    assert table[parts].agg("|".join, axis=1).to_dict() == {
        "RF+ET": "none|none|none|single",
        "gcForest": "output|none|none|first-drop",
        "LCForest": "output|none|lc|imputation-limit",
        "CaFE": "embedding|yes|none|best-training",
        "CaFE-OS": "embedding + output|yes|none|best-training",
        "SLCForest": "output|yes|slc|best-oob",
        "FLAForest": "output|yes|fla|best-oob",
        "CaFE-SLC": "embedding + output|yes|slc|best-oob",
        "CaFE-FLA": "embedding + output|yes|fla|best-oob",
        "gcForest+": "output|none|none|best-oob, patience 2",
        "SLCForest+": "output|none|slc|best-oob, patience 2",
        "FLAForest+": "output|none|fla|best-oob, patience 2",
        "CaFE-SLC+": "embedding + output|none|slc|best-oob, patience 2",
        "CaFE-FLA+": "embedding + output|none|fla|best-oob, patience 2",
    }
    is_ours = table.index.str.endswith("+")
    assert (table.loc[is_ours, ["variant", "training_features"]] == ["none", "out-of-bag"]).all(axis=None)
    assert (table.loc[~is_ours, "variant"] == "text").all()
    assert table["training_features"].value_counts().to_dict() == {"in-bag": 8, "out-of-bag": 5, "none": 1}


def test_models_without_a_cascade_have_one_level():
    others = [name for name in MODEL_NAMES if name not in DEEP_FORESTS]
    table = describe_models(others).set_index("model")
    assert tuple(table.index) == tuple(others)
    tuned = table.pop("parameters")
    assert tuned[tuned != "as is"].to_dict() == dict.fromkeys(["logistic-C", "logistic-C+"], "tuned")
    assert (table.drop(columns="length_control") == "none").all(axis=None)
    assert (table["length_control"] == "single").all()


def test_models_are_described_in_the_order_and_variant_asked_for():
    table = describe_models(["CaFE-SLC+", "gcForest"], variant="authors-code")
    assert table[["model", "variant"]].to_numpy().tolist() == [["CaFE-SLC+", "none"], ["gcForest", "authors-code"]]
    with pytest.raises(ModelError, match="unknown model 'CaFFE'"):
        describe_models(["CaFFE"])


@pytest.mark.parametrize("name", [name for name in MODEL_NAMES if not spec_of(name).package])
def test_hyperparameters_are_listed_once_and_are_the_same_in_each_process(name):
    table = hyperparameter_table({name: {}})
    assert len(table) and not table.duplicated(["component", "parameter"]).any()
    assert not table["value"].str.contains(" at 0x").any() and not table["component"].str.startswith("_").any()


def test_hyperparameters_follow_the_settings():
    table = hyperparameter_table({"RF+ET": {"n_trees": 7}, "Stack+": {}, "kNN": {"n_trees": 1}})
    trees = table[table["parameter"] == "n_trees"]
    assert trees.loc[trees["model"] == "RF+ET", "value"].tolist() == ["7"]
    assert {"max_levels", "early_stopping"}.isdisjoint(table.loc[table["model"] == "RF+ET", "parameter"])
    assert {*table["model"]} == {"RF+ET", "Stack+"}  # kNN has no such setting
    assert "label_frequency" not in {*table["parameter"]}  # The state of the labels sets it.
    assert "of_many > ManyLabelRidge" in {*table["component"]}
    symmetric = table[table["component"] == "MultilabelBoosting (symmetric)"]
    assert "max_rounds" in {*symmetric["parameter"]} and "max_features" not in {*symmetric["parameter"]}


def test_notes_list_candidates_and_explain_auto():
    table = hyperparameter_table({"Stack+": {}}, sizes=[(9, 1)])
    notes = table.set_index(["component", "parameter"])["note"]
    assert notes["OutOfBagCascade", "shape"].startswith("least samples in a leaf 1 or 2 or 3 or 5 or 10, features")
    assert "penalty from 13 values of 0.001 to 1000 times" in notes["KernelRidgeClassifier", "gammas"]
    assert notes["MultilabelBoosting", "max_rounds"] == "200, and 500 from 5,000 samples on"
    explained = table[table["value"] == "auto"]
    assert explained["note"].str.len().all()
    assert ("OutOfBagCascade", "min_samples_leaf") not in notes.index  # without effect if shape is auto


def test_members_for_other_sizes_of_data_are_left_out():
    def pools(*sizes, has_text=False):
        components = hyperparameter_table({"Stack+": {}}, sizes=sizes, has_text=has_text)["component"]
        return {each.partition(" > ")[0] for each in components if " > " in each}

    assert pools() == pools((9, 1), (6000, 300), has_text=True) == {"of_large", "of_many", "of_terms", "of_text"}
    assert pools((9, 1)) == set() and pools((9, 1), (6000, 1)) == {"of_large"}


def test_chosen_settings_are_those_of_the_fitted_members():
    rng = np.random.default_rng(0)
    X = rng.random((80, 4))
    Y = (X[:, :3] + rng.random((80, 3)) > 1).astype(int)
    model = make_model("Stack+", n_trees=10, random_state=0).fit(X, Y)
    pool, table = model.estimator_, chosen_settings(model)
    assert table["component"].str.startswith("StackedClassifier").all() and table["meaning"].str.len().all()
    weights = table.loc[table["setting"] == "weight", "value"]
    assert weights.astype(float).tolist() == pytest.approx(pool.weights_, rel=1e-5)
    forests, boosting, ridge, symmetric = pool.estimators_
    of = table.set_index(table["component"].str.rpartition(" > ")[2])[["setting", "value"]].to_records().tolist()
    assert ("OutOfBagCascade", "best_level", str(forests.best_level_)) in of
    assert ("MultilabelBoosting", "n_rounds", str(boosting.n_rounds_)) in of
    assert ("MultilabelBoosting (symmetric)", "n_rounds", str(symmetric.n_rounds_)) in of
    assert ("KernelRidgeClassifier", "gamma", f"{ridge.gamma_:.6g}") in of
    shapes = table[table["setting"].str.startswith("shapes_of_level_")]
    assert len(shapes) == 2 * (forests.best_level_ + 1)


@pytest.mark.parametrize(
    ("name", "expected"), [("kNN", []), ("RF+ET", []), ("joint-GB", ["n_rounds", "min_samples_leaf"])]
)
def test_models_without_choices_have_no_chosen_settings(name, expected):
    X = np.random.default_rng(0).random((60, 3))
    assert (
        chosen_settings(make_model(name, random_state=0).fit(X, (X > 0.5).astype(int)))["setting"].tolist() == expected
    )
