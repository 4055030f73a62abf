"""Evaluation by time: models learn from samples up to a date, and are tested on those that come after it.

With several cut-offs each period between two of them is tested by what comes before it, as forecasts are (forward
chaining, scikit-learn's ``TimeSeriesSplit``); with one it is CAFA's temporal hold-out.
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
_HOW = "a date is written as 2021-01-31 (ISO 8601), or all are numbers, such as years"


def check_hold_out(where: str, *, dates: str | None, hold_out: Mapping[str, Any], folds: str | None) -> None:
    """Raise :class:`ConfigError` unless there are dates and one way to hold out by them, or neither.

    Parameters
    ----------
    where : key of the dataset, for messages.
    dates, folds : columns.
    hold_out : ``after``, a date or a list of them, or ``n_splits``.
    """
    if dates is None and not hold_out:
        return
    if dates is None or not hold_out:
        lacks = "hold_out, which says after which date to test" if dates else "dates, the column of the samples' dates"
        raise ConfigError(f"{where}: {'dates' if dates else 'hold_out'} needs {lacks}; name both, or neither.")
    if folds is not None:
        raise ConfigError(f"{where}: folds and hold_out both say what to test on; leave one out.")
    if len(hold_out) != 1:
        raise ConfigError(f"{where}.hold_out: found {', '.join(hold_out)}; name after or n_splits, and not both.")
    if "after" in hold_out:
        cutoffs(hold_out["after"], f"{where}.hold_out.after")


def cutoffs(given: Any, where: str) -> np.ndarray:
    """Cut-offs, ascending: numbers, or the last moments of days, in UTC.

    Parameters
    ----------
    given : a date, a number, or a list of such; a date as text, or as YAML reads it.
    where : the key, for messages.

    Returns
    -------
    (n_cutoffs,) float64 or datetime64[us]

    Raises
    ------
    ConfigError
        When one is no date and no number, or they are not in order.
    """
    values = given if isinstance(given, list) else [given]
    texts = [str(value) for value in values]
    found = _times(texts)
    wrong = [text for text, value in zip(texts, values, strict=True) if isinstance(value, bool)]
    if not values or wrong or isinstance(found, int):
        bad = wrong[0] if wrong else texts[found] if values else "nothing"
        raise ConfigError(f"{where}: found {bad!r}; {_HOW}.")
    if found.dtype.kind == "M":
        is_day = np.array([_DAY.fullmatch(text) is not None for text in texts])
        found = np.where(is_day, found + np.timedelta64(1, "D") - np.timedelta64(1, "us"), found)
    if (np.diff(found) <= found[:1] - found[:1]).any():
        raise ConfigError(f"{where}: found {', '.join(texts)}; cut-offs go from the earliest to the latest.")
    return found


def folds_by_time(texts: np.ndarray, hold_out: Mapping[str, Any], column: str, source: str) -> np.ndarray:
    """Period that tests each sample, counted from 0, and ``BEFORE`` where it comes before all that are tested.

    Parameters
    ----------
    texts : (n_samples,) dates as in the file.
    hold_out : ``after``: samples later than the first cut-off are tested, each period up to the next cut-off by itself;
        or ``n_splits``: so many periods of equal numbers of samples, and as many before the first, at least, as
        ``TimeSeriesSplit`` has them, but that samples of one date stay together.
    column, source : where the dates are, for messages.

    Returns
    -------
    (n_samples,) int64

    Raises
    ------
    DataError
        When a date cannot be read, all are equal, or a period or what is before the first has no sample.
    """
    times = _times(texts)
    where = f"{source}: column {column!r} (dates)"
    if isinstance(times, int):
        found = str(texts[times])
        raise DataError(f"{source}, data row {times + 1}, column {column!r} (dates): found {found!r}; {_HOW}.")
    if (times == times[0]).all():
        needed = "to test on what comes later, samples of two dates or more are needed"
        raise DataError(f"{where} holds {str(texts[0])!r} in all rows; {needed}.")
    ends = cutoffs(hold_out["after"], "hold_out.after") if "after" in hold_out else None
    ends = _even_cutoffs(times, hold_out["n_splits"], where) if ends is None else _checked(ends, times, texts, where)
    period = np.searchsorted(ends, times, side="left")  # a sample of the cut-off itself comes before it
    sizes = np.bincount(period, minlength=len(ends) + 1)
    logger.info("%s: %d samples up to the first cut-off; after it, by period: %s.", where, sizes[0], sizes[1:].tolist())
    return np.where(period == 0, BEFORE, period - 1).astype(np.int64)


def _times(texts: Any) -> np.ndarray | int:
    """Numbers if all are, else moments in UTC; or the place of the first that is neither."""
    texts = pd.Series([str(text) for text in texts], dtype=object)
    as_numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    if np.isfinite(as_numbers).all():
        return as_numbers
    moments = pd.to_datetime(texts, format="ISO8601", utc=True, errors="coerce")
    # years among dates are more likely a mistake than the first of January
    wrong = np.flatnonzero(moments.isna() | ~np.isnan(as_numbers))
    return int(wrong[0]) if wrong.size else moments.dt.tz_localize(None).to_numpy().astype("datetime64[us]")


def _checked(ends: np.ndarray, times: np.ndarray, texts: np.ndarray, where: str) -> np.ndarray:
    """Cut-offs that are of the kind of the dates, and between which there are samples."""
    if ends.dtype.kind != times.dtype.kind:
        has, is_to_be = ("dates", "a date") if times.dtype.kind == "M" else ("numbers", "a number")
        raise DataError(f"{where} holds {has}, such as {str(texts[0])!r}; hold_out.after must be {is_to_be}, too.")
    sizes = np.bincount(np.searchsorted(ends, times, side="left"), minlength=len(ends) + 1)
    first, last = (str(texts[place]) for place in (times.argmin(), times.argmax()))
    if not sizes.all():
        period = int(np.flatnonzero(sizes == 0)[0])
        since = f" after {_told(ends[period - 1])}" if period else ""
        until = f" up to {_told(ends[period])}" if period < len(ends) else ""
        lacks = f"no sample{since}{' and' if since and until else ''}{until}"
        raise DataError(f"{where} has {lacks}: they go from {first} to {last}; choose other dates in hold_out.after.")
    return ends


def _told(end: Any) -> str:
    return f"{end:g}" if isinstance(end, float) else str(end)[:10]


def _even_cutoffs(times: np.ndarray, n_splits: int, where: str) -> np.ndarray:
    size = len(times) // (n_splits + 1)
    ends = np.sort(times)[len(times) - size * np.arange(n_splits, 0, -1) - 1]
    if not size or len(np.unique(ends)) < n_splits or ends[-1] == times.max():
        raise DataError(
            f"{where} has {len(np.unique(times))} different dates of {len(times)} samples, which cannot be parted into "
            f"{n_splits} periods of equal numbers of samples and what is before them: lower hold_out.n_splits, or "
            "name dates as hold_out.after."
        )
    return ends
