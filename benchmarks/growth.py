"""Measure how models grow with the number of samples: CPU seconds, peak memory and average precision.

    python benchmarks/growth.py [--models Stack+ LightGBM] [--data additive] [--rows 2000 8000 32000]
    python benchmarks/growth.py --figure docs/_static/growth.png

Each combination of model, data and number of training samples runs in its own process with one thread. Results are
appended to resources/measured/growth.csv; combinations in this file are skipped. Models whose package is not installed
are skipped. `seconds` and `predict_seconds` exclude the time to load and compile code. `mib` is the peak memory of the
process, including the data. Predictions and scores are for as many test samples as the data have, at most 10,000.

`additive`: 40 dense features and 10 labels whose log-odds are sums of functions of single features, with a part that
all labels share. `interactions`: the log-odds of each label also contain products of features that no other label has.
`tmc2007_500`: 500 sparse features of 0/1 and 22 labels, from FAIRFOLD_MIRROR or downloaded.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix

FILE = Path(__file__).resolve().parents[1] / "resources/measured/growth.csv"
KEY = ["data", "rows", "model"]
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
MODELS = ("Stack+", "gcForest+", "joint-GB", *PACKAGES)
MOST_TEST = 10_000
N_FEATURES, N_LABELS, N_SHARED = 40, 10, 6


def simulated(n: int, *, interactions: bool, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, and labels with frequencies of .05 to .3."""
    rng = np.random.default_rng(seed)
    centers, slopes = rng.normal(size=(2, N_SHARED, N_FEATURES))
    uses = rng.random((N_SHARED, N_FEATURES)) < 0.3
    mix, own = rng.normal(size=(N_SHARED, N_LABELS)), rng.normal(size=(N_FEATURES, N_LABELS)) * 0.3
    pairs = rng.integers(N_FEATURES, size=(N_LABELS, 4, 2))
    X = rng.normal(size=(n, N_FEATURES))
    shared = np.stack([np.tanh(3 * (X - c) * s) @ u for c, s, u in zip(centers, slopes, uses * 1.0, strict=True)], 1)
    z = shared @ mix * 0.5 + np.abs(X) @ own
    if interactions:
        z = 0.3 * z + 1.5 * np.stack([np.sign(X[:, a] * X[:, b]).sum(1) for a, b in pairs.swapaxes(1, 2)], 1)
    z += rng.logistic(size=z.shape) * 1.5
    rates = np.linspace(0.05, 0.3, N_LABELS)
    return X, (z > np.diagonal(np.quantile(z, 1 - rates, axis=0))).astype(np.int8)


def draw(data: str, rows: int) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    """Return training features and labels, then test features and labels."""
    if data in ("additive", "interactions"):
        X, Y = simulated(rows + MOST_TEST, interactions=data == "interactions")
        return X[:rows], Y[:rows], X[rows:], Y[rows:]
    from fairfold.datasets import prepare

    prepared = prepare(data)
    order = np.random.default_rng(0).permutation(prepared.X.shape[0])
    n_test = min(MOST_TEST, len(order) // 3)
    test, train = order[:n_test], order[n_test : n_test + rows]
    Y = prepared.Y.toarray() if hasattr(prepared.Y, "toarray") else prepared.Y
    return prepared.X[train], Y[train], prepared.X[test], Y[test]


def make(name: str) -> object:
    from fairfold.models import make_model
    from fairfold.models.binary import one_per_label
    from fairfold.models.one_level import OneLevelModel

    if name not in ("XGBoost", "CatBoost"):
        return make_model(name, random_state=0)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        boosting = XGBClassifier(n_estimators=200, max_leaves=15, learning_rate=0.05, n_jobs=1, tree_method="hist")
    else:
        from catboost import CatBoostClassifier

        boosting = CatBoostClassifier(iterations=500, thread_count=1, verbose=False, allow_writing_files=False)
    return OneLevelModel(one_per_label(boosting)).set_params(random_state=0)


def measure(data: str, rows: int, model: str) -> dict:
    from fairfold.core.usage import max_rss
    from fairfold.evaluation.scores import multilabel_scores

    X, Y, X_test, Y_test = draw(data, rows)
    make(model).fit(X[:400], Y[:400]).predict_proba(X_test[:10])  # compile before timing
    start = time.process_time()
    fitted = make(model).fit(X, Y)
    between = time.process_time()
    P = fitted.predict_proba(X_test)
    end = time.process_time()
    score = multilabel_scores(Y_test, P, metrics=["average_precision"])["average_precision"]
    sizes = {"features": X.shape[1], "labels": Y.shape[1], "test_rows": X_test.shape[0]}
    seconds = {"seconds": round(between - start, 2), "predict_seconds": round(end - between, 2)}
    return {
        "data": data,
        "rows": rows,
        "model": model,
        **sizes,
        **seconds,
        "mib": round(max_rss()),
        "average_precision": round(score, 4),
    }


def draw_figure(table: pd.DataFrame, path: Path) -> None:
    """Draw run time and average precision on the simulated data."""
    import matplotlib.pyplot as plt

    from fairfold.figures.style import LINE_COLORS

    columns = {"seconds": "processor seconds per fit", "average_precision": "average precision"}
    kinds = [kind for kind in ("additive", "interactions") if (table["data"] == kind).any()]
    figure, axes = plt.subplots(len(columns), len(kinds), sharex="col", squeeze=False, figsize=(6.4, 4.6))
    for row, (column, label) in zip(axes, columns.items(), strict=True):
        for ax, kind in zip(row, kinds, strict=True):
            for number, model in enumerate(MODELS):
                part = table[(table["data"] == kind) & (table["model"] == model)].sort_values("rows")
                if len(part):
                    ax.plot(part["rows"], part[column], marker="osD^vP"[number], color=LINE_COLORS[number], label=model)
            ax.set(xscale="log", yscale="log" if column == "seconds" else "linear")
            sizes = sorted(table.loc[table["data"] == kind, "rows"].unique())
            ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
            ax.minorticks_off()
        row[0].set_ylabel(label)
    for ax, kind in zip(axes[0], kinds, strict=True):
        ax.set_title(kind)
    for ax in axes[-1]:
        ax.set_xlabel("training samples")
    axes[0, 0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--data", nargs="+", default=["additive", "interactions", "tmc2007_500"])
    parser.add_argument("--rows", nargs="+", type=int, default=[2000, 8000, 32000])
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--figure", type=Path, help="draw the results of the file instead")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        data, rows, model = options.cell
        sys.stdout.write(json.dumps(measure(data, int(rows), model)))
        return
    if options.figure:
        draw_figure(pd.read_csv(options.file), options.figure)
        return
    for data in options.data:
        # The data have 28,596 samples, of which a third are test samples.
        sizes = dict.fromkeys(min(n, 18596) for n in options.rows) if data == "tmc2007_500" else options.rows
        for rows in sizes:
            for model in options.models:
                known = pd.read_csv(options.file) if options.file.exists() else pd.DataFrame(columns=KEY)
                is_missing = model in PACKAGES and importlib.util.find_spec(PACKAGES[model]) is None
                if is_missing or (known[KEY] == [data, rows, model]).all(axis=1).any():
                    continue
                command = [sys.executable, __file__, "--cell", data, str(rows), model]
                done = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **ONE_THREAD}
                )
                line = pd.DataFrame([json.loads(done.stdout)])
                line.to_csv(options.file, mode="a", header=not options.file.exists(), index=False)
                sys.stdout.write(line.to_string(index=False, header=False) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
