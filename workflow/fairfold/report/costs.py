"""Time, memory and space that each step of a study took."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd


def gather_costs(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Sum up the benchmarks that Snakemake wrote, one row per step, the longest first.

    Parameters
    ----------
    folder : holds ``<step>/<job>.tsv``, or ``<step>.tsv`` for steps of a single job.

    Returns
    -------
    DataFrame with the columns ``step, jobs, seconds, longest_job_seconds, cpu_seconds, peak_memory_mib``
        Seconds are those of the clock, summed over jobs that may have run side by side. Memory is the largest
        resident set of a job, in MiB. What a job was too short to measure does not count.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        step = path.relative_to(folder).parts[0].removesuffix(".tsv")
        try:
            runs = pd.read_csv(path, sep="\t")
        except ValueError:  # A killed run left an incomplete file, which measures nothing.
            continue
        rows += [{"step": step, **run} for run in runs.to_dict("records")]
    jobs = pd.DataFrame(rows, columns=["step", "s", "cpu_time", "max_rss"])
    measured = jobs.drop(columns="step").apply(pd.to_numeric, errors="coerce")
    table = measured.groupby(jobs["step"]).agg(
        jobs=("s", "size"),
        seconds=("s", "sum"),
        longest_job_seconds=("s", "max"),
        cpu_seconds=("cpu_time", "sum"),
        peak_memory_mib=("max_rss", "max"),
    )
    return table.reset_index().sort_values(["seconds", "step"], ascending=[False, True], ignore_index=True)


def gather_sizes(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Number of files and megabytes of each folder of results.

    Returns
    -------
    DataFrame with the columns ``folder, files, megabytes``, by name
    """
    rows = []
    for each in sorted(path for path in Path(folder).glob("[!.]*") if path.is_dir()):
        sizes = [path.stat().st_size for path in each.rglob("*") if path.is_file()]
        rows.append((each.name, len(sizes), round(sum(sizes) / 1e6, 2)))
    return pd.DataFrame(rows, columns=["folder", "files", "megabytes"])


def costs_sentence(costs: pd.DataFrame) -> str:
    """How much all steps took together."""
    if costs.empty:
        return "No job of this study has been measured."
    together, longest, memory = costs["seconds"].sum(), costs.iloc[0], costs["peak_memory_mib"].max()
    sentence = (
        f"{costs['jobs'].sum():,} measured jobs took {_duration(together)} one after the other, most of it "
        f"{longest['step']} ({_duration(longest['seconds'])})"
    )
    return f"{sentence}." if pd.isna(memory) else f"{sentence}; the largest needed {memory:,.0f} MiB of memory."


def _duration(seconds: float) -> str:
    """Seconds in the unit that a reader would choose."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
