"""Compare two ways to make probabilities respect the true-path rule: isotonic regression and raising of parents.

    python benchmarks/hierarchies.py [--ontologies 12] [--models ML-kNN logistic ...] [--rates 0 50] [--folds 3]
        [--enron-models ML-kNN logistic ...]

Models without access to the hierarchy predict left-out folds. A given percentage of positives is hidden from the
training parts. The same probabilities are then reconciled in both ways and scored on all labels. The data are generated
ontologies (400 samples, 30 labels, 20 features), and enron with the four categories of its labels as parents. The table
shows the mean of isotonic regression minus that of raising; for S min and the squared error, lower is better. Standard
errors are over ontologies, averaged over models and folds. For enron they are over folds and account for overlapping
training parts (Nadeau & Bengio 2003). `above` is the share of probabilities with a parent that exceeded it before.
`mean` excludes models that never violate the rule, because neither way changes them.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from fairfold.core.folds import parts_of
from fairfold.core.hierarchy import Hierarchy
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.datasets.generate import gene_ontology_like
from fairfold.evaluation.corrected_t import correlation_of_folds, mean_and_error
from fairfold.evaluation.hierarchical import hierarchical_scores, information_accretion
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

MODELS = ["ML-kNN", "kNN", "logistic", "kernel-ridge", "RandomForest"]
ENRON_MODELS = ["ML-kNN", "logistic", "RandomForest"]
SHAPE = {"n_samples": 400, "n_labels": 30, "n_features": 20}
SCORES = {
    "s_min": "S min",
    "f_max": "F max",
    "average_precision": "AP",
    "roc_auc": "AUROC",
    "mcc": "MCC",
    "squared_error": "squared error",
}


def scores_of(Y: np.ndarray, P: np.ndarray, information: np.ndarray) -> pd.Series:
    pooled = multilabel_scores(Y, P, metrics=["average_precision", "roc_auc", "mcc"])
    found = {**hierarchical_scores(Y, P, information), **pooled, "squared_error": ((Y - P) ** 2).mean()}
    return pd.Series(found)[list(SCORES)]


def differences(
    X: np.ndarray, Y: np.ndarray, hierarchy: Hierarchy, models: list[str], rate: int, n_folds: int, name: str
) -> pd.DataFrame:
    """Return a row per model and fold: isotonic minus maximum, and counts of probabilities above a parent."""
    fold_of, rows = IterativeStratification(n_folds, random_state=0).assign(Y), []
    for fold, (train, test) in enumerate(parts_of(fold_of, len(Y))):
        seed = seed_for(0, "hierarchies", name, rate, fold)
        observed = mask_positives(Y[train], rate / 100, hierarchy=hierarchy, random_state=seed)
        information = information_accretion(Y[train], hierarchy)
        for model in models:
            fitted = make_model(model, label_frequency="estimate" if rate else 1.0, random_state=fold).fit(
                X[train], observed
            )
            P = fitted.predict_proba(X[test])
            isotonic, maximum = (
                scores_of(Y[test], hierarchy.reconcile(P, by), information) for by in ("isotonic", "maximum")
            )
            counts = {"above": hierarchy.n_violations(P), "of": len(test) * len(hierarchy.edges)}
            rows.append({"data": name, "rate": rate, "model": model, "fold": fold, **(isotonic - maximum), **counts})
    return pd.DataFrame(rows)


def on_ontologies(n_ontologies: int, models: list[str], rates: list[int], n_folds: int) -> pd.DataFrame:
    tables = []
    for number in range(n_ontologies):
        X, Y, _, _, hierarchy = gene_ontology_like(**SHAPE, random_state=number)
        for rate in rates:
            tables.append(differences(X, Y.toarray(), hierarchy, models, rate, n_folds, f"ontology {number}"))
    return pd.concat(tables, ignore_index=True)


def on_enron(models: list[str], rates: list[int], n_folds: int) -> pd.DataFrame:
    data = prepare("enron")
    category_of = [name.split(".")[0] for name in data.label_names]
    categories, number = np.unique(category_of, return_inverse=True)
    n_labels = len(category_of) + len(categories)
    edges = np.column_stack([np.arange(len(category_of)), len(category_of) + number])
    hierarchy = Hierarchy(edges, n_labels)
    Y = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y)
    Y = hierarchy.with_ancestors(np.column_stack([Y, np.zeros((len(Y), len(categories)), dtype=Y.dtype)]))
    return pd.concat(
        [differences(data.X, Y, hierarchy, models, rate, n_folds, "enron") for rate in rates], ignore_index=True
    )


def report(title: str, found: pd.DataFrame, unit: str, correlation: float) -> None:
    """Print a line per missing rate and model, and means; errors are over units with this correlation."""
    heads = "".join(f"{name:>20s}" for name in SCORES.values())
    print(f"\n{title}\n{'hidden':8s}{'model':14s}{heads}{'above':>18s}")
    breaks = found.groupby("model")["above"].transform("sum") > 0
    rates = [(f"{rate} %", of_rate) for rate, of_rate in found.groupby("rate", sort=False)]
    for hidden, of_rate in [*rates, ("all", found)] if len(rates) > 1 else rates:
        for model, table in [*of_rate.groupby("model", sort=False), ("mean", of_rate[breaks[of_rate.index]])]:
            if table.empty:  # no model violated the rule
                continue
            units = table.groupby(unit)[list(SCORES)].mean().to_numpy()
            cells = zip(*mean_and_error(units.T, correlation), strict=True)
            line = "".join(f"{f'{mean:+.4f} ± {error:.4f}':>20s}" for mean, error in cells)
            counts = f"{table['above'].sum()} of {table['of'].sum()}"
            print(f"{hidden:8s}{model:14s}{line}{counts:>18s}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ontologies", type=int, default=12, help="2 or more; 0 for none")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--enron-models", nargs="*", default=ENRON_MODELS)
    parser.add_argument("--rates", nargs="+", type=int, default=[0, 50])
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    if options.ontologies:
        found = on_ontologies(options.ontologies, options.models, options.rates, options.folds)
        report(f"{options.ontologies} ontologies, isotonic minus maximum", found, "data", correlation=0)
    if options.enron_models:
        found = on_enron(options.enron_models, options.rates, options.folds)
        report("enron, isotonic minus maximum", found, "fold", correlation_of_folds(options.folds))


if __name__ == "__main__":
    main()
