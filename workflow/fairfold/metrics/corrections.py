"""Corrections of scores for missing labels. :mod:`fairfold.missing_labels.corrected` derives the formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairfold.core.arrays import quotient
from fairfold.metrics.plain_scores import Counts
from fairfold.metrics.ranked_cells import WeightedCells


def mcc(true_positives: np.ndarray, first: np.ndarray, second: np.ndarray, n: np.ndarray | float) -> np.ndarray:
    """Compute the Matthews correlation coefficient from counts or weights.

    Parameters
    ----------
    true_positives : ndarray of shape (...)
        Number of true positives.
    first, second : ndarray of shape (...)
        Numbers of predicted labels and of positives, in any order.
    n : float or ndarray of shape (...)
        Number of all pairs of a sample and a label.

    Returns
    -------
    ndarray of shape (...)
        Matthews correlation coefficient. 0 if `first` or `second` is 0 or `n`.

    Examples
    --------
    >>> import numpy as np
    >>> mcc(np.array([2.0, 1.0]), np.array([2.0, 4.0]), np.array([2.0, 1.0]), 4)
    array([1., 0.])
    """
    covariance = true_positives * n - first * second
    spread = first * (n - first) * second * (n - second)
    return covariance / np.sqrt(np.where(spread > 0, spread, np.inf))


def f1(true_positives: np.ndarray, first: np.ndarray, second: np.ndarray, n: np.ndarray | float = np.nan) -> np.ndarray:
    """Compute the F1 score, the harmonic mean of precision and recall, from counts or weights.

    Parameters
    ----------
    true_positives : ndarray of shape (...)
        Number of true positives.
    first, second : ndarray of shape (...)
        Numbers of predicted labels and of positives, in any order.
    n : float or ndarray of shape (...), default=nan
        Not used. Present for consistency with :func:`mcc`.

    Returns
    -------
    ndarray of shape (...)
        F1 score. 0 if `first` and `second` are 0.

    Examples
    --------
    >>> import numpy as np
    >>> f1(np.array([2.0, 0.0]), np.array([2.0, 0.0]), np.array([6.0, 0.0]))
    array([0.5, 0. ])
    """
    return 2 * true_positives / np.maximum(first + second, np.finfo(float).tiny)


ODDS_FACTOR = 4.0
"""Odds that one of the hardest positives is missing, relative to one of the easiest, for the score ``if_hard``."""
SENSITIVITY = ["if_hard", "if_easy"]
"""Columns of the scores if hard, or easy, positives are missing more often."""
NOT_CORRECTED = "cannot be corrected"
_ROUNDING = 1e-9  # Relative rounding error of sums that add the same weights in another order.


class Estimates(NamedTuple):
    """Sums over (sample, label) pairs, estimated for complete labels in one or more draws of the samples.

    The corrected metrics are computed from these sums. A draw is a bootstrap sample, or all samples once.

    Parameters
    ----------
    weighed : WeightedCells
        Weighted sums over the ranked pairs. The weight of an observed positive is divided by its label frequency.
    true_positives : ndarray of shape (n_draws,)
        Weight of the true positives.
    predicted : ndarray of shape (n_draws,)
        Weight of the predicted labels.
    positives : ndarray of shape (n_draws,)
        Weight of the positives.
    whole : ndarray of shape (n_draws,)
        Weight of all pairs.
    """

    weighed: WeightedCells
    true_positives: np.ndarray
    predicted: np.ndarray
    positives: np.ndarray
    whole: np.ndarray

    def where_negatives(self, values: np.ndarray, positives: np.ndarray) -> np.ndarray:
        """Set scores to NaN in draws whose estimated positives leave no negative.

        Parameters
        ----------
        values : ndarray of shape (n_draws,)
            Scores.
        positives : ndarray of shape (n_draws,)
            Estimated weight of positives.

        Returns
        -------
        ndarray of shape (n_draws,)
            Scores, with NaN in draws without a negative.
        """
        return np.where(self.whole - positives > _ROUNDING * self.whole, values, np.nan)


class Correction(NamedTuple):
    """Correction of a metric for missing labels.

    Parameters
    ----------
    function : callable
        Function that takes :class:`Estimates`, or the ranking loss of each draw if `of_samples` is True. It returns
        the corrected metric as an array of shape (n_draws,), with NaN where the metric is undefined.
    macro : bool, default=False
        Whether the function is applied to each label, and its results are averaged over labels.
    of_samples : bool, default=False
        Whether the correction uses the labels of each sample. Such a correction requires labels that are missing
        independently of each other and is not applied to hierarchies of labels.
    """

    function: Callable[..., np.ndarray]
    macro: bool = False
    of_samples: bool = False


def average_precision(estimates: Estimates) -> np.ndarray:
    """Estimate average precision on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. NaN if no positive is observed, or if the estimated positives leave no negative.
    """
    return estimates.where_negatives(quotient(*estimates.weighed.precision_sums()), estimates.weighed.positives)


def roc_auc(estimates: Estimates) -> np.ndarray:
    """Estimate the area under the ROC curve on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. NaN if no positive is observed, or if the estimated positives leave no negative.
    """
    return estimates.where_negatives(quotient(*estimates.weighed.order_sums()), estimates.weighed.positives)


def corrected_mcc(estimates: Estimates) -> np.ndarray:
    """Estimate the Matthews correlation coefficient on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. NaN if the estimated positives leave no negative.
    """
    return estimates.where_negatives(
        mcc(estimates.true_positives, estimates.positives, estimates.predicted, estimates.whole), estimates.positives
    )


def f1_of(counts: Counts | Estimates) -> np.ndarray:
    """Compute F1 from counts, or from sums that are estimated for complete labels.

    Parameters
    ----------
    counts : Counts or Estimates
        Counts or sums.

    Returns
    -------
    ndarray
        F1 of each label, sample or draw. 0 without positives and predicted labels.
    """
    return f1(counts.true_positives, counts.predicted, counts.positives)


def hamming_loss_of(counts: Counts) -> np.ndarray:
    """Compute the Hamming loss from counts.

    Parameters
    ----------
    counts : Counts
        Counts.

    Returns
    -------
    ndarray
        Hamming loss. NaN if no label is measured.
    """
    return quotient(counts.positives + counts.predicted - 2 * counts.true_positives, counts.measured)


def precision_of(counts: Counts | Estimates) -> np.ndarray:
    """Compute precision from counts, or from sums that are estimated for complete labels.

    Parameters
    ----------
    counts : Counts or Estimates
        Counts or sums.

    Returns
    -------
    ndarray
        Precision of each label, sample or draw. 0 without predicted labels.
    """
    return np.nan_to_num(quotient(counts.true_positives, counts.predicted))


def corrected_recall(estimates: Estimates) -> np.ndarray:
    """Estimate recall on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. It does not depend on the label frequency, if all labels share one.
    """
    return quotient(estimates.true_positives, estimates.positives)


def corrected_brier_score(estimates: Estimates) -> np.ndarray:
    """Estimate the Brier score on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. It is linear in the labels and therefore unbiased.
    """
    weighed = estimates.weighed
    P = weighed.ranking.P
    of_negatives = np.diff(weighed.until, axis=-1) @ P**2
    return quotient(of_negatives + weighed.positive @ (1 - 2 * P[weighed.ranking.places]), estimates.whole)


def corrected_hamming_loss(estimates: Estimates) -> np.ndarray:
    """Estimate the Hamming loss on complete labels.

    Parameters
    ----------
    estimates : Estimates
        Sums estimated for complete labels.

    Returns
    -------
    ndarray of shape (n_draws,)
        Estimate of each draw. NaN if all weights are 0.
    """
    return quotient(estimates.positives + estimates.predicted - 2 * estimates.true_positives, estimates.whole)
