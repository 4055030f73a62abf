"""Find models with identical scores or predictions on a dataset."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fairfold.core.rounding import SCORE_DECIMALS
from fairfold.evaluation.fold_scores import FinalPredictions

_VALUES = ["complete", "observed", "corrected", "known"]


def identical_models(folds: pd.DataFrame, predictions: Mapping[str, FinalPredictions]) -> pd.DataFrame:
    """Find models whose scores equal those of an earlier model for every metric in every fold.

    Parameters
    ----------
    folds : DataFrame
        Scores of one dataset at one missing rate, as returned by
        :func:`~fairfold.recommendation.complete_scores.complete_scores`, with the columns ``model, fold, metric,
        complete, observed, corrected, known``.
    predictions : mapping of str to FinalPredictions
        Predictions of each model that the scores belong to.

    Returns
    -------
    DataFrame
        One row per duplicate model, with the columns ``model, same_as, identical``. ``same_as`` is the first model with
        these scores. ``identical`` is ``predictions`` if the predictions are equal to the last bit, else ``scores``.
    """
    wide = folds.pivot(index="model", columns=["fold", "metric"], values=_VALUES).round(SCORE_DECIMALS)
    wide = wide.reindex([model for model in predictions if model in wide.index]).dropna(how="all")
    first: dict[tuple[str, ...], str] = {}
    rows = []
    for model, scores in wide.iterrows():
        other = first.setdefault(tuple(map(repr, scores + 0.0)), model)  # adding 0.0 turns -0.0 into 0.0
        if other != model:
            alike = predictions[model].digest() == predictions[other].digest()
            rows.append((model, other, "predictions" if alike else "scores"))
    return pd.DataFrame(rows, columns=["model", "same_as", "identical"])
