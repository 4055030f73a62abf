"""How long scripts of the workflow wait for their imports, beside NumPy and pandas alone.

    python benchmarks/imports.py [--repeats 5]

Each script's imports run in a process of their own, one after the other; the least of some runs. *Imports* are the
seconds that `python -X importtime` says, which also says what takes long in one of them; *CPU* are those of the process
on all cores, with its end, less those of one that imports nothing; the ratio is of the latter. What a script loads when
it comes to what needs it is not among them: scikit-learn and Numba, which take a second, where models are fitted, in a
unit of many small jobs once for all of them.
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
    """The imports at a script's top, as a script."""
    body = ast.parse(script.read_text(encoding="utf-8")).body
    return "\n".join(ast.unparse(line) for line in body if isinstance(line, (ast.Import, ast.ImportFrom)))


def cpu_seconds(script: str, repeats: int) -> float:
    """Least CPU seconds of a new interpreter that runs it, less those of one that runs nothing."""
    return min(_once(script) for _ in range(repeats)) - min(_once("") for _ in range(repeats))


def _once(script: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env=_ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_seconds(script: str, repeats: int) -> float:
    """Least sum of what modules take, as a new interpreter says that is asked for it."""
    return min(_told(script) for _ in range(repeats))


def _told(script: str) -> float:
    command = [sys.executable, "-X", "importtime", "-c", script]
    said = subprocess.run(command, check=True, env=_ENVIRONMENT, stderr=subprocess.PIPE, text=True).stderr
    return sum(map(int, re.findall(r"^import time: +(\d+) \|", said, re.MULTILINE))) / 1e6


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
