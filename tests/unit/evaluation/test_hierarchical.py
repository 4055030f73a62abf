"""Scores in a hierarchy, compared with CAFA's evaluator on small made-up files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.core.hierarchy import Hierarchy
from fairfold.datasets.hierarchies import read_hierarchy
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.hierarchical import (
    hierarchical_scores,
    information_accretion,
    score_hierarchy,
    summarize_hierarchies,
)
from fairfold.metrics.registry import BASIC_METRICS

CAFA = Path(__file__).parent / "cafa"
TERMS = [f"EX:{j:07d}" for j in range(16)]
PROCESSES = TERMS[::2]  # the terms of one namespace


def matrix(name, dtype, terms=TERMS):
    """Read a file of annotations or predictions as a matrix of samples and terms."""
    table = pd.read_csv(CAFA / name, sep="\t", header=None)
    values = table[2] if 2 in table else pd.Series(1, index=table.index)
    wide = pd.DataFrame({"sample": table[0], "term": table[1], "value": values}).pivot(
        index="sample", columns="term", values="value"
    )
    return wide.reindex(columns=terms).fillna(0).astype(dtype)


@pytest.fixture(scope="module")
def information():
    """Return the information of the terms of one namespace and their hierarchy."""
    hierarchy = read_hierarchy(CAFA / "terms.obo", PROCESSES)
    return information_accretion(matrix("training.tsv", np.int8, PROCESSES).to_numpy(), hierarchy), hierarchy


def test_scores_are_those_that_cafas_evaluator_printed(information):
    values, hierarchy = information
    truth = matrix("truth.tsv", np.int8, PROCESSES)
    P = matrix("predictions/predicted.tsv", float, PROCESSES).reindex(truth.index).fillna(0).to_numpy()
    printed = json.loads((CAFA / "cafaeval.json").read_text())["process"]
    scores = hierarchical_scores(truth.to_numpy(), hierarchy.reconcile(P, "maximum"), values)  # the maximum, as in CAFA
    assert {name: printed[name] for name in scores} == pytest.approx(scores, rel=1e-12)


def final_predictions(P, fold_of):
    """Return final predictions with one level for every metric."""
    n_folds = (fold_of.max() + 1) * (len(fold_of) if fold_of.ndim == 2 else 1)
    return FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), n_folds), dtype=int), fold_of)


@pytest.fixture(scope="module")
def of_namespaces():
    """Scores of two related namespaces, in the order of the files' samples."""
    hierarchy = read_hierarchy(CAFA / "terms.obo", TERMS)
    training, truth = (matrix(f"{name}.tsv", np.int8) for name in ("training", "truth"))
    predicted = matrix("predictions/predicted.tsv", float).reindex(truth.index).fillna(0)
    Y, fold_of = np.vstack([training, truth]), np.repeat([-1, 0], [len(training), len(truth)])
    P = np.vstack([np.full(training.shape, np.nan), predicted])
    return score_hierarchy(Y, final_predictions(P, fold_of), hierarchy).set_index(["namespace", "metric"])


def test_each_namespace_is_scored_as_cafas_evaluator_printed(of_namespaces):
    printed = json.loads((CAFA / "cafaeval.json").read_text())
    printed.pop("cafaeval")
    expected = {(namespace, name): value for namespace, scores in printed.items() for name, value in scores.items()}
    assert of_namespaces["value"].to_dict() == pytest.approx(expected, rel=1e-12)
    assert (of_namespaces["n_violations"] == 0).all()


def test_each_namespace_is_scored_as_by_cafas_evaluator_where_it_is_installed(of_namespaces):
    evaluation = pytest.importorskip("cafaeval.evaluation")
    files = map(str, (CAFA / "terms.obo", CAFA / "predictions", CAFA / "truth.tsv"))
    table = evaluation.cafa_eval(*files, ia=str(CAFA / "information.tsv"))[0].groupby("ns")
    for name, expected in (("f_max", table["f"].max()), ("s_min", table["s_w"].min())):
        assert of_namespaces["value"].xs(name, level="metric").to_dict() == pytest.approx(expected.to_dict(), rel=1e-12)


def test_sparse_predictions_are_those_of_the_array():
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy([[1, 0], [2, 0], [3, 1], [4, 1]], 6)
    Y = hierarchy.with_ancestors((rng.random((80, 6)) < 0.2).astype(np.int8))
    P, fold_of = np.where((found := rng.random(Y.shape)) < 0.5, 0, found), np.arange(80) % 3
    P[fold_of == 2] = np.nan
    marked = np.where(np.isnan(P) & (np.arange(6) > 0), 0, P)
    thin = FinalPredictions(sparse.csr_array(marked), np.zeros((len(BASIC_METRICS), 3), dtype=int), fold_of)
    dense = score_hierarchy(Y, final_predictions(P, fold_of), hierarchy)
    assert dense["n_violations"].max() > 0 and dense["value"].isna().sum() == 3
    pd.testing.assert_frame_equal(score_hierarchy(sparse.csr_array(Y), thin, hierarchy), dense)


