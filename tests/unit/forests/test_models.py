"""Properties that all named models share."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fairfold.errors import ModelError
from fairfold.forests import MODEL_NAMES, load_model, make_model
from fairfold.forests.levels import Level
from fairfold.forests.models import VARIANTS, make_first_level
from fairfold.forests.shapes import above_first_level
from fairfold.weak_labels import mask_positives

# One model per kind of imputation, correction and embedding; the others combine these.
EVERY = [(name, None) for name in ("gcForest+", "FLAForest+", "CaFE-SLC+")]
EVERY += [(name, variant) for name in ("LCForest", "CaFE-OS", "CaFE-SLC", "CaFE-FLA") for variant in VARIANTS]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((160, 8))
    X[X < 0.3] = 0
    truth = np.column_stack([X[:, 0] > 0.4, X[:, 1] + X[:, 2] > 0.9, X[:, 3] > 0.5]).astype(np.int8)
    return X, mask_positives(truth, 0.4, random_state=0)


def small(name, variant=None, **changes):
    return make_model(name, variant=variant, **{"n_trees": 12, "max_levels": 2, "random_state": 7, **changes})


def bytes_of(model, X):
    """Return the bytes of the dense probabilities of each level, for dense or sparse labels."""
    return [(P.toarray() if sparse.issparse(P) else P).tobytes() for P in model.staged_predict_proba(X)]


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_every_model(data, name, variant, tmp_path):
    """One fit serves all levels. Threads, sparse input, a given first level and saving do not change the result."""
    X, observed = data
    model = small(name, variant).fit(X, observed)
    levels = list(model.staged_predict_proba(X))
    assert len(levels) == len(model.levels_) == len(model.oob_scores_) == len(model.training_labels_)
    assert all(P.shape == observed.shape and ((P >= 0) & (P <= 1)).all() for P in levels)
    np.testing.assert_array_equal(model.predict_proba(X), levels[model.best_level_])
    np.testing.assert_array_equal(model.predict(X), levels[model.best_level_] > 0.5)

    expected = [P.tobytes() for P in levels]
    assert bytes_of(small(name, variant, n_jobs=3).fit(X, observed), X) == expected
    as_csr = sparse.csr_array(X)
    assert bytes_of(small(name, variant).fit(as_csr, sparse.csr_array(observed)), as_csr) == expected
    assert bytes_of(small(name, variant).fit(X, observed, first_level=model.levels_[0]), X) == expected
    first_level = Level.of_states(pickle.loads(pickle.dumps(model.levels_[0].to_states())))
    assert bytes_of(small(name, variant).fit(X, observed, first_level=first_level), X) == expected
    assert bytes_of(model.fit(X, observed), X) == expected
    assert bytes_of(small(name, variant, random_state=8).fit(X, observed), X) != expected
    model.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert bytes_of(loaded, X) == expected
    assert (loaded.best_levels_, loaded.imputation_log_) == (model.best_levels_, model.imputation_log_)
    assert loaded.get_params() == model.get_params() == clone(model).get_params()


@pytest.mark.parametrize("name", ["gcForest", "gcForest+"])
def test_a_first_level_from_elsewhere_is_used(data, name):
    X, observed = data
    other = small(name, random_state=8).fit(X, observed)
    model = small(name).fit(X, observed, first_level=other.levels_[0])
    assert model.levels_[0].predictors is other.levels_[0].predictors
    assert bytes_of(model, X)[0] == bytes_of(other, X)[0]


def test_models_of_the_papers_shape_share_the_first_level_of_the_text(data):
    X, observed = data
    first = [
        model.fit(X, observed).levels_[0].predictors
        for model in (small("RF+ET"), small("gcForest+", shape="paper"), small("RF+ET", "authors-code"))
    ]
    text, out_of_bag, authors_code = ([forest.oob_proba_.tobytes() for forest in forests] for forests in first)
    assert text == out_of_bag
    assert text != authors_code


def test_models_that_choose_shapes_share_the_first_level_with_its_shapes(data):
    X, observed = data
    first = make_first_level("chosen-shapes", n_trees=12, max_levels=2, random_state=7).fit(X, observed).levels_
    assert len(first) == 1
    for name in ("gcForest+", "SLCForest+"):
        alone = small(name, shape="auto").fit(X, observed)
        shared = small(name, shape="auto").fit(X, observed, first_level=first[0])
        assert bytes_of(alone, X) == bytes_of(shared, X)
        below, *above = [[forest.shapes_ for forest in level.predictors] for level in alone.levels_]
        assert below == [forest.shapes_ for forest in first[0].predictors]
        assert above and all(level == [[*map(above_first_level, of)] for of in below] for level in above)


@pytest.mark.parametrize("name", ["gcForest", "gcForest+"])
def test_a_first_level_of_other_data_is_refused(data, name, tmp_path):
    X, observed = data
    other = small("RF+ET").fit(X[:100], observed[:100])
    small("RF+ET").fit(X, observed).save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    for level in (other.levels_[0], loaded.levels_[0]):
        with pytest.raises(
            ModelError, match=r"first_level was fitted on labels of shape .*, but the data have \(160, 3\) and 8\."
        ):
            small(name).fit(X, observed, first_level=level)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_one_class_labels_still_fit(data, name):
    X, observed = data
    labels = np.column_stack([observed[:, 0], np.zeros(len(X)), np.ones(len(X))])
    model = small(name).set_params(label_frequency="estimate").fit(X, labels)
    P = model.predict_proba(X)
    assert (P[:, 1] < 0.05).all() and (P[:, 2] > 0.95).all()
    notes = {row["label"]: row["note"] for row in model.imputation_log_}
    if model.get_params().get("imputation"):
        assert notes[0] == "" and "no observed positives" in notes[1] and "all samples are positive" in notes[2]
        assert all(row["imputed"] == 0 for row in model.imputation_log_ if row["label"] == 2)


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_defaults_are_the_papers(name):
    parameters = make_model(name).get_params()
    assert (parameters["n_trees"], parameters["min_samples_leaf"]) == (150, 5)
    assert (parameters["max_levels"], parameters["threshold"]) == (10, 0.5)
    assert parameters.get("percentile", 0.95) == 0.95


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("SLC-Forest",), {}, "unknown model 'SLC-Forest': did you mean 'SLCForest'"),
        (("CaFE",), {"variant": "code"}, "variant of CaFE is 'code'; it must be one of 'text', 'authors-code'"),
        (("SLCForest+",), {"variant": "text"}, r"variant of SLCForest\+ is 'text', but this model has no variants"),
        (("SLCForest",), {"n_tree": 3}, "unknown parameter of SLCForest 'n_tree': did you mean 'n_trees'"),
    ],
)
def test_unknown_names(arguments, options, sentence):
    with pytest.raises(ModelError, match=sentence):
        make_model(*arguments, **options)


@pytest.mark.parametrize("name", ["SLCForest", "SLCForest+"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_trees": 0}, "n_trees is 0; it must be a whole number of at least 1"),
        ({"n_trees": 2.5}, r"n_trees is 2\.5"),
        ({"n_trees": True}, "n_trees is True"),
        ({"max_levels": -1}, "max_levels is -1"),
        ({"threshold": 1}, "threshold is 1; it must be above 0 and below 1"),
        ({"threshold": "a"}, "threshold is 'a'"),
        ({"imputation": "SLC"}, "imputation is 'SLC'; it must be one of None, "),
        ({"min_samples_leaf": 81}, "n_samples=160 is less than two leaves of 81 samples"),
        (
            {"features": ("embeddings",)},
            r"features is \('embeddings',\); it must contain 'output', 'embedding' or both",
        ),
        ({"features": ()}, r"features is \(\)"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_parameters(data, name, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        small(name, **change).fit(*data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"percentile": 0}, "percentile is 0; it must be above 0 and at most 1"),
        ({"lc_threshold": 0}, "lc_threshold is 0"),
        ({"length_control": "longest"}, "length_control is 'longest'; it must be one of 'single'"),
        ({"cap_rounding": "up"}, "cap_rounding is 'up'"),
    ],
)
def test_bad_parameters_of_the_published_models(data, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        small("SLCForest", **change).fit(*data)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"patience": 0}, "patience is 0"), ({"shape": "own"}, "shape is 'own'; it must be one of 'auto', 'paper'")],
)
def test_bad_parameters_of_the_models_on_out_of_bag_features(data, change, sentence):
    with pytest.raises(ModelError, match=sentence):
        small("SLCForest+", **change).fit(*data)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.zeros(160), r"expected shape \(160, n_labels\), found \(160,\)\. .* Y\.reshape\(-1, 1\)"),
        (np.zeros((100, 2)), r"expected shape \(160, n_labels\), found \(100, 2\)"),
        (np.zeros((160, 0)), "shape"),
        (np.full((160, 1), 3), "Y, row 0, column 0: expected 0, 1 or NaN, found 3. .*MultiLabelBinarizer"),
        (np.full((160, 1), -1), "row 0, column 0: .* found -1. Write 0 for negatives and NaN for unmeasured labels."),
        (None, "requires y to be passed"),
    ],
)
def test_bad_labels(data, labels, sentence):
    with pytest.raises(ModelError, match=sentence):
        small("SLCForest").fit(data[0], labels)


@pytest.mark.parametrize("bad", [-np.inf, np.inf])
def test_features_must_be_finite(data, bad):
    X, observed = data
    spoilt = X.copy()
    spoilt[3, 2] = bad
    model = small("SLCForest").fit(X, observed)
    for action in (lambda: small("SLCForest").fit(spoilt, observed), lambda: model.predict(spoilt)):
        with pytest.raises(ModelError, match=r"contains .* Features must be finite"):
            action()


def test_prediction_needs_a_fit_and_the_same_features(data):
    X, observed = data
    with pytest.raises(NotFittedError):
        small("SLCForest").predict(X)
    with pytest.raises(NotFittedError):
        small("SLCForest").save("nowhere.npz")
    with pytest.raises(ModelError, match="X has 5 features, but CascadeForest is expecting 8"):
        small("SLCForest").fit(X, observed).predict(X[:, :5])


def test_dates_beside_numbers_are_one_sentence():
    frame = pd.DataFrame({"a": np.arange(40.0), "day": pd.date_range("2026-01-01", periods=40)})
    with pytest.raises(ModelError, match="Features must be finite numbers, one row per sample"):
        small("gcForest").fit(frame, np.eye(40, 3, dtype=int))
