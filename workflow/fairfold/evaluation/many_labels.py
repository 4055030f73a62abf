"""Scores of out-of-fold predictions for data with many labels: at k, and by number of training positives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.folds import parts_of
from fairfold.evaluation.at_k import BANDS, count_positives, inverse_propensities, scores_by_frequency_band
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.metrics import PLACES, metrics_of
from fairfold.evaluation.scores import multilabel_scores


def score_many_labels(
    Y: Matrix,
    observed: Callable[[int], Matrix],
    predictions: FinalPredictions,
    *,
    bands: Sequence[int] = BANDS,
    propensity: Mapping[str, float] | None = None,
    sample_weight: np.ndarray | None = None,
    **unit: Any,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score out-of-fold predictions on the true labels, fold by fold.

    Propensities are computed from the positives that are observed in training. Bands use all positives of the training
    part, including hidden ones. The same labels are therefore compared at each missing rate.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        True labels.
    observed : callable
        Function that takes the number of the test fold and returns the labels for training, of shape
        (n_samples, n_labels).
    predictions : FinalPredictions
        Out-of-fold predictions. Those selected by average precision are scored.
    bands : sequence of int, default=(5, 20, 100)
        Largest number of training positives in each band except the last. See
        :func:`~fairfold.evaluation.at_k.scores_by_frequency_band`.
    propensity : mapping of str to float or None, default=None
        Parameters ``A`` and ``B`` of :func:`~fairfold.evaluation.at_k.inverse_propensities`. None uses its defaults.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample in the scores at k. Scores by band weight all samples equally.
    **unit : object
        Values of additional columns, which come first.

    Returns
    -------
    at_k : DataFrame
        Scores at k of each fold.
    by_frequency : DataFrame
        Scores by number of training positives, of each fold.

    Raises
    ------
    DataError
        For the reasons given in :func:`~fairfold.evaluation.at_k.scores_by_frequency_band` and
        :func:`~fairfold.evaluation.at_k.inverse_propensities`.
    """
    names = metrics_of("top")
    at_k, by_frequency = [], []
    for fold, (train, test) in enumerate(parts_of(predictions.fold_of, Y.shape[0])):
        P, seen = predictions.in_fold("average_precision", fold), observed(fold)[train]
        is_predicted = finite_rows(P).all()
        weights = None if sample_weight is None else sample_weight[test]
        inverse = inverse_propensities(seen, **(propensity or {}))
        scored = P if is_predicted else sparse.csr_array(P.shape)
        table = scores_by_frequency_band(Y[test], scored, count_positives(Y[train]), bands=bands, k=PLACES[-1])
        scores: Mapping[str, float] = dict.fromkeys(names, np.nan)
        if is_predicted:
            scores = multilabel_scores(Y[test], P, metrics=names, sample_weight=weights, inverse_propensity=inverse)
        else:
            table["value"] = np.nan
        at_k += [(*unit.values(), fold, metric, value) for metric, value in scores.items()]
        by_frequency.append(table.assign(**unit, fold=fold)[[*unit, "fold", *table]])
    places = pd.DataFrame(at_k, columns=[*unit, "fold", "metric", "value"])
    return places, pd.concat(by_frequency, ignore_index=True)


def summarize_many_labels(at_k: pd.DataFrame, by_frequency: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compute mean and standard deviation over folds.

    Parameters
    ----------
    at_k, by_frequency : DataFrame
        Tables of :func:`score_many_labels`, with the additional columns ``dataset, missing_rate, model``.

    Returns
    -------
    dict of str to DataFrame
        ``at_k`` has the columns ``dataset, missing_rate, model, metric, mean, sd, n_folds``. ``by_frequency`` has the
        columns ``dataset, missing_rate, model, metric, k, band, least, most, n_labels, n_scored, mean, sd, n_folds``,
        without bands that have no label in any fold. ``n_folds`` is the number of folds with a score. ``sd`` (divided
        by n_folds - 1) is NaN for fewer than 2 folds. Numbers of labels are means over folds.
    """
    unit = ["dataset", "missing_rate", "model"]
    folds = {"mean": "mean", "sd": "std", "n_folds": "count"}
    plain = at_k.groupby([*unit, "metric"], sort=False)["value"].agg(**folds).reset_index()
    groups = by_frequency.groupby([*unit, "metric", "k", "band", "least", "most"], sort=False)
    banded = groups[["n_labels", "n_scored"]].mean().join(groups["value"].agg(**folds)).reset_index()
    by_metric = banded.groupby([*unit, "metric"], sort=False).ngroup().sort_values(kind="stable").index
    banded = banded.loc[by_metric]
    return {"at_k": plain, "by_frequency": banded[banded["n_labels"] > 0].reset_index(drop=True)}
