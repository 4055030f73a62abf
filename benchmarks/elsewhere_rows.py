"""Measure processor seconds and peak memory of scores elsewhere, and of their part in predictions, on one core.

    python benchmarks/elsewhere_rows.py [--rows 200000] [--columns 20] [--write CSV]

Each step runs in its own process on simulated numbers with four labels. Predictions read a Parquet file of as many new
rows, with a logistic regression (the fastest model, so that other parts count most) and a random forest of 50 trees.
*alone* leaves out unlike rows, the test of the table and the expected score and prevalence. *all* contains them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.datasets import Dataset
from fairfold.evaluation import cross_val_proba
from fairfold.evaluation.certified import curve_table
from fairfold.final.expected_score import ExpectedScore, with_design_effect
from fairfold.final.model import FinalModel, fit_final
from fairfold.final.prediction import predict_file
from fairfold.final.prevalence import ExpectedPrevalence
from fairfold.final.unlike import TrainingSketch
from fairfold.recommendation.elsewhere import cluster_steps
from fairfold.splitting import IterativeStratification, SimilarityFolds
from fairfold.splitting.group_warnings import ignore_uneven_folds
from fairfold.splitting.matching import SHARES, best_match
from fairfold.splitting.similarity import nearest_distances

MODELS = {"logistic": {}, "RandomForest": {"n_trees": 50}}
LADDER = (0.25, 1.0)
N_FOLDS, N_LABELS, MOST_TRAINING = 5, 4, 20_000


def simulated(n_rows: int, n_columns: int, shift: float = 0.0) -> Dataset:
    """Draw rows around 50 centers, with labels from logistic regressions."""
    rng = np.random.default_rng(seed_for(84, "rows", n_rows, str(shift)))
    fixed = np.random.default_rng(84)
    centers, coefficients = 2 * fixed.normal(size=(50, n_columns)), fixed.normal(size=(n_columns, N_LABELS))
    X = centers[rng.integers(len(centers), size=n_rows)] + rng.normal(size=(n_rows, n_columns)) + shift
    Y = (X @ coefficients / 4 + rng.logistic(size=(n_rows, N_LABELS)) > 2).astype(np.int8)
    names = tuple(f"x{number}" for number in range(n_columns)), tuple(f"y{number}" for number in range(N_LABELS))
    return Dataset("simulated", "multilabel", X, Y, *names)


def final_model(data: Dataset, name: str) -> FinalModel:
    """Fit a model on a part of the rows, with what predictions need."""
    part = replace(data, X=data.X[:MOST_TRAINING], Y=data.Y[:MOST_TRAINING])
    final = fit_final(part, name, MODELS[name], seed=84)
    P = np.asarray(cross_val_proba(final.model, part.X, part.Y, cv=IterativeStratification(N_FOLDS, random_state=0)))
    curves = with_design_effect(curve_table(part.Y, P, part.label_names), part.Y, P)
    final.model.training_sketch_ = TrainingSketch.of(data, seed=84)
    return replace(final, curves=curves)


def predict(final: FinalModel, source: str, is_alone: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = f"{folder}/predictions.csv"
        if is_alone:
            predict_file(final, source, target)
            return
        comparison, counted = final.comparison(), (ExpectedScore(final.curves), ExpectedPrevalence(final.curves))
        look = lambda found: [each.add(found.get("posterior", found["probability"])) for each in counted]  # noqa: E731
        predict_file(final, source, target, look=look, comparison=comparison)
        comparison.sentences(), counted[0].estimate(), counted[1].table()


def measured(what: str, step: Callable[[], Any]) -> dict:
    """Run a step in its own process, and return its processor seconds and by how much it raises the memory."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)

    def run() -> None:
        before, start = memory(), time.process_time()
        step()
        sending.send((time.process_time() - start, memory() - before))

    process = context.Process(target=run)
    process.start()
    sending.close()
    seconds, megabytes = receiving.recv()
    process.join()
    print(f"{what}: {seconds:.1f} s, {megabytes:.0f} MB", flush=True)
    return {"step": what, "seconds": round(seconds, 2), "peak_megabytes": round(megabytes)}


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def steps_of(data: Dataset, new: Dataset, source: str) -> dict[str, Callable[[], Any]]:
    X, Y, folds = np.asarray(data.X), data.Y, SimilarityFolds(N_FOLDS, random_state=0)
    random = IterativeStratification(N_FOLDS, random_state=0).assign(Y)
    how: dict[str, Any] = {"n_splits": N_FOLDS, "seed": 84}

    def matched() -> None:
        steps = cluster_steps(data, X, "euclidean", SHARES, **how)
        best_match([random, *(step.fold_of for step in steps)], X, np.asarray(new.X))

    steps: dict[str, Callable[[], Any]] = {
        "random balanced folds": lambda: IterativeStratification(N_FOLDS, random_state=0).assign(Y),
        "SimilarityFolds: clusters": lambda: folds.clusters(X),
        "SimilarityFolds: folds": lambda: folds.assign(Y, X=X),
        "ladder: folds of two sizes": lambda: cluster_steps(data, X, "euclidean", LADDER, **how),
        "ladder: distances of folds": lambda: nearest_distances(X, random),
        "matched folds of a new table": matched,
        "final model: sketch": lambda: TrainingSketch.of(data, seed=84),
    }
    for name in MODELS:
        final = final_model(data, name)
        for kind, is_alone in (("alone", True), ("all", False)):
            steps[f"predict by {name}: {kind}"] = lambda final=final, is_alone=is_alone: predict(
                final, source, is_alone
            )
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    data, new = (simulated(arguments.rows, arguments.columns, shift) for shift in (0.0, 0.5))
    with tempfile.TemporaryDirectory() as folder, ignore_uneven_folds():
        source = f"{folder}/new.parquet"
        pd.DataFrame(np.asarray(new.X), columns=list(new.feature_names)).to_parquet(source, index=False)
        IterativeStratification(2, random_state=0, refine="anneal").assign(data.Y[:100])  # This loads compiled code.
        rows = [measured(what, step) for what, step in steps_of(data, new, source).items()]
    about = {"rows": arguments.rows, "columns": arguments.columns, "seed": 84, "fairfold": __version__}
    if arguments.write:
        pd.DataFrame(rows).assign(**about).to_csv(arguments.write, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
