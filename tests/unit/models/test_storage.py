"""Saved models predict the same bytes, contain no training labels, and create only objects of allowed types."""

import io
import json
import warnings
import zipfile
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.preprocessing import FunctionTransformer

from fairfold.errors import ModelError
from fairfold.forests.trees import MultilabelForest
from fairfold.models import MODEL_NAMES, load_model, make_model
from fairfold.models.registry import register_own, spec_of

SMALL = {"n_trees": 8, "max_levels": 1}
FAST = (
    "dummy",
    "logistic",
    "logistic+",
    "RBF-SVM",
    "kNN",
    "ML-kNN",
    "LightGBM+",
    "chains",
    "joint-GB",
    "kernel-ridge+",
    "CaFE-SLC",
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((120, 5))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0.6).astype(np.int8)


@pytest.fixture(scope="module")
def saved(data, tmp_path_factory):
    """Return a pool of several kinds of models, and its file."""
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    model = make_model("Stack+", **SMALL, random_state=0).fit(*data)
    model.save(path)
    return model, path


def settings_of(name):
    is_deep = "Forest" in name or "CaFE" in name or name in ("RF+ET", "Stack+")
    return SMALL if name[0].isupper() and is_deep else {}


@pytest.mark.parametrize("name", [name for name in MODEL_NAMES if not spec_of(name).package])
def test_a_model_is_read_as_it_was_written(data, name, tmp_path):
    X, Y = data
    settings = {"n_trees": 8} if name.startswith(("RandomForest", "ExtraTrees")) else settings_of(name)
    settings = {key: value for key, value in settings.items() if name != "RF+ET" or key != "max_levels"}
    model = make_model(name, **settings, random_state=0).fit(X[:80], Y[:80])
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    if name.endswith("+"):
        assert loaded.predict(X, objective="mcc").tobytes() == model.predict(X, objective="mcc").tobytes()


