import json

import numpy as np
import pytest

from fairfold.errors import ModelError
from fairfold.forests import load_model, make_model
from fairfold.forests.storage import first_level_from_arrays, first_levels_to_arrays


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    X = np.random.default_rng(0).random((60, 4))
    model = make_model("CaFE-SLC", n_trees=4, max_levels=2, random_state=np.random.RandomState(0))
    path = tmp_path_factory.mktemp("models") / "model.npz"
    model.fit(X, (X[:, :2] > 0.5).astype(int)).save(path)
    return path


def test_file_holds_plain_arrays_and_json(saved):
    with np.load(saved, allow_pickle=False) as file:
        names = set(file)
        description = json.loads(str(file["description"]))
    assert description["class"] == "CascadeForest" and description["fitted"]["n_features_in_"] == 4
    assert description["parameters"]["random_state"] is None  # a generator's state is not kept
    # level 1 encodes with the predictors of level 0, which are not stored twice
    assert "level1/embedding/random_forest/scores_" in names
    assert not any(name.startswith("level1/encoder") for name in names)
    assert any(name.startswith("level2/encoder/extra_trees/") for name in names)


def rewritten(saved, tmp_path, change):
    with np.load(saved, allow_pickle=False) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(tmp_path / "changed.npz", **arrays)
    return tmp_path / "changed.npz"


def described(**changes):
    """Change parts of the description."""

    def change(arrays):
        description = json.loads(str(arrays["description"]))
        for name, part in changes.items():
            description[name] = {**description[name], **part} if isinstance(part, dict) else part
        arrays["description"] = np.array(json.dumps(description))

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (described(format=1), "its format is 1, not 6"),  # which knew no names
        (described(names={"feature_names_in_": list("abc")}), "its feature_names_in_ are not 4 names"),
        (described(names={"label_names_": ["a", 1]}), "its label_names_ are not 2 names"),
        (described(fitted={"n_labels_": 3}), "its forests are of other numbers of features or labels"),
        (described(output={"transform": "polars"}), "transform is 'polars'"),
        (lambda arrays: arrays.pop("description"), "is not a saved cascade"),
        (lambda arrays: arrays.pop("level0/predictor/extra_trees/left"), "saved forest lacks left"),
        (lambda arrays: arrays.update(description=np.array('{"format": 99}')), "its format is 99, not 6"),
        (lambda arrays: arrays.update(description=np.array("{")), "is not a saved cascade"),
    ],
)
def test_incomplete_files(saved, tmp_path, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        load_model(rewritten(saved, tmp_path, change))


def test_files_that_are_no_models(saved, tmp_path):
    with pytest.raises(ModelError, match=r"missing\.npz cannot be read as a saved cascade: No such file"):
        load_model(tmp_path / "missing.npz")
    torn = tmp_path / "torn.npz"
    torn.write_bytes(saved.read_bytes()[:1000])
    text = tmp_path / "text.npz"
    text.write_text("no model")
    for path in (torn, text):
        with pytest.raises(ModelError, match="expected a saved cascade, found damage"):
            load_model(path)


def test_first_levels_of_folds():
    X = np.random.default_rng(0).random((60, 4))
    labels = (X[:, :2] > 0.5).astype(int)
    levels = {fold: make_model("RF+ET", n_trees=4, random_state=fold).fit(X, labels).levels_[0] for fold in (0, 10)}
    arrays = first_levels_to_arrays(levels)
    for fold, level in levels.items():
        for ours, theirs in zip(first_level_from_arrays(arrays, fold).predictors, level.predictors, strict=True):
            assert ours.kind == theirs.kind
            assert ours.centred_oob_proba().tobytes() == theirs.centred_oob_proba().tobytes()
            assert ours.training_proba_.tobytes() == theirs.training_proba_.tobytes()
    assert first_level_from_arrays(arrays, 1) is None  # not that of fold 10


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("leaf_of", lambda leaves: leaves + np.int32(10**6)),
        ("leaf_of", lambda leaves: leaves[:-1]),
        ("oob_proba", lambda proba: proba[:, :1]),
        ("label_means", lambda means: means[:1]),
        ("left", lambda nodes: np.where(nodes >= 0, np.int32(0), nodes)),  # a walk without an end
        ("tree_starts", lambda starts: starts + 1),
    ],
)
def test_what_would_lead_compiled_code_astray(name, change):
    X = np.random.default_rng(0).random((60, 4))
    model = make_model("RF+ET", n_trees=4, random_state=0).fit(X, (X[:, :2] > 0.5).astype(int))
    arrays = first_levels_to_arrays({0: model.levels_[0]})
    key = f"fold0/extra_trees/{name}"
    with pytest.raises(ValueError, match="do not fit together"):
        first_level_from_arrays({**arrays, key: change(arrays[key])}, 0)
