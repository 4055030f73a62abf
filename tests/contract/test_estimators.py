"""Every model works with scikit-learn's tools, which give the results of an explicit loop over the folds."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibrationDisplay
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    hamming_loss,
    label_ranking_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from fairfold import models
from fairfold.errors import ModelError
from fairfold.forests import load_model, make_model
from fairfold.forests.models import OUT_OF_BAG_MODELS

mpl.use("Agg")
FOLDS = KFold(3, shuffle=True, random_state=0)
# One model per kind of imputation, correction and embedding; the others combine these.
NAMES = ("RF+ET", "gcForest", "CaFE-OS", "SLCForest", "CaFE-FLA", "gcForest+", "FLAForest+")
NAMED = ("RF+ET", "CaFE-SLC", "gcForest+")
FEATURES, LABELS = ["depth", "salt", "light", "wind"], ["sea", "sky", "sand"]


@pytest.fixture(scope="module")
def data():
    """Return features and three labels; each fold has positives and negatives of each label."""
    rng = np.random.default_rng(0)
    X = rng.random((96, 4))
    return X, (X[:, :3] + 0.4 * rng.random((96, 3)) > 0.7).astype(int)


@pytest.fixture(scope="module")
def frames(data):
    X, Y = data
    index = [f"s{i}" for i in range(len(X))]
    return pd.DataFrame(X, index, FEATURES), pd.DataFrame(Y, index, LABELS)


def small(name, **changes):
    return make_model(name, **{"n_trees": 3, "max_levels": 1, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def by_hand(data):
    """Return test rows, labels and probabilities of each fold by model; each model is fitted once."""
    X, Y = data
    found = {}

    def predictions(name, n_labels=3):
        if (name, n_labels) not in found:
            found[name, n_labels] = [
                (test, Y[test][:, :n_labels], small(name).fit(X[train], Y[train][:, :n_labels]).predict_proba(X[test]))
                for train, test in FOLDS.split(X)
            ]
        return found[name, n_labels]

    return predictions


# Scorer or its name -> function that computes the score from labels and probabilities in an explicit loop.
SCORERS = {
    "f1_micro": lambda Y, P: f1_score(Y, (P > 0.5).astype(int), average="micro"),
    "f1_macro": lambda Y, P: f1_score(Y, (P > 0.5).astype(int), average="macro"),
    "accuracy": lambda Y, P: accuracy_score(Y, (P > 0.5).astype(int)),
    "average_precision": average_precision_score,
    "roc_auc": roc_auc_score,
    make_scorer(label_ranking_loss, response_method="predict_proba", greater_is_better=False): (
        lambda Y, P: -label_ranking_loss(Y, P)
    ),
    make_scorer(hamming_loss): lambda Y, P: hamming_loss(Y, (P > 0.5).astype(int)),
    make_scorer(average_precision_score, response_method="predict_proba", average="micro"): (
        lambda Y, P: average_precision_score(Y, P, average="micro")
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_predictions_are_those_of_a_loop_by_hand(name, data, by_hand):
    X, Y = data
    scoring = {str(number): scorer for number, scorer in enumerate(SCORERS)}
    scores = cross_validate(small(name), X, Y, cv=FOLDS, scoring=scoring, error_score="raise")
    for number, score in enumerate(SCORERS.values()):
        expected = [score(truth, P) for _, truth, P in by_hand(name)]
        assert scores[f"test_{number}"].tolist() == expected
        assert np.isfinite(expected).all()
    P = cross_val_predict(small(name), X, Y, cv=FOLDS, method="predict_proba")
    predicted = cross_val_predict(small(name), X, Y, cv=FOLDS)
    for test, _, of_fold in by_hand(name):
        assert P[test].tobytes() == of_fold.tobytes()
        np.testing.assert_array_equal(predicted[test], of_fold > 0.5)


@pytest.mark.parametrize("n_labels", [1, 2])
@pytest.mark.parametrize("scorer", ["f1_micro", "accuracy", "average_precision", "roc_auc"])
def test_one_or_two_labels_are_not_taken_for_two_classes(scorer, n_labels, data, by_hand):
    """scikit-learn interprets two plain numbers in ``classes_`` as the classes of one label and drops a column."""
    X, Y = data
    expected = [SCORERS[scorer](truth, P) for _, truth, P in by_hand("SLCForest", n_labels)]
    scores = cross_val_score(small("SLCForest"), X, Y[:, :n_labels], cv=FOLDS, scoring=scorer, error_score="raise")
    assert scores.tolist() == expected
    with warnings.catch_warnings(action="error"):
        P = cross_val_predict(small("SLCForest"), X, Y[:, :n_labels], cv=FOLDS, method="predict_proba")
    for test, _, of_fold in by_hand("SLCForest", n_labels):
        assert P[test].tobytes() == of_fold.tobytes()


@pytest.mark.parametrize(
    ("name", "scoring"), [("RF+ET", "average_precision"), ("gcForest", "average_precision"), ("CaFE-SLC+", "f1_macro")]
)
def test_a_search_chooses_by_true_numbers(name, scoring, data):
    X, Y = data
    leaves, settings = [1, 24], {"n_trees": 2, **({"shape": "paper"} if name in OUT_OF_BAG_MODELS else {})}
    search = GridSearchCV(small(name, **settings), {"min_samples_leaf": leaves}, cv=FOLDS, scoring=scoring).fit(X, Y)
    expected = [
        np.mean(
            [
                SCORERS[scoring](Y[test], model.fit(X[train], Y[train]).predict_proba(X[test]))
                for train, test in FOLDS.split(X)
            ]
        )
        for model in (small(name, min_samples_leaf=leaf, **settings) for leaf in leaves)
    ]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected)
    assert expected[0] != expected[1]
    assert search.best_params_ == {"min_samples_leaf": leaves[int(np.argmax(expected))]}
    again = small(name, **settings, **search.best_params_).fit(X, Y)
    assert search.predict_proba(X).tobytes() == again.predict_proba(X).tobytes()
    np.testing.assert_array_equal(search.classes_, np.arange(3))


@pytest.mark.parametrize("name", ["RF+ET", "gcForest+", "SLCForest"])
def test_partial_dependence_of_each_label(name, data):
    X, Y = data
    model = small(name).fit(X, Y)
    found = partial_dependence(model, X, [1], grid_resolution=3, kind="both")
    for place, value in enumerate(found["grid_values"][0]):
        moved = X.copy()
        moved[:, 1] = value
        P = model.predict_proba(moved)
        np.testing.assert_array_equal(found["average"][:, place], P.mean(axis=0))
        np.testing.assert_array_equal(found["individual"][:, :, place], P.T)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_partial_dependence_of_few_labels(n_labels, data):
    X, Y = data
    model = small("SLCForest").fit(X, Y[:, :n_labels])
    found = partial_dependence(model, X, [1], grid_resolution=3)
    moved = X.copy()
    moved[:, 1] = found["grid_values"][0][2]
    np.testing.assert_array_equal(found["average"][:, 2], model.predict_proba(moved).mean(axis=0))


def test_displays(data, frames):
    X, Y = frames
    model = small("SLCForest").fit(X, Y)
    expected = partial_dependence(model, X, ["salt"], grid_resolution=5)["average"]
    for label in range(3):
        display = PartialDependenceDisplay.from_estimator(model, X, ["salt"], target=label, grid_resolution=5)
        (line,) = display.lines_.ravel()
        np.testing.assert_array_equal(line.get_ydata(), expected[label])
        CalibrationDisplay.from_predictions(Y["sky"], model.predict_proba(X)[:, label])
    mpl.pyplot.close("all")


def test_importance_is_measured_by_scores(data):
    X, Y = data
    model = small("SLCForest", n_trees=20).fit(X, Y)
    found = permutation_importance(model, X, Y, scoring="average_precision", n_repeats=3, random_state=0)
    assert (found["importances_mean"][:3] > 0.02).all()  # the features that determine the labels
    assert abs(found["importances_mean"][3]) < 0.02


# --- scikit-learn's contract -----------------------------------------------------------------------------------------

ONE_D = "takes labels as columns only"
TWO_CLASSES = "expects probabilities of both classes of one label"
OTHER_VALUES = "feeds labels other than 0 and 1, which are refused on purpose"
ZERO = "leaves samples out by a weight of zero, which is refused on purpose"
EXPECTED_TO_FAIL = {
    "check_classifier_data_not_an_array": OTHER_VALUES,
    "check_classifier_not_supporting_multiclass": ONE_D,
    "check_classifiers_classes": ONE_D,
    "check_classifiers_one_label": ONE_D,
    "check_classifiers_one_label_sample_weights": ZERO,
    "check_classifiers_regression_target": ONE_D,
    "check_classifiers_train": "asks for 1-D predictions",
    "check_estimator_sparse_array": TWO_CLASSES,
    "check_estimator_sparse_matrix": TWO_CLASSES,
    "check_estimators_dtypes": OTHER_VALUES,
    "check_fit2d_1feature": OTHER_VALUES,
    "check_sample_weight_equivalence_on_dense_data": ZERO,
    "check_sample_weight_equivalence_on_sparse_data": ZERO,
    "check_sample_weights_not_an_array": OTHER_VALUES,
    "check_sample_weights_not_overwritten": OTHER_VALUES,
    "check_sample_weights_pandas_series": OTHER_VALUES,
    "check_sample_weights_shape": OTHER_VALUES,
}
ONE_BYTE = {"check_classifiers_multilabel_output_format_predict": "predictions take one byte per label"}


# ECOCClassifier, its learners and the Gaussian classifiers are checked by the tests of their packages.
@pytest.mark.parametrize(
    ("name", "settings", "further"),
    [
        ("SLCForest", {"n_trees": 1, "max_levels": 1}, {}),
        ("gcForest+", {"n_trees": 1, "max_levels": 1}, {}),
        ("logistic", {}, ONE_BYTE),
    ],
)
def test_scikit_learns_checks(name, settings, further):
    failed = EXPECTED_TO_FAIL | further
    found = check_estimator(models.make_model(name, **settings), expected_failed_checks=failed, on_skip=None)
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(failed)


@pytest.mark.parametrize("name", ["Stack+", "logistic", "joint-GB", "joint-GB+", "LightGBM", "gcForest"])
def test_tags(name):
    tags = get_tags(models.make_model(name))
    assert tags.input_tags.sparse and tags.input_tags.allow_nan
    assert tags.target_tags.two_d_labels and tags.target_tags.multi_output and tags.target_tags.required
    assert not tags.target_tags.one_d_labels and not tags.target_tags.single_output
    assert tags.classifier_tags.multi_label and not tags.classifier_tags.multi_class


# --- names of features and labels -------------------------------------------------------------------------------------


def test_classes_are_the_numbers_of_the_labels(data):
    X, Y = data
    model = small("RF+ET")
    assert not hasattr(model, "classes_")
    assert model.fit(X, Y).classes_.tolist() == [0, 1, 2]
    assert model.fit(X, Y[:, :1]).classes_.tolist() == [0]


@pytest.mark.parametrize("name", NAMED)
def test_names_are_kept_and_stored(name, data, frames, tmp_path):
    X, Y = frames
    model = small(name).fit(X=X, y=Y)
    model.save(tmp_path / "model.npz")
    plain = small(name).fit(*data)
    for fitted in (model, load_model(tmp_path / "model.npz")):
        assert fitted.feature_names_in_.tolist() == FEATURES
        assert fitted.label_names_in_.tolist() == LABELS
        assert fitted.classes_.tolist() == [0, 1, 2]
        assert fitted.predict_proba(X).tobytes() == plain.predict_proba(data[0]).tobytes()
        with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature nam"):
            fitted.predict(data[0])


def test_what_has_no_names_gets_none(data, frames, tmp_path):
    model = small("RF+ET").fit(*frames)
    numbered = [pd.DataFrame(part) for part in data]
    for X, Y in (data, numbered, (data[0], sparse.csr_array(data[1])), (frames[0].T.reset_index(drop=True).T, data[1])):
        model.fit(X, Y)
        model.save(tmp_path / "model.npz")
        for fitted in (model, load_model(tmp_path / "model.npz")):
            assert not hasattr(fitted, "feature_names_in_") and not hasattr(fitted, "label_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but CascadeForest was fitted without feature names"):
        model.predict(frames[0])


OTHER_COLUMNS = {
    "reordered": (
        ["salt", "depth", "light", "wind"],
        "X has 'salt' in place of 'depth', so its columns are in another",
    ),
    "missing": (["depth", "wind"], "X lacks 'salt', 'light', but the feature names should match"),
    "surplus": ([*FEATURES, "rain"], "X adds 'rain', but the feature names should match"),
    "renamed": (["depth", "salt", "light", "rain"], "X lacks 'wind' and adds 'rain', but"),
    "many": ([*FEATURES, *"abcdefg"], "X adds 'a', 'b', 'c', 'd', 'e' and 2 more, but"),
}


@pytest.mark.parametrize("case", OTHER_COLUMNS)
@pytest.mark.parametrize("name", ["SLCForest", "SLCForest+"])
def test_other_columns_are_one_sentence(name, case, frames, tmp_path):
    X, Y = frames
    columns, sentence = OTHER_COLUMNS[case]
    other = pd.DataFrame(np.zeros((5, len(columns))), columns=columns)
    model = small(name).fit(X, Y)
    model.save(tmp_path / "model.npz")
    for fitted in (model, load_model(tmp_path / "model.npz")):
        for predict in (fitted.predict, fitted.predict_proba, lambda X, of=fitted: list(of.staged_predict_proba(X))):
            with pytest.raises(ModelError) as caught:
                predict(other)
            assert str(caught.value).startswith(sentence)
            assert str(caught.value).endswith(". Use the columns in feature_names_in_, in the same order.")
            assert "\n" not in str(caught.value)
    pd.testing.assert_index_equal(X[model.feature_names_in_].columns, X.columns)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda names: [0, *names[1:]], "X has column names that are text and others that are not. Convert all names"),
        (
            lambda names: [names[0], *names[:-1]],
            "X has several columns named 'depth'. Give each column a unique name",
        ),
    ],
)
def test_names_that_show_no_columns_apart(change, sentence, frames):
    X, Y = (frame.copy() for frame in frames)
    X.columns = change(FEATURES)
    with pytest.raises(ModelError, match=sentence):
        small("RF+ET").fit(X, Y)
    with pytest.raises(ModelError, match=sentence):
        small("RF+ET").fit(*frames).predict(X)
