"""Test the level of guessing."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.guessing import best_model, guess, n_models_above_chance, score_guessing

AS_GIVEN = FrequencyDistribution.certain(1.0)
FOLD_OF = np.arange(240) % 3


@pytest.fixture
def labels():
    """Return one label of 94 % and one of 8 % positives, which no feature predicts."""
    rng = np.random.default_rng(0)
    return (rng.random((240, 2)) < [0.94, 0.08]).astype(np.int8)


def predictions(P):
    return FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 3), dtype=int), FOLD_OF)


def scored(Y, best, **options):
    given = {"score": "average_precision"} | options
    return score_guessing(Y, Y, lambda fold: Y, FOLD_OF, best, AS_GIVEN, 1.0, **given)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_labels_are_predicted_by_their_frequency_in_training(labels, as_matrix):
    Y = labels.astype(float)
    if as_matrix is np.asarray:
        Y[::7, 0] = np.nan  # unmeasured
    found = guess(lambda fold: as_matrix(Y), FOLD_OF, 2)
    for fold in range(3):
        P = found.in_fold("mcc", fold)
        P = P.toarray() if sparse.issparse(P) else P
        np.testing.assert_allclose(P, np.tile(np.nanmean(Y[fold != FOLD_OF], axis=0), (80, 1)))


def test_pooled_scores_of_guessing_are_high_and_label_means_are_low(labels):
    table = scored(labels, {}).set_index(["metric", "fold"])
    for fold in range(3):
        train, test = labels[fold != FOLD_OF], labels[fold == FOLD_OF]
        P = np.tile(train.mean(axis=0), (len(test), 1))
        row = table.loc[("average_precision", fold)]
        assert row["observed"] == pytest.approx(average_precision_score(test.ravel(), P.ravel()))
        assert row["over_labels"] == pytest.approx(average_precision_score(test, P, average="macro"))
        assert row["observed"] > 0.85 > 0.7 > row["over_labels"]
        assert table.loc[("roc_auc", fold), "observed"] == pytest.approx(roc_auc_score(test.ravel(), P.ravel()))


def test_a_model_of_noise_is_not_better_and_a_good_one_is(labels):
    rng = np.random.default_rng(1)
    noise = np.clip(labels.mean(axis=0) + 0.01 * rng.normal(size=labels.shape), 0, 1)
    good = np.clip(0.7 * labels + 0.3 * rng.random(labels.shape), 0, 1)
    for P, is_better in ((noise, False), (good, True)):
        rows = scored(labels, {"model": predictions(P)}).query("metric == 'average_precision'")
        assert (rows["behind_low"] > 0).all() == is_better


def test_further_scores_are_compared_too(labels):
    good = predictions(np.clip(0.7 * labels + 0.3 * np.random.default_rng(1).random(labels.shape), 0, 1))
    good = good._replace(kept=np.zeros((len(BASIC_METRICS) + 1, 3), dtype=int))
    rows = scored(labels, {"model": good}, score="f1_macro").query("metric == 'f1_macro'")
    assert rows["observed"].notna().all() and (rows["behind_low"] > 0).all()


def test_labels_that_a_model_ranks_above_chance_are_counted(labels):
    rng = np.random.default_rng(2)
    first = np.column_stack([labels[:, 0] + rng.normal(size=240), rng.normal(size=240)])
    P = {"one": first, "two": rng.normal(size=labels.shape), "guessing": np.tile(labels.mean(axis=0), (240, 1))}
    P["one"][0] = np.nan
    assert n_models_above_chance(labels, P).tolist() == [1, 0]
    assert n_models_above_chance(np.ones_like(labels), P).tolist() == [0, 0]


def test_few_labels_of_noise_are_above_chance():
    """The tests of all models together hold the level of 5 %; 400 labels leave a standard error of 1.1 points."""
    rng = np.random.default_rng(3)
    Y = (rng.random((100, 400)) < 0.3).astype(np.int8)
    found = n_models_above_chance(Y, {name: rng.random(Y.shape) for name in "abcd"})
    assert (found > 0).mean() < 0.05 + 3 * 0.011


def test_no_model_may_have_a_score():
    table = pd.DataFrame({"model": ["A"], "metric": "mcc", "observed": np.nan, "corrected": np.nan})
    assert best_model(table, "mcc") is None
