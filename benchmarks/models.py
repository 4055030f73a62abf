"""Compare all models on the same folds and hidden labels: scores and seconds relative to the first model.

    python benchmarks/models.py [--dataset digits-segments] [--models Stack+ ...] [--rates 0 50] [--folds 5] [--add CSV]

Left-out folds are scored on all labels: average precision (micro and macro), Matthews correlation at threshold one half
and, if the model supports it, at a threshold that the model chooses. A difference is the first model's lead with its
standard error over folds, which accounts for overlapping training parts (Nadeau & Bengio 2003). Seconds are CPU time to
fit a fold on one thread; the ratio is to the first model. `LightGBM-tuned` searches leaves, learning rate and rounds in
each training part; the suffix + adds the correction for missing labels. `--add` appends the means to a table.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, matthews_corrcoef

from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.datasets import prepare
from fairfold.errors import ModelError
from fairfold.evaluation.corrected_t import correlation_of_folds
from fairfold.models import make_model
from fairfold.models.registry import register_own
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

MODELS = ["Stack+", "gcForest+", "joint-GB+", "kernel-ridge+", "RandomForest+", "LightGBM+", "RBF-SVM+", "LightGBM"]
METRICS = ["AP", "macro AP", "MCC", "MCC chosen"]
TUNED = {
    "class": "lightgbm.LGBMClassifier",
    "file": None,
    "parameters": {"deterministic": True, "force_row_wise": True, "n_jobs": 1, "verbose": -1},
    "labels": "one-per-label",
    "scale": False,
    "tune": {"num_leaves": [7, 15, 31], "learning_rate": [0.03, 0.1], "n_estimators": [100, 300]},
    "minutes": 600,
}


def scores_of(model: object, X: np.ndarray, Y: np.ndarray) -> list[float]:
    P = model.predict_proba(X)
    has_both = Y.any(axis=0) & ~Y.all(axis=0)
    try:
        chosen = model.predict(X, objective="mcc")
    except ModelError:  # the model has no calibrated probabilities
        chosen = P > 0.5
    return [
        average_precision_score(Y.ravel(), P.ravel()),
        average_precision_score(Y[:, has_both], P[:, has_both], average="macro"),
        matthews_corrcoef(Y.ravel(), (P > 0.5).ravel()),
        matthews_corrcoef(Y.ravel(), chosen.ravel()),
    ]


def race(dataset: str, models: list[str], rate: int, n_folds: int) -> pd.DataFrame:
    """Return a row per model and fold."""
    data = prepare(dataset)
    fold_of = IterativeStratification(n_folds, random_state=0).assign(data.Y)
    Y, rows = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y), []
    for fold in range(n_folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        observed = mask_positives(Y[train], rate / 100, random_state=seed_for(0, dataset, rate, fold))
        for name in models:
            start = cpu_seconds()
            model = make_model(name, label_frequency="estimate" if rate else 1.0, random_state=fold)
            model.fit(data.X[train], observed)
            seconds = cpu_seconds() - start
            rows.append((name, fold, *scores_of(model, data.X[test], Y[test]), seconds))
    return pd.DataFrame(rows, columns=["model", "fold", *METRICS, "seconds"])


def report(found: pd.DataFrame, models: list[str], n_folds: int) -> None:
    wide = found.pivot(index="fold", columns="model")
    correlation = correlation_of_folds(n_folds)
    print(f"{'model':16s}" + "".join(f"{metric:>25s}" for metric in METRICS) + f"{'seconds':>10s}{'ratio':>7s}")
    for name in models:
        cells = []
        for metric in METRICS:
            lead = wide[metric, models[0]] - wide[metric, name]
            error = lead.std() * np.sqrt(1 / n_folds + correlation / (1 - correlation))
            beside = "" if name == models[0] else f" ({lead.mean():+.3f} ± {error:.3f})"
            cells.append(f"{wide[metric, name].mean():.3f}{beside}")
        seconds = wide["seconds", name].mean()
        ratio = seconds / wide["seconds", models[0]].mean()
        print(f"{name:16s}" + "".join(f"{cell:>25s}" for cell in cells) + f"{seconds:10.2f}{ratio:7.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits-segments")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--rates", nargs="+", type=int, default=[0, 50])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--add", type=Path, metavar="CSV")
    options = parser.parse_args()
    tuning = {"n_splits": 3, "n_candidates": 12, "scoring": "average_precision"}
    register_own({"LightGBM-tuned": {**TUNED, "tuning": tuning}})
    for rate in options.rates:
        print(f"\n{options.dataset}, {rate} % of each label's positives hidden from training")
        found = race(options.dataset, options.models, rate, options.folds)
        report(found, options.models, options.folds)
        if options.add:
            means = found.groupby("model", sort=False)[[*METRICS, "seconds"]].mean().reset_index()
            means.insert(0, "dataset", options.dataset)
            means.insert(1, "missing_rate", rate)
            means = means.rename(columns=lambda name: name.replace(" ", "_"))
            means.round(6).to_csv(options.add, mode="a", index=False, header=not options.add.exists())


if __name__ == "__main__":
    main()
