"""Evaluation by time: models learn from samples up to a date and are tested on later samples.

With several cut-offs, each period between two of them is tested with the samples before it (forward chaining, as in
scikit-learn's ``TimeSeriesSplit``). With one cut-off, the method is the temporal hold-out of CAFA.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairfold.core.folds import BEFORE
from fairfold.errors import ConfigError, DataError

logger = logging.getLogger(__name__)

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_HOW = "expected a date such as 2021-01-31 (ISO 8601), or only numbers such as years"
_DAY_FIRST = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?=\s|T|$)")
_HINT = " If the day comes before the month, as in 31/12/2021, set day_first: true."


def check_hold_out(where: str, *, dates: str | None, hold_out: Mapping[str, Any], folds: str | None) -> None:
    """Raise :class:`ConfigError` unless ``dates`` and one kind of hold-out are both given, or neither is.

    Parameters
    ----------
    where : str
        Key of the dataset, for messages.
    dates : str or None
        Column of dates.
    hold_out : mapping
        ``after`` with a date or a list of dates, or ``n_splits`` with a number of periods.
    folds : str or None
        Column of folds, which excludes evaluation by time.
    """
    if dates is None and not hold_out:
        return
    if dates is None or not hold_out:
        present, missing = ("dates", "hold_out") if dates else ("hold_out", "dates")
        raise ConfigError(f"{where}: {present} needs {missing}. Name both, or neither.")
    if folds is not None:
        raise ConfigError(f"{where}: folds and hold_out both define the test samples. Leave one out.")
    if len(hold_out) != 1:
        raise ConfigError(f"{where}.hold_out: found {', '.join(hold_out)}. Name either after or n_splits.")
    if "after" in hold_out:
        cutoffs(hold_out["after"], f"{where}.hold_out.after")


def cutoffs(written: Any, where: str) -> np.ndarray:
    """Parse cut-offs as numbers, or as the last moments of days in UTC.

    Parameters
    ----------
    written : date, number, str or list
        One cut-off or several in ascending order. Dates are text or the dates that YAML reads.
    where : str
        Key of the configuration, for messages.

    Returns
    -------
    ndarray of shape (n_cutoffs,)
        Cut-offs in ascending order, as float64 or datetime64[us].

    Raises
    ------
    ConfigError
        If a cut-off is neither a date nor a number, or if they are not in ascending order.

    Examples
    --------
    >>> cutoffs([2019, 2021], "hold_out.after").tolist()
    [2019.0, 2021.0]
    >>> print(cutoffs("2021-12-31", "hold_out.after")[0])
    2021-12-31T23:59:59.999999
    """
    values = written if isinstance(written, list) else [written]
    texts = [str(value) for value in values]
    found = _times(texts)
    wrong = [text for text, value in zip(texts, values, strict=True) if isinstance(value, bool)]
    if not values or wrong or isinstance(found, int):
        bad = wrong[0] if wrong else texts[found] if values else "nothing"
        raise ConfigError(f"{where}: found {bad!r}, {_HOW}.")
    if found.dtype.kind == "M":
        is_day = np.array([_DAY.fullmatch(text) is not None for text in texts])
        found = np.where(is_day, found + np.timedelta64(1, "D") - np.timedelta64(1, "us"), found)
    if (np.diff(found) <= found[:1] - found[:1]).any():
        raise ConfigError(f"{where}: found {', '.join(texts)}. Sort the cut-offs in ascending order.")
    return found


def folds_by_time(
    texts: np.ndarray, hold_out: Mapping[str, Any], column: str, source: str, *, day_first: bool = False
) -> np.ndarray:
    """Return the test period of each sample.

    Parameters
    ----------
    texts : ndarray of shape (n_samples,)
        Dates as written in the file.
    hold_out : mapping
        With ``after``, samples later than the first cut-off are tested, in one period up to each further cut-off. With
        ``n_splits``, the latest samples form this number of periods of equal size, as in ``TimeSeriesSplit``, except
        that samples of the same date stay together. At least the same number of samples comes before the first period.
    column : str
        Column of the dates, for messages.
    source : str
        Name of the file, for messages.
    day_first : bool, default=False
        Whether dates such as 31/12/2021, 31.12.2021 and 31-12-21 are read with the day before the month. Otherwise they
        are refused.

    Returns
    -------
    ndarray of shape (n_samples,)
        Test period as int64, counted from 0, or ``BEFORE`` for samples before the first period.

    Raises
    ------
    DataError
        If a date cannot be read, all dates are equal, or no sample is in a period or before the first one.

    Examples
    --------
    Samples of 2020 and 2021 are the first test period, and samples after 2021 the second.

    >>> folds_by_time(np.array(["2019", "2020", "2021", "2022"]), {"after": [2019, 2021]}, "year", "my.csv").tolist()
    [-2, 0, 0, 1]
    """
    times = _times([_iso(str(text)) for text in texts] if day_first else texts)
    where = f"{source}: column {column!r} (dates)"
    if isinstance(times, int):
        found = str(texts[times])
        hint = _HINT if not day_first and _DAY_FIRST.match(found.strip()) else ""
        raise DataError(f"{source}, data row {times + 1}, column {column!r} (dates): found {found!r}, {_HOW}.{hint}")
    if (times == times[0]).all():
        raise DataError(f"{where} contains {str(texts[0])!r} in all rows. Give at least two different dates.")
    ends = cutoffs(hold_out["after"], "hold_out.after") if "after" in hold_out else None
    ends = _even_cutoffs(times, hold_out["n_splits"], where) if ends is None else _checked(ends, times, texts, where)
    period = np.searchsorted(ends, times, side="left")  # A sample at a cut-off belongs to the period before it.
    sizes = np.bincount(period, minlength=len(ends) + 1)
    logger.info("%s: %d samples up to the first cut-off. Later periods: %s.", where, sizes[0], sizes[1:].tolist())
    return np.where(period == 0, BEFORE, period - 1).astype(np.int64)


def _iso(text: str) -> str:
    """Return a date with the day first in ISO 8601. Years of two digits are from 1970 to 2069."""
    found = _DAY_FIRST.match(text := text.strip())
    if found is None:
        return text
    day, month, year = found.groups()
    century = "" if len(year) == 4 else "19" if int(year) >= 70 else "20"
    return f"{century}{year}-{month:0>2}-{day:0>2}{text[found.end() :]}"


def _times(texts: Any) -> np.ndarray | int:
    """Parse all texts as numbers, or else as moments in UTC. Return the position of the first invalid text, if any."""
    texts = pd.Series([str(text) for text in texts], dtype=object)
    as_numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    if np.isfinite(as_numbers).all():
        return as_numbers
    moments = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    # A year among dates is more likely a mistake than January 1.
    wrong = np.flatnonzero(moments.isna() | ~np.isnan(as_numbers))
    return int(wrong[0]) if wrong.size else moments.dt.tz_localize(None).to_numpy().astype("datetime64[us]")


def _checked(ends: np.ndarray, times: np.ndarray, texts: np.ndarray, where: str) -> np.ndarray:
    """Return the cut-offs after checking that they have the type of the dates, and that no period is empty."""
    if ends.dtype.kind != times.dtype.kind:
        found, expected = ("dates", "a date") if times.dtype.kind == "M" else ("numbers", "a number")
        raise DataError(f"{where} contains {found}, such as {str(texts[0])!r}. Write {expected} as hold_out.after.")
    sizes = np.bincount(np.searchsorted(ends, times, side="left"), minlength=len(ends) + 1)
    first, last = (str(texts[place]) for place in (times.argmin(), times.argmax()))
    if not sizes.all():
        period = int(np.flatnonzero(sizes == 0)[0])
        since = f" after {_shown(ends[period - 1])}" if period else ""
        until = f" up to {_shown(ends[period])}" if period < len(ends) else ""
        empty = f"no sample{since}{' and' if since and until else ''}{until}"
        raise DataError(
            f"{where} has {empty}. The dates range from {first} to {last}. Choose others in hold_out.after."
        )
    return ends


def _shown(end: Any) -> str:
    return f"{end:g}" if isinstance(end, float) else str(end)[:10]


def _even_cutoffs(times: np.ndarray, n_splits: int, where: str) -> np.ndarray:
    size = len(times) // (n_splits + 1)
    ends = np.sort(times)[len(times) - size * np.arange(n_splits, 0, -1) - 1]
    if not size or len(np.unique(ends)) < n_splits or ends[-1] == times.max():
        found = f"{where} has {len(np.unique(times))} different dates of {len(times)} samples"
        raise DataError(
            f"{found}, too few for {n_splits} test periods of equal size. Lower hold_out.n_splits, or name dates as "
            "hold_out.after."
        )
    return ends
