"""P-values of a score among the scores of permuted data."""

from __future__ import annotations

import numpy as np

from fairfold.core.ties import ROUNDING

P_VALUE_FORMS = ("classical", "mid", "randomised", "exact")


def p_values(score: float, permuted: np.ndarray, draw: float) -> dict[str, float]:
    """Four p-values of a score, larger being better; a result is significant where p ≤ alpha.

    With b of n permuted scores above ``score`` and t equal to it:

    - ``classical``, (b + t)/n; can be 0, which no finite number of permutations shows;
    - ``mid``, (b + t/2)/n; neither conservative nor a bound;
    - ``exact``, (1 + b + t)/(1 + n); counts the observed order as one of the permutations. Never significant more
      often than alpha, and less often the more scores are tied;
    - ``randomised``, (b + draw·(1 + t))/(1 + n); uniform between the ``exact`` p-values with all ties below and all
      ties above the score, so that scores without any effect are significant with probability alpha *exactly*.

    The last is the form of Korjus, Hebart & Vicente (2016), whose code takes the border ⌊(1 - alpha)·n⌋ of the sorted
    permuted scores and declares a score on it significant with probability (ties above the border)/(ties). That is
    (b + draw·t)/n ≤ alpha; ours counts the observed order too, without which the level is exact for large n only.

    Parameters
    ----------
    score : of the data as they are.
    permuted : ndarray, shape (n_permutations,), at least one; scores of permuted data. Differences up to
        ``ROUNDING`` are ties.
    draw : uniform on [0, 1), drawn independently of the data; decides ties in ``randomised`` only.

    Returns
    -------
    dict from form (``P_VALUE_FORMS``) to p-value
    """
    n = len(permuted)
    above = int(np.count_nonzero(permuted > score + ROUNDING))
    ties = int(np.count_nonzero(permuted >= score - ROUNDING)) - above
    return {
        "classical": (above + ties) / n,
        "mid": (above + ties / 2) / n,
        "randomised": (above + draw * (1 + ties)) / (1 + n),
        "exact": (1 + above + ties) / (1 + n),
    }
