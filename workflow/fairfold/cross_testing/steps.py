"""Step of a study that selects models by three procedures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import ClassifierMixin
from tqdm import tqdm

from fairfold.core.arrays import Matrix
from fairfold.cross_testing.models import repeat_on_weak_labels
from fairfold.datasets.dataset import Dataset
from fairfold.models.registry import make_model
from fairfold.splitting.group_warnings import fitting_folds
from fairfold.splitting.methods import folds_by
from fairfold.weak_labels.masking import mask_labels


def select_models(
    dataset: str,
    *,
    models: Mapping[str, Mapping[str, Any]],
    unit: Mapping[str, Any],
    setting: Mapping[str, Any],
    splitter: str,
    repetitions: Sequence[int],
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Select models on partly hidden labels of a dataset by three procedures with permutation tests.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    models : mapping of str to mapping
        Parameters of :func:`~fairfold.models.make_model` by model.
    unit : mapping
        Percentage of positives to hide, ``missing_rate``, and metric that selects models, ``scoring``.
    setting : mapping
        Further parameters of :func:`~fairfold.cross_testing.models.repeat_on_weak_labels`, among them ``n_splits``.
    splitter : str
        Name of the splitter.
    repetitions : sequence of int
        First repetition, and the one after the last.
    seed : int
        Seed of the study.

    Returns
    -------
    dict of str to DataFrame
        Tables ``scores`` and ``seconds`` of :class:`~fairfold.cross_testing.models.Tables`, with the dataset, the
        missing rate and the metric in the first columns.
    """
    data, rate = Dataset.load(dataset), unit["missing_rate"]
    label_frequency = data.label_frequency(rate)

    def make(seed: int) -> dict[str, ClassifierMixin]:
        known: dict[str, Any] = {"hierarchy": data.hierarchy, "categories": data.category_columns, "random_state": seed}
        known["features"] = data.features
        return {
            name: make_model(name, **settings, label_frequency=label_frequency, **known)
            for name, settings in models.items()
        }

    def hide(Y: Matrix, seed: int) -> np.ndarray:
        rules: dict[str, Any] = {"negatives": data.negatives, "hierarchy": data.hierarchy}
        return mask_labels(Y, rate / 100, **rules, random_state=seed)

    # Procedures with a test part select models on half of the groups.
    n_splits = fitting_folds(setting["n_splits"], data.groups, n_parts=2)
    found = repeat_on_weak_labels(
        make,
        data.samples,
        data.Y,
        tqdm(range(*repetitions)),
        **{**setting, "scoring": unit["scoring"], "n_splits": n_splits},
        hide=hide,
        splitter=folds_by(splitter, n_splits),
        groups=data.groups,
        sample_weight=data.weights,
        seed=seed,
        names=("judged forests", data.id, rate),
    )
    columns = {"dataset": data.id, **unit}
    return {name: table.assign(**columns)[[*columns, *table]] for name, table in found._asdict().items()}
