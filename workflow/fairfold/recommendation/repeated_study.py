"""Step of a study that scores models several times on each of some splits of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.seeds import seed_for
from fairfold.datasets.dataset import Dataset
from fairfold.datasets.similarity import comparable_features
from fairfold.evaluation.fold_scores import StagedEstimator
from fairfold.forests.models import make_first_level
from fairfold.models.registry import make_model
from fairfold.recommendation.rank_stability import repeat_study
from fairfold.splitting.methods import study_folds
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels


def repeat_on_splits(
    dataset: str,
    missing_rate: int,
    splitter: str,
    *,
    folds: Mapping[str, int],
    models: Mapping[str, Mapping[str, Any]],
    first_levels: Mapping[str, str | None],
    forest: Mapping[str, Any],
    repeats: Sequence[int],
    seed: int,
    **options: Any,
) -> pd.DataFrame:
    """Score models several times on each of some splits of a dataset.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    missing_rate : int
        Percentage of positives to hide.
    splitter : str
        Name of the splitter.
    folds : mapping
        ``n_splits`` and ``n_repeats``, see :func:`~fairfold.splitting.methods.study_folds`.
    models : mapping of str to mapping
        Parameters of :func:`~fairfold.models.make_model` by model.
    first_levels : mapping of str to (str or None)
        Models with the first levels that they share, see
        :func:`~fairfold.recommendation.rank_stability.repeat_study`.
    forest : mapping
        Settings of the first levels.
    repeats : sequence of int
        First split, and the one after the last.
    seed : int
        Seed of the study.
    **options : object
        Further parameters of :func:`~fairfold.recommendation.rank_stability.repeat_study`.

    Returns
    -------
    DataFrame
        Its table, with the dataset, the missing rate and the splitter in the first columns.
    """
    data = Dataset.load(dataset)
    fold_of = study_folds(data, splitter, **folds, seed=seed, compared=comparable_features)
    unit = {"dataset": data.id, "missing_rate": missing_rate, "splitter": splitter}
    seed_of = partial(seed_for, seed, "rank stability", "forests", *unit.values())
    rules: dict[str, Any] = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    known: dict[str, Any] = {"label_frequency": data.label_frequency(missing_rate), "hierarchy": data.hierarchy}

    def make(model: str, *numbers: int) -> StagedEstimator:
        settings = {**models[model], **known, "categories": data.category_columns, "features": data.features}
        return make_model(model, **settings, random_state=seed_of(*numbers))

    def hide(fold_of: np.ndarray, *numbers: int) -> np.ndarray:
        names = ("rank stability", "hidden labels", *unit.values(), *numbers)
        return hide_in_training_parts(data.Y, fold_of, missing_rate / 100, seed=seed, names=names, **rules)

    if data.features is not None:  # Each model makes features before its first level.
        first_levels = dict.fromkeys(first_levels)
    table = repeat_study(
        make,
        first_levels,
        data.samples,
        data.Y,
        fold_of,
        make_first=lambda name, *numbers: make_first_level(name, **forest, random_state=seed_of(*numbers)),
        hide=hide,
        observed=partial(observed_labels, data.Y, negatives=data.negatives),
        repeats=range(*repeats),
        groups=data.groups,
        sample_weight=data.weights,
        **options,
    )
    return table.assign(**unit)[[*unit, *table]]
