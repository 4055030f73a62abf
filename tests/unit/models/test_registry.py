"""Test the registry of models."""

import numpy as np
import pytest
from sklearn.base import clone

from fairfold.errors import ModelError
from fairfold.forests import MODEL_NAMES as DEEP_FORESTS
from fairfold.forests import make_model as make_deep_forest
from fairfold.models import DEFAULT, MODEL_NAMES, ModelSpec, make_model, register
from fairfold.models import registry as models
from fairfold.models.registry import first_level_from, settings_of, spec_of

TREE = ModelSpec("tree", "sklearn.tree:DecisionTreeClassifier", {"max_depth": 2}, settings=["min_samples_leaf"])


@pytest.fixture
def tree(monkeypatch):
    """Register a model by hand."""
    monkeypatch.setattr(models, "_SPECS", dict(models._SPECS))
    register(TREE)
    return TREE


@pytest.mark.parametrize("name", DEEP_FORESTS)
def test_deep_forests_are_those_of_their_package(name):
    made = make_model(name, n_trees=3, n_jobs=2, random_state=7)
    expected = make_deep_forest(name, n_trees=3, n_jobs=2, random_state=7)
    assert made.get_params() == expected.set_params(label_frequency=1.0).get_params()  # labels as given
    assert spec_of(name).imputes == (made.get_params()["imputation"] is not None)


def test_the_default_is_a_model():
    assert DEFAULT in MODEL_NAMES


def test_a_study_gives_a_model_what_it_takes(tree):
    forest = {"n_trees": 5, "min_samples_leaf": 3}
    assert settings_of("CaFE", forest, "authors-code") == {**forest, "variant": "authors-code"}
    assert settings_of("gcForest+", forest, "authors-code") == forest
    assert settings_of("tree", forest, "authors-code") == {"min_samples_leaf": 3}


def test_any_classifier_becomes_a_model_of_one_level(tree):
    model = make_model("tree", min_samples_leaf=3, random_state=1)
    parameters = model.estimator.get_params()
    assert (parameters["max_depth"], parameters["min_samples_leaf"], model.random_state) == (2, 3, 1)
    assert first_level_from(model, {}) == {}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: make_model("CaFFE"), "unknown model 'CaFFE': did you mean 'CaFE'"),
        (
            lambda: make_model("tree", depth=3),
            "unexpected keyword argument 'depth'. Its settings: ccp_alpha, .*set_params",
        ),
        (lambda: register(TREE), "the name 'tree' is taken by another model"),
    ],
)
def test_mistakes_are_one_sentence(tree, call, sentence):
    with pytest.raises(ModelError, match=sentence):
        call()


def test_level_0_comes_from_a_model_of_the_same_forests():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.integers(0, 2, (30, 2))
    one = make_model("gcForest", n_trees=2, max_levels=1, random_state=1).fit(X, Y)
    published = make_model("CaFE", variant="authors-code", n_trees=2, max_levels=1, random_state=1).fit(X, Y)
    fitted = {"authors-code": published, "one": one}
    same = make_model("FLAForest+", shape="paper", n_trees=2, random_state=1)
    assert first_level_from(same, fitted) == {"first_level": one.levels_[0]}
    assert first_level_from(same, {}) == {"first_level": None}
    for other in ({"n_trees": 3}, {"random_state": 2}, {"min_samples_leaf": 4}):
        assert first_level_from(clone(same).set_params(**other), fitted) == {"first_level": None}
    first = first_level_from(make_model("CaFE-FLA", variant="authors-code", n_trees=2, random_state=1), fitted)
    assert first == {"first_level": published.levels_[0]}
