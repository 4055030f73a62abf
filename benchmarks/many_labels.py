"""Compare models of many labels with napkinXC on the published split: scores at k, seconds and memory.

    python benchmarks/many_labels.py [--dataset bibtex delicious] [--models Stack+ gcForest+ ...] [--rates 0 50]
    python benchmarks/many_labels.py --dataset 50000x5000 --models gcForest+ --rates 0 --n-trees 50 --max-levels 2

Each model is fitted in a separate process on one thread. Seconds are CPU time to fit and to predict with compiled code.
Memory (MB) is the peak above that of the process with data and imports loaded, and the total peak. Propensities come
from the training labels before any are hidden. napkinXC (Jasinska-Obuchowicz et al. 2020) uses its own defaults and
word weights; install it with `pip install -r benchmarks/requirements-many-labels.txt`. Without a published split,
iterative stratification leaves out a fifth of the samples.

A dataset such as 50000x5000 is generated: samples by labels like the Gene Ontology's, with 100 features and 5,000 test
samples. `--sketches` compares columns of a sketch with the exact engine, on forests with the requested number of levels
above the first (0 by default). With several `--seeds`, hidden labels and random numbers differ for each seed, and the
script prints the mean leads of the first model with their standard errors.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import re
import resource
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from _napkinxc_model import NapkinXC
from scipy import sparse

from fairfold.core.seeds import seed_for
from fairfold.core.usage import cpu_seconds
from fairfold.datasets import prepare
from fairfold.datasets.generate import gene_ontology_large
from fairfold.metrics.at_k import inverse_propensities, precision_at_k, propensity_scored_precision_at_k
from fairfold.metrics.scores import multilabel_scores
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

MODELS = ["Stack+", "gcForest+", "RF+ET", "napkinXC trees", "napkinXC one per label"]
N_TESTED = 5000
PEERS = {"napkinXC trees": "PLT", "napkinXC one per label": "OVR"}
LEADS = {"P@1": 0, "PSP@5": 4}  # positions among the scores
HEAD = f"{'model':24s}{'P@1':>7s}{'P@3':>7s}{'P@5':>7s}{'PSP@1':>7s}{'PSP@5':>7s}{'AP':>7s}{'fit s':>8s}{'pred s':>8s}"


def split(name: str) -> tuple[np.ndarray | sparse.csr_array, sparse.csr_array, np.ndarray]:
    if sizes := re.fullmatch(r"(\d+)x(\d+)", name):
        n_samples, n_labels = map(int, sizes.groups())
        X, Y, *_ = gene_ontology_large(n_samples + N_TESTED, n_labels)
        return X, Y, np.arange(len(X)) >= n_samples
    data = prepare(name)
    fold_of = data.published_split
    if fold_of is None:
        fold_of = IterativeStratification(5, random_state=0).assign(data.Y)
    return sparse.csr_array(data.X), sparse.csr_array(data.Y), fold_of == 0


def measure(dataset: str, name: str, rate: int, settings: dict, seed: int = 0) -> tuple[list[float], list[float]]:
    """Return the scores, and the seconds to fit, seconds to predict, MB of the model and total MB."""
    X, Y, is_test = split(dataset)
    seen = mask_positives(Y[~is_test], rate / 100, random_state=seed_for(seed, dataset, rate)) if rate else Y[~is_test]
    if name not in PEERS:  # compile before timing
        make_model(name, random_state=0, n_trees=6).fit(X[:300], seen[:300]).predict_proba(X[:10])
    before, start = memory(), cpu_seconds()
    if name in PEERS:
        ctypes.CDLL(None).srand(seed)  # napkinXC also draws from the C library
        model = NapkinXC(PEERS[name], random_state=seed)
    else:
        model = make_model(name, label_frequency="estimate" if rate else 1.0, random_state=seed, **settings)
    model.fit(X[~is_test], seen)
    fitted = cpu_seconds()
    P = model.predict_proba(X[is_test])
    costs = [fitted - start, cpu_seconds() - fitted, memory() - before, memory()]
    return scores_of(Y[is_test], P, Y[~is_test]), costs


def scores_of(truth: sparse.csr_array, P: np.ndarray | sparse.csr_array, trained_on: sparse.csr_array) -> list[float]:
    inverse = inverse_propensities(trained_on)
    return [
        *precision_at_k(truth, P, 5)[[0, 2, 4]],
        *propensity_scored_precision_at_k(truth, P, inverse, 5)[[0, 4]],
        multilabel_scores(truth, P, metrics=["average_precision"])["average_precision"],
    ]


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(*task: object) -> tuple[list[float], list[float]]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, *task).result()


def report(label: str, scores: list[float], costs: list[float]) -> None:
    numbers = "".join(f"{score:7.4f}" for score in scores)
    print(f"{label:24s}{numbers}{costs[0]:8.1f}{costs[1]:8.1f}{costs[2]:8.0f}{costs[3]:8.0f}", flush=True)


def report_leads(scores: dict[str, list[list[float]]]) -> None:
    """Print the mean lead of the first model over each other model, with its standard error over seeds."""
    first, *others = scores
    for name in others:
        leads = np.array(scores[first]) - scores[name]
        errors = leads.std(axis=0, ddof=1) / np.sqrt(len(leads))
        summary = ", ".join(f"{label} {leads.mean(axis=0)[at]:+.4f} ({errors[at]:.4f})" for label, at in LEADS.items())
        print(f"{first} over {name}, mean of {len(leads)} seeds: {summary}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", nargs="+", default=["bibtex", "delicious"])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--rates", nargs="+", type=int, default=[0, 50])
    parser.add_argument("--n-trees", type=int, help="of each forest; the models' own by default")
    parser.add_argument("--max-levels", type=int, help="of cascades")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="of what is hidden, and of the models")
    parser.add_argument("--sketches", nargs="+", type=int, metavar="COLUMNS")
    options = parser.parse_args()
    given = {"n_trees": options.n_trees, "max_levels": options.max_levels}
    given = {name: value for name, value in given.items() if value is not None}
    for dataset in options.dataset:
        for rate in options.rates:
            print(f"\n{dataset}, {rate} % of each label's positives hidden from training")
            print(f"{HEAD}{'MB':>8s}{'in all':>8s}")
            if options.sketches:
                for columns in [*options.sketches, None]:
                    settings = {"n_trees": 50, "max_levels": 0} | given | {"n_sketched": columns}
                    report(f"{columns or 'exact'}", *alone(dataset, "gcForest+", rate, settings))
                continue
            scores: dict[str, list[list[float]]] = {}
            for name in options.models:
                for seed in options.seeds:
                    found, costs = alone(dataset, name, rate, given, seed)
                    report(name, found, costs)
                    scores.setdefault(name, []).append(found)
            if len(options.seeds) > 1:
                report_leads(scores)


if __name__ == "__main__":
    main()
