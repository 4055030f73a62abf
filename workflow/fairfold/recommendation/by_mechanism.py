"""Step of a study that hides labels by a mechanism and compares estimated scores with true ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix
from fairfold.core.files import read_arrays
from fairfold.core.folds import parts_of
from fairfold.core.memory import trained
from fairfold.core.seeds import seed_for, seed_sequence
from fairfold.core.trainings import announce
from fairfold.datasets.dataset import Dataset
from fairfold.evaluation.fold_scores import FinalPredictions, score_on_folds
from fairfold.models.registry import make_model
from fairfold.recommendation.complete_scores import UNBALANCED
from fairfold.recommendation.mechanisms import scores_under_mechanism, without_scores
from fairfold.weak_labels.masking import mask_positives

_COUNTED = "zeros of these labels are confirmed, so missing positives are counted, not estimated"


def score_mechanism(
    dataset: str,
    folds: str,
    mechanism: str,
    wrong_positives: int,
    *,
    missing_rate: int,
    compared: Sequence[str],
    reference: str,
    difficulty_by: str | None,
    models: Mapping[str, Mapping[str, Any]],
    threshold: float,
    splitter: str,
    seed: int,
    key: str | None = None,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Hide labels of a dataset once by a mechanism, train models on the observed labels, and estimate their scores.

    Parameters
    ----------
    dataset, folds : str
        Files of the dataset and of its folds.
    mechanism : str
        Mechanism of :func:`~fairfold.weak_labels.mask_positives`.
    wrong_positives : int
        Percentage of observed positives that are wrong.
    missing_rate : int
        Percentage of positives to hide.
    compared : sequence of str
        Models to score.
    reference : str
        Model whose predictions estimate missing labels.
    difficulty_by : str or None
        Model whose probabilities define difficult labels, for the mechanism ``"difficulty"``.
    models : mapping of str to mapping
        Parameters of :func:`~fairfold.models.make_model` by model.
    threshold : float
        Probability above which a label counts as predicted.
    splitter : str
        Name of the splitter that made the folds.
    seed : int
        Seed of the study.
    key : str or None, default=None
        Checksum of all input and code, by which an interrupted job finds its trainings in the cache.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    DataFrame
        Table of :func:`~fairfold.recommendation.mechanisms.scores_under_mechanism`, with the dataset, the missing rate,
        the mechanism and the percentage of wrong positives in the first columns. If the mechanism does not apply to the
        dataset, one row with the reason.
    """
    data, fold_of = Dataset.load(dataset), read_arrays(folds)["fold_of"][0]
    unit = {
        "dataset": data.id,
        "missing_rate": missing_rate,
        "mechanism": mechanism,
        "wrong_positives": wrong_positives,
    }
    names = ("mechanisms", *unit.values())
    known: dict[str, Any] = {"categories": data.category_columns, "features": data.features}

    def predict(purpose: str, model: str, Y: Matrix, rate: int, *names: Any) -> tuple[FinalPredictions, str]:
        settings = {**models.get(model, {}), "label_frequency": data.label_frequency(rate), "n_jobs": n_jobs}
        tables = score_on_folds(
            lambda fold: make_model(model, **settings, **known, random_state=seed_for(seed, *names, fold)),
            data.samples,
            Y,
            fold_of,
            observed=lambda fold: Y,
            threshold=threshold,
            groups=data.groups,
            sample_weight=data.weights,
            run=lambda fold, compute: trained(key, f"{purpose}: {model} on fold {fold + 1}", compute),
        )
        failures = tables.findings.get("reason", [])  # one reason per failed fold
        return tables.predictions, next(iter(failures), "")

    if data.negatives == "confirmed":
        table = without_scores(_COUNTED)
    elif mechanism == "group" and data.groups is None:
        table = without_scores("the data have no groups")
    else:
        n_models = len({*compared, reference}) + (difficulty_by is not None)
        announce(n_models * len([*parts_of(fold_of, data.shape[0])]))
        by: dict[str, Any] = {"mechanism": mechanism, "groups": data.groups if mechanism == "group" else None}
        if difficulty_by is not None:
            difficult, _ = predict("difficult labels", difficulty_by, data.Y, 0, "mechanisms", data.id)
            by["reference"] = np.clip(difficult.by("average_precision"), 0, 1)
        drawn = seed_sequence(seed, *names)
        shares: dict[str, Any] = {"rate": missing_rate / 100, "wrong_positives": wrong_positives / 100}
        observed = mask_positives(data.Y, **shares, random_state=drawn, **by)
        each = dict.fromkeys([*compared, reference])
        found = {model: predict(mechanism, model, observed, missing_rate, *names) for model in each}
        table = scores_under_mechanism(
            data.Y,
            observed,
            {model: found[model][0] for model in compared},
            found[reference][0],
            threshold=threshold,
            groups=data.groups,
            sample_weight=data.weights,
            balanced=data.fold_of is None and splitter not in UNBALANCED,
            random_state=seed_for(seed, *names, "draws"),
        )
        own = table["model"].map({model: reason for model, (_, reason) in found.items()})
        table["reason"] = table["reason"].where(table["reason"] != "", own)
    return table.assign(**unit)[[*unit, *table]]
