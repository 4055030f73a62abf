"""Compare Stack+ with AutoGluon, which has one predictor per label, on small datasets.

    python benchmarks/autogluon.py --peers PYTHON [--datasets emotions ...] [--models Stack+ ...] [--write CSV]

`--peers` names an interpreter that has AutoGluon (see requirements-autogluon.txt). Two thirds of a dataset train, and
the other samples are scored with complete labels. AutoGluon optimizes average precision with its presets for medium and
for best quality, without a limit of time. Seconds are processor seconds of training and prediction, on one core. Rows
are added to the table instead of rows of the same dataset and model.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.core.arrays import with_sparsity
from fairfold.core.probabilities import label_probabilities
from fairfold.core.threads import one_thread_each
from fairfold.datasets import prepare
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification

KEPT = Path(__file__).resolve().parents[1] / "resources/measured/autogluon.csv"
PEER = Path(__file__).with_name("_autogluon_peer.py")
PRESETS = {"AutoGluon, medium quality": "medium_quality", "AutoGluon, best quality": "best_quality"}
SCORES = ["average_precision", "average_precision_macro"]
KEYS, N_FOLDS, SEED = ["dataset", "model"], 3, 0

Fitted = tuple[np.ndarray, float]  # probabilities and processor seconds


def ours(name: str, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> Fitted:
    make_model(name, random_state=SEED).fit(X, Y).predict_proba(X_new[:2])  # compile before timing
    start = time.process_time()
    with one_thread_each():
        model = make_model(name, random_state=SEED).fit(X, Y)
        P = label_probabilities(model, X_new, Y.shape[1])
    return P, time.process_time() - start


def theirs(python: str, preset: str, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> Fitted:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "arrays.npz"), Path(folder, "probabilities.npz")
        np.savez(source, X=X, Y=Y, X_new=X_new)
        subprocess.run([python, "-P", PEER, preset, source, target], check=True)
        found = np.load(target)
        return found["P"], float(found["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", metavar="PYTHON", required=True)
    parser.add_argument("--datasets", nargs="+", default=["flags", "emotions", "CHD_49"])
    parser.add_argument("--models", nargs="+", default=["Stack+", *PRESETS])
    parser.add_argument("--write", type=Path, default=KEPT, metavar="CSV")
    options = parser.parse_args()
    command = [options.peers, "-c", "from importlib.metadata import version; print(version('autogluon.tabular'))"]
    peer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    for dataset in options.datasets:
        data = prepare(dataset)
        X, Y = (with_sparsity(each, False) for each in (data.X, data.Y))
        train = IterativeStratification(N_FOLDS, random_state=SEED).assign(Y) > 0
        parts = X[train], Y[train], X[~train]
        for name in options.models:
            is_peer = name in PRESETS
            P, seconds = theirs(options.peers, PRESETS[name], *parts) if is_peer else ours(name, *parts)
            row = {"dataset": dataset, "model": name, "n_train": train.sum(), "n_labels": Y.shape[1]}
            row |= {**multilabel_scores(Y[~train], P, metrics=SCORES), "seconds": seconds, "seed": SEED}
            row["version"] = f"autogluon {peer}" if is_peer else f"fairfold {version('fairfold')}"
            kept = [pd.read_csv(options.write)] if options.write.is_file() else []
            table = pd.concat([*kept, pd.DataFrame([row])]).drop_duplicates(KEYS, keep="last").sort_values(KEYS)
            table.to_csv(options.write, index=False, float_format="%.4f")
            print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
