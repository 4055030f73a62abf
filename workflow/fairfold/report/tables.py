"""HTML tables: fragments for the report, and self-contained pages."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from fairfold.core.files import NAMES, NAMES_OR_NUMBERS, atomic_open, read_csv
from fairfold.report.results import TEXTS
from fairfold.report.templates import render

ROWS_IN_REPORT = 60
ROWS_ON_PAGE = 5000  # Browsers sort this number of rows without delay.
_DIGITS = 4


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


class Table(NamedTuple):
    """First rows of a table, formatted for printing.

    Attributes
    ----------
    columns : list of Column
        Columns of the table.
    rows : list of tuple of Cell
        Cells, row by row.
    n_rows : int
        Number of rows of the complete table.
    """

    columns: list[Column]
    rows: list[tuple[Cell, ...]]
    n_rows: int


def table_of(data: pd.DataFrame, most_rows: int = ROWS_IN_REPORT) -> Table:
    """Format the first rows of a table.

    Parameters
    ----------
    data : DataFrame
        Any table. A column contains numbers if all its non-empty cells are numbers. Names are not changed.
    most_rows : int, default=60
        Number of rows to format.

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
    columns = [_column(name, texts[name], most_rows) for name in texts]
    return Table(columns, list(zip(*(column.cells for column in columns), strict=True)), len(data))


def table_of_file(path: str | os.PathLike[str], most_rows: int = ROWS_IN_REPORT) -> Table:
    """Format the first rows of a CSV file.

    Parameters
    ----------
    path : str or path-like
        Path of the file. Text such as ``NA`` is not changed.
    most_rows : int, default=60
        Number of rows to format.

    Returns
    -------
    Table
        Formatted table.
    """
    return table_of(read_csv(path, dtype=str), most_rows)


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


def write_table_page(source: str | os.PathLike[str], target: str | os.PathLike[str], title: str) -> None:
    """Write a CSV file as a sortable, self-contained HTML page.

    Parameters
    ----------
    source : str or path-like
        Path of the CSV file.
    target : str or path-like
        Path of the page.
    title : str
        Title of the page.
    """
    path = Path(source)
    page = render("table_page.html.jinja", table=table_of_file(path, ROWS_ON_PAGE), title=title, csv=path.name)
    with atomic_open(target, "w", encoding="utf-8") as stream:
        stream.write(page)


def _column(name: str, texts: pd.Series, most_rows: int) -> Column:
    shown = texts.iloc[:most_rows].tolist()
    numbers = pd.to_numeric(texts.where(texts != "", "nan"), errors="coerce")
    is_number = bool((numbers.notna() | (texts == "")).all() and numbers.notna().any())
    is_printed_as_number = is_number and name not in (*NAMES, *NAMES_OR_NUMBERS, *TEXTS)
    printed = format_numbers(numbers.to_numpy(float)[:most_rows]) if is_printed_as_number else shown
    return Column(str(name), is_number, [Cell(*pair) for pair in zip(printed, shown, strict=True)])


def format_numbers(values: np.ndarray) -> list[str]:
    """Format the numbers of one column.

    Integers are printed without decimals. Other columns have four significant digits of the largest number. Each number
    has its own precision, with three significant digits, if the largest number is very large or the smallest would
    vanish.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers. NaN is printed as an empty string.

    Returns
    -------
    list of str
        Printed numbers.

    Examples
    --------
    >>> import numpy as np
    >>> format_numbers(np.array([0.5, 0.123456, np.nan]))
    ['0.5000', '0.1235', '']
    """
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    decimals: int | None = 0
    if sizes.max(initial=0) >= 1e7 or (sizes != np.round(sizes)).any():
        decimals = max(0, _DIGITS - 1 - math.floor(math.log10(sizes.max())))
        if decimals > 6 or sizes.max() >= 1e7 or sizes.min() < 10.0 ** (1 - decimals):
            decimals = None
    return [_format(value, decimals) for value in values.tolist()]


def _format(value: float, decimals: int | None) -> str:
    if math.isnan(value):
        return ""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.3g}" if decimals is None else f"{value:,.{decimals}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) != 0 else text.removeprefix("-")
