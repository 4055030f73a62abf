import numpy as np
import pandas as pd
import pytest

from fairfold.datasets import load_catalog
from fairfold.evaluation.score_tables import learning_curves, printed_scores, summarize_scores
from fairfold.forests import MODEL_NAMES
from fairfold.metrics.registry import BASIC_METRICS

COLUMNS = ["dataset", "missing_rate", "model", "fold", "level", "is_final", "metric", "value", "reason"]


def table(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def scores():
    return table(
        ("d", 50, "z", 0, 0, False, "mcc", 0.1, ""),
        ("d", 50, "z", 0, 1, False, "mcc", 0.2, ""),
        ("d", 50, "z", 0, 2, True, "mcc", 0.6, ""),
        ("d", 50, "z", 1, 0, True, "mcc", 0.3, ""),
        ("d", 50, "z", 1, 1, False, "mcc", 0.5, np.nan),
        ("d", 50, "a", 0, 0, True, "mcc", np.nan, "too few samples."),
        ("d", 50, "a", 1, 0, True, "mcc", 0.4, ""),
        ("d", 50, "b", 0, 0, True, "mcc", np.nan, "too few samples."),
        ("d", 50, "b", 1, 0, True, "mcc", np.nan, "too few samples."),
    )


def test_final_scores_are_averaged_and_failures_explained(scores):
    summary = summarize_scores(scores)
    assert summary[["model", "n_folds"]].to_numpy().tolist() == [["z", 2], ["a", 1], ["b", 0]]
    assert summary["mean"].tolist() == pytest.approx([0.45, 0.4, np.nan], nan_ok=True)
    assert summary["sd"].tolist() == pytest.approx([0.15 * np.sqrt(2), np.nan, np.nan], nan_ok=True)
    assert summary["reason"].tolist() == ["", "too few samples.", "too few samples."]


def test_printed_as_mean_and_deviation(scores):
    scores = pd.concat([scores, scores.assign(missing_rate=0, metric="roc_auc")])
    printed = printed_scores(summarize_scores(scores))
    assert printed.to_numpy().tolist() == [
        ["z", 0, "–", "0.450 ± 0.212"],
        ["z", 50, "0.450 ± 0.212", "–"],
        ["a", 0, "–", "0.400"],
        ["a", 50, "0.400", "–"],
        ["b", 0, "–", "–"],
        ["b", 50, "–", "–"],
    ]
    assert list(printed) == ["model", "missing_rate", "mcc", "roc_auc"]


def test_a_fold_that_stopped_keeps_its_last_level(scores):
    curves = learning_curves(scores)
    assert list(curves) == ["dataset", "missing_rate", "model", "level", "metric", "mean", "sd", "n_folds"]
    z = curves[curves["model"] == "z"]
    assert z["level"].tolist() == [0, 1, 2]
    assert z["mean"].tolist() == pytest.approx([0.2, 0.35, (0.6 + 0.5) / 2])
    assert z["sd"].tolist() == pytest.approx([0.1 * np.sqrt(2), 0.15 * np.sqrt(2), 0.05 * np.sqrt(2)])
    assert z["n_folds"].tolist() == [2, 2, 1]


def test_no_model_has_levels_of_another(scores):
    curves = learning_curves(scores)
    assert curves.loc[curves["model"] == "a", ["level", "mean", "n_folds"]].to_numpy().tolist() == [[0, 0.4, 1]]
    assert "b" not in set(curves["model"])
    assert curves["model"].drop_duplicates().tolist() == ["z", "a"]  # order of first appearance


def test_metrics_rates_and_datasets_stay_apart(scores):
    others = [
        scores.assign(value=scores["value"] + 1, **change)
        for change in ({"dataset": "e"}, {"missing_rate": 0}, {"metric": "roc_auc"})
    ]
    everything = pd.concat([scores, *others])
    expected = learning_curves(scores)
    found = learning_curves(everything)
    assert len(found) == 4 * len(expected)
    pd.testing.assert_frame_equal(found.head(len(expected)), expected)
    assert len(summarize_scores(everything)) == 4 * 3


def test_published_scores_are_of_things_we_have(root):
    published = pd.read_csv(root / "resources/published/weak_labels.csv")
    assert list(published) == ["dataset", "missing_rate", "model", "level", "metric", "value", "sd"]
    assert not published.duplicated(["dataset", "missing_rate", "model", "level", "metric"]).any()
    assert set(published["model"]) <= set(MODEL_NAMES)
    assert set(published["metric"]) <= set(BASIC_METRICS)
    assert set(published["dataset"]) <= set(load_catalog())
    assert published["value"].between(-1, 1).all() and published["sd"].between(0, 1).all()
    assert published["missing_rate"].isin([0, 30, 50, 70]).all()
