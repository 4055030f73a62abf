"""Whether a leaderboard shows more than the frequency of labels."""

from __future__ import annotations

import pandas as pd

from fairfold.evaluation.compare import GUESSING

NO_BETTER = "No model is better than guessing."


def is_no_better_than_guessing(board: pd.DataFrame) -> bool:
    """Return whether the best model is not significantly better than label frequencies without features.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.

    Returns
    -------
    bool
        False if the leaderboard has no row of guessing, or if the difference could not be tested.

    Examples
    --------
    >>> row = {"model": "guessing", "verdict": "guessing", "behind": 0.02, "behind_low": -0.01}
    >>> is_no_better_than_guessing(pd.DataFrame([row]))
    True
    """
    guessed = board[board["verdict"] == GUESSING]
    return len(guessed) > 0 and bool(((guessed["behind"] <= 0) | (guessed["behind_low"] <= 0)).any())
