"""Optimism of scores if folds balance the labels.

The frequency of a label among n samples differs by chance from its frequency in the population. Balanced folds give
this difference to training and test samples alike. A model reproduces it, so the scores of a test fold are better than
those of new samples if they compare probabilities of different labels, or with a threshold. Scores that rank the
samples of one label are not affected. Efron (2004) calls such a difference the optimism of a score.

Let d be the difference in log odds and S(a, b) the score if probabilities contain the shift a and the test samples the
shift b. Assume that S is linear in the distribution of the test samples, and that it is best at a = b. To second order,
it is then S(0, 0) + r b - q a² + 2 q a b, with constants r and q. As d is 0 on average, the mean optimism
S(d, d) - S(d, 0) is 2 q d². A shift of the probabilities by √2 d costs as much on the test fold, so no other samples
are needed. Deviations of labels are taken as independent, so the signs of the shifts are random. The mean over pairs of
opposite shifts removes terms of first order.

The variance of d is that of the log odds of an observed label with k positives and m negatives, 1 / (k + ½) +
1 / (m + ½) (Haldane 1956). Groups multiply it by their design effect (Kish 1965), but never reduce it. Probabilities
are taken as those of complete labels: they are multiplied by the label frequency before a shift, and divided by it
afterwards.

The estimate lacks one part. Labels that have more positives by chance are also learned better, and they count more in
the test folds. With labels hidden independently of each other, the true optimism was .8 times the estimate for average
precision, 1.1 times for ranking loss and 1.6 times for AUROC, on average over 17 sets of labels. Ends of intervals are
therefore moved by ``FACTORS`` times the estimate.

The estimate is too large for models that reproduce a part of the difference only, because they smooth label
frequencies. It is too small for probabilities with many ties, because a shift breaks ties between labels, and
for labels with few positives, because the shifts are too large for terms of second order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy import sparse

from fairfold.core.arrays import Matrix, map_stored, quotient

FACTORS = {"roc_auc": 2}  # 1 for other scores.


def frequency_shifts(observed: Matrix, groups: np.ndarray | None = None, *, random_state: int = 0) -> np.ndarray:
    """Draw shifts of log odds: the root of twice the variance of the log odds of each label, with random signs.

    Parameters
    ----------
    observed : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Observed labels, 0 or 1. NaN marks an unmeasured label.
    groups : ndarray of shape (n_samples,) or None, default=None
        Groups of samples that folds keep together.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (4, n_labels)
        Shifts. The second differs from the first in the signs of half of the labels. The other two are their negatives.

    Examples
    --------
    >>> shifts = frequency_shifts(np.array([[1, 0], [0, 0], [0, 1]]))
    >>> shifts.shape, shifts.sum(axis=0).tolist()
    ((4, 2), [0.0, 0.0])
    """
    is_positive, is_unmeasured = (sparse.csr_array(each, dtype=float) for each in (observed == 1, observed != observed))
    n_positives, n_measured = is_positive.sum(axis=0), observed.shape[0] - is_unmeasured.sum(axis=0)
    variances = 1 / (n_positives + 0.5) + 1 / (n_measured - n_positives + 0.5)
    n_labels = len(variances)
    if groups is not None:
        variances *= _design_effects(is_positive, is_unmeasured, groups)
    random = np.random.default_rng(random_state)
    first = np.sqrt(2 * variances) * random.choice([-1, 1], n_labels)
    second = first * random.permutation(np.where(np.arange(n_labels) % 2, 1, -1))
    return np.array([first, second, -first, -second])


def optimism(
    scores: Mapping[str, float],
    score: Callable[[Matrix], Mapping[str, float]],
    P: Matrix,
    shifts: np.ndarray,
    frequency: float = 1.0,
) -> dict[str, float]:
    """Estimate how much better scores of a test fold with balanced labels are than those of new samples.

    Parameters
    ----------
    scores : mapping of str to float
        Scores of the test fold.
    score : callable
        Function that computes these scores from probabilities.
    P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Predicted probabilities.
    shifts : ndarray of shape (n_shifts, n_labels)
        Shifts of the log odds of observed labels, from :func:`frequency_shifts`.
    frequency : float, default=1.0
        Label frequency.

    Returns
    -------
    dict of str to float
        Optimism of each score: positive for scores that are too high, negative for losses that are too low. NaN for
        undefined scores.

    Examples
    --------
    Both labels are as frequent as the probabilities say. With other probabilities, the score is lower.

    >>> from sklearn.metrics import roc_auc_score
    >>> Y, P = np.repeat([[1, 0], [0, 0], [0, 0], [1, 1]], 5, axis=0), np.tile([0.5, 0.25], (20, 1))
    >>> def score(P):
    ...     return {"roc_auc": roc_auc_score(Y.ravel(), P.ravel())}
    >>> optimism(score(P), score, P, frequency_shifts(Y))["roc_auc"] > 0
    True
    """
    from fairfold.weak_labels import posterior  # This import is slow, and scripts need it late.

    shifted = [score(posterior(shift_log_odds(P * frequency, shift), frequency)) for shift in shifts]
    return {name: value - float(np.mean([each[name] for each in shifted])) for name, value in scores.items()}


def shift_log_odds(P: Matrix, shift: np.ndarray) -> Matrix:
    """Add a number to the log odds of the probabilities of each label.

    Parameters
    ----------
    P : {ndarray, sparse matrix} of shape (n_samples, n_labels)
        Probabilities.
    shift : ndarray of shape (n_labels,)
        Number to add.

    Returns
    -------
    {ndarray, csr_array} of shape (n_samples, n_labels)
        Probabilities. 0 and 1 do not change.

    Examples
    --------
    >>> shift_log_odds(np.array([[0.5, 0.5, 1.0]]), np.log([1, 3, 3]))
    array([[0.5 , 0.75, 1.  ]])
    """
    factor = np.exp(shift)
    if sparse.issparse(P):
        return map_stored(lambda values, labels: _shifted(values, factor[labels]), P)
    return _shifted(P, factor)


def _shifted(P: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return P * factor / (1 - P + P * factor)


def _design_effects(is_positive: sparse.csr_array, is_unmeasured: sparse.csr_array, groups: np.ndarray) -> np.ndarray:
    """Divide the variance of each label's frequency in sampled groups by that in sampled samples; at least 1."""
    codes = np.unique(groups, return_inverse=True)[1]
    is_in = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    sizes, k, u = is_in.sum(axis=1), is_in @ is_positive, is_in @ is_unmeasured
    n_positives, n_measured = is_positive.sum(axis=0), len(codes) - is_unmeasured.sum(axis=0)
    share = n_positives / np.maximum(n_measured, 1)
    # The sum over groups of (k - share * (sizes - u))², expanded so that matrices stay sparse.
    squares, products = (k * k).sum(axis=0), sizes @ k - (k * u).sum(axis=0)
    of_groups = squares - 2 * share * products + share**2 * (sizes @ sizes - 2 * (sizes @ u) + (u * u).sum(axis=0))
    of_samples = n_positives * (1 - share)
    return np.maximum(1, quotient(of_groups, of_samples, 1.0))
