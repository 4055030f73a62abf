"""Paired t-tests on scores that are not independent, as those of one data set's folds or cross-validations are not.

Folds of a cross-validation train on mostly the same samples, so the variance of their scores tells too little of what
other samples would have given: the plain t-test finds differences that new samples would not show. The corrected
resampled t-test (Nadeau & Bengio 2003, Machine Learning 52:239) takes any two of the J scores as correlated by ρ. The
expectation of their sample variance s² is then 1 − ρ of their variance, and the variance of their mean is estimated by

    s² (1 / J + ρ / (1 − ρ))    in place of    s² / J.

For the k folds of one cross-validation their ρ is the share of test samples, 1 / k (:func:`correlation_of_folds`), and
the second term is n_test / n_train = 1 / (k − 1). Of periods of time, which train on less, it is the mean of their
shares. Means of k folds, one per repeated cross-validation, are correlated by k / (2 k − 1)
(:func:`correlation_of_cross_validations`), and the second term is k / (k − 1).
"""

from __future__ import annotations

import numpy as np
import scipy

from fairfold.errors import ModelError


def correlation_of_folds(n_splits: int) -> float:
    """ρ between the scores of two of the ``n_splits`` folds of one cross-validation: 1 / k."""
    return 1 / n_splits


def correlation_of_cross_validations(n_splits: int) -> float:
    """ρ between the mean scores of two cross-validations of one data set: k / (2 k − 1)."""
    return n_splits / (2 * n_splits - 1)


def p_values_ahead(ahead: np.ndarray, *, correlation: float = 0.0) -> np.ndarray:
    """One-sided paired t-tests that the mean difference is not above 0.

    Parameters
    ----------
    ahead : (..., n_scores) differences of paired scores, 2 or more.
    correlation : ρ between any two scores, at least 0 and below 1; 0 is the plain paired t-test.

    Returns
    -------
    (...) p-values. Where the differences do not vary, any lead is certain (0) and none is none (1). NaN where a
    difference is.

    Raises
    ------
    ModelError
        When there are fewer than two differences, or the correlation is out of range.
    """
    n_scores = np.shape(ahead)[-1]
    mean, error = mean_and_error(ahead, correlation)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = scipy.special.stdtr(n_scores - 1, -mean / error)
    certain = np.where(mean > 0, 0.0, 1.0)
    return np.where(error > 0, p_values, np.where(np.isnan(mean), np.nan, certain))


def mean_and_error(ahead: np.ndarray, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean of (..., n_scores) paired differences, and its standard error, corrected for what scores have in common.

    Raises
    ------
    ModelError
        When there are fewer than two differences, or the correlation is out of range.
    """
    ahead = np.asarray(ahead, dtype=np.float64)
    n_scores = ahead.shape[-1]
    if n_scores < 2:
        raise ModelError(f"{n_scores} score is given of each method; a paired t-test needs 2 or more.")
    if not 0 <= correlation < 1:
        raise ModelError(f"correlation is {correlation!r}; it must be at least 0 and below 1.")
    return ahead.mean(axis=-1), ahead.std(axis=-1, ddof=1) * np.sqrt(1 / n_scores + correlation / (1 - correlation))
