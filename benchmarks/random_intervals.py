"""Measure how often intervals without checked cells hold, on complete labels that were hidden at random.

    python benchmarks/random_intervals.py fit [--minutes 30]
    python benchmarks/random_intervals.py measure

`fit` hides labels in many ways, trains `joint-GB` and `RF+ET` in three folds, and saves out-of-fold probabilities. It
continues where an earlier run stopped. `measure` estimates the missing rate from `joint-GB` and corrects the scores of
`RF+ET` by it, as a study does, and writes `resources/measured/random_intervals.csv`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.metrics import BASIC_METRICS
from fairfold.models import make_model
from fairfold.recommendation.complete_scores import complete_scores, share_left
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.plateau import frequency_distribution

FOLDER = Path("results", "random_intervals")
KEPT = Path("resources", "measured", "random_intervals.csv")
SMALL = ["VirusGO", "flags", "CHD_49", "emotions", "foodtruck"]
SMALL += ["VirusPseAAC-repaired", "GrampositivePseAAC-repaired", "Gram_positive", "birds", "genbase", "digits-segments"]
LARGE = ["medical", "scene", "yeast", "enron", "CAL500-repaired"]
# The constants of the estimated missing rate were chosen on these. Results are of the others.
CALIBRATION = [*SMALL[:5], *LARGE[:3]]
RATES, N_FOLDS = (30, 50, 70), 3
N_SEEDS = {**dict.fromkeys(SMALL, 16), **dict.fromkeys(LARGE, 5)}


def cases() -> Iterator[tuple[str, int, int]]:
    """Yield datasets, missing rates and seeds; all datasets with the first seed come first."""
    for seed in range(max(N_SEEDS.values())):
        yield from ((name, rate, seed) for name, n_seeds in N_SEEDS.items() for rate in RATES if seed < n_seeds)


def path_of(dataset: str, rate: int, seed: int) -> Path:
    return FOLDER / f"{dataset}-{rate}-{seed}.npz"


def fit(dataset: str, rate: int, seed: int) -> None:
    """Save labels hidden in one way, folds and out-of-fold probabilities."""
    data = prepare(dataset)
    Y = to_dense(data.Y, dataset, DataError)
    observed = mask_positives(Y, rate / 100, random_state=seed_for(61, "hidden", dataset, rate, seed))
    fold_of = IterativeStratification(N_FOLDS, random_state=seed).assign(observed)
    P = {name: np.empty(Y.shape, dtype=np.float32) for name in ("joint-GB", "RF+ET")}
    for name, found in P.items():
        for fold in range(N_FOLDS):
            train = fold_of != fold
            model = make_model(name, random_state=seed).fit(data.X[train], observed[train])
            found[~train] = to_dense(model.predict_proba(data.X[~train]), "P", DataError)
    path = path_of(dataset, rate, seed)
    np.savez_compressed(path, Y=Y.astype(np.int8), observed=observed.astype(np.int8), fold_of=fold_of, **P)


def fit_all(minutes: float) -> None:
    """Fit models until the processor time is used up."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for case in cases():
        if time.process_time() > 60 * minutes:
            print("stopped before", *case)
            return
        if not path_of(*case).is_file():
            start = time.process_time()
            fit(*case)
            print(*case, f"{time.process_time() - start:.1f} s", flush=True)


def measure(path: Path) -> pd.DataFrame:
    """Compare intervals with the values on complete labels."""
    with np.load(path) as kept:
        Y, observed, fold_of, joint, scored = (kept[name] for name in ("Y", "observed", "fold_of", "joint-GB", "RF+ET"))
    frequency, known = frequency_distribution(observed, np.clip(joint, 0, 1)), share_left(Y, observed, fold_of)
    kept_levels = np.zeros((len(BASIC_METRICS), N_FOLDS), dtype=np.int8)
    predictions = {"RF+ET": FinalPredictions(scored[np.newaxis].astype(float), kept_levels, fold_of)}
    scores = complete_scores(Y, observed, predictions, frequency, known)["scores"]
    table = scores[["metric", "complete", "corrected", "low", "high"]]
    low, high = frequency.interval()
    table.loc[len(table)] = ["missing_rate", 1 - known, 1 - frequency.median, 1 - high, 1 - low]
    return table


def summarize(every: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count cases and intervals that hold, and average widths and errors."""
    error = every["corrected"] - every["complete"]
    every = every.assign(
        held=every["low"].le(every["complete"]) & every["complete"].le(every["high"]),
        width=every["high"] - every["low"],
        error=error,
        absolute_error=error.abs(),
    )
    means = {name: (name, "mean") for name in ("width", "error", "absolute_error")}
    return every.groupby(by, sort=False).agg(cases=("held", "size"), held=("held", "sum"), **means)


def measure_all() -> None:
    """Write the table of all cases, and print the shares that hold with Wilson intervals."""
    from scipy.stats import binomtest

    tables = [
        measure(path_of(*case)).assign(dataset=case[0], rate=case[1]) for case in cases() if path_of(*case).is_file()
    ]
    every = pd.concat(tables)
    every["half"] = np.where(every["dataset"].isin(CALIBRATION), "calibration", "reported")
    units = ["half", "metric", "dataset", "rate"]
    summarize(every, units).sort_values(units).reset_index().to_csv(KEPT, index=False, float_format="%.4g")
    whole = every.assign(rate="all")
    for half, part in pd.concat([every, whole]).groupby("half"):
        found = summarize(part, ["metric", "rate"])
        ends = [binomtest(int(row.held), int(row.cases)).proportion_ci(method="wilson") for row in found.itertuples()]
        found.insert(2, "share", found["held"] / found["cases"])
        found["low"], found["high"] = [each.low for each in ends], [each.high for each in ends]
        print(f"{half}\n{found.round(3).to_string()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fit", "measure"])
    parser.add_argument("--minutes", type=float, default=30, help="processor minutes after which `fit` stops")
    options = parser.parse_args()
    if options.step == "fit":
        fit_all(options.minutes)
    else:
        measure_all()


if __name__ == "__main__":
    main()
