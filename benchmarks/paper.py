"""Store the results of a run of config/paper.yaml, complete or partial, in resources/regenerated.

    snakemake --cores 2 --configfile config/paper.yaml --directory ../paper         # a night; it may be interrupted
    python benchmarks/paper.py ../paper/results --commit 0123abc [--machine "..."]

The script keeps these files:

- the tables that the report shows for the five papers or reads for their figures. Large tables are rounded to five
  digits and packed; the largest ones and raw measurements of samples are omitted.
- `published.csv`: every printed number next to our result, with the command that recomputes ours.
- files of other runs, such as `split_stand_ins.csv` of `benchmarks/stand_ins.py`: splits of stand-ins for matrices
  that could not be downloaded. The script does not change them.
- `parts.csv`: jobs, CPU seconds and memory of each rule.
- `unavailable.csv` and `failures.csv`: unavailable data and results without a number, with the reasons.
- `run.csv`: seed, versions and machine.

Results that the run has not computed yet are omitted.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairfold.core.config import load_yaml
from fairfold.core.files import read_json
from fairfold.core.versions import gather_versions
from fairfold.datasets import load_catalog, prepare
from fairfold.papers.published.comparison import COMPARISONS, OUR_TABLES, compare_published
from fairfold.planning.check import check_study
from fairfold.planning.parts import leave_out
from fairfold.report.contents import figures_of, load_contents, select
from fairfold.report.costs import gather_costs
from fairfold.report.failures import failures_of
from fairfold.report.published import published_sentences
from fairfold.report.results import read_results
from fairfold.settings import Study
from fairfold.splitting.comparison import describe_labels

ROOT = Path(__file__).parents[1]
PUBLISHED, KEPT = ROOT / "resources" / "published", ROOT / "resources" / "regenerated"
STAND_INS = KEPT / "split_stand_ins.csv"
# Files of other runs, which docs/reference/numbers.md names. They stay.
OTHER_RUNS = ("*stand_in*.csv*", "win_percentage/searches.csv", "win_percentage/random_labels.csv")
COMMAND = "snakemake --cores 2 results/{} --configfile config/paper.yaml"
STAND_IN_COMMAND = f"python -u benchmarks/stand_ins.py {STAND_INS.relative_to(ROOT)}"
SECTIONS = ("splitting", "weak-labels", "cross-testing", "win-percentage", "ecoc")  # report sections, one per paper
DATA = "win_percentage/*/samples.csv"  # input data, not results
LARGEST, LARGEST_PACKED = 150_000, 130_000  # bytes; larger tables are packed or omitted
# Tables that the comparisons with the papers read, by their names there
COMPARED = OUR_TABLES | {
    "cross_testing": "tables/cross_testing_fig[0-9].csv",
    "split_seconds": "timings/quality_against_seconds.csv",
    "scores": "weak_labels/*/rate-*/scores_*.csv",
    "fit_seconds": "timings/models/*_*_*.csv",
    "ecoc_values": "ecoc/*/values.csv",
}


def published_beside_ours(results: Path, study: Study) -> pd.DataFrame:
    """Return every printed number, our result if the run has computed it, and the command for it."""
    printed = {name: pd.read_csv(PUBLISHED / f"{name}.csv", dtype=str, keep_default_na=False) for name in COMPARISONS}
    files = {name: sorted(results.glob(pattern)) for name, pattern in COMPARED.items()}
    ours = {name: pd.concat(map(pd.read_csv, paths), ignore_index=True) for name, paths in files.items() if paths}
    ours["sizes"] = pd.DataFrame([{"dataset": name, **entry.expected} for name, entry in load_catalog().items()])
    splits = pd.read_csv(STAND_INS)
    ours["stand_ins"] = splits
    sizes = [{"dataset": name, **describe_labels(prepare(name).Y)} for name in splits["dataset"].unique()]
    ours["stand_in_matrices"] = pd.DataFrame(sizes)
    both = compare_published(printed, ours, study)
    is_lacking = both["note"].str.match("not computed here|no number here|no dataset here")
    is_left_out = both["note"].str.contains("which is left out", regex=False)
    is_there = both["file"].map(lambda file: (results / file).exists())
    both.loc[is_lacking & ~is_left_out & ~is_there, "note"] = "the run has not come to it"
    command = both.pop("file").map(COMMAND.format)
    is_stand_in = both["note"].str.contains("stand-in", regex=False)
    return both.assign(command=command.mask(is_stand_in, STAND_IN_COMMAND))


def tables_to_keep(results: Path, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the existing tables that the report shows for the papers or reads for their figures."""
    contents = [section for section in load_contents() if section.id in SECTIONS]
    there = [str(path.relative_to(results)) for path in results.rglob("*.csv")]
    shown = [item.table for section in contents for item in section.items if item.table]
    read = [table for figure in figures_of(contents, config, there) for table in figure.reads]
    for pattern in dict.fromkeys([*shown, *read, "legend.csv"]):
        yield from (path for path, _ in select(pattern, there) if not Path(path).match(DATA))


