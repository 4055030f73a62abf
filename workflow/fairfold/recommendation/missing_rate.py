"""How many positive labels a dataset lacks, estimated from predictions and tried where labels were hidden on purpose.

The estimate is 1 - c for the label frequency c = P(observed | positive), one for all labels, of
:func:`~fairfold.weak_labels.plateau.frequency_distribution` on a model's probabilities of left-out samples.
docs/how-it-works/missing-labels.md says how far off it is where 0, 30, 50 and 70 % of the positives of eleven datasets
are hidden. It is no oracle: on data whose labels are hard to predict a positive that no feature betrays looks like a
missing one, and the interval is wide.
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
    """What is known of the labels that a dataset lacks.

    Attributes
    ----------
    frequency : distribution of the label frequency; None where it could not be estimated.
    row : one row, columns ``hidden_share, estimated_rate, low, high, reason``, shares in percent: what was hidden on
        purpose (a little less than the rate because labels lose whole positives), and what is missing of all, with a
        95 % interval, NaN where what is missing is counted; all NaN where it could not be estimated, and why.
    """

    frequency: FrequencyDistribution | None
    row: pd.DataFrame


def estimate_missing_rate(
    Y: Matrix,
    observed: Matrix,
    P: np.ndarray,
    *,
    labels: np.ndarray | None = None,
    negatives: Negatives = "unlabelled",
    hierarchical: bool = False,
    random_state: int = 0,
) -> MissingRate:
    """Share of the positive labels that are missing, the same for all labels.

    Parameters
    ----------
    Y : (n_samples, n_labels) of 0/1, the labels as they are; of samples without probabilities they are not looked at.
    observed : (n_samples, n_labels) what was left of them.
    P : (n_samples, k) probabilities of a model that did not see the sample, NaN where there are none; see
        :func:`~fairfold.weak_labels.plateau.frequency_distribution`.
    labels : (k,) numbers of the labels that they are of; None for all.
    negatives : whether labels of 0 are confirmed; then a label is missing where it is unmeasured, which is counted, and
        not estimated.
    hierarchical : whether labels are below each other, and go missing with what is below them.
    random_state : see there.

    Raises
    ------
    ModelError
        As there.
    """
    known = finite_rows(P)
    tested = known if known.any() else np.ones_like(known)  # of samples that are always trained on nothing is hidden
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
