"""Run all speed benchmarks and compare them with stored results: ratios to peers and exponents of growth.

    python benchmarks/watch.py [--only forests growth ...] [--peers PYTHON] [--keep]

A ratio is the speed-up over a peer on the same input in the same run. An exponent is the e of seconds ~ size^e. Both
are comparable across machines, unlike seconds, if no other work runs. A case is printed in red if its ratio falls by
more than a fifth or its exponent grows by 0.2; it is measured twice before that. A stored case that is not found,
because a benchmark failed or dropped it, is red too. The exit code is 1 if any case is red.

The table is written to .cache/benchmarks.csv. With `--keep`, it replaces the rows of the same benchmarks in
resources/measured/benchmarks.csv. Peers of the splitters need a separate interpreter: `--peers`, see
requirements-splitting.txt.
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
LAST = HERE.parent / ".cache" / "benchmarks.csv"
BENCHMARKS = {
    "splitters": ["splitting.py", "--data", "bibtex", "delicious"],
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


def measure(name: str, *more: str) -> pd.DataFrame:
    """Run a benchmark with further options and return its records."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as stream:
        script, *options = [*BENCHMARKS[name], *more]
        environment = {**os.environ, **ONE_THREAD, FILE: stream.name}
        subprocess.run([sys.executable, str(HERE / script), *options], check=True, env=environment)
        rows = [json.loads(line) for line in stream]
    found = pd.DataFrame(rows, columns=["case", "kind", "value"]).drop_duplicates("case", keep="last")
    return found.assign(benchmark=name)[[*KEYS, "value"]]


def measure_beside(name: str, kept: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Run a benchmark, twice if it is worse than stored; return the better records, or none if it fails."""
    try:
        found = measure(name, *more)
        if beside(found, kept)["worse"].any():
            found = better(found, measure(name, *more))
    except subprocess.CalledProcessError as error:
        print(f"{name} failed, with exit code {error.returncode}.", file=sys.stderr)
        return pd.DataFrame(columns=[*KEYS, "value"])
    return found


def better(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the better value of each case, because other work on the machine only makes numbers worse."""
    values = first.merge(second, on=KEYS, suffixes=("", "_again"))
    pair = values[["value", "value_again"]]
    best = np.where(values["kind"] == RATIO, pair.max(axis=1), pair.min(axis=1))
    return values.assign(value=best)[[*KEYS, "value"]]


def beside(found: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Return columns ``KEYS, value, kept, change, worse``; the change is a factor for ratios, else a difference.

    Stored cases that were not found have no value and are not ``worse``; see :func:`is_lost`.
    """
    table = found.merge(kept[[*KEYS, "value"]].rename(columns={"value": "kept"}), on=KEYS, how="outer", sort=True)
    is_exponent = table["kind"] == EXPONENT
    table["change"] = np.where(is_exponent, table["value"] - table["kept"], table["value"] / table["kept"])
    return table.assign(worse=np.where(is_exponent, table["change"] > STEEPER, table["change"] < 1 - LOST))


def is_lost(table: pd.DataFrame) -> pd.Series:
    """Return whether each case is worse or missing."""
    return table["worse"] | table["value"].isna()


def lines_of(table: pd.DataFrame, colored: bool) -> list[str]:
    width = max(table["case"].str.len().max(), 4)
    lines = [f"{'benchmark':17s}{'case':{width}s}{'kind':>10s}{'now':>10s}{'kept':>10s}{'change':>10s}"]
    for row, lost in zip(table.itertuples(), is_lost(table), strict=True):
        change = "" if np.isnan(row.change) else f"{row.change:+.2f}" if row.kind == EXPONENT else f"x {row.change:.2f}"
        now, kept = ("" if np.isnan(value) else f"{value:,.2f}" for value in (row.value, row.kept))
        line = f"{row.benchmark:17s}{row.case:{width}s}{row.kind:>10s}{now:>10s}{kept:>10s}{change:>10s}"
        line += " worse" if row.worse else " not found" if lost else ""
        lines.append(f"{RED}{line}{PLAIN}" if lost and colored else line)
    return lines


def write(found: pd.DataFrame, kept: pd.DataFrame, path: Path) -> None:
    """Write the new rows together with the stored rows of other benchmarks."""
    versions = {"version": __version__, "python": platform.python_version(), "machine": platform.machine()}
    found = found.assign(**versions, cores=os.cpu_count(), date=datetime.now(UTC).date().isoformat())
    others = kept[~kept["benchmark"].isin(found["benchmark"])]
    table = pd.concat([others, found]) if len(others) else found
    path.parent.mkdir(exist_ok=True)
    table.sort_values(KEYS, kind="stable").to_csv(path, index=False, float_format="%.4g")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter that has the peers of the splitters")
    parser.add_argument("--keep", action="store_true", help="write the table to resources/measured")
    options = parser.parse_args()
    kept = pd.read_csv(KEPT) if KEPT.exists() else pd.DataFrame(columns=[*KEYS, "value"])
    parts, measured = [], []
    for name in options.only:
        if name == "splitters" and not options.peers:
            print("== splitters are left out: no interpreter with their peers, see --peers")
            continue
        print(f"== {name}", flush=True)
        measured.append(name)
        parts.append(measure_beside(name, kept, *(["--peers", options.peers] if name == "splitters" else [])))
    if not parts:
        parser.error("nothing is left to measure; name an interpreter with --peers.")
    found = pd.concat(parts)
    table = beside(found, kept[kept["benchmark"].isin(measured)])
    print("\n".join(lines_of(table, sys.stdout.isatty())))
    path = KEPT if options.keep else LAST
    write(found, kept, path)
    print(f"The table is {path.resolve()}")
    return int(is_lost(table).any())


if __name__ == "__main__":
    sys.exit(main())
