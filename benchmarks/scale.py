"""Measure how the cost of the study grows and project its published scale: CPU seconds of one thread and peak memory.

    python benchmarks/scale.py [--only growth planning projection]

`growth`: each step at doubling sizes, one process per line. The exponent e of seconds ~ size^e is fitted to the last
three sizes. Features, labels and classes are drawn at random, so no download is needed.

`planning`: dry runs of the quick study, and of config/paper.yaml with a growing number of jobs (shorter chunks of
cross-testing).

`projection`: jobs and CPU seconds of config/paper.yaml by part, and the wall time on 2, 16 and 1,000 cores (see
_scale_projection.py for the method). Data come from the mirror in FAIRFOLD_MIRROR or are downloaded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from _record import EXPONENT, record

ROOT = Path(__file__).resolve().parents[1]
WORKER = Path(__file__).with_name("_scale_growth.py")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
DOUBLINGS = {  # method -> axis -> smallest size and number of doublings
    **{name: {"samples": (4000, 3), "labels": (100, 3)} for name in ("annealed", "IS", "OptiSplit-rLD")},
    "RF+ET": {"samples": (800, 3), "labels": (16, 3), "features": (80, 3), "trees": (40, 3)},
    "SLCForest": {"samples": (400, 3), "labels": (8, 3), "features": (40, 3), "trees": (20, 3), "levels": (2, 2)},
    "CaFE-FLA": {"samples": (400, 2), "labels": (8, 2), "features": (40, 3), "trees": (20, 2), "levels": (2, 2)},
    "many labels, RF+ET": {"samples": (4000, 3), "labels": (250, 7), "trees": (20, 3)},
    "many labels, gcForest+": {"samples": (4000, 3), "labels": (250, 7), "levels": (2, 2)},
    "permutations": {"samples": (50, 3), "permutations": (20, 3)},
    "pairs": {"samples": (100, 2), "features": (200, 2)},
}
CHUNKS = (100, 20, 9, 4)  # cross-testing repetitions per job


def measured_lines(method: str, axis: str, sizes: list[int]) -> pd.DataFrame:
    """Measure seconds and memory of one step at growing sizes."""
    command = [sys.executable, str(WORKER), method, axis, *map(str, sizes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
    return pd.DataFrame(map(json.loads, done.stdout.splitlines()))


def exponent(sizes: pd.Series, seconds: pd.Series) -> float:
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])


def growth() -> pd.DataFrame:
    lines = []
    for method, axes in DOUBLINGS.items():
        for axis, (least, n) in axes.items():
            found = measured_lines(method, axis, [least << k for k in range(n + 1)])
            first, last = found.iloc[0], found.iloc[-1]
            lines.append(
                {
                    "step": method,
                    "of": axis,
                    "from": first["size"],
                    "to": last["size"],
                    "cpu_seconds_from": first["seconds"],
                    "cpu_seconds_to": last["seconds"],
                    "exponent": exponent(found["size"], found["seconds"]),
                    "added_mib": last["mib"],
                }
            )
            record(f"{method}, {axis}", lines[-1]["exponent"], EXPONENT)
    return pd.DataFrame(lines)


def dry_run(config: dict, *more: str) -> tuple[dict[str, int], float, float]:
    """Plan a configuration in an empty folder; return jobs by rule, CPU seconds and MiB."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.yaml").write_text(yaml.safe_dump(config))
        options = ["--configfile", "study.yaml", "--cores", "1", "--scheduler", "greedy", "--quiet", "rules", *more]
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", *options]
        with (Path(folder) / "out").open("w+") as stream:
            process = subprocess.Popen(command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            stream.seek(0)
            text = stream.read()
    if process.returncode:
        raise SystemExit(text)
    jobs = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", text, flags=re.MULTILINE)}
    return jobs, used.ru_utime + used.ru_stime, used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def planning() -> pd.DataFrame:
    quick, paper = (yaml.safe_load((ROOT / "config" / name).read_text()) for name in ("config.yaml", "paper.yaml"))
    larger = [{**paper, "cross_testing": {**paper["cross_testing"], "repeats_per_job": n}} for n in CHUNKS]
    found = [dry_run(config) for config in (quick, *larger)]
    table = pd.DataFrame(
        [{"jobs": jobs["total"], "cpu_seconds": seconds, "peak_mib": mib} for jobs, seconds, mib in found]
    )
    table["exponent"] = [*[np.nan] * (len(table) - 1), exponent(table["jobs"], table["cpu_seconds"])]
    return table


def projection() -> pd.DataFrame:
    from _scale_projection import project

    # With the Slurm profile, the jobs of the plan match those of the parts.
    cluster = "--workflow-profile", str(ROOT / "workflow/profiles/slurm")
    n_jobs = dry_run(paper := yaml.safe_load((ROOT / "config/paper.yaml").read_text()), *cluster)[0]["total"]
    return project(paper, n_jobs)


SECTIONS = {"growth": growth, "planning": planning, "projection": projection}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to run")
    for section in parser.parse_args().only:
        table = SECTIONS[section]()
        text = table.to_string(index=False, float_format="{:.3g}".format, na_rep="")
        sys.stdout.write(f"{section}, load {os.getloadavg()[0]:.1f}\n{text}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
