"""Compare estimates with the truth by missing-label mechanism, and test the sentences about the tests."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from fairfold.errors import ModelError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.metrics.scores import multilabel_scores
from fairfold.planning.models import difficulty_by
from fairfold.recommendation.mechanisms import (
    COLUMNS,
    evidence_against,
    scores_under_mechanism,
    without_scores,
)
from fairfold.weak_labels import mask_positives


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    z = random.normal(scale=3, size=(300, 4))
    Y, fold_of = (random.random(z.shape) < expit(z)).astype(np.int8), np.arange(300) % 2
    stages = {fold: {0: expit(z[fold_of == fold])} for fold in (0, 1)}
    best = {fold: dict.fromkeys(BASIC_METRICS, 0) for fold in (0, 1)}
    return Y, FinalPredictions.of_folds(stages, best, fold_of, 4)


def test_truth_is_of_all_labels_and_wrong_positives_are_none_that_were_left(problem):
    Y, predicted = problem
    observed = mask_positives(Y, 0.5, wrong_positives=0.2, random_state=0)
    table = scores_under_mechanism(Y, observed, {"m": predicted}, predicted)
    assert list(table.columns) == COLUMNS and set(table["metric"]) == set(BASIC_METRICS)
    left = ((Y == 1) & (observed == 1)).sum() / Y.sum()
    np.testing.assert_allclose(table["hidden_share"], 100 * (1 - left))
    for column, labels in (("complete", Y), ("observed", observed)):
        by_fold = [
            multilabel_scores(labels[part], predicted.by("mcc")[part])
            for part in (np.arange(0, 300, 2), np.arange(1, 300, 2))
        ]
        expected = {metric: np.mean([scores[metric] for scores in by_fold]) for metric in BASIC_METRICS}
        np.testing.assert_allclose(table[column], table["metric"].map(expected))
    assert (table["rate_low"] <= table["estimated_rate"]).all() and (
        table["estimated_rate"] <= table["rate_high"]
    ).all()
    assert (table["p_value"] == table["p_samples"]).all() and table["p_groups"].isna().all()


def test_hard_labels_are_those_of_a_model_that_is_not_compared():
    assert difficulty_by(["gcForest+", "logistic"]) == "kernel-ridge"
    assert difficulty_by(["kernel-ridge+", "joint-GB"]) == "logistic"
    assert difficulty_by(["Stack+"]) == "logistic"  # kernel ridge regression is a member of Stack+
    with pytest.raises(ModelError, match="leave one out"):
        difficulty_by(["kernel-ridge", "logistic+", "kNN"])


def test_what_cannot_be_has_one_row_with_its_reason():
    (row,) = without_scores("no groups").to_dict("records")
    assert row["reason"] == "no groups" and np.isnan(row["complete"])


def test_words_are_those_of_the_tests_and_the_range_doubles_what_is_left():
    tests = pd.DataFrame(
        {"test": ["samples", "groups", "labels"], "p_adjusted": [0.0004, 0.3, np.nan], "reason": ["", "", "it is so"]}
    )
    row = pd.DataFrame([(0, 20.0, 10.0, 40.0, "")], columns=["hidden_share", "estimated_rate", "low", "high", "reason"])
    found = evidence_against(tests, row)
    assert (
        "not missing at random" in found["conclusion"][0]
        and "samples differ" in found["conclusion"][0]
        and "p < 0.001" in found["conclusion"][0]
    )
    assert found["conclusion"][1].startswith("No evidence that groups differ") and "p = 0.300" in found["conclusion"][1]
    assert found["conclusion"][2] == "No test: it is so."
    # At most 40 % are missing. If positives are observed half as often as that, 70 % are missing.
    assert (found[["rate_low", "rate_high", "rate_high_if_hard"]] == [10, 40, 70]).all(axis=None)
