"""Scores of out-of-fold predictions where labels are many: at k, and by the number of a label's training positives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.folds import parts_of
from fairfold.evaluation.at_k import BANDS, count_positives, inverse_propensities, scores_by_frequency_band
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.evaluation.metrics import PLACES, metrics_of
from fairfold.evaluation.scores import multilabel_scores


class ManyLabelTables(NamedTuple):
    """What :func:`score_many_labels` returns: tidy tables with a column ``fold`` each."""

    at_k: pd.DataFrame
    by_frequency: pd.DataFrame


def score_many_labels(
    Y: Matrix,
    observed: Callable[[int], Matrix],
    predictions: FinalPredictions,
    *,
    bands: Sequence[int] = BANDS,
    propensity: Mapping[str, float] | None = None,
    sample_weight: np.ndarray | None = None,
    **unit: Any,
) -> ManyLabelTables:
    """Scores of out-of-fold predictions on the true labels, fold by fold.

    Propensities follow from the positives that training saw. Bands follow from those that the data have in the training
    part, hidden ones included, so that the same labels are compared whatever share is hidden.

    Parameters
    ----------
    Y : (n_samples, n_labels) all labels that the data have.
    observed : fold -> (n_samples, n_labels) labels that may be seen in training when that fold is left out.
    predictions : probabilities of left-out samples; those count that average precision scores.
    bands : see :func:`~fairfold.evaluation.at_k.scores_by_frequency_band`.
    propensity : ``A`` and ``B`` of :func:`~fairfold.evaluation.at_k.inverse_propensities`; None for its defaults.
    sample_weight : (n_samples,) above 0, how much a sample counts at k; by bands all count alike.
    **unit : columns that stand first.

    Returns
    -------
    ManyLabelTables
        ``at_k``, columns ``*unit, fold, metric, value``, the metrics of :data:`~fairfold.evaluation.metrics.METRICS`
        whose use is ``"top"``; ``by_frequency``, columns ``*unit, fold, band, least, most, n_labels, n_scored, metric,
        k, value``. Values of a fold without predictions are NaN.

    Raises
    ------
    DataError
        As :func:`~fairfold.evaluation.at_k.scores_by_frequency_band` and ``inverse_propensities`` do.
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
    return ManyLabelTables(
        pd.DataFrame(at_k, columns=[*unit, "fold", "metric", "value"]), pd.concat(by_frequency, ignore_index=True)
    )


def summarise_many_labels(at_k: pd.DataFrame, by_frequency: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Mean and standard deviation over folds.

    Parameters
    ----------
    at_k, by_frequency : of several units, ``dataset, missing_rate, model``; see :func:`score_many_labels`.

    Returns
    -------
    dict of DataFrames
        ``at_k``, columns ``dataset, missing_rate, model, metric, mean, sd, n_folds``; ``by_frequency``, columns
        ``dataset, missing_rate, model, metric, k, band, least, most, n_labels, n_scored, mean, sd, n_folds``, those
        without a label in any fold left out. ``n_folds`` have a score; ``sd`` (divided by one less) is NaN below 2.
        Numbers of labels are means over folds.
    """
    unit = ["dataset", "missing_rate", "model"]
    folds = {"mean": "mean", "sd": "std", "n_folds": "count"}
    plain = at_k.groupby([*unit, "metric"], sort=False)["value"].agg(**folds).reset_index()
    groups = by_frequency.groupby([*unit, "metric", "k", "band", "least", "most"], sort=False)
    banded = groups[["n_labels", "n_scored"]].mean().join(groups["value"].agg(**folds)).reset_index()
    by_metric = banded.groupby([*unit, "metric"], sort=False).ngroup().sort_values(kind="stable").index
    banded = banded.loc[by_metric]
    return {"at_k": plain, "by_frequency": banded[banded["n_labels"] > 0].reset_index(drop=True)}
