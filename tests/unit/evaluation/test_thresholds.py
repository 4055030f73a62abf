"""Thresholds maximize expected scores and perform well on labels drawn from the probabilities."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, matthews_corrcoef

from fairfold.errors import DataError, ModelError
from fairfold.evaluation.thresholds import all_thresholds
from fairfold.forests import load_model
from fairfold.models import make_model

SCORES = {"mcc": matthews_corrcoef, "f1_micro": f1_score}


def best_thresholds(P, objective, by="pooled"):
    return np.array(all_thresholds(P)[objective][by])


def expected_score(p, threshold, objective):
    """Compute the score from a table of expected counts, as scikit-learn does with weights."""
    truth = np.repeat([1, 0], len(p))
    predicted = np.tile(p > threshold, 2)
    return SCORES[objective](truth, predicted, sample_weight=np.concatenate([p, 1 - p]))


@pytest.mark.parametrize(("objective", "seed"), product(SCORES, range(4)))
def test_no_other_threshold_has_a_better_expected_score(objective, seed):
    rng = np.random.default_rng(seed)
    p = rng.choice(rng.beta(0.5, 2, size=12), size=40)  # with ties
    found = best_thresholds(p[:, None], objective)[0]
    between = np.unique(p)
    others = [0, *(between[:-1] + between[1:]) / 2]
    assert expected_score(p, found, objective) == pytest.approx(
        max(expected_score(p, other, objective) for other in others), abs=1e-12
    )


def test_pooled_and_by_label():
    P = np.random.default_rng(0).beta(0.5, 2, size=(50, 3)) * [1, 0.5, 0.1]
    np.testing.assert_array_equal(
        best_thresholds(P, "f1_micro"), np.repeat(best_thresholds(P.reshape(-1, 1), "f1_micro"), 3)
    )
    alone = [best_thresholds(P[:, [label]], "f1_micro")[0] for label in range(3)]
    np.testing.assert_array_equal(best_thresholds(P, "f1_micro", by="label"), alone)
    np.testing.assert_array_equal(best_thresholds(P, "hamming_loss", by="label"), [0.5] * 3)
    assert all_thresholds(P)["f1_micro"] == {"pooled": [best_thresholds(P, "f1_micro")[0]] * 3, "label": alone}


def test_what_is_surely_positive_is_predicted_and_nothing_is_where_nothing_can_be():
    assert best_thresholds(np.array([[1.0], [1.0], [0.0]]), "mcc")[0] == 0.5
    np.testing.assert_array_equal(best_thresholds(np.zeros((4, 2)), "mcc", by="label"), [0.5, 0.5])
    np.testing.assert_array_equal(best_thresholds(np.ones((4, 1)), "mcc"), [0.5])


@pytest.mark.parametrize("objective", SCORES)
def test_labels_drawn_from_the_probabilities_are_predicted_best(objective):
    """The mean score over ten draws is at most .005 below that of the best threshold from .1 to .9."""
    rng = np.random.default_rng(1)
    seen, new = (rng.beta(0.4, 2.5, size=(3000, 2)) for _ in range(2))
    threshold = best_thresholds(seen, objective)[0]
    draws = [(rng.random(new.shape) < new).ravel() for _ in range(10)]
    score = {
        t: np.mean([SCORES[objective](labels, (new > t).ravel()) for labels in draws])
        for t in (threshold, *np.linspace(0.1, 0.9, 17))
    }
    assert score[threshold] > max(score.values()) - 0.005 and score[threshold] > score[0.5]


@pytest.mark.parametrize("probabilities", [[[1.5]], [[np.nan]], [0.5]])
def test_bad_input_is_refused(probabilities):
    with pytest.raises(DataError, match="probabilities must be"):
        all_thresholds(np.array(probabilities))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_thresholds_of_sparse_probabilities_are_those_of_dense_ones(seed, share):
    rng = np.random.default_rng(seed)
    P = rng.beta(0.5, 2, size=(40, 9)) * (rng.random((40, 9)) < share * np.linspace(0, 1, 9))
    P = np.round(P, 2) if seed % 2 else P
    P[:, 8] = 1
    assert all_thresholds(sparse.csr_array(P)) == all_thresholds(P)


def test_sparse_probabilities_above_1_are_refused():
    with pytest.raises(DataError, match="probabilities must be"):
        best_thresholds(sparse.csr_array([[0, 1.5]]), "f1_micro")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((300, 6))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(300, 3)) > [0.5, 0.7, 0.9]).astype(np.int8)


@pytest.mark.parametrize("name", ["gcForest+", "logistic+", "Stack+"])
def test_models_predict_for_an_objective(data, name, tmp_path):
    X, Y = data
    settings = {} if name == "logistic+" else {"n_trees": 15, "max_levels": 1}
    model = make_model(name, random_state=0, **settings).fit(X[:200], Y[:200])
    proba = model.predict_proba(X[200:])
    kept = getattr(model, "estimator_", model).thresholds_
    for objective, by in product(("mcc", "f1_micro", "hamming_loss"), ("pooled", "label")):
        found = model.predict(X[200:], objective=objective, by=by)
        np.testing.assert_array_equal(found, proba > kept[objective][by])
    by_label = model.predict(X[200:], objective="f1_micro", by="label")
    np.testing.assert_array_equal(model.predict(X[200:], objective="f1_macro"), by_label)
    np.testing.assert_array_equal(model.predict(X[200:], objective=[1, 1, 1]), proba > 0.5)
    np.testing.assert_array_equal(model.predict(X[200:]), model.predict(X[200:], objective="hamming_loss"))
    assert max(kept["f1_micro"]["pooled"]) < 0.5  # half of the best F1
    if name == "gcForest+":
        model.save(tmp_path / "model.npz")
        again = load_model(tmp_path / "model.npz").predict(X, objective="mcc", by="label")
        np.testing.assert_array_equal(again, model.predict(X, objective="mcc", by="label"))
        again = load_model(tmp_path / "model.npz").predict(X, objective="subset")
        np.testing.assert_array_equal(again, model.predict(X, objective="subset"))
    with pytest.raises(ModelError, match="unknown objective 'f2'"):
        model.predict(X[200:], objective="f2")
    with pytest.raises(ModelError, match="by is 'sample'; it must be 'pooled' or 'label'"):
        model.predict(X[200:], objective="f1_micro", by="sample")


@pytest.mark.parametrize("name", ["gcForest", "logistic"])
def test_without_calibrated_probabilities_there_is_no_threshold(data, name):
    X, Y = data
    settings = {"n_trees": 5, "max_levels": 1} if name == "gcForest" else {}
    model = make_model(name, random_state=0, **settings).fit(X, Y)
    for objective in ("mcc", "subset", "f1_macro"):
        with pytest.raises(ModelError, match=r"has no calibrated probabilities, .*Use a model whose name ends with \+"):
            model.predict(X, objective=objective)
    np.testing.assert_array_equal(model.predict(X, objective="hamming"), model.predict(X))
    assert model.predict(X, objective="f1_samples").any(axis=1).all()
