"""Split stand-ins for the matrices of Table 1 of Tiittanen, Holm & Törönen (2021) that cannot be downloaded.

    python benchmarks/stand_ins.py resources/regenerated/split_stand_ins.csv [--repeats 10] [--seconds 1800]

Each split runs in a process of its own. The script appends one row per split with measures, CPU seconds and peak memory
(MiB, data included), or the reason why there is none. Rows that the file already has are not repeated.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
from pathlib import Path

from fairfold.core.usage import max_rss, reset_peak_memory
from fairfold.datasets import prepare
from fairfold.errors import StudyError
from fairfold.splitting.comparison import MEASURES
from fairfold.splitting.methods import repeated_splits

DATA = ("GO-CC-like", "GO-MF-like", "GO-BP-like", "mediamill-like")
METHODS = ("random", "PMBSRS", "SS", "IS-first-seen", "OptiSplit-DCP", "OptiSplit-rLD", "IS", "annealed")
METHODS = (*METHODS, "SOIS-first-seen", "SOIS")
COLUMNS = ("dataset", "splitter", "repeat", *MEASURES, "seconds", "peak_memory_mib", "reason")


def split(dataset: str, method: str, repeat: int) -> dict[str, float]:
    """Return the measures and the cost of one split into five folds."""
    Y = prepare(dataset).Y
    reset_peak_memory()
    folds, seconds = repeated_splits(method, Y, 5, 1, seed=repeat, names=("stand-ins", dataset))
    costs = {"seconds": seconds[0], "peak_memory_mib": max_rss()}
    return {name: measure(folds[0], Y) for name, measure in MEASURES.items()} | costs


def try_split(key: tuple[str, str, int], limit: float, gigabytes: float) -> dict[str, object]:
    """Return the row of one split, which runs in another process."""
    command = [sys.executable, __file__, "--only", *map(str, key), "--gigabytes", str(gigabytes)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"reason": f"stopped after {limit:g} s"}
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
        return {"reason": f"more than {gigabytes:g} GB" if "MemoryError" in last[0] else last[0]}
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, nargs="?", help="CSV file of all splits")
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1800, help="time limit of a split, wall time")
    parser.add_argument("--gigabytes", type=float, default=8, help="memory limit of a split")
    parser.add_argument("--only", nargs=3, metavar=("DATASET", "METHOD", "REPEAT"), help="one split, printed as JSON")
    options = parser.parse_args()
    if options.only:
        limit = int(options.gigabytes * 1e9)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        dataset, method, repeat = options.only
        print(json.dumps(split(dataset, method, int(repeat))))
        return
    if options.output is None:
        raise StudyError("stand_ins.py: the output file is missing. Name a CSV file.")
    is_new = not options.output.exists()
    with options.output.open("a+", newline="", encoding="utf-8") as stream:
        stream.seek(0)
        there = [(row["dataset"], row["splitter"], row["repeat"], row["reason"]) for row in csv.DictReader(stream)]
        known, failed = {row[:3] for row in there}, {row[:2] for row in there if row[3]}
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if is_new:
            table.writeheader()
        for repeat in range(options.repeats):
            for key in [(dataset, method) for dataset in options.data for method in options.methods]:
                if (*key, str(repeat)) in known or key in failed:
                    continue
                row = try_split((*key, repeat), options.seconds, options.gigabytes)
                if "reason" in row:
                    failed.add(key)
                table.writerow(dict(zip(COLUMNS, (*key, repeat), strict=False)) | row)
                stream.flush()


if __name__ == "__main__":
    main()
