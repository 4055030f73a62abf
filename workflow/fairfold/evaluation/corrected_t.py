"""Paired t-tests for scores that are not independent, such as scores of folds or repeated cross-validations.

The folds of a cross-validation share most of their training samples. The variance of their scores therefore
underestimates the variance between independent data sets, and the plain t-test reports too many differences. The
corrected resampled t-test (Nadeau & Bengio 2003) assumes that any two of the J scores have the correlation ρ. The
expected sample variance s² is then 1 − ρ times the variance of a score, and the variance of the mean is estimated by

    s² (1 / J + ρ / (1 − ρ))    instead of    s² / J.

For the k folds of one cross-validation, ρ is the share of test samples, 1 / k (:func:`correlation_of_folds`), and the
second term is n_test / n_train = 1 / (k − 1). For periods of time with growing training parts, ρ is the mean of their
shares. The mean scores of repeated cross-validations with k folds have the correlation k / (2 k − 1)
(:func:`correlation_of_cross_validations`), and the second term is k / (k − 1).

The correlated Bayesian t-test (:func:`equivalence_probabilities`) interprets the same test as a posterior. With the
matching uninformative prior, the mean difference of J paired scores with correlation ρ follows

    Student's t with J − 1 degrees of freedom, mean x̄ and squared scale s² (1 / J + ρ / (1 − ρ)).

The three probabilities are its mass below, within and above the region of practical equivalence [−rope, rope].

Assume that the differences of folds are normal with mean δ, variance σ² and correlation ρ. The statistic of the
corrected t-test then has an exact noncentral t distribution with noncentrality δ / √(σ² ((1 − ρ) / J + ρ)), where s²
estimates σ² (1 − ρ).

References
----------
C. Nadeau & Y. Bengio (2003), Inference for the generalization error, Machine Learning 52:239.
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
    """Return the correlation between the scores of two folds of one cross-validation, 1 / k.

    Parameters
    ----------
    n_splits : int
        Number of folds, k.

    Returns
    -------
    float
        Correlation of the scores.

    Examples
    --------
    >>> correlation_of_folds(5)
    0.2
    """
    return 1 / n_splits


def correlation_of_cross_validations(n_splits: int) -> float:
    """Return the correlation between the mean scores of two cross-validations of one data set, k / (2 k − 1).

    Parameters
    ----------
    n_splits : int
        Number of folds, k.

    Returns
    -------
    float
        Correlation of the mean scores.

    Examples
    --------
    >>> round(correlation_of_cross_validations(5), 2)
    0.56
    """
    return n_splits / (2 * n_splits - 1)


def one_sided_p_values(ahead: np.ndarray, *, correlation: float = 0.0) -> np.ndarray:
    """Compute p-values of one-sided paired t-tests for a mean difference above 0.

    Parameters
    ----------
    ahead : ndarray of shape (..., n_scores)
        Differences of paired scores, at least 2.
    correlation : float, default=0.0
        Correlation ρ between any two scores, at least 0 and below 1. 0 gives the plain paired t-test.

    Returns
    -------
    ndarray of shape (...)
        p-values. If the differences do not vary, 0 for a positive mean and 1 otherwise. NaN if a difference is NaN.

    Raises
    ------
    ModelError
        If there are fewer than two differences, or the correlation is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> differences = np.array([0.03, 0.01, 0.02, 0.02, 0.04])
    >>> [round(float(one_sided_p_values(differences, correlation=rho)), 3) for rho in (0.0, 0.2)]
    [0.005, 0.017]
    """
    n_scores = np.shape(ahead)[-1]
    mean, error = mean_and_error(ahead, correlation)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = scipy.special.stdtr(n_scores - 1, -mean / error)
    certain = np.where(mean > 0, 0.0, 1.0)
    return np.where(error > 0, p_values, np.where(np.isnan(mean), np.nan, certain))


def mean_and_error(ahead: np.ndarray, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute mean and standard error of paired differences, corrected for correlated scores.

    Parameters
    ----------
    ahead : array-like of shape (..., n_scores)
        Differences of paired scores, at least 2.
    correlation : float
        Correlation ρ between any two scores, at least 0 and below 1.

    Returns
    -------
    mean, error : ndarray of shape (...)
        Mean differences and their standard errors.

    Raises
    ------
    ModelError
        If there are fewer than two differences, or the correlation is out of range.

    Examples
    --------
    >>> mean, error = mean_and_error([0.0, 0.1, 0.2, 0.1, 0.1], correlation=0.2)
    >>> round(float(mean), 3), round(float(error), 3)
    (0.1, 0.047)
    """
    ahead = np.asarray(ahead, dtype=np.float64)
    n_scores = ahead.shape[-1]
    if n_scores < 2:
        raise ModelError(f"a paired t-test needs at least 2 scores of each method, found {n_scores}.")
    if not 0 <= correlation < 1:
        raise ModelError(f"correlation is {correlation!r}; it must be at least 0 and below 1.")
    return ahead.mean(axis=-1), ahead.std(axis=-1, ddof=1) * np.sqrt(1 / n_scores + correlation / (1 - correlation))


