"""Run time and memory of each step of a study."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd


def gather_costs(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """Sum up the benchmark files of Snakemake by step.

    Parameters
    ----------
    folder : str or path-like
        Folder with files ``<step>/<job>.tsv``, or ``<step>.tsv`` for steps with a single job.

    Returns
    -------
    DataFrame
        Columns ``step, jobs, seconds, longest_job_seconds, cpu_seconds, peak_memory_mib``, with one row per step in
        descending order of ``seconds``. ``seconds`` is the wall-clock time, summed over jobs, which may have run in
        parallel. ``peak_memory_mib`` is the largest resident set of a job, in MiB. Values that are missing for short
        jobs are ignored.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        step = path.relative_to(folder).parts[0].removesuffix(".tsv")
        try:
            runs = pd.read_csv(path, sep="\t")
        except ValueError:  # A run that was killed may leave an incomplete file.
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


def costs_sentence(costs: pd.DataFrame) -> str:
    """Summarize the costs of all steps in a sentence.

    Parameters
    ----------
    costs : DataFrame
        Result of :func:`gather_costs`.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> import pandas as pd
    >>> costs = pd.DataFrame({"step": ["fit"], "jobs": [3], "seconds": [60.0], "peak_memory_mib": [200.0]})
    >>> costs_sentence(costs)
    '3 measured jobs took 60 s one after the other, most of it fit (60 s); the largest needed 200 MiB of memory.'
    """
    if costs.empty:
        return "No job of this study has been measured."
    together, longest, memory = costs["seconds"].sum(), costs.iloc[0], costs["peak_memory_mib"].max()
    n_jobs = int(costs["jobs"].sum())
    sentence = (
        f"{n_jobs:,} measured job{'s' if n_jobs != 1 else ''} took {_duration(together)} one after the other, most of "
        f"it {longest['step']} ({_duration(longest['seconds'])})"
    )
    return f"{sentence}." if pd.isna(memory) else f"{sentence}; the largest needed {memory:,.0f} MiB of memory."


def _duration(seconds: float) -> str:
    """Format seconds in a suitable unit."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
