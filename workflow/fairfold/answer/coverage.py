"""The score of the best model, and how well its interval holds."""

from __future__ import annotations

import pandas as pd

from fairfold.answer.leaderboard import digits_of, interval, rows_of
from fairfold.metrics.registry import METRICS

_TOO_FEW = 0.9  # Share of 95 % intervals that hold; below, the answer warns.
_LOPSIDED = 2  # Ratio of the longer and the shorter half of an interval.


def score_of_best(board: pd.DataFrame, own: pd.Series, n_checked: float) -> str:
    """State the score of the best model with its interval.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset, the best model first.
    own : Series
        Row of :func:`~fairfold.recommendation.missing_rate.estimate_missing_rate` for the labels of the data.
    n_checked : float
        Number of checked cells that both are based on.

    Returns
    -------
    str
        Phrase without a period.
    """
    rows, best = rows_of(board), board.iloc[0]
    digits, metric, rate = digits_of(rows)["score"], METRICS[best["metric"]], best["missing_rate"]
    hidden = f" with {rate} % of positives hidden from training" if rate else ""
    score = f"The {metric.name} of {best['model']} is {best['score']:.{digits}f}{hidden}"
    if not (limits := interval(rows[0]["low"], rows[0]["high"], digits)):
        return score
    is_lopsided = best["high"] - best["score"] > _LOPSIDED * (best["score"] - best["low"])
    is_estimated = own["labels_are"] == "incomplete" and own["high"] > 0 and not n_checked
    allows = ", which allows for missing positives" if metric.direction > 0 and is_lopsided and is_estimated else ""
    return f"{score}, 95 % interval {limits}{allows}"


def held_intervals(scores: pd.DataFrame, metric: str) -> pd.Series:
    """Return whether intervals contained the score on all labels where labels were hidden on purpose.

    Parameters
    ----------
    scores : DataFrame
        Columns ``missing_rate, metric, complete, low, high``; may be empty.
    metric : str
        Metric of the scores.

    Returns
    -------
    Series of bool
        One value per interval.
    """
    if scores.empty:
        return pd.Series(dtype=bool)
    tried = scores[(scores["missing_rate"] > 0) & (scores["metric"] == metric)].dropna(subset=["complete", "low"])
    return tried["complete"].round(6).between(tried["low"].round(6), tried["high"].round(6))


def coverage_of(held: pd.Series, *, has_interval: bool) -> tuple[str | None, str | None]:
    """Describe how often intervals contained the score on all labels.

    Parameters
    ----------
    held : Series of bool
        Result of :func:`held_intervals`.
    has_interval : bool
        Whether the score of the best model has an interval.

    Returns
    -------
    warning : str or None
        Phrase for intervals that held less often than they promise.
    sentences : str or None
        None without an interval.

    Examples
    --------
    >>> coverage_of(pd.Series([True, False]), has_interval=True)[0]
    'held in 50 % of checks, not 95 %'
    """
    if not len(held):
        return None, "Not checked: this study hides no labels on purpose." if has_interval else None
    is_low = held.mean() < _TOO_FEW
    sentences = (
        f"After labels were hidden on purpose, {held.sum()} of {len(held)} intervals ({100 * held.mean():.0f} %) "
        f"contained the score on all labels. At least 95 % should, as they are made for new samples."
    )
    warning = f"held in {100 * held.mean():.0f} % of checks, not 95 %" if is_low else None
    return warning, f"{sentences} Treat the intervals as too narrow." if is_low else sentences
