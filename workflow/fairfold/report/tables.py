"""Tables as HTML: fragments for the report, and pages of their own."""

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
ROWS_ON_PAGE = 5000  # what a browser still sorts at once
_DIGITS = 4


class Cell(NamedTuple):
    """What is printed, and what is sorted by: all digits of the CSV."""

    text: str
    key: str


class Column(NamedTuple):
    """Name of a column, whether it holds numbers, and its cells."""

    name: str
    is_number: bool
    cells: list[Cell]


class Table(NamedTuple):
    """The first rows of a CSV, ready to print: columns, their cells row by row, and how many rows there are in all."""

    columns: list[Column]
    rows: list[tuple[Cell, ...]]
    n_rows: int


def table_of(data: pd.DataFrame, most_rows: int = ROWS_IN_REPORT) -> Table:
    """Format the first rows of a table.

    Parameters
    ----------
    data : any table; a column holds numbers if each of its cells that is not empty does. Names stay as they are.
    most_rows : rows to format.
    """
    texts = data.map(lambda value: "" if pd.isna(value) else str(value))
    columns = [_column(name, texts[name], most_rows) for name in texts]
    return Table(columns, list(zip(*(column.cells for column in columns), strict=True)), len(data))


def table_of_file(path: str | os.PathLike[str], most_rows: int = ROWS_IN_REPORT) -> Table:
    """Like :func:`table_of`, of a CSV; text such as ``NA`` stays as it is."""
    return table_of(read_csv(path, dtype=str), most_rows)


def table_html(table: Table, title: str) -> Markup:
    """A table that is sorted by a click on a heading; ``title`` is read out by screen readers."""
    return Markup(render("table.html.jinja", table=table, title=title))


def write_table_page(source: str | os.PathLike[str], target: str | os.PathLike[str], title: str) -> None:
    """Write a CSV as a sortable page of its own, which needs no other file and no network."""
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
    """Numbers of one column as they are printed: integers whole, others with four digits of the largest.

    Where the smallest would vanish beside the largest, each number has its own digits.

    Parameters
    ----------
    values : (n,) float; NaN is printed as nothing.
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
