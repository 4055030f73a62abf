"""Estimate the missing rate of a dataset from out-of-fold predictions.

The estimate is 1 - c, where c = P(observed | positive) is the label frequency, common to all labels. It comes from
:func:`~fairfold.weak_labels.plateau.frequency_distribution`. If labels are hard to predict, positives that no feature
explains look like missing ones, and the interval is wide. ``docs/evidence/missing-labels.md`` lists the errors of
the estimate on data with labels hidden on purpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix, finite_rows
from fairfold.core.validation import Negatives, unmeasured_cells
from fairfold.recommendation.reference import Reference
from fairfold.weak_labels.plateau import FrequencyDistribution, frequency_distribution

LEVEL = 0.95
_NO_PREDICTIONS = "the model by whose predictions it is estimated has none in any fold"
_COLUMNS = ["hidden_share", "estimated_rate", "low", "high", "reason"]


class MissingRate(NamedTuple):
    """Estimated missing rate of a dataset.

    Attributes
    ----------
    frequency : FrequencyDistribution or None
        Distribution of the label frequency. None if it could not be estimated.
    row : DataFrame
        One row with the columns ``hidden_share, estimated_rate, low, high, reason``, shares in percent.
        ``hidden_share`` is the share hidden on purpose. It is slightly below the requested rate, because each label
        loses a whole number of positives. ``estimated_rate`` has a 95 % confidence interval from ``low`` to ``high``.
        The interval is NaN if missing labels are counted. All are NaN if there is no estimate, and ``reason`` explains
        why.
    """

    frequency: FrequencyDistribution | None
    row: pd.DataFrame


def estimate_missing_rate(
    Y: Matrix,
    observed: Matrix,
    P: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    negatives: Negatives = "unlabeled",
    hierarchical: bool = False,
    random_state: int = 0,
) -> MissingRate:
    """Estimate the share of positives that is missing, common to all labels.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of the data, 0 or 1. Samples without probabilities are ignored.
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels after some were hidden on purpose.
    P : ndarray of shape (n_samples, k)
        Out-of-fold probabilities; NaN for samples without any. See
        :func:`~fairfold.weak_labels.plateau.frequency_distribution`.
    labels : ndarray of shape (k,), default=None
        Indices of the labels of ``P``. None means all labels.
    negatives : {"unlabeled", "confirmed"}, default="unlabeled"
        Whether zeros are confirmed negatives. If they are, missing labels are unmeasured ones, which are counted.
    hierarchical : bool, default=False
        Whether the labels form a hierarchy. Then a label goes missing together with its descendants.
    random_state : int, default=0
        Seed of the estimate.

    Returns
    -------
    MissingRate
        The distribution of the label frequency and the row of the table.

    Raises
    ------
    ModelError
        As :func:`~fairfold.weak_labels.plateau.frequency_distribution`.

    Examples
    --------
    If zeros are confirmed, unmeasured labels are counted:

    >>> Y = np.array([[1, np.nan], [0, 1], [0, 0], [1, 0]])
    >>> missing = estimate_missing_rate(Y, Y, np.full((4, 2), 0.5), negatives="confirmed")
    >>> missing.row["estimated_rate"].tolist()
    [12.5]
    """
    known = finite_rows(P)
    tested = known if known.any() else np.ones_like(known)  # Training-only samples have no hidden labels.
    Y, observed = Y[tested], observed[tested]
    hidden = 1 - (observed == 1).sum() / max(1, (Y == 1).sum())
    if negatives == "confirmed":
        missing = unmeasured_cells(observed).sum() / np.prod(observed.shape)
        return MissingRate(FrequencyDistribution.certain(1.0), _row(hidden, missing, np.nan, np.nan))
    if not known.any():
        return MissingRate(None, _row(hidden, np.nan, np.nan, np.nan, _NO_PREDICTIONS))
    seen = Reference(P, labels).columns_of(observed)
    frequency = frequency_distribution(seen, P[known], ask_others=not hierarchical, random_state=random_state)
    low, high = frequency.interval(LEVEL)
    return MissingRate(frequency, _row(hidden, 1 - frequency.median, 1 - high, 1 - low))


def _row(hidden: float, estimate: float, low: float, high: float, reason: str = "") -> pd.DataFrame:
    return pd.DataFrame([(*(100 * np.array([hidden, estimate, low, high])), reason)], columns=_COLUMNS)
