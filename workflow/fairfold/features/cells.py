"""Cells of a column as text, numbers or dates."""

from __future__ import annotations

import datetime
import re
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from fairfold.errors import DataError
from fairfold.tables.label_values import TRUTHS

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*|\s*[+-]?(nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
ISO = "ISO8601"  # pandas' name of all formats such as 2021-01-31 and 2021-01-31T12:00:00+01:00
ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}([T ].*)?", re.ASCII)
_HAS_DATE = re.compile(r"\d.*[-/.:,\s].*\d", re.ASCII | re.DOTALL)
_LONGEST_DATE = 40  # characters
_YEAR_DAY = re.compile("%Y.?%d")  # No one writes the day directly after the year.
_EXACT = 2**63  # magnitude below which whole numbers have no decimals
_SHOWN = 30  # characters of a cell in a message
_DAY = pd.Timedelta(days=1)


def refuse(column: pd.Series, row: int, what: str, advice: str = "Correct the cell or leave it empty.") -> DataError:
    """Build the error for a cell that does not fit the role of its column.

    Parameters
    ----------
    column : Series
        Column of the table.
    row : int
        Position of the cell, from 0.
    what : str
        Expected content.
    advice : str, default="Correct the cell or leave it empty."
        Solution, as a sentence.

    Returns
    -------
    DataError
        Error that names the row, counted from 1, the column and the cell. The attributes ``source`` of the column, and
        ``before``, its number of earlier rows in this source, add the source.

    Examples
    --------
    >>> print(refuse(pd.Series(["x"], name="age"), 0, "a number"))
    row 1, column 'age': expected a number, found 'x'. Correct the cell or leave it empty.
    """
    cell = column.iloc[row]
    shown = repr(cell if not isinstance(cell, str | bytes) else cell[:_SHOWN])
    source = f"{column.attrs['source']}, " if "source" in column.attrs else ""
    place = f"{source}row {row + 1 + column.attrs.get('before', 0)}, column {column.name!r}"
    return DataError(f"{place}: expected {what}, found {shown}. {advice}")


def as_texts(column: pd.Series) -> np.ndarray:
    """Return the cells as text.

    Parameters
    ----------
    column : Series
        Column of text, or of cells of several types. Bytes are decoded as UTF-8.

    Returns
    -------
    ndarray of object of shape (n_samples,)
        Text as stored; ``""`` for a missing cell. Whole numbers have no decimals, so 1.0 and 1 are the same code.

    Raises
    ------
    DataError
        If a cell is neither text nor a number or date, or its bytes are not UTF-8.

    Examples
    --------
    >>> as_texts(pd.Series(["a", None, b"b", 1.0, True])).tolist()
    ['a', '', 'b', '1', 'True']
    """
    cells = column.astype(object).to_numpy(copy=True)
    cells[column.isna().to_numpy()] = ""
    for row, cell in enumerate(cells):
        if type(cell) is not str:
            cells[row] = _as_text(cell, column, row)
    return cells


def _as_text(cell: Any, column: pd.Series, row: int) -> str:
    match cell:
        case bytes():
            try:
                return cell.decode()
            except UnicodeDecodeError:
                advice = "Decode the column before, for example with .str.decode('latin-1')."
                raise refuse(column, row, "text", advice) from None
        case int() | np.integer() | np.bool_() | str():
            return str(cell)
        case datetime.date() | datetime.time() | pd.Interval() | pd.Period() | pd.Timedelta():
            return str(cell)
        case float() | np.floating() | Decimal():
            number = float(cell)
            return str(int(number)) if abs(number) < _EXACT and number.is_integer() else str(cell)
    raise refuse(column, row, "text or a number", "Make one column of each part of the cell.")


