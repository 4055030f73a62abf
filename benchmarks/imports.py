"""How long scripts of the workflow wait for their imports: CPU seconds, and ratios to NumPy and pandas alone.

    python benchmarks/imports.py [--repeats 5]

Each script's imports run in a process of their own, one after the other; the least of some runs. For what takes long in
one of them, `python -X importtime`. What a script loads when it comes to what needs it is not among them: scikit-learn
and Numba, which take a second, where models are fitted, in a unit of many small jobs once for all of them.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import subprocess
import sys
from pathlib import Path

from _record import record

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"
PEER = "import numpy, pandas"


def imports_of(script: Path) -> str:
    """The imports at a script's top, as a script."""
    body = ast.parse(script.read_text(encoding="utf-8")).body
    return "\n".join(ast.unparse(line) for line in body if isinstance(line, (ast.Import, ast.ImportFrom)))


def cpu_seconds(script: str, repeats: int) -> float:
    """Least CPU seconds of a new interpreter that runs it, less those of one that runs nothing."""
    path = os.pathsep.join([str(WORKFLOW), str(WORKFLOW / "scripts")])
    return min(_once(script, path) for _ in range(repeats)) - min(_once("", path) for _ in range(repeats))


def _once(script: str, path: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": path})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    peer = cpu_seconds(PEER, repeats)
    print(f"{'script':28s}{'seconds':>9s}{'ratio':>7s}\n{PEER:28s}{peer:9.2f}{1:7.2f}")
    scripts = sorted(path for path in (WORKFLOW / "scripts").glob("*.py") if path.name != "adapter.py")
    seconds = {path.stem: cpu_seconds(imports_of(path), repeats) for path in scripts}
    for name, each in sorted(seconds.items(), key=lambda item: item[1]):
        print(f"{name:28s}{each:9.2f}{each / peer:7.2f}")
        record(f"{name}, NumPy and pandas alone", peer / each)


if __name__ == "__main__":
    main()
