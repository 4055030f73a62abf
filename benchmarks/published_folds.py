"""Measure two choices of the published comparison of splitters that the text does not state.

    python benchmarks/published_folds.py resources/measured/published_folds.csv [--repeats 10]

OptiSplit on wiki10_31k takes labels with equal losses in the order of their columns or in random order. Stratified
sampling lets all remaining folds absorb the drift of fold sizes, or the last one only.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from fairfold.datasets import prepare
from fairfold.splitting import OptiSplit, StratifiedSampling
from fairfold.splitting.comparison import MEASURES

CASES = [
    *(("wiki10_31k", f"OptiSplit-{name}", "ties", value) for name in ("DCP", "rLD") for value in ("last", "random")),
    *((data, "SS", "drift", value) for data in ("bibtex", "delicious") for value in ("shared", "last")),
]
COLUMNS = ["dataset", "splitter", "option", "measure", "printed", "mean", "standard_error", "n_repeats"]
PRINTED = Path(__file__).parents[1] / "resources" / "published" / "splitting_table2.csv"


def measured(dataset: str, splitter: str, option: str, value: str, repeats: int) -> pd.DataFrame:
    """Return the mean of each measure over splits with different seeds, next to the printed one."""
    make = StratifiedSampling
    options = {option: value}
    if splitter != "SS":
        make, options = OptiSplit, {"objective": splitter.removeprefix("OptiSplit-").lower(), **options}
    Y = prepare(dataset).Y
    folds = [make(random_state=seed, **options).assign(Y) for seed in range(repeats)]
    rows = []
    for measure, compute in MEASURES.items():
        values = [compute(fold_of, Y) for fold_of in folds]
        error = np.std(values, ddof=1) / np.sqrt(repeats)
        rows.append((dataset, splitter, f"{option}={value}", measure, np.mean(values), error, repeats))
    table = pd.DataFrame(rows, columns=[name for name in COLUMNS if name != "printed"])
    printed = pd.read_csv(PRINTED).rename(columns={"value": "printed"})
    return table.merge(printed, on=["dataset", "splitter", "measure"])[COLUMNS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="CSV file")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    tables = []
    for case in CASES:
        tables.append(measured(*case, options.repeats))
        print(tables[-1].to_string(index=False), flush=True)
    pd.concat(tables).to_csv(options.output, index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
