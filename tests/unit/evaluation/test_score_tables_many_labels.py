import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.score_tables import score_many_labels, summarize_many_labels
from fairfold.metrics.at_k import count_positives, inverse_propensities, recall_at_k, scores_by_frequency_band
from fairfold.metrics.registry import BASIC_METRICS, metrics_of
from fairfold.metrics.scores import multilabel_scores

UNIT = {"dataset": "flags", "missing_rate": 30, "model": "kNN"}


@pytest.fixture
def example():
    """Return labels, training labels, predictions with fold 1 missing, and weights."""
    random = np.random.default_rng(0)
    Y = (random.random((90, 20)) < np.geomspace(0.01, 0.4, 20)).astype(np.int8)
    fold_of = np.arange(90) % 3
    seen = Y * (random.random(Y.shape) < 0.7)
    P = np.where((fold_of == 1)[:, np.newaxis], np.nan, random.random(Y.shape))
    kept = np.zeros((len(BASIC_METRICS), 3), dtype=int)
    return Y, seen, FinalPredictions(P[np.newaxis], kept, fold_of), 1 + np.arange(90) % 2


@pytest.mark.parametrize("is_sparse", [False, True])
def test_scores_are_of_each_fold_by_what_its_training_saw(example, is_sparse):
    Y, seen, predictions, weights = example
    kind = sparse.csr_array if is_sparse else np.asarray
    options = {"bands": (2, 9), "propensity": {"A": 0.6, "B": 2.6}, "sample_weight": weights}
    at_k, by_frequency = score_many_labels(kind(Y), lambda fold: kind(seen), predictions, **options, **UNIT)
    for table in (at_k, by_frequency):
        assert list(table.columns[:4]) == [*UNIT, "fold"]
        assert (table[list(UNIT)] == list(UNIT.values())).all(axis=None)
        assert table.loc[table["fold"] == 1, "value"].isna().all() and set(table["fold"]) == {0, 1, 2}
    for fold in (0, 2):
        test = predictions.fold_of == fold
        P, inverse = predictions.probabilities[0, test], inverse_propensities(seen[~test], A=0.6, B=2.6)
        of_fold = at_k[at_k["fold"] == fold].set_index("metric")["value"]
        assert of_fold.to_dict() == multilabel_scores(
            Y[test], P, metrics=metrics_of("top"), sample_weight=weights[test], inverse_propensity=inverse
        )
        recall = recall_at_k(Y[test], P, 3, sample_weight=weights[test])[-1]
        assert of_fold["recall_at_3"] == pytest.approx(recall, rel=1e-14)
        expected = scores_by_frequency_band(Y[test], P, count_positives(Y[~test]), bands=(2, 9))
        found = by_frequency[by_frequency["fold"] == fold][list(expected.columns)].reset_index(drop=True)
        pd.testing.assert_frame_equal(found, expected)


def test_sparse_predictions_are_those_of_the_array(example):
    Y, seen, (P, kept, fold_of), weights = example
    P = np.where(P[0] < 0.4, 0, P[0])
    marked = P.copy()
    marked[fold_of == 1, 1:] = 0
    tables = [
        score_many_labels(Y, lambda fold: seen, FinalPredictions(each, kept, fold_of), sample_weight=weights, **UNIT)
        for each in (P[np.newaxis], sparse.csr_array(marked))
    ]
    for found, expected in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(found, expected)


def test_a_summary_is_over_folds(example):
    Y, seen, predictions, _ = example
    units = [UNIT | {"model": model} for model in ("kNN", "RF+ET")]
    tables = [score_many_labels(Y, lambda fold: seen, predictions, bands=(2, 9, 10**6), **unit) for unit in units]
    at_k, by_frequency = (pd.concat(parts, ignore_index=True) for parts in zip(*tables, strict=True))
    summary = summarize_many_labels(at_k=at_k, by_frequency=by_frequency)

    plain = summary["at_k"]
    assert plain[list(UNIT)].drop_duplicates().values.tolist() == [list(unit.values()) for unit in units]
    assert (plain["n_folds"] == 2).all() and list(plain["metric"].unique()) == list(metrics_of("top"))
    first = at_k.query("model == 'kNN' and metric == 'recall_at_5'")["value"]
    assert plain.loc[(plain["model"] == "kNN") & (plain["metric"] == "recall_at_5"), "mean"].item() == first.mean()

    banded = summary["by_frequency"]
    assert ">1000000" not in set(banded["band"])  # a band without labels
    for _, part in banded.groupby([*UNIT, "metric"]):
        assert part["least"].is_monotonic_increasing and part["n_labels"].sum() == pytest.approx(Y.shape[1])
    row = banded.query("model == 'RF+ET' and metric == 'recall' and band == '3-9'").iloc[0]
    values = by_frequency.query("model == 'RF+ET' and metric == 'recall' and band == '3-9'")
    assert (row["mean"], row["n_folds"], row["k"]) == (values["value"].mean(), 2, 5)
    assert row["sd"] == pytest.approx(values["value"].std(), rel=1e-12)
    assert row["n_labels"] == values["n_labels"].mean() and row["n_scored"] == values["n_scored"].mean()
