"""Check the coverage of intervals of extrapolated learning curves on held-out larger sizes.

    python benchmarks/sample_curves.py [--datasets birds foodtruck ...] [--models logistic ExtraTrees ...]

Models are trained on shares of each training part, on two splits of five folds. The power law is fitted to sizes up to
half of the training part, and up to 28 %. Its 95 % interval for the whole part is compared with the mean score there.
The table shows the coverage over models and metrics, with and without the widened deviations of the study, the mean
width, the mean error, and the mean error of a forecast that repeats the last fitted score.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.folds import only_fold
from fairfold.datasets import prepare
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.models import make_model
from fairfold.recommendation.sample_curves import EXTRAPOLATED, sample_curves, scores_by_samples, shares_of_training
from fairfold.splitting import IterativeStratification

CHOSEN_ON = ["flags", "emotions", "VirusGO", "CHD_49"]
REPORTED_ON = ["birds", "GrampositivePseAAC-repaired", "VirusPseAAC-repaired", "foodtruck"]
MODELS = {"logistic": {}, "ExtraTrees": {"n_trees": 50}, "kernel-ridge": {}}
SHARES, FITTED_UP_TO = [0.1, 0.14, 0.2, 0.28, 0.35, 0.5, 0.7, 1.0], [0.5, 0.28]
N_SPLITS, N_REPEATS = 5, 2
NOT_WIDENED = 10**9  # with this number of folds, the correlation vanishes
UNIT = ["dataset", "metric", "model"]


def scores_of(dataset: str, model: str) -> pd.DataFrame:
    """Compute scores at all shares in the layout of the study's table."""
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
    found = score_on_folds(make, X[rows], Y[rows], only_fold(fold_of[rows], fold), lambda _: Y[rows])
    return found.scores.query("is_final")


def held_out(scores: pd.DataFrame, up_to: float, n_splits: int) -> pd.DataFrame:
    """Return a row per dataset, metric and model: coverage, width and errors."""
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
