"""Simultaneous intervals for the differences of models that are scored on the same samples.

Notation: the score S_m of model m is the mean over the folds of a cross-validation, u_im the influence of sample i on
S_m, and D = S_a − S_b a difference with influences u_i = u_ia − u_ib. With groups, i is a group and u_i the sum over
its samples.

*Variance from samples.* V = Σ_i u_i² estimates the variance of D for given models (Bayle et al. 2020 for losses,
LeDell et al. 2015 for AUC). With repeated cross-validation, u_i is the mean over the repeats.

*Variance from training.* A claim about algorithms must also hold for other training samples of this size. The folds
of one cross-validation cannot show this part: their training samples overlap, and all scores move together. In
simulations of models that are equal by symmetry (``benchmarks/verdicts.py``), the variance of D is 1.0 to 1.5 times V
for logistic regression (2.0 by AUROC of rare labels) and 1.4 to 2.4 for most other learners, by metrics that are
not sensitive to a threshold, and up to 2.9 times V by F1. The heuristic of Nadeau & Bengio (2003) adds
n_tested / n_train times V, which makes 2.25 with five folds. The rule adds

    (κ n_tested / n_train) V_1 + e

where V_1 is the variance from samples of one cross-validation (the mean over repeats) and κ the field ``training`` of
the metric: 0.8, or 1.5 for metrics that jump at a threshold. The folds do show the part that training does not share,
such as random numbers of a learner. Two of k training parts differ in 1 / (k − 1) of their samples, so the variance of
D by the scatter of folds exceeds V_1 by about 1 / (k − 1) of the variance from training. If k − 1 times this excess is
larger than the first term, e is the rest. It is shrunk towards 0, with the weight of the folds' degrees of freedom
against ``PRIOR_DF``.

Predictions do not reveal whether a learner is stable. For a model that is declared stable, by metrics without a
threshold, κ is smaller by
``STABLE`` ν / (ν + ``STABLE_DF``), where ν are the degrees of freedom of V, see below. The κ of a pair is the mean of
both models. A smooth learner with few parameters moves scores only to second order, so its share falls with the number
of samples that matter. With rare labels, few groups or weak features, logistic regression needs as much as others.

Repeats reduce V, which averages over more models, and make e more certain. The bound for training remains, because
all repeats train on the same samples.

*Degrees of freedom.* The variance of V follows from the fourth powers of influences. A difference that depends on few
samples, such as the positives of a rare label, therefore has few degrees of freedom (Satterthwaite).

*Simultaneous intervals.* The model with the best score is chosen on the same data, so any pair of models could have
been compared. The largest standardized difference of all pairs, under the joint normal distribution that the
influences give, exceeds the critical value with probability 1 − confidence (Hsu 1996, chapters 4 and 5). Models with
similar predictions have correlated scores and hardly increase it. The interval of a pair with ν degrees of freedom
uses the quantile of Student's t with the same tail probability.

References
----------
P. Bayle, A. Bayle, L. Janson & L. Mackey (2020), Cross-validation confidence intervals for test error, NeurIPS.
C. Nadeau & Y. Bengio (2003), Inference for the generalization error, Machine Learning 52.
E. LeDell, M. Petersen & M. van der Laan (2015), Computationally efficient confidence intervals for cross-validated
area under the ROC curve estimates, Electronic Journal of Statistics 9.
J. C. Hsu (1996), Multiple comparisons: theory and methods, Chapman & Hall.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

STABLE = 0.48
"""Reduction of κ for models that are declared stable, if many samples determine a difference."""

STABLE_DF = 150.0
"""Degrees of freedom of a difference at which half of the reduction applies."""

PRIOR_DF = 20.0
"""Weight of the rule for the variance from training, in degrees of freedom of the scatter of folds."""

N_DRAWS = 20_000
"""Draws of the largest standardized difference. The standard error of a tail probability of .05 is .0015."""


class Joint(NamedTuple):
    """Scores of several models, and the quantities that determine how certain their differences are.

    Attributes
    ----------
    scores : ndarray of shape (n_models, n_repeats, n_folds)
        Score of each fold. Higher is better. NaN for all models in a fold whose labels do not define the score.
    influences : ndarray of shape (n_models, n_repeats, n_units)
        Influence of each unit, a sample or group, on the mean score of each cross-validation.
    n_free : int
        Degrees of freedom within folds: the number of units less the number of folds.
    training : ndarray of shape (n_models,)
        Variance that training adds, as a share of the variance from samples: κ n_tested / n_train of each model.
    relief : ndarray of shape (n_models,)
        Largest reduction of `training`, 0 for models that are not declared stable.
    shifts : ndarray of shape (n_models,)
        Change of each score if the label frequency moves by one standard error. 0 if it is certain.
    """

    scores: np.ndarray
    influences: np.ndarray
    n_free: int
    training: np.ndarray
    relief: np.ndarray
    shifts: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Mean score of each model, of shape (n_models,)."""
        return np.nanmean(self.scores, axis=(1, 2))


