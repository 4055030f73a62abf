"""Measure how models grow with samples and labels: CPU seconds, peak memory and average precision.

    python benchmarks/growth.py [--models Stack+ LightGBM] [--data additive] [--rows 2000 8000 32000] [--labels 5 20 80]
    python benchmarks/growth.py --figure docs/_static/growth.png

Each combination of model, data, number of training samples and number of labels runs in its own process with one
thread. Results are appended to resources/measured/growth.csv; combinations in this file are skipped. Models whose
package is not installed are skipped. `seconds` and `predict_seconds` exclude the time to load and compile code. `mib`
is the peak memory of the process, including the data. Predictions and scores are for as many test samples as the data
have, at most 10,000.

`additive`: 40 dense features and labels whose log-odds are sums of functions of single features, with a part that all
labels share. `interactions`: the log-odds of each label also contain products of features that no other label has. Both
have 10 labels at each number of samples of `--rows`. `interactions` also has each number of labels of `--labels` at
8,000 samples. `tmc2007_500`: 500 sparse features of 0/1 and 22 labels, from FAIRFOLD_MIRROR or downloaded.

XGBoost and CatBoost are fitted to each label, as LightGBM is. XGBoost has LightGBM's rounds, leaves and learning
rate, and CatBoost 500 rounds. On 8,000 samples their mean average precision is higher than that of the joint models
`XGBoost` (vector leaves) and `CatBoost` (MultiLogloss) of `make_model`, in about half the time.
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
KEY = ["data", "rows", "labels", "model"]
COLUMNS = [*("data", "rows", "model", "features", "labels", "test_rows"), "seconds", "predict_seconds", "mib"]
COLUMNS += ["average_precision"]
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}
MODELS = ("Stack+", "gcForest+", "joint-GB", *PACKAGES)
MOST_TEST = 10_000
N_FEATURES, N_LABELS, N_SHARED = 40, 10, 6
ROWS_OF_LABELS = 8000


def simulated(
    n: int, *, interactions: bool, seed: int = 0, n_features: int = N_FEATURES, n_labels: int = N_LABELS
) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, and labels with frequencies of .05 to .3."""
    rng = np.random.default_rng(seed)
    centers, slopes = rng.normal(size=(2, N_SHARED, n_features))
    uses = rng.random((N_SHARED, n_features)) < 0.3
    mix, own = rng.normal(size=(N_SHARED, n_labels)), rng.normal(size=(n_features, n_labels)) * 0.3
    pairs = rng.integers(n_features, size=(n_labels, 4, 2))
    X = rng.normal(size=(n, n_features))
    shared = np.stack([np.tanh(3 * (X - c) * s) @ u for c, s, u in zip(centers, slopes, uses * 1.0, strict=True)], 1)
    z = shared @ mix * 0.5 + np.abs(X) @ own
    if interactions:
        z = 0.3 * z + 1.5 * np.stack([np.sign(X[:, a] * X[:, b]).sum(1) for a, b in pairs.swapaxes(1, 2)], 1)
    z += rng.logistic(size=z.shape) * 1.5
    rates = np.linspace(0.05, 0.3, n_labels)
    return X, (z > np.diagonal(np.quantile(z, 1 - rates, axis=0))).astype(np.int8)


def draw(data: str, rows: int, n_labels: int) -> tuple[Matrix, np.ndarray, Matrix, np.ndarray]:
    """Return training features and labels, then test features and labels."""
    if data in ("additive", "interactions"):
        X, Y = simulated(rows + MOST_TEST, interactions=data == "interactions", n_labels=n_labels)
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
    from fairfold.models.binary import as_csr_matrix, one_per_label
    from fairfold.models.one_level import OneLevelModel

    if name not in ("XGBoost", "CatBoost"):
        return make_model(name, random_state=0)
    if name == "XGBoost":
        from xgboost import XGBClassifier

        as_lightgbm = {"n_estimators": 200, "max_leaves": 15, "max_depth": 0, "learning_rate": 0.05}
        boosting = XGBClassifier(**as_lightgbm, grow_policy="lossguide", tree_method="hist", n_jobs=1)
    else:
        from catboost import CatBoostClassifier

        boosting = CatBoostClassifier(iterations=500, thread_count=1, verbose=False, allow_writing_files=False)
    return OneLevelModel(one_per_label(boosting, convert=as_csr_matrix)).set_params(random_state=0)