def test_a_violation_is_counted_once_in_the_namespace_of_the_lower_label():
    hierarchy = Hierarchy([[1, 0], [2, 0]], 3, namespaces=("x", "x", "y"))
    Y, P = np.ones((4, 3), dtype=np.int8), np.tile([0.5, 0.6, 0.7], (4, 1))
    found = score_hierarchy(Y, final_predictions(P, np.array([0, 0, 0, 1])), hierarchy).query("metric == 's_min'")
    assert found[["fold", "namespace", "n_violations"]].to_numpy().tolist() == [
        *([0, "x", 3], [0, "y", 3]),
        *([1, "x", 1], [1, "y", 1]),
    ]


def test_information_is_that_of_the_file(information):
    given = pd.read_csv(CAFA / "information.tsv", sep="\t", header=None, index_col=0)[1]
    np.testing.assert_allclose(information[0], given.reindex(PROCESSES).fillna(0), rtol=1e-12)


def test_information_by_hand():
    Y = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    bits = information_accretion(Y, Hierarchy([[1, 0], [2, 1], [3, 0]], 4))
    assert bits.tolist() == [0, 1, 1, 0]  # the row without labels is ignored; a label without rows has no information


def test_faultless_silent_and_undefined_predictions():
    Y = np.array([[1, 1], [1, 0], [0, 0]])
    assert hierarchical_scores(Y, Y.astype(float), np.array([1.0, 2.0])) == {
        "f_max": 1,
        "weighted_f_max": 1,
        "s_min": 0,
    }
    silent = hierarchical_scores(Y, np.zeros(Y.shape), np.array([1.0, 2.0]))
    assert silent == {"f_max": 0, "weighted_f_max": 0, "s_min": 2}  # 3 and 1 bits are missed
    assert np.isnan(list(hierarchical_scores(0 * Y, Y.astype(float), np.ones(2)).values())).all()


def test_unmeasured_labels_take_no_part():
    Y, P, bits = np.array([[1, np.nan], [1, 1]]), np.array([[0.9, 0.9], [0.9, 0.9]]), np.ones(2)
    assert hierarchical_scores(Y, P, bits)["s_min"] == 0
    assert hierarchical_scores(np.nan_to_num(Y), P, bits)["s_min"] == 0.5


@pytest.mark.parametrize(
    ("P", "bits", "sentence"),
    [
        (np.full((2, 2), 1.5), np.ones(2), "probabilities must be numbers from 0 to 1"),
        (np.zeros((2, 3)), np.ones(2), "labels have shape"),
        (np.zeros((2, 2)), np.ones(3), "information"),
    ],
)
def test_mistakes_are_one_sentence(P, bits, sentence):
    with pytest.raises(DataError, match=sentence):
        hierarchical_scores(np.eye(2, dtype=int), P, bits)


def test_a_fold_without_predictions_has_no_scores():
    hierarchy, rng = Hierarchy([[1, 0], [2, 0]], 3), np.random.default_rng(0)
    Y = hierarchy.with_ancestors((rng.random((20, 3)) < 0.4).astype(np.int8))
    fold_of, P = np.arange(20) % 2, hierarchy.reconcile(rng.random((20, 3)))
    P[0, 1] = 1  # above its parent unless the parent has probability 1
    P[fold_of == 1] = np.nan
    table = score_hierarchy(Y, final_predictions(P, fold_of), hierarchy, dataset="d", missing_rate=50, model="m")
    assert table["value"].isna().tolist() == [False] * 3 + [True] * 3
    expected = hierarchical_scores(Y[::2], P[::2], information_accretion(Y[1::2], hierarchy))
    assert table["value"][:3].tolist() == list(expected.values())
    repeated = score_hierarchy(Y, final_predictions(np.stack([P, P]), np.stack([fold_of] * 2)), hierarchy)
    assert repeated["fold"].tolist() == np.repeat([0, 1, 2, 3], 3).tolist()
    np.testing.assert_array_equal(repeated["value"], [*table["value"], *table["value"]])
    summary = summarize_hierarchies(table)
    assert summary["n_folds"].tolist() == [1, 1, 1] and summary["n_violations"].tolist() == [1, 1, 1]
