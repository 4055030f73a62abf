"""Models that cannot be told apart on a dataset, because all their scores or even their predictions are identical."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fairfold.evaluation.fold_scores import FinalPredictions

_VALUES = ["complete", "observed", "corrected", "known"]
_DIGITS = 12  # decimals of a score; smaller differences are rounding


def identical_models(folds: pd.DataFrame, predictions: Mapping[str, FinalPredictions]) -> pd.DataFrame:
    """Find models whose scores equal those of an earlier model by every metric in every fold.

    Parameters
    ----------
    folds : DataFrame with the columns ``model, fold, metric, complete, observed, corrected, known``
        Scores of one dataset at one missing rate, as of
        :func:`~fairfold.recommendation.complete_scores.complete_scores`.
    predictions : mapping of str to FinalPredictions
        Predictions of each model, which the scores are of.

    Returns
    -------
    DataFrame with the columns ``model, same_as, identical``
        A row for each such model. ``same_as`` is the first model with these scores; ``identical`` is ``predictions``
        if the predictions of both are equal to the last bit, too, and ``scores`` otherwise.
    """
    wide = folds.pivot(index="model", columns=["fold", "metric"], values=_VALUES).round(_DIGITS)
    wide = wide.reindex([model for model in predictions if model in wide.index]).dropna(how="all")
    first: dict[tuple[str, ...], str] = {}
    rows = []
    for model, scores in wide.iterrows():
        other = first.setdefault(tuple(map(repr, scores + 0.0)), model)  # -0 and 0 are equal
        if other != model:
            alike = predictions[model].digest() == predictions[other].digest()
            rows.append((model, other, "predictions" if alike else "scores"))
    return pd.DataFrame(rows, columns=["model", "same_as", "identical"])
