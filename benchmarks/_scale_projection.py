"""Project the run time of config/paper.yaml: jobs and CPU seconds of each part, and wall time by number of cores.

- Weak labels, rank stability: six models are fitted and applied once per dataset (one fold of five, missing rate 50)
  with few trees and with three times the number. A line through both gives the time of all trees, which is multiplied
  by folds and trainings. Other models get the time of a similar model (``LIKE``); unavailable datasets get the mean.
- Cross-testing: a few permutations of each point, multiplied by 1,000 permutations in 1,000 repetitions.
- Cross-testing of forests, forests on feature sets: one fit of each candidate on half the rows, multiplied by the fits.
- Pairs: a few pairs at each number of samples, multiplied by the pairs. The paper lists the pairs of its endpoints.
- Splitters: one split of ``SPLIT_LIKE``, multiplied by the ratio of positives, or by the ratio of squared labels for
  OptiSplit if that is larger. The three matrices of the Gene Ontology are assumed to have the size of the largest.

Each job also gets a start-up time: a process that imports what most scripts import. The longest job goes first, to the
first free core. Dependencies between jobs, Snakemake's own time and queue time are ignored.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from cross_testing import plans_of
from forests import load, time_model

from fairfold.cross_testing.plans import draw_orders
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.datasets import load_catalog, prepare
from fairfold.errors import DataError
from fairfold.forests import MODEL_NAMES, make_model
from fairfold.papers.cross_testing_experiment import draw_rows, published_candidates
from fairfold.planning.check import check_config
from fairfold.splitting.methods import METHOD_NAMES, make_splitter, spec_of
from fairfold.weak_labels import mask_positives
from fairfold.win_percentage import evaluate_all_pairs

FEW_TREES, FOLDS, CORES = (10, 30), 5, (2, 16, 1000)
LIKE = {
    **dict.fromkeys(("LCForest", "FLAForest"), "SLCForest"),
    **dict.fromkeys(("CaFE", "CaFE-OS", "CaFE-SLC"), "CaFE-FLA"),
    **dict.fromkeys(("gcForest+", "FLAForest+"), "SLCForest+"),
    "CaFE-SLC+": "CaFE-FLA+",
}
SPLIT_LIKE = "delicious"
N_PATIENTS = 246  # neuroblastoma; the number with an outcome is unknown before the download
ENDPOINTS, ENDPOINT_PAIRS = ("breast-", "myeloma-", "neuroblastoma-"), 4.0e8
CANDIDATES = ("SLCForest", "FLAForest", "CaFE-SLC", "CaFE-FLA", "RF+ET")  # the defaults of cross_testing.models
FITS_OF_FORESTS = 16_261  # per repetition; docs/guide/cross-testing.md shows the count
SOME_PERMUTATIONS = 500
SOME_PAIRS = 200_000


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def start_seconds() -> float:
    """Measure the CPU seconds of a process that only imports the packages of training jobs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    imports = "import pandas, fairfold.forests.out_of_bag, fairfold.metrics.scores"
    subprocess.run([sys.executable, "-c", imports], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def seconds_per_fold(datasets: list[str], n_trees: int) -> pd.DataFrame:
    """Compute the seconds to train and apply each model once per dataset at the published settings."""
    found = {}
    for model in MODEL_NAMES:
        make_model(model, n_trees=2, max_levels=1, random_state=0).fit(*load("simulated-multilabel"))  # compile first
    for name in datasets:
        try:
            measured = {model: extrapolated(name, model, n_trees) for model in MODEL_NAMES if model not in LIKE}
        except DataError:
            measured = {}
        found[name] = {model: measured.get(LIKE.get(model, model), np.nan) for model in MODEL_NAMES}
    table = pd.DataFrame(found).T
    return table.fillna(table.mean())


def extrapolated(name: str, model: str, n_trees: int) -> float:
    """Extrapolate the seconds for ``n_trees`` trees from two small forests."""
    seconds = [time_model(name, model, argparse.Namespace(n_trees=n))["cpu_seconds"] for n in FEW_TREES]
    slope, at_none = np.polyfit(FEW_TREES, seconds, 1)
    return max(seconds[-1], at_none + slope * n_trees)


def fit_seconds(name: str, models: tuple[str, ...], forest: dict, n_features: int | None = None) -> float:
    """Measure the mean seconds to fit one of the models on half the rows, with all features or ``n_features``."""
    X, Y = load(name)
    rows = np.random.default_rng(0).permutation(len(Y))[: len(Y) // 2]
    X, Y = np.asarray(X[rows])[:, :n_features], mask_positives(Y[rows], 0.5, random_state=0)
    measured = {LIKE.get(model, model) for model in models}
    for model in measured:
        make_model(model, **{**forest, "n_trees": 2}, random_state=0).fit(X, Y)  # compile first
    fits = {m: cpu_seconds(lambda m=m: make_model(m, **forest, random_state=0).fit(X, Y)) for m in measured}
    return float(np.mean([fits[LIKE.get(model, model)] for model in models]))


def weak_label_jobs(study: dict) -> dict[str, list[float]]:
    per_fold = seconds_per_fold(study["datasets"], study["forest"]["n_trees"])
    trained = [
        FOLDS * per_fold.loc[dataset, model] for dataset in study["datasets"] for model in study["models"]
    ] * len(study["missing_rates"])
    first = [FOLDS * per_fold.loc[dataset, "RF+ET"] for dataset in study["datasets"]] * len(study["missing_rates"])
    stability = study["rank_stability"]
    per_job = stability["repeats_per_job"] * stability["trainings"] * FOLDS
    repeated = [per_job * per_fold.loc[dataset, stability["models"]].sum() for dataset in stability["datasets"]]
    n_jobs = len(stability["splitters"]) * (stability["n_repeats"] // stability["repeats_per_job"])
    return {"weak labels": trained + first, "rank stability": repeated * n_jobs}


def seconds_of_permutation(dataset: str, n: int, share: float, with_nested: bool, parameters: str) -> float:
    rng = np.random.default_rng(n)
    data = prepare(dataset)
    X = np.asarray(data.X[draw_rows(data.Y, n, rng)], dtype=float)
    engine = SVMEngine.for_candidates(published_candidates(parameters), X, np.arange(n) % 2)
    plans = plans_of(n, share, with_nested, rng)
    engine.run(plans[0], np.arange(n)[None])  # compile first
    orders = [draw_orders(plan.part, SOME_PERMUTATIONS, rng) for plan in plans]
    run = cpu_seconds(lambda: [engine.run(*pair) for pair in zip(plans, orders, strict=True)])
    return run / SOME_PERMUTATIONS


def cross_testing_jobs(study: dict) -> dict[str, list[float]]:
    per_job, jobs = study["repeats_per_job"], []
    for experiment in study["experiments"].values():
        shares = experiment.get("test_fractions", [0.5])
        seconds = sum(
            seconds_of_permutation(experiment["dataset"], n, share, len(shares) == 1, study["parameters"])
            for n in experiment["data_sizes"]
            for share in shares
        )
        jobs += [per_job * study["n_permutations"] * seconds] * (study["n_repeats"] // per_job)
    forests = study["models"]
    fits = [FITS_OF_FORESTS * fit_seconds(name, CANDIDATES, forests["forest"]) for name in forests["datasets"]]
    return {"cross-testing": jobs, "cross-testing of forests": fits * forests["n_repeats"]}


def pair_jobs(study: dict) -> dict[str, list[float]]:
    catalog, jobs = load_catalog(), []
    n_endpoints = sum(name.startswith(ENDPOINTS) for name in study["datasets"])
    for name in study["datasets"]:
        n = catalog[name].expected.get("n_samples", N_PATIENTS)
        if name.startswith(ENDPOINTS):
            n_pairs = ENDPOINT_PAIRS / n_endpoints
        else:
            n_pairs = catalog[name].expected["n_features"] ** 2 / 2
        X, y = np.random.default_rng(0).normal(size=(n, 1000)), np.arange(n) % 2
        evaluate_all_pairs(X, y, stop=1)
        seconds = cpu_seconds(lambda X=X, y=y: evaluate_all_pairs(X, y, stop=SOME_PAIRS)) / SOME_PAIRS
        jobs += [n_pairs * seconds / study["jobs_per_dataset"]] * study["jobs_per_dataset"]
    return {"pairs": jobs}


def feature_set_jobs(study: dict, models: list[str]) -> dict[str, list[float]]:
    jobs = []
    for name in study["datasets"]:
        one_set = 3 * len(models) * fit_seconds(name, tuple(models), study["forest"], study["set_size"])
        jobs += [one_set * study["sets_per_job"]] * (study["n_sets"] // study["sets_per_job"])
        jobs += [one_set * study["n_permuted_sets"]] * study["n_permutations"]
    return {"forests on feature sets": jobs}


def splitting_jobs(study: dict) -> dict[str, list[float]]:
    jobs = []
    sizes = {name: labels_and_positives(name) for name in study["datasets"]}
    Y = prepare(SPLIT_LIKE).Y
    labels, positives = Y.shape[1], Y.sum()
    for method in (name for name in METHOD_NAMES if not spec_of(name).compares_features):
        make_splitter(method, 2, random_state=0).assign(np.eye(4, dtype=np.int8))
        seconds = cpu_seconds(lambda method=method: make_splitter(method, 5, random_state=0).assign(Y))
        for name in study["datasets"]:
            ratio = sizes[name][1] / positives
            if method.startswith("OptiSplit"):
                ratio = max(ratio, (sizes[name][0] / labels) ** 2)
            jobs.append(10 * ratio * seconds)  # ten splits per job
    return {"splitters": jobs}


def labels_and_positives(name: str) -> tuple[int, float]:
    """Return both counts from the catalog if listed; Gene Ontology datasets get the counts of the largest one."""
    expected = load_catalog()["GO-BP" if name.startswith("GO-") else name].expected
    if not expected:
        Y = prepare(name).Y
        return Y.shape[1], Y.sum()
    return expected["n_labels"], expected["n_samples"] * expected["n_labels"] * expected["label_density"]


def hours(seconds: list[float], n_cores: int) -> float:
    """Compute the wall time if each job, longest first, goes to the first free core."""
    free = [0.0] * n_cores
    for each in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + each)
    return max(free) / 3600


def project(paper: dict, n_jobs: int) -> pd.DataFrame:
    """Return a row per part and a total: jobs, CPU hours, minutes of the longest job, hours by number of cores.

    ``n_jobs`` is the number of jobs of the whole study when they match the parts.
    """
    check_config(paper)  # also adds the defaults
    start = start_seconds()
    parts = {
        **splitting_jobs(paper["splitting"]),
        **weak_label_jobs(paper["weak_labels"]),
        **cross_testing_jobs(paper["cross_testing"]),
        **pair_jobs(paper["win_percentage"]),
        **feature_set_jobs(paper["win_percentage"]["models"], paper["weak_labels"]["models"]),
    }
    parts["all other jobs"] = [0.0] * (n_jobs - sum(map(len, parts.values())))
    parts = {name: [start + each for each in jobs] for name, jobs in parts.items()}
    parts["whole study"] = [each for jobs in parts.values() for each in jobs]
    lines = [
        {"part": name, "jobs": len(jobs), "cpu_hours": sum(jobs) / 3600, "longest_job_minutes": max(jobs) / 60}
        | {f"hours_on_{n}_cores": hours(jobs, n) for n in CORES}
        for name, jobs in parts.items()
    ]
    return pd.DataFrame(lines)
