"""Columns of the leaderboard, for the terminal and the report. A new column is one entry of :data:`COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairfold.evaluation.compare import BEST, EQUIVALENT, UNDECIDED
from fairfold.metrics.registry import METRICS, metrics_of

DECIDING = metrics_of("threshold")[0]
"""Metric of decisions that the leaderboard shows beside the score of the study."""
NOT_TESTED, NO_SCORE, SAME = "not tested", "no score", "same as "
"""Verdicts on a model. A model with the scores of another one has the verdict ``same as <model>``."""
ALIKE = (UNDECIDED, EQUIVALENT)
"""Verdicts on models that are not significantly different from the best one."""


def number(value: float, digits: int) -> str:
    """Format a score with a minus sign, or as an empty text if it is NaN.

    Parameters
    ----------
    value : float
        Score.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        Text.

    Examples
    --------
    >>> number(-0.25, 3), number(float("nan"), 3)
    ('−0.250', '')
    """
    return "" if np.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def seconds(value: float, digits: int) -> str:
    """Format seconds with a number of decimals below 10 s and one above, or as an empty text if they are NaN.

    Parameters
    ----------
    value : float
        Seconds.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        Text.

    Examples
    --------
    >>> seconds(0.004, 2), seconds(0.04, 1), seconds(1234.56, 2)
    ('<0.01', '<0.1', '1,234.6')
    """
    if np.isnan(value):
        return ""
    least = 10.0**-digits
    return f"<{least:g}" if value < least / 2 else f"{value:,.{digits if value < 10 else 1}f}"


class Column(NamedTuple):
    """Column of the leaderboard.

    Attributes
    ----------
    name : str
        Column of the table of :func:`~fairfold.recommendation.leaderboard.leaderboard`.
    heading, short : str
        Heading in the report and in the terminal. METRIC stands for the metric of the study.
    text : callable
        Function of a value and a number of decimals that returns the text of a cell.
    digits : tuple of (int or None, int)
        Numbers of decimals in the report and in the terminal. None stands for those that separate the models.
    limits : tuple of (str, str)
        Columns of an interval, which the report shows as bars. Empty without.
    bars : str
        Heading of the bars.
    is_optional : bool
        Whether the report omits the column if it has no value. The terminal omits each column without a value.
    """

    name: str
    heading: str
    short: str
    text: Callable[[Any, int], str] = number
    digits: tuple[int | None, int] = (None, 3)
    limits: tuple[str, ...] = ()
    bars: str = ""
    is_optional: bool = False


COLUMNS = (
    Column("score", "METRIC", "METRIC", limits=("low", "high"), bars="95 % interval"),
    Column("over_labels", "Label mean", "label mean", is_optional=True),
    Column(
        "behind",
        "Behind best",
        "behind",
        limits=("behind_low", "behind_high"),
        bars="95 % interval of the difference",
    ),
    Column("deciding", METRICS[DECIDING].label.removeprefix("micro "), METRICS[DECIDING].short, digits=(3, 3)),
    Column("verdict", "Verdict", "verdict", text=lambda verdict, _: verdict),
    Column("fit_seconds", "Seconds per fit", "s/fit", text=seconds, digits=(2, 1)),
)


def shown(board: pd.DataFrame) -> tuple[list[Column], pd.DataFrame]:
    """Return the columns that a leaderboard has, and its values for display.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.

    Returns
    -------
    columns : list of Column
        Columns, with headings that name the metric.
    values : DataFrame
        The leaderboard. The best model is not behind itself, and the verdict names the fastest of the best models.
    """
    name = METRICS[board["metric"].iloc[0]].name
    timed = board.loc[board["verdict"].isin([BEST, *ALIKE]), "fit_seconds"].dropna()
    is_fastest = board.index == (timed.idxmin() if len(timed) > 1 else None)
    values = board.assign(
        behind=board["behind"].where(board["verdict"] != BEST),
        verdict=board["verdict"] + np.where(is_fastest, ", fastest", ""),
    )
    heading, short = f"{name[0].upper()}{name[1:]}", name.replace("average", "avg.")
    columns = [
        column._replace(heading=heading, short=short) if column.heading == "METRIC" else column
        for column in COLUMNS
        if column.name in board and (not column.is_optional or board[column.name].notna().any())
    ]
    return columns, values


def better_for_decisions(numbers: pd.DataFrame, best: str) -> str | None:
    """Name the model that is significantly better than the best one where labels are decided.

    Parameters
    ----------
    numbers : DataFrame
        Rows of :func:`~fairfold.recommendation.comparison.recommend` for one dataset.
    best : str
        Model with the best score of the study.

    Returns
    -------
    str or None
        Name of the model, or None if there is none.
    """
    rows = numbers[numbers["metric"] == DECIDING].set_index("model")
    if best not in rows.index or not rows.loc[best, "p_adjusted"] <= rows.loc[best, "alpha"]:
        return None
    return rows.index[rows["difference"] == 0][0]
