"""Decisions maximize the expected score that they are made for."""

from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score, matthews_corrcoef

from fairfold.errors import DataError, ModelError
from fairfold.forests import load_model
from fairfold.metrics.decisions import (
    all_thresholds,
    best_f1_of_samples,
    decide,
    label_sets,
    most_probable_sets,
    objectives,
)
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model

SCORES = {"mcc": matthews_corrcoef, "f1_micro": f1_score}
KINDS = [np.asarray, sparse.csr_array]


def dense(decided):
    return decided.toarray() if sparse.issparse(decided) else decided


@cache
def f1_of_all_pairs():
    """Return all sets of five labels, and the F1 score of each set (row) for each decision (column)."""
    every = np.array(list(product([0, 1], repeat=5)))
    sizes = every.sum(axis=1)
    return every, 2 * every @ every.T / np.maximum(sizes[:, np.newaxis] + sizes, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_no_other_decision_has_a_better_expected_sample_f1(kind, seed):
    rng = np.random.default_rng(seed)
    P = rng.beta(0.7, 1.5, size=(4, 5)) * (rng.random((4, 5)) < 0.8)
    P[0, :2] = 1
    every, scores = f1_of_all_pairs()
    found = dense(best_f1_of_samples(kind(P)))
    for p, decided in zip(P, found, strict=True):
        expected = np.where(every == 1, p, 1 - p).prod(axis=1) @ scores
        (mine,) = np.flatnonzero((every == decided).all(axis=1))
        assert expected[mine] == pytest.approx(max(expected), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_rows_and_certain_labels(kind):
    P = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.1, 0.0, 0.0]])
    np.testing.assert_array_equal(dense(best_f1_of_samples(kind(P))), P > 0)
    assert best_f1_of_samples(kind(P)[:0]).shape == (0, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_label_sets_of_training_samples_are_preferred(kind):
    Y = np.tile([[1, 1, 0], [0, 0, 1]], (50, 1))
    P = np.tile([[0.6, 0.6, 0.4], [0.4, 0.4, 0.6]], (50, 1))
    sets = label_sets(kind(Y), kind(P), kind(P))
    assert sorted(sets["count"]) == [50, 50] and sets["share"] == pytest.approx([0.5] * 3, abs=0.01)
    new = np.array([[0.7, 0.45, 0.2], [0.02, 0.02, 0.02], [0.02, 0.02, 0.9]])
    found = dense(most_probable_sets(kind(new), sets))
    # The second sample has so small probabilities that the empty set wins, although no training sample has it.
    np.testing.assert_array_equal(found, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("seed", range(3))
def test_sets_of_sparse_labels_are_those_of_dense_ones(seed):
    rng = np.random.default_rng(seed)
    P = rng.random((60, 5)) * (rng.random((60, 5)) < 0.7)
    seen, Y = P * 0.6, (rng.random((60, 5)) < P * 0.6).astype(int)
    found = [label_sets(kind(Y), kind(P), kind(seen)) for kind in KINDS]
    for name, values in found[0].items():
        np.testing.assert_allclose(values, found[1][name])
    new = rng.random((30, 5)) * (rng.random((30, 5)) < 0.7)
    np.testing.assert_array_equal(*(dense(most_probable_sets(kind(new), found[0])) for kind in KINDS))


def test_hidden_and_unmeasured_labels_complete_the_sets():
    Y = np.array([[1, 0, np.nan], [0, 0, np.nan]])
    P, seen = np.array([[0.9, 0.9, 0.9], [0.9, 0.1, 0.1]]), np.array([[0.9, 0.5, 0.5], [0.2, 0.1, 0.1]])
    sets = label_sets(Y, P, seen)
    assert sets["labels"].tolist() == [0, 1, 2, 0] and sets["size"].tolist() == [3, 1]


def test_subset_decisions_are_more_often_right_where_labels_depend_on_each_other():
    rng = np.random.default_rng(0)
    kinds = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    Y = kinds[rng.integers(3, size=4000)]
    noise = rng.normal(size=Y.shape)
    P = 1 / (1 + np.exp(-(2 * (2 * Y - 1) + 2 * noise) / 2))
    sets = label_sets(Y[:2000], P[:2000], P[:2000])
    found = most_probable_sets(P[2000:], sets)
    assert (found == Y[2000:]).all(axis=1).mean() > (Y[2000:] == (P[2000:] > 0.5)).all(axis=1).mean() + 0.1


def fitted(P, Y):
    return SimpleNamespace(thresholds_=all_thresholds(P), label_sets_=label_sets(Y, P, P))


@pytest.mark.parametrize("objective", objectives())
def test_each_objective_is_met_best_by_its_own_decisions(objective):
    """Labels are drawn from the probabilities, and no other objective scores better by more than chance."""
    rng = np.random.default_rng(2)
    P = rng.beta([0.3, 0.6, 1.0, 0.2], [3, 2, 2, 4], size=(6000, 4))
    Y = (rng.random(P.shape) < P).astype(int)
    model = fitted(P[:3000], Y[:3000])
    metric = {"hamming": "hamming_loss", "subset": "subset_accuracy"}.get(objective, objective)
    scores = {}
    for other in objectives():
        decided = decide(P[3000:], model, other).astype(float)
        np.testing.assert_array_equal(decided, dense(decide(sparse.csr_array(P[3000:]), model, other)))
        scores[other] = abs(multilabel_scores(Y[3000:], decided, metrics=[metric])[metric] - (objective == "hamming"))
    assert scores[objective] >= max(scores.values()) - 0.01


def test_costs_set_the_threshold_of_each_label():
    P = np.array([[0.3, 0.3], [0.6, 0.15]])
    np.testing.assert_array_equal(decide(P, None, [1, 4]), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(decide(P, None, [[1, 1], [2, 8]]), decide(P, None, [1, 4]))
    np.testing.assert_array_equal(dense(decide(sparse.csr_array(P), None, [1, 4])), decide(P, None, [1, 4]))
    for wrong in ([1], [1, -1], [1, np.inf], ["a", "b"], None):
        with pytest.raises(ModelError, match="objective: expected the name of a metric, or 2 positive costs"):
            decide(P, None, wrong)


def test_unknown_objectives_are_named():
    with pytest.raises(ModelError, match="unknown objective 'f1_mikro': did you mean 'f1_micro'"):
        decide(np.ones((1, 2)), None, "f1_mikro")
    with pytest.raises(ModelError, match="unknown objective 'roc_auc'"):
        decide(np.ones((1, 2)), None, "roc_auc")


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
        sentence = r"^this model has no calibrated .*Use a model whose name ends with \+"
        with pytest.raises(ModelError, match=sentence):
            model.predict(X, objective=objective)
    np.testing.assert_array_equal(model.predict(X, objective="hamming"), model.predict(X))
    assert model.predict(X, objective="f1_samples").any(axis=1).all()
