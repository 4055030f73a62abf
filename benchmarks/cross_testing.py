"""Compare our permutation tests of whole procedures with a plain scikit-learn loop of the same fits.

    python benchmarks/cross_testing.py [--only ratio projection] [--permutations 200]

`ratio`: permutations per CPU second of one thread for all three procedures on the simulated data, with n = 100 and half
of it as the test part. The loop fits `SVC` on a kernel matrix that is computed once for both sides. With principal
components, each side computes a kernel matrix per training part. The benchmark stops if the two sides differ in their
choices or counts.

`projection`: the published scale, 1,000 repetitions with 1,000 permutations of every point of Figures 4 to 8,
extrapolated from a few permutations of each point. Data come from the mirror in FAIRFOLD_MIRROR or are downloaded.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import yaml
from _record import record
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fairfold.core.project import PROJECT
from fairfold.cross_testing.plans import TEST, TRAIN, Plan, draw_orders, holdout_plans, holdout_size, nested_plan
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.datasets import Dataset, prepare
from fairfold.papers.cross_testing_experiment import N_SPLITS, draw_rows, published_candidates

SEARCHES = ("c-only", "preprocessing-and-c")
REPETITIONS, PERMUTATIONS, CORES = 1000, 1000, 2


def cpu_seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def plans_of(n: int, share: float, with_nested: bool, rng: np.random.Generator) -> list[Plan]:
    """Return the plans of a repetition: both procedures with a test part, and nested cross-validation."""
    y = np.arange(n) % 2
    testing, cross_testing = holdout_plans(y, N_SPLITS, holdout_size(n, share), rng)
    return [testing + cross_testing] + [nested_plan(y, N_SPLITS, rng)] * with_nested


def plain_loop(candidates: list, X: np.ndarray, K: np.ndarray, plan: Plan, orders: np.ndarray) -> np.ndarray:
    """Count the correct predictions of each test in each order with scikit-learn."""
    y = np.arange(len(X)) % 2

    def correct(candidate: object, order: np.ndarray, train: np.ndarray, test: np.ndarray) -> int:
        if isinstance(candidate, SVC):
            machine = SVC(C=candidate.C, kernel="precomputed").fit(K[np.ix_(order[train], order[train])], y[train])
            return (machine.predict(K[np.ix_(order[test], order[train])]) == y[test]).sum()
        return (clone(candidate).fit(X[order[train]], y[train]).predict(X[order[test]]) == y[test]).sum()

    totals = np.zeros((len(orders), len(plan.role)))
    for o, order in enumerate(orders):
        chosen = []
        for fold in plan.inner_fold:
            parts = [(np.flatnonzero((fold >= 0) & (fold != k)), np.flatnonzero(fold == k)) for k in range(N_SPLITS)]
            chosen.append(np.argmax([sum(correct(c, order, *part) for part in parts) for c in candidates]))
        for t, (choice, role) in enumerate(zip(plan.choice_of, plan.role, strict=True)):
            candidate = candidates[chosen[choice]]
            totals[o, t] = correct(candidate, order, np.flatnonzero(role == TRAIN), np.flatnonzero(role == TEST))
    return totals


def compare(n_permutations: int) -> None:
    data, n = prepare("cross-testing-simulated"), 100
    rng = np.random.default_rng(0)
    X = data.X[draw_rows(data.Y, n, rng)]
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    plans = plans_of(n, 0.5, True, rng)
    orders = [draw_orders(plan.part, n_permutations, rng) for plan in plans]
    few = max(2, n_permutations // 50)
    for search in SEARCHES:
        candidates = published_candidates(search)
        engine = SVMEngine.for_candidates(candidates, X, np.arange(n) % 2)
        for plan, order in zip(plans, orders, strict=True):
            totals = plain_loop(candidates, X, K, plan, order[:few])
            if not np.array_equal(engine.run(plan, order[:few]).totals, totals):
                raise SystemExit("the two sides count differently")
        pairs = list(zip(plans, orders, strict=True))
        ours = sum(cpu_seconds(engine.run, *pair) for pair in pairs)
        theirs = sum(cpu_seconds(plain_loop, candidates, X, K, plan, order[:few]) for plan, order in pairs)
        ours, theirs = ours / n_permutations, theirs / few
        print(f"{search}, n = {n}: {1 / ours:,.0f} permutations a second, scikit-learn {1 / theirs:,.1f}", end="")
        print(f" ({theirs * 1e3:.0f} ms each): {theirs / ours:,.0f}x")
        record(f"permutations, {search}, n = {n}, scikit-learn", theirs / ours)


def seconds_of_point(data: Dataset, search: str, n: int, share: float, with_nested: bool, few: int) -> float:
    """Measure the CPU seconds of one permutation."""
    rng = np.random.default_rng(n)
    X = np.asarray(data.X[draw_rows(data.Y, n, rng)], dtype=float)
    engine = SVMEngine.for_candidates(published_candidates(search), X, np.arange(n) % 2)
    plans = plans_of(n, share, with_nested, rng)
    engine.run(plans[0], np.arange(n)[None])  # compile before timing
    return sum(cpu_seconds(engine.run, plan, draw_orders(plan.part, few, rng)) / few for plan in plans)


def project(few: int) -> None:
    paper = yaml.safe_load((PROJECT / "config" / "paper.yaml").read_text())["cross_testing"]
    for search in SEARCHES:
        whole = 0.0
        for name, experiment in paper["experiments"].items():
            data, shares = prepare(experiment["dataset"]), experiment.get("test_fractions", [0.5])
            points = [
                seconds_of_point(data, search, n, share, len(shares) == 1, few)
                for n in experiment["data_sizes"]
                for share in shares
            ]
            whole += REPETITIONS * PERMUTATIONS * sum(points)
            print(f"{search}, {name}: {', '.join(f'{1e3 * each:.2f}' for each, _ in points)} ms per permutation")
        hours = whole / 3600 / CORES
        print(f"{search}: Figures 4 to 8 take {whole:,.0f} CPU s, {hours:.1f} h on {CORES} cores", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["ratio", "projection"], default=["ratio", "projection"])
    parser.add_argument("--permutations", type=int, default=200)
    options = parser.parse_args()
    if "ratio" in options.only:
        compare(options.permutations)
    if "projection" in options.only:
        project(max(5, options.permutations // 20))


if __name__ == "__main__":
    main()
