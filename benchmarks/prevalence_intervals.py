"""Measure how often intervals of expected prevalences hold the prevalence of a simulated label.

    python benchmarks/prevalence_intervals.py [--tables 50] [--write CSV]

Probabilities of samples with and without the label have one of two pairs of distributions. `calibrated` ones are those
of a calibrated model, with a prevalence of 0.25 in training. `normal` ones are not calibrated, with a prevalence of 0.2
in training. Rows of a new table have the label with another probability, which the interval should hold.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold import __version__
from fairfold.core.seeds import seed_for
from fairfold.evaluation.certified import curve_table
from fairfold.final.prevalence import ExpectedPrevalence

IN_TRAINING = {"calibrated": 0.25, "normal": 0.2}
N_TRAINING, N_NEW, PREVALENCES = (400, 2000), (100, 300, 3000), (0.05, 0.1, 0.25, 0.5, 0.8)


def drawn(kind: str, n_rows: int, prevalence: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a label, and its probabilities. Cubes of uniform numbers are calibrated with the prevalence 0.25."""
    y = (rng.random(n_rows) < prevalence).astype(float)
    if kind == "calibrated":
        return y, rng.beta(1 / 3 + y, 2 - y)
    return y, np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0, 1)


def case(kind: str, n_training: int, n_new: int, prevalence: float, n_tables: int) -> dict:
    found = []
    for number in range(n_tables):
        rng = np.random.default_rng(seed_for(1, kind, n_training, n_new, prevalence, number))
        y, p = drawn(kind, n_training, IN_TRAINING[kind], rng)
        expected = ExpectedPrevalence(curve_table(y[:, np.newaxis], p[:, np.newaxis], ["label"]))
        expected.add(pd.DataFrame({"label": drawn(kind, n_new, prevalence, rng)[1]}))
        found.append(expected.table())
    table = pd.concat(found).dropna(subset=["expected"])
    width = (table["high"] - table["low"]).mean()
    held = table.eval(f"low <= {prevalence} <= high").mean()
    return {"n_tables": len(table), "error": (table["expected"] - prevalence).mean(), "held": held, "width": width}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    cases = pd.DataFrame(
        [*product(IN_TRAINING, N_TRAINING, N_NEW, PREVALENCES)], columns=["kind", "n_training", "n_new", "prevalence"]
    )
    found = pd.DataFrame([case(*each, arguments.tables) for each in cases.itertuples(index=False)])
    table = pd.concat([cases, found.round(4)], axis=1).assign(seed=1, fairfold=__version__)
    print(table.to_string(index=False))
    if arguments.write:
        table.to_csv(arguments.write, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
