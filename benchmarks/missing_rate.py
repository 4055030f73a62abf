"""Compare missing rates estimated from predictions of several models with the true rates, from a run of the study.

    snakemake --cores 2 --configfile config/correction.yaml --directory ../correction
    python benchmarks/missing_rate.py ../correction/results [--models joint-GB gcForest+ ...] [--write CSV]

The script prints mean absolute errors in percent of the positives, for the median of each model and for the geometric
mean of two models' label frequencies. Datasets that were used to choose the settings of the estimate are shown
separately from the others.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation.fold_scores import read_predictions
from fairfold.recommendation.missing_rate import estimate_missing_rate
from fairfold.weak_labels.masking import observed_labels

MODELS = ["joint-GB", "joint-GB+", "gcForest+", "logistic", "ExtraTrees"]
CHOSEN_ON = ["VirusGO", "flags", "CHD_49", "emotions", "medical", "scene", "yeast"]
COLUMNS = ["dataset", "rate", "model", "hidden_share", "estimated_rate", "low", "high"]


def estimates(unit: Path, data: Dataset, models: list[str]) -> pd.DataFrame:
    """Return a row per model for one dataset and rate; ``unit`` is the folder of results."""
    rate = int(unit.name.removeprefix("rate-"))
    with np.load(unit / "hidden.npz") as arrays:
        observed = observed_labels(data.Y, arrays["hidden_in_tests"], None, data.negatives)
    seed = seed_for(20240601, "label frequency", data.id, rate)
    rows = []
    for model, predictions in read_predictions(sorted(unit.glob("predictions_*.npz"))):
        if model not in models:
            continue
        P = predictions.by("average_precision")
        row = estimate_missing_rate(data.Y, observed, P, random_state=seed).row
        rows.append(row.assign(dataset=data.id, rate=rate, model=model)[COLUMNS])
    return pd.concat(rows)


def errors(found: pd.DataFrame) -> pd.DataFrame:
    """Compute mean absolute errors of models and pairs of models by rate and kind of dataset."""
    unit = ["dataset", "rate"]
    frequency = 1 - found.pivot_table(index=unit, columns="model", values="estimated_rate") / 100
    hidden = found.groupby(unit)["hidden_share"].first()
    for pair in combinations(frequency.columns, 2):
        frequency[" and ".join(pair)] = np.sqrt(frequency[pair[0]] * frequency[pair[1]])
    off = (100 * (1 - frequency)).sub(hidden, axis=0).abs().reset_index()
    off["data"] = np.where(off["dataset"].isin(CHOSEN_ON), "chosen on", "others")
    return off.drop(columns="dataset").groupby(["data", "rate"]).mean().T.round(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--write", type=Path, metavar="CSV")
    options = parser.parse_args()
    tables = []
    for dataset in sorted((options.results / "weak_labels").iterdir()):
        data = Dataset.load(options.results / "datasets" / f"{dataset.name}.npz")
        tables += [estimates(unit, data, options.models) for unit in sorted(dataset.glob("rate-*"))]
    found = pd.concat(tables, ignore_index=True)
    print(errors(found).to_string())
    if options.write:
        found.to_csv(options.write, index=False)


if __name__ == "__main__":
    main()
