"""Time one step of the study at growing sizes in a separate process; scale.py runs it and fits the exponents.

    python benchmarks/_scale_growth.py CaFE-FLA samples 400 800 1600

The script prints one line of JSON per size: CPU seconds of one thread (the smaller of two runs) and the peak resident
memory above that of the warm process. Sizes must grow, because the peak covers all sizes up to the current one.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

BASE = {"samples": 400, "labels": 8, "features": 40, "trees": 20, "levels": 2, "permutations": 20}
MANY = "many labels, "  # prefix of model names; forests use sketches from 129 labels on
BASE_OF_MANY = {"samples": 4000, "labels": 1000}
SPLITTERS = ("annealed", "IS", "OptiSplit-rLD")
CARDINALITY = 4  # average number of labels per sample


def draw_labels(samples: int, labels: int, rng: np.random.Generator) -> sp.csr_array:
    """Draw labels by Zipf's law: the k-th is 1/k as frequent as the first. The number of positives stays similar."""
    frequency = 1 / np.arange(1, labels + 1)
    drawn = rng.choice(labels, (samples, CARDINALITY), p=frequency / frequency.sum())
    rows = np.repeat(np.arange(samples), CARDINALITY)
    Y = sp.csr_array((np.ones(rows.size, dtype=np.int8), (rows, drawn.ravel())), shape=(samples, labels))
    Y.data[:] = 1
    return Y


def split(method: str, size: dict[str, int]) -> Callable[[], object]:
    from fairfold.splitting.methods import make_splitter

    Y = draw_labels(size["samples"], size["labels"], np.random.default_rng(0))
    return lambda: make_splitter(method, 5, random_state=0).assign(Y)


def train(model: str, size: dict[str, int]) -> Callable[[], object]:
    from fairfold.forests import make_model

    model = model.removeprefix(MANY)
    rng = np.random.default_rng(0)
    Y = draw_labels(size["samples"], size["labels"], rng).toarray()
    X = rng.normal(size=(len(Y), size["features"]))
    shared = min(Y.shape[1], X.shape[1])
    X[:, :shared] += Y[:, :shared]
    return lambda: make_model(model, n_trees=size["trees"], max_levels=size["levels"], random_state=0).fit(X, Y)


def permute(_: str, size: dict[str, int]) -> Callable[[], object]:
    from cross_testing import plans_of

    from fairfold.cross_testing.plans import draw_orders
    from fairfold.cross_testing.svm_engine import SVMEngine
    from fairfold.papers.cross_testing_experiment import published_candidates

    n, rng = size["samples"], np.random.default_rng(0)
    engine = SVMEngine.for_candidates(published_candidates("c-only"), rng.normal(size=(n, 20)), np.arange(n) % 2)
    runs = [(plan, draw_orders(plan.part, size["permutations"], rng)) for plan in plans_of(n, 0.5, True, rng)]
    return lambda: [engine.run(*run) for run in runs]


def evaluate_pairs(_: str, size: dict[str, int]) -> Callable[[], object]:
    from fairfold.win_percentage import evaluate_all_pairs

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(size["samples"], size["features"])), np.arange(size["samples"]) % 2
    return lambda: evaluate_all_pairs(X, y)


def step_of(method: str) -> Callable[[str, dict[str, int]], Callable[[], object]]:
    if method in SPLITTERS:
        return split
    return {"permutations": permute, "pairs": evaluate_pairs}.get(method, train)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> None:
    method, axis, *sizes = sys.argv[1:]
    step = step_of(method)
    base = {**BASE, **{split: {"samples": 4000, "labels": 100}, permute: {"samples": 100}}.get(step, {})}
    base |= BASE_OF_MANY if method.startswith(MANY) else {}
    step(method, base)()  # compile before timing
    warm = peak_mib()
    for size in map(int, sizes):
        run = step(method, {**base, axis: size})
        seconds = []
        for _ in range(2):
            start = time.process_time()
            run()
            seconds.append(time.process_time() - start)
        line = {"method": method, "axis": axis, "size": size, "seconds": min(seconds), "mib": peak_mib() - warm}
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
