"""Compare the reader of tables with pandas.

    python benchmarks/reading.py [--rows 200000] [--columns 50] [--rounds 3]

`ours`: CPU seconds of `fairfold.tables.read`, with its checks, of a file of numbers. `pandas`: those of
`pandas.read_csv`. Both are the minimum of all rounds, which alternate between the sides. The numbers must be equal.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from _record import record

from fairfold.tables import read


def seconds_of(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(options.rows, options.columns))
    seconds: dict[str, list[float]] = {"ours": [], "pandas": []}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.csv"
        pd.DataFrame(X).add_prefix("x").to_csv(path, index=False)
        sides = {"ours": lambda: read(path).values, "pandas": lambda: pd.read_csv(path).to_numpy()}
        for _ in range(options.rounds):
            for name, run in sides.items():
                taken, numbers = seconds_of(run)
                seconds[name].append(taken)
                np.testing.assert_array_equal(numbers, X)
    best = {name: min(times) for name, times in seconds.items()}
    print(f"{options.rows} x {options.columns}: " + ", ".join(f"{name} {taken:.2f} s" for name, taken in best.items()))
    print(f"ours takes {best['ours'] / best['pandas']:.2f} times the seconds of pandas")
    record("numbers", best["pandas"] / best["ours"])


if __name__ == "__main__":
    main()
