"""How many samples would decide the most important open comparison of models."""

from __future__ import annotations

import pandas as pd

from fairfold.answer.leaderboard import fastest
from fairfold.evaluation.compare import BEST, UNDECIDED, samples_to_decide
from fairfold.evaluation.corrected_t import ROPE

_MOST_TIMES = 100  # Larger multiples of the samples are no advice.


def samples_sentence(board: pd.DataFrame, n_samples: int, rope: float = ROPE) -> str | None:
    """State how many samples would tell the best model from one that is not different.

    The other model is the fastest one that may be as good, or else the one with the best score.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    n_samples : int
        Number of samples.
    rope : float, default=0.01
        Differences up to this value do not matter in practice.

    Returns
    -------
    str or None
        A sentence. None if no pair is open, or more than 100 times the samples are needed.

    Examples
    --------
    >>> rows = [("Stack+", "best", 0, None, None, 3), ("logistic", "not different", 0.02, -0.01464, 0.05464, 1)]
    >>> names = ["model", "verdict", "behind", "behind_low", "behind_high", "fit_seconds"]
    >>> samples_sentence(pd.DataFrame(rows, columns=names), 300).partition(". ")[2]
    'If it is real, a table of about 900 samples, instead of 300, would show it.'
    """
    is_open = board["verdict"] == UNDECIDED
    if not is_open.any():
        return None
    best, first = board["verdict"] == BEST, fastest(board)
    rows = board.loc[[first]] if first is not None and is_open[first] else board[is_open][:1]
    names = {"behind": "difference", "behind_low": "low", "behind_high": "high"}
    pair = rows[["model", "verdict", *names]].rename(columns=names)
    found = samples_to_decide(pair, n_samples, rope=rope) if pair.notna().all(axis=None) else None
    if found is None or found[1] > _MOST_TIMES * n_samples:
        return None
    model, needed = found
    digit = 10 ** max(len(str(needed)) - 2, 0)
    rounded = -(-needed // digit) * digit  # Two digits, rounded up.
    first = f"The difference between {board.loc[best, 'model'].iloc[0]} and {model} may be chance."
    return f"{first} If it is real, a table of about {rounded:,} samples, instead of {n_samples:,}, would show it."
