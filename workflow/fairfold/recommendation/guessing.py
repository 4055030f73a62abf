"""Level of guessing: a model that knows the frequency of each label, and no feature.

Scores that pool labels of different frequency can be high without any use of features. Every leaderboard therefore ends
with the score of guessing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from fairfold.core.arrays import Matrix
from fairfold.core.folds import parts_of
from fairfold.core.validation import shares_of_positives
from fairfold.evaluation.compare import GUESSING
from fairfold.evaluation.fold_scores import FinalPredictions
from fairfold.metrics.registry import BASIC_METRICS, METRICS
from fairfold.missing_labels.plateau import FrequencyDistribution
from fairfold.recommendation.complete_scores import complete_scores
from fairfold.recommendation.verdicts import study_verdicts

_MOST_LABELS = 200  # most frequent labels with a probability, for sparse labels; as models keep
_ALPHA = 0.05


def guess(
    observed: Callable[[int], Matrix], fold_of: np.ndarray, n_labels: int, metrics: Iterable[str] = BASIC_METRICS
) -> FinalPredictions:
    """Predict each label by its frequency in the training part of a fold.

    Parameters
    ----------
    observed : callable
        Function that takes a fold and returns the labels that models are trained on, of shape (n_samples, n_labels).
    fold_of : ndarray of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample.
    n_labels : int
        Number of labels.
    metrics : iterable of str, default=BASIC_METRICS
        Metrics that will score the predictions.

    Returns
    -------
    FinalPredictions
        Out-of-fold predictions.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    >>> guess(lambda fold: Y, np.array([0, 0, 1, 1]), 2).in_fold("mcc", 0)
    array([[0.5, 1. ],
           [0.5, 1. ]])
    """
    stages, is_sparse = {}, False
    for fold, (train, test) in enumerate(parts_of(fold_of, np.shape(fold_of)[-1])):
        Y = observed(fold)[train]
        is_sparse = sparse.issparse(Y)
        stages[fold] = {0: _repeated(shares_of_positives(Y), len(test), is_sparse)}
    levels = {fold: dict.fromkeys([*BASIC_METRICS, *metrics], 0) for fold in stages}
    return FinalPredictions.of_folds(stages, levels, fold_of, n_labels, is_sparse=is_sparse)


def _repeated(frequencies: np.ndarray, n_samples: int, is_sparse: bool) -> Matrix:
    if not is_sparse:
        return np.tile(frequencies, (n_samples, 1))
    kept = np.sort(np.argsort(-frequencies, kind="stable")[:_MOST_LABELS])
    starts = len(kept) * np.arange(n_samples + 1)
    values = np.tile(frequencies[kept], n_samples)
    return sparse.csr_array((values, np.tile(kept, n_samples), starts), shape=(n_samples, len(frequencies)))


def n_models_above_chance(Y: np.ndarray, predictions: Mapping[str, np.ndarray]) -> np.ndarray:
    """Count for each label the models that rank its positives above chance.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Observed labels of 0/1; NaN is an unmeasured label.
    predictions : mapping of str to ndarray of shape (n_samples, n_labels)
        Out-of-fold probabilities of each model; NaN for samples without a prediction.

    Returns
    -------
    ndarray of int of shape (n_labels,)
        Number of models with a significant one-sided Mann-Whitney test at level 0.05, divided by the number of models.
        0 for a label without positives or negatives.

    Examples
    --------
    >>> Y = np.repeat([[1, 1], [0, 1]], 8, axis=0)
    >>> n_models_above_chance(Y, {"good": Y * 0.8, "bad": np.full(Y.shape, 0.5)})
    array([1, 0])
    """
    from scipy.stats import mannwhitneyu  # a slow import that jobs without this step do not need

    found = np.zeros(Y.shape[1], dtype=np.int64)
    for P in predictions.values():
        for label in range(Y.shape[1]):
            known = np.isfinite(P[:, label])
            positive, negative = (P[known & (Y[:, label] == value), label] for value in (1, 0))
            if len(positive) and len(negative) and np.ptp(P[known, label]) > 0:
                test = mannwhitneyu(positive, negative, alternative="greater", method="asymptotic")
                found[label] += test.pvalue <= _ALPHA / len(predictions)
    return found


def best_model(scores: pd.DataFrame, score: str) -> str | None:
    """Return the model with the best mean score.

    Parameters
    ----------
    scores : DataFrame
        Columns ``model, metric, observed, corrected`` of
        :func:`~fairfold.recommendation.complete_scores.complete_scores`.
    score : str
        Name of a metric.

    Returns
    -------
    str or None
        Name of the model, or None if no model has the score.

    Examples
    --------
    >>> table = {"model": ["A", "B"], "metric": "hamming_loss", "observed": [0.2, 0.1], "corrected": np.nan}
    >>> best_model(pd.DataFrame(table), "hamming_loss")
    'B'
    """
    rows = scores[scores["metric"] == score].set_index("model")
    values = METRICS[score].direction * rows["corrected"].fillna(rows["observed"]).dropna()
    return None if values.empty else str(values.idxmax())


def score_guessing(
    Y: Matrix,
    observed: Matrix,
    in_training: Callable[[int], Matrix],
    fold_of: np.ndarray,
    best: Mapping[str, FinalPredictions],
    frequency: FrequencyDistribution | None,
    known_frequency: float,
    *,
    score: str,
    **options: Any,
) -> pd.DataFrame:
    """Score guessing on test folds, and compare it with the best model.

    Parameters
    ----------
    Y, observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        All labels, and observed labels.
    in_training : callable
        Function that takes a fold and returns the labels that models are trained on.
    fold_of : ndarray of shape (n_samples,) or (n_repeats, n_samples)
        Test fold of each sample.
    best : mapping of str to FinalPredictions
        Predictions of the best model, or nothing.
    frequency : FrequencyDistribution or None
        Distribution of the label frequency, as for the models.
    known_frequency : float
        True label frequency.
    score : str
        Score of the study.
    **options : object
        Parameters ``threshold, groups, sample_weight, hierarchical`` of
        :func:`~fairfold.recommendation.complete_scores.complete_scores`.

    Returns
    -------
    DataFrame
        Rows of folds as for the models, with the name ``GUESSING`` and two more columns. ``behind_low`` and
        ``behind_high`` are the 95 % interval of the distance from the best model, for the score of the study.
    """
    guessed = guess(in_training, fold_of, Y.shape[1], [score])
    options |= {"score": score}
    predictions = {GUESSING: guessed}
    scored = complete_scores(Y, observed, predictions, frequency, known_frequency, **options, balanced=False, n_draws=1)
    table = scored["folds"].assign(behind_low=np.nan, behind_high=np.nan)
    if best:
        verdicts = study_verdicts(observed, {**best, **predictions}, frequency, **options)
        own = verdicts[(verdicts["metric"] == score) & (verdicts["model"] == GUESSING)]
        for row in own.itertuples():
            table.loc[table["metric"] == score, ["behind_low", "behind_high"]] = row.low, row.high
    return table
