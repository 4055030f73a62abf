"""How long training will take, by what each model took on other data: told before a study begins."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairfold.datasets.catalog import Catalog, Entry
from fairfold.home import PROJECT
from fairfold.models.registry import settings_of

_N_TREES, _N_LEVELS = 150, 5  # of the fits that were measured, which stop before their tenth level
_BESIDES = 1.3  # predictions and scores, of what is fitted
_BEGINNING = 1 << 16  # bytes of a table that are looked at
_PER_UNIT = 5.0  # estimates of missing labels and of complete scores, for a dataset and rate


class Size(NamedTuple):
    """Numbers of samples, features and labels."""

    n_samples: float
    n_features: float
    n_labels: float


def told(config: Mapping[str, Any], catalog: Catalog, cores: int) -> str:
    """A sentence about the time that the part ``weak_labels`` takes; empty where sizes of data are not known yet.

    Parameters
    ----------
    config, catalog : checked.
    cores : that work side by side.
    """
    seconds = [_training_seconds(config, catalog[dataset]) for dataset in config["weak_labels"]["datasets"]]
    if None in seconds:
        return ""
    minutes = sum(seconds) / cores / 60
    long = f"{minutes:.0f} minute{'s' * (minutes >= 1.5)}" if minutes < 100 else f"{minutes / 60:.0f} hours"
    long = f"some {long}" if minutes >= 1 else "less than a minute"
    where = f"{cores} cores" if cores > 1 else "one core"
    return f"All training takes {long} on {where}, going by what these models took on other data."


def _training_seconds(config: Mapping[str, Any], entry: Entry) -> float | None:
    """Processor seconds of all fits of the part ``weak_labels`` to a dataset; None where its size is not known."""
    study, folds = config["weak_labels"], config["folds"]
    size = size_of(entry)
    if size is None:
        return None
    n_folds = 1 if entry.hold_out or entry.tests_split else folds["n_splits"] * folds["repeats"]
    most_labels = study["many_labels"]["most_labels"]
    of_a_fold = sum(
        _fit_seconds(model, size) * _scale(settings_of(model, study["forest"], study["variant"]))
        for model in study["models"]
        if size.n_labels <= most_labels.get(model, np.inf)
    )
    return len(study["missing_rates"]) * (_BESIDES * n_folds * of_a_fold + _PER_UNIT)


def size_of(entry: Entry) -> Size | None:
    """Size of a dataset by its catalog, or by the beginning of a user's own text file; None where neither tells."""
    expected = [entry.expected.get(name) for name in Size._fields]
    if None not in expected:
        return Size(*map(float, expected))
    if entry.path is None or entry.path.suffix not in (".csv", ".tsv"):
        return None
    try:
        with entry.path.open("rb") as stream:
            first, *others = stream.read(_BEGINNING).splitlines(keepends=True) or [b""]
    except OSError:  # of which the job that reads all of it has a sentence
        return None
    if not others:
        return None
    names = next(csv.reader([first.decode("utf-8", "replace")], delimiter="\t" if entry.path.suffix == ".tsv" else ","))
    prefix, columns = entry.labels.get("prefix"), entry.labels.get("columns", ())
    n_labels = sum(name.startswith(prefix) for name in names) if prefix else len(columns)
    n_samples = (entry.path.stat().st_size - len(first)) * len(others) / sum(map(len, others))
    return Size(n_samples, max(len(names) - n_labels, 1.0), max(n_labels, 1.0))


def _fit_seconds(model: str, size: Size) -> float:
    """Of a model that was not measured, those of the others at the middle."""
    known = _exponents()
    logs = np.array([1.0, *np.log(size)])
    found = [known[model]] if model in known else list(known.values())
    return float(np.exp(np.median(np.array(found) @ logs)))


def _scale(settings: Mapping[str, Any]) -> float:
    """How the time of a fit changes with trees and levels, of models that take them."""
    levels = (1 + min(settings.get("max_levels", _N_LEVELS), _N_LEVELS)) / (1 + _N_LEVELS)
    return levels * settings.get("n_trees", _N_TREES) / _N_TREES


@cache
def _exponents() -> dict[str, list[float]]:
    """Model -> factor and exponents of samples, features and labels, of ``benchmarks/race.py``."""
    with Path(PROJECT, "resources", "fit_seconds.csv").open(encoding="utf-8", newline="") as stream:
        return {model: list(map(float, numbers)) for model, *numbers in list(csv.reader(stream))[1:]}
