"""P-values of a score among the scores of permuted data, and when further permutations cannot change a decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fairfold.core.ties import ROUNDING

P_VALUE_FORMS = ("classical", "mid", "randomised", "exact")
BATCH = 20  # permutations between two looks at whether the rest can still matter


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


def is_decided(score: float, permuted: np.ndarray, n_permutations: int, alpha: float, draw: float) -> bool:
    """Whether the permutations still to come can no longer change p ≤ alpha, in any form.

    Every form grows with every permuted score, so that the two extremes decide: all the rest below, or all above. The
    p-values of the permutations so far are then on the same side of alpha: b/m lies above b/n, and below
    (b + n - m)/n, for b of m permutations out of n; the same holds with ties and with the observed order counted.

    Parameters
    ----------
    score, draw : see :func:`p_values`.
    permuted : ndarray, shape (n_so_far,); scores of the permutations so far, possibly none.
    n_permutations : of the whole test.
    alpha : significance level.
    """
    rest = n_permutations - len(permuted)
    best, worst = (p_values(score, np.append(permuted, np.full(rest, end)), draw) for end in (-np.inf, np.inf))
    return all((best[form] <= alpha) == (worst[form] <= alpha) for form in P_VALUE_FORMS)


def permuted_scores(
    score_orders: Callable[[np.ndarray], np.ndarray],
    orders: np.ndarray,
    observed: Sequence[float],
    *,
    early_stop: float | None = None,
    draws: Sequence[float] = (),
) -> np.ndarray:
    """Scores of permuted rows; with an early stop the first of those that there would be without.

    Parameters
    ----------
    score_orders : orders of the rows (n_orders, n_samples) -> scores (n_orders, n_scores) of one or more procedures.
    orders : ndarray, shape (n_permutations, n_samples).
    observed : the scores of the rows as they are.
    early_stop : significance level at which the tests of all scores must be decided for an end before the last
        permutation; None for no such end.
    draws : see :func:`p_values`, one per score; for an early stop only.

    Returns
    -------
    ndarray, shape (n_run, n_scores)
    """
    n, batch = len(orders), len(orders) if early_stop is None else BATCH
    scores = np.empty((0, len(observed)))
    while len(scores) < n:
        if early_stop is not None and all(
            is_decided(score, permuted, n, early_stop, draw)
            for score, permuted, draw in zip(observed, scores.T, draws, strict=True)
        ):
            break
        scores = np.vstack((scores, score_orders(orders[len(scores) : len(scores) + batch])))
    return scores
