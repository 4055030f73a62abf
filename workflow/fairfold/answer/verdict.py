"""Sentences on the model to use, and on the models that may be as good."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairfold.answer.leaderboard import NO_SCORE, NOT_TESTED, SAME, fastest, seconds_text
from fairfold.errors import listed
from fairfold.evaluation.compare import BEST, EQUIVALENT, GUESSING, UNDECIDED, WORSE

NO_MODEL = "No model has a score in every fold, so no model is recommended."
_LONGEST_REASON = 100  # characters
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NOTHING_CORRECTED = ", because labels are taken as they are and nothing is imputed or corrected"
# Phrases after one and after several models with a verdict, by tests and by checked cells.
_BY_TESTS = {
    UNDECIDED: ("is not significantly different from it", "are not significantly different from it"),
    EQUIVALENT: ("is practically equal to it", "are practically equal to it"),
    WORSE: ("is significantly worse than it", "are significantly worse than it"),
    NOT_TESTED: ("was not tested against it", "were not tested against it"),
    NO_SCORE: ("lacks a score in a fold and was not compared", "lack a score in a fold and were not compared"),
}
_BY_CELLS = {
    UNDECIDED: ("may be as good", "may be as good"),
    WORSE: ("is significantly worse", "are significantly worse"),
    NO_SCORE: ("has no score", "have no score"),
}


def verdict_sentence(
    board: pd.DataFrame, n_samples: int, n_checked: int = 0, reasons: Mapping[str, str] | None = None
) -> str:
    """Name the model to use, and the number of models that may be as good.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    n_samples : int
        Number of samples.
    n_checked : int, default=0
        Number of checked cells that verdicts are based on, by intervals instead of tests.
    reasons : mapping of str to str or None, default=None
        Reasons of models without a score.

    Returns
    -------
    str
        One or more sentences.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["Stack+", "kNN", "dummy"], "verdict": ["best", "not different", "worse"]})
    >>> verdict_sentence(board, 1060)
    'Use Stack+. With 1,060 samples, one other model is not significantly different.'
    """
    verdicts = board["verdict"].value_counts()
    if BEST not in verdicts:
        return NO_MODEL
    best = board.loc[board["verdict"] == BEST, "model"].iloc[0]
    if NOT_TESTED not in verdicts and _is_no_better_than_guessing(board):
        return f"No model is better than guessing. {best} has the best score."
    n_alike, n_worse = verdicts.get(UNDECIDED, 0) + verdicts.get(EQUIVALENT, 0), verdicts.get(WORSE, 0)
    failed = board.loc[board["verdict"] == NO_SCORE, "model"]
    compared = " ".join(_on_failed(name, (reasons or {}).get(name, "")) for name in failed)
    compared = compared or "There is no other model to compare it with."
    if NOT_TESTED in verdicts:
        compared = "Its score is the best, but a single fold does not allow a test."
    elif n_alike:
        others = "one other model is" if n_alike == 1 else f"{_number(n_alike)} other models are"
        evidence, different = f"With {n_samples:,} samples", "different"
        if n_checked:
            evidence, different = f"By {n_checked:,} checked cell{'' if n_checked == 1 else 's'}", "worse"
        compared = f"{evidence}, {others} not significantly {different}.{_on_fastest(board)}"
    elif n_worse:
        others = "the other model" if n_worse == 1 else f"the other {_number(n_worse)} models"
        compared = f"It is significantly better than {others}."
    return f"Use {best}. {compared}"


def _on_failed(model: str, reason: str) -> str:
    """Name a model without a score, and its reason if it is short."""
    first = re.split(r"[.] (?=[A-Z])", reason)[0].rstrip(".")  # Advice follows.
    return f"{model} has no score{f': {first}' if 0 < len(first) <= _LONGEST_REASON else ''}."


def _on_fastest(board: pd.DataFrame) -> str:
    """Name the fastest of the best models, which the leaderboard marks."""
    if "fit_seconds" not in board or (first := fastest(board)) is None:
        return ""
    best = board.loc[board["verdict"] == BEST].iloc[0]
    is_only = board["verdict"].isin([UNDECIDED, EQUIVALENT]).sum() == 1
    if board.loc[first, "model"] == best["model"]:
        return " It is not faster." if is_only else " None of them is faster."
    own, other = (seconds_text(board.loc[row, "fit_seconds"]) for row in (best.name, first))
    named = "This is {}, which is faster" if is_only else "The fastest of them is {}"
    return f" {named.format(board.loc[first, 'model'])}: {other} s per fit instead of {own} s."


def _is_no_better_than_guessing(board: pd.DataFrame) -> bool:
    """Return whether the best model is not significantly better than label frequencies without features.

    It is false if the leaderboard has no row of guessing, or if the difference could not be tested.
    """
    guessed = board[board["verdict"] == GUESSING]
    return len(guessed) > 0 and bool(((guessed["behind"] <= 0) | (guessed["behind_low"] <= 0)).any())


def sentences_on_others(board: pd.DataFrame, metric: str, *, is_checked: bool = False) -> list[str]:
    """Name the other models by their verdict.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    metric : str
        Name of the metric for readers.
    is_checked : bool, default=False
        Whether verdicts are based on checked cells, by intervals instead of tests.

    Returns
    -------
    list of str
        A sentence for each verdict.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["Stack+", "kNN", "dummy"], "verdict": ["best", "worse", "worse"]})
    >>> sentences_on_others(board, "average precision")
    ['kNN and dummy are significantly worse than it by average precision.']
    """
    found = []
    for verdict, phrases in (_BY_CELLS if is_checked else _BY_TESTS).items():
        if models := board.loc[board["verdict"] == verdict, "model"].tolist():
            phrase = phrases[len(models) > 1]
            found.append(f"{listed(models)} {phrase}{f' by {metric}' if phrase.endswith(' it') else ''}.")
    return found


def sentence_on_draws(numbers: pd.DataFrame, best: str, metric: str) -> str | None:
    """State in how many draws of the samples a model stays the best.

    Parameters
    ----------
    numbers : DataFrame
        Rows of :func:`~fairfold.recommendation.comparison.recommend` for one dataset.
    best, metric : str
        Names of the model and of the metric.

    Returns
    -------
    str or None
        Sentence, None without such draws or for a single model.

    Examples
    --------
    >>> numbers = pd.DataFrame({"model": ["A", "B"], "metric": "mcc", "share_best": [0.78, 0.22]})
    >>> sentence_on_draws(numbers, "A", "mcc")
    'If the samples were drawn again, A would stay the best in 78 % of draws.'
    """
    rows = numbers[numbers["metric"] == metric].set_index("model")
    share = rows["share_best"].get(best, np.nan) if "share_best" in rows else np.nan
    if np.isnan(share) or rows["share_best"].notna().sum() < 2:
        return None
    percent = "more than 99" if share > 0.995 else f"{100 * share:.0f}"
    return f"If the samples were drawn again, {best} would stay the best in {percent} % of draws."


def sentences_on_twins(board: pd.DataFrame, *, is_corrected: bool = False) -> list[str]:
    """Name the models with the scores of another one, and the reason if it is known.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.
    is_corrected : bool, default=False
        Whether labels are imputed or corrected, because they are declared incomplete.

    Returns
    -------
    list of str
        A sentence for each such other model.

    Examples
    --------
    >>> board = pd.DataFrame({"model": ["A", "A+", "B+"], "verdict": ["best", "same as A", "same as A"]})
    >>> sentences_on_twins(board)
    ['A+ and B+ have the same scores as A.']
    """
    found, none = [], pd.Series(False, index=board.index)
    differs = board.get("differs_if_missing", none).eq(True)
    for verdict, rows in board[board["verdict"].str.startswith(SAME)].groupby("verdict", sort=False):
        reason = _NOTHING_CORRECTED if differs[rows.index].all() and not is_corrected else ""
        has = "has" if len(rows) == 1 else "have"
        found.append(f"{listed(rows['model'])} {has} the same scores as {str(verdict).removeprefix(SAME)}{reason}.")
    return found


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
