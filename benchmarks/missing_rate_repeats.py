"""Compare missing-rate estimates from repeated cross-validation with those from a single one.

    python benchmarks/missing_rate_repeats.py [--datasets flags emotions] [--rates 30 50 70] [--masks 4] [--repeats 3]

Labels of complete data are hidden as in the study: once for the test parts, and separately for the training part of
each fold. `joint-GB` predicts left-out samples in several splits of five folds. The label frequency is estimated from
the mean of each sample's probabilities, and from each split alone. The table shows mean absolute errors in percentage
points of the missing rate (for single splits, the mean over splits) and the number of 95 % intervals that contain the
hidden share. The standard error of the difference is over masks, treated as independent; in the last line, over all.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from fairfold.datasets import prepare
from fairfold.evaluation.corrected_t import mean_and_error
from fairfold.evaluation.fold_scores import FinalPredictions, score_on_folds
from fairfold.models import make_model
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.splitting.methods import repeated_splits
from fairfold.weak_labels.masking import hide_in_test_parts, hide_in_training_parts, observed_labels

DATASETS = ["flags", "emotions"]
N_SPLITS = 5


def errors_of(dataset: str, rate: int, mask: int, n_repeats: int) -> dict:
    """Return absolute errors and interval coverage for one repetition (on average) and for all together."""
    data, names = prepare(dataset), ("missing rate repeats", dataset, rate)
    folds, _ = repeated_splits("annealed", data.Y, N_SPLITS, n_repeats, seed=mask, names=names)
    hidden = hide_in_training_parts(data.Y, folds, rate / 100, seed=mask, names=names)
    observed = observed_labels(data.Y, hide_in_test_parts(data.Y, folds[0], rate / 100, seed=mask, names=names), None)
    predictions = score_on_folds(
        lambda fold: make_model("joint-GB", random_state=fold),
        data.X,
        data.Y,
        folds,
        lambda fold: observed_labels(data.Y, hidden, fold),
    ).predictions

    def error(of: FinalPredictions) -> tuple[float, bool]:
        row = estimate_missing_rate(data.Y, observed, of.by("average_precision")).row.iloc[0]
        return abs(row["estimated_rate"] - row["hidden_share"]), row["low"] <= row["hidden_share"] <= row["high"]

    singles = [error(single) for single in _each_by_itself(predictions)]
    found = dict(zip(("one", "one holds"), np.mean(singles, axis=0), strict=True))
    return {
        "dataset": dataset,
        "rate": rate,
        **found,
        **dict(zip(("mean", "mean holds"), error(predictions), strict=True)),
    }


def _each_by_itself(of: FinalPredictions) -> list[FinalPredictions]:
    return [
        FinalPredictions(of.probabilities[:, repeat], of.kept[:, repeat * N_SPLITS :][:, :N_SPLITS], fold_of)
        for repeat, fold_of in enumerate(of.fold_of)
    ]


def line_of(name: str, rate: str, errors: pd.DataFrame) -> str:
    gain, error = mean_and_error((errors["mean"] - errors["one"]).to_numpy(), correlation=0)
    one, mean = (f"{errors[way].mean():8.2f}{errors[f'{way} holds'].mean():8.2f}" for way in ("one", "mean"))
    return f"{name:12s}{rate:>7s}{len(errors):>7d}{one}{mean}{f'{gain:+.2f} ± {error:.2f}':>18s}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rates", nargs="+", type=int, default=[30, 50, 70])
    parser.add_argument("--masks", type=int, default=4, help="2 or more")
    parser.add_argument("--repeats", type=int, default=3, help="2 or more")
    options = parser.parse_args()
    heads = "".join(f"{way:>8s}{'holds':>8s}" for way in ("one", "mean"))
    print(f"{'dataset':12s}{'hidden':>7s}{'cases':>7s}{heads}{'mean - one':>18s}")
    rows = []
    for dataset in options.datasets:
        for rate in options.rates:
            cases = [errors_of(dataset, rate, mask, options.repeats) for mask in range(options.masks)]
            print(line_of(dataset, f"{rate} %", pd.DataFrame(cases)), flush=True)
            rows += cases
    print(line_of("all", "", pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
