"""How probable it is that a method is better than another by more than what matters, and how small a lead is seen.

The correlated Bayesian t-test is the corrected t-test of :mod:`fairfold.evaluation.corrected_t` read as a posterior:
with the matching uninformative prior, the mean difference of J paired scores that correlate by ρ is distributed as

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
from fairfold.evaluation.corrected_t import mean_and_error

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
