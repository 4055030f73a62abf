"""Test the leaderboard of a dataset."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from fairfold.recommendation.comparison import USES, recommend
from fairfold.recommendation.leaderboard import leaderboard

SCORES = {
    "forest": [0.80, 0.82, 0.81, 0.83, 0.84],
    "boosting": [0.79, 0.83, 0.80, 0.82, 0.83],
    "baseline": [0.50, 0.52, 0.49, 0.53, 0.51],
}


@pytest.fixture
def tables():
    """Return the scores of folds, the recommendation, and the run times."""
    metrics = [metric for use in USES.values() for metric in use]
    rows = [
        ("flags", 0, model, fold, metric, value, value, 0.2)
        for model, values in SCORES.items()
        for fold, value in enumerate(values)
        for metric in metrics
    ]
    names = ["dataset", "missing_rate", "model", "fold", "metric", "observed", "corrected", "share_tested"]
    folds = pd.DataFrame(rows, columns=names)
    units = folds[["dataset", "missing_rate", "model", "metric"]].drop_duplicates()
    scores = units.assign(observed=0.8, low=0.7, high=0.9, share_best=0.5)
    rates = pd.DataFrame({"dataset": ["flags"], "hidden_rate": [0], "estimated_rate": [0.0]})
    steps = [("first_level", 1.0), ("fit", 2.0), ("predict", 0.5)]
    seconds = [("flags", 0, model, fold, *step, 100 + fold) for model in SCORES for fold in range(5) for step in steps]
    columns = ["dataset", "missing_rate", "model", "fold", "step", "seconds", "max_rss"]
    return folds, scores, rates, pd.DataFrame(seconds, columns=columns)


def test_models_are_sorted_with_verdicts_and_total_times(tables):
    folds, scores, rates, seconds = tables
    seconds.loc[(seconds["fold"] == 0) & (seconds["step"] == "fit"), "seconds"] = 60.0  # compiled code is loaded
    board = leaderboard(recommend(folds, scores, rates), folds, seconds)
    assert board["model"].tolist() == ["forest", "boosting", "baseline"]
    assert board["verdict"].tolist() == ["best", "not different", "worse"]
    assert board["fit_seconds"].tolist() == [3.0] * 3  # includes the first level
    assert board["predict_seconds"].tolist() == [0.5] * 3
    assert board["peak_memory_mb"].tolist() == [104] * 3


@pytest.mark.parametrize(("score", "other"), [("f1_macro", "ranking"), ("mcc", "ranking"), ("roc_auc", "threshold")])
def test_the_score_of_the_study_leads(tables, score, other):
    folds, scores, rates, seconds = tables
    if score == "f1_macro":
        folds, scores = (
            pd.concat([each, each[each["metric"] == "mcc"].assign(metric=score)]) for each in (folds, scores)
        )
    numbers = recommend(folds, scores, rates, score=score)
    assert numbers["metric"].iloc[0] == score and numbers["use"].iloc[-1] == other
    board = leaderboard(numbers, folds, seconds, score)
    assert (board["metric"] == score).all() and board["model"].iloc[0] == "forest"


def test_differences_are_paired_and_corrected(tables):
    folds, scores, rates, seconds = tables
    board = leaderboard(recommend(folds, scores, rates), folds, seconds).set_index("model")
    interval = ttest_rel(SCORES["forest"], SCORES["boosting"]).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2 * np.sqrt(1 + 5 * 0.2 / 0.8)
    row = board.loc["boosting"]
    assert row["behind_low"] == pytest.approx(row["behind"] - half)
    assert row["behind_high"] == pytest.approx(row["behind"] + half)
    assert np.isnan(board.loc["forest", "behind_low"])


def test_a_single_fold_is_not_tested(tables):
    folds, scores, rates, seconds = tables
    folds = folds[folds["fold"] == 0]
    board = leaderboard(recommend(folds, scores, rates), folds, seconds)
    assert board["verdict"].tolist() == ["best", "not tested", "not tested"]
    assert board["behind_low"].isna().all()


def test_models_may_lack_a_score_or_equal_another(tables):
    folds, scores, rates, seconds = tables
    folds.loc[(folds["model"] == "baseline") & (folds["fold"] == 1), ["observed", "corrected"]] = np.nan
    twins = {"dataset": "flags", "missing_rate": 0, "model": "boosting", "same_as": "forest", "identical": "scores"}
    board = leaderboard(recommend(folds, scores, rates, identical=pd.DataFrame([twins])), folds, seconds)
    assert dict(zip(board["model"], board["verdict"], strict=True)) == {
        "forest": "best",
        "boosting": "same as forest",
        "baseline": "no score",
    }
    assert board["model"].tolist()[-1] == "baseline"


def test_the_next_metric_leads_where_the_first_is_undefined(tables):
    folds, scores, rates, seconds = tables
    folds.loc[folds["metric"] == USES["ranking"][0], ["observed", "corrected"]] = np.nan
    board = leaderboard(recommend(folds, scores, rates), folds, seconds)
    assert set(board["metric"]) == {USES["ranking"][1]}
    assert board["verdict"].iloc[0] == "best"


def test_guessing_is_the_last_row(tables):
    folds, scores, rates, seconds = tables
    guessing = folds[folds["model"] == "baseline"].assign(model="guessing", over_labels=0.3, behind_low=np.nan)
    guessing.loc[guessing["metric"] == "average_precision", ["behind_low", "behind_high"]] = 0.25, 0.35
    board = leaderboard(recommend(folds, scores, rates), folds, seconds, guessing=guessing)
    assert board["model"].tolist() == ["forest", "boosting", "baseline", "guessing"]
    last = board.iloc[-1]
    assert last[["verdict", "dataset", "metric"]].tolist() == ["guessing", "flags", "average_precision"]
    assert last["score"] == pytest.approx(0.51) and last["behind"] == pytest.approx(0.31)
    assert last[["over_labels", "behind_low", "behind_high"]].tolist() == pytest.approx([0.3, 0.25, 0.35])
    assert last["deciding"] == pytest.approx(0.51) and np.isnan(last["fit_seconds"])
    others = leaderboard(recommend(folds, scores, rates), folds, seconds)
    pd.testing.assert_frame_equal(board[:-1], others, check_dtype=False)
