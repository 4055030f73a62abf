"""Scores of one model on the folds of a cross-validation, with the influence of each sample on their mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix
from fairfold.core.defaults import THRESHOLD
from fairfold.core.folds import Part
from fairfold.core.validation import check_weights
from fairfold.errors import DataError
from fairfold.metrics.plain_scores import check_pair
from fairfold.metrics.ranked_cells import check_frequency
from fairfold.metrics.registry import Predictions
from fairfold.metrics.scores import checked_metrics, multilabel_scores
from fairfold.missing_labels.corrected import corrected_scores

MOST_BLOCKS = 50  # Blocks of the grouped jackknife. The standard deviation of a standard error is then 10 %.
_STEP = 0.01  # Relative step of the derivative by the label frequency.


class FoldScores(NamedTuple):
    """Scores of a model on folds, and how the score of each fold depends on samples.

    Attributes
    ----------
    scores : ndarray of shape (n_folds,)
        Score of each fold. NaN where it is undefined.
    influences : list of ndarray of shape (n_tested,)
        Influence of each test sample on the score of its fold. Zeros where the score is undefined.
    slopes : ndarray of shape (n_folds,)
        Derivative of each score by the logarithm of the label frequency. 0 for scores that are not corrected.
    """

    scores: np.ndarray
    influences: list[np.ndarray]
    slopes: np.ndarray


def fold_scores(
    Y: Matrix,
    P_of: Callable[[int], Matrix],
    parts: Sequence[Part],
    metric: str,
    *,
    units: np.ndarray,
    threshold: float = THRESHOLD,
    weights: np.ndarray | None = None,
    label_frequency: ArrayLike | None = None,
    inverse_propensity: np.ndarray | None = None,
) -> FoldScores:
    """Score a model on each fold, with the influence of each test sample.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels, 0 or 1. NaN marks an unmeasured label.
    P_of : callable
        Returns the probabilities of the test samples of a fold, given its number.
    parts : sequence of tuple of ndarray
        Training and test samples of each fold.
    metric : str
        Name of a metric.
    units : ndarray of int of shape (n_samples,)
        Number of the group of each sample. Samples of a group are left out together where a score is recomputed.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    weights : ndarray of shape (n_samples,) or None, default=None
        Positive weight of each sample.
    label_frequency : float, array-like of shape (n_labels,) or (n_samples, n_labels), or None, default=None
        Share of positives that is observed. None scores the labels as they are.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensities for propensity-scored precision.

    Returns
    -------
    FoldScores
        Scores and influences.

    Raises
    ------
    DataError
        As :func:`~fairfold.metrics.multilabel_scores` and
        :func:`~fairfold.missing_labels.corrected_scores`.
    """
    shape = (Y.shape[0], Y.shape[1])
    frequency = None if label_frequency is None else check_frequency(label_frequency, shape)
    scores, influences, slopes = np.full(len(parts), np.nan), [], np.zeros(len(parts))
    for fold, (_, test) in enumerate(parts):
        of_test = frequency[test] if frequency is not None and frequency.ndim == 2 else frequency
        of_fold = FoldScorer(metric, threshold, of_test, inverse_propensity)
        tested = Y[test], P_of(fold), None if weights is None else weights[test]
        scores[fold] = of_fold.score(*tested)
        is_defined = not np.isnan(scores[fold])
        influences.append(of_fold.influence(*tested, units[test]) if is_defined else np.zeros(len(test)))
        slopes[fold] = of_fold.slope(*tested) if is_defined else 0.0
    return FoldScores(scores, influences, slopes)


class FoldScorer(NamedTuple):
    """Score of the samples of one fold, and its derivatives.

    Attributes
    ----------
    metric : str
        Name of a metric.
    threshold : float, default=0.5
        A label is predicted if its probability exceeds this threshold.
    frequency : ndarray of shape (), (n_labels,) or (n_samples, n_labels), or None, default=None
        Label frequency. None scores the labels as they are.
    inverse_propensity : ndarray of shape (n_labels,) or None, default=None
        Inverse propensities for propensity-scored precision.
    """

    metric: str
    threshold: float = THRESHOLD
    frequency: np.ndarray | None = None
    inverse_propensity: np.ndarray | None = None

    def score(self, Y: Matrix, P: Matrix, weights: np.ndarray | None, rows: np.ndarray | None = None) -> float:
        """Score samples.

        Parameters
        ----------
        Y, P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels and probabilities.
        weights : ndarray of shape (n_samples,) or None
            Weight of each sample.
        rows : ndarray of int or None, default=None
            Samples to score. None scores all.

        Returns
        -------
        float
            Score, NaN if it is undefined.
        """
        rows = np.arange(Y.shape[0]) if rows is None else rows
        scored = Y[rows], P[rows]
        of_rows = None if weights is None else weights[rows]
        if self.frequency is None:
            further = {"sample_weight": of_rows, "inverse_propensity": self.inverse_propensity}
            return multilabel_scores(*scored, self.threshold, metrics=[self.metric], **further)[self.metric]
        frequency = self.frequency[rows] if self.frequency.ndim == 2 else self.frequency
        return corrected_scores(*scored, frequency, self.threshold, metrics=[self.metric], sample_weight=of_rows)[
            self.metric
        ]

    def influence(self, Y: Matrix, P: Matrix, weights: np.ndarray | None, units: np.ndarray) -> np.ndarray:
        """Compute the influence of each sample on the score.

        Parameters
        ----------
        Y, P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels and probabilities.
        weights : ndarray of shape (n_samples,) or None
            Weight of each sample.
        units : ndarray of int of shape (n_samples,)
            Group of each sample.

        Returns
        -------
        ndarray of shape (n_samples,)
            Influences. Their sum is 0. Without a formula for the metric, they are those of :func:`jackknife`.
        """
        entry = checked_metrics([self.metric], self.inverse_propensity)[self.metric]
        is_of_samples = entry.correction is not None and entry.correction.of_samples
        if entry.influence is None or (self.frequency is not None and is_of_samples):
            return jackknife(lambda rows: self.score(Y, P, weights, rows), units)
        Y, P = check_pair(Y, P)
        frequency = np.ones(()) if self.frequency is None else self.frequency
        of_samples = check_weights(weights, Y.shape[0], DataError)
        predictions = Predictions(Y, P, self.threshold, of_samples, self.inverse_propensity, frequency)
        return entry.influence(predictions)

    def slope(self, Y: Matrix, P: Matrix, weights: np.ndarray | None) -> float:
        """Compute the derivative of a corrected score by the logarithm of the label frequency.

        Parameters
        ----------
        Y, P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
            Labels and probabilities.
        weights : ndarray of shape (n_samples,) or None
            Weight of each sample.

        Returns
        -------
        float
            Difference quotient. 0 if the score is not corrected.
        """
        if self.frequency is None:
            return 0.0
        steps = [np.minimum(self.frequency * factor, 1.0) for factor in (1 - _STEP, 1 + _STEP)]
        low, high = (self._replace(frequency=each).score(Y, P, weights) for each in steps)
        return (high - low) / float(np.mean(np.log(steps[1] / steps[0])))


def jackknife(score: Callable[[np.ndarray], float], units: np.ndarray) -> np.ndarray:
    """Compute influences by leaving out blocks of groups.

    Parameters
    ----------
    score : callable
        Function of the indices of some samples that returns their score.
    units : ndarray of int of shape (n_samples,)
        Group of each sample. Each block contains whole groups.

    Returns
    -------
    ndarray of shape (n_samples,)
        Influences. The influence of a block is divided among its groups so that the sum of squares over groups equals
        that over blocks. A block without which the score is undefined has no influence.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 6.0])
    >>> jackknife(lambda rows: values[rows].mean(), np.arange(3)).round(2)
    array([-0.82, -0.41,  1.22])
    """
    names, unit = np.unique(units, return_inverse=True)
    n_blocks = min(len(names), MOST_BLOCKS)
    block_of = np.arange(len(names)) % n_blocks  # Neighbors are in different blocks.
    if n_blocks < 2:
        return np.zeros(len(units))
    without = np.array([score(np.flatnonzero(block_of[unit] != block)) for block in range(n_blocks)])
    ahead = np.nan_to_num(np.nanmean(without) - without) * np.sqrt((n_blocks - 1) / n_blocks)
    share = 1 / np.sqrt(np.bincount(block_of, minlength=n_blocks)[block_of])
    return (ahead[block_of] * share / np.bincount(unit))[unit]
