"""Find columns that mix spellings of a value, or two scales."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy import sparse, stats

from fairfold.datasets.audit.spec import Audited, Check, Finding

_FEWEST_ROWS = 40
_LEAST_SHARE = 0.05  # Fewer values in another scale are values in another unit.
_APART = 4.0  # least distance of the means of two scales, in standard deviations
_COLUMNS = 250  # Of so many columns, chance makes one look like two scales.
_NEAR = 0.03  # largest distance of the ratio of two scales from a power of ten, as decimal logarithm
_LEVEL = 0.01
_POSITIVES = {"1", "yes", "y", "true", "t", "+", "positive", "pos", "present"}
_NEGATIVES = {"0", "no", "n", "false", "f", "-", "negative", "neg", "absent"}


def find_spellings(table: Audited) -> Iterator[Finding]:
    """Find features whose cells contain several spellings of a value.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column.
    """
    data = table.data
    for column, spelled in data.mixed_codings.items():
        message = f"column {column!r} mixes codings of yes and no; write them in one way"
        yield Finding("warning", f"column {column!r}", message, f"found {', '.join(spelled)}")
    for column, values in (data.categories.values if data.categories else {}).items():
        alike: dict[str, list[str]] = defaultdict(list)
        for value in values:
            alike[_plain(value)].append(value)
        if several := [" = ".join(map(repr, each)) for each in alike.values() if len(each) > 1]:
            message = f"column {column!r} spells values in several ways, which become several features; spell each in "
            yield Finding("warning", f"column {column!r}", f"{message}one way", ", ".join(several[:5]))


def _plain(value: str) -> str:
    """Return a value without case, spaces and punctuation; words for yes and no become 1 and 0."""
    text = value.strip().casefold()
    if text in _POSITIVES | _NEGATIVES:
        return str(int(text in _POSITIVES))
    return "".join(letter for letter in text if letter.isalnum()) or text


def find_scales(table: Audited) -> Iterator[Finding]:
    """Find columns whose values form two clusters of the same shape, one a power of ten times larger.

    Parameters
    ----------
    table : Audited
        The table.

    Yields
    ------
    Finding
        A warning for each column.
    """
    data = table.of_file
    X = data.X[:, : len(data.numbers)]
    if table.n_samples < _FEWEST_ROWS or sparse.issparse(X):
        return
    scales = {j: _scales(X[np.isfinite(X[:, j]) & (X[:, j] != 0), j]) for j in np.flatnonzero(_may_have_two(X))}
    found = {j: scale for j, scale in scales.items() if scale is not None}
    for j, (power, limit, n_large) in found.items() if _COLUMNS * len(found) >= X.shape[1] else ():
        column, rows = data.feature_names[j], np.flatnonzero(np.abs(X[:, j]) >= limit)
        message = f"column {column!r} contains two scales, one {10**power:,} times the other; write all values in "
        evidence = f"{n_large} values from {limit:g}, the first in row {rows[0] + 1}"
        yield Finding("warning", f"column {column!r}", f"{message}one unit", evidence)


def _may_have_two(X: np.ndarray) -> np.ndarray:
    """Return the columns whose sizes spread over at least a power of ten, by their quantiles."""
    sizes = np.where((X == 0) | ~np.isfinite(X), np.nan, np.abs(X))
    found = np.zeros(X.shape[1], dtype=bool)
    if len(known := np.flatnonzero(~np.isnan(sizes).all(axis=0))):
        low, high = np.nanquantile(sizes[:, known], (_LEAST_SHARE / 2, 1 - _LEAST_SHARE / 2), axis=0)
        found[known] = high >= 8 * low
    return found


def _scales(values: np.ndarray) -> tuple[int, float, int] | None:
    """Return the power of ten between two scales, the least value of the larger scale and the number of its values."""
    sizes = np.sort(np.log10(np.abs(values)))
    n = len(sizes)
    least = max(int(_LEAST_SHARE * n), 10)
    if n < _FEWEST_ROWS or len(np.unique(sizes)) < n // 4:
        return None
    cuts = np.arange(least, n - least + 1)
    total, squares = np.cumsum(sizes), np.cumsum(sizes**2)
    means = total[cuts - 1] / cuts, (total[-1] - total[cuts - 1]) / (n - cuts)
    within = squares[-1] - cuts * means[0] ** 2 - (n - cuts) * means[1] ** 2
    cut = int(cuts[np.argmin(within)])
    low, high = sizes[:cut], sizes[cut:]
    power = int(np.round(np.median(high) - np.median(low)))
    spread = max(low.std(), high.std())
    error = 2 * spread * np.sqrt(1 / len(low) + 1 / len(high))
    is_clear = power >= 1 and high.mean() - low.mean() > _APART * spread
    if not is_clear or abs(np.median(high) - np.median(low) - power) > _NEAR + error:
        return None
    if stats.ks_2samp(low + power, high).pvalue < _LEVEL:
        return None
    return power, float(10 ** high[0]), len(high)


SPECS = (Check("mixed codings", find_spellings), Check("mixed scales", find_scales))