def measure(data: str, rows: int, n_labels: int, model: str) -> dict:
    from fairfold.core.usage import max_rss
    from fairfold.metrics.scores import multilabel_scores

    X, Y, X_test, Y_test = draw(data, rows, n_labels)
    shown = slice(1) if model in PACKAGES else slice(None)  # compiled already
    make(model).fit(X[:400], Y[:400, shown]).predict_proba(X_test[:10])  # load and compile before timing
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
    """Draw run time and average precision on the simulated data, by samples and by labels."""
    import matplotlib.pyplot as plt

    from fairfold.figures.style import STYLE, style_of

    columns = {"seconds": "processor seconds per fit", "average_precision": "average precision"}
    by_rows, by_labels = table[table["labels"] == N_LABELS], table[table["rows"] == ROWS_OF_LABELS]
    panels = [(kind, kind, by_rows, "rows", "training samples") for kind in ("additive", "interactions")]
    panels.append((f"interactions, {ROWS_OF_LABELS:,} samples", "interactions", by_labels, "labels", "labels"))
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(len(columns), len(panels), sharex="col", squeeze=False, figsize=(7.6, 4.8))
    for row, (column, label) in zip(axes, columns.items(), strict=True):
        for ax, (_, kind, part, size, _) in zip(row, panels, strict=True):
            part = part[part["data"] == kind].dropna(subset=[column]).sort_values(size)
            for number, model in enumerate(MODELS):
                line = part[part["model"] == model]
                ax.plot(line[size], line[column], **style_of(number), markersize=4, linewidth=1.2, label=model)
            ax.set(xscale="log", yscale="log" if column == "seconds" else "linear")
            sizes = sorted(part[size].unique())
            ax.set_xticks(sizes, [f"{each:,}" for each in sizes])
            ax.minorticks_off()
        row[0].set_ylabel(label)
    for top, bottom, (title, *_, name) in zip(axes[0], axes[-1], panels, strict=True):
        top.set_title(title)
        bottom.set_xlabel(name)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), frameon=False, ncols=len(MODELS), loc="lower center")
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=150)


def combinations(data: str, rows: list[int], labels: list[int]) -> list[tuple[int, int]]:
    """Return the numbers of training samples and labels to measure."""
    if data == "tmc2007_500":  # of 28,596 samples, a third are test samples
        return [(n, 22) for n in dict.fromkeys(min(n, 18_596) for n in rows)]
    return [(n, N_LABELS) for n in rows] + [(ROWS_OF_LABELS, n) for n in labels if data == "interactions"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--data", nargs="+", default=["additive", "interactions", "tmc2007_500"])
    parser.add_argument("--rows", nargs="*", type=int, default=[2000, 8000, 32000])
    parser.add_argument("--labels", nargs="*", type=int, default=[5, 20, 80])
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--figure", type=Path, help="draw the results of the file instead")
    parser.add_argument("--cell", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        data, rows, labels, model = options.cell
        sys.stdout.write(json.dumps(measure(data, int(rows), int(labels), model)))
        return
    if options.figure:
        draw_figure(pd.read_csv(options.file), options.figure)
        return
    for data in options.data:
        for rows, labels in combinations(data, options.rows, options.labels):
            for model in options.models:
                known = pd.read_csv(options.file) if options.file.exists() else pd.DataFrame(columns=KEY)
                cell = [data, rows, labels, model]
                is_missing = model in PACKAGES and importlib.util.find_spec(PACKAGES[model]) is None
                if is_missing or (known[KEY] == cell).all(axis=1).any():
                    continue
                line = pd.DataFrame([run(cell)], columns=COLUMNS)
                line.to_csv(options.file, mode="a", header=not options.file.exists(), index=False)
                sys.stdout.write(line.to_string(index=False, header=False) + "\n")
                sys.stdout.flush()


def run(cell: list) -> dict:
    command = [sys.executable, __file__, "--cell", *map(str, cell)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
