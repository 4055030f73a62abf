"""Bound the label frequency from below, and the missing rate from above, by the highest observed share.

If each positive is observed with probability c, then P(observed | x) = c · P(positive | x) ≤ c (Elkan & Noto 2008). The
observed share of cells that are chosen without their labels is therefore at most c, up to chance. A lower confidence
bound of the highest share is a lower bound of c. No cell has to be certainly positive and no curve is assumed, so the
bound holds for any data. If labels are hard to predict, it is wide, because noise looks like missing positives. The
missing rate has no such bound from below.

The highest share over all regions is the largest missing rate that fits the distribution of the data (Blanchard et al.
2010; Scott 2015).
"""

from __future__ import annotations

import numpy as np
import scipy

from fairfold.core.groups import group_codes
from fairfold.core.validation import check_dense_binary
from fairfold.errors import ModelError

# Numbers of cells with the highest probabilities, as shares of the expected number of observed positives.
_DEPTHS = 0.5 ** np.arange(6)
_FEWEST = 10  # Minimum number of these cells.
_LEAST = 1e-3  # The bound if nothing is observed.


def frequency_bound(
    observed: np.ndarray, probabilities: np.ndarray, *, confidence: float = 0.95, groups: np.ndarray | None = None
) -> float:
    """Compute a lower confidence bound of the label frequency, which all labels share.

    Parameters
    ----------
    observed : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Observed labels of 0/1. NaN is an unmeasured label, which is ignored.
    probabilities : ndarray of shape (n_samples, n_labels)
        Probabilities that a label is observed, from a model that was not trained on the sample. The bound is valid for
        any model, and tighter for a better one.
    confidence : float, default=0.95
        Probability that the bound is below the label frequency.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each sample, if samples of a group can lose a label together. For each label, only the sample of a
        group with the highest probability counts.

    Returns
    -------
    float
        Bound c, at least 0.001. At most the share 1 - c of the positives is missing.

    Raises
    ------
    ModelError
        If shapes differ, or labels, probabilities or groups are invalid, or the confidence is not between 0 and 1.

    Notes
    -----
    Sort the cells of all labels by their probability. Let k_i of the first n_i be observed, for m sizes n_i that depend
    on the probabilities only. Tied cells count together. The bound is the largest value of

        B(α / m; k_i, n_i − k_i + 1),

    where B(q; a, b) is the q quantile of a beta distribution and α is one minus the confidence. This is the exact lower
    limit of a share (Clopper & Pearson 1934), with a Bonferroni correction for the choice of the size. Labels of a
    sample may depend on each other: only observing one positive must not change the probability that another is
    observed.

    If the frequency differs between labels, this bounds the highest one. The bound is also one of the share that is
    observed in these data, because a share of a fixed number of observed positives scatters less.

    References
    ----------
    Elkan, C. & Noto, K. (2008). Learning classifiers from only positive and unlabeled data. KDD.

    Blanchard, G., Lee, G. & Scott, C. (2010). Semi-supervised novelty detection. JMLR 11.

    Scott, C. (2015). A rate of convergence for mixture proportion estimation, with application to learning from noisy
    labels. AISTATS.

    Examples
    --------
    Of the 40 cells with the highest probabilities, 30 are observed:

    >>> probabilities = np.repeat([[0.7], [0.1]], [40, 60], axis=0)
    >>> observed = np.repeat([[1], [0]], [30, 70], axis=0)
    >>> round(frequency_bound(observed, probabilities), 2)
    0.61
    """
    observed, P = check_given(observed, probabilities)
    if not 0 < confidence < 1:
        raise ModelError(f"confidence: found {confidence}. Give a number between 0 and 1, such as 0.95.")
    rows, labels = np.nonzero(observed >= 0)
    if groups is not None:
        rows, labels = _first_of_groups(rows, labels, P, group_codes(groups, len(observed)))
    p, is_observed = P[rows, labels], observed[rows, labels] == 1
    if not is_observed.any():
        return _LEAST
    order = np.argsort(-p, kind="stable")
    p, n_observed = p[order], np.cumsum(is_observed[order])
    depths = np.clip(np.ceil(_DEPTHS * p.sum()), min(_FEWEST, len(p)), len(p)).astype(int)
    sizes = np.unique(np.searchsorted(-p, -p[depths - 1], side="right"))
    k = n_observed[sizes - 1]
    lows = scipy.special.betaincinv(np.maximum(k, 1), sizes - k + 1, (1 - confidence) / len(sizes))
    return float(max(_LEAST, lows[k > 0].max(initial=0)))


def _first_of_groups(
    rows: np.ndarray, labels: np.ndarray, P: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keep the cell with the highest probability of each group and label; ties are broken at random."""
    ties = np.random.default_rng(0).random(len(rows))
    order = np.lexsort((ties, -P[rows, labels], labels, groups[rows]))
    rows, labels = rows[order], labels[order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (np.diff(groups[rows]) != 0) | (np.diff(labels) != 0)
    return rows[is_first], labels[is_first]


def check_given(observed: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Check observed labels and probabilities.

    Parameters
    ----------
    observed : array-like of shape (n_samples, n_labels)
        Observed labels of 0/1, or NaN.
    probabilities : array-like of shape (n_samples, n_labels)
        Probabilities from 0 to 1.

    Returns
    -------
    observed : ndarray of shape (n_samples, n_labels)
        Checked labels. Unmeasured labels are -1.
    probabilities : ndarray of shape (n_samples, n_labels)
        Probabilities as float64.

    Raises
    ------
    ModelError
        If labels or probabilities are invalid, or shapes differ.
    """
    observed = check_dense_binary(observed, "observed", ModelError, unmeasured=True)
    P = np.asarray(probabilities, dtype=np.float64)
    if observed.shape != P.shape or not ((P >= 0) & (P <= 1)).all():
        found = f"found shape {P.shape} for labels of shape {observed.shape}"
        raise ModelError(f"probabilities: {found}. Give a probability from 0 to 1 for each label.")
    return observed, P
