"""Compare estimates of the missing rate in a hierarchy with those of independently missing labels.

    python benchmarks/missing_in_hierarchies.py [--ontologies 3] [--samples 2000] [--labels 150] [--rates 30 50 70]

Positives of generated ontologies are hidden, either consistently with the true-path rule or independently. Models are
trained on half of the samples and predict the other half, for the 64 labels with most observed positives. The table
shows the hidden share, its estimates from predictions of joint-GB with and without the other labels as features (with
95 % intervals), and scores of RF+ET on all labels, on observed labels, and corrected with the known share.
"""

from __future__ import annotations

import argparse

import numpy as np

from fairfold.core.arrays import most_common_labels
from fairfold.datasets.generate import gene_ontology_large
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.metrics.registry import BASIC_METRICS, REFERENCE_LABELS
from fairfold.metrics.scores import multilabel_scores
from fairfold.missing_labels.corrected import corrected_scores
from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.models import make_model
from fairfold.planning.models import REFERENCE
from fairfold.weak_labels import mask_labels


def predictions(model: str, X: np.ndarray, Y: np.ndarray, observed: np.ndarray) -> np.ndarray:
    fold_of = np.arange(len(X)) % 2
    tables = score_on_folds(lambda fold: make_model(model, random_state=fold), X, Y, fold_of, lambda fold: observed)
    return tables.predictions.by("average_precision")


def estimate(observed: np.ndarray, P: np.ndarray, *, ask_others: bool) -> str:
    found = frequency_distribution(observed, P, ask_others=ask_others)
    low, high = 1 - np.array(found.interval())[::-1]
    return f"{100 * (1 - found.median):.0f} ({100 * low:.0f} to {100 * high:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ontologies", type=int, default=3)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=150)
    parser.add_argument("--rates", nargs="+", type=int, default=[30, 50, 70])
    options = parser.parse_args()
    scores = "".join(f"{metric:>28s}" for metric in BASIC_METRICS)
    print(f"{'hidden':>7s}  {'missing':13s}{'others asked':>18s}{'not asked':>18s}{scores}")
    for seed in range(options.ontologies):
        X, Y, *_, hierarchy = gene_ontology_large(options.samples, options.labels, random_state=seed)
        for rate in options.rates:
            for how, chain in (("in hierarchy", hierarchy), ("by itself", None)):
                observed = mask_labels(Y, rate / 100, hierarchy=chain, random_state=seed)
                labels = most_common_labels(observed, REFERENCE_LABELS)
                truth, seen = (each[:, labels].toarray() for each in (Y, observed))
                P, known = predictions(REFERENCE, X, truth, seen), seen.sum() / truth.sum()
                asked, alone = (estimate(seen, P, ask_others=ask) for ask in (True, False))
                P = predictions("RF+ET", X, truth, seen)
                tables = multilabel_scores(truth, P), multilabel_scores(seen, P), corrected_scores(seen, P, known)
                found = "".join(
                    f"{'  '.join(f'{table[metric]:.3f}' for table in tables):>28s}" for metric in BASIC_METRICS
                )
                print(f"{100 * (1 - known):6.0f}%  {how:13s}{asked:>18s}{alone:>18s}{found}", flush=True)


if __name__ == "__main__":
    main()
