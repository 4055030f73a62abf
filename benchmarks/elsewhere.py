"""Measure whether unlike samples are found, and whether folds of clusters predict the score on a held-out cluster.

    python benchmarks/elsewhere.py [--datasets emotions birds ...] [--alarms 20] [--write CSV]

*False alarms*: the rows of a dataset are divided at random into a training table of 70 % and a new table. The test of a
table should find a difference in at most 5 % of the draws, and about 1 % of the rows should be called unlike.

*Held-out clusters*: each fold of `SimilarityFolds` is once a new table, and the other folds are the training table. A
random forest learns on the training table. Its average precision on the new table is compared with cross-validations of
the training table, on random balanced folds and on folds of clusters. The score is the mean over labels that have
positives in all parts, because pooled scores change with the frequency of labels. The new table is also compared with
the sketch of the training table, and rows called unlike are scored apart from the others.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.metrics import average_precision_score

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset, prepare
from fairfold.evaluation import cross_val_proba
from fairfold.final.unlike import TableComparison, TrainingSketch
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification, SimilarityFolds

DATASETS = ["flags", "emotions", "birds", "CHD_49", "VirusGO"]
MODEL = {"name": "RandomForest", "n_trees": 50}
N_FOLDS = 5
LEAST_POSITIVES = 5


def compared(data: Dataset, train: np.ndarray, new: np.ndarray, seed: int) -> tuple[pd.DataFrame, TableComparison]:
    part = replace(data, X=data.X[train], Y=data.Y[train], groups=None, weights=None, sample_ids=None)
    comparison = TableComparison(TrainingSketch.of(part, seed=seed))
    return comparison.add(data.X[new]), comparison


def false_alarms(data: Dataset, n_draws: int) -> dict:
    p_values, n_unlike, n_new = [], 0, 0
    for draw in range(n_draws):
        order = np.random.default_rng(seed_for(84, data.id, draw)).permutation(data.shape[0])
        n_train = int(0.7 * len(order))
        _, comparison = compared(data, np.sort(order[:n_train]), np.sort(order[n_train:]), draw)
        p_values.append(comparison.p_value())
        n_unlike, n_new = n_unlike + comparison.n_unlike, n_new + comparison.n_rows
    alarms = np.mean(np.array(p_values) <= 0.05)
    return {"dataset": data.id, "kind": "random", "found": alarms, "unlike": n_unlike / n_new, "n_new": n_new}


def mean_score(Y: np.ndarray, P: np.ndarray) -> float:
    """Average the average precision of labels that have positives and negatives."""
    usable = [label for label in range(Y.shape[1]) if 0 < Y[:, label].sum() < len(Y)]
    return float(np.mean([average_precision_score(Y[:, label], P[:, label]) for label in usable])) if usable else np.nan


def held_out(data: Dataset, X: np.ndarray, Y: np.ndarray, fold: int, fold_of: np.ndarray) -> dict:
    start, seed = time.process_time(), seed_for(84, data.id, fold)
    train, new = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
    kept = (Y[train].sum(axis=0) >= LEAST_POSITIVES) & (Y[new].sum(axis=0) >= LEAST_POSITIVES)
    Y, model = Y[:, kept], make_model(**MODEL, random_state=seed)
    random = IterativeStratification(N_FOLDS, random_state=seed)
    clusters = SimilarityFolds(N_FOLDS, random_state=seed)
    P = np.asarray(model.fit(X[train], Y[train]).predict_proba(X[new]))
    by_random, by_clusters = (cross_val_proba(model, X[train], Y[train], cv=cv) for cv in (random, clusters))
    rows, comparison = compared(data, train, new, seed)
    unlike = (rows["unlike_training"] == "yes").to_numpy()
    found = {"dataset": data.id, "kind": "cluster", "found": float(comparison.p_value() <= 0.05)}
    found |= {"unlike": unlike.mean(), "n_new": len(new), "n_labels": int(kept.sum()), "true": mean_score(Y[new], P)}
    found |= {"by_random": mean_score(Y[train], by_random), "by_clusters": mean_score(Y[train], by_clusters)}
    found |= {"of_unlike": mean_score(Y[new][unlike], P[unlike]), "of_others": mean_score(Y[new][~unlike], P[~unlike])}
    return found | {"seconds": time.process_time() - start}


def on_dataset(name: str, n_draws: int) -> list[dict]:
    data = prepare(name)
    X = data.X.toarray() if sparse.issparse(data.X) else np.asarray(data.X)
    Y = data.Y.toarray() if sparse.issparse(data.Y) else np.asarray(data.Y)
    rows = [false_alarms(data, n_draws)]
    fold_of = SimilarityFolds(N_FOLDS, random_state=seed_for(84, data.id)).assign(Y, X=X)
    return rows + [held_out(data, X, Y, fold, fold_of) for fold in range(N_FOLDS)]


def summary(table: pd.DataFrame) -> None:
    alarms, clusters = table[table["kind"] == "random"], table[table["kind"] == "cluster"]
    print(f"without shift: {alarms['found'].mean():.3f} of tables differ, {alarms['unlike'].mean():.4f} of rows unlike")
    print(f"held-out clusters: {clusters['found'].mean():.3f} differ, {clusters['unlike'].mean():.3f} of rows unlike")
    for way in ("by_random", "by_clusters"):
        error = clusters[way] - clusters["true"]
        print(f"{way}: mean error {error.mean():+.3f}, mean absolute error {error.abs().mean():.3f}")
    both = clusters.dropna(subset=["of_unlike", "of_others"])
    print(f"unlike rows score lower in {(both['of_unlike'] < both['of_others']).sum()} of {len(both)} new tables")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--alarms", type=int, default=20)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    rows: list[dict] = []
    for name in arguments.datasets:
        rows += on_dataset(name, arguments.alarms)
        table = pd.DataFrame(rows).assign(seed=84, fairfold=__version__, scikit_learn=version("scikit-learn"))
        print(table[table["dataset"] == name].round(3).to_string(index=False), flush=True)
        if arguments.write:
            table.round(5).to_csv(arguments.write, index=False, lineterminator="\n")
    summary(table)


if __name__ == "__main__":
    main()
