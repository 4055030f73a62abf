"""Compare our forests with scikit-learn's on the same data: CPU seconds of one thread, ratios and scores.

    python benchmarks/forests.py [--only growth scores wide embedding cascade study] [--data yeast]

Data come from the mirror in FAIRFOLD_MIRROR or are downloaded. Seconds are the minimum of ``--repeats`` runs, with
out-of-bag predictions on both sides. Ours include the binning of features but not the compilation of our kernels,
which are cached.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy.sparse as sp
from _forests_embedding import compare_embedding
from _record import record
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.forests import make_model
from fairfold.forests.models import PUBLISHED_MODELS
from fairfold.forests.trees import MultilabelForest
from fairfold.metrics.scores import multilabel_scores
from fairfold.splitting import OptiSplit
from fairfold.weak_labels import mask_positives

PEERS = {"random_forest": RandomForestRegressor, "extra_trees": ExtraTreesRegressor}
STUDY_DATA = (
    "VirusGO",
    "VirusPseAAC",
    "flags",
    "GrampositivePseAAC",
    "CHD_49",
    "emotions",
    "birds",
    "Gram_negative",
    "PlantGO",
    "medical",
    "scene",
    "yeast",
    "enron",
)
STUDY_RATES, STUDY_FOLDS = 4, 5
SETTINGS = {"min_samples_leaf": 5, "max_features": "sqrt", "max_samples": 0.5, "n_jobs": 1}


def load(name: str) -> tuple:
    """Load features unchanged and labels as a dense matrix."""
    dataset = prepare(name)
    Y = dataset.Y.toarray() if sp.issparse(dataset.Y) else np.asarray(dataset.Y)
    return dataset.X, Y.astype(np.int8)


def ours(kind: str, X, Y: np.ndarray, n_trees: int, seed: int = 0) -> MultilabelForest:
    return MultilabelForest(kind, n_trees=n_trees, random_state=seed, **SETTINGS).fit(X, Y)


def peer(kind: str, X, Y: np.ndarray, n_trees: int, seed: int = 0, oob_score: bool = True):
    forest = PEERS[kind](n_trees, bootstrap=True, oob_score=oob_score, random_state=seed, **SETTINGS)
    return forest.fit(X, Y)


def cpu_seconds(function: Callable, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def compare_growth(name: str, X, Y: np.ndarray, options: argparse.Namespace) -> list[dict]:
    """Time both sides for each kind of forest."""
    lines = []
    for kind in PEERS:
        forest = ours(kind, X, Y, 1)  # compile before timing
        our_seconds = cpu_seconds(lambda kind=kind: ours(kind, X, Y, options.n_trees), options.repeats)
        # scikit-learn converts X to its own format in each fit, and so do we.
        peer_seconds = cpu_seconds(lambda kind=kind: peer(kind, X, Y, options.n_trees), options.repeats)
        forest = ours(kind, X, Y, options.n_trees)
        walk_seconds = cpu_seconds(lambda forest=forest: forest.predict_proba(X), options.repeats)
        lines.append(
            {
                "data": f"{name}, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels",
                "forest": kind,
                "our_seconds": our_seconds,
                "peer_seconds": peer_seconds,
                "times_faster": peer_seconds / our_seconds,
                "predict_seconds": walk_seconds,
            }
        )
        record(f"{lines[-1]['data']}: {kind}, scikit-learn", lines[-1]["times_faster"])
    return lines


def growth(options: argparse.Namespace) -> pd.DataFrame:
    """Time the growth of forests on the requested data."""
    return pd.DataFrame([line for name in options.data for line in compare_growth(name, *load(name), options)])


def wide(options: argparse.Namespace) -> pd.DataFrame:
    """Time growth on wide sparse matrices: binary features with 45 labels, binary or numeric ones with 10."""
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((1500, 1449)) < 0.02).astype(float))
    Y = (X[:, :45].toarray() + rng.random((1500, 45)) > 0.97).astype(np.int8)
    lines = compare_growth("binary features", X, Y, options)
    numbers = sp.random_array((20_000, 3000), density=0.01, format="csr", rng=rng)
    for name, X in (("binary features", (numbers > 0).astype(float)), ("mostly zeros", numbers)):
        Y = X @ (rng.random((3000, 10)) < 0.02) + 0.3 * rng.normal(size=(20_000, 10)) > 0.9
        lines += compare_growth(name, X, Y.astype(np.int8), options)
    return pd.DataFrame(lines)


def scores(options: argparse.Namespace) -> pd.DataFrame:
    """Compare micro AP and AUROC on the second half of the rows, in standard errors of the means over seeds."""
    lines = []
    for name in options.data:
        X, Y = load(name)
        half = len(Y) // 2
        for kind in PEERS:
            found = []
            for seed in range(options.seeds):
                ours_there = ours(kind, X[:half], Y[:half], options.n_trees, seed).predict_proba(X[half:])
                peer_there = peer(kind, X[:half], Y[:half], options.n_trees, seed, oob_score=False).predict(X[half:])
                pair = [multilabel_scores(Y[half:], P) for P in (ours_there, peer_there)]
                found.append([[score[key] for key in ("average_precision", "roc_auc")] for score in pair])
            lines += _summary(name, kind, np.array(found))
    return pd.DataFrame(lines)


def _summary(name: str, kind: str, found: np.ndarray) -> list[dict]:
    mean, error = found.mean(axis=0), np.sqrt(found.var(axis=0, ddof=1).sum(axis=0) / len(found))
    return [
        {
            "data": name,
            "forest": kind,
            "score": score,
            "ours": mean[0, at],
            "peer": mean[1, at],
            "standard_errors_apart": (mean[0, at] - mean[1, at]) / error[at],
        }
        for at, score in enumerate(("micro AP", "micro AUROC"))
    ]


def embedding(_: argparse.Namespace) -> pd.DataFrame:
    """Compare principal components of tree embeddings with those of a dense matrix."""
    return pd.DataFrame(compare_embedding())


def cascade(options: argparse.Namespace) -> pd.DataFrame:
    """Time the largest of the nine models with all levels on four fifths of the rows, with half of the labels."""
    return pd.DataFrame([time_model(name, "CaFE-FLA", options) for name in options.data])


def study(options: argparse.Namespace) -> pd.DataFrame:
    """Estimate the cost of the study of Ilidio et al. (2024) from one fit of each model on each available dataset.

    The study has 13 datasets, 4 missing rates and 5 folds. Unavailable datasets get the mean cost of the others. Two
    cores run two jobs at a time.
    """
    lines = []
    for name in STUDY_DATA:
        try:
            lines += [time_model(name, model, options) for model in PUBLISHED_MODELS]
        except DataError:
            lines.append({"data": name, "model": "(not at hand)"})
    table = pd.DataFrame(lines)
    per_dataset = table.groupby("data")["cpu_seconds"].sum(min_count=1)
    total = per_dataset.fillna(per_dataset.mean()).sum() * STUDY_RATES * STUDY_FOLDS
    projection = {"data": "whole study", "model": "all nine", "cpu_seconds": total, "hours_on_2_cores": total / 7200}
    return pd.concat([table, pd.DataFrame([projection])])


def time_model(name: str, model: str, options: argparse.Namespace) -> dict:
    """Measure CPU seconds to fit a model at the paper's settings and to predict the other rows at every level."""
    X, Y = load(name)
    train = OptiSplit(STUDY_FOLDS, random_state=0).assign(Y) > 0
    observed = mask_positives(Y[train], 0.5, random_state=0)
    started = time.process_time()
    fitted = make_model(model, label_frequency="estimate", n_trees=options.n_trees, random_state=0)
    fitted.fit(X[train], observed)
    between = time.process_time()
    n_levels = len(list(fitted.staged_predict_proba(X[~train])))
    return {
        "data": name,
        "model": model,
        "levels": n_levels,
        "fit_seconds": between - started,
        "cpu_seconds": time.process_time() - started,
    }


SECTIONS = {
    "growth": growth,
    "scores": scores,
    "wide": wide,
    "embedding": embedding,
    "cascade": cascade,
    "study": study,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to run")
    parser.add_argument("--data", nargs="+", default=["yeast"], help="names in the catalog")
    parser.add_argument("--n-trees", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=30)
    options = parser.parse_args()
    for section in options.only:
        table = SECTIONS[section](options)
        sys.stdout.write(f"{section}\n{table.to_string(index=False, float_format='{:.4g}'.format)}\n\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sys.stdout.write(f"peak memory {peak:.2f} GB\n")


if __name__ == "__main__":
    main()