ROPE = 0.01  # Benavoli et al. (2017) treat a difference in accuracy of one percent as equivalent.


def equivalence_probabilities(
    ahead: np.ndarray, *, rope: float = ROPE, correlation: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the probabilities that the mean difference is below −rope, within ±rope, and above rope.

    Parameters
    ----------
    ahead : ndarray of shape (..., n_scores)
        Differences of paired scores, at least 2: those of all folds of all repetitions.
    rope : float, default=0.01
        Half the width of the region of practical equivalence, in units of the scores. At least 0.
    correlation : float, default=0.0
        Correlation ρ between any two scores, at least 0 and below 1. It is 1 / k for the folds of k-fold
        cross-validations.

    Returns
    -------
    worse, equivalent, better : ndarray of shape (...)
        Probabilities, which sum to 1. If the differences do not vary, one of them is 1, and a difference equal to
        `rope` is equivalent. NaN if a difference is NaN.

    Raises
    ------
    ModelError
        If there are fewer than two differences, or `rope` or `correlation` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> differences = np.array([0.03, 0.01, 0.02, 0.02, 0.04])
    >>> [round(float(p), 2) for p in equivalence_probabilities(differences, correlation=0.2)]
    [0.01, 0.06, 0.93]
    """
    if not rope >= 0:
        raise ModelError(f"rope: expected a number of at least 0, found {rope!r}.")
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
    """Compute the smallest mean difference that a two-sided corrected t-test detects with a given power.

    Parameters
    ----------
    ahead : ndarray of shape (..., n_scores)
        Differences of paired scores, at least 2. Only their variance is used.
    correlation : float, default=0.0
        Correlation ρ between any two scores, at least 0 and below 1.
    alpha : float, default=0.05
        Significance level of the test.
    power : float, default=0.8
        Probability of detecting the difference.

    Returns
    -------
    ndarray of shape (...)
        Difference in units of the scores. 0 if the differences do not vary or `power` is at most `alpha`. NaN if a
        difference is NaN.

    Raises
    ------
    ModelError
        If there are fewer than two differences, or `correlation`, `alpha` or `power` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(detectable_difference(np.array([0.03, 0.01, 0.02, 0.02, 0.04]), correlation=0.2)), 3)
    0.029
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ModelError(f"alpha is {alpha!r} and power {power!r}; both must be above 0 and below 1.")
    _, error = mean_and_error(ahead, correlation)
    return _noncentrality(np.shape(ahead)[-1] - 1, alpha, power) * error


@cache
def _noncentrality(df: int, alpha: float, power: float) -> float:
    """Find the noncentrality that gives a two-sided t-test the requested power."""
    if power <= alpha:
        return 0.0
    critical = scipy.special.stdtrit(df, 1 - alpha / 2)

    def lacking(noncentrality: float) -> float:
        lower, upper = scipy.special.nctdtr(df, noncentrality, [-critical, critical])
        # The far tail, which is below 1e-8, cannot always be computed.
        return upper - np.nan_to_num(lower) - (1 - power)

    high = 1.0
    while lacking(high) > 0:
        high *= 2
    return float(scipy.optimize.brentq(lacking, 0, high, xtol=1e-12))
