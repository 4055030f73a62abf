"""Print what a study would compute: its stages with their trainings, seconds and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fairfold.planning.forecast import forecast

if TYPE_CHECKING:
    from fairfold.planning.settings import Study

_COMPARISON, _CURVE, _FINAL, _OTHERS = "train and score models", "learning curve", "final model", "other steps"
_STAGES = {
    "prepare_dataset": "read and audit the data",
    "describe_study": "read and audit the data",
    "split_dataset": "split into folds",
    "compare_models": _COMPARISON,
    "train_and_score": _COMPARISON,
    "score_by_samples": _CURVE,
    "correct_scores": "missing labels and corrected scores",
    "score_checked_cells": "missing labels and corrected scores",
    "recommend_models": "recommendation",
    "write_answers": "recommendation",
    "fit_final_model": _FINAL,
    "draw_figures": "figures",
    "render_report": "report",
    "pack_figures": "report",
}
_SECONDS_OF_JOB = 2.0  # of processor time, mostly for imports
_SECONDS_OF_TRAINING = 0.3  # at least, of a small table
_FITS_OF_FINAL = 2  # for each fold, beside the one to all rows


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
    trainings, rows = _trainings(study), [("stage", "jobs", "trainings", "seconds")]
    of_training = 0.0 if sizes is None else 60 * (forecast(*sizes, 1).minutes - forecast(*sizes, 0).minutes)
    total = 0.0
    for stage, n in n_jobs.items():
        n_trained = trainings.get(stage, 0)
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


def _trainings(study: Study) -> dict[str, int]:
    """Return the number of trainings of each stage if nothing is computed yet."""
    labels, n_datasets = study.weak_labels, len(study.weak_labels.datasets)
    periods = [dataset.hold_out.n_splits for dataset in study.data.own.values() if dataset.hold_out is not None]
    n_folds = next(filter(None, periods), None) or study.folds.n_splits * study.folds.n_repeats
    curve = labels.sample_curves
    return {
        _COMPARISON: len(labels.models) * len(labels.missing_rates) * n_folds * n_datasets,
        _CURVE: len(curve.models or ()) * len(curve.shares) * n_folds * len(curve.datasets),
        _FINAL: (1 + _FITS_OF_FINAL * n_folds) * n_datasets,
    }
