"""Compare the models of a study by their predictions, with simultaneous intervals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.defaults import SCORE, THRESHOLD
from fairfold.core.folds import parts_of
from fairfold.core.groups import SampleMetadata
from fairfold.evaluation.compare import is_defined, joint_of, log_error, verdict_table
from fairfold.evaluation.corrected_t import ROPE
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.influence import fold_scores
from fairfold.metrics.registry import BASIC_METRICS, METRICS
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.models.registry import stable_models
from fairfold.recommendation.complete_scores import is_correctable

COLUMNS = ["model", "metric", "difference", "error", "low", "high", "p_value", "p_adjusted", "verdict"]


def study_verdicts(
    observed: Matrix,
    predictions: Mapping[str, FinalPredictions],
    frequency: FrequencyDistribution | None,
    *,
    threshold: float = THRESHOLD,
    score: str = SCORE,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    hierarchical: bool = False,
    rope: float = ROPE,
) -> pd.DataFrame:
    """Compare all models with the best one, by each metric of a study.

    Parameters
    ----------
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels; NaN marks unmeasured labels.
    predictions : mapping of str to FinalPredictions
        Out-of-fold predictions of each model.
    frequency : FrequencyDistribution or None
        Distribution of the label frequency, by which scores are corrected. None compares scores on observed labels.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    score : str, default="average_precision"
        Metric that is compared in addition to ``BASIC_METRICS``, if it is not one of them.
    groups : ndarray of shape (n_samples,) or None, default=None
        Group of each sample.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights of the samples in scores.
    hierarchical : bool, default=False
        Whether the labels form a hierarchy, see :func:`~fairfold.recommendation.complete_scores.is_correctable`.
    rope : float, default=0.01
        Differences up to this value do not matter in practice.

    Returns
    -------
    DataFrame
        Columns ``model, metric, difference, error, low, high, p_value, p_adjusted, verdict`` of
        :func:`~fairfold.evaluation.compare.verdict_table`. Models without predictions in a fold are left out,
        and so are metrics that the labels do not define.
    """
    units = np.arange(observed.shape[0]) if groups is None else groups
    weights = SampleMetadata(groups, sample_weight).weights
    tables, stable = [], stable_models()
    if frequency is not None and frequency.interval() == (1, 1):
        frequency = None  # Labels are taken as they are. Corrected scores would be the same, but take longer.
    for metric in dict.fromkeys([*BASIC_METRICS, score]):
        corrected = frequency is not None and is_correctable(METRICS[metric], hierarchical=hierarchical)
        options: dict[str, Any] = {"units": units, "threshold": threshold, "weights": weights}
        options["label_frequency"] = frequency.median if frequency is not None and corrected else None
        found = {}
        for model, predicted in predictions.items():
            if metric not in BASIC_METRICS and len(predicted.kept) == len(BASIC_METRICS):
                continue  # A model that failed in all folds has no predictions for a further score.
            parts = parts_of(predicted.fold_of, observed.shape[0])
            P_of = partial(predicted.in_fold, metric)
            if all(finite_rows(P_of(fold)).all() for fold in range(len(parts))):
                found[model] = fold_scores(observed, P_of, parts, metric, **options)
        if found and is_defined(found.values()):
            n_repeats = len(np.atleast_2d(predicted.fold_of))
            error = _error_of(frequency) if corrected else 0.0
            options = {"metric": metric, "frequency_error": error, "is_stable": [model in stable for model in found]}
            joint = joint_of(list(found.values()), parts, n_repeats, units, **options)
            tables.append(verdict_table(list(found), joint, metric, rope=rope).assign(metric=metric))
    whole = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
    return whole[COLUMNS]


def _error_of(frequency: FrequencyDistribution | None) -> float:
    """Return the standard error of the logarithm of the label frequency."""
    if frequency is None:
        return 0.0
    low, high = frequency.interval()
    return log_error(SimpleNamespace(low=low, high=high))
