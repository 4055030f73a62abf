"""Measure how often intervals without checked cells hold, on complete labels that were hidden at random.

    python benchmarks/random_intervals.py [--minutes 10]

The missing rate is estimated from predictions of `joint-GB`, and scores of `RF+ET` are corrected by it. Both are
trained in three folds. Each case hides other labels. The script writes `resources/measured/random_intervals.csv` and
continues where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.arrays import to_dense
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.evaluation.corrected import Corrected, draw_samples
from fairfold.evaluation.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives
from fairfold.weak_labels.plateau import frequency_distribution

FOLDER = Path("results", "random_intervals")
KEPT = Path("resources", "measured", "random_intervals.csv")
SMALL = ["flags", "foodtruck", "VirusGO", "VirusPseAAC", "CHD_49", "emotions", "GrampositivePseAAC", "birds", "genbase"]
LARGE = ["yeast", "medical", "scene", "enron"]
METRICS = ("average_precision", "mcc", "hamming_loss", "ranking_loss", "roc_auc")
RATES, N_DRAWS = (30, 50, 70), 100


def measure(dataset: str, rate: int, seed: int) -> pd.DataFrame:
    """Compare intervals with the scores on complete labels for one way to hide labels."""
    data = prepare(dataset)
    Y = to_dense(data.Y, dataset, DataError)
    observed = mask_positives(Y, rate / 100, random_state=seed_for(61, "sim", dataset, rate, seed))
    fold_of = IterativeStratification(3, random_state=seed).assign(observed)
    P = {name: np.empty(Y.shape, dtype=np.float32) for name in ("joint-GB", "RF+ET")}
    for name, found in P.items():
        for fold in range(3):
            train = fold_of != fold
            model = make_model(name, random_state=seed).fit(data.X[train], observed[train])
            found[~train] = to_dense(model.predict_proba(data.X[~train]), "P", DataError)
    frequency = frequency_distribution(observed, np.clip(P["joint-GB"], 0, 1))
    scored = P["RF+ET"].astype(np.float64)
    threshold = float(np.quantile(scored, 1 - observed.mean()))
    true = multilabel_scores(Y, scored, threshold, metrics=METRICS)
    scorer = Corrected(observed.astype(float), scored, threshold, METRICS)
    samples = draw_samples(len(Y), None, N_DRAWS, 0)
    draws = scorer.draws(frequency.draw(N_DRAWS, 0), samples, 0)
    estimates = scorer.scores(frequency.median)
    rows = [(name, true[name], estimates[name], *np.nanquantile(draws[name], [0.025, 0.975])) for name in METRICS]
    hidden, (low, high) = 1 - observed.sum() / Y.sum(), frequency.interval()
    rows.append(("missing_rate", hidden, 1 - frequency.median, 1 - high, 1 - low))
    return pd.DataFrame(rows, columns=["metric", "true", "estimate", "low", "high"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="processor minutes after which the script stops")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for dataset, n_seeds in [*((name, 3) for name in SMALL), *((name, 2) for name in LARGE)]:
        for rate in RATES:
            for seed in range(n_seeds):
                path = FOLDER / f"{dataset}-{rate}-{seed}.csv"
                if not path.is_file() and time.process_time() < 60 * options.minutes:
                    measure(dataset, rate, seed).assign(dataset=dataset, rate=rate).to_csv(path, index=False)
    every = pd.concat(map(pd.read_csv, sorted(FOLDER.glob("*.csv"))))
    every["held"] = every["low"].le(every["true"]) & every["true"].le(every["high"])
    every["width"], every["error"] = every["high"] - every["low"], every["estimate"] - every["true"]
    by = ["metric", "dataset", "rate"]
    table = every.groupby(by).agg(cases=("held", "size"), held=("held", "sum"), width=("width", "mean"))
    table["error"] = every.groupby(by)["error"].mean()
    table.reset_index().to_csv(KEPT, index=False, float_format="%.4g")
    print(table.groupby(["metric", "rate"])[["cases", "held"]].sum().unstack().to_string())


if __name__ == "__main__":
    main()
