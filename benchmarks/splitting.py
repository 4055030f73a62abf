"""Compare our splitters with public ones on the same matrices: CPU seconds, four measures, bounds and ratios.

    python benchmarks/splitting.py [--peers PYTHON] [--data bibtex delicious ...]

Data come from the mirror in FAIRFOLD_MIRROR or are downloaded; the GO-like matrix is generated. Peers need old versions
of NumPy, so they run in the interpreter given by --peers (see requirements-splitting.txt). Missing data and peers that
are missing, fail or exceed --peer-seconds become a line with the reason. Seconds are CPU time of one thread without the
compilation of our kernels, which are cached.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from _record import record

from fairfold.datasets import prepare
from fairfold.errors import DataError
from fairfold.splitting import (
    IterativeStratification,
    OptiSplit,
    PartitionedSampling,
    RandomSplit,
    StratifiedSampling,
    measures,
)
from fairfold.splitting.annealing import default_sweeps

DATA = ("bibtex", "delicious", "wiki10_31k", "GO-BP-like")
PEER_SCRIPT = Path(__file__).with_name("_splitting_peer.py")
PEERS = ("optisplit", "iterative_stratification", "scikit_multilearn", "scikit_multilearn_pairs")
PEER_OF = {
    "OptiSplit": "optisplit",
    "IterativeStratification": "iterative_stratification",
    "IterativeStratification first-seen": "scikit_multilearn",
    "IterativeStratification pairs first-seen": "scikit_multilearn_pairs",
}
COLUMNS = ("data", "method", "cpu_seconds", "ED", "LD", "DCP", "rLD", "rLD/bound", "note")
LONG = 12  # multiple of the default sweeps
PAIRS_AT_MOST = 20_000_000
OPTISPLIT_CELLS_AT_MOST = 2_000_000_000  # labels squared times folds: losses per attempt


def load(name: str) -> sp.csr_array:
    """Load the labels of a dataset without labels that never occur."""
    Y = sp.csr_array(prepare(name).Y)
    return sp.csr_array(Y[:, np.flatnonzero(Y.sum(axis=0))], dtype=np.int8)


def our_methods(Y: sp.csr_array, n_splits: int) -> dict:
    """Return splitters by name, without those that would take hours or exceed the memory."""
    sweeps = LONG * default_sweeps(Y.nnz)
    methods = {
        "RandomSplit": RandomSplit(n_splits),
        "PartitionedSampling": PartitionedSampling(n_splits),
        "StratifiedSampling": StratifiedSampling(n_splits),
        "IterativeStratification": IterativeStratification(n_splits),
        "IterativeStratification first-seen": IterativeStratification(n_splits, label_order="first-seen"),
        "IterativeStratification pairs": IterativeStratification(n_splits, order=2),
        "IterativeStratification pairs first-seen": IterativeStratification(
            n_splits, order=2, label_order="first-seen"
        ),
        "OptiSplit": OptiSplit(n_splits),
        "anneal": IterativeStratification(n_splits, refine="anneal"),
        f"anneal, {LONG} times longer": IterativeStratification(n_splits, refine="anneal", sweeps=sweeps),
    }
    lengths = np.diff(Y.indptr).astype(np.int64)
    if (lengths * (lengths - 1) // 2).sum() > PAIRS_AT_MOST:
        del methods["IterativeStratification pairs"], methods["IterativeStratification pairs first-seen"]
    if Y.shape[1] ** 2 * n_splits > OPTISPLIT_CELLS_AT_MOST:
        del methods["OptiSplit"]
    return methods


def run_ours(splitter: object, Y: sp.csr_array, seed: int) -> tuple[float, np.ndarray]:
    splitter.random_state = seed
    started = time.process_time()
    fold_of = splitter.assign(Y)
    return time.process_time() - started, fold_of


def run_peer(python: str, peer: str, Y: sp.csr_array, n_splits: int, seed: int, limit: float) -> tuple:
    """Return CPU seconds and folds, or NaN and the reason of the failure."""
    with tempfile.TemporaryDirectory() as folder:
        labels, folds = Path(folder) / "labels.npz", Path(folder) / "folds.npy"
        sp.save_npz(labels, sp.csr_matrix(Y))
        command = [python, str(PEER_SCRIPT), peer, str(labels), str(n_splits), str(seed), str(folds)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return np.nan, f"stopped after {limit:g} s"
        except OSError as error:
            return np.nan, f"not run: {error}"
        if result.returncode:
            return np.nan, result.stderr.strip().splitlines()[-1] if result.stderr else f"exit {result.returncode}"
        return float(result.stdout.split()[-1]), np.load(folds)


def row(name: str, method: str, seconds: float, outcome: np.ndarray | str, Y: sp.csr_array, bounds: dict) -> dict:
    line = {"data": name, "method": method, "cpu_seconds": seconds}
    if isinstance(outcome, str):
        return {**line, "note": outcome}
    rld = measures.relative_label_distribution(outcome, Y)
    return {
        **line,
        "ED": measures.example_distribution(outcome, Y),
        "LD": measures.label_distribution(outcome, Y),
        "DCP": measures.delta_class_proportion(outcome, Y),
        "rLD": rld,
        "rLD/bound": rld / bounds["rLD"],
        "note": "",
    }


def compare(name: str, arguments: argparse.Namespace) -> list[dict]:
    try:
        Y = load(name)
    except DataError as error:
        return [{"data": name, "method": "none", "note": str(error).splitlines()[0]}]
    k, seed = arguments.n_splits, arguments.seed
    bounds = {key: measures.lower_bound(Y, k, key.lower()) for key in ("ED", "DCP", "rLD")}
    lines = [{"data": name, "method": f"bound, {Y.shape[0]} x {Y.shape[1]}", **bounds, "rLD/bound": 1.0, "note": ""}]
    for method, splitter in our_methods(Y, k).items():
        lines.append(row(name, method, *run_ours(splitter, Y, seed), Y, bounds))
    for peer in PEERS:
        if arguments.peers is None:
            seconds, outcome = np.nan, "skipped: no interpreter with the peers, see --peers"
        else:
            seconds, outcome = run_peer(arguments.peers, peer, Y, k, seed, arguments.peer_seconds)
        lines.append(row(name, f"peer {peer}", seconds, outcome, Y, bounds))
    return lines


def speed_ups(table: pd.DataFrame) -> pd.DataFrame:
    """Compute the speed-up over the peer with the same method if both finished."""
    seconds = table.set_index(["data", "method"])["cpu_seconds"]
    found = [
        {
            "data": name,
            "method": ours,
            "peer": peer,
            "times_faster": seconds[name, f"peer {peer}"] / seconds[name, ours],
        }
        for name in table["data"].unique()
        for ours, peer in PEER_OF.items()
        if (name, ours) in seconds and seconds.get((name, f"peer {peer}"), np.nan) > 0
    ]
    return pd.DataFrame(found)


def compile_kernels() -> None:
    """Run each splitter once on small data to exclude compilation from the timings."""
    Y = sp.csr_array((np.random.default_rng(0).random((60, 8)) < 0.3).astype(np.int8))
    for splitter in our_methods(Y, 2).values():
        splitter.assign(Y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--n-splits", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter of the environment that has the peers")
    parser.add_argument("--peer-seconds", type=float, default=300, help="time limit for each peer")
    parser.add_argument("--output", type=Path, help="write the table to this CSV file too")
    arguments = parser.parse_args()
    compile_kernels()
    table = pd.DataFrame([line for name in arguments.data for line in compare(name, arguments)], columns=COLUMNS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report = [table.to_string(index=False, na_rep="", float_format="{:.5g}".format)]
    ratios = speed_ups(table)
    for pair in ratios.itertuples():
        record(f"{pair.data}: {pair.method}, {pair.peer}", pair.times_faster)
    if len(ratios):
        report.append(ratios.to_string(index=False, float_format="{:.0f}".format))
    report.append(f"peak memory {peak:.2f} GB")
    sys.stdout.write("\n\n".join(report) + "\n")
    if arguments.output:
        table.to_csv(arguments.output, index=False)


if __name__ == "__main__":
    main()