class Uncertainty(NamedTuple):
    """Standard errors of all differences.

    Attributes
    ----------
    error : ndarray of shape (n_models, n_models)
        Standard error of the difference of each pair.
    df : ndarray of shape (n_models, n_models)
        Degrees of freedom.
    covariance : ndarray of shape (n_models, n_models)
        Covariance of the scores, for the correlation of differences.
    """

    error: np.ndarray
    df: np.ndarray
    covariance: np.ndarray


def uncertainty(joint: Joint) -> Uncertainty:
    """Compute the standard errors of all differences.

    Parameters
    ----------
    joint : Joint
        Scores and influences.

    Returns
    -------
    Uncertainty
        Standard errors and degrees of freedom, which grow with the number of samples that determine a difference.
    """
    n_models, mean = len(joint.scores), joint.influences.mean(axis=1)
    df = np.array([_degrees_of_freedom(mean - mean[model], joint.n_free) for model in range(n_models)])
    of_samples = _of_pairs(mean @ mean.T)
    of_one = _of_pairs(np.mean([u @ u.T for u in np.swapaxes(joint.influences, 0, 1)], axis=0))
    seen, n_more = _of_folds(joint.scores)
    shifts = np.subtract.outer(joint.shifts, joint.shifts)
    training, relief = ((each[:, np.newaxis] + each) / 2 for each in (joint.training, joint.relief))
    training = training - relief * df / (df + STABLE_DF)
    variance = total_variance(of_samples, of_one, seen, joint.n_free, n_more, training)
    return Uncertainty(np.sqrt(variance + shifts**2), df + n_more, mean @ mean.T + np.outer(joint.shifts, joint.shifts))


def total_variance(
    of_samples: np.ndarray,
    of_one: np.ndarray,
    of_folds: np.ndarray,
    n_free: float,
    n_more: float,
    training: np.ndarray | float,
) -> np.ndarray:
    """Add the variance from training to the variance from samples.

    Parameters
    ----------
    of_samples, of_one : ndarray of shape (...)
        Variance of differences from samples, of all repeats together and of one.
    of_folds : ndarray of shape (...)
        The same by the scatter of folds, for one repeat.
    n_free, n_more : float
        Degrees of freedom within folds, and of the scatter of folds.
    training : float or ndarray of shape (...)
        Variance that training adds, as a share of `of_one`.

    Returns
    -------
    ndarray of shape (...)
        Variances.

    Examples
    --------
    >>> total_variance(np.array(1.0), np.array(1.0), np.array(1.0), n_free=295, n_more=4, training=1.0)
    np.float64(2.0)
    """
    # Few groups leave few degrees of freedom within folds. The scatter of folds adds some.
    share = n_more / max(n_free + n_more, 1)
    of_samples, of_one = (each + share * (of_folds - each) for each in (of_samples, of_one))
    added = training * of_one
    excess = np.maximum(n_more * (of_folds - of_one) - added, 0)
    return of_samples + added + n_more / (n_more + PRIOR_DF) * excess


