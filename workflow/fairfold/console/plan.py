"""Print what a study would compute: its stages with their trainings, seconds and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fairfold.final.settings import FITS_PER_FOLD
from fairfold.planning.forecast import forecast

if TYPE_CHECKING:
    from fairfold.settings import Study

_COMPARISON, _CURVE, _FINAL, _OTHERS = "train and score models", "learning curve", "final model", "other steps"
_ELSEWHERE = "scores on unlike samples"
_STAGES = {
    "prepare_dataset": "read and audit the data",
    "set_samples_aside": "read and audit the data",
    "describe_study": "read and audit the data",
    "split_dataset": "split into folds",
    "compare_models": _COMPARISON,
    "train_and_score": _COMPARISON,
    "score_by_samples": _CURVE,
    "correct_scores": "missing labels and corrected scores",
    "score_checked_cells": "missing labels and corrected scores",
    "recommend_models": "recommendation",
    "write_answers": "recommendation",
    "score_elsewhere": _ELSEWHERE,
    "fit_final_model": _FINAL,
    "draw_figures": "figures",
    "render_report": "report",
    "pack_figures": "report",
}
_SECONDS_OF_JOB = 2.0  # of processor time, mostly for imports
_SECONDS_OF_TRAINING = 0.3  # at least, of a small table


def plan_lines(jobs: Mapping[str, int], study: Study, sizes: tuple[int, int, int] | None) -> Iterator[str]:
    """Describe the jobs of a study by stage.

    Parameters
    ----------
    jobs : mapping of str to int
        Number of jobs of each rule.
    study : Study
        Checked configuration.
    sizes : tuple of int or None
        Number of samples, features and labels of the only dataset. None if they are unknown.

    Yields
    ------
    str
        A line.
    """
    n_jobs = {stage: n for stage, n in _jobs_by_stage(jobs).items() if n}
    trainings, rows = trainings_of_jobs(jobs, study), [("stage", "jobs", "trainings", "seconds")]
    of_training = 0.0 if sizes is None else 60 * (forecast(*sizes, 1).minutes - forecast(*sizes, 0).minutes)
    total = 0.0
    for stage, n in n_jobs.items():
        n_trained = sum(jobs[rule] * each for rule, each in trainings.items() if _STAGES[rule] == stage)
        seconds = _SECONDS_OF_JOB * n + n_trained * max(of_training, _SECONDS_OF_TRAINING)
        total += seconds
        rows.append((stage, f"{n:,}", f"{n_trained:,}" if n_trained else "-", f"{seconds:,.0f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows if n_jobs else ():
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join([f"{first:<{widths[0]}}", *cells])
    if not n_jobs:
        yield "All results are up to date: there is nothing to compute."
        return
    memory = "" if sizes is None else f", and {forecast(*sizes, 1).gib:.1f} GiB of memory per job"
    yield f"Expected: about {total:,.0f} s of processor time on all cores together{memory}."
    yield "Seconds may be wrong by a factor of two. Nothing was computed; leave out --dry-run to start."


def _jobs_by_stage(jobs: Mapping[str, int]) -> dict[str, int]:
    """Return the number of jobs of each stage, in the order of the stages."""
    found = dict.fromkeys([*_STAGES.values(), _OTHERS], 0)
    for rule, n in jobs.items():
        found[_STAGES.get(rule, _OTHERS)] += n
    return found


def trainings_of_jobs(jobs: Mapping[str, int], study: Study) -> dict[str, int]:
    """Count the trainings of a job of each rule that trains models, if no result is cached.

    Parameters
    ----------
    jobs : mapping of str to int
        Number of jobs of each rule.
    study : Study
        Checked configuration.

    Returns
    -------
    dict of str to int
        Number of trainings of a job, for those of the rules that have jobs.
    """
    labels = study.weak_labels
    curve, elsewhere, n_models = labels.sample_curves, labels.elsewhere, len(labels.models)
    periods = [dataset.hold_out.n_splits for dataset in study.data.own.values() if dataset.hold_out is not None]
    n_splits = next(filter(None, periods), None) or study.folds.n_splits
    n_folds = n_splits if any(periods) else n_splits * study.folds.n_repeats
    of_curve = len(curve.shares) * n_splits * curve.n_repeats
    n_steps = len(elsewhere.sizes) + bool(elsewhere.predict_on)
    is_joined = curve.datasets and not jobs.get("score_by_samples")  # Small datasets have one job for all.
    curves_of_small = len(curve.models or labels.models) if is_joined else 0
    found = {
        "compare_models": n_models * n_folds * len(labels.missing_rates) + curves_of_small * of_curve,
        "train_and_score": (labels.models_per_job or n_models) * n_folds,
        "score_by_samples": of_curve,
        "score_elsewhere": min(n_models, elsewhere.most_models) * n_steps * study.folds.n_splits,
        "fit_final_model": 1 + FITS_PER_FOLD * n_splits,
    }
    return {rule: n for rule, n in found.items() if jobs.get(rule)}
