"""What a study does and how long it takes, by what its models and parts took elsewhere: told before it begins."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairfold.core.config import load_yaml
from fairfold.core.home import PROJECT
from fairfold.datasets.catalog import Catalog, Entry
from fairfold.datasets.sizes import Size, size_of
from fairfold.errors import shortened
from fairfold.models.registry import settings_of
from fairfold.study import check_config

_N_TREES, _N_LEVELS = 150, 5  # of the fits that were measured, which stop before their tenth level
_BESIDES = 1.3  # predictions and scores, of what is fitted
_PER_UNIT = 4.0  # estimates of missing labels and of complete scores, for a dataset and rate
_AT_THE_ENDS = 15.0  # planning, folds and descriptions before all training; tables, figures and the report behind it
_COMPILE_AT_ONCE = 2  # of jobs that need the same code one compiles it, and the others wait
_MOST_SIZES = 3  # of datasets that are listed with their sizes

Config = Mapping[str, Any]

ANNOUNCED = "FAIRFOLD_ANNOUNCED"
"""Variable of the environment that is set where all this has been said."""


class _Part(NamedTuple):
    """What a part of the study takes.

    seconds, compiling : of one core, the latter the first time only; of a part that is not as in the quick study the
        former is None.
    table : one that is there when the part is done.
    """

    seconds: float | None
    compiling: float
    table: str


def announced(config: Config, catalog: Catalog, results: Path, cores: int | None) -> str:
    """Sentences of what is studied and how long that takes, each a line.

    Parameters
    ----------
    config, catalog : checked.
    results : folder of the study's results; models and parts that have theirs there do not count.
    cores : that work side by side; None where they are not known, so that nothing is said of time.
    """
    sizes = {name: size_of(catalog[name]) for name in config["weak_labels"]["datasets"]}
    lines = [_what(config, catalog, sizes)]
    if cores is not None:
        lines.append(_how_long(config, catalog, sizes, results, cores))
    return "\n".join(lines)


def _what(config: Config, catalog: Catalog, sizes: Mapping[str, Size | None]) -> str:
    study, n_folds = config["weak_labels"], {name: _n_folds(config, catalog[name]) for name in sizes}
    told = [f"the folds of {catalog[name].folds!r}" if n is None else _number(n, "fold") for name, n in n_folds.items()]
    if len(sizes) <= _MOST_SIZES:
        data = _listed([f"{name} ({_told(size)})" for name, size in sizes.items()])
    else:
        data = f"{len(sizes)} datasets, {shortened(list(sizes))}"
    rates = [str(rate) for rate in study["missing_rates"]]
    what = f"{_number(len(study['models']), 'model')} on {_listed([*dict.fromkeys(told)], 'or')}"
    trainings = ""
    if None not in n_folds.values():
        n_trainings = len(rates) * sum(n_folds[name] * len(_models(config, size)) for name, size in sizes.items())
        trainings = f": {_number(n_trainings, 'training')}"
    return f"Studied: {data}. {what}, {_listed(rates)} % of positives hidden{trainings}."


def _how_long(config: Config, catalog: Catalog, sizes: Mapping[str, Size | None], results: Path, cores: int) -> str:
    tables = results / "tables"
    parts = {name: part for name, part in _parts(config).items() if not (tables / part.table).is_file()}
    # where the data have folds of their own, as many are taken for granted as elsewhere
    n_folds = {name: _n_folds(config, catalog[name]) or config["folds"]["n_splits"] for name in sizes}
    trainings = [
        seconds
        for name, size in sizes.items()
        if size is not None
        for seconds in _training_seconds(config, n_folds[name], name, size, results)
    ]
    if not parts and not trainings and None not in sizes.values():
        return "All of them are there already."
    compiling = 0 if _is_compiled() else sum(part.compiling for part in parts.values()) / min(cores, _COMPILE_AT_ONCE)
    work = sum(trainings) + sum(part.seconds or 0 for part in parts.values())
    # a model is trained on one core, fold after fold
    seconds = _AT_THE_ENDS + compiling + max(work / cores, *trainings, 0)
    where = f"{cores} free cores" if cores > 1 else "one free core"
    sentence = f"It takes {_long(seconds)} on {where}, going by what models and parts took elsewhere"
    if compiling:
        sentence += f"; {_long(compiling)} of it is compiling, the first time only"
    uncounted = [name for name, part in parts.items() if part.seconds is None]
    uncounted += [f"{name}, whose size is told when it is read" for name, size in sizes.items() if size is None]
    return f"{sentence}.{f' Not counted: {_listed(uncounted)}.' if uncounted else ''}"


def _told(size: Size | None) -> str:
    if size is None:
        return "size not known yet"
    n_samples = f"about {float(f'{size.n_samples:.2g}'):,.0f} samples"
    if isinstance(size.n_samples, int):
        n_samples = _number(size.n_samples, "sample")
    return f"{n_samples}, {_number(size.n_features, 'feature')}, {_number(size.n_labels, 'label')}"


def _number(n: float, of: str) -> str:
    return f"{n:,.0f} {of}{'s' * (n != 1)}"


def _listed(names: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _long(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1.5:
        return "about a minute" if minutes >= 0.75 else "less than a minute"
    if minutes < 100:
        return f"some {minutes:.0f} minutes"
    return f"some {minutes / 60:.0f} hours" if minutes < 48 * 60 else f"some {minutes / 60 / 24:.0f} days"


# --- training ---------------------------------------------------------------------------------------------------------


def _n_folds(config: Config, entry: Entry) -> int | None:
    """None where a column of the data has the folds."""
    if entry.hold_out:
        after = entry.hold_out.get("after")
        return entry.hold_out.get("n_splits") or (len(after) if isinstance(after, list) else 1)
    if entry.folds is not None:
        return None
    return 1 if entry.tests_split else config["folds"]["n_splits"] * config["folds"]["repeats"]


def _models(config: Config, size: Size | None) -> list[str]:
    """Those that are trained on as many labels."""
    study = config["weak_labels"]
    most = study["many_labels"]["most_labels"]
    return [model for model in study["models"] if size is None or size.n_labels <= most.get(model, np.inf)]


def _training_seconds(config: Config, n_folds: int, dataset: str, size: Size, results: Path) -> Iterable[float]:
    """Of one core, of each model at each missing rate whose scores are not there; all its folds."""
    study, models = config["weak_labels"], _models(config, size)
    for rate in study["missing_rates"]:
        folder = results / "weak_labels" / dataset / f"rate-{rate}"
        if left := [model for model in models if not (folder / f"{model}.csv").is_file()]:
            yield _PER_UNIT
        for model in left:
            scale = _scale(settings_of(model, study["forest"], study["variant"]))
            yield _BESIDES * n_folds * scale * _fit_seconds(model, size)


def _fit_seconds(model: str, size: Size) -> float:
    """Of a model that was not measured, those of the others at the middle."""
    known = _exponents()
    logs = np.array([1.0, *np.log(np.maximum(size, 1))])
    found = [known[model]] if model in known else list(known.values())
    return float(np.exp(np.median(np.array(found) @ logs)))


def _scale(settings: Mapping[str, Any]) -> float:
    """How the time of a fit changes with trees and levels, of models that take them."""
    levels = (1 + min(settings.get("max_levels", _N_LEVELS), _N_LEVELS)) / (1 + _N_LEVELS)
    return levels * settings.get("n_trees", _N_TREES) / _N_TREES


@cache
def _exponents() -> dict[str, list[float]]:
    """Model -> factor and exponents of samples, features and labels, of ``benchmarks/race.py``."""
    return {model: list(map(float, numbers)) for model, *numbers in _rows("fit_seconds.csv")}


def _rows(table: str) -> list[list[str]]:
    with Path(PROJECT, "resources", table).open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))[1:]


# --- other parts of the study -----------------------------------------------------------------------------------------


def _parts(config: Config) -> dict[str, _Part]:
    """Parts that are asked for, by their keys, and what they take."""
    quick = _quick_study()
    found = {}
    for key, seconds, compiling, table in _rows("part_seconds.csv"):
        asked = _at(config, key)
        # trainings are counted one by one, so that what is besides is much the same
        if key == "weak_labels" or asked == _at(quick, key):
            known = _Part(float(seconds), float(compiling), table)
        else:
            known = _Part(None, 0, table)
        if key == "weak_labels" or _asks_for_something(asked):
            found[key] = known
    return found


@cache
def _quick_study() -> Config:
    config = load_yaml(PROJECT / "config" / "config.yaml", is_ours=True)
    check_config(config)
    return config


def _at(config: Config, key: str) -> Config:
    for name in key.split("."):
        config = config[name]
    return config


def _asks_for_something(part: Config) -> bool:
    named = (part.get(key) for key in ("datasets", "experiments", "examples"))
    return any(named) or any(_asks_for_something(inner) for inner in part.values() if isinstance(inner, dict))


def _is_compiled() -> bool:
    """Whether there is compiled code of forests, on which most models and the longest wait for it depend."""
    from fairfold.core.compiled_cache import FOLDER  # here, as it loads a compiler

    return next(FOLDER.glob("*/growth.grow_tree-*.nbi"), None) is not None
