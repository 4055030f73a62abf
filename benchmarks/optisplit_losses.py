"""Compare OptiSplit, which computes the losses that a move changes, with the same search that recomputes all losses.

    python benchmarks/optisplit_losses.py [--data wiki10_31k GO-BP-like]

Both sides run in one process, from the same start, and must return the same folds. Seconds are CPU time.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from _record import record

from fairfold.datasets import prepare
from fairfold.splitting import OptiSplit, optisplit

SPARSE = optisplit._SPARSE


class Plain(optisplit._Search):
    """Recompute every loss and the whole order of the labels at each attempt."""

    def _losses_after(self, *_: object) -> np.ndarray:
        return self._losses_of(slice(None))

    def _label_at(self, place: int) -> int:
        loss = -np.partition(-self._losses, place)[place]
        equal = np.flatnonzero(self._losses == loss)
        return equal[np.count_nonzero(self._losses > loss) - place - 1]


def run(search: type, Y: object, objective: str) -> tuple[float, np.ndarray]:
    optisplit._Search, optisplit._SPARSE = search, np.inf if search is Plain else SPARSE
    started = time.process_time()
    fold_of = OptiSplit(objective=objective, random_state=0).assign(Y)
    return time.process_time() - started, fold_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["wiki10_31k", "GO-BP-like"])
    options = parser.parse_args()
    updating = optisplit._Search
    for name in options.data:
        Y = prepare(name).Y
        for objective in optisplit.OBJECTIVES:
            run(updating, np.eye(9, dtype=int), objective)  # loads compiled code
            (plain, expected), (seconds, folds) = run(Plain, Y, objective), run(updating, Y, objective)
            np.testing.assert_array_equal(folds, expected)
            print(f"{name} {objective}: {plain:.2f} s, {seconds:.2f} s, ratio {plain / seconds:.2f}", flush=True)
            record(f"OptiSplit {name} {objective}", plain / seconds)


if __name__ == "__main__":
    main()
