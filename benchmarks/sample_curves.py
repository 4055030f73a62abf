"""Do intervals of extrapolated learning curves hold? The largest sizes are held out, and compared with their forecast.

    python benchmarks/sample_curves.py [--datasets birds foodtruck ...] [--models logistic ExtraTrees ...]

Models learn from shares of each training part, on two splits of five folds. The power law is fitted up to half of it,
and up to 28 %, and its 95 % interval for all of it is compared with the mean score there. Shown are the share of
intervals that hold it, over models and metrics, with deviations widened as the study does and without; the mean width
and the mean error, beside that of taking the last score that was fitted for the answer.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.datasets import prepare
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.recommendation.sample_curves import EXTRAPOLATED, sample_curves, scores_by_samples, shares_of_training
from fairfold.splitting import IterativeStratification

CHOSEN_ON = ["flags", "emotions", "VirusGO", "CHD_49"]
REPORTED_ON = ["birds", "GrampositivePseAAC", "VirusPseAAC", "foodtruck"]
MODELS = {"logistic": {}, "ExtraTrees": {"n_trees": 50}, "kernel-ridge": {}}
SHARES, FITTED_UP_TO = [0.1, 0.14, 0.2, 0.28, 0.35, 0.5, 0.7, 1.0], [0.5, 0.28]
N_SPLITS, N_REPEATS = 5, 2
NOT_WIDENED = 10**9  # folds of which each is so small a share correlate by nothing
UNIT = ["dataset", "metric", "model"]


def scores_of(dataset: str, model: str) -> pd.DataFrame:
    """Scores at all shares, as the study's table has them."""
    data, tables = prepare(dataset), []
    for repeat in range(N_REPEATS):
        fold_of = IterativeStratification(N_SPLITS, random_state=repeat).assign(data.Y)
        score = partial(_score, data.X, data.Y, fold_of, partial(_make, model))
        cut = shares_of_training(fold_of, SHARES, seed=1, names=(dataset, repeat))
        tables.append(scores_by_samples(score, cut).assign(repeat=repeat))
    return pd.concat(tables, ignore_index=True).assign(dataset=dataset, missing_rate=0, model=model)


def _make(model: str, fold: int) -> object:
    return make_model(model, random_state=1, **MODELS.get(model, {}))


def _score(X: Matrix, Y: Matrix, fold_of: np.ndarray, make: object, rows: np.ndarray, fold: int) -> pd.DataFrame:
    found = score_on_folds(make, X[rows], Y[rows], fold_of[rows], lambda _: Y[rows], folds=[fold])
    return found.scores.query("is_final")


def held_out(scores: pd.DataFrame, up_to: float, n_splits: int) -> pd.DataFrame:
    """A row per dataset, metric and model: whether the interval holds the score, its width, and errors."""
    expected = sample_curves(scores[scores["share"] <= up_to], n_splits=n_splits, seed=1, times=(1 / up_to,))
    expected = expected[expected["kind"] == EXTRAPOLATED].set_index(UNIT)
    means = scores.groupby([*UNIT, "share"])["value"].mean().unstack("share").reindex(expected.index)
    return pd.DataFrame(
        {
            "coverage": (expected["low"] <= means[1.0]) & (means[1.0] <= expected["high"]),
            "width": expected["high"] - expected["low"],
            "error": (expected["score"] - means[1.0]).abs(),
            "error of last": (means[up_to] - means[1.0]).abs(),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=[*CHOSEN_ON, *REPORTED_ON])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    arguments = parser.parse_args()
    print(f"{'dataset':20s}{'up to':>7s}{'widened':>9s}{'coverage':>10s}{'width':>8s}{'error':>8s}{'of last':>9s}")
    for dataset in arguments.datasets:
        scores = pd.concat([scores_of(dataset, model) for model in arguments.models], ignore_index=True)
        for up_to in FITTED_UP_TO:
            for widened, n_splits in (("yes", N_SPLITS), ("no", NOT_WIDENED)):
                coverage, width, error, of_last = held_out(scores, up_to, n_splits).mean()
                numbers = f"{coverage:10.2f}{width:8.3f}{error:8.3f}{of_last:9.3f}"
                print(f"{dataset:20s}{up_to:7.2f}{widened:>9s}{numbers}", flush=True)


if __name__ == "__main__":
    main()
