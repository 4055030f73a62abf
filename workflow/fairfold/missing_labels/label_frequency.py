"""Estimate the label frequency with an interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.arrays import Matrix, to_dense
from fairfold.core.validation import check_same_columns
from fairfold.errors import ModelError
from fairfold.missing_labels.plateau import frequency_distribution


class FrequencyEstimate(NamedTuple):
    """Estimate of the label frequency, the share of positives that is observed.

    Attributes
    ----------
    estimate : float
        Median of its distribution, above 0 and at most 1.
    low, high : float
        Limits of the interval.
    """

    estimate: float
    low: float
    high: float


def estimate_label_frequency(
    Y_observed: Matrix,
    P: Matrix,
    *,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> FrequencyEstimate:
    """Estimate which share of the positives is observed, if positives are missing.

    The estimate takes for granted that positives are missing at random, at the same rate in all labels, and that some
    samples are certain to have a label. Labels cannot show this: noisy labels look the same as missing ones. Use it
    only if you know that zeros are missing positives.

    Parameters
    ----------
    Y_observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. NaN marks an unmeasured label.
    P : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Probabilities that labels are observed, from models that were not trained on the sample.
    confidence : float, default=0.95
        Probability of the interval.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample, such as a patient, if samples of a group are not independent.
    random_state : int, default=0
        Seed of the folds that predict labels from other labels.

    Returns
    -------
    FrequencyEstimate
        Estimate with its interval. The missing rate is 1 minus the label frequency.

    Raises
    ------
    ModelError
        If shapes differ, labels or probabilities are invalid, or the confidence is not between 0 and 1.
    DataError
        If data frames have different columns.

    See Also
    --------
    fairfold.missing_labels.frequency_bound : What labels show without an assumption.

    Examples
    --------
    Half of the positives are hidden.

    >>> import numpy as np
    >>> from fairfold.missing_labels import estimate_label_frequency
    >>> rng = np.random.default_rng(0)
    >>> P = np.repeat([0.02, 0.98], 500)[:, np.newaxis] * np.ones((1, 3))
    >>> Y = (rng.random(P.shape) < P) & (rng.random(P.shape) < 0.5)
    >>> found = estimate_label_frequency(Y.astype(int), P / 2)
    >>> found.low < 0.5 < found.high < 1
    True
    """
    if not 0 < confidence < 1:
        raise ModelError(f"confidence is {confidence}. Choose a number between 0 and 1.")
    check_same_columns(Y_observed, P, ("Y_observed", "P"))
    Y, P = (to_dense(each, name, ModelError) for each, name in ((Y_observed, "Y_observed"), (P, "P")))
    known = None if groups is None else np.asarray(groups)
    distribution = frequency_distribution(Y, P, groups=known, random_state=random_state)
    return FrequencyEstimate(distribution.median, *map(float, distribution.interval(confidence)))