def _of_folds(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the variances of all mean differences by the scatter of folds, and its degrees of freedom in a repeat."""
    n_folds = np.count_nonzero(~np.isnan(scores[0]), axis=-1)
    kept = n_folds > 1
    if not kept.any():
        return np.zeros((len(scores), len(scores))), 0.0
    ahead = (scores[:, np.newaxis] - scores)[:, :, kept]
    return np.mean(np.nanvar(ahead, axis=-1, ddof=1) / n_folds[kept], axis=-1), float((n_folds[kept] - 1).mean())


def _of_pairs(covariance: np.ndarray) -> np.ndarray:
    """Return the variances of all differences of variables with a given covariance."""
    own = np.diag(covariance)
    return np.maximum(own[:, np.newaxis] + own - 2 * covariance, 0.0)


def _degrees_of_freedom(influences: np.ndarray, n_free: int) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of sums of squared influences, shape (n_models,)."""
    squares = influences**2
    total = squares.sum(axis=-1)
    variance = (squares**2).sum(axis=-1) - total**2 / max(n_free, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2 * total**2 / variance
    return np.clip(np.where(variance > 0, df, n_free), min(n_free, 1), n_free)


class Pairwise(NamedTuple):
    """Differences of one model from all models, with simultaneous intervals.

    Attributes
    ----------
    difference, error, low, high, p_value, p_adjusted : ndarray of shape (n_models,)
        Score of the model minus the score of each model, its standard error, limits of the interval, and the p-value
        before and after the adjustment for the number of pairs.
    """

    difference: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray


def compare_with(best: int, joint: Joint, confidence: float, random_state: int = 0) -> Pairwise:
    """Compare one model with all others by simultaneous intervals over all pairs.

    Parameters
    ----------
    best : int
        Number of the model.
    joint : Joint
        Scores and influences.
    confidence : float
        Probability that the intervals of all pairs hold.
    random_state : int, default=0
        Seed of the draws of the largest standardized difference.

    Returns
    -------
    Pairwise
        Differences. An adjusted p-value is at most 1 − confidence if and only if the interval excludes 0.
    """
    found = uncertainty(joint)
    drawn = np.sort(scipy.special.ndtr(-_largest_differences(found, random_state)))
    difference = joint.means[best] - joint.means
    error, df = found.error[best], found.df[best]
    n_pairs = len(difference) * (len(difference) - 1) // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = scipy.special.stdtr(df, -np.abs(difference) / error)  # one-sided
    tails = np.where(error > 0, tails, np.where(difference == 0, 0.5, 0.0))
    # The bound of Bonferroni continues the p-values below those that the draws resolve.
    share = (1 + np.searchsorted(drawn, tails, side="right")) / (1 + N_DRAWS)
    p_adjusted = np.minimum(share, np.minimum(2 * n_pairs * tails, 1.0))
    # The largest tail probability with an adjusted p-value of at most 1 - confidence.
    n_below = int((1 - confidence) * (1 + N_DRAWS)) - 1
    tail = max(np.nextafter(drawn[max(n_below, 0)], 0), (1 - confidence) / (2 * max(n_pairs, 1)))
    half = -scipy.special.stdtrit(df, tail) * error
    return Pairwise(difference, error, difference - half, difference + half, 2 * tails, p_adjusted)


def _largest_differences(errors: Uncertainty, random_state: int) -> np.ndarray:
    """Draw the largest absolute standardized difference of all pairs, shape (n_draws,)."""
    n_models = len(errors.covariance)
    firsts, seconds = np.triu_indices(n_models, 1)
    spread = np.sqrt(_of_pairs(errors.covariance)[firsts, seconds])
    values, vectors = np.linalg.eigh(errors.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    rng = np.random.default_rng(random_state)
    drawn = rng.normal(size=(N_DRAWS, n_models)) @ root.T
    largest = np.zeros(N_DRAWS)
    for first, second, scale in zip(firsts, seconds, spread, strict=True):
        if scale > 0:
            np.maximum(largest, np.abs(drawn[:, first] - drawn[:, second]) / scale, out=largest)
        elif errors.error[first, second] > 0:  # Only the scatter of folds is known, and not how it is correlated.
            np.maximum(largest, np.abs(rng.normal(size=N_DRAWS)), out=largest)
    return largest
