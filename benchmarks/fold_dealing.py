"""Compare stratified and random folds in cross-testing: the effect on accuracy.

    python benchmarks/fold_dealing.py [--repetitions 1000] [--write resources/measured/fold_dealing.csv]

The points of Figures 4 and 6 of Korjus, Hebart & Vicente (2016) are computed without permutation tests, both ways on
the same samples. The table shows accuracy, its standard error, how often the smallest C is chosen, and the published
values.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairfold.core.project import PROJECT
from fairfold.core.seeds import seed_sequence
from fairfold.cross_testing.names import CROSS_TESTING, NESTED, TESTING
from fairfold.cross_testing.plans import holdout_plans, holdout_size, nested_plan
from fairfold.cross_testing.svm_engine import SVMEngine
from fairfold.datasets import Dataset, prepare
from fairfold.papers.cross_testing_experiment import FOLDS, N_SPLITS, draw_rows, published_candidates

DATASETS = {"simulated": "cross_testing_gen", "EEG": "cross_testing_eeg", "spikes": "cross_testing_spikes"}
POINT = ["dataset", "data_size", "procedure", "folds"]


def published_points() -> pd.DataFrame:
    """Return a table with columns ``dataset, data_size, procedure, published``."""
    points = pd.read_csv(PROJECT / "resources/published/cross_testing.csv")
    points = points.query("x_name == 'data_size' and metric == 'accuracy' and dataset in @DATASETS")
    names = {"approach": "procedure", "x": "data_size", "value": "published"}
    return points.rename(columns=names)[["dataset", "data_size", "procedure", "published"]]


def repetitions_of(name: str, data: Dataset, sizes: list[int], n: int) -> pd.DataFrame:
    """Compute the accuracy of each procedure in each repetition and the share of choices of the smallest C."""
    candidates, rows = published_candidates("c-only"), []
    for repetition in tqdm(range(n), desc=name):
        order = draw_rows(data.Y, max(sizes), np.random.default_rng(seed_sequence(0, name, repetition)))
        for size in sizes:
            codes, n_test = np.arange(size) % 2, holdout_size(size, 0.5)
            engine = SVMEngine.for_candidates(candidates, data.X[order[:size]], codes)
            for folds, make_folds in FOLDS.items():
                rng = np.random.default_rng(seed_sequence(0, name, repetition, size))
                testing, crossed = holdout_plans(codes, N_SPLITS, n_test, rng, make_folds)
                plans = {
                    TESTING: testing,
                    CROSS_TESTING: crossed,
                    NESTED: nested_plan(codes, N_SPLITS, rng, make_folds),
                }
                for procedure, plan in plans.items():
                    done = engine.run(plan, np.arange(size)[None])
                    accuracy = done.totals.sum() / (size if procedure == NESTED else n_test)
                    rows.append((name, size, procedure, folds, accuracy, np.mean(done.chosen == 0)))
    return pd.DataFrame(rows, columns=[*POINT, "accuracy", "smallest_c"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--write", type=Path, metavar="CSV")
    options = parser.parse_args()
    published, tables = published_points(), []
    for name, dataset in DATASETS.items():
        sizes = sorted(published.query("dataset == @name")["data_size"].astype(int).unique())
        tables.append(repetitions_of(name, prepare(dataset), sizes, options.repetitions))
    points = (
        pd.concat(tables)
        .groupby(POINT)
        .agg(accuracy=("accuracy", "mean"), standard_error=("accuracy", "sem"), smallest_c=("smallest_c", "mean"))
    )
    points = points.reset_index().merge(published, how="left").round(5)
    print(points.to_string(index=False))
    if options.write:
        points.to_csv(options.write, index=False)


if __name__ == "__main__":
    main()
