"""Where a benchmark writes down what it found, for watch.py."""

from __future__ import annotations

import json
import os
from pathlib import Path

FILE = "FAIRFOLD_BENCHMARK_RECORD"  # environment variable with its path
RATIO, EXPONENT = "ratio", "exponent"


def record(case: str, value: float, kind: str = RATIO) -> None:
    """Add a ratio to a peer's seconds (more is better) or an exponent of growth (less is), where it is asked for."""
    if path := os.environ.get(FILE):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"case": case, "kind": kind, "value": float(value)}) + "\n")
