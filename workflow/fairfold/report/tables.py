"""Tables as HTML fragments, with formatted numbers and a limited number of columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from fairfold.core.digits import decimals_of
from fairfold.core.files import NAMES, NAMES_OR_NUMBERS
from fairfold.metrics.registry import METRICS
from fairfold.report.results import TEXTS
from fairfold.report.templates import render

ROWS_IN_REPORT = 60
MOST_COLUMNS = 8  # Wider tables do not fit a page.
_FEWEST_ROWS = 2  # of tables that lack columns with a single value
_SCORED = ("", "mean", "score", "estimate", "estimated_rate", "complete", "observed", "corrected", "at_bound")
_DIGITS = 4
_MOST_DECIMALS = 6
_ROUNDING_ERROR = 1e-12  # Smaller numbers are rounding errors of 0.


class Cell(NamedTuple):
    """Cell of a table.

    Attributes
    ----------
    text : str
        Printed text.
    key : str
        Text of the CSV file with all digits, used for sorting.
    """

    text: str
    key: str


class Column(NamedTuple):
    """Column of a table.

    Attributes
    ----------
    name : str
        Name of the column.
    is_number : bool
        Whether the column contains numbers.
    cells : list of Cell
        Cells of the column.
    """

    name: str
    is_number: bool
    cells: list[Cell]

    @property
    def is_gain(self) -> bool:
        """Whether the column is named after a score whose high values are good."""
        return self.name in METRICS and METRICS[self.name].direction > 0


class Table(NamedTuple):
    """First rows of a table, formatted for printing.

    Attributes
    ----------
    columns : list of Column
        Columns of the table.
    rows : list of tuple of Cell
        Cells, row by row.
    n_rows, n_columns : int
        Size of the complete table.
    same : dict of str to str
        Names and values of columns that are left out, because all rows have the same value.
    """

    columns: list[Column]
    rows: list[tuple[Cell, ...]]
    n_rows: int
    n_columns: int
    same: dict[str, str]


def table_of(
    data: pd.DataFrame, most_rows: int = ROWS_IN_REPORT, columns: Sequence[str] = (), *, constant: bool = False
) -> Table:
    """Format the first rows of a table, in at most ``MOST_COLUMNS`` columns.

    Parameters
    ----------
    data : DataFrame
        Any table. A column contains numbers if all its non-empty cells are numbers. Names are not changed.
    most_rows : int, default=60
        Number of rows to format.
    columns : sequence of str, default=()
        Columns to format. By default, a wide table lacks its last columns.
    constant : bool, default=False
        Whether columns with a single value are formatted, too.

    Returns
    -------
    Table
        Formatted table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = table_of(pd.DataFrame({"model": ["a", "b"], "mean": [0.123456, None]}))
    >>> [cell.text for cell in table.columns[1].cells]
    ['0.1235', '']
    """
    texts = data.map(lambda value: "" if pd.isna(value) else str(value))
    if "is_different" in texts:  # a verdict of tests
        texts["is_different"] = texts["is_different"].replace({"": "not tested", "True": "yes", "False": "no"})
    chosen = [name for name in columns if name in texts] or list(texts)
    varying = [name for name in chosen if constant or len(texts) < _FEWEST_ROWS or texts[name].nunique() > 1]
    each = {name: _column(name, texts[name], most_rows, _decimals_by_interval(name, data)) for name in chosen}
    formatted = [each[name] for name in (varying or chosen)[:MOST_COLUMNS]]
    rows = list(zip(*(column.cells for column in formatted), strict=True))
    same = {name: each[name].cells[0].text for name in chosen if varying and name not in varying}
    return Table(formatted, rows, len(data), data.shape[1], {name: text for name, text in same.items() if text})


def table_html(table: Table, title: str) -> Markup:
    """Render a table that is sorted by clicking on a heading.

    Parameters
    ----------
    table : Table
        Formatted table.
    title : str
        Title for screen readers.

    Returns
    -------
    Markup
        HTML fragment.
    """
    return Markup(render("table.html.jinja", table=table, title=title))


def _decimals_by_interval(name: str, data: pd.DataFrame) -> int | None:
    """Return the decimals of a column of scores with intervals, or None for another column."""
    score = re.sub("_?(low|high)$", "", name)
    pairs = [(f"{score}_low", f"{score}_high")]
    if score in _SCORED:
        pairs.append(("low", "high"))
    ends = next((pair for pair in pairs if {*pair} <= {*data}), None)
    return None if ends is None else decimals_of(*(pd.to_numeric(data[end], errors="coerce") for end in ends))


def _column(name: str, texts: pd.Series, most_rows: int, decimals: int | None) -> Column:
    shown = texts.iloc[:most_rows].tolist()
    numbers = pd.to_numeric(texts.where(texts != "", "nan"), errors="coerce")
    is_number = bool((numbers.notna() | (texts == "")).all() and numbers.notna().any())
    is_name = name in (*NAMES, *NAMES_OR_NUMBERS, *TEXTS)
    printed = (
        shown if is_name else format_numbers(numbers.to_numpy(float)[:most_rows], decimals) if is_number else shown
    )
    if is_name and is_number and (numbers.dropna() % 1 == 0).all():  # Whole numbers with gaps are read as 629.0.
        printed = [text.removesuffix(".0") for text in shown]
    return Column(str(name), is_number, [Cell(*pair) for pair in zip(printed, shown, strict=True)])


def format_numbers(values: np.ndarray, decimals: int | None = None) -> list[str]:
    """Format the numbers of one column.

    Integers are printed without decimals. Unless their number is given, other columns have four significant digits of
    the largest number, and at most six decimals. A smaller number is printed as a bound, such as ``<0.0001``, and a
    rounding error as 0. If the largest number is above 1 and the smallest would vanish, each number has three
    significant digits.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers. NaN is printed as an empty string.
    decimals : int or None, default=None
        Number of decimals.

    Returns
    -------
    list of str
        Printed numbers.

    Examples
    --------
    >>> import numpy as np
    >>> format_numbers(np.array([0.5, 0.123456, np.nan, 2e-7, 4.76e-17]))
    ['0.5000', '0.1235', '', '<0.0001', '0']
    """
    if decimals is not None:
        return [_format(value, decimals) for value in values.tolist()]
    sizes = np.abs(values[np.isfinite(values) & (np.abs(values) > _ROUNDING_ERROR)])
    decimals = 0
    if (sizes != np.round(sizes)).any():
        decimals = _decimals(sizes.max(), _DIGITS)
        if sizes.max() > 1 and sizes.min() < 10.0 ** (1 - decimals):
            decimals = None
    return [_format(value, decimals) for value in values.tolist()]


def _decimals(value: float, n_digits: int) -> int:
    """Return the number of decimals that gives a number its significant digits."""
    return int(np.clip(n_digits - 1 - math.floor(math.log10(abs(value))), 0, _MOST_DECIMALS))


def _format(value: float, decimals: int | None) -> str:
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) <= _ROUNDING_ERROR:
        return "0"
    if decimals is None:
        decimals = _decimals(value, _DIGITS - 1)
    if round(value, decimals) == 0:
        least = f"{10.0**-decimals:.{decimals}f}"
        return f"<{least}" if value > 0 else f">−{least}"
    return f"{value:,.{decimals}f}".replace("-", "−")
