"""Expected processor time and memory of a study of a large table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairfold.datasets.catalog import Catalog, Entry
    from fairfold.settings import Study

LARGE_TABLE = 20_000
"""Number of rows from which on a study has other defaults and a forecast."""

MANY_LABELS = 128
"""Number of labels above which models learn from sketches of the labels, and a study has other defaults."""

# Means over the default models of large tables, from resources/measured/growth.csv.
_SECONDS_OF_CELL = 25e-6  # per training, sample and label, with 40 features
_BYTES_OF_VALUE = 100  # per sample and feature, and twice per sample and label
_BYTES_OF_CODE = 4e8
_SKETCHED_LABELS = 32  # columns of a sketch
_OTHER_TRAININGS = 25  # final model, out-of-fold predictions, sample curves, and estimates, as a number of trainings
_SIZES = ("samples", "features", "labels")
_MOST_MINUTES = 2  # processor minutes of a dataset whose comparison is one job
_MOST_BYTES = 1e8  # of a table in text, times the number of trainings; takes such a time if a sixth are labels
_COMPRESSED = {".feather", ".gz", ".bz2", ".npz", ".parquet", ".xlsx", ".xz", ".zip", ".zst"}
_COMPRESSION = 5  # bytes of text per compressed byte


class Forecast(NamedTuple):
    """Expected cost of a study.

    Attributes
    ----------
    minutes : float
        Processor minutes of all jobs together.
    gib : float
        Memory of the largest job in GiB.
    """

    minutes: float
    gib: float

    def __str__(self) -> str:
        minutes = round(self.minutes) if self.minutes < 20 else 10 * round(self.minutes / 10)
        time = f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
        return f"about {time} of processor time on all cores together, and {self.gib:.1f} GiB of memory per job"


def forecast(n_samples: int, n_features: int, n_labels: int, n_trainings: int) -> Forecast:
    """Estimate the processor time and the memory of a study of a large table with the default models.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Sizes of the table.
    n_trainings : int
        Number of trainings in the comparison: models times folds times missing rates.

    Returns
    -------
    Forecast
        Expected cost. It may be wrong by a factor of two, and by more for other models.

    Examples
    --------
    >>> from fairfold.planning.forecast import forecast
    >>> print(forecast(200_000, 50, 20, n_trainings=30))
    about 60 min of processor time on all cores together, and 2.0 GiB of memory per job
    """
    n_columns = n_labels if n_labels <= MANY_LABELS else _SKETCHED_LABELS
    per_training = _SECONDS_OF_CELL * 2 / 3 * n_samples * n_columns * (n_features / 40) ** 0.25
    memory = _BYTES_OF_CODE + _BYTES_OF_VALUE * n_samples * (n_features + 2 * n_columns)
    return Forecast((n_trainings + _OTHER_TRAININGS) * per_training / 60, memory / 2**30)


def small_datasets(study: Study, catalog: Catalog) -> list[str]:
    """List the datasets of a study that one job compares all models on.

    Parameters
    ----------
    study : Study
        Checked configuration.
    catalog : Catalog
        Datasets of the project and of the configuration.

    Returns
    -------
    list of str
        Datasets of the weak-label study whose comparison is expected to take at most two processor minutes. For the
        user's own tables, the sizes of the files decide. None if the configuration sets ``models_per_job``.
    """
    labels, folds = study.weak_labels, study.folds
    n_trainings = len(labels.models) * len(labels.missing_rates) * folds.n_splits * folds.n_repeats

    def is_small(entry: Entry) -> bool:
        if entry.path is not None:
            factor = _COMPRESSION if {*entry.path.suffixes} & _COMPRESSED else 1
            return factor * sum(n_bytes for _, n_bytes in entry.versions) * n_trainings <= _MOST_BYTES
        n_samples, n_features, n_labels = (int(entry.expected.get(f"n_{each}", 0)) for each in _SIZES)
        is_known = min(n_samples, n_features, n_labels) > 0
        return is_known and forecast(n_samples, n_features, n_labels, n_trainings).minutes <= _MOST_MINUTES

    return [name for name in labels.datasets if labels.models_per_job is None and is_small(catalog[name])]


def memory_to_request(dataset: str | os.PathLike[str], n_parallel: int = 1, attempt: int = 1) -> int:
    """Return the memory that a job requests to train models on a dataset.

    Parameters
    ----------
    dataset : str or path-like
        Path of the prepared dataset. If it does not exist yet, the request does not depend on it.
    n_parallel : int, default=1
        Number of models that are trained in parallel.
    attempt : int, default=1
        Number of the attempt. Each attempt requests more.

    Returns
    -------
    int
        Memory in MB, one and a half times the expected memory plus 1,500.

    Examples
    --------
    >>> from fairfold.planning.forecast import memory_to_request
    >>> memory_to_request("missing.npz"), memory_to_request("missing.npz", attempt=2)
    (2080, 4160)
    """
    from fairfold.datasets.dataset import sizes_of  # The import is slow.

    sizes = sizes_of(dataset) if Path(dataset).exists() else (1000, 50, 5)
    return int(1500 + 1.5 * 1024 * forecast(*sizes, n_trainings=1).gib * n_parallel) * attempt
