"""Decisions maximize the expected score that they are made for."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from fairfold.errors import ModelError
from fairfold.evaluation.decisions import best_f1_of_samples, decide, label_sets, most_probable_sets, objectives
from fairfold.evaluation.scores import multilabel_scores
from fairfold.evaluation.thresholds import all_thresholds

KINDS = [np.asarray, sparse.csr_array]


def dense(decided):
    return decided.toarray() if sparse.issparse(decided) else decided


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_no_other_decision_has_a_better_expected_sample_f1(kind, seed):
    rng = np.random.default_rng(seed)
    P = rng.beta(0.7, 1.5, size=(4, 5)) * (rng.random((4, 5)) < 0.8)
    P[0, :2] = 1
    every = np.array(list(product([0, 1], repeat=5)))
    found = dense(best_f1_of_samples(kind(P)))
    for p, decided in zip(P, found, strict=True):
        chance = np.where(every == 1, p, 1 - p).prod(axis=1)
        expected = [
            chance @ [f1_score(y, each, zero_division=0) for y in every] for each in (decided.astype(int), *every)
        ]
        assert expected[0] == pytest.approx(max(expected), abs=1e-12)


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
