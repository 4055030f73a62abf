"""Test models that share all scores, and models that also share predictions."""

import numpy as np

from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS
from fairfold.recommendation.complete_scores import complete_scores
from fairfold.recommendation.identical import identical_models

N = 60
FOLD_OF = np.arange(N) % 3


def predictions_of(P):
    return FinalPredictions(P[np.newaxis], np.zeros((len(BASIC_METRICS), 3), dtype=np.int8), FOLD_OF)


def test_models_that_no_metric_distinguishes():
    rng = np.random.default_rng(0)
    Y = (rng.random((N, 3)) < 0.4).astype(np.int8)
    P = np.clip(0.3 * Y + 0.7 * rng.random((N, 3)), 0.01, 0.99)
    same_order = np.where(P > 0.5, 0.5 + (P - 0.5) / 2, P / 2 + 0.1)  # the same ranking and decisions
    swapped = P.copy()
    swapped[:, 0] = P[::-1, 0]
    failed = np.where((FOLD_OF == 1)[:, np.newaxis], np.nan, P)
    models = {
        "a": P,
        "b": swapped,
        "c": same_order,
        "d": P.copy(),
        "e": failed,
        "f": swapped,
        "g": np.full_like(P, np.nan),
    }
    predictions = {name: predictions_of(values) for name, values in {**models, "h": models["g"]}.items()}
    folds = complete_scores(Y, Y, predictions, None, 1.0, n_draws=2)["folds"]
    assert identical_models(folds, predictions).to_numpy().tolist() == [
        ["c", "a", "scores"],
        ["d", "a", "predictions"],
        ["f", "b", "predictions"],
    ]
