"""Columns of the leaderboard, for the terminal and the report. A new column is one entry of :data:`COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from fairfold.core.digits import decimals_of
from fairfold.evaluation.compare import BEST, EQUIVALENT, GUESSING, UNDECIDED
from fairfold.metrics.registry import METRICS, metrics_of

DECIDING = metrics_of("threshold")[0]
"""Metric of decisions that the leaderboard shows beside the score of the study."""
NOT_TESTED, NO_SCORE, SAME = "not tested", "no score", "same as "
"""Verdicts on a model. A model with the scores of another one has the verdict ``same as <model>``."""
ALIKE = (UNDECIDED, EQUIVALENT)
"""Verdicts on models that are not significantly different from the best one."""
Row = Mapping[str, Any]
"""Row of a leaderboard: values of its columns and their limits, None where there is none."""


def number(value: float | None, digits: int) -> str:
    """Format a score with a minus sign, or as an empty text if there is none.

    Parameters
    ----------
    value : float or None
        Score.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        Text.

    Examples
    --------
    >>> number(-0.25, 3), number(None, 3)
    ('−0.250', '')
    """
    return "" if value is None else f"{value:.{digits}f}".replace("-", "−")


class Column(NamedTuple):
    """Column of the leaderboard.

    Attributes
    ----------
    name : str
        Column of the table of :func:`~fairfold.recommendation.leaderboard.leaderboard`.
    heading, short : str
        Heading in the report and in the terminal. METRIC stands for the metric of the study.
    text : callable or None
        Function of a row and a number of decimals that returns the text of a cell. By default, it is a score.
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
    text: Callable[[Row, int], str] | None = None
    limits: tuple[str, ...] = ()
    bars: str = ""
    is_optional: bool = False

    def cell(self, row: Row, digits: int) -> str:
        """Return the text of a cell.

        Parameters
        ----------
        row : mapping
            Row of the leaderboard.
        digits : int
            Number of decimals.

        Returns
        -------
        str
            Text.
        """
        return number(row[self.name], digits) if self.text is None else self.text(row, digits)


def _behind(row: Row, digits: int) -> str:
    """Return a distance. The best model has none to itself."""
    return "" if row["verdict"] == BEST else number(row["behind"], digits)


def _verdict(row: Row, _: int) -> str:
    # Models that are worse may be faster than the best one, so only another model is marked.
    return f"{row['verdict']}, fastest" if row["is_fastest"] and row["verdict"] != BEST else row["verdict"]


def _seconds(row: Row, _: int) -> str:
    return "" if row["fit_seconds"] is None else seconds_text(row["fit_seconds"])


def seconds_text(value: float) -> str:
    """Format a run time.

    Parameters
    ----------
    value : float
        Seconds.

    Returns
    -------
    str
        Number with two decimals below ten seconds, and one above.

    Examples
    --------
    >>> seconds_text(0.001), seconds_text(2.5), seconds_text(61.23)
    ('<0.01', '2.50', '61.2')
    """
    return "<0.01" if value < 0.005 else f"{value:,.{2 if value < 10 else 1}f}"


COLUMNS = (
    Column("score", "METRIC", "METRIC", limits=("low", "high"), bars="95 % interval"),
    Column("over_labels", "Mean over labels", "mean over labels", is_optional=True),
    Column(
        "behind",
        "Gap to best",
        "gap to best",
        text=_behind,
        limits=("behind_low", "behind_high"),
        bars="95 % interval of the difference",
    ),
    Column("deciding", METRICS[DECIDING].label.removeprefix("micro "), METRICS[DECIDING].short),
    Column("verdict", "Verdict", "verdict", text=_verdict),
    Column("fit_seconds", "Seconds per fit", "s/fit", text=_seconds),
)


ROW = ["model", *(name for column in COLUMNS for name in (column.name, *column.limits)), "is_fastest"]
"""Names of the values of a row."""


def fastest(board: pd.DataFrame) -> Any:
    """Return the index of the fastest of the best models.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.

    Returns
    -------
    object
        Index, or None if fewer than two of them have a run time.
    """
    timed = board.loc[board["verdict"].isin([BEST, *ALIKE]), "fit_seconds"].dropna()
    return timed.idxmin() if len(timed) > 1 else None


def rows_of(board: pd.DataFrame) -> list[Row]:
    """Return the rows of a leaderboard with the values of all columns.

    Parameters
    ----------
    board : DataFrame
        Rows of :func:`~fairfold.recommendation.leaderboard.leaderboard` for one dataset.

    Returns
    -------
    list of dict
        Rows. ``is_fastest`` marks the fastest of the best models.
    """
    table = board.assign(is_fastest=board.index == fastest(board)).reindex(columns=ROW).astype(object)
    return table.where(table.notna(), None).to_dict("records")


def columns_of(rows: Sequence[Row], metric: str) -> list[Column]:
    """Return the columns that a leaderboard has, with headings that name the metric.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the leaderboard.
    metric : str
        Metric of the study.

    Returns
    -------
    list of Column
        Columns.
    """
    name = METRICS[metric].name
    heading, short = f"{name[0].upper()}{name[1:]}", name.replace("average", "avg.")
    return [
        column._replace(heading=heading, short=short) if column.heading == "METRIC" else column
        for column in COLUMNS
        if not column.is_optional or any(row[column.name] is not None for row in rows)
    ]


def digits_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return the number of decimals of each column, which follows from the width of its intervals.

    Differences have at least one decimal more than the score, so that they do not seem to contradict it.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the leaderboard.

    Returns
    -------
    dict of str to int
        Number of decimals by column. Columns without intervals have those of the score.
    """
    found: dict[str, int] = {}
    for column in COLUMNS:
        ends = [[row[end] for end in column.limits] for row in rows if row["verdict"] != GUESSING]
        known = [pair for pair in ends if pair and None not in pair]
        found[column.name] = (
            decimals_of(*zip(*known, strict=True)) if known else found.get("score", decimals_of((), ()))
        )
    return found | {"behind": max(found["behind"], found["score"] + 1)}


def interval(low: float | None, high: float | None, digits: int) -> str:
    """Format an interval, or return an empty text if there is none.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval.
    digits : int
        Number of decimals.

    Returns
    -------
    str
        Text.

    Examples
    --------
    >>> interval(0.25, 0.5, 3), interval(None, None, 3)
    ('0.250 to 0.500', '')
    """
    return "" if low is None else f"{number(low, digits)} to {number(high, digits)}"


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
