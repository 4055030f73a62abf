"""Step of a study that evaluates models on random feature sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from tqdm import tqdm

from fairfold.datasets.dataset import Dataset
from fairfold.datasets.similarity import comparable_features
from fairfold.models.registry import first_level_from, make_model
from fairfold.splitting.methods import study_folds
from fairfold.weak_labels.masking import hide_in_training_parts, observed_labels
from fairfold.win_percentage.multilabel_sets import evaluate_numbered_sets


def evaluate_on_sets(
    dataset: str,
    missing_rate: int,
    *,
    folds: Mapping[str, Any],
    models: Mapping[str, Mapping[str, Any]],
    sets: Sequence[int],
    permutations: Sequence[int],
    seed: int,
    **options: Any,
) -> pd.DataFrame:
    """Evaluate models on random feature sets of a dataset, with original or permuted labels.

    Parameters
    ----------
    dataset : str
        File of the dataset.
    missing_rate : int
        Percentage of positives to hide.
    folds : mapping
        ``splitter`` and ``n_splits``, see :func:`~fairfold.splitting.methods.study_folds`.
    models : mapping of str to mapping
        Parameters of :func:`~fairfold.models.make_model` by model.
    sets, permutations : sequence of int
        First number, and the one after the last.
    seed : int
        Seed of the study.
    **options : object
        Further parameters of :func:`~fairfold.win_percentage.multilabel_sets.evaluate_numbered_sets`.

    Returns
    -------
    DataFrame
        Its table, with the dataset and the missing rate in the first columns.
    """
    data = Dataset.load(dataset)
    fold_of = study_folds(data, **folds, n_repeats=1, seed=seed, compared=comparable_features)
    known: dict[str, Any] = {"label_frequency": data.label_frequency(missing_rate), "hierarchy": data.hierarchy}
    known["features"] = data.features
    rules: dict[str, Any] = {"negatives": data.negatives, "hierarchy": data.hierarchy}
    names = ("hidden labels", data.id, missing_rate)
    hidden = hide_in_training_parts(data.Y, fold_of, missing_rate / 100, seed=seed, names=names, **rules)
    found = evaluate_numbered_sets(
        {name: make_model(name, **settings, **known) for name, settings in models.items()},
        data.samples,
        data.Y,
        fold_of[0],
        observed=lambda fold: observed_labels(data.Y, hidden, fold, data.negatives),
        sets=range(*sets),
        permutations=tqdm(range(*permutations)),
        fit_options=first_level_from,
        groups=data.groups,
        sample_weight=data.weights,
        seed=seed,
        dataset=data.id,
        **options,
    )
    unit = {"dataset": data.id, "missing_rate": missing_rate}
    return found.assign(**unit)[[*unit, *found]]
