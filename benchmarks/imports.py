"""Compare the import times of the workflow's scripts with those of NumPy and pandas alone.

    python benchmarks/imports.py [--repeats 5]

The imports of each script run in a separate process, one script after the other. Each number is the minimum of several
runs. *Imports* are the seconds that `python -X importtime` reports. *CPU* are the seconds of the process on all cores,
including its exit, minus those of a process without imports. The ratio uses the CPU seconds. Imports inside functions
are not included: scikit-learn and Numba load when models are fitted, and only once in a batched job.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

from _record import record

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"
PEER = "import numpy, pandas"
_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(WORKFLOW), str(WORKFLOW / "scripts")])}


def imports_of(script: Path) -> str:
    """Return the top-level imports of a script as source code."""
    body = ast.parse(script.read_text(encoding="utf-8")).body
    return "\n".join(ast.unparse(line) for line in body if isinstance(line, (ast.Import, ast.ImportFrom)))


def cpu_seconds(script: str, repeats: int) -> float:
    """Measure the minimum CPU seconds of a new interpreter that runs the script, minus an empty one."""
    return min(_once(script) for _ in range(repeats)) - min(_once("") for _ in range(repeats))


def _once(script: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env=_ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_seconds(script: str, repeats: int) -> float:
    """Measure the minimum total import time that a new interpreter reports."""
    return min(_total_import_seconds(script) for _ in range(repeats))


def _total_import_seconds(script: str) -> float:
    command = [sys.executable, "-X", "importtime", "-c", script]
    output = subprocess.run(command, check=True, env=_ENVIRONMENT, stderr=subprocess.PIPE, text=True).stderr
    return sum(map(int, re.findall(r"^import time: +(\d+) \|", output, re.MULTILINE))) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(f"{'script':28s}{'imports':>9s}{'CPU':>7s}{'ratio':>7s}")
    scripts = sorted(path for path in (WORKFLOW / "scripts").glob("*.py") if path.name != "adapter.py")
    texts = {PEER: PEER, **{path.stem: imports_of(path) for path in scripts}}
    seconds = {name: (import_seconds(text, repeats), cpu_seconds(text, repeats)) for name, text in texts.items()}
    peer = seconds[PEER][1]
    for name, (imports, cpu) in sorted(seconds.items(), key=lambda item: item[1]):
        print(f"{name:28s}{imports:9.2f}{cpu:7.2f}{cpu / peer:7.2f}")
        if name != PEER:
            record(f"{name}, NumPy and pandas alone", peer / cpu)


if __name__ == "__main__":
    main()