def failures(results: Path) -> pd.DataFrame:
    """Return the results that have a reason instead of a number, by table."""
    entries = (item for section in load_contents() for item in section.items if item.failures)
    patterns = [*next(entries).failures, COMPARED["scores"]]
    tables = [read_results(path) for pattern in patterns for path in sorted(results.glob(pattern))]
    found = [failures_of(table) for table in tables if (table["reason"] != "").any()]
    return pd.concat([pd.DataFrame(columns=["dataset", "times", "reason"]), *found]).drop_duplicates()


def run_of(config: Mapping[str, Any], commit: str, machine: str) -> pd.DataFrame:
    """Return the origin of the numbers, one row per fact."""
    versions = gather_versions().set_axis(["what", "value"], axis=1)
    first = pd.DataFrame([("seed", config["seed"]), ("commit", commit)], columns=["what", "value"])
    if machine:
        versions.loc[versions["what"] == "machine", "value"] = machine
    return pd.concat([first, versions], ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="folder of results of the run")
    parser.add_argument("--commit", required=True, help="of the code that ran")
    parser.add_argument("--config", type=Path, default=ROOT / "config" / "paper.yaml", help="of the run")
    parser.add_argument("--machine", default="", help="what it ran on, where this is not all of it")
    options = parser.parse_args()
    config, reasons = load_yaml(options.config), read_json(options.results / "unavailable.json")
    study, rows = leave_out(check_study(config), reasons)
    config, left_out = study.model_dump(by_alias=True), pd.DataFrame(rows, columns=["part", "dataset", "reason"])
    published = published_beside_ours(options.results, study)
    made = {
        "published": published,
        "parts": gather_costs(options.results / "benchmarks").round(1),
        "failures": failures(options.results),
        "unavailable": left_out,
        "run": run_of(config, options.commit, options.machine),
    }
    for path in KEPT.rglob("*.csv*"):
        if not any(path.match(pattern) for pattern in OTHER_RUNS):
            path.unlink()
    for table in dict.fromkeys(tables_to_keep(options.results, config)):
        source, target = options.results / table, KEPT / table
        content = source.read_bytes()
        if len(content) > LARGEST:
            rounded = pd.read_csv(source, dtype={"reason": str}).to_csv(index=False, float_format="%.5g").encode()
            target, content = target.with_suffix(".csv.gz"), gzip.compress(rounded, mtime=0)
        if len(content) > LARGEST_PACKED:
            print(f"{table} is left out: {source.stat().st_size / 1e6:.1f} MB, {len(content) / 1e6:.1f} packed")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for name, table in made.items():
        table.to_csv(KEPT / f"{name}.csv", index=False, float_format="%.7g")  # the smallest printed one is 2.2197e-14
    print(*published_sentences(published), sep="\n")
    print(f"{sum(path.stat().st_size for path in KEPT.rglob('*.csv*')) / 1e6:.2f} MB in {KEPT}")


if __name__ == "__main__":
    main()
