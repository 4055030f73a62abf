"""P-values of a score relative to the scores of permuted data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfold.core.rounding import ROUNDING

P_VALUE_FORMS = ("classical", "mid", "randomized", "exact")


def combine_p_values(values: ArrayLike) -> float:
    """Combine the p-values of several partitions of the same data to one.

    Parameters
    ----------
    values : array-like of shape (n_partitions,)
        Valid p-values with any dependence, at least one.

    Returns
    -------
    float
        Twice the median, at most 1.

    Notes
    -----
    Twice the median is valid under any dependence (Meinshausen, Meier & Bühlmann 2009), and a single unlucky partition
    does not change it. The Cauchy combination is more powerful, but is valid only approximately, for small levels, and
    breaks down at p-values of 1, which permutation tests produce.

    Examples
    --------
    >>> combine_p_values([0.01, 0.02, 0.5])
    0.04
    """
    return min(1.0, 2 * float(np.median(np.asarray(values))))


def p_values(score: float, permuted: np.ndarray, draw: float) -> dict[str, float]:
    """Compute four p-values of a score relative to permuted scores.

    Larger scores are better. A result is significant if p ≤ alpha.

    Parameters
    ----------
    score : float
        Score of the original data.
    permuted : ndarray of shape (n_permutations,)
        Scores of permuted data, at least one. Scores that differ by at most ``ROUNDING`` are ties.
    draw : float
        Random number, uniform on [0, 1) and independent of the data. It affects only ``randomized``.

    Returns
    -------
    dict of str to float
        P-value of each form in ``P_VALUE_FORMS``.

    Notes
    -----
    Let n be the number of permuted scores, b the number above ``score`` and t the number equal to it:

    - ``classical`` is (b + t)/n. It can be 0, which no finite number of permutations supports.
    - ``mid`` is (b + t/2)/n. It is neither conservative nor a bound.
    - ``exact`` is (1 + b + t)/(1 + n). It counts the observed order as one of the permutations. Scores without any
      effect are significant with probability at most alpha, and less often with more ties.
    - ``randomized`` is (b + draw·(1 + t))/(1 + n). It is uniform between the ``exact`` p-values with all ties below and
      with all ties above the score. Without any effect, scores are significant with probability *exactly* alpha.

    The form ``randomized`` follows Korjus, Hebart & Vicente (2016). Their code takes the border ⌊(1 - alpha)·n⌋ of the
    sorted permuted scores. A score on the border is significant with probability (ties above the border)/(ties). This
    rule is (b + draw·t)/n ≤ alpha. The form here also counts the observed order, because the level is otherwise exact
    only for large n.

    Examples
    --------
    >>> import numpy as np
    >>> p_values(0.9, np.array([0.5, 0.6, 0.9, 0.7]), draw=0.5)
    {'classical': 0.25, 'mid': 0.125, 'randomized': 0.2, 'exact': 0.4}
    """
    n = len(permuted)
    above = int(np.count_nonzero(permuted > score + ROUNDING))
    ties = int(np.count_nonzero(permuted >= score - ROUNDING)) - above
    return {
        "classical": (above + ties) / n,
        "mid": (above + ties / 2) / n,
        "randomized": (above + draw * (1 + ties)) / (1 + n),
        "exact": (1 + above + ties) / (1 + n),
    }
