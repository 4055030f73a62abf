"""Bound, known or estimated missing rate of a dataset, depending on what is declared about its labels.

The missing rate is 1 - c, where c = P(observed | positive) is the label frequency, common to all labels. Labels cannot
show c: P(observed | x) = c · P(positive | x), so noisy labels look the same as missing ones. Labels of an unknown
state therefore have an upper bound only, from :func:`~fairfold.missing_labels.bound.frequency_bound`. For labels that
are declared incomplete, :func:`~fairfold.missing_labels.plateau.frequency_distribution` estimates c. If such labels are
hard to predict, positives that no feature explains look like missing ones, and the interval is wide.
``docs/evidence/missing-labels.md`` lists the errors of the estimate on data with labels hidden on purpose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairfold.core.arrays import Matrix, finite_rows, positives_by_label
from fairfold.core.groups import SampleMetadata
from fairfold.core.validation import capped_frequency, unmeasured_cells
from fairfold.datasets.dataset import LabelsAre
from fairfold.missing_labels.bound import frequency_bound
from fairfold.missing_labels.plateau import FrequencyDistribution, frequency_distribution
from fairfold.recommendation.reference import Reference

LEVEL = 0.95
_NO_PREDICTIONS = "the model by whose predictions it is estimated has none in any fold"
_COLUMNS = ["hidden_share", "labels_are", "estimated_rate", "low", "high", "reason"]


class MissingRate(NamedTuple):
    """Missing rate of a dataset.

    Attributes
    ----------
    frequency : FrequencyDistribution or None
        Distribution of the label frequency. None if it could not be estimated. It is 1 for complete labels and for
        labels of an unknown state, which are scored as they are.
    row : DataFrame
        One row with the columns ``hidden_share, labels_are, estimated_rate, low, high, reason``, shares in percent.
        ``hidden_share`` is the share hidden on purpose. It is slightly below the requested rate, because each label
        loses a whole number of positives. ``estimated_rate`` has a 95 % confidence interval from ``low`` to ``high``.
        It is NaN for labels of an unknown state, whose missing rate is between ``low``, 0, and the 95 % upper
        confidence bound ``high``. The interval is NaN for a declared rate, and if missing labels are counted. All are
        NaN if there are no predictions, and ``reason`` explains why.
    bound : float or None, default=None
        Lower bound of the label frequency for labels of an unknown state.
    """

    frequency: FrequencyDistribution | None
    row: pd.DataFrame
    bound: float | None = None


def estimate_missing_rate(
    Y: Matrix,
    observed: Matrix,
    P: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    labels_are: LabelsAre = "incomplete",
    missing_rate: float | None = None,
    hierarchical: bool = False,
    groups: np.ndarray | None = None,
    random_state: int = 0,
) -> MissingRate:
    """Determine the share of positives that is missing, common to all labels.

    Parameters
    ----------
    Y : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Labels of the data, 0 or 1. Samples without probabilities are ignored.
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels after some were hidden on purpose.
    P : ndarray of shape (n_samples, k)
        Out-of-fold probabilities; NaN for samples without any. See
        :func:`~fairfold.missing_labels.plateau.frequency_distribution`.
    labels : ndarray of shape (k,), default=None
        Indices of the labels of ``P``. None means all labels.
    labels_are : {"complete", "unknown", "incomplete"}, default="incomplete"
        Declared state of the observed labels. Missing labels of complete ones are unmeasured, and are counted. For
        ``"unknown"`` the rate has a bound only.
    missing_rate : float or None, default=None
        Known rate of incomplete labels. None estimates it.
    hierarchical : bool, default=False
        Whether the labels form a hierarchy. Then a label goes missing together with its descendants.
    groups : ndarray of shape (n_samples,), default=None
        Groups of samples, which are not independent.
    random_state : int, default=0
        Seed of the estimate.

    Returns
    -------
    MissingRate
        The distribution of the label frequency and the row of the table. Rates count at most the zeros of each label as
        missing.

    Raises
    ------
    ModelError
        As :func:`~fairfold.missing_labels.plateau.frequency_distribution`.

    Examples
    --------
    If labels are complete, unmeasured ones are counted:

    >>> Y = np.array([[1, np.nan], [0, 1], [0, 0], [1, 0]])
    >>> missing = estimate_missing_rate(Y, Y, np.full((4, 2), 0.5), labels_are="complete")
    >>> missing.row["estimated_rate"].tolist()
    [12.5]
    """
    known = finite_rows(P)
    tested = known if known.any() else np.ones_like(known)  # Training-only samples have no hidden labels.
    groups = SampleMetadata(groups).for_training(tested).groups
    Y, observed = Y[tested], observed[tested]
    hidden = 1 - (observed == 1).sum() / max(1, (Y == 1).sum())
    if labels_are == "complete":
        missing = unmeasured_cells(observed).sum() / np.prod(observed.shape)
        return MissingRate(FrequencyDistribution.certain(1.0), _row(hidden, labels_are, missing))
    if missing_rate is not None:
        rate = _missing_share(observed, 1 - missing_rate)
        return MissingRate(FrequencyDistribution.certain(1 - missing_rate), _row(hidden, labels_are, rate))
    as_given = FrequencyDistribution.certain(1.0) if labels_are == "unknown" else None
    if not known.any():
        return MissingRate(as_given, _row(hidden, labels_are, reason=_NO_PREDICTIONS))
    seen = Reference(P, labels).columns_of(observed)
    if labels_are == "unknown":
        bound = frequency_bound(seen, P[known], confidence=LEVEL, groups=groups)
        return MissingRate(as_given, _row(hidden, labels_are, low=0.0, high=_missing_share(observed, bound)), bound)
    options: dict[str, Any] = {"ask_others": not hierarchical, "groups": groups, "random_state": random_state}
    frequency = frequency_distribution(seen, P[known], **options)
    high, low = (_missing_share(observed, c) for c in frequency.interval(LEVEL))
    return MissingRate(frequency, _row(hidden, labels_are, _missing_share(observed, frequency.median), low, high))


def _missing_share(observed: Matrix, label_frequency: float) -> float:
    """Return the share of positives that is missing if each label misses at most its zeros."""
    n_observed = positives_by_label(observed)
    return 1 - n_observed.sum() / max(1, (n_observed / capped_frequency(observed, label_frequency)).sum())


def _row(
    hidden: float,
    labels_are: LabelsAre,
    estimate: float = np.nan,
    low: float = np.nan,
    high: float = np.nan,
    reason: str = "",
) -> pd.DataFrame:
    shares = 100 * np.array([hidden, estimate, low, high])
    return pd.DataFrame([(shares[0], labels_are, *shares[1:], reason)], columns=_COLUMNS)