def as_numbers(column: pd.Series, *, truths: bool = False) -> np.ndarray:
    """Return the cells as numbers.

    Parameters
    ----------
    column : Series
        Column of numbers, booleans, durations (converted to days) or numbers as text.
    truths : bool, default=False
        Whether the words true, false, yes and no, in any case, are 1 and 0.

    Returns
    -------
    ndarray of float64 of shape (n_samples,)
        Numbers; NaN for a missing cell.

    Raises
    ------
    DataError
        If a cell is not a number.

    Examples
    --------
    >>> as_numbers(pd.Series(["1.5", " ", None, "-2e3"])).tolist()
    [1.5, nan, nan, -2000.0]
    """
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        column = column / _DAY
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    texts = as_texts(column)
    found = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if NUMBER.fullmatch(text):
            found[row] = text
        elif truths and text.strip().lower() in TRUTHS:
            found[row] = TRUTHS[text.strip().lower()]
        elif text.strip():
            raise refuse(column, row, "true, false, yes, no, 0 or 1" if truths else "a number")
    return found


def as_times(column: pd.Series, form: str | None) -> pd.Series:
    """Return the cells as times in UTC.

    Parameters
    ----------
    column : Series
        Column of dates, times or text.
    form : str or None
        Format of text; see :func:`find_format`. Text in ISO 8601 is always read.

    Returns
    -------
    Series of datetime64
        Times without a time zone; NaT for a missing cell. Times of a known zone are converted to UTC.

    Raises
    ------
    DataError
        If a cell does not have the format.

    Examples
    --------
    >>> as_times(pd.Series(["2021-01-31T01:00:00+02:00", ""]), "ISO8601").tolist()
    [Timestamp('2021-01-30 23:00:00'), NaT]
    """
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if isinstance(column.dtype, pd.ArrowDtype) and pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = pd.Series(pd.to_datetime(column.to_numpy(dtype=object, na_value=None), utc=True))
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        texts = pd.Series(as_texts(column), index=column.index, name=column.name, dtype=object).str.strip()
        times = pd.to_datetime(texts.where(texts != ""), format=form or ISO, errors="coerce", utc=True)
        if form:  # Cells of dates in Parquet and Excel become text in ISO 8601.
            iso = texts.where(texts.map(ISO_DATE.fullmatch).notna())
            times = times.fillna(pd.to_datetime(iso, format=ISO, errors="coerce", utc=True))
        wrong = np.flatnonzero(times.isna() & (texts != ""))
        if len(wrong):
            raise refuse(column, wrong[0], f"a date such as {example_of(form or ISO)}")
        column = times
    return column.dt.tz_convert(None) if column.dt.tz is not None else column


def find_format(texts: np.ndarray, *, day_first: bool = False) -> tuple[str, bool] | None:
    """Find the format of dates in text.

    Parameters
    ----------
    texts : ndarray of object of shape (n_samples,)
        Cells as text; ``""`` is missing.
    day_first : bool, default=False
        Whether the day comes before the month if both orders are possible.

    Returns
    -------
    (str, bool) or None
        Format that all cells have, and whether day and month could be exchanged. None if there is no such format.

    Examples
    --------
    >>> find_format(np.array(["31/12/2020", "01/02/2021"], dtype=object))
    ('%d/%m/%Y', False)
    >>> find_format(np.array(["11/12/2020", "01/02/2021"], dtype=object))
    ('%m/%d/%Y', True)
    >>> find_format(np.array(["red", "blue"], dtype=object))
    """
    cells = pd.unique(pd.Series([text.strip() for text in texts if text.strip()], dtype=object))
    if not len(cells) or not all(len(cell) <= _LONGEST_DATE and _HAS_DATE.search(cell) for cell in cells):
        return None
    if all(map(NUMBER.fullmatch, cells)):
        return None
    if all(map(ISO_DATE.fullmatch, cells)):
        return (ISO, False) if _fits(cells, ISO) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Both orders of day and month are tried.
        guesses = [guess_datetime_format(cells[0], dayfirst=first) for first in (day_first, not day_first)]
    forms = [form for form in dict.fromkeys(guesses) if form and not _YEAR_DAY.match(form) and _fits(cells, form)]
    return (forms[0], len(forms) > 1) if forms else None


def example_of(form: str) -> str:
    """Write a date in a format of :func:`find_format`."""
    last_day = datetime.datetime(2021, 12, 31)  # It shows the order of day and month.
    return f"{last_day:%Y-%m-%d}" if form == ISO else last_day.strftime(form)


def _fits(cells: np.ndarray, form: str) -> bool:
    return bool(pd.to_datetime(pd.Series(cells), format=form, errors="coerce", utc=True).notna().all())
