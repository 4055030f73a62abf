"""Measure level and power of the tests that labels are missing completely at random.

    python benchmarks/scar_test.py [--datasets flags birds ...] [--seeds 3] [--simulated 100] [--write CSV]

Labels of complete datasets are hidden by each mechanism. `joint-GB` is trained on the observed labels and predicts
left-out samples (five folds). The label frequency is estimated and the tests are computed as in the study. Groups are
drawn at random, one per twenty samples and at least ten. Simulated data have exact probabilities, dependent labels
(`dependence`: standard deviation of the shared effect of a sample on the logit scale), and an estimated frequency. The
table shows the share of unadjusted p-values below 0.05. It is the level if labels are missing at random, which should
not exceed 0.05, and the power otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from fairfold.core.arrays import Matrix
from fairfold.core.seeds import seed_for
from fairfold.datasets import prepare
from fairfold.evaluation.fold_scores import score_on_folds
from fairfold.missing_labels import scar_tests
from fairfold.missing_labels.plateau import frequency_distribution
from fairfold.models import make_model
from fairfold.splitting import IterativeStratification
from fairfold.weak_labels import mask_positives

CHOSEN_ON = ["flags", "emotions", "CHD_49", "VirusGO"]
OTHERS = ["birds", "foodtruck", "GrampositivePseAAC-repaired"]
CASES = [("random", 0), ("random", 30), ("random", 50), ("random", 70)]
CASES += [(mechanism, 50) for mechanism in ("sample", "group", "difficulty", "rarity")] + [("wrong positives", 50)]


def predictions(model: str, X: Matrix, Y: np.ndarray, fold_of: np.ndarray, seed: int) -> np.ndarray:
    tables = score_on_folds(lambda fold: make_model(model, random_state=seed + fold), X, Y, fold_of, lambda fold: Y)
    return np.clip(tables.predictions.by("average_precision"), 0, 1)


def hidden(Y: np.ndarray, mechanism: str, rate: int, groups: np.ndarray, reference: np.ndarray, seed: int):
    wrong = 0.2 * (mechanism == "wrong positives")
    by = {"mechanism": "random" if wrong else mechanism, "wrong_positives": wrong}
    by |= {"groups": groups if mechanism == "group" else None}
    by |= {"reference": reference if mechanism == "difficulty" else None}
    return mask_positives(Y, rate / 100, **by, random_state=seed)


def row_of(observed: np.ndarray, P: np.ndarray, groups: np.ndarray, **unit: object) -> dict:
    tests = scar_tests(observed, P, frequency_distribution(observed, P).median, groups=groups).set_index("test")
    found = {f"p_{test}": tests.loc[test, "p_value"] for test in ("samples", "groups")}
    return {**unit, **found, **{f"spread_{test}": tests.loc[test, "estimate"] for test in ("samples", "groups")}}


def on_dataset(dataset: str, n_seeds: int) -> list[dict]:
    data, rows = prepare(dataset), []
    Y = np.asarray(data.Y.toarray() if hasattr(data.Y, "toarray") else data.Y)
    for number in range(n_seeds):
        seed = seed_for(0, "scar test", dataset, number) % 2**31
        fold_of = IterativeStratification(random_state=seed).assign(Y)
        groups = np.random.default_rng(seed).integers(0, max(10, len(Y) // 20), len(Y))
        reference = predictions("kernel-ridge", data.X, Y, fold_of, seed)
        for mechanism, rate in CASES:
            observed = hidden(Y, mechanism, rate, groups, reference, seed)
            P = predictions("joint-GB", data.X, observed, fold_of, seed)
            rows.append(row_of(observed, P, groups, data=dataset, mechanism=mechanism, missing_rate=rate))
    return rows


def on_simulated(n_seeds: int, dependence: float) -> list[dict]:
    rows = []
    for number in range(n_seeds):
        seed = seed_for(0, "scar test", "simulated", number) % 2**31
        random = np.random.default_rng(seed)
        z = random.normal(scale=3.5, size=(500, 6)) - 1
        Y = (random.random(z.shape) < expit(z + dependence * random.normal(size=(500, 1)))).astype(np.int8)
        groups = random.integers(0, 25, 500)
        for mechanism, rate in CASES:
            observed = hidden(Y, mechanism, rate, groups, expit(z), seed)
            unit = {"data": f"simulated, dependence {dependence:g}", "mechanism": mechanism, "missing_rate": rate}
            rows.append(row_of(observed, expit(z), groups, **unit))
    return rows


def summary(rows: list[dict]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    cells = table.groupby(["data", "mechanism", "missing_rate"], sort=False)
    found = cells.agg(n=("p_samples", "size"), spread_samples=("spread_samples", "mean"))
    found["spread_groups"] = cells["spread_groups"].mean()
    for test in ("samples", "groups"):
        found[f"rejected_{test}"] = cells[f"p_{test}"].agg(lambda p: (p < 0.05).mean())
    return found.round(3).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="*", default=[*CHOSEN_ON, *OTHERS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--simulated", type=int, default=100)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    tables = []
    for dataset in arguments.datasets:
        tables.append(summary(on_dataset(dataset, arguments.seeds)))
        print(tables[-1].to_string(index=False), flush=True)
    for dependence in (0.0, 1.5) if arguments.simulated else ():
        tables.append(summary(on_simulated(arguments.simulated, dependence)))
        print(tables[-1].to_string(index=False), flush=True)
    if arguments.write:
        pd.concat(tables).to_csv(arguments.write, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
