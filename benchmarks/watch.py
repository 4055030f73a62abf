"""Benchmarks of speed, beside what they gave last: one table of ratios to peers and of exponents of growth.

    python benchmarks/watch.py [--only forests growth ...] [--keep]

A ratio is how many times as fast ours is as a peer on the same input, in the same run; an exponent is the e of seconds
~ size^e. Both hold on other machines, where seconds do not; nothing else may run. What lost more than a fifth of its
ratio, or grows faster by .2, is printed in red, and is measured once more before that. `--keep` writes the table to
resources/measured/benchmarks.csv, in place of the rows that it has of the same benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from _record import EXPONENT, FILE, RATIO

from fairfold import __version__

HERE = Path(__file__).parent
KEPT = HERE.parent / "resources" / "measured" / "benchmarks.csv"
BENCHMARKS = {
    "forests": ["forests.py", "--only", "growth", "--data", "yeast", "emotions", "scene"],
    "sparse features": ["forests.py", "--only", "wide", "--n-trees", "20", "--repeats", "1"],
    "cross-testing": ["cross_testing.py", "--only", "ratio"],
    "win percentage": ["win_percentage.py"],
    "codes": ["ecoc.py"],
    "imports": ["imports.py", "--repeats", "2"],
    "growth": ["scale.py", "--only", "growth"],
}
KEYS = ["benchmark", "case", "kind"]
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
LOST, STEEPER = 0.2, 0.2
RED, PLAIN = "\033[31m", "\033[0m"


def measure(name: str) -> pd.DataFrame:
    """What a benchmark records; what it prints goes to the screen."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as stream:
        script, *options = BENCHMARKS[name]
        environment = {**os.environ, **ONE_THREAD, FILE: stream.name}
        subprocess.run([sys.executable, str(HERE / script), *options], check=True, env=environment)
        rows = [json.loads(line) for line in stream]
    found = pd.DataFrame(rows).drop_duplicates("case", keep="last").assign(benchmark=name)
    return found[[*KEYS, "value"]]


def better(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The better value of each case: other work on the machine makes numbers worse only."""
    values = first.merge(second, on=KEYS, suffixes=("", "_again"))
    pair = values[["value", "value_again"]]
    best = np.where(values["kind"] == RATIO, pair.max(axis=1), pair.min(axis=1))
    return values.assign(value=best)[[*KEYS, "value"]]


def beside(found: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Columns ``KEYS, value, kept, change, worse``: ratios change by a factor, exponents by a difference."""
    table = found.merge(kept[[*KEYS, "value"]].rename(columns={"value": "kept"}), on=KEYS, how="left")
    is_exponent = table["kind"] == EXPONENT
    table["change"] = np.where(is_exponent, table["value"] - table["kept"], table["value"] / table["kept"])
    return table.assign(worse=np.where(is_exponent, table["change"] > STEEPER, table["change"] < 1 - LOST))


def lines_of(table: pd.DataFrame, coloured: bool) -> list[str]:
    width = max(table["case"].str.len().max(), 4)
    lines = [f"{'benchmark':17s}{'case':{width}s}{'kind':>10s}{'now':>10s}{'kept':>10s}{'change':>10s}"]
    for row in table.itertuples():
        change = "" if np.isnan(row.change) else f"{row.change:+.2f}" if row.kind == EXPONENT else f"x {row.change:.2f}"
        kept = "" if np.isnan(row.kept) else f"{row.kept:,.2f}"
        line = f"{row.benchmark:17s}{row.case:{width}s}{row.kind:>10s}{row.value:10,.2f}{kept:>10s}{change:>10s}"
        lines.append(f"{RED}{line}{PLAIN}" if row.worse and coloured else line + " worse" * row.worse)
    return lines


def keep(found: pd.DataFrame, kept: pd.DataFrame, path: Path) -> None:
    said = {"version": __version__, "python": platform.python_version(), "machine": platform.machine()}
    found = found.assign(**said, cores=os.cpu_count(), date=datetime.now(UTC).date().isoformat())
    others = kept[~kept["benchmark"].isin(found["benchmark"])]
    table = pd.concat([others, found]) if len(others) else found
    table.sort_values(KEYS, kind="stable").to_csv(path, index=False, float_format="%.4g")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--keep", action="store_true", help="write the table")
    options = parser.parse_args()
    kept = pd.read_csv(KEPT) if KEPT.exists() else pd.DataFrame(columns=[*KEYS, "value"])
    parts = []
    for name in options.only:
        print(f"== {name}", flush=True)
        found = measure(name)
        if beside(found, kept)["worse"].any():
            found = better(found, measure(name))
        parts.append(found)
    table = beside(pd.concat(parts), kept)
    print("\n".join(lines_of(table, sys.stdout.isatty())))
    if options.keep:
        keep(table[[*KEYS, "value"]], kept, KEPT)


if __name__ == "__main__":
    main()
