"""A study with more labels than the exact engine accepts keeps sparse matrices sparse and explains omitted results."""

import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.recommendation.reference import Reference

N_LABELS, UNIT = 150, "results/weak_labels/many/rate-50"


@pytest.fixture(scope="module")
def many(study_class, tmp_path_factory, root):
    """Run a study of generated labels in a hierarchy up to the scores."""
    made = study_class(
        tmp_path_factory.mktemp("many") / "study",
        root,
        {
            "seed": 1,
            "data": {
                "variants": {
                    "many": {"of": "gene-ontology-large", "parameters": {"n_samples": 300, "n_labels": N_LABELS}}
                }
            },
            "folds": {"n_splits": 2},
            "weak_labels": {
                "datasets": ["many"],
                "missing_rates": [50],
                "models": ["RF+ET", "gcForest+", "logistic"],
                "forest": {"n_trees": 5, "max_levels": 1},
                "many_labels": {"most_labels": {"logistic": N_LABELS - 1}},
            },
        },
    )
    code, output = made.run(
        *("results/tables/scores_at_k.csv", "results/tables/hierarchical_scores.csv"),
        *("results/tables/recommendation.csv", "results/tables/scar_tests.csv"),
    )
    assert code == 0, output
    return made.folder


def test_predictions_are_as_sparse_as_the_models(many):
    for model in ("RF+ET", "gcForest+"):
        predictions = FinalPredictions.load(many / UNIT / "predictions_0.npz", model)
        assert predictions.by("mcc").shape == (300, N_LABELS) and predictions.by("mcc").nnz < 300 * N_LABELS
    scores = pd.read_csv(many / UNIT / "complete_scores.csv").set_index(["model", "metric"])
    assert "ranking_loss" in scores.loc["RF+ET"].query("note.notna()").index  # undefined for labels of a hierarchy
    known = scores.loc["RF+ET"].query("note.isna()").dropna(axis="columns", how="all")
    assert known.loc["average_precision", "over_labels"] > 0
    known = known.drop(columns="over_labels")
    assert len(known) == 4 and known.notna().all(axis=None) and (known["low"] <= known["corrected"]).all()
    assert {"complete", "observed", "corrected", "low", "high"} <= {*known.columns}
    hierarchical = pd.read_csv(many / "results/tables/hierarchical_scores.csv")
    assert not hierarchical.query("model == 'RF+ET'")["n_violations"].any()


def test_a_model_that_is_left_out_states_why(many):
    scores = pd.read_csv(many / UNIT / "scores_0.csv").query("model == 'logistic'")
    assert scores["value"].isna().all()
    assert set(scores["reason"]) == {"logistic: config.weak_labels.many_labels.most_labels allows 149 labels."}
    recommended = pd.read_csv(many / "results/tables/recommendation.csv").set_index("model")
    assert recommended.loc["logistic", "mean"].isna().all() and recommended.loc["RF+ET", "mean"].notna().all()
    sentences = pd.read_csv(many / "results/recommendation/sentences.csv")["sentence"]
    assert sentences[0].startswith("State of the labels of many: unknown.")  # nothing is estimated
    assert not sentences.str.startswith("These labels form a hierarchy").any()


def test_missing_labels_are_estimated_by_the_most_common_ones(many):
    data, (P, labels) = Dataset.load(many / "results/datasets/many.npz"), Reference.load(many / UNIT / "reference.npz")
    assert P.shape == (300, 64) and np.isfinite(P).all()
    n_positives = np.asarray(data.Y.sum(axis=0)).ravel()
    assert n_positives[labels].min() >= np.sort(n_positives)[-80]  # approximate, as half of the labels are hidden
    row = pd.read_csv(many / UNIT / "missing_rate.csv").iloc[0]
    assert 40 < row["hidden_share"] < 50 and row["low"] <= row["estimated_rate"] <= row["high"]
