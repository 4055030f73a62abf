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

The correlated Bayesian t-test (:func:`equivalence_probabilities`) reads the same test as a posterior: with the matching
uninformative prior, the mean difference of J paired scores that correlate by ρ is distributed as

    Student's t with J − 1 degrees of freedom, mean x̄ and squared scale s² (1 / J + ρ / (1 − ρ)).

Its mass left of, in and right of the region of practical equivalence [−rope, rope] are the three probabilities.

For folds whose differences are normal with mean δ, variance σ² and correlation ρ, the corrected t-test's statistic has
a noncentral t distribution with noncentrality δ / √(σ² ((1 − ρ) / J + ρ)), exactly; σ² (1 − ρ) is estimated by s².

References
----------
G. Corani & A. Benavoli (2015), A Bayesian approach for comparing cross-validated algorithms on multiple data sets,
Machine Learning 100, section 3.1.
A. Benavoli, G. Corani, J. Demšar & M. Zaffalon (2017), Time for a change, JMLR 18(77), section 4.2.
"""

from __future__ import annotations

from functools import cache

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


ROPE = 0.01  # Benavoli et al. 2017 take a difference in accuracy of one percent for none


def equivalence_probabilities(
    ahead: np.ndarray, *, rope: float = ROPE, correlation: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities that the mean difference is below −rope, within ±rope and above rope.

    Parameters
    ----------
    ahead : (..., n_scores) differences of paired scores, 2 or more: those of all folds of all repetitions.
    rope : half the width of the region of practical equivalence, in the scores' unit; at least 0.
    correlation : ρ between any two scores, at least 0 and below 1; 1 / k for the folds of k-fold cross-validations.

    Returns
    -------
    worse, equivalent, better : (...) each; they sum to 1. Where the differences do not vary, one is 1; a difference of
        rope is practically equal. NaN where a difference is.

    Raises
    ------
    ModelError
        When there are fewer than two differences, or rope or correlation are out of range.
    """
    if not rope >= 0:
        raise ModelError(f"rope is {rope!r}; a region of practical equivalence is at least 0 wide.")
    mean, error = mean_and_error(ahead, correlation)
    df = np.shape(ahead)[-1] - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        worse, better = (scipy.special.stdtr(df, (-rope - lead) / error) for lead in (mean, -mean))
    varies = error > 0
    worse, better = (
        np.where(varies, found, np.where(np.isnan(mean), np.nan, lead > rope))
        for found, lead in ((worse, -mean), (better, mean))
    )
    return worse, np.clip(1 - worse - better, 0, 1), better


def detectable_difference(
    ahead: np.ndarray, *, correlation: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> np.ndarray:
    """The least mean difference that a two-sided corrected t-test finds with this power, if they vary like these.

    Parameters
    ----------
    ahead : (..., n_scores) differences of paired scores, 2 or more; only their variance counts.
    correlation : ρ between any two scores, at least 0 and below 1.
    alpha : level of the test.
    power : probability to find the difference.

    Returns
    -------
    (...) in the scores' unit. 0 where the differences do not vary or alpha is no less than power, NaN where a
        difference is.

    Raises
    ------
    ModelError
        When there are fewer than two differences, or correlation, alpha or power are out of range.
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ModelError(f"alpha is {alpha!r} and power {power!r}; both must be above 0 and below 1.")
    _, error = mean_and_error(ahead, correlation)
    return _noncentrality(np.shape(ahead)[-1] - 1, alpha, power) * error


@cache
def _noncentrality(df: int, alpha: float, power: float) -> float:
    """Noncentrality at which a two-sided t-test has the given power."""
    if power <= alpha:
        return 0.0
    critical = scipy.special.stdtrit(df, 1 - alpha / 2)

    def lacking(noncentrality: float) -> float:
        lower, upper = scipy.special.nctdtr(df, noncentrality, [-critical, critical])
        # the far tail, below 1e-8, cannot always be computed
        return upper - np.nan_to_num(lower) - (1 - power)

    high = 1.0
    while lacking(high) > 0:
        high *= 2
    return float(scipy.optimize.brentq(lacking, 0, high, xtol=1e-12))