@pytest.mark.parametrize("name", FAST)
def test_the_same_model_gives_the_same_file(data, name, tmp_path):
    for number in (1, 2):
        make_model(name, **settings_of(name), random_state=0).fit(*data).save(tmp_path / f"{number}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def arrays_of(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".npy"):
                yield np.load(io.BytesIO(archive.read(name)), allow_pickle=False)


def test_training_labels_are_not_in_the_file_of_a_pool(data, saved):
    """Kernel ridge regression stores landmarks, here all samples, and their weights.

    Nothing else has a row per sample.
    """
    X, Y = data
    of_samples = [array for array in arrays_of(saved[1]) if len(X) in array.shape]
    assert sorted(array.shape for array in of_samples) == sorted([X.shape, Y.shape])
    weights = next(array for array in of_samples if array.shape == Y.shape)
    assert len(np.unique(weights)) > 0.9 * Y.size


def changed(path, tmp_path, change):
    """Return the archive with another schema or other files."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(tmp_path / "changed", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return tmp_path / "changed"


def replaced(old, new):
    def change(files):
        assert old in files["schema.json"]
        files["schema.json"] = files["schema.json"].replace(old, new)

    return change


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            b'"StackedClassifier"',
            b'"Popen"',
            "contains fairfold.models.stacking.Popen, which no model of fairfold uses",
        ),
        (b'"fairfold.models.one_level"', b'"os"', "contains os.OneLevelModel, which no model of fairfold uses"),
        (b'"__loader__"', b'"__unloader__"', "is not a saved model"),
    ],
)
def test_a_strange_file_is_refused_in_one_sentence(saved, tmp_path, old, new, sentence):
    path = changed(saved[1], tmp_path, replaced(old, new))
    with pytest.raises(ModelError, match=sentence) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_other_versions_are_refused_in_one_sentence(data, saved, tmp_path):
    make_model("logistic").fit(*data).save(tmp_path / "model")
    path = changed(tmp_path / "model", tmp_path, replaced(sklearn.__version__.encode(), b"0.1"))
    with pytest.raises(ModelError, match=r"was saved with scikit-learn 0\.1, but .* is installed\. Install the former"):
        load_model(path)
    path = changed(saved[1], tmp_path, lambda files: files.update({"fairfold.json": b'{"format": 0}'}))
    with pytest.raises(ModelError, match=r"is not a saved model .*its format is 0, not 3.*\. Fit and save it again"):
        load_model(path)


def test_trees_that_do_not_end_are_refused(saved, tmp_path):
    """Compiled code walks the trees and would not return."""

    def turn_back(files):
        for name in [name for name in files if name.endswith(".npy")]:
            array = np.load(io.BytesIO(files[name]))
            if array.dtype == np.int32 and array.ndim == 1 and (array == -1).any() and array.max() > 20:
                stream = io.BytesIO()
                np.save(stream, np.where(array > 20, 0, array))
                files[name] = stream.getvalue()

    with pytest.raises(ModelError, match="the arrays of the saved forest are inconsistent"):
        load_model(changed(saved[1], tmp_path, turn_back))


def test_other_files_are_refused_in_one_sentence(tmp_path, data):
    (tmp_path / "text").write_text("label\n1\n")
    (tmp_path / "list.skops").write_bytes(dumped([1, 2]))
    with pytest.raises(ModelError, match=r"is a folder\. Name the file"):
        load_model(tmp_path)
    for name, sentence in (("text", "is not"), ("missing", "missing"), ("list.skops", "is not a saved model")):
        with pytest.raises(ModelError, match=sentence):
            load_model(tmp_path / name)


def test_a_call_with_arguments_is_no_way_around(tmp_path):
    """Boosting on categorical features contains a call to a function that checks arrays."""
    from skops import io as skops

    path = tmp_path / "call.skops"
    path.write_bytes(dumped(FunctionTransformer(partial(warnings.warn, "made"))))
    assert "functools.partial" in skops.get_untrusted_types(data=path.read_bytes())
    with pytest.raises(ModelError, match=r"contains _?warnings\.warn, which no model of fairfold uses"):
        load_model(path)


def dumped(thing):
    from skops import io as skops

    return skops.dumps(thing)


def test_code_of_your_own_is_not_saved(tmp_path, data):
    (tmp_path / "mine.py").write_text("from sklearn.dummy import DummyClassifier\nclass Mine(DummyClassifier): pass\n")
    entry = {"class": "Mine", "file": str(tmp_path / "mine.py"), "parameters": {}, "labels": "one-per-label"}
    entry |= {"scale": False, "tune": {}, "minutes": 1, "tuning": {}}
    register_own({"mine": entry})
    model = make_model("mine", random_state=0).fit(*data)
    with pytest.raises(ModelError, match="cannot be saved"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_pickled_models_do_not_take_their_samples_along(data, saved):
    forest = saved[0].estimator_.estimators_[0].levels_[0].predictors[0]
    kept = forest.__getstate__()
    assert {"value_", "shapes_"} <= set(kept) and not {"leaf_of_", "in_bag_", "oob_proba_"} & set(kept)
    assert isinstance(forest, MultilabelForest) and json.dumps(forest.n_trees)


def test_changed_arrays_are_refused(data, tmp_path):
    """Other coefficients would give other predictions without a word."""
    make_model("logistic", random_state=0).fit(*data).save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive, zipfile.ZipFile(tmp_path / "other", "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            is_array = name.endswith(".npy") and len(content) > 128  # bytes of the header
            other.writestr(name, content[:-1] + bytes([content[-1] ^ 1]) if is_array else content)
    assert load_model(tmp_path / "model").predict_proba(data[0]).shape == (120, 3)
    with pytest.raises(ModelError, match="its content does not fit its checksum"):
        load_model(tmp_path / "other")


def test_a_model_that_expands_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 2**27)
    with pytest.raises(ModelError, match="it expands to many times its size"):
        load_model(tmp_path / "bomb")
