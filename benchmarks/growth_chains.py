"""Run whole studies of large simulated tables and record the cost of each stage: processor seconds and peak memory.

    python benchmarks/growth_chains.py {dense,tall,many-labels} --directory FOLDER [--record]

`dense`: 200,000 samples, 50 features and 20 labels, from CSV to report, final model and predictions of new samples.
`tall`: 1,000,000 samples, 20 features and 5 labels, from CSV to the final model `Stack+` and predictions.
`many-labels`: 50,000 samples, 200 features and 5,000 labels in a hierarchy, from svmlight to the report.

Studies run on one core with the default options, and continue in the same folder if they are interrupted. Processes are
sampled twice a second. `--record` writes the stages of a finished or interrupted run to
resources/measured/growth_chains.csv instead of running it. A row of stage `all` contains the whole chain, if it is
finished. Rows with a model have its mean average precision and processor seconds over all folds at a missing rate.
`predict` predicts 5,000 new samples.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import yaml
from growth import ONE_THREAD
from random_intervals import simulated

from fairfold import __version__
from fairfold.core.files import write_table
from fairfold.datasets.generate import gene_ontology_large
from fairfold.metrics.scores import multilabel_scores

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "resources/measured/growth_chains.csv"
SEED, N_NEW = 1, 5000
SIZES = {"dense": (200_000, 50, 20), "tall": (1_000_000, 20, 5), "many-labels": (50_000, 200, 5_000)}
FINAL = "Stack+"
_RULE = re.compile(r"/tmp\w+\.(\w+)\.py")


def write_tables(chain: str, folder: Path) -> list[str]:
    """Write the table and new samples, and return the options of `fairfold study` for them."""
    n, n_features, n_labels = SIZES[chain]
    if chain == "many-labels":
        X, Y, _, _, hierarchy = gene_ontology_large(n, n_labels, n_features, random_state=0)
        labels = np.split(Y.indices, Y.indptr[1:-1])
        with (folder / f"{chain}.svm").open("w") as stream:
            for numbers, values in zip(labels, X, strict=True):
                entries = " ".join(f"{index}:{value:.4g}" for index, value in enumerate(values))
                stream.write(f"{','.join(map(str, numbers))} {entries}\n")
        edges = "".join(f"label_{child},label_{parent}\n" for child, parent in hierarchy.edges)
        (folder / "parents.csv").write_text(f"label,parent\n{edges}")
        return [f"{chain}.svm", "--hierarchy", "parents.csv", "--no-final"]
    X, Y = simulated(n + N_NEW, interactions=False, n_features=n_features, n_labels=n_labels)
    table = pd.DataFrame(X.astype(np.float32), columns=[f"x{feature}" for feature in range(n_features)])
    table[n:].to_csv(folder / "new.csv", index=False, float_format="%.5g")
    labels = [f"label_{label}" for label in range(n_labels)]
    pd.DataFrame(Y[n:], columns=labels).to_csv(folder / "new_labels.csv", index=False)
    table[labels] = Y
    table[:n].to_csv(folder / f"{chain}.csv", index=False, float_format="%.5g")
    return [f"{chain}.csv"]


def watch(command: list[str], folder: Path) -> None:
    """Run a command and append the processor seconds and peak memory of its processes, by rule, to a file."""
    process = psutil.Popen(command, cwd=folder, env={**os.environ, **ONE_THREAD})
    used: dict[int, tuple[str, float, float]] = {}
    while process.poll() is None:
        for child in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error), child.oneshot():  # It may have ended.
                times, mib = child.cpu_times(), child.memory_info().rss / 2**20
                rule = _RULE.search(" ".join(child.cmdline()))
                _, _, peak = used.get(child.pid, ("", 0.0, 0.0))
                used[child.pid] = (rule[1] if rule else "planning", times.user + times.system, max(peak, mib))
        time.sleep(0.5)
    with (folder / "jobs.jsonl").open("a") as stream:
        stream.writelines(f"{json.dumps([command[3], *one])}\n" for one in used.values())
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed.")


def run(chain: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    options = folder / "options.json"
    if not options.exists():
        options.write_text(json.dumps(write_tables(chain, folder)))
    table, *more = json.loads(options.read_text())
    fairfold = [sys.executable, "-m", "fairfold"]
    if chain == "tall":
        dataset = {"path": f"../{table}", "labels": {"prefix": "label_"}}
        study = {"seed": SEED, "data": {"own": {chain: dataset}}, "folds": {"n_splits": 3}}
        study |= {"weak_labels": {"datasets": ["simulated-multilabel"]}, "final": {"datasets": [chain], "model": FINAL}}
        (folder / "study").mkdir(exist_ok=True)
        (folder / "study/study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        fixed = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", "study/study.yaml", "--directory", "study"]
        files = [f"folds/{chain}/annealed/3-folds/repeats-1.npz", f"final/{chain}/model.fairfold"]
        targets = [f"results/{file}" for file in [*files, f"datasets/{chain}.audit.csv"]]
        watch([sys.executable, "-m", "snakemake", *targets, *fixed, "--cores", "1"], folder)
    else:
        watch([*fairfold, "study", table, "--labels", "label_", "-d", "study", "--cores", "1", *more], folder)
    if (final := folder / f"study/results/final/{chain}").exists():
        watch([*fairfold, "predict", str(final), "new.csv", "-o", "predictions.csv"], folder)


def stages(chain: str, folder: Path) -> pd.DataFrame:
    """Return a row per stage and model of a run."""
    jobs = pd.read_json(folder / "jobs.jsonl", lines=True)
    jobs.columns = ["command", "stage", "seconds", "mib"]
    jobs.loc[jobs["command"] == "predict", "stage"] = "predict"
    by_stage = jobs.groupby("stage", sort=False)
    rows = by_stage.agg(jobs=("mib", "size"), seconds=("seconds", "sum"), mib=("mib", "max")).reset_index()
    total = {"stage": "all", "jobs": len(jobs), "seconds": jobs["seconds"].sum(), "mib": jobs["mib"].max()}
    results = folder / "study/results"
    is_finished = (results / "report.html").exists() or chain == "tall"
    tables = [rows, pd.DataFrame([total] * is_finished)]
    if (predicted := folder / "predictions.csv").exists():
        Y, P = pd.read_csv(folder / "new_labels.csv"), pd.read_csv(predicted)
        P = P[[f"probability_{label}" for label in Y]].to_numpy()
        score = multilabel_scores(Y.to_numpy(), P, metrics=["average_precision"])["average_precision"]
        rows.loc[rows["stage"] == "predict", "average_precision"] = round(score, 4)
    for path in sorted(results.glob("weak_labels/*/rate-*/scores_*.csv")):
        scores, part = pd.read_csv(path), path.stem.removeprefix("scores_")
        dataset, rate = path.parts[-3], path.parts[-2].removeprefix("rate-")
        took = pd.read_csv(results / f"timings/models/{dataset}_{rate}_{part}.csv").groupby("model")
        final = scores.query("is_final and metric == 'average_precision'").groupby("model")["value"].mean()
        found = pd.DataFrame({"seconds": took["seconds"].sum(), "mib": took["max_rss"].max()})
        found = found.assign(average_precision=final.round(4), missing_rate=int(rate), stage="train_and_score", jobs=1)
        tables.append(found.reset_index())
    n, n_features, n_labels = SIZES[chain]
    sizes = {"chain": chain, "rows": n, "features": n_features, "labels": n_labels}
    table = pd.concat(tables, ignore_index=True).assign(**sizes, version=__version__, seed=SEED)
    columns = [*sizes, "stage", "model", "missing_rate", "jobs", "seconds", "mib", "average_precision"]
    table[["jobs", "missing_rate"]] = table.reindex(columns=["jobs", "missing_rate"]).astype("Int64")
    table["mib"] = table["mib"].round().astype(int)
    return table.round({"seconds": 1}).reindex(columns=[*columns, "version", "seed"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chain", choices=SIZES)
    parser.add_argument("--directory", type=Path, required=True, help="folder of the table and the study")
    parser.add_argument("--record", action="store_true", help="write the stages of a run to resources/measured")
    options = parser.parse_args()
    if not options.record:
        run(options.chain, options.directory.resolve())
        return
    found = stages(options.chain, options.directory)
    if FILE.exists():
        known = pd.read_csv(FILE).astype({"missing_rate": "Int64"})
        found = pd.concat([known[known["chain"] != options.chain], found])
    write_table(found.sort_values("chain", kind="stable"), FILE)


if __name__ == "__main__":
    main()
