"""Compare `PML+`, its parts, its base `gcForest+` and other models on labels with wrong and missing positives.

    python benchmarks/wrong_positives.py [--datasets birds ...] [--models PML+ ...] [--missing 0 30 50]
        [--wrong 0 10 20] [--folds 3] [--levels 3] [--write resources/measured/wrong_positives.csv]

In each training part, a given percentage of each label's positives is hidden at random. Zeros then become positives
until a given percentage of the observed positives is wrong. Left-out folds are scored on all true labels: average
precision (micro and macro), Matthews correlation and F1 at one half. For `PML+`, the table also shows the estimated
share of wrong positives, the label frequency, and the dropped positives: their share of observed positives, their
precision, and their recall of wrong positives. `PML+ floor` does not drop positives. `gcForest+ clean` is trained on
labels without wrong positives, as an unattainable reference.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, f1_score, matthews_corrcoef

from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.datasets import prepare
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

DATASETS = ["birds", "enron", "GrampositivePseAAC", "VirusPseAAC"]
MODELS = ["PML+", "PML+ floor", "gcForest+", "gcForest+ clean", "joint-GB+", "LightGBM+", "RandomForest"]
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "PML+ floor": ("PML+", {"drops": False}),
    "gcForest+ clean": ("gcForest+", {}),
}
SCORES = ["average_precision", "macro_average_precision", "mcc", "f1"]
FOUND = ["wrong_share", "estimated_share", "estimated_frequency", "dropped", "precision", "recall"]


def scores_of(Y: np.ndarray, P: np.ndarray) -> list[float]:
    has_both = Y.any(axis=0) & ~Y.all(axis=0)
    return [
        average_precision_score(Y.ravel(), P.ravel()),
        average_precision_score(Y[:, has_both], P[:, has_both], average="macro"),
        matthews_corrcoef(Y.ravel(), (P > 0.5).ravel()),
        f1_score(Y.ravel(), (P > 0.5).ravel()),
    ]


def findings_of(model: object, observed: np.ndarray, is_wrong: np.ndarray) -> list[float]:
    """Return the columns ``FOUND``; NaN if the model does not estimate wrong positives or none exist."""
    share = is_wrong.sum() / observed.sum()
    inner = getattr(model, "estimator_", None)
    if not hasattr(inner, "dropped_"):
        return [share, *[np.nan] * 5]
    dropped = inner.dropped_
    precision = is_wrong[dropped].mean() if dropped.any() else np.nan
    recall = dropped[is_wrong].mean() if is_wrong.any() else np.nan
    rates = inner.wrong_share_, inner.observed_share_
    return [share, *rates, dropped.sum() / observed.sum(), precision, recall]


def measure(dataset: str, models: list[str], missing: int, wrong: int, options: argparse.Namespace) -> pd.DataFrame:
    """Return means over folds, a row per model."""
    data = prepare(dataset)
    Y = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y).astype(np.int8)
    fold_of = IterativeStratification(options.folds, random_state=0).assign(Y)
    rows = []
    for fold in range(options.folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        seed = seed_for(0, dataset, missing, wrong, fold)
        observed = mask_positives(Y[train], missing / 100, wrong_positives=wrong / 100, random_state=seed)
        is_wrong = (observed == 1) & (Y[train] == 0)
        for name in models:
            base, settings = OPTIONS.get(name, (name, {}))
            few = {"max_levels": options.levels} if base in ("PML+", "gcForest+", "Stack+") else {}
            start = cpu_seconds()
            model = make_model(base, **settings, **few, random_state=fold)
            model.fit(data.X[train], np.where(is_wrong, 0, observed) if name == "gcForest+ clean" else observed)
            seconds = cpu_seconds() - start
            scores = scores_of(Y[test], model.predict_proba(data.X[test]))
            rows.append((name, *scores, *findings_of(model, observed, is_wrong), seconds))
    found = pd.DataFrame(rows, columns=["model", *SCORES, *FOUND, "seconds"])
    means = found.groupby("model", sort=False).mean().reset_index()
    for position, (column, value) in enumerate((("dataset", dataset), ("missing", missing), ("wrong", wrong))):
        means.insert(position, column, value)
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--missing", nargs="+", type=int, default=[0, 30, 50])
    parser.add_argument("--wrong", nargs="+", type=int, default=[0, 10, 20])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--levels", type=int, default=3, help="most cascade levels above level 0")
    parser.add_argument("--write", type=Path, metavar="CSV")
    options = parser.parse_args()
    tables = []
    for dataset in options.datasets:
        for missing in options.missing:
            for wrong in options.wrong:
                tables.append(measure(dataset, options.models, missing, wrong, options))
                print(tables[-1].round(3).to_string(index=False, header=len(tables) == 1), flush=True)
                if options.write:
                    pd.concat(tables).round(5).to_csv(options.write, index=False)
    columns = ["average_precision", "macro_average_precision", "mcc", "f1", "estimated_share", "dropped"]
    print("\nmean over datasets and missing rates")
    print(pd.concat(tables).groupby(["wrong", "model"], sort=False)[columns].mean().round(4).to_string())


if __name__ == "__main__":
    main()
