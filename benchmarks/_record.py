"""Record the results of a benchmark for watch.py."""

from __future__ import annotations

import json
import os
from pathlib import Path

FILE = "FAIRFOLD_BENCHMARK_RECORD"  # environment variable with the path of the record
RATIO, EXPONENT = "ratio", "exponent"


def record(case: str, value: float, kind: str = RATIO) -> None:
    """Append a speed ratio (higher is better) or a growth exponent (lower is better) if a record is requested."""
    if path := os.environ.get(FILE):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"case": case, "kind": kind, "value": float(value)}) + "\n")
