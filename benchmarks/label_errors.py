"""Find positives that were hidden on purpose among all zeros, with our posteriors and with cleanlab on the same models.

    pip install cleanlab
    python benchmarks/label_errors.py [--datasets emotions yeast ...] [--models Stack+ logistic] [--rates 10 30 50]

Each model predicts left-out samples (five folds). Our method ranks the zero cells by the posterior, as in
`tables/likely_label_errors.csv`. cleanlab scores the cells of each label with `get_label_quality_scores`: by
self-confidence (the probability of the given label), by self-confidence with adjusted probabilities
(`adjust_pred_probs`), and by the normalized margin. Its cells are ranked over all labels by the lowest quality. The
table shows the share of hidden positives among the first k cells, for k from 20 to the number of hidden positives.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import numpy as np

from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

DEPTHS = (20, 50, 100, 200)
DATASETS = ["emotions", "birds", "yeast", "scene"]


def cleanlab_rankings(observed: np.ndarray, P: np.ndarray) -> dict[str, np.ndarray]:
    """Return the suspicion of each cell by method; empty if cleanlab is not installed."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return {}
    ways = {
        "cleanlab, self-confidence": {"method": "self_confidence"},
        "cleanlab, adjusted": {"method": "self_confidence", "adjust_pred_probs": True},
        "cleanlab, margin": {"method": "normalized_margin"},
    }
    found = {}
    for name, options in ways.items():
        quality = np.empty(P.shape)
        for label in range(P.shape[1]):
            both = np.clip(np.column_stack([1 - P[:, label], P[:, label]]), 1e-9, 1)
            both /= both.sum(axis=1, keepdims=True)
            given = observed[:, label].astype(int)
            if len(np.unique(given)) < 2:  # cleanlab requires two classes
                quality[:, label] = both[np.arange(len(given)), given]
                continue
            quality[:, label] = get_label_quality_scores(given, both, **options)
        found[name] = -quality
    return found


def precisions(suspicion: np.ndarray, observed: np.ndarray, Y: np.ndarray) -> list[float]:
    zero = observed == 0
    hits = (Y[zero] == 1)[np.argsort(-suspicion[zero], kind="stable")]
    return [hits[:depth].mean() for depth in (*DEPTHS, int(hits.sum()))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--models", nargs="+", default=["gcForest+", "logistic"])
    parser.add_argument("--rates", nargs="+", type=int, default=[10, 30])
    arguments = parser.parse_args()
    if find_spec("cleanlab") is None:
        print("cleanlab is not installed, and has no rows: pip install cleanlab")
    heads = "".join(f"{f'first {depth}':>10s}" for depth in DEPTHS)
    print(f"{'dataset':10s}{'model':11s}{'hidden':>7s}  {'way':28s}{heads}{'as hidden':>10s}")
    for dataset in arguments.datasets:
        data = prepare(dataset)
        Y = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y)
        fold_of = IterativeStratification(random_state=0).assign(Y)
        for rate in arguments.rates:
            observed = mask_positives(Y, rate / 100, random_state=seed_for(0, dataset, rate))
            for model in arguments.models:
                P = np.empty(Y.shape)
                for fold in range(fold_of.max() + 1):
                    train, test = fold_of != fold, fold_of == fold
                    fitted = make_model(model, label_frequency="estimate", random_state=fold)
                    P[test] = fitted.fit(data.X[train], observed[train]).predict_proba(data.X[test])
                for way, suspicion in {"ours, posterior": P, **cleanlab_rankings(observed, P)}.items():
                    cells = "".join(f"{share:10.3f}" for share in precisions(suspicion, observed, Y))
                    print(f"{dataset:10s}{model:11s}{rate:6d} %  {way:28s}{cells}", flush=True)


if __name__ == "__main__":
    main()
