"""Comparison of the models of a study by their predictions."""

import numpy as np
import pandas as pd
import pytest

from fairfold.evaluation import compare_models
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.comparison import recommend
from fairfold.recommendation.complete_scores import complete_scores
from fairfold.recommendation.leaderboard import leaderboard
from fairfold.recommendation.verdicts import COLUMNS, study_verdicts

UNIT = {"dataset": "mine", "missing_rate": 0}


def made(noises=(0.0, 0.3, 3.0), n=150, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 3))
    Y = (latent + rng.normal(size=latent.shape) > 0).astype(float)
    P = {f"noise {noise}": 1 / (1 + np.exp(-latent - noise * rng.normal(size=latent.shape))) for noise in noises}
    return Y, P, np.arange(n) % 5


def predictions_of(P, fold_of):
    kept = np.zeros((len(BASIC_METRICS) + 1, fold_of.max() + 1), dtype=np.int8)
    return {model: FinalPredictions(each[np.newaxis], kept, fold_of) for model, each in P.items()}


def test_verdicts_equal_those_of_the_library():
    Y, P, fold_of = made()
    found = study_verdicts(Y, predictions_of(P, fold_of), None, score="f1_macro")
    assert list(found) == COLUMNS
    assert found["metric"].unique().tolist() == [*BASIC_METRICS, "f1_macro"]
    for metric, rows in found.groupby("metric"):
        expected = compare_models(Y, P, fold_of, metric=metric).drop(columns="score")
        pd.testing.assert_frame_equal(rows[list(expected)].reset_index(drop=True), expected)


def test_declared_frequency_corrects_scores():
    Y, P, fold_of = made()
    Y = Y * (np.random.default_rng(1).random(Y.shape) < 0.6)
    certain = study_verdicts(Y, predictions_of(P, fold_of), FrequencyDistribution.certain(0.6))
    rows = certain[certain["metric"] == "average_precision"]
    expected = compare_models(Y, P, fold_of, label_frequency=0.6)
    assert rows["difference"].tolist() == expected["difference"].tolist()
    assert rows["verdict"].tolist() == expected["verdict"].tolist()
    spread = FrequencyDistribution(np.array([0.4, 0.6, 0.8, 1.0]), np.array([0.3, 0.4, 0.3, 0.0]))
    uncertain = study_verdicts(Y, predictions_of(P, fold_of), spread)
    assert uncertain["error"][2] > certain["error"][2]


def test_model_that_fails_in_a_fold_is_left_out():
    Y, P, fold_of = made()
    P["noise 0.3"][fold_of == 2] = np.nan
    assert "noise 0.3" not in set(study_verdicts(Y, predictions_of(P, fold_of), None)["model"])


@pytest.fixture(scope="module")
def numbers():
    Y, P, fold_of = made(noises=(0.0, 0.01, 0.3, 3.0))
    predictions = predictions_of(P, fold_of)
    tables = complete_scores(Y, Y, predictions, None, 1.0, n_draws=5)
    folds, scores, verdicts = (
        each.assign(**UNIT) for each in (tables["folds"], tables["scores"], study_verdicts(Y, predictions, None))
    )
    rates = pd.DataFrame([{"dataset": "mine", "hidden_rate": 0, "estimated_rate": np.nan}])
    return recommend(folds, scores, rates, verdicts=verdicts), recommend(folds, scores, rates), folds, verdicts


def test_recommendation_uses_the_verdicts(numbers):
    found, by_folds, _, verdicts = numbers
    rows = found[found["metric"] == "average_precision"].set_index("model")
    own = verdicts[verdicts["metric"] == "average_precision"].set_index("model").loc[rows.index]
    assert rows["p_adjusted"].tolist()[1:] == own["p_adjusted"].tolist()[1:]
    np.testing.assert_allclose(rows["difference"], own["difference"], atol=1e-12)
    assert (rows["is_top"] == (own["verdict"] != "worse")).all()
    assert ((rows["difference_low"] > 0) == ~rows["is_top"]).all()
    assert by_folds["difference_low"].isna().all() and not by_folds["is_equivalent"].any()


def test_leaderboard_shows_the_verdicts_and_their_intervals(numbers):
    found, _, folds, _ = numbers
    columns = ["dataset", "missing_rate", "model", "fold", "step", "seconds", "max_rss"]
    seconds = [("mine", 0, model, 0, "fit", 1.0, 1.0) for model in folds["model"].unique()]
    board = leaderboard(found, folds, pd.DataFrame(seconds, columns=columns)).set_index("model")
    assert board["verdict"].tolist() == ["best", "equivalent", "not different", "worse"]
    others = found[found["metric"] == "average_precision"].set_index("model").loc[board.index[1:]]
    assert board["behind_low"].tolist()[1:] == others["difference_low"].tolist()
