"""Datasets of the parts of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from fairfold.core.settings import Settings
from fairfold.datasets.catalog import Catalog
from fairfold.datasets.dataset import Task
from fairfold.metrics.registry import MANY_LABELS, REFERENCE_LABELS
from fairfold.settings import Study

MULTILABEL_PARTS = (
    "weak_labels",
    "weak_labels.rank_stability",
    "weak_labels.sample_curves",
    "weak_labels.mechanisms",
    "splitting",
    "splitting.fold_effect",
    "cross_testing.models",
    "win_percentage.models",
    "final",
    "mlc_comparison",
)
"""Keys of the parts that use multilabel datasets."""

EXAMPLE_DATASETS = {"linear": "iris", "custom-loss": "iris", "posterior": "iris", "arrhythmia": "arrhythmia"}
"""Dataset of each example of ``ecoc.examples``."""


def part_of(study: Study, key: str) -> Any:
    """Return a part of a study.

    Parameters
    ----------
    study : Study
        Checked configuration.
    key : str
        Key with dots, such as ``"weak_labels.mechanisms"``.

    Returns
    -------
    Settings
        The part.
    """
    return reduce(getattr, key.split("."), study)


def used_datasets(study: Study) -> list[tuple[str, Task]]:
    """List the datasets that the parts of a study use, with the task of each part.

    Parameters
    ----------
    study : Study
        Checked configuration.

    Returns
    -------
    list of tuple of str
        Dataset and task, part by part. Datasets can be repeated.
    """
    experiments = [each.dataset for each in study.cross_testing.experiments.values()]
    found: list[tuple[str, Task]] = [
        (dataset, "multilabel") for key in MULTILABEL_PARTS for dataset in part_of(study, key).datasets
    ]
    found += [(dataset, "binary") for dataset in (*study.win_percentage.datasets, *experiments)]
    return found + [(dataset, "multiclass") for dataset in study.ecoc.comparison.datasets]


def leave_out(study: Study, reasons: Mapping[str, str]) -> tuple[Study, list[dict[str, str]]]:
    """Exclude datasets from all parts of a study.

    Parameters
    ----------
    study : Study
        Checked configuration.
    reasons : mapping of str -> str
        Reason for each excluded dataset.

    Returns
    -------
    study : Study
        Study without the datasets. ``data.left_out`` stores the reasons.
    rows : list of dict
        Rows with ``part`` (key of the configuration), ``dataset`` and ``reason``.
    """
    left = [(f"cross_testing.experiments.{name}", each.dataset) for name, each in _experiments(study).items()]
    left += [(f"ecoc.examples.{name}", EXAMPLE_DATASETS[name]) for name in study.ecoc.examples]
    left += [(key, dataset) for key, part in _with_datasets(study) for dataset in part.datasets]
    study = study.model_copy(deep=True)
    for _, part in _with_datasets(study):
        part.datasets = [dataset for dataset in part.datasets if dataset not in reasons]
    kept = {name: each for name, each in _experiments(study).items() if each.dataset not in reasons}
    study.cross_testing.experiments = kept
    study.ecoc.examples = [name for name in study.ecoc.examples if EXAMPLE_DATASETS[name] not in reasons]
    study.data.left_out = dict(reasons)
    return study, [{"part": part, "dataset": name, "reason": reasons[name]} for part, name in left if name in reasons]


def _experiments(study: Study) -> Mapping[str, Any]:
    return study.cross_testing.experiments


def _with_datasets(part: Settings, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of a configuration that have a list of datasets, by their keys."""
    if isinstance(getattr(part, "datasets", None), list):
        yield key, part
    for name in type(part).model_fields:
        inner = getattr(part, name)
        if isinstance(inner, Settings) and (key, name) != ("", "data"):
            yield from _with_datasets(inner, f"{key}.{name}".removeprefix("."))


def with_many_labels(study: Study, catalog: Catalog) -> list[str]:
    """List the datasets of the weak-label study that are scored at k: the selected ones, or those with many labels.

    The number of labels of the user's own data is not known in advance, so these datasets must be selected.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    list of str
        Datasets.
    """
    labels = study.weak_labels
    if (chosen := labels.many_labels.datasets) is not None:
        return list(chosen)
    return [name for name in labels.datasets if catalog[name].expected.get("n_labels", 0) > MANY_LABELS]


def with_own_reference(study: Study, catalog: Catalog) -> list[str]:
    """List the datasets whose number of labels exceeds ``REFERENCE_LABELS``.

    Missing labels of these datasets are estimated from predictions of the most common labels only.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    list of str
        Datasets.
    """
    return [
        name
        for name in with_many_labels(study, catalog)
        if catalog[name].expected.get("n_labels", REFERENCE_LABELS + 1) > REFERENCE_LABELS
    ]
