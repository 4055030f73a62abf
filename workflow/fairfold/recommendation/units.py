"""Estimated missing labels and scores on complete labels of one dataset at one missing rate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from fairfold.core.seeds import seed_for
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.models.training import Model, Unit
from fairfold.recommendation.complete_scores import UNBALANCED, complete_scores, share_left, with_notes
from fairfold.recommendation.guessing import best_model, score_guessing
from fairfold.recommendation.identical import identical_models
from fairfold.recommendation.mechanisms import evidence_against, observed_tests
from fairfold.recommendation.missing_rate import MissingRate, estimate_missing_rate
from fairfold.recommendation.reference import Reference, train_reference
from fairfold.recommendation.verdicts import study_verdicts
from fairfold.weak_labels.masking import observed_labels


def estimate_of_unit(
    unit: Unit, predictions: Mapping[str, FinalPredictions], model: Model, n_labels: int | None, n_jobs: int = 1
) -> tuple[Reference, MissingRate]:
    """Estimate the missing rate by the predictions of the reference model, which is trained if the study lacks it.

    Parameters
    ----------
    unit : Unit
        The data.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model.
    model : Model
        Reference model.
    n_labels : int or None
        Number of labels that the reference model learns. None means all labels.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    reference : Reference
        Predictions of the reference model.
    found : MissingRate
        Estimated missing rate.
    """
    if n_labels is None and model.name in predictions:
        reference = Reference(predictions[model.name].by("average_precision"))
    else:
        reference = train_reference(unit, model, n_labels, n_jobs)
    data = unit.data
    return reference, estimate_missing_rate(
        data.Y,
        observed_labels(data.Y, unit.hidden_in_tests, None, data.negatives),
        reference.P,
        labels=reference.labels,
        **data.declared(unit.missing_rate),
        hierarchical=data.hierarchy is not None,
        groups=data.groups,
        random_state=seed_for(unit.seed, "label frequency", data.id, unit.missing_rate),
    )


def corrected_tables(
    unit: Unit,
    predictions: Mapping[str, FinalPredictions],
    found: MissingRate,
    *,
    splitter: str,
    rope: float,
    compared_rate: int,
) -> dict[str, pd.DataFrame]:
    """Estimate the scores of all models on complete labels, and compare the models.

    Parameters
    ----------
    unit : Unit
        The data.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model.
    found : MissingRate
        Estimated missing rate.
    splitter : str
        Splitting method of the study.
    rope : float
        Difference below which two models are practically equal.
    compared_rate : int
        Missing rate with verdicts. Other rates are trials without verdicts.

    Returns
    -------
    dict of str to DataFrame
        Tables ``folds``, ``scores``, ``verdicts`` and ``guessing``.
    """
    data, rate, frequency = unit.data, unit.missing_rate, found.frequency
    observed = observed_labels(data.Y, unit.hidden_in_tests, None, data.negatives)
    fold_of = next(iter(predictions.values())).fold_of
    known = share_left(data.Y, observed, fold_of) if data.negatives == "unlabeled" else 1.0
    options: dict[str, Any] = {"threshold": unit.threshold, "score": unit.score, "sample_weight": data.weights}
    options |= {"groups": data.groups, "hierarchical": data.hierarchy is not None}
    tables = complete_scores(
        data.Y,
        observed,
        predictions,
        frequency,
        known,
        bound=found.bound,
        **options,
        balanced=data.fold_of is None and splitter not in UNBALANCED,
        random_state=seed_for(unit.seed, "complete scores", data.id, rate),
    )
    compared = predictions if rate == compared_rate else {}
    tables["verdicts"] = study_verdicts(observed, compared, frequency, rope=rope, **options)
    best = best_model(tables["scores"], unit.score)
    rivals = {name: each for name, each in compared.items() if name == best}
    in_training = partial(observed_labels, data.Y, unit.hidden, negatives=data.negatives)
    tables["guessing"] = score_guessing(data.Y, observed, in_training, fold_of, rivals, frequency, known, **options)
    if data.declared(rate)["labels_are"] == "incomplete":
        tables["scores"] = with_notes(tables["scores"], hierarchical=data.hierarchy is not None)
    tables["scores"] = tables["scores"].merge(identical_models(tables["folds"], predictions), how="left", on="model")
    return tables


def evidence_of_unit(unit: Unit, reference: Reference, found: MissingRate) -> pd.DataFrame:
    """Test whether the observed labels contradict positives missing completely at random.

    Parameters
    ----------
    unit : Unit
        The data.
    reference : Reference
        Predictions of the reference model.
    found : MissingRate
        Estimated missing rate.

    Returns
    -------
    DataFrame
        Tests of :func:`~fairfold.recommendation.mechanisms.evidence_against`.
    """
    if unit.data.labels_are != "incomplete":
        row = found.row.assign(reason="no label is assumed to be missing")
        found = found._replace(frequency=None, row=row)
    tests = observed_tests(reference.columns_of(unit.data.Y), reference.P, found, unit.data.groups)
    return evidence_against(tests, found.row)
